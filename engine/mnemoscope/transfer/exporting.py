"""Export: everything a scope holds as JSON lines, or its memories as CSV for people."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..core.namespaces import Namespace, show_namespace
from ..core.payloads import as_object
from ..core.records import MemoryRecord
from ..core.times import to_iso
from ..embedding.named import identity_of
from ..errors import InputError
from ..journal.changes import Change, book
from ..stores.base import Snapshot, StoreAdapter
from ..stores.packing import packed
from ..stores.values import json_text

__all__ = [
    "COLUMNS",
    "LEFT_OUT",
    "VERSION",
    "ExportScope",
    "export_csv",
    "export_lines",
    "history_lines",
    "neutral",
    "unneutral",
]


VERSION = 1

LEFT_OUT = "left_out"
"""The type of a line that stands for an item which JSON cannot hold."""
"""Of the JSON lines; a reader refuses what is newer than itself."""

COLUMNS = (
    "namespace", "key", "content", "categories", "importance", "created_at", "updated_at", "source", "private",
    "pinned", "expires_at", "metadata", "revision",
)  # fmt: skip
"""Of the CSV."""

_MEMORIES = "memories"
_SHELVES = {"cases": "case", "labels": "label", "profiles": "profile"}

# Spreadsheets run what begins so, whatever stands before it that they trim.
_FORMULA = re.compile(r"'*[\s\ufeff\u200b]*[=+\-@\uff1d\uff0b\uff0d\uff20]|'*[\t\r\n]")


@dataclass(frozen=True)
class ExportScope:
    """What to export: a namespace, or with `subtree` all below it; with or without vectors and history."""

    namespace: Namespace
    subtree: bool = False
    vectors: bool = True
    history: bool = True


def export_lines(adapter: StoreAdapter, scope: ExportScope, *, now: datetime) -> Iterator[bytes]:
    """JSON lines: a header, every memory (and case, label, profile; tombstone, change and run) as it is stored, and
    a line that counts them. Profiles are of no namespace, so they go with the whole store alone.

    One namespace is read at a time, each as it was at one moment.
    """
    yield _line(_header(adapter, scope, now))
    counts: Counter[str] = Counter()
    for namespace, shelves in sorted(_held(adapter, scope).items()):
        for kind, lines in _parts(adapter, scope, namespace, shelves):
            for line in lines:
                try:
                    written = _line({"type": kind, **line})
                except InputError as error:
                    # One item that is no JSON costs that item; the file says so, and so does the import of it.
                    place = {"namespace": line["namespace"], "key": line["key"]}
                    counts["left out"] += 1
                    yield _line({"type": LEFT_OUT, **place, "reason": str(error)})
                else:
                    counts[kind] += 1
                    yield written
    yield _line({"type": "end", **counts})


def export_csv(adapter: StoreAdapter, scope: ExportScope) -> Iterator[bytes]:
    """CSV for people, with a byte order mark for spreadsheets; no cell of it can run as a formula."""
    yield "\ufeff".encode() + _row(COLUMNS)
    for namespace in sorted(adapter.counts(scope.namespace)) if scope.subtree else [scope.namespace]:
        for item in adapter.load(namespace).items:
            yield _row([neutral(cell) for cell in _cells(MemoryRecord.from_item(item))])


def history_lines(changes: Iterable[Change]) -> Iterator[bytes]:
    """JSON lines: one a change, with both texts but without vectors, for people and scripts."""
    for change in changes:
        value = change.to_value()
        yield _line({"id": change.id, **{name: value[name] for name in value if not name.endswith("vectors")}})


def neutral(cell: str) -> str:
    """The cell with an apostrophe before what a spreadsheet would run."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unneutral(cell: str) -> str:
    """The cell that `neutral` made this of."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def _header(adapter: StoreAdapter, scope: ExportScope, now: datetime) -> dict[str, Any]:
    embeddings = adapter.embeddings
    return {
        "type": "mnemoscope-export",
        "version": VERSION,
        "exported_at": to_iso(now),
        "namespace": list(scope.namespace),
        "subtree": scope.subtree,
        "vectors": scope.vectors and adapter.abilities.reads_vectors,
        "history": scope.history,
        "embedder": identity_of(embeddings) if embeddings is not None else None,
        "dimensions": adapter.dimensions,
    }


def _held(adapter: StoreAdapter, scope: ExportScope) -> dict[Namespace, set[str]]:
    """What each namespace of the scope holds, so that nothing is asked for that is not there."""
    books = [*_SHELVES, *(["journal", "tombstones", "runs"] if scope.history else [])]
    if not scope.subtree:
        return {scope.namespace: {_MEMORIES, *books}}
    found: dict[Namespace, set[str]] = {namespace: {_MEMORIES} for namespace in adapter.counts(scope.namespace)}
    for name in books:
        # Where everything was forgotten there is still a history.
        for namespace in adapter.counts(book(name, scope.namespace)):
            found.setdefault(namespace[2:], set()).add(name)
    return found


def _parts(
    adapter: StoreAdapter, scope: ExportScope, namespace: Namespace, shelves: Collection[str]
) -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
    if _MEMORIES in shelves:
        yield "memory", _items(adapter.load(namespace), namespace, scope)
    for shelf, kind in _SHELVES.items():
        if shelf in shelves:
            yield kind, _entries(adapter, shelf, namespace)
    if "tombstones" in shelves:
        yield "tombstone", _items(adapter.load(book("tombstones", namespace)), namespace, scope)
    if "journal" in shelves:
        yield "change", _changes(adapter, namespace, scope)
    if "runs" in shelves:
        yield "run", _runs(adapter, namespace)


def _items(snapshot: Snapshot, namespace: Namespace, scope: ExportScope) -> Iterator[dict[str, Any]]:
    vectors = snapshot.vectors_by_item() if scope.vectors else [{}] * len(snapshot.items)
    for item, each in zip(snapshot.items, vectors, strict=True):
        yield {
            "namespace": list(namespace),
            "key": item.key,
            "value": as_object(item.value),
            "created_at": to_iso(item.created_at),
            "updated_at": to_iso(item.updated_at),
            "vectors": packed(each),
        }


def _entries(adapter: StoreAdapter, shelf: str, namespace: Namespace) -> Iterator[dict[str, Any]]:
    for item in adapter.load(book(shelf, namespace)).items:
        yield {"namespace": list(namespace), "key": item.key, "value": as_object(item.value)}


def _changes(adapter: StoreAdapter, namespace: Namespace, scope: ExportScope) -> Iterator[dict[str, Any]]:
    for item in reversed(adapter.latest(book("journal", namespace))):
        value = item.value if scope.vectors else {**item.value, "vectors": {}, "stone_vectors": {}}
        yield {"namespace": list(namespace), "key": item.key, "value": value}


def _runs(adapter: StoreAdapter, namespace: Namespace) -> Iterator[dict[str, Any]]:
    for item in reversed(adapter.latest(book("runs", namespace))):
        yield {"namespace": list(namespace), "key": item.key, "value": item.value}


def _cells(record: MemoryRecord) -> list[str]:
    moments = (record.created_at, record.updated_at, record.expires_at)
    created, updated, expires = (to_iso(moment) if moment else "" for moment in moments)
    listed = any(";" in name or name != name.strip() for name in record.categories)
    return [
        show_namespace(record.namespace),
        record.key,
        record.content,
        _json(record.categories) if listed else "; ".join(record.categories),
        "" if record.importance is None else repr(record.importance),
        created,
        updated,
        record.source or "",
        "yes" if record.private else "no",
        "yes" if record.pinned else "no",
        expires,
        _json(record.metadata) if record.metadata else "",
        str(record.revision),
    ]


def _line(value: dict[str, Any]) -> bytes:
    try:
        return json_text(value).encode() + b"\n"
    except (TypeError, RecursionError) as error:
        where = "/".join(map(str, value.get("namespace", ())))
        raise InputError(f"The item {where} · {value.get('key')} cannot be exported as JSON: {error}.") from error


def _json(value: object) -> str:
    try:
        return json_text(value)
    except (TypeError, RecursionError):
        return repr(value)


def _row(cells: Sequence[str]) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer).writerow(cells)
    return buffer.getvalue().encode(errors="replace")
