"""Vectors in waiting for the official `SqliteStore`: two tables beside its own, swapped by their names."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager

from ...errors import StoreError
from ..base import Guard, Ref, Write
from ..prefixes import from_prefix, to_prefix
from ..staging import Finish, Place, Staged, StagingSize, Stale
from ..values import read_json
from .rows import has_vectors

__all__ = ["SqliteStaging", "drop_waiting"]


_VECTORS = "mnemoscope_vectors"
_MARKS = "mnemoscope_marks"

_MAKE_VECTORS = f"""
CREATE TABLE IF NOT EXISTS {_VECTORS} (
    prefix text NOT NULL,
    key text NOT NULL,
    field_name text NOT NULL,
    embedding BLOB,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (prefix, key, field_name),
    FOREIGN KEY (prefix, key) REFERENCES store(prefix, key) ON DELETE CASCADE
)
"""
_MAKE_MARKS = f"""
CREATE TABLE IF NOT EXISTS {_MARKS} (
    prefix text NOT NULL,
    key text NOT NULL,
    field_name text NOT NULL,
    mark text NOT NULL,
    digest text NOT NULL,
    PRIMARY KEY (prefix, key, field_name)
) WITHOUT ROWID
"""

_STALE = f"""
SELECT v.prefix, v.key, v.field_name, s.value, mnemoscope_mark(s.value) AS mark, m.digest
FROM store_vectors AS v
JOIN store AS s ON s.prefix = v.prefix AND s.key = v.key
LEFT JOIN {_MARKS} AS m ON m.prefix = v.prefix AND m.key = v.key AND m.field_name = v.field_name
WHERE (v.prefix, v.key, v.field_name) > (?, ?, ?) AND m.mark IS NOT mnemoscope_mark(s.value)
ORDER BY v.prefix, v.key, v.field_name LIMIT ?
"""

_TOTAL = "SELECT count(*) FROM store_vectors AS v JOIN store AS s ON s.prefix = v.prefix AND s.key = v.key"
_STAGED = f"""
SELECT count(*) FROM {_MARKS} AS m
JOIN store_vectors AS v ON v.prefix = m.prefix AND v.key = m.key AND v.field_name = m.field_name
JOIN store AS s ON s.prefix = v.prefix AND s.key = v.key
"""
_BYTES = f"SELECT coalesce(sum(length(embedding)), 0) FROM {_VECTORS}"

_DROP_GONE = """
DELETE FROM {table} WHERE NOT EXISTS (
    SELECT 1 FROM store_vectors AS v JOIN store AS s ON s.prefix = v.prefix AND s.key = v.key
    WHERE v.prefix = {table}.prefix AND v.key = {table}.key AND v.field_name = {table}.field_name
)
"""


# An item that is gone by now, or erased, must not come back by what was made of it meanwhile.
_STILL_THERE = "EXISTS (SELECT 1 FROM store WHERE prefix = ?1 AND key = ?2)"
_PUT_MARK = f"""
INSERT OR REPLACE INTO {_MARKS} (prefix, key, field_name, mark, digest) SELECT ?1, ?2, ?3, ?4, ?5 WHERE {_STILL_THERE}
"""
_PUT_VECTOR = f"""
INSERT OR REPLACE INTO {_VECTORS} (prefix, key, field_name, embedding) SELECT ?1, ?2, ?3, ?4 WHERE {_STILL_THERE}
"""


class SqliteStaging:
    """The vectors in waiting of one file.

    `reading` and `writing` give a cursor in a transaction; `written` writes items there, and notes that all changed.
    """

    def __init__(
        self,
        *,
        reading: Callable[[], AbstractContextManager[sqlite3.Cursor]],
        writing: Callable[[], AbstractContextManager[sqlite3.Cursor]],
        written: Callable[[sqlite3.Cursor, Sequence[Write], Sequence[Guard]], None],
    ) -> None:
        self._reading, self._writing, self._written = reading, writing, written

    def size(self) -> StagingSize:
        """How far it is; nothing is written."""
        with self._reading() as cursor:
            total = _number(cursor, _TOTAL) if has_vectors(cursor) else 0
            if len(_made(cursor)) < 2:
                return StagingSize(total, 0, 0)
            return StagingSize(total, _number(cursor, _STAGED), _number(cursor, _BYTES))

    def begin(self, dimensions: int, *, afresh: bool) -> None:  # noqa: ARG002 - the file has one type for all
        """Make the tables; what is there stays unless `afresh`."""
        with self._writing() as cursor:
            if not has_vectors(cursor):
                raise StoreError("The SQLite store has no table for vectors; open it with an index, by open_sqlite().")
            if afresh:
                _drop(cursor)
            cursor.execute(_MAKE_VECTORS)
            cursor.execute(_MAKE_MARKS)

    def stale(self, after: Place | None, limit: int) -> list[Stale]:
        """The next vectors to make, by place."""
        with self._reading() as cursor:
            return _stale(cursor, after, limit)

    def put(self, staged: Sequence[Staged]) -> None:
        """Put vectors in waiting."""
        with self._writing() as cursor:
            _put(cursor, staged)

    def switch(self, writes: Sequence[Write], guards: Sequence[Guard], *, most: int, finish: Finish | None) -> int:
        """Swap the tables, with these writes, unless vectors are still to be made."""
        with self._writing() as cursor:
            missing = _stale(cursor, None, most + 1)
            if missing and (finish is None or len(missing) > most):
                return len(missing)
            if missing and finish is not None:
                _put(cursor, finish(missing))
            self._written(cursor, writes, guards)
            for table in (_VECTORS, _MARKS):
                cursor.execute(_DROP_GONE.format(table=table))
            cursor.execute("ALTER TABLE store_vectors RENAME TO mnemoscope_swapped")
            cursor.execute(f"ALTER TABLE {_VECTORS} RENAME TO store_vectors")
            cursor.execute(f"ALTER TABLE mnemoscope_swapped RENAME TO {_VECTORS}")
        return 0

    def drop(self) -> None:
        """Drop the tables."""
        with self._writing() as cursor:
            _drop(cursor)

    def holds(self, refs: Sequence[Ref]) -> bool:
        """Whether any of these places has a vector or a mark in waiting."""
        with self._reading() as cursor:
            return any(
                cursor.execute(
                    f"SELECT 1 FROM {table} WHERE prefix = ? AND key = ?", (to_prefix(namespace), key)
                ).fetchone()
                for table in _made(cursor)
                for namespace, key in refs
            )


def drop_waiting(cursor: sqlite3.Cursor, places: Iterable[tuple[str, str]]) -> None:
    """Drop what stands in waiting for these places: the official table has no key that would take it along."""
    places = list(places)
    for table in _made(cursor) if places else ():
        cursor.executemany(f"DELETE FROM {table} WHERE prefix = ? AND key = ?", places)


def _made(cursor: sqlite3.Cursor) -> list[str]:
    cursor.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name IN (?, ?)", (_VECTORS, _MARKS))
    return [name for (name,) in cursor.fetchall()]


def _drop(cursor: sqlite3.Cursor) -> None:
    cursor.execute(f"DROP TABLE IF EXISTS {_VECTORS}")
    cursor.execute(f"DROP TABLE IF EXISTS {_MARKS}")


def _stale(cursor: sqlite3.Cursor, after: Place | None, limit: int) -> list[Stale]:
    cursor.connection.create_function("mnemoscope_mark", 1, _mark, deterministic=True)
    behind = ("", "", "") if after is None else (after.prefix, after.key, after.field)
    return [
        Stale(Place(prefix, key, field), from_prefix(prefix), read_json(value), mark, digest)
        for prefix, key, field, value, mark, digest in cursor.execute(_STALE, (*behind, limit))
    ]


def _put(cursor: sqlite3.Cursor, staged: Sequence[Staged]) -> None:
    places = [(each.place.prefix, each.place.key, each.place.field) for each in staged]
    cursor.executemany(
        _PUT_MARK,
        [(*place, each.mark, each.digest) for place, each in zip(places, staged, strict=True)],
    )
    without = [place for place, each in zip(places, staged, strict=True) if not each.digest]
    cursor.executemany(f"DELETE FROM {_VECTORS} WHERE prefix = ? AND key = ? AND field_name = ?", without)
    cursor.executemany(
        _PUT_VECTOR,
        [
            (*place, each.vector.astype("<f4").tobytes())
            for place, each in zip(places, staged, strict=True)
            if each.vector is not None
        ],
    )


def _mark(value: object) -> str:
    stored = value if isinstance(value, bytes) else str(value).encode(errors="surrogatepass")
    return hashlib.blake2b(stored, digest_size=12).hexdigest()


def _number(cursor: sqlite3.Cursor, query: str) -> int:
    number: int = cursor.execute(query).fetchone()[0]
    return number
