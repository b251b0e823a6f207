"""`JobQueue`: a durable queue in an SQLite file of its own, which several processes may share.

What arrives for one namespace and thread is merged into the job that waits there, turn by turn. A job is claimed with
a lease; that of a worker that was killed is taken again once the lease is over. Of one namespace one job runs at a
time, in the order of arrival, and whose last turn is longest ago comes first.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..conversations.messages import Message
from ..core.namespaces import Namespace
from ..errors import NotFoundError, StoreError
from .jobs import Claim, Job, JobState, read_turn, turn_value
from .queue_file import counted, listed, open_queue

__all__ = ["KEPT", "JobQueue"]


KEPT = 1_000
"""How many jobs that are done stay listed."""

# Namespaces that have work, the one that was served longest ago first; of each, its oldest job that may begin.
_NEXT = """
SELECT (
    SELECT j.id FROM jobs j
    WHERE j.state = 'waiting' AND j.namespace = s.namespace AND j.due <= :now
    AND NOT EXISTS (SELECT 1 FROM jobs e WHERE e.state = 'waiting' AND e.namespace = j.namespace
        AND e.thread IS j.thread AND e.number < j.number)
    ORDER BY j.number LIMIT 1
) AS job
FROM served s
WHERE NOT EXISTS (SELECT 1 FROM jobs r WHERE r.state = 'running' AND r.namespace = s.namespace)
AND job IS NOT NULL
ORDER BY s.turn, s.number LIMIT 1
"""
_IDLE = """
DELETE FROM served WHERE namespace = ?
AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.state IN ('waiting', 'running') AND j.namespace = served.namespace)
"""


class JobQueue:
    """The queue in a file, or in memory where the path is None. Times are seconds since 1970.

    Raises:
        StoreUnavailableError: the file cannot be opened, or is no queue.
    """

    def __init__(self, path: str | Path | None) -> None:
        self.path = None if path is None else Path(path)
        self._lock = threading.RLock()
        self._connection = open_queue(self.path)

    # Handing over

    def add(
        self,
        namespace: Namespace,
        thread: str | None,
        messages: Sequence[Message],
        *,
        now: float,
        due: float,
        at_latest: float,
        capacity: int,
        terms: Mapping[str, Any] | None = None,
    ) -> str:
        """Merge the turns into the job that waits for this namespace and thread, or make one; gives its id.

        A turn that is there already, by its id, takes the place of the earlier one. A job that waits is due when the
        last call says, but is not put off to more than `at_latest` seconds after it was made.

        Raises:
            StoreError: as many jobs as `capacity` wait already.
        """
        place = (_written(namespace), thread, json.dumps(terms or {}, sort_keys=True, ensure_ascii=False))
        with self._changing() as connection:
            row = connection.execute(
                "SELECT id FROM jobs WHERE state = 'waiting' AND is_open = 1 AND namespace = ? AND thread IS ? "
                "AND terms = ? ORDER BY number DESC LIMIT 1",
                place,
            ).fetchone()
            id = row["id"] if row else f"job-{uuid.uuid4()}"
            if row:
                connection.execute(
                    "UPDATE jobs SET due = min(?, max(due, submitted + ?)) WHERE id = ?", (due, at_latest, id)
                )
            else:
                _check_room(connection, capacity)
                # Whoever is new comes after those who wait already, so that no stream of new ones starves them.
                connection.execute(
                    "INSERT OR IGNORE INTO served (namespace, turn) SELECT ?, coalesce(max(turn), 0) FROM served",
                    (place[0],),
                )
                connection.execute(
                    "INSERT INTO jobs (id, namespace, thread, terms, state, submitted, due) "
                    "VALUES (?, ?, ?, ?, 'waiting', ?, ?)",
                    (id, *place, now, due),
                )
            _merge(connection, id, messages)
        return id

    def hurry(self, namespace: Namespace | None = None, thread: str | None = None, *, now: float) -> int:
        """Make what waits for its first attempt due at once: all, or that of a namespace or thread; gives how many."""
        where, values = _place(namespace, thread)
        with self._changing() as connection:
            return connection.execute(
                f"UPDATE jobs SET due = ? WHERE state = 'waiting' AND attempts = 0 AND due > ?{where}",
                (now, now, *values),
            ).rowcount

    def withdraw(self, namespace: Namespace, thread: str | None = None) -> int:
        """Take back what waits or has failed of a namespace or thread, its turns included; gives how many jobs."""
        where, values = _place(namespace, thread)
        with self._changing() as connection:
            found = connection.execute(f"SELECT id FROM jobs WHERE state IN ('waiting', 'failed'){where}", values)
            ids = [(row["id"],) for row in found]
            connection.executemany("DELETE FROM turns WHERE job = ?", ids)
            connection.executemany("DELETE FROM jobs WHERE id = ?", ids)
            connection.execute(_IDLE, (_written(namespace),))
        return len(ids)

    # Working

    def claim(self, worker: str, *, now: float, lease: float, attempts: int) -> Claim | None:
        """Take the next job that is due, if any, for `lease` seconds.

        What a worker took and did not finish in time waits again; or has failed where it was begun `attempts` times.
        """
        if not self._has_due(now):
            return None
        with self._changing() as connection:
            _take_back(connection, now, attempts)
            row = connection.execute(_NEXT, {"now": now}).fetchone()
            if row is None:
                return None
            connection.execute(
                "UPDATE jobs SET state = 'running', is_open = 0, attempts = attempts + 1, worker = ?, lease = ? "
                "WHERE id = ?",
                (worker, now + lease, row["job"]),
            )
            job = connection.execute("SELECT * FROM jobs WHERE id = ?", (row["job"],)).fetchone()
            connection.execute(
                "UPDATE served SET turn = (SELECT max(turn) + 1 FROM served) WHERE namespace = ?",
                (job["namespace"],),
            )
            turns = connection.execute("SELECT value FROM turns WHERE job = ? ORDER BY number", (job["id"],))
            messages = tuple(read_turn(turn["value"]) for turn in turns)
        namespace = tuple(json.loads(job["namespace"]))
        return Claim(job["id"], namespace, job["thread"], messages, json.loads(job["terms"]), job["attempts"])

    def renew(self, ids: Sequence[str], worker: str, *, now: float, lease: float) -> None:
        """Keep these jobs of this worker for `lease` seconds more."""
        with self._changing() as connection:
            connection.executemany(
                "UPDATE jobs SET lease = ? WHERE state = 'running' AND id = ? AND worker = ?",
                [(now + lease, id, worker) for id in ids],
            )

    def finish(self, id: str, worker: str, *, now: float, outcome: str = "") -> bool:
        """Note that the job is done, and let go of its turns; False where it is not this worker's any more."""
        with self._changing() as connection:
            is_ours = _close(connection, id, worker, "done", now, outcome=outcome)
            if is_ours:
                connection.execute("DELETE FROM turns WHERE job = ?", (id,))
                connection.execute(
                    "DELETE FROM jobs WHERE state = 'done' AND number <= "
                    "(SELECT number FROM jobs WHERE state = 'done' ORDER BY number DESC LIMIT 1 OFFSET ?)",
                    (KEPT,),
                )
        return is_ours

    def fail(self, id: str, worker: str, error: str, *, now: float, again_at: float | None) -> bool:
        """Note what went wrong: the job waits until `again_at`, or has failed where that is None."""
        with self._changing() as connection:
            if again_at is None:
                return _close(connection, id, worker, "failed", now, error=error)
            return bool(
                connection.execute(
                    "UPDATE jobs SET state = 'waiting', due = ?, worker = NULL, lease = NULL, error = ? "
                    "WHERE id = ? AND worker = ? AND state = 'running'",
                    (again_at, error, id, worker),
                ).rowcount
            )

    def retry(self, id: str, *, now: float) -> None:
        """Let a job that has failed, or waits for its next attempt, be tried again at once.

        Raises:
            NotFoundError: there is no such job that has failed or waits.
        """
        with self._changing() as connection:
            changed = connection.execute(
                "UPDATE jobs SET state = 'waiting', due = ?, attempts = 0, finished = NULL "
                "WHERE id = ? AND state IN ('failed', 'waiting')",
                (now, id),
            ).rowcount
            connection.execute(
                "INSERT OR IGNORE INTO served (namespace, turn) SELECT j.namespace, "
                "(SELECT coalesce(max(turn), 0) FROM served) FROM jobs j WHERE j.id = ?",
                (id,),
            )
        if not changed:
            raise NotFoundError(f"No job {id!r} has failed or waits; jobs() lists them all.")

    # Looking

    def jobs(self, *, state: JobState | None = None, limit: int | None = None) -> list[Job]:
        """The jobs, the latest submitted first."""
        with self._reading() as connection:
            return listed(connection, state, limit)

    def counts(self) -> dict[JobState, int]:
        """How many jobs are in each state."""
        with self._reading() as connection:
            return counted(connection)

    def is_pending(self, worker: str, *, now: float) -> bool:
        """Whether a job is due, or this worker has one."""
        with self._reading() as connection:
            row = connection.execute(
                "SELECT EXISTS (SELECT 1 FROM jobs WHERE state = 'waiting' AND due <= ?) "
                "OR EXISTS (SELECT 1 FROM jobs WHERE state = 'running' AND (worker = ? OR lease <= ?))",
                (now, worker, now),
            ).fetchone()
        return bool(row[0])

    def next_due(self) -> float | None:
        """When the next waiting job may begin; None where none waits."""
        with self._reading() as connection:
            due: float | None = connection.execute("SELECT min(due) FROM jobs WHERE state = 'waiting'").fetchone()[0]
        return due

    def _has_due(self, now: float) -> bool:
        # A look costs other processes nothing; only a change makes them wait.
        with self._reading() as connection:
            row = connection.execute(
                "SELECT EXISTS (SELECT 1 FROM jobs WHERE state = 'waiting' AND due <= ?) "
                "OR EXISTS (SELECT 1 FROM jobs WHERE state = 'running' AND lease <= ?)",
                (now, now),
            ).fetchone()
        return bool(row[0])

    def close(self) -> None:
        """Close the file; what waits in it stays."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise StoreError(f"The queue {self.path or 'in memory'} failed: {error}") from error


def _check_room(connection: sqlite3.Connection, capacity: int) -> None:
    waiting = connection.execute("SELECT count(*) FROM jobs WHERE state = 'waiting'").fetchone()[0]
    if waiting >= capacity:
        raise StoreError(
            f"{waiting:,} jobs wait in the queue, so nothing more is taken. Add workers, or find out with jobs() why "
            "they do not get on."
        )


def _merge(connection: sqlite3.Connection, job: str, messages: Sequence[Message]) -> None:
    """Add the turns. Those without an id go in as they come, but not where they only repeat all that there are."""
    values = [turn_value(message) for message in messages]
    rows = connection.execute("SELECT value FROM turns WHERE job = ? ORDER BY number", (job,)).fetchall()
    before = [row["value"] for row in rows]
    repeated = len(before) if before and len(values) > len(before) and values[: len(before)] == before else 0
    connection.executemany(
        "INSERT INTO turns (job, name, value) VALUES (?, ?, ?) "
        "ON CONFLICT (job, name) DO UPDATE SET value = excluded.value",
        [
            (job, message.id if message.has_own_id else None, value)
            for message, value in list(zip(messages, values, strict=True))[repeated:]
        ],
    )


def _take_back(connection: sqlite3.Connection, now: float, attempts: int) -> None:
    """Let go of what workers took and did not finish in time."""
    error = "Its worker was gone before it was through."
    connection.execute(
        "UPDATE jobs SET state = 'failed', finished = ?, worker = NULL, lease = NULL, error = ? "
        "WHERE state = 'running' AND lease <= ? AND attempts >= ?",
        (now, error, now, attempts),
    )
    connection.execute(
        "UPDATE jobs SET state = 'waiting', due = ?, worker = NULL, lease = NULL, error = ? "
        "WHERE state = 'running' AND lease <= ?",
        (now, error, now),
    )


def _close(
    connection: sqlite3.Connection,
    id: str,
    worker: str,
    state: JobState,
    now: float,
    *,
    error: str = "",
    outcome: str = "",
) -> bool:
    changed = connection.execute(
        "UPDATE jobs SET state = ?, finished = ?, worker = NULL, lease = NULL, error = ?, outcome = ? "
        "WHERE id = ? AND worker = ? AND state = 'running'",
        (state, now, error, outcome, id, worker),
    )
    connection.execute(_IDLE, connection.execute("SELECT namespace FROM jobs WHERE id = ?", (id,)).fetchone())
    return bool(changed.rowcount)


def _written(namespace: Namespace) -> str:
    return json.dumps(list(namespace), ensure_ascii=False)


def _place(namespace: Namespace | None, thread: str | None) -> tuple[str, list[str]]:
    """The SQL that narrows jobs to a namespace and thread, with its values."""
    if namespace is None:
        return "", []
    return (
        (" AND namespace = ?", [_written(namespace)])
        if thread is None
        else (" AND namespace = ? AND thread = ?", [_written(namespace), thread])
    )
