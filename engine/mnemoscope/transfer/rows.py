"""Rows that are no export of ours, as fields of a memory: what can be read, and a remark on what cannot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from ..consolidation.calibration import LABELS
from ..core.namespaces import Namespace
from ..core.payloads import KIND
from ..core.records import MemoryRecord
from ..core.text import shown, storable
from ..core.times import read_time
from ..curation.adoption import ADOPTED
from ..errors import InputError
from ..journal.shelf_texts import SHELVES, shelf_text
from ..recall.cases import read_case
from ..recall.profiles import read_profile
from ..stores.base import StoredItem

__all__ = ["SHELF_OF", "is_newer", "merged", "read_fields", "rebased_change", "shelved", "told"]


_EPOCH = datetime.fromtimestamp(0, UTC)

_FIELDS = (
    "categories", "importance", "created_at", "last_accessed", "source", "private", "metadata", "updated_at",
    "revision", "evidence", "expires_at", "pinned",
)  # fmt: skip

_FLAW = {
    "categories": "is not a list of texts",
    "importance": "is not from 0 to 1",
    "source": "is not text",
    "private": "is not true or false",
    "pinned": "is not true or false",
    "metadata": "is not an object",
    "revision": "is not a whole number from 1",
    "evidence": "is not a list",
}
_NO_TIME = "is not a time"


def read_fields(row: Mapping[str, Any], *, text_name: str = "content") -> tuple[dict[str, Any], tuple[str, ...]]:
    """The fields of a record that the row states, and a remark on each part that could not be read as it stands.

    What our form has no place for is kept: unknown names in `extra`, another kind or a nested text in `metadata`.

    Raises:
        InputError: the row has no text, so it is no memory; `text_name` is where its writer has it.
    """
    record = MemoryRecord.from_item(StoredItem(("x",), "x", row, _EPOCH, _EPOCH))
    text = storable(record.content)[0].strip()
    if not text:
        raise InputError(f"it has no text under '{text_name}': {shown(row.get('content'))}")
    flawed = [name for problem in record.problems if (name := problem.partition(" ")[0]) in _FIELDS]
    taken = {name: _taken(name, row[name], record) for name in flawed}
    fields = {name: getattr(record, name) for name in _FIELDS if row.get(name) is not None and taken.get(name, True)}
    if record.extra:
        fields["extra"] = record.extra
    if kept := _kept(row):
        fields["metadata"] = {**record.metadata, ADOPTED: {"text_at": record.text_at, "fields": kept}}
    return {**fields, "content": text}, tuple(_remarks(row, record, taken))


def merged(before: MemoryRecord, fields: Mapping[str, Any]) -> MemoryRecord:
    """The record with what a row states of it; what the row does not state stays."""
    stated = {name: part for name, part in fields.items() if name != "revision"}
    if "extra" in stated:
        stated["extra"] = {**before.extra, **stated["extra"]}
    created = stated.get("created_at")
    if created is not None and before.updated_at is not None and created > before.updated_at:
        stated.setdefault("updated_at", None)
    return replace(before, **stated)


def _kept(row: Mapping[str, Any]) -> dict[str, Any]:
    """What the row says of its kind and text otherwise than we do."""
    kept = {} if row.get("kind") in (None, KIND) else {"kind": row["kind"]}
    return kept if isinstance(row.get("content"), str) else {**kept, "content": row["content"]}


def _taken(name: str, stated: object, record: MemoryRecord) -> str:
    """How a part that is not as it should be was read all the same; "" where it could not be."""
    if name == "private":
        # A flag that cannot be read hides rather than shows.
        return "taken as private"
    if name != "categories" or not record.categories:
        return ""
    return "taken as one" if isinstance(stated, str) else "what is not text is left out"


def _remarks(row: Mapping[str, Any], record: MemoryRecord, taken: Mapping[str, str]) -> Iterator[str]:
    for name in (name for name in _FIELDS if name in taken):
        value = shown(row[name]).partition(" ")[2]
        yield f"{name} {value} {_FLAW.get(name, _NO_TIME)}, {taken[name] or 'left out'}"
    stated = row.get("evidence")
    if isinstance(stated, list) and not _is_whole(stated, record):
        yield "evidence holds what is not known, left out"


def _is_whole(stated: list[Any], record: MemoryRecord) -> bool:
    if len(stated) != len(record.evidence):
        return False
    read = [each.to_value() for each in record.evidence]
    return all(
        part in (None, []) or name in known
        for each, known in zip(stated, read, strict=True)
        for name, part in each.items()
    )


SHELF_OF = {"case": "cases", "label": "labels", "profile": "profiles"}
"""The book of each kind of row."""


def shelved(
    kind: str, key: str, value: Mapping[str, Any], *, source: Namespace, target: Namespace
) -> tuple[str, dict[str, Any]]:
    """The key and the value with which the entry is kept in the namespace `target`, out of a file's `source`.

    Raises:
        InputError: it cannot be read, or makes no sense anywhere else.
    """
    if kind == "case":
        kept = {**value, "kind": "case", "namespace": list(target)}
        case = read_case(kept)
        if case is None:
            raise InputError("it is no case of this program")
        return case.id, kept
    if kind == "label" and target != source:
        raise InputError("a label is of the two places it was made for; import it there")
    is_readable = value.get("label") in LABELS if kind == "label" else read_profile(key, value) is not None
    if not is_readable:
        raise InputError(f"it is no {kind} of this program")
    return key, dict(value)


def rebased_change(value: Mapping[str, Any], target: Namespace) -> dict[str, Any]:
    """A change as it stands in the history of the namespace `target`, out of a file that may name another.

    Raises:
        InputError: it makes no sense there.
    """
    if value.get("shelf") is not None and value["shelf"] not in list(SHELVES):
        raise InputError("it is of a book that people do not keep")
    moved = {**value, "namespace": list(target)}
    if value.get("namespace") == moved["namespace"]:
        return moved
    if value.get("shelf") == "labels":
        raise InputError("a label is of the two places it was made for; import it there")
    if isinstance(stone := value.get("stone"), Mapping):
        moved["stone"] = {**stone, "namespace": moved["namespace"]}
    if value.get("shelf") == "cases":
        for name in ("before", "after"):
            if isinstance(kept := value.get(name), Mapping):
                moved["key"], moved[name] = shelved("case", "", kept, source=(), target=target)
    return moved


def is_newer(value: Mapping[str, Any], present: Mapping[str, Any]) -> bool:
    """Whether the one was saved after the other, as far as both say when."""
    mine, theirs = (read_time(each.get("saved_at") or each.get("created_at")) for each in (value, present))
    return mine is not None and theirs is not None and mine > theirs


def told(kind: str, key: str, value: Mapping[str, Any]) -> str:
    """What the entry is, in a line."""
    return shelf_text(SHELF_OF[kind], key, value).partition("\n")[0]
