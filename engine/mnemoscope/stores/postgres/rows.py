"""Reading the official tables of the `PostgresStore`: items and vectors of one moment, a large scope bit by bit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from ...core.imports import needing
from ...core.text import storable
from ..base import Ref, StoredItem
from ..prefixes import Dialect, Where, to_prefix
from ..snapshots import Items, Read, VectorRow, item_reader, owned, read_items

__all__ = [
    "DIALECT",
    "ITEM_COLUMNS",
    "ITEM_MARK",
    "VECTOR_MARK",
    "Layout",
    "Row",
    "WithVectors",
    "item_of",
    "one_moment",
    "places",
    "read_at",
    "read_few",
    "read_layout",
    "read_within",
    "vectors_within",
]


with needing("postgres"):
    from psycopg import Connection, Cursor
    from psycopg.pq import PipelineStatus, TransactionStatus
    from psycopg.rows import tuple_row

Row: TypeAlias = tuple[Any, ...]

DIALECT = Dialect(mark="%s", at_least="~>=~", below="~<~")
"""The operators of `text_pattern_ops`: they compare bytes, and the store's index on the prefix serves them."""

ITEM_COLUMNS = (
    "s.prefix, s.key, s.value::text, extract(epoch FROM s.created_at)::float8, extract(epoch FROM s.updated_at)::float8"
)
"""What `item_of` reads: the value as text, and times as numbers, which may be infinite or beyond all calendars."""

ITEM_MARK = "hashtextextended(concat_ws(E'\\x1f', s.prefix, s.key, s.xmin::text), 1)"
VECTOR_MARK = "hashtextextended(concat_ws(E'\\x1f', v.prefix, v.key, v.field_name, v.xmin::text), 2)"
"""What differs when a row was written again. Exclusive ors of them do not depend on an order, so nothing is sorted."""

ROWS_AT_ONCE = 5_000
"""Rows that are fetched together: more than these are never all held at once."""

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


class WithVectors(NamedTuple):
    """Items by namespace and key, what differs when each was written again, and their vectors."""

    items: Items
    marks: list[int]
    vectors: Iterator[VectorRow]


def read_layout(cursor: Cursor[Row]) -> Layout:
    """How this database holds vectors."""
    row = cursor.execute(_LAYOUT).fetchone()
    return Layout(*row) if row else Layout()


@contextmanager
def one_moment(connection: Connection[Any]) -> Iterator[None]:
    """All reading within is of one moment; within a transaction of somebody else's, it is of that one's."""
    if connection.info.transaction_status != TransactionStatus.IDLE or _is_pipeline(connection):
        yield
        return
    connection.execute(b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    try:
        yield
    finally:
        if not connection.closed:
            connection.rollback()


def read_within(connection: Connection[Any], where: Where) -> Read:
    """The items that a condition on the table `s` names, within `one_moment`."""
    rows = _streamed(connection, f"SELECT {ITEM_COLUMNS}, {ITEM_MARK} FROM store AS s WHERE {where.sql}", where)
    return read_items(rows, _last)


def vectors_within(
    connection: Connection[Any], layout: Layout, refs: Sequence[Ref], where: Where
) -> Iterator[VectorRow]:
    """The vectors of these items, which a condition on the table `v` names, one after another."""
    if layout.vector_type is None:
        return iter(())
    columns = f"v.prefix, v.key, v.field_name, {layout.sent}, {VECTOR_MARK}"
    return owned(refs, _streamed(connection, f"SELECT {columns} FROM store_vectors AS v WHERE {where.sql}", where))


def read_few(cursor: Cursor[Row], layout: Layout, where: Where) -> WithVectors | None:
    """The items that a condition on the table `s` names, with their vectors, by one query; None for many."""
    found = _joined(cursor, layout, "store AS s", f"WHERE {where.sql} LIMIT {ROWS_AT_ONCE + 1}", where.parameters)
    return None if len(found) > ROWS_AT_ONCE else _with_vectors(found)


def read_at(cursor: Cursor[Row], layout: Layout, refs: Iterable[Ref], condition: str = "true") -> WithVectors:
    """The items at these places that meet a condition on `s`, with their vectors, by one query."""
    source = (
        "unnest(%s::text[], %s::text[]) AS asked (prefix, key) "
        "JOIN store AS s ON s.prefix = asked.prefix AND s.key = asked.key"
    )
    return _with_vectors(_joined(cursor, layout, source, f"WHERE {condition}", places(refs)))


def item_of(row: Sequence[Any]) -> StoredItem:
    """The item of a row that begins with `ITEM_COLUMNS`."""
    return item_reader()(row)


def places(refs: Iterable[Ref]) -> tuple[list[str], list[str]]:
    """The prefixes and keys of these places, each once, without those that no row can have."""
    found = {(to_prefix(namespace), key) for namespace, key in refs if not storable(key)[1]}
    asked = sorted((prefix, key) for prefix, key in found if prefix is not None)
    return [prefix for prefix, _ in asked], [key for _, key in asked]


def _joined(cursor: Cursor[Row], layout: Layout, source: str, where: str, parameters: Sequence[Any]) -> list[Row]:
    columns, joined = "NULL, NULL, NULL, NULL, NULL", ""
    if layout.vector_type:
        columns = f"v.prefix, v.key, v.field_name, {layout.sent}, {VECTOR_MARK}"
        joined = "LEFT JOIN store_vectors AS v ON v.prefix = s.prefix AND v.key = s.key"
    sql = f"SELECT {columns}, {ITEM_COLUMNS}, {ITEM_MARK} FROM {source} {joined} {where}"
    return cursor.execute(sql.encode(), parameters).fetchall()


def _with_vectors(rows: Sequence[Row]) -> WithVectors:
    # An item with several vectors is in as many rows.
    items, marks = read_items({row[5:7]: row[5:] for row in rows}.values(), _last)
    return WithVectors(items, marks, owned(items.refs, (row[:5] for row in rows if row[0] is not None)))


def _streamed(connection: Connection[Any], sql: str, where: Where) -> Iterator[Row]:
    """The rows one after another, so that they are never all held at once."""
    if _is_pipeline(connection):
        # It has no cursors on the server.
        with connection.cursor(binary=True, row_factory=tuple_row) as cursor:
            yield from cursor.execute(sql.encode(), where.parameters).fetchall()
        return
    with connection.cursor("mnemoscope_rows", binary=True, row_factory=tuple_row) as cursor:
        cursor.itersize = ROWS_AT_ONCE
        yield from cursor.execute(sql.encode(), where.parameters)


def _is_pipeline(connection: Connection[Any]) -> bool:
    return connection.info.pipeline_status != PipelineStatus.OFF


def _last(row: Sequence[Any]) -> int:
    mark: int = row[-1]
    return mark
