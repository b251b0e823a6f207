"""The adapter of the official `PostgresStore`: its own SQL on the official tables, exact whatever the index."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

import orjson
from langchain_core.embeddings import Embeddings

from ...core.imports import needing
from ...core.locks import ForkSafeLock
from ...core.namespaces import Namespace
from ...core.times import Clock, utc_now
from ...errors import StoreError, StoreUnavailableError
from ..base import Abilities, Guard, Hit, Known, Ref, Snapshot, StoredItem, Write
from ..prefixes import Where, from_prefix
from ..snapshots import embed_queries, embed_query, snapshot_of
from ..staging import used_by
from ..values import prepare
from .changes import MarkedRows, State
from .connection import taken, translated
from .rows import (
    DIALECT,
    ITEM_COLUMNS,
    Layout,
    Row,
    item_of,
    one_moment,
    read_at,
    read_few,
    read_layout,
    read_within,
    vectors_within,
)
from .staging import PostgresStaging
from .writing import to_text, transaction, write_all

__all__ = ["PostgresAdapter"]


with needing("postgres"):
    import psycopg
    from langgraph.store.postgres import PostgresStore
    from psycopg import Connection, Cursor
    from psycopg.rows import tuple_row
    from psycopg_pool import ConnectionPool

Result = TypeVar("Result")

TOKENS_KEPT = 1000
"""Namespaces whose last token is kept, so that asking again costs one short query while nobody writes."""

_ABILITIES = Abilities(
    holds="jsonb",
    reads_vectors=True,
    sees_changes=True,
    atomic=True,
    guards_processes=True,
    limits=("Numbers from 1e16 on that are not whole by type come back as whole numbers, and keys in another order.",),
)

_ONE_CONNECTION = (
    "The store was built on one connection: its calls wait for each other, and when the server was restarted "
    "they fail for ever. Build it on a pool, as open_postgres() does."
)
_APPROXIMATE = (
    "An approximate index ({index}) is on the vectors: the store's own search, as agents use it, may return far fewer "
    "memories of a namespace than it holds, or none. What is ranked here is exact all the same. To cure it, run "
    "DROP INDEX CONCURRENTLY {index}; and build stores with ann_index_config={{'kind': 'flat'}}."
)

_ALIVE = "(s.expires_at IS NULL OR s.expires_at > now())"

# Ranked by an expression, which no approximate index serves. The second half is only run where the first
# did not fill the limit: items whose vectors have no direction, or that have none.
_NEAREST = """
WITH query AS MATERIALIZED (
    SELECT number, content::{type} AS vector FROM unnest(%s::text[]) WITH ORDINALITY AS given (content, number)
)
SELECT {columns}, best.similarity, query.number
FROM query CROSS JOIN LATERAL (
    (
        SELECT v.prefix, v.key, max(nullif(1 - (v.embedding <=> query.vector), 'NaN')) AS similarity
        FROM store_vectors AS v WHERE {vectors} GROUP BY v.prefix, v.key
        HAVING max(nullif(1 - (v.embedding <=> query.vector), 'NaN')) IS NOT NULL
        ORDER BY similarity DESC, v.prefix COLLATE "C", v.key COLLATE "C" LIMIT %s
    ) UNION ALL (
        SELECT s.prefix, s.key, NULL FROM store AS s WHERE {items} AND NOT EXISTS (
            SELECT FROM store_vectors AS v
            WHERE v.prefix = s.prefix AND v.key = s.key AND (v.embedding <=> query.vector) <> 'NaN'
        )
        ORDER BY s.prefix COLLATE "C", s.key COLLATE "C" LIMIT %s
    ) LIMIT %s
) AS best JOIN store AS s ON s.prefix = best.prefix AND s.key = best.key
ORDER BY query.number, best.similarity DESC NULLS LAST, s.prefix COLLATE "C", s.key COLLATE "C"
"""

_LATEST = """
SELECT {columns} FROM store AS s WHERE {items}
AND (%s::text IS NULL OR s.key COLLATE "C" < %s) AND s.value @> %s::jsonb
ORDER BY s.key COLLATE "C" DESC, s.prefix COLLATE "C" LIMIT %s
"""


class PostgresAdapter:
    """An official `PostgresStore`, read and written on its own pool or connection."""

    name = "postgres"

    def __init__(self, store: PostgresStore, *, clock: Clock = utc_now) -> None:
        self.store = store
        self._clock = clock
        self._layout = Layout()
        self._tokens: dict[tuple[Namespace, bool], State] = {}
        self._tokens_lock = ForkSafeLock()

    @property
    def abilities(self) -> Abilities:
        """What this adapter can do; an approximate index is a warning from the first call on that reads the tables."""
        index = self._layout.index
        limits = () if isinstance(self.store.conn, ConnectionPool) else (_ONE_CONNECTION,)
        warnings = (_APPROXIMATE.format(index=index),) if index else ()
        return replace(_ABILITIES, limits=(*_ABILITIES.limits, *limits), warnings=warnings)

    @property
    def embeddings(self) -> Embeddings | None:
        """The store's embedder, or None where it was built without an index."""
        embeddings: Embeddings | None = self.store.embeddings
        return embeddings

    @property
    def dimensions(self) -> int | None:
        """Dimensions of the store's vectors, or None where it was built without an index."""
        return self.store.index_config["dims"] if self.store.index_config else None

    def counts(self, prefix: Namespace = ()) -> dict[Namespace, int]:
        """Items of every namespace within the prefix, by one query of the items."""
        where = self._within(prefix, subtree=True)
        sql = f"SELECT s.prefix, count(*) FROM store AS s WHERE {where.sql} GROUP BY s.prefix".encode()

        def work(cursor: Cursor[Row]) -> list[Row]:
            # Looked at each time, as by `_token` of the whole store.
            self._layout = read_layout(cursor)
            return cursor.execute(sql, where.parameters).fetchall()

        return dict(sorted((from_prefix(each), count) for each, count in self._run(work)))

    def get(self, refs: Sequence[Ref]) -> list[StoredItem | None]:
        """The items at these places, by one query."""
        items = self._run(lambda cursor: read_at(cursor, Layout(), refs)).items if refs else []
        found = {item.ref: item for item in items}
        return [found.get(ref) for ref in refs]

    def load(self, namespace: Namespace, *, subtree: bool = False, keys: Sequence[Ref] | None = None) -> Snapshot:
        """The items of a namespace, or those at `keys`, with their vectors, as they were at one moment."""
        where = self._within(namespace, subtree=subtree)

        def work(cursor: Cursor[Row]) -> Snapshot:
            layout = self._known_layout(cursor)
            alive = _ALIVE if self._omits_expired else "true"
            read = read_few(cursor, layout, where) if keys is None else read_at(cursor, layout, keys, alive)
            if read is not None:
                return snapshot_of(*read, dimensions=self.dimensions, kind=layout.kind)
            connection = cursor.connection
            with one_moment(connection):
                items, marks = read_within(connection, where)
                within = self._vectors_within(namespace, subtree=subtree)
                vectors = vectors_within(connection, layout, items.refs, within)
                return snapshot_of(items, marks, vectors, dimensions=self.dimensions, kind=layout.kind)

        return self._run(work)

    def latest(
        self,
        namespace: Namespace,
        *,
        subtree: bool = False,
        limit: int | None = None,
        before: str | None = None,
        where: Mapping[str, str] | None = None,
    ) -> list[StoredItem]:
        """Items by key, greatest first, by one query."""
        within = self._within(namespace, subtree=subtree)
        sql = _LATEST.format(columns=ITEM_COLUMNS, items=within.sql).encode()
        parameters = (*within.parameters, before, before, orjson.dumps(dict(where or {})).decode(), limit)
        return list(map(item_of, self._run(lambda cursor: cursor.execute(sql, parameters).fetchall())))

    def markers(self, namespace: Namespace, *, subtree: bool = False) -> dict[Ref, Hashable]:
        """The marker of every item."""
        marks = self._run(lambda cursor: self._marked(cursor, namespace, subtree=subtree).marks(cursor))
        return dict(sorted(marks.items()))

    def token(self, namespace: Namespace, *, subtree: bool = False) -> Hashable | None:
        """Equal to an earlier one if the same versions of the same rows are there.

        While nobody writes to the server, a look at its snapshot is enough.
        """
        return self._run(lambda cursor: self._token(cursor, namespace, subtree=subtree))

    def changed(
        self, namespace: Namespace, since: Hashable, *, subtree: bool = False, known: Known | None = None
    ) -> list[Ref] | None:
        """What was written there since, by whomever, where that is sure to be all that changed."""
        if not isinstance(since, State) or known is None:
            return None
        return self._run(lambda cursor: self._marked(cursor, namespace, subtree=subtree).changed(cursor, since, known))

    def search(self, namespace: Namespace, query: str, limit: int, *, subtree: bool = False) -> list[Hit]:
        """The nearest items, ranked exactly in the database."""
        vector = embed_query(self.embeddings, query, self.dimensions)
        return self._nearest(namespace, [vector], limit, subtree=subtree)[0]

    def search_each(
        self, namespace: Namespace, queries: Sequence[str], limit: int, *, subtree: bool = False
    ) -> list[list[Hit]]:
        """The nearest items of each query, from one batch of embeddings and one query of the database."""
        if not queries:
            return []
        vectors = embed_queries(self.embeddings, queries, self.dimensions)
        return self._nearest(namespace, list(vectors), limit, subtree=subtree)

    def write(self, writes: Sequence[Write], guards: Sequence[Guard] = ()) -> None:
        """Check every guard and do all writes in one transaction, in three round trips."""
        prepared = prepare(writes, self.dimensions, holds="jsonb")
        minutes = (self.store.ttl_config or {}).get("default_ttl")
        whole_minutes = None if minutes is None else math.ceil(minutes)
        committing = False

        def work(cursor: Cursor[Row]) -> None:
            nonlocal committing
            layout = self._known_layout(cursor)
            with transaction(cursor.connection):
                write_all(cursor.connection, layout, prepared, guards, now=self._clock(), minutes=whole_minutes)
                committing = True

        if prepared or guards:
            self._run(work, may_repeat=lambda: not committing)

    @cached_property
    def staging(self) -> PostgresStaging:
        """The vectors in waiting, by which the store goes over to another embedder."""

        def written(cursor: Cursor[Row], writes: Sequence[Write], guards: Sequence[Guard]) -> None:
            prepared, now = prepare(writes, self.dimensions, holds="jsonb"), self._clock()
            write_all(cursor.connection, self._known_layout(cursor), prepared, guards, now=now, minutes=None)

        return PostgresStaging(run=self._run, written=written)

    def use(self, embeddings: Embeddings, dimensions: int) -> None:
        """Embed with these from now on."""
        used_by(self.store, embeddings, dimensions)

    def close(self) -> None:
        """Nothing to release: the connections belong to the store."""

    def _nearest(self, namespace: Namespace, queries: Sequence[Any], limit: int, *, subtree: bool) -> list[list[Hit]]:
        items = self._within(namespace, subtree=subtree)
        vectors = self._vectors_within(namespace, subtree=subtree)
        texts, most = list(map(to_text, queries)), max(limit, 0)
        parameters = (texts, *vectors.parameters, most, *items.parameters, most, most)

        def work(cursor: Cursor[Row]) -> list[Row]:
            layout = self._known_layout(cursor)
            if layout.vector_type is None:
                raise StoreError("The PostgreSQL store has no table for vectors; set it up with an index.")
            sql = _NEAREST.format(type=layout.vector_type, columns=ITEM_COLUMNS, vectors=vectors.sql, items=items.sql)
            return cursor.execute(sql.encode(), parameters).fetchall()

        hits: list[list[Hit]] = [[] for _ in queries]
        for row in self._run(work):
            hits[row[-1] - 1].append(Hit(item_of(row), row[-2]))
        return hits

    def _token(self, cursor: Cursor[Row], namespace: Namespace, *, subtree: bool) -> State:
        with self._tokens_lock:
            kept = self._tokens.get((namespace, subtree))
        # What expires is gone without a write, so that a store that leaves it out is looked at each time.
        is_sure = kept is not None and not self._omits_expired
        if kept and is_sure and cursor.execute(b"SELECT pg_current_snapshot()::text").fetchone() == (kept.snapshot,):
            return kept
        if not namespace:
            # Who looks at the whole store notices an index that was made or dropped meanwhile.
            self._layout = read_layout(cursor)
        found = self._marked(cursor, namespace, subtree=subtree).state(cursor)
        with self._tokens_lock:
            if len(self._tokens) >= TOKENS_KEPT:
                self._tokens.clear()
            self._tokens[namespace, subtree] = found
        return found

    def _marked(self, cursor: Cursor[Row], namespace: Namespace, *, subtree: bool) -> MarkedRows:
        has_vectors = self._known_layout(cursor).vector_type is not None
        vectors = self._vectors_within(namespace, subtree=subtree) if has_vectors else None
        return MarkedRows(self._within(namespace, subtree=subtree), vectors)

    def _within(self, namespace: Namespace, *, subtree: bool) -> Where:
        where = DIALECT.within(namespace, subtree=subtree, column="s.prefix")
        return replace(where, sql=f"{where.sql} AND {_ALIVE}") if self._omits_expired else where

    def _vectors_within(self, namespace: Namespace, *, subtree: bool) -> Where:
        where = DIALECT.within(namespace, subtree=subtree, column="v.prefix")
        if not self._omits_expired:
            return where
        alive = f"EXISTS (SELECT FROM store AS s WHERE s.prefix = v.prefix AND s.key = v.key AND {_ALIVE})"
        return replace(where, sql=f"{where.sql} AND {alive}")

    @property
    def _omits_expired(self) -> bool:
        return bool((self.store.ttl_config or {}).get("omit_expired"))

    def _known_layout(self, cursor: Cursor[Row]) -> Layout:
        if self._layout.vector_type is None:
            self._layout = read_layout(cursor)
        return self._layout

    def _run(self, work: Callable[[Cursor[Row]], Result], may_repeat: Callable[[], bool] = lambda: True) -> Result:
        """Do the work on a connection, and once more where that one turned out to be dead."""
        try:
            try:
                return self._try(work)
            except _LostConnectionError as lost:
                if not isinstance(self.store.conn, ConnectionPool):
                    raise
                if not may_repeat():
                    raise StoreUnavailableError(
                        "The connection to PostgreSQL broke while a write was being committed, so it is not known "
                        "whether it was; read the memories again."
                    ) from lost
                self.store.conn.check()
                return self._try(work)
        except _LostConnectionError as lost:
            raise translated(lost.error) from lost.error
        except psycopg.Error as error:
            raise translated(error) from error

    def _try(self, work: Callable[[Cursor[Row]], Result]) -> Result:
        with self._connection() as connection:
            try:
                with connection.cursor(binary=True, row_factory=tuple_row) as cursor:
                    return work(cursor)
            except psycopg.Error as error:
                if connection.closed:
                    raise _LostConnectionError(error) from error
                raise

    @contextmanager
    def _connection(self) -> Iterator[Connection[Any]]:
        pool = self.store.conn
        if not isinstance(pool, ConnectionPool):
            with self.store.lock:
                yield pool
            return
        connection = taken(pool)
        try:
            # It is committed or rolled back, and stays open.
            with connection:
                yield connection
        finally:
            pool.putconn(connection)


class _LostConnectionError(Exception):
    """The connection is dead; `error` is how it told."""

    def __init__(self, error: psycopg.Error) -> None:
        super().__init__(str(error))
        self.error = error
