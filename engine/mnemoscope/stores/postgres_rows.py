"""Reading the official tables of the `PostgresStore`: one query, and so one moment, for items and vectors."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from .extras import needing

with needing("postgres"):
    from psycopg import Cursor

from ..text import storable
from ..times import read_time
from .base import Ref, StoredItem
from .prefixes import Dialect, Where, from_prefix, to_prefix
from .values import read_json
from .vectors import VectorRow

__all__ = ["DIALECT", "ITEM_COLUMNS", "Layout", "Read", "Row", "item_of", "read_at", "read_layout", "read_within"]

Row: TypeAlias = tuple[Any, ...]

DIALECT = Dialect(mark="%s", at_least="~>=~", below="~<~")
"""The operators of `text_pattern_ops`: they compare bytes, and the store's index on the prefix serves them."""

ITEM_COLUMNS = (
    "s.prefix, s.key, s.value::text, extract(epoch FROM s.created_at)::float8, extract(epoch FROM s.updated_at)::float8"
)
"""What `item_of` reads: the value as text, and times as numbers, which may be infinite or beyond all calendars."""

_EPOCH = datetime.fromtimestamp(0, UTC)

_LAYOUT = b"""
SELECT atttypid::regtype::text, (
    SELECT string_agg(format('%I', named.relname), ', ')
    FROM pg_index AS listed
    JOIN pg_class AS named ON named.oid = listed.indexrelid
    JOIN pg_am AS access ON access.oid = named.relam
    WHERE listed.indrelid = attrelid AND access.amname IN ('hnsw', 'ivfflat')
)
FROM pg_attribute
WHERE attrelid = to_regclass('store_vectors') AND attname = 'embedding' AND NOT attisdropped
"""


@dataclass(frozen=True)
class Layout:
    """How the database holds vectors: the type of the column, and the names of approximate indexes on it, if any."""

    vector_type: str | None = None
    index: str | None = None

    @property
    def kind(self) -> str:
        """The numbers of a vector as they are sent."""
        return ">f2" if str(self.vector_type).endswith("halfvec") else ">f4"

    @property
    def sent(self) -> str:
        """The numbers of a vector without its head, as bytes."""
        return f"substring({self.vector_type}_send(v.embedding) FROM 5)"


class Read(NamedTuple):
    """Items by namespace and key, what differs when each was written again, and their vectors."""

    items: list[StoredItem]
    marks: list[Hashable]
    vectors: list[VectorRow]


def read_layout(cursor: Cursor[Row]) -> Layout:
    """How this database holds vectors."""
    row = cursor.execute(_LAYOUT).fetchone()
    return Layout(*row) if row else Layout()


def read_within(cursor: Cursor[Row], layout: Layout, where: Where, *, contents: bool = True) -> Read:
    """The items that a condition on the table `s` names; without `contents`, no value and no vector is read."""
    return _read(cursor, layout, "store AS s", f"WHERE {where.sql}", where.parameters, contents=contents)


def read_at(cursor: Cursor[Row], layout: Layout, refs: Iterable[Ref]) -> Read:
    """The items at these places."""
    prefixes, keys = _places(refs)
    source = (
        "unnest(%s::text[], %s::text[]) AS asked (prefix, key) "
        "JOIN store AS s ON s.prefix = asked.prefix AND s.key = asked.key"
    )
    return _read(cursor, layout, source, "", (prefixes, keys), contents=True)


def item_of(row: Sequence[Any]) -> StoredItem:
    """The item of a row that begins with `ITEM_COLUMNS`."""
    prefix, key, value, created, updated = row[:5]
    return StoredItem(
        namespace=from_prefix(prefix),
        key=key,
        value=None if value is None else read_json(value),
        created_at=read_time(created) or _EPOCH,
        updated_at=read_time(updated) or _EPOCH,
    )


def _read(
    cursor: Cursor[Row], layout: Layout, source: str, where: str, parameters: Sequence[Any], *, contents: bool
) -> Read:
    item = ITEM_COLUMNS if contents else "s.prefix, s.key, NULL, NULL, NULL"
    columns, joined = "NULL, NULL, NULL", ""
    if layout.vector_type:
        columns = f"v.field_name, v.xmin::text, {layout.sent if contents else 'NULL'}"
        joined = "LEFT JOIN store_vectors AS v ON v.prefix = s.prefix AND v.key = s.key"
    cursor.execute(f"SELECT {item}, s.xmin::text, {columns} FROM {source} {joined} {where}".encode(), parameters)
    return _grouped(cursor.fetchall())


def _grouped(rows: list[Row]) -> Read:
    space = cache(from_prefix)
    rows.sort(key=lambda row: (space(row[0]), row[1], row[6] or ""))
    read = Read([], [], [])
    before = None
    for row in rows:
        if (place := itemgetter(0, 1)(row)) != before:
            before = place
            read.items.append(item_of(row))
            read.marks.append(row[5])
        if row[6] is not None:
            read.vectors.append(VectorRow(len(read.items) - 1, row[6], row[8], row[7]))
    return read


def _places(refs: Iterable[Ref]) -> tuple[list[str], list[str]]:
    places = {(to_prefix(namespace), key) for namespace, key in refs if not storable(key)[1]}
    asked = sorted((prefix, key) for prefix, key in places if prefix is not None)
    return [prefix for prefix, _ in asked], [key for _, key in asked]
