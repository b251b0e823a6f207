"""Reading the official tables of the `SqliteStore`: rows of items and of vectors, on a cursor of the caller's."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple, overload

from ..text import storable
from ..times import read_time
from .base import Ref, StoredItem
from .prefixes import Where, from_prefix, to_prefix
from .values import read_json
from .vectors import VectorRow

__all__ = [
    "Items",
    "Read",
    "has_vectors",
    "items_descending",
    "marks_within",
    "read_at",
    "read_within",
    "vectors_at",
    "vectors_within",
]

PLACES_A_QUERY = 400
"""Places asked for at once: two variables each, within the 999 that every SQLite allows."""

_EPOCH = datetime.fromtimestamp(0, UTC)
_COLUMNS = "prefix, key, rowid, value, created_at, updated_at"


class Items(Sequence[StoredItem]):
    """Items whose values are parsed one by one, when each is asked for: as objects they take thrice the memory."""

    def __init__(self, unread: Sequence[StoredItem]) -> None:
        self._unread = unread

    def __len__(self) -> int:
        return len(self._unread)

    @overload
    def __getitem__(self, at: int) -> StoredItem: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[StoredItem]: ...
    def __getitem__(self, at: int | slice) -> StoredItem | Sequence[StoredItem]:
        if isinstance(at, slice):
            return Items(self._unread[at])
        item = self._unread[at]
        return replace(item, value=_value(item.value))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def refs(self) -> list[Ref]:
        """Where the items are."""
        return [item.ref for item in self._unread]


class Read(NamedTuple):
    """Items by namespace and key, with what differs when each was written again, their vectors apart."""

    items: Items
    marks: list[Hashable]


def read_within(cursor: sqlite3.Cursor, where: Where) -> Read:
    """The items that a condition names."""
    cursor.execute(f"SELECT {_COLUMNS} FROM store WHERE {where.sql}", where.parameters)
    return _read(cursor)


def read_at(cursor: sqlite3.Cursor, refs: Iterable[Ref]) -> Read:
    """The items at these places."""
    return _read(_at(cursor, _COLUMNS, "store", refs))


def marks_within(cursor: sqlite3.Cursor, where: Where) -> tuple[list[Ref], list[Hashable]]:
    """Where the items are that a condition names, by namespace and key, and their marks; no value is parsed."""
    cursor.execute(f"SELECT {_COLUMNS} FROM store WHERE {where.sql}", where.parameters)
    space = cache(from_prefix)
    found = sorted((space(row[0]), row[1], _mark(row)) for row in cursor)
    return [(namespace, key) for namespace, key, _ in found], [mark for _, _, mark in found]


def items_descending(cursor: sqlite3.Cursor, where: Where, before: str | None) -> Iterator[StoredItem]:
    """The items that a condition names, by key, greatest first, one after another."""
    sql, parameters = where.sql, where.parameters
    if before is not None:
        sql, parameters = f"{sql} AND key < ?", (*parameters, before)
    cursor.execute(f"SELECT {_COLUMNS} FROM store WHERE {sql} ORDER BY key DESC, prefix", parameters)
    return (replace(item, value=_value(item.value)) for item in map(_unread_reader(), cursor))


def vectors_within(
    cursor: sqlite3.Cursor, refs: Sequence[Ref], where: Where, *, contents: bool = True
) -> Iterator[VectorRow]:
    """The vectors of the items at these places, which the condition names; without `contents`, their marks alone."""
    if not has_vectors(cursor):
        return iter(())
    columns = f"prefix, key, field_name, rowid, {'embedding' if contents else 'NULL'}"
    cursor.execute(f"SELECT {columns} FROM store_vectors WHERE {where.sql}", where.parameters)
    return _owned(refs, cursor)


def vectors_at(cursor: sqlite3.Cursor, refs: Sequence[Ref]) -> Iterator[VectorRow]:
    """The vectors of the items at these places."""
    if not has_vectors(cursor):
        return iter(())
    return _owned(refs, _at(cursor, "prefix, key, field_name, rowid, embedding", "store_vectors", refs))


def has_vectors(cursor: sqlite3.Cursor) -> bool:
    """Whether there is a table for vectors."""
    cursor.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'store_vectors'")
    return cursor.fetchone() is not None


def _read(rows: Iterable[tuple[Any, ...]]) -> Read:
    unread = _unread_reader()
    found = [(item.namespace, item.key, _mark(row), item) for row in rows for item in (unread(row),)]
    found.sort(key=itemgetter(0, 1))
    return Read(Items([row[3] for row in found]), [row[2] for row in found])


def _unread_reader() -> Callable[[tuple[Any, ...]], StoredItem]:
    """What makes an item of a row, its value as it is stored.

    Rows of one batch share their times and namespaces; each is read once.
    """
    moment, space = cache(_moment), cache(from_prefix)

    def unread(row: tuple[Any, ...]) -> StoredItem:
        prefix, key, _, value, created, updated = row
        return StoredItem(space(prefix), key, value, moment(created), moment(updated))

    return unread


def _mark(row: tuple[Any, ...]) -> int:
    # The store's put() gives a row a new number and our writes a new microsecond; the value tells the rest.
    return hash(row[2:])


def _at(cursor: sqlite3.Cursor, columns: str, table: str, refs: Iterable[Ref]) -> list[tuple[Any, ...]]:
    places = {(to_prefix(namespace), key) for namespace, key in refs if not storable(key)[1]}
    asked = sorted((prefix, key) for prefix, key in places if prefix is not None)
    selected = ", ".join(f"s.{column}" for column in columns.split(", "))
    rows: list[tuple[Any, ...]] = []
    for start in range(0, len(asked), PLACES_A_QUERY):
        part = asked[start : start + PLACES_A_QUERY]
        # A cross join keeps this order: each place is looked up in the primary key.
        query = (
            f"WITH asked(prefix, key) AS (VALUES {', '.join(['(?, ?)'] * len(part))}) "
            f"SELECT {selected} FROM asked CROSS JOIN {table} AS s ON s.prefix = asked.prefix AND s.key = asked.key"
        )
        rows += cursor.execute(query, [each for place in part for each in place]).fetchall()
    return rows


def _owned(refs: Sequence[Ref], vectors: Iterable[tuple[Any, ...]]) -> Iterator[VectorRow]:
    """The vectors with the positions of their items; orphans, whose item is gone, are left out."""
    places: dict[str, dict[str, int]] = {}
    for position, (namespace, key) in enumerate(refs):
        places.setdefault(".".join(namespace), {})[key] = position
    nowhere: dict[str, int] = {}
    for prefix, key, name, number, vector in vectors:
        if (owner := places.get(prefix, nowhere).get(key)) is not None:
            yield VectorRow(owner, name, vector, number)


def _moment(stored: object) -> datetime:
    return read_time(stored) or _EPOCH


def _value(stored: Any) -> Any:
    return read_json(stored) if isinstance(stored, str | bytes) else stored
