"""Reading the official tables of the `SqliteStore`: rows of items and of vectors, on a cursor of the caller's."""

from __future__ import annotations

import sqlite3
from collections.abc import Hashable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple

from ..text import storable
from ..times import read_time
from .base import Ref, StoredItem
from .prefixes import Where, from_prefix, to_prefix
from .values import read_json
from .vectors import VectorRow

__all__ = [
    "ItemRow",
    "has_vectors",
    "item_of",
    "items_of",
    "marks_of",
    "rows_at",
    "rows_descending",
    "rows_within",
    "vectors_at",
    "vectors_within",
]

PLACES_A_QUERY = 400
"""Places asked for at once: two variables each, within the 999 that every SQLite allows."""

_EPOCH = datetime.fromtimestamp(0, UTC)
_COLUMNS = "prefix, key, rowid, value, created_at, updated_at"


class ItemRow(NamedTuple):
    """A row of the table `store`."""

    prefix: str
    key: str
    number: int
    value: Any
    created_at: Any
    updated_at: Any


def rows_within(cursor: sqlite3.Cursor, where: Where) -> list[ItemRow]:
    """The rows that a condition names, by namespace and key."""
    cursor.execute(f"SELECT {_COLUMNS} FROM store WHERE {where.sql}", where.parameters)
    return _in_order(cursor)


def rows_at(cursor: sqlite3.Cursor, refs: Iterable[Ref]) -> list[ItemRow]:
    """The rows at these places, by namespace and key."""
    return _in_order(_at(cursor, _COLUMNS, "store", refs))


def rows_descending(cursor: sqlite3.Cursor, where: Where, before: str | None) -> Iterator[ItemRow]:
    """The rows that a condition names, by key, greatest first, one after another."""
    sql, parameters = where.sql, where.parameters
    if before is not None:
        sql, parameters = f"{sql} AND key < ?", (*parameters, before)
    cursor.execute(f"SELECT {_COLUMNS} FROM store WHERE {sql} ORDER BY key DESC, prefix", parameters)
    return map(ItemRow._make, cursor)


def vectors_within(
    cursor: sqlite3.Cursor, rows: Sequence[ItemRow], where: Where, *, contents: bool = True
) -> list[VectorRow]:
    """The vectors of these rows, which the condition names; without `contents`, their marks alone."""
    if not has_vectors(cursor):
        return []
    columns = f"prefix, key, field_name, rowid, {'embedding' if contents else 'NULL'}"
    cursor.execute(f"SELECT {columns} FROM store_vectors WHERE {where.sql}", where.parameters)
    return _owned(rows, cursor)


def vectors_at(cursor: sqlite3.Cursor, rows: Sequence[ItemRow], refs: Iterable[Ref]) -> list[VectorRow]:
    """The vectors of these rows, which are at these places."""
    if not has_vectors(cursor):
        return []
    return _owned(rows, _at(cursor, "prefix, key, field_name, rowid, embedding", "store_vectors", refs))


def has_vectors(cursor: sqlite3.Cursor) -> bool:
    """Whether there is a table for vectors."""
    cursor.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'store_vectors'")
    return cursor.fetchone() is not None


def item_of(row: ItemRow) -> StoredItem:
    """The item of one row."""
    return items_of([row])[0]


def items_of(rows: Iterable[ItemRow]) -> list[StoredItem]:
    """The items of rows; a value that is not JSON is given as the text it is."""
    # Rows of one batch share their times and namespaces; each is read once.
    moment, space = cache(_moment), cache(from_prefix)
    return [
        StoredItem(space(row.prefix), row.key, _value(row.value), moment(row.created_at), moment(row.updated_at))
        for row in rows
    ]


def marks_of(rows: Iterable[ItemRow]) -> list[Hashable]:
    """What differs when a row was written again, its vectors apart."""
    # The store's put() gives a row a new number and our writes a new microsecond; the value tells the rest.
    return [hash((row.number, row.created_at, row.updated_at, row.value)) for row in rows]


def _in_order(rows: Iterable[tuple[Any, ...]]) -> list[ItemRow]:
    space = cache(from_prefix)
    return sorted(map(ItemRow._make, rows), key=lambda row: (space(row.prefix), row.key))


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


def _owned(rows: Sequence[ItemRow], vectors: Iterable[tuple[Any, ...]]) -> list[VectorRow]:
    """The vectors by item and field; orphans, whose item is gone, are left out."""
    positions = {(row.prefix, row.key): position for position, row in enumerate(rows)}
    owned = [
        VectorRow(positions[prefix, key], name, vector, number)
        for prefix, key, name, number, vector in vectors
        if (prefix, key) in positions
    ]
    owned.sort(key=itemgetter(0, 1))
    return owned


def _moment(stored: object) -> datetime:
    return read_time(stored) or _EPOCH


def _value(stored: Any) -> Any:
    return read_json(stored) if isinstance(stored, str | bytes) else stored
