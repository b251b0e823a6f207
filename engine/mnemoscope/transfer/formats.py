"""Files of memories as entries: our own JSON lines, tables, plain JSON, and what CrewAI and mem0 export.

To teach a form of JSON, add a row to `FORMS`: what it is recognised by, and what reads it.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, BinaryIO, Literal, TypeAlias, get_args

import orjson

from ..conversations.decoding import text_chunks
from ..conversations.json_stream import JsonFault, json_items
from ..core.namespaces import Namespace, read_namespace
from ..core.text import shown
from ..errors import InputError
from .exporting import COLUMNS, LEFT_OUT, VERSION, unneutral
from .rows import read_fields

__all__ = ["ENTRY_KINDS", "FORMS", "Entry", "Fault", "Header", "read_entries"]


MOST_ROWS = 250_000
"""Of one file; the dry run holds them all."""

_LISTS = ("memories", "results", "records", "items", "data")
_LONGEST_CELL = 1 << 26
_TRUE, _FALSE = ("yes", "true", "1", "y"), ("no", "false", "0", "n", "")


EntryKind: TypeAlias = Literal["memory", "tombstone", "change", "run", "case", "label", "profile"]
ENTRY_KINDS: tuple[EntryKind, ...] = get_args(EntryKind)
"""What a row of one of our own exports can be."""

_OWNERS = ("user_id", "agent_id", "run_id")

# What may be of no namespace at all, but of the whole store.
_OF_THE_STORE = ("change", "profile")


@dataclass(frozen=True)
class Header:
    """What the file says of itself: the scope it was exported from, and whose vectors it holds."""

    namespace: Namespace
    embedder: str | None
    has_vectors: bool


@dataclass(frozen=True)
class Entry:
    """One row of a file.

    A "memory" of our own exports has a `value` as stored; any other has the `fields` of a `MemoryRecord` that the
    file states, with `remarks` on what could not be read. The other kinds have the value of their book. `namespace`
    is None where the file names none, and `key` likewise.
    """

    where: str
    kind: EntryKind = "memory"
    namespace: Namespace | None = None
    key: str | None = None
    value: Mapping[str, Any] | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    created_at: object = None
    vectors: Mapping[str, object] | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fault:
    """A row that cannot be read, and why."""

    where: str
    reason: str


Row: TypeAlias = Entry | Fault | Header


def read_entries(data: bytes | str | BinaryIO, *, name: str = "") -> Iterator[Row]:
    """Every row of the file, in order; what cannot be read is a `Fault` and the rest goes on.

    Raises:
        InputError: the file is no text, of no known form, of a newer version, or too long.
    """
    chunks = text_chunks(data, name=name, wanted="memories as JSON lines, JSON or CSV")
    head = next(chunks, "")
    if not head.strip():
        raise InputError(f"{name or 'The file'} is empty; there is nothing to import.")
    rows = _json_rows(chain([head], chunks)) if head.lstrip()[:1] in "{[" else _table_rows(chain([head], chunks), name)
    for number, row in enumerate(rows):
        if number >= MOST_ROWS:
            raise InputError(f"{name or 'The file'} has more than {MOST_ROWS:,} rows; split it and import the parts.")
        yield row


def _json_rows(chunks: Iterator[str]) -> Iterator[Row]:
    ended, header = False, None
    where = "line 1"
    for outcome in json_items(chunks):
        where = outcome.where
        if isinstance(outcome, JsonFault):
            yield Fault(where, outcome.reason)
            continue
        for place, value in _members(where, outcome.value):
            row = _read(place, value)
            header = row if isinstance(row, Header) else header
            ended = ended or (isinstance(value, Mapping) and value.get("type") == "end")
            if row is not None:
                yield row
    if header is not None and not ended:
        yield Fault(where, "the file ends before its last line: it was cut off, and rows may be missing")


def _members(where: str, value: object) -> Iterator[tuple[str, object]]:
    """The value, or the rows of the list that it is a wrapper of."""
    if isinstance(value, Mapping) and not {"content", "memory", "value", "type"} & value.keys():
        for name in _LISTS:
            rows = value.get(name)
            if isinstance(rows, list):
                yield from ((f"{where}, {name}[{at}]", row) for at, row in enumerate(rows))
                return
    yield where, value


def _read(where: str, value: object) -> Row | None:
    if not isinstance(value, Mapping):
        return Fault(where, f"it is no object: {shown(value)}")
    for recognises, read in FORMS:
        if recognises(value):
            try:
                return read(where, value)
            except _NewerError:
                raise
            except ValueError as error:
                return Fault(where, str(error))
    return Fault(where, f"it has no text under 'content', 'memory' or 'value': {shown(value)}")


def _has(*names: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda value: all(name in value for name in names)


def _is_type(*names: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda value: value.get("type") in names


def _is_own(value: Mapping[str, Any]) -> bool:
    return value.get("type") in ENTRY_KINDS and "value" in value


def _header(where: str, value: Mapping[str, Any]) -> Header:  # noqa: ARG001 - as for every form
    version = value.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise _NewerError(
            f"The file is of version {shown(version)}, and this program reads up to {VERSION}; install a newer one."
        )
    embedder = value.get("embedder")
    space = tuple(each for each in _listed(value.get("namespace")) if isinstance(each, str))
    return Header(space, embedder if isinstance(embedder, str) else None, value.get("vectors") is True)


class _NewerError(InputError):
    """The file is of a newer version, so nothing of it can be read."""


def _own(where: str, value: Mapping[str, Any]) -> Entry:
    stored, vectors = value.get("value"), value.get("vectors")
    if not isinstance(stored, Mapping):
        raise InputError(f"its value is no object: {shown(stored)}")
    if vectors is not None and not isinstance(vectors, Mapping):
        raise InputError(f"its vectors are no object: {shown(vectors)}")
    kind: EntryKind = value["type"] if value.get("type") in ENTRY_KINDS else "memory"
    is_of_all = kind in _OF_THE_STORE and value.get("namespace") == []
    return Entry(
        where,
        kind=kind,
        namespace=() if is_of_all else _namespace(value.get("namespace")),
        key=_key(value.get("key")),
        value=stored,
        created_at=value.get("created_at"),
        vectors=vectors,
    )


def _end(where: str, value: Mapping[str, Any]) -> None:  # noqa: ARG001 - as for every form
    return None


def _left_out(where: str, value: Mapping[str, Any]) -> Fault:
    return Fault(where, f"it was left out of the export: {shown(value.get('reason'))}")


def _item(where: str, value: Mapping[str, Any]) -> Entry:
    """An item as LangGraph gives it, whoever wrote it."""
    entry = _own(where, value)
    stored = {"created_at": entry.created_at, **(entry.value or {})}
    return replace(_foreign(where, stored, namespace=entry.namespace, key=entry.key), vectors=entry.vectors)


def _mem0(where: str, value: Mapping[str, Any]) -> Entry:
    owner = next((value[name] for name in _OWNERS if value.get(name)), None)
    about = {name: value[name] for name in (*_OWNERS, "actor_id", "role") if value.get(name)}
    # The hash is of the text, and the score of a query.
    row = _without(value, "id", "memory", "hash", "score", *_OWNERS, "actor_id", "role")
    metadata = value.get("metadata")
    if about and (metadata is None or isinstance(metadata, Mapping)):
        row["metadata"] = {**(metadata or {}), **about}
    row["content"] = value["memory"]
    namespace = None if owner is None else read_namespace(("memories", str(owner)))
    return _foreign(where, row, namespace=namespace, key=_key(value.get("id")), text_name="memory")


def _crewai(where: str, value: Mapping[str, Any]) -> Entry:
    labels = tuple(label for label in str(value["scope"] or "").split("/") if label)
    # The embedding is of a model that nobody names.
    row = _without(value, "id", "scope", "embedding")
    namespace = read_namespace(labels) if labels else None
    return _foreign(where, row, namespace=namespace, key=_key(value.get("id")))


def _plain(where: str, value: Mapping[str, Any]) -> Entry:
    """A record of the `langgraph-memory` package, of a table as JSON, or of LangMem."""
    name = "key" if "key" in value else "id"
    row = _without(value, "namespace", name)
    return _foreign(where, row, namespace=_namespace(value.get("namespace")), key=_key(value.get(name)))


def _foreign(
    where: str, row: Mapping[str, Any], *, namespace: Namespace | None, key: str | None, text_name: str = "content"
) -> Entry:
    fields, remarks = read_fields(row, text_name=text_name)
    return Entry(where, namespace=namespace, key=key, fields=fields, remarks=remarks)


def _without(value: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: part for name, part in value.items() if name not in names}


FORMS: tuple[tuple[Callable[[Mapping[str, Any]], bool], Callable[[str, Mapping[str, Any]], Row | None]], ...] = (
    (_is_type("mnemoscope-export"), _header),
    (_is_type("end"), _end),
    (_is_type(LEFT_OUT), _left_out),
    (_is_own, _own),
    (_has("memory"), _mem0),
    (_has("content", "scope"), _crewai),
    (_has("namespace", "key", "value"), _item),
    (_has("content"), _plain),
)
"""Forms of one JSON object, and what reads each; the first that is recognised counts."""


def _table_rows(chunks: Iterator[str], name: str) -> Iterator[Row]:
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))
    lines = _lines(chunks)
    first = next(lines)
    delimiter = max(",;\t", key=first.count)
    names = [cell.strip().casefold() for cell in next(csv.reader([first], delimiter=delimiter), [])]
    if "content" not in names:
        raise InputError(
            f"{name or 'The file'} is neither JSON nor a table of memories: its first line names no column 'content' "
            f"(columns are {', '.join(COLUMNS)})."
        )
    rows = csv.reader(lines, delimiter=delimiter)
    start = 2
    while True:
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield Fault(f"line {rows.line_num + 1}", f"it is no row of a table: {error}")
            return
        if any(cells):
            yield _table_row(f"line {start}", dict(zip(names, cells, strict=False)), len(cells) - len(names))
        start = rows.line_num + 2


def _table_row(where: str, cells: dict[str, str], surplus: int) -> Row:
    if surplus > 0:
        return Fault(where, f"it has {surplus} more cells than the first line has columns")
    plain = {name: unneutral(cell) for name, cell in cells.items()}
    # A column that is not of ours says more of the memory, under the column's name.
    row: dict[str, Any] = {name: cell for name, cell in plain.items() if name and cell and name not in COLUMNS}
    try:
        row |= {name: _CELLS[name](plain[name]) for name in _CELLS if name in plain}
        namespace = _namespace(plain.get("namespace") or None)
        return _foreign(where, row, namespace=namespace, key=plain.get("key") or None)
    except ValueError as error:
        return Fault(where, str(error))


# A cell that cannot be read stays text, and is left out with a remark as any other part of that kind.


def _cell_list(cell: str) -> object:
    if cell.startswith("["):
        return _cell_json(cell)
    return [name.strip() for name in cell.split(";") if name.strip()]


def _cell_number(cell: str) -> object:
    try:
        return float(cell.replace(",", ".")) if cell.strip() else None
    except ValueError:
        return cell


def _cell_flag(cell: str) -> object:
    word = cell.strip().casefold()
    return word in _TRUE if word in (*_TRUE, *_FALSE) else cell


def _cell_json(cell: str) -> object:
    try:
        return orjson.loads(cell) if cell.strip() else None
    except orjson.JSONDecodeError:
        return cell


_CELLS: dict[str, Callable[[str], object]] = {
    "content": str,
    "categories": _cell_list,
    "importance": _cell_number,
    "created_at": lambda cell: cell or None,
    "updated_at": lambda cell: cell or None,
    "source": lambda cell: cell or None,
    "private": _cell_flag,
    "pinned": _cell_flag,
    "expires_at": lambda cell: cell or None,
    "metadata": _cell_json,
}


def _lines(chunks: Iterable[str]) -> Iterator[str]:
    rest = ""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split("\n")
        yield from (f"{line}\n" for line in whole)
        if len(rest) > _LONGEST_CELL:
            raise InputError(f"A line has more than {_LONGEST_CELL:,} characters; this is no table of memories.")
    if rest:
        yield rest


def _namespace(value: object) -> Namespace | None:
    if value is None:
        return None
    if isinstance(value, str):
        return read_namespace(value)
    return read_namespace(tuple(_listed(value)))


def _key(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(f"its key is no text: {shown(value)}")
    return str(value)


def _listed(value: object) -> list[Any]:
    if isinstance(value, list | tuple):
        return list(value)
    raise InputError(f"a list was expected, got {shown(value)}")
