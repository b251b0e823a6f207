"""Notice that the file under an open SQLite connection is another by now, or was overwritten past SQLite."""

from __future__ import annotations

import os
import sqlite3
from typing import NamedTuple

from ..errors import StoreUnavailableError

__all__ = ["FileWatch", "file_of"]


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
