"""Writing to the official tables of the `PostgresStore`, within a transaction of the caller's."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.imports import needing
from ...core.namespaces import is_reserved
from ...core.text import storable
from ...errors import Conflict, ConflictError, StoreError
from ..base import KEEP, Guard, Write
from ..prefixes import from_prefix, to_prefix
from ..values import PreparedWrite, check_guards, read_json
from .rows import Layout, Row

__all__ = ["lock", "to_text", "transaction", "write_all"]


with needing("postgres"):
    from psycopg import Capabilities, Connection, Cursor
    from psycopg.pq import TransactionStatus
    from psycopg.rows import tuple_row

_LOCK = b"SELECT pg_advisory_xact_lock(each) FROM unnest(%s::bigint[]) AS each"

_LOCK_SHARED = b"SELECT pg_advisory_xact_lock_shared(each) FROM unnest(%s::bigint[]) AS each"

_GUARDED = b"""
SELECT s.prefix, s.key, s.value::text FROM store AS s
JOIN unnest(%s::text[], %s::text[]) AS asked (prefix, key) ON s.prefix = asked.prefix AND s.key = asked.key
ORDER BY s.prefix, s.key FOR UPDATE OF s
"""

# Whoever would change such an item takes its lock alone, so that the row itself needs none.
_GUARDED_SHARED = b"""
SELECT s.prefix, s.key, s.value::text FROM store AS s
JOIN unnest(%s::text[], %s::text[]) AS asked (prefix, key) ON s.prefix = asked.prefix AND s.key = asked.key
"""

_DELETE = b"""
DELETE FROM store AS s USING unnest(%s::text[], %s::text[]) AS gone (prefix, key)
WHERE s.prefix = gone.prefix AND s.key = gone.key
"""

_UPSERT = """
INSERT INTO store (prefix, key, value, created_at, updated_at, expires_at, ttl_minutes)
SELECT prefix, key, value::jsonb, created, updated, expires, minutes
FROM unnest(%s::text[], %s::text[], %s::text[], %s::timestamptz[], %s::timestamptz[], %s::timestamptz[], %s::int[])
AS given (prefix, key, value, created, updated, expires, minutes)
ORDER BY prefix, key
ON CONFLICT (prefix, key) DO UPDATE
SET value = excluded.value, updated_at = excluded.updated_at, created_at = {created_at}
RETURNING prefix, key, xmax = 0
"""

_DROP_VECTORS = b"""
DELETE FROM store_vectors AS v USING unnest(%s::text[], %s::text[]) AS gone (prefix, key)
WHERE v.prefix = gone.prefix AND v.key = gone.key
"""

_PUT_VECTORS = """
INSERT INTO store_vectors (prefix, key, field_name, embedding, created_at, updated_at)
SELECT prefix, key, field, content::{type}, %s, %s
FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[]) AS given (prefix, key, field, content)
"""


@contextmanager
def transaction(connection: Connection[Any]) -> Iterator[None]:
    """A transaction that waits for the server only where a result is wanted, and once for the end.

    The one of the driver waits for the beginning, too. It is used where a pipeline cannot be, or where the
    connection is already in a transaction, which is not ours to end.
    """
    if connection.info.transaction_status != TransactionStatus.IDLE or not Capabilities().has_pipeline():
        with connection.transaction():
            yield
        return
    try:
        with connection.pipeline():
            connection.execute(b"BEGIN")
            yield
            connection.execute(b"COMMIT")
    except BaseException:
        if not connection.closed:
            connection.rollback()
        raise


def write_all(
    connection: Connection[Any],
    layout: Layout,
    prepared: Sequence[PreparedWrite],
    guards: Sequence[Guard],
    *,
    now: datetime,
    minutes: int | None,
) -> None:
    """Take the locks, check the guards, and do the writes: in a pipeline, two round trips.

    `minutes` is the time-to-live of new items; our own books have none.

    Raises:
        ConflictError: a guard does not hold.
    """
    if layout.vector_type is None and any(each.vectors for each in prepared if each.vectors is not KEEP):
        raise StoreError("The PostgreSQL store has no table for vectors; set it up with an index.")
    lock(connection, [*prepared, *guards])
    _check(connection, guards)
    _at_places(connection, _DELETE, [each for each in prepared if each.value is None])
    put = [each for each in prepared if each.value is not None]
    dated = _upsert(connection, [each for each in put if each.write.created_at], now, minutes)
    other = _upsert(connection, [each for each in put if not each.write.created_at], now, minutes)
    if layout.vector_type is not None:
        _at_places(connection, _DROP_VECTORS, [each for each in put if each.vectors is not KEEP])
        _put_vectors(connection, layout, put, now)
    _check_still_absent(guards, [*dated, *other])


def lock(connection: Connection[Any], places: Iterable[Write | PreparedWrite | Guard]) -> None:
    """Take the locks of these places for the rest of the transaction.

    In one order everywhere, so that two writers never wait for each other.
    """
    shared = {_prefix(each) for each in places if isinstance(each, Guard) and each.shared}
    alone = {_prefix(each) for each in places if not (isinstance(each, Guard) and each.shared)}
    for sql, prefixes in ((_LOCK, alone), (_LOCK_SHARED, shared - alone)):
        if prefixes:
            _cursor(connection).execute(sql, (sorted(map(_lock_number, prefixes)),))


def _lock_number(prefix: str) -> int:
    name = f"mnemoscope/{prefix}".encode(errors="surrogatepass")
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "big", signed=True)


def _check(connection: Connection[Any], guards: Sequence[Guard]) -> None:
    if not guards:
        return
    asked = [guard for guard in guards if to_prefix(guard.namespace) and not storable(guard.key)[1]]
    queries = []
    for sql, shared in ((_GUARDED, False), (_GUARDED_SHARED, True)):
        if some := [guard for guard in asked if guard.shared == shared]:
            parameters = [_prefix(guard) for guard in some], [guard.key for guard in some]
            queries.append(_cursor(connection).execute(sql, parameters))
    # Asked for together and only then read: in a pipeline that is one round trip.
    rows = [row for query in queries for row in query.fetchall()]
    check_guards(guards, {(from_prefix(prefix), key): read_json(value) for prefix, key, value in rows})


def _check_still_absent(guards: Sequence[Guard], upserts: Iterable[Cursor[Row]]) -> None:
    """Others take no lock: what was absent when it was checked may be there by now."""
    absent = {(_prefix(guard), guard.key) for guard in guards if guard.value is None}
    rows = [row for cursor in upserts for row in cursor.fetchall()]
    found = [(prefix, key) for prefix, key, is_new in rows if not is_new and (prefix, key) in absent]
    if found:
        raise ConflictError([Conflict(from_prefix(prefix), key, None, "an item of that key") for prefix, key in found])


def _at_places(connection: Connection[Any], sql: bytes, writes: Sequence[PreparedWrite]) -> None:
    if writes:
        _cursor(connection).execute(sql, ([_prefix(each) for each in writes], [each.key for each in writes]))


def _upsert(
    connection: Connection[Any], writes: Sequence[PreparedWrite], now: datetime, minutes: int | None
) -> list[Cursor[Row]]:
    if not writes:
        return []
    lives = [None if is_reserved(each.namespace) else minutes for each in writes]
    is_dated = writes[0].write.created_at is not None
    sql = _UPSERT.format(created_at="excluded.created_at" if is_dated else "store.created_at")
    parameters = (
        [_prefix(each) for each in writes],
        [each.key for each in writes],
        [each.to_json() for each in writes],
        [each.write.created_at or now for each in writes],
        [now] * len(writes),
        [None if life is None else now + timedelta(minutes=life) for life in lives],
        lives,
    )
    return [_cursor(connection).execute(sql.encode(), parameters)]


def _put_vectors(connection: Connection[Any], layout: Layout, writes: Sequence[PreparedWrite], now: datetime) -> None:
    rows = [
        (_prefix(each), each.key, name, to_text(vector))
        for each in writes
        if isinstance(each.vectors, dict)
        for name, vector in each.vectors.items()
    ]
    if rows:
        columns = [list(column) for column in zip(*rows, strict=True)]
        _cursor(connection).execute(_PUT_VECTORS.format(type=layout.vector_type).encode(), (now, now, *columns))


def to_text(vector: NDArray[np.float32]) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(map(repr, vector.tolist())) + "]"


def _cursor(connection: Connection[Any]) -> Cursor[Row]:
    # In a pipeline each result that is wanted needs a cursor of its own.
    return connection.cursor(binary=True, row_factory=tuple_row)


def _prefix(place: Write | PreparedWrite | Guard) -> str:
    return ".".join(place.namespace)
