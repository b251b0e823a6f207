"""Reading the official tables of the `SqliteStore`: rows of items and of vectors, on a cursor of the caller's."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from ...core.text import storable
from ..base import Known, Ref, StoredItem
from ..prefixes import Where, from_prefix, to_prefix
from ..snapshots import Read, VectorRow, item_reader, owned, read_items

__all__ = [
    "differing_within",
    "has_vectors",
    "items_descending",
    "markers_within",
    "read_at",
    "read_within",
    "schema_version",
    "vectors_at",
    "vectors_within",
]


PLACES_A_QUERY = 400
"""Places asked for at once: two variables each, within the 999 that every SQLite allows."""

_COLUMNS = "prefix, key, value, created_at, updated_at, rowid"
_VECTORS = "prefix, key, field_name, embedding, rowid"


def read_within(cursor: sqlite3.Cursor, where: Where) -> Read:
    """The items that a condition names."""
    cursor.execute(f"SELECT {_COLUMNS} FROM store WHERE {where.sql}", where.parameters)
    return read_items(cursor, _mark)


def read_at(cursor: sqlite3.Cursor, refs: Iterable[Ref]) -> Read:
    """The items at these places."""
    return read_items(_at(cursor, _COLUMNS, "store", refs), _mark)


def markers_within(cursor: sqlite3.Cursor, where: Where) -> dict[Ref, Hashable]:
    """The marker of every item that a condition names, by namespace and key; no value is parsed."""
    space = cache(from_prefix)
    cursor.execute(f"SELECT {_COLUMNS} FROM store WHERE {where.sql}", where.parameters)
    found: dict[Ref, int] = {(space(row[0]), row[1]): _mark(row) for row in cursor}
    for prefix, key, mark in _vector_marks(cursor, where):
        if (ref := (space(prefix), key)) in found:
            found[ref] ^= mark
    return dict(sorted(found.items()))


def differing_within(cursor: sqlite3.Cursor, where: Where, known: Known) -> list[Ref]:
    """Where the items that a condition names differ from what is known, came or went.

    Every row is looked at: whole seconds and row numbers that are used again tell too little of what others wrote.
    """
    space, position, new = cache(from_prefix), known.position, []
    left = [marker if isinstance(marker, int) else 1 for marker in known.markers]
    cursor.execute(f"SELECT {_COLUMNS} FROM store WHERE {where.sql}", where.parameters)
    for row in cursor:
        if (at := position.get(ref := (space(row[0]), row[1]))) is None:
            new.append(ref)
        else:
            left[at] ^= _mark(row)
    for prefix, key, mark in _vector_marks(cursor, where):
        if (at := position.get((space(prefix), key))) is not None:
            left[at] ^= mark
    return [*new, *(ref for ref, at in position.items() if left[at])]


def items_descending(cursor: sqlite3.Cursor, where: Where, before: str | None) -> Iterator[StoredItem]:
    """The items that a condition names, by key, greatest first, one after another."""
    sql, parameters = where.sql, where.parameters
    if before is not None:
        sql, parameters = f"{sql} AND key < ?", (*parameters, before)
    cursor.execute(f"SELECT {_COLUMNS} FROM store WHERE {sql} ORDER BY key DESC, prefix", parameters)
    return map(item_reader(), cursor)


def vectors_within(cursor: sqlite3.Cursor, refs: Sequence[Ref], where: Where) -> Iterator[VectorRow]:
    """The vectors of the items at these places, which the condition names."""
    if not has_vectors(cursor):
        return iter(())
    marked = _marked_at(schema_version(cursor))
    cursor.execute(f"SELECT {_VECTORS} FROM store_vectors WHERE {where.sql}", where.parameters)
    return owned(refs, map(marked, cursor))


def vectors_at(cursor: sqlite3.Cursor, refs: Sequence[Ref]) -> Iterator[VectorRow]:
    """The vectors of the items at these places."""
    if not has_vectors(cursor):
        return iter(())
    return owned(refs, map(_marked_at(schema_version(cursor)), _at(cursor, _VECTORS, "store_vectors", refs)))


def has_vectors(cursor: sqlite3.Cursor) -> bool:
    """Whether there is a table for vectors."""
    cursor.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'store_vectors'")
    return cursor.fetchone() is not None


def schema_version(cursor: sqlite3.Cursor) -> int:
    """What is another number after every change of the tables, such as when vectors in waiting are put in use."""
    number: int = cursor.execute("PRAGMA schema_version").fetchone()[0]
    return number


def _vector_marks(cursor: sqlite3.Cursor, where: Where) -> Iterator[tuple[str, str, int]]:
    if not has_vectors(cursor):
        return iter(())
    version = schema_version(cursor)
    cursor.execute(f"SELECT prefix, key, field_name, rowid FROM store_vectors WHERE {where.sql}", where.parameters)
    return ((prefix, key, hash((name, number, version))) for prefix, key, name, number in cursor)


def _marked_at(version: int) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    # Another table has rows of the same numbers, and the vectors are not read to be compared: that takes too long.
    return lambda row: (*row[:4], hash((row[2], row[4], version)))


def _mark(row: Sequence[Any]) -> int:
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
