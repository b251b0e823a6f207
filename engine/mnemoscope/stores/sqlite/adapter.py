"""The adapter of the official `SqliteStore`: its own SQL on the official tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import islice

from langchain_core.embeddings import Embeddings

from ...core.imports import needing
from ...core.namespaces import Namespace, is_reserved
from ...core.times import Clock, utc_now
from ...errors import PermissionDeniedError, StoreError, StoreUnavailableError
from ..base import KEEP, Abilities, Guard, Hit, Known, Ref, Snapshot, StoredItem, Write
from ..prefixes import Dialect, from_prefix
from ..snapshots import embed_queries, embed_query, nearest, snapshot_of
from ..staging import used_by
from ..values import PreparedWrite, check_guards, has_texts, prepare
from .connection import FileWatch, file_of, unavailable
from .rows import (
    differing_within,
    has_vectors,
    items_descending,
    markers_within,
    read_at,
    read_within,
    schema_version,
    vectors_at,
    vectors_within,
)
from .staging import SqliteStaging, drop_waiting
from .write_log import WriteLog

__all__ = ["SqliteAdapter"]


with needing("sqlite"):
    from langgraph.store.sqlite import SqliteStore

_SQL = Dialect(mark="?", at_least=">=", below="<")

_ABILITIES = Abilities(
    reads_vectors=True,
    sees_changes=True,
    atomic=True,
    guards_processes=True,
    limits=(
        "The store's own put() resets the creation time of an item and keeps whole seconds.",
        "The store's own delete() leaves the vectors behind; they are ignored here, and gone after a write here.",
    ),
)

_UNSEEN = (
    "The directory of the file cannot be written, so the file is read as it stood when it was opened: "
    "what others write later is not seen."
)

_UPSERT = """
INSERT INTO store (prefix, key, value, created_at, updated_at, expires_at, ttl_minutes)
VALUES (?1, ?2, ?3, coalesce(?4, ?5), ?5, ?6, ?7)
ON CONFLICT (prefix, key) DO UPDATE
SET value = excluded.value, updated_at = excluded.updated_at, created_at = coalesce(?4, created_at)
"""

_PUT_VECTOR = """
INSERT OR REPLACE INTO store_vectors (prefix, key, field_name, embedding, created_at, updated_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?5)
"""

_DROP_ORPHANS = """
DELETE FROM store_vectors WHERE prefix = ?1 AND key = ?2
AND NOT EXISTS (SELECT 1 FROM store WHERE prefix = ?1 AND key = ?2)
"""


class SqliteAdapter:
    """An official `SqliteStore`, read and written on its own connection and under its own lock."""

    name = "sqlite"

    def __init__(self, store: SqliteStore, *, clock: Clock = utc_now) -> None:
        self.store = store
        self.abilities = _ABILITIES
        self._clock = clock
        self._written = WriteLog()
        self._watch = FileWatch(store.conn)
        self._read_only = getattr(store.conn, "read_only", False)
        if getattr(store.conn, "immutable", False):
            self.abilities = replace(_ABILITIES, sees_changes=False, limits=(*_ABILITIES.limits, _UNSEEN))

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
        """Items of every namespace within the prefix, by one query."""
        where = _SQL.within(prefix, subtree=True)
        with self._reading() as cursor:
            cursor.execute(f"SELECT prefix, count(*) FROM store WHERE {where.sql} GROUP BY prefix", where.parameters)
            return dict(sorted((from_prefix(each), count) for each, count in cursor))

    def get(self, refs: Sequence[Ref]) -> list[StoredItem | None]:
        """The items at these places."""
        with self._reading() as cursor:
            found = {item.ref: item for item in read_at(cursor, refs).items}
        return [found.get(ref) for ref in refs]

    def load(self, namespace: Namespace, *, subtree: bool = False, keys: Sequence[Ref] | None = None) -> Snapshot:
        """The items of a namespace, or those at `keys`, with their vectors, as they were at one moment."""
        where = _SQL.within(namespace, subtree=subtree)
        with self._reading() as cursor:
            items, marks = read_within(cursor, where) if keys is None else read_at(cursor, keys)
            refs = items.refs
            vectors = vectors_within(cursor, refs, where) if keys is None else vectors_at(cursor, refs)
            return snapshot_of(items, marks, vectors, dimensions=self.dimensions)

    def latest(
        self,
        namespace: Namespace,
        *,
        subtree: bool = False,
        limit: int | None = None,
        before: str | None = None,
        where: Mapping[str, str] | None = None,
    ) -> list[StoredItem]:
        """Items by key, greatest first, read no further than the limit."""
        within = _SQL.within(namespace, subtree=subtree)
        with self._reading() as cursor:
            items = items_descending(cursor, within, before)
            return list(islice((item for item in items if has_texts(item.value, where)), limit))

    def markers(self, namespace: Namespace, *, subtree: bool = False) -> dict[Ref, Hashable]:
        """The marker of every item."""
        where = _SQL.within(namespace, subtree=subtree)
        with self._reading() as cursor:
            return markers_within(cursor, where)

    def token(self, namespace: Namespace, *, subtree: bool = False) -> Hashable | None:
        """Equal to an earlier one if nobody else wrote to the file since, nor this adapter to the scope."""
        if not self.abilities.sees_changes:
            return None
        with self._reading() as cursor:
            return *self._by_others(cursor), self._written.latest(namespace, subtree=subtree)

    def changed(
        self, namespace: Namespace, since: Hashable, *, subtree: bool = False, known: Known | None = None
    ) -> list[Ref] | None:
        """What this adapter wrote there since; where others wrote to the file too, what differs from what is known."""
        if not isinstance(since, tuple) or not self.abilities.sees_changes:
            return None
        with self._reading() as cursor:
            if self._by_others(cursor) == since[:-1]:
                return self._written.since(since[-1], namespace, subtree=subtree)
            return None if known is None else differing_within(cursor, _SQL.within(namespace, subtree=subtree), known)

    def search(self, namespace: Namespace, query: str, limit: int, *, subtree: bool = False) -> list[Hit]:
        """The nearest items, ranked exactly."""
        vector = embed_query(self.embeddings, query, self.dimensions)
        return nearest(self.load(namespace, subtree=subtree), vector, limit)

    def search_each(
        self, namespace: Namespace, queries: Sequence[str], limit: int, *, subtree: bool = False
    ) -> list[list[Hit]]:
        """The nearest items of each query, from one reading and one batch of embeddings."""
        if not queries:
            return []
        vectors = embed_queries(self.embeddings, queries, self.dimensions)
        loaded = self.load(namespace, subtree=subtree)
        return [nearest(loaded, vector, limit) for vector in vectors]

    def write(self, writes: Sequence[Write], guards: Sequence[Guard] = ()) -> None:
        """Check every guard and do all writes in one transaction."""
        prepared = prepare(writes, self.dimensions)
        with self._writing() as cursor:
            self._write_all(cursor, prepared, guards)

    @cached_property
    def staging(self) -> SqliteStaging:
        """The vectors in waiting, by which the store goes over to another embedder."""

        def written(cursor: sqlite3.Cursor, writes: Sequence[Write], guards: Sequence[Guard]) -> None:
            self._write_all(cursor, prepare(writes, self.dimensions), guards)
            self._written.note_all()

        return SqliteStaging(reading=self._reading, writing=self._writing, written=written)

    def use(self, embeddings: Embeddings, dimensions: int) -> None:
        """Embed with these from now on."""
        used_by(self.store, embeddings, dimensions)

    def close(self) -> None:
        """Nothing to release: the connection belongs to the store."""

    def _write_all(self, cursor: sqlite3.Cursor, prepared: list[PreparedWrite], guards: Sequence[Guard]) -> None:
        self._written.note(each.ref for each in prepared)
        refs = [(guard.namespace, guard.key) for guard in guards]
        check_guards(guards, {item.ref: item.value for item in read_at(cursor, refs).items})
        with_vectors = has_vectors(cursor)
        if with_vectors:
            _drop_vectors(cursor, prepared)
        elif any(each.vectors for each in prepared if each.vectors is not KEEP):
            raise StoreError("The SQLite store has no table for vectors; open it with an index, by open_sqlite().")
        self._put_items(cursor, prepared)
        if with_vectors:
            _put_vectors(cursor, prepared, _stored_time(self._clock()))

    def _put_items(self, cursor: sqlite3.Cursor, prepared: list[PreparedWrite]) -> None:
        deleted = [_place(each) for each in prepared if each.value is None]
        cursor.executemany("DELETE FROM store WHERE prefix = ? AND key = ?", deleted)
        drop_waiting(cursor, deleted)
        now = self._clock()
        cursor.executemany(_UPSERT, [self._upsert(each, now) for each in prepared if each.value is not None])

    def _upsert(self, write: PreparedWrite, now: datetime) -> tuple[object, ...]:
        created = _stored_time(write.write.created_at) if write.write.created_at else None
        # What put() gives a new item; our own books must not expire.
        minutes = None if is_reserved(write.namespace) else (self.store.ttl_config or {}).get("default_ttl")
        expires = None if minutes is None else (now + timedelta(minutes=minutes)).isoformat(" ")
        return (*_place(write), write.to_json(), created, _stored_time(now), expires, minutes)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Cursor]:
        with self.store.lock, self._translated():
            mine = not self.store.conn.in_transaction
            if mine:
                self._watch.look()
            cursor = self._cursor()
            try:
                if mine:
                    cursor.execute("BEGIN")
                yield cursor
            finally:
                if mine and self.store.conn.in_transaction:
                    cursor.execute("ROLLBACK")
                cursor.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Cursor]:
        if self._read_only:
            raise PermissionDeniedError("The SQLite file was opened read-only; open it for writing to change it.")
        self._set_up()
        with self.store.lock, self._translated():
            self._watch.look()
            cursor = self._cursor()
            before = self.store.conn.total_changes
            try:
                cursor.execute("BEGIN IMMEDIATE")
                yield cursor
                cursor.execute("COMMIT")
            except BaseException:
                if self.store.conn.in_transaction:
                    cursor.execute("ROLLBACK")
                raise
            finally:
                self._written.rows += self.store.conn.total_changes - before
                cursor.close()

    def _by_others(self, cursor: sqlite3.Cursor) -> tuple[int, int, int, int]:
        """What changes with every write of others: other connections, the store's own on this one, past SQLite.

        So it does with every change of the tables, whoever makes it.
        """
        version = cursor.execute("PRAGMA data_version").fetchone()[0]
        strange = self.store.conn.total_changes - self._written.rows
        return version, schema_version(cursor), strange, self._watch.overwritten

    def _set_up(self) -> None:
        if self.store.is_setup:
            return
        try:
            with self._translated():
                self.store.setup()
        except AttributeError as error:
            raise StoreUnavailableError(
                "This Python cannot load SQLite extensions, which the store needs for its index; "
                "open the file by mnemoscope.stores.sqlite.open_sqlite(), which does without."
            ) from error

    def _cursor(self) -> sqlite3.Cursor:
        cursor = self.store.conn.cursor()
        cursor.row_factory = None
        return cursor

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", None) or ""
            if name.startswith("SQLITE_READONLY"):
                raise PermissionDeniedError(
                    f"The SQLite file cannot be written (SQLite: {error}); change its permissions or the connection."
                ) from error
            if name == "SQLITE_ERROR" and "no such table" in str(error):
                raise StoreUnavailableError(
                    f"The SQLite file holds no LangGraph store ({error}); call store.setup(), or check the path."
                ) from error
            raise unavailable(error, file_of(self.store.conn) or "of the store") from error


def _place(write: PreparedWrite) -> tuple[str, str]:
    return ".".join(write.namespace), write.key


def _stored_time(moment: datetime) -> str:
    # Without an offset, as the store writes them: its readers compare times with each other.
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")


def _drop_vectors(cursor: sqlite3.Cursor, prepared: list[PreparedWrite]) -> None:
    kept = [_place(each) for each in prepared if each.vectors is KEEP]
    cursor.executemany(_DROP_ORPHANS, kept)
    replaced = [_place(each) for each in prepared if each.vectors is not KEEP]
    cursor.executemany("DELETE FROM store_vectors WHERE prefix = ? AND key = ?", replaced)


def _put_vectors(cursor: sqlite3.Cursor, prepared: list[PreparedWrite], now: str) -> None:
    cursor.executemany(
        _PUT_VECTOR,
        [
            (*_place(each), name, vector.astype("<f4").tobytes(), now)
            for each in prepared
            if isinstance(each.vectors, dict)
            for name, vector in each.vectors.items()
        ],
    )
