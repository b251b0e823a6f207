"""Open an SQLite file as the official `SqliteStore`, on any Python, for reading and writing or for reading alone."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, cast
from urllib.parse import quote

import numpy as np
from langchain_core.embeddings import Embeddings

from ...core.imports import needing
from ...errors import StoreUnavailableError
from ..base import CONTENT_FIELD

__all__ = ["FileConnection", "FileWatch", "file_of", "open_sqlite", "unavailable"]


with needing("sqlite"):
    import sqlite_vec
    from langgraph.store.sqlite import SqliteStore
    from langgraph.store.sqlite.base import SqliteIndexConfig

_COLUMNS = ("prefix", "key", "value", "created_at", "updated_at")

BUSY_SECONDS = 5.0
"""How long a call waits for another process that is writing."""


class FileConnection(sqlite3.Connection):
    """A connection on which the official store can compare vectors on every Python.

    Where SQLite extensions cannot be loaded, as on Pythons built without them, the functions the store uses
    are given in NumPy instead; they answer the same, more slowly, and NULL for vectors of unequal dimensions.
    """

    read_only = False
    immutable = False

    def enable_load_extension(self, enabled: bool, /) -> None:
        """Allow extensions where this Python can load any."""
        if hasattr(sqlite3.Connection, "enable_load_extension"):
            super().enable_load_extension(enabled)

    def load_extension(self, path: str, /, *, entrypoint: str | None = None) -> None:  # noqa: ARG002 - never used here
        """Load the extension, or else define its vector functions."""
        if hasattr(sqlite3.Connection, "load_extension"):
            try:
                super().load_extension(path)
            except sqlite3.OperationalError:
                pass
            else:
                return
        for name, distance in _DISTANCES.items():
            self.create_function(name, 2, distance, deterministic=True)


def open_sqlite(
    path: str | Path,
    *,
    embeddings: Embeddings,
    dimensions: int | None = None,
    read_only: bool = False,
    create: bool = True,
    fields: Sequence[str] = (CONTENT_FIELD,),
) -> SqliteStore:
    """The official store over this file, the text of its `fields` embedded by `embeddings`.

    Written with write-ahead logging, so that readers never wait. With `create`, a missing file is made.
    `dimensions` are asked of the embedder where they are not given. Close it by `store.conn.close()`.

    `read_only` writes no byte of the file: no table, no journal mode, no migration. While it is open, SQLite
    may keep its two side files ("-wal", "-shm") next to it, to follow what other processes write; where the
    directory refuses them, the file is read as it stands and later changes by others are not seen.

    Raises:
        StoreUnavailableError: the file is missing, not a database, damaged, locked, not to be written, or
            holds no LangGraph store.
    """
    file = Path(path)
    size = dimensions or getattr(embeddings, "dimensions", None) or len(embeddings.embed_query(CONTENT_FIELD))
    try:
        connection = _open_for_reading(file) if read_only else _open_for_writing(file, create=create)
    except sqlite3.Error as error:
        raise unavailable(error, file) from error
    # The store reads `text_fields` and ignores `fields`; everybody else reads `fields`.
    index = {"dims": size, "embed": embeddings, "fields": list(fields), "text_fields": list(fields)}
    store = SqliteStore(connection, index=cast(SqliteIndexConfig, index))
    try:
        if read_only:
            connection.load_extension(sqlite_vec.loadable_path())
            store.is_setup = True
        else:
            store.setup()
    except sqlite3.Error as error:
        connection.close()
        raise unavailable(error, file) from error
    return store


def unavailable(error: sqlite3.Error, file: str | Path) -> StoreUnavailableError:
    """What failed on this file, and what to do."""
    return StoreUnavailableError(
        f"The SQLite file {os.fspath(file)} cannot be used: {_advice(error)} (SQLite: {error})"
    )


def _open_for_writing(file: Path, *, create: bool) -> FileConnection:
    if not file.exists() and not create:
        raise StoreUnavailableError(f"There is no SQLite file {file}; check the path, or let it be created.")
    if not file.parent.is_dir():
        raise StoreUnavailableError(f"There is no directory {file.parent} for the SQLite file {file}; create it first.")
    connection = _connect(file, "mode=rwc" if create else "mode=rw")
    try:
        connection.execute("PRAGMA schema_version")
        _check_is_writable(connection)
        _check_columns(connection, file)
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _check_is_writable(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("ROLLBACK")


def _open_for_reading(file: Path) -> FileConnection:
    if not file.exists():
        raise StoreUnavailableError(f"There is no SQLite file {file}; check the path.")
    try:
        connection = _connect(file, "mode=ro")
        _check_is_store(connection, file)
    except sqlite3.OperationalError as error:
        log = file.with_name(f"{file.name}-wal")
        if error.sqlite_errorname not in ("SQLITE_CANTOPEN", "SQLITE_READONLY_DIRECTORY"):
            raise
        if log.exists() and log.stat().st_size:
            raise
        connection = _connect(file, "mode=ro&immutable=1")
        connection.immutable = True
        _check_is_store(connection, file)
    connection.read_only = True
    return connection


def _connect(file: Path, mode: str) -> FileConnection:
    return sqlite3.connect(
        f"file:{quote(os.fspath(file.absolute()))}?{mode}",
        uri=True,
        factory=FileConnection,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )


def _check_is_store(connection: FileConnection, file: Path) -> None:
    found = _missing_columns(connection)
    if found is None:
        connection.close()
        raise StoreUnavailableError(
            f"The SQLite file {file} holds no LangGraph store (it has no table 'store'); "
            "check the path, or open it for writing once to set it up."
        )
    _check_columns(connection, file)


def _check_columns(connection: FileConnection, file: Path) -> None:
    """Older layouts lack columns that are not needed for reading, and newer ones may have more."""
    if missing := _missing_columns(connection):
        connection.close()
        raise StoreUnavailableError(
            f"The table 'store' of the SQLite file {file} is not LangGraph's: it lacks {', '.join(missing)}; "
            "check the path."
        )


def _missing_columns(connection: FileConnection) -> list[str] | None:
    """Which columns the table of the store lacks; None where there is no such table."""
    found = {name for _, name, *_ in connection.execute("PRAGMA table_info(store)")}
    return [name for name in _COLUMNS if name not in found] if found else None


def _advice(error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", None) or ""
    for start, advice in _ADVICE.items():
        if name.startswith(start):
            return advice
    return "see the message of SQLite."


_ADVICE = {
    "SQLITE_NOTADB": "it is not an SQLite database; check the path.",
    "SQLITE_CORRUPT": "it is damaged; restore a copy, or recover it with the sqlite3 command's .recover.",
    "SQLITE_BUSY": "another process is writing and did not finish in time; try again, or end that process.",
    "SQLITE_LOCKED": "another connection of this process is writing; try again.",
    "SQLITE_READONLY": "the file or its directory may not be written; change its permissions, or open it read-only.",
    "SQLITE_CANTOPEN": "it cannot be opened; check the path and the permissions of the file and its directory.",
    "SQLITE_FULL": "the disk is full; make room.",
    "SQLITE_IOERR": "the disk failed; check it, and whether the file is on a network drive, which SQLite cannot use.",
}


def _pair(one: bytes | None, other: bytes | None) -> tuple[np.ndarray, np.ndarray] | None:
    if not isinstance(one, bytes) or not isinstance(other, bytes) or len(one) != len(other) or len(one) % 4:
        return None
    return np.frombuffer(one, "<f4"), np.frombuffer(other, "<f4")


def _cosine_distance(one: bytes | None, other: bytes | None) -> float | None:
    if (pair := _pair(one, other)) is None:
        return None
    lengths = float(np.linalg.norm(pair[0]) * np.linalg.norm(pair[1]))
    return 1.0 - float(pair[0] @ pair[1]) / lengths if lengths else None


def _distance(one: bytes | None, other: bytes | None) -> float | None:
    pair = _pair(one, other)
    return None if pair is None else float(np.linalg.norm(pair[0] - pair[1]))


def _taxicab_distance(one: bytes | None, other: bytes | None) -> float | None:
    pair = _pair(one, other)
    return None if pair is None else float(np.abs(pair[0] - pair[1]).sum())


_DISTANCES = {
    "vec_distance_cosine": _cosine_distance,
    "vec_distance_L2": _distance,
    "vec_distance_L1": _taxicab_distance,
}


class _Seen(NamedTuple):
    """What there was at the last look: the file's size and time, and what SQLite tells of its own writes."""

    size: int
    modified: int
    writes: tuple[int, int]


