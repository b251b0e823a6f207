"""The file of a queue: its tables, how it is opened, and the jobs that stand in it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from ..errors import StoreUnavailableError
from .jobs import STATES, Job, JobState

__all__ = ["count_jobs", "counted", "listed", "open_queue", "read_jobs"]


BUSY_SECONDS = 30.0
"""How long a call waits for another process that is writing."""

# Marks the file as a queue: "MnQu".
_APPLICATION = 0x4D6E5175
_SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    namespace TEXT NOT NULL,
    thread TEXT,
    terms TEXT NOT NULL,
    state TEXT NOT NULL,
    is_open INTEGER NOT NULL DEFAULT 1,
    submitted REAL NOT NULL,
    due REAL NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    worker TEXT,
    lease REAL,
    finished REAL,
    error TEXT NOT NULL DEFAULT '',
    outcome TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS jobs_by_thread ON jobs (state, namespace, thread, number);
CREATE INDEX IF NOT EXISTS jobs_by_number ON jobs (state, namespace, number);
CREATE INDEX IF NOT EXISTS jobs_by_due ON jobs (state, due);
CREATE TABLE IF NOT EXISTS turns (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    job TEXT NOT NULL,
    name TEXT,
    value TEXT NOT NULL,
    UNIQUE (job, name)
);
CREATE INDEX IF NOT EXISTS turns_by_job ON turns (job, number);
CREATE TABLE IF NOT EXISTS served (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace TEXT NOT NULL UNIQUE,
    turn INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS served_by_turn ON served (turn, number);
"""
_LISTED = "SELECT j.*, (SELECT count(*) FROM turns t WHERE t.job = j.id) AS held FROM jobs j"


def read_jobs(path: str | Path, *, state: JobState | None = None, limit: int | None = None) -> list[Job]:
    """The jobs of a queue's file, the latest submitted first; nothing is written.

    Raises:
        StoreUnavailableError: there is no such file, or it is no queue.
    """
    with _reading(Path(path)) as connection:
        return listed(connection, state, limit)


def count_jobs(path: str | Path) -> dict[JobState, int]:
    """How many jobs of a queue's file are in each state; nothing is written.

    Raises:
        StoreUnavailableError: there is no such file, or it is no queue.
    """
    with _reading(Path(path)) as connection:
        return counted(connection)


@contextmanager
def _reading(file: Path) -> Iterator[sqlite3.Connection]:
    try:
        connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)
        with closing(connection):
            connection.row_factory = sqlite3.Row
            yield connection
    except sqlite3.Error as error:
        raise _unavailable(file, error) from error


def open_queue(path: Path | None) -> sqlite3.Connection:
    """The connection to a queue's file, which is made where it is not there; or to one in memory.

    Raises:
        StoreUnavailableError: the file cannot be opened, or is something else than a queue.
    """
    try:
        connection = sqlite3.connect(
            ":memory:" if path is None else path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise _unavailable(path, error) from error
    try:
        connection.row_factory = sqlite3.Row
        _check_is_queue(connection, path)
        connection.execute("PRAGMA journal_mode = WAL")
        # What was withdrawn is not to be read out of the file.
        connection.execute("PRAGMA secure_delete = ON")
        connection.executescript(_SCHEMA)
    except sqlite3.Error as error:
        connection.close()
        raise _unavailable(path, error) from error
    except StoreUnavailableError:
        connection.close()
        raise
    return connection


def _check_is_queue(connection: sqlite3.Connection, path: Path | None) -> None:
    marked = connection.execute("PRAGMA application_id").fetchone()[0]
    if marked == _APPLICATION:
        return
    if marked or connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise StoreUnavailableError(
            f"The SQLite file {path} holds something else than a queue. Name a file of its own for the queue."
        )
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")


def _unavailable(path: Path | None, error: sqlite3.Error) -> StoreUnavailableError:
    return StoreUnavailableError(
        f"The queue {path or 'in memory'} cannot be used (SQLite: {error}). Name an SQLite file of its own, in a "
        "folder that is there."
    )


def listed(connection: sqlite3.Connection, state: JobState | None, limit: int | None) -> list[Job]:
    """The jobs, the latest submitted first."""
    where, values = (" WHERE j.state = ?", [state]) if state is not None else ("", [])
    most = -1 if limit is None else limit
    rows = connection.execute(f"{_LISTED}{where} ORDER BY j.number DESC LIMIT ?", (*values, most))
    return [_job(row) for row in rows]


def counted(connection: sqlite3.Connection) -> dict[JobState, int]:
    """How many jobs are in each state."""
    found = dict(connection.execute("SELECT state, count(*) FROM jobs GROUP BY state").fetchall())
    return {state: found.get(state, 0) for state in STATES}


def _job(row: sqlite3.Row) -> Job:
    return Job(
        id=row["id"],
        namespace=tuple(json.loads(row["namespace"])),
        thread=row["thread"],
        state=cast(JobState, row["state"]),
        turns=row["held"],
        submitted_at=datetime.fromtimestamp(row["submitted"], UTC),
        due_at=datetime.fromtimestamp(row["due"], UTC),
        attempts=row["attempts"],
        worker=row["worker"],
        lease_until=_moment(row["lease"]),
        finished_at=_moment(row["finished"]),
        error=row["error"],
        outcome=row["outcome"],
    )


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