class FileWatch:
    """The file of one connection, as it was when this was made. Used under the lock of its store alone.

    Writes to a file that was replaced would be lost with it. `overwritten` counts how often the file changed without a
    write that SQLite knows of.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._path = file_of(connection)
        found = self._stat()
        self._identity = (found.st_dev, found.st_ino) if found else None
        self._seen: _Seen | None = None
        self.overwritten = 0

    def look(self) -> None:
        """Look at the file, outside of any transaction.

        A checkpoint of what was known already counts as overwriting too: that cannot be told apart, and costs no more
        than a look at every row.

        Raises:
            StoreUnavailableError: the file is gone, or another one has taken its place.
        """
        if self._identity is None:
            return
        found = self._stat()
        if found is None:
            raise StoreUnavailableError(f"The SQLite file {self._path} is gone since it was opened; open it again.")
        if (found.st_dev, found.st_ino) != self._identity:
            raise StoreUnavailableError(
                f"The SQLite file {self._path} was replaced since it was opened; open it again."
            )
        if self._seen is not None and self._seen[:2] == (found.st_size, found.st_mtime_ns):
            return
        # Pages that are kept in memory would be taken for those of the file, and the two do not fit.
        self._connection.execute("PRAGMA shrink_memory")
        version = next(iter(self._connection.execute("PRAGMA data_version").fetchone()))
        writes = (version, self._connection.total_changes)
        seen, self._seen = self._seen, _Seen(found.st_size, found.st_mtime_ns, writes)
        if seen is not None and seen.writes == writes:
            self.overwritten += 1

    def _stat(self) -> os.stat_result | None:
        try:
            return os.stat(self._path) if self._path else None
        except OSError:
            return None


def file_of(connection: sqlite3.Connection) -> str:
    """The path of a connection's file; empty where it has none, or is closed."""
    try:
        found = connection.execute("PRAGMA database_list").fetchone()
    except sqlite3.Error:
        return ""
    return str(found[2] or "")
