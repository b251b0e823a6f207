"""`Background`: remembering off the caller's path, out of a durable queue that loses nothing and does nothing twice."""

from __future__ import annotations

import atexit
import functools
import json
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypedDict, Unpack

from ..consolidation.remember import TermOptions, read_terms
from ..consolidation.seen_turns import spoken, turns_in
from ..core.execution import on_thread
from ..core.namespaces import NamespaceLike, read_namespace
from ..core.text import shown
from ..core.validation import check_whole
from ..errors import (
    ConfigurationError,
    ConflictError,
    EmbeddingError,
    InputError,
    ModelError,
    StoreError,
    describe_error,
)
from .jobs import Claim, Job, JobState
from .queue import JobQueue

__all__ = ["Background", "Pace", "PaceOptions", "check_seconds"]


_TRIED_AGAIN = (ConflictError, EmbeddingError, ModelError, StoreError)
_LONGEST_BACKOFF = 600.0
_LOOKS_EVERY = 1.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Pace:
    """How a background works. Times are in seconds.

    Args:
        workers: threads that work; 0 hands over alone, and `drain` works in the calling thread.
        debounce: how long a job waits for more of its conversation, counted anew at every submit.
        at_latest: how long it can be put off in all.
        attempts: how often a job is begun before it counts as failed.
        backoff: how long it waits after the first failure; twice as long after every further one, 10 minutes at most.
        lease: after how long without a sign of life a worker's job is taken by another.
        capacity: how many jobs may wait.
        exit_timeout: how long the end of the process may be held up for work that is due.

    Raises:
        ConfigurationError: a value is out of range.
    """

    workers: int = 2
    debounce: float = 5.0
    at_latest: float = 60.0
    attempts: int = 5
    backoff: float = 2.0
    lease: float = 60.0
    capacity: int = 100_000
    exit_timeout: float = 5.0

    def __post_init__(self) -> None:
        for name, least in (("workers", 0), ("attempts", 1), ("capacity", 1)):
            try:
                check_whole(name, getattr(self, name))
            except InputError as error:
                raise ConfigurationError(str(error)) from error
            if getattr(self, name) < least:
                raise ConfigurationError(f"{name} must be at least {least}, got {getattr(self, name)}.")
        for name in ("debounce", "at_latest", "backoff", "lease", "exit_timeout"):
            check_seconds(name, getattr(self, name))
        if not self.lease:
            raise ConfigurationError("lease must be more than 0 seconds, or a job would be taken from whoever does it.")


class PaceOptions(TypedDict, total=False):
    """The options of `MemoryEngine.background`: the values of a `Pace`."""

    workers: int
    debounce: float
    at_latest: float
    attempts: int
    backoff: float
    lease: float
    capacity: int
    exit_timeout: float


class Background:
    """Takes conversations over and has them remembered by a few threads. Made by `engine.background(…)`.

    The threads never hold up the end of the process: work that is due has `exit_timeout` seconds, and what is left
    stays in the queue's file. Use it as a context manager, or `close` it.
    """

    def __init__(
        self, work: Callable[[Claim], str], queue: JobQueue, pace: Pace, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._work = work
        self._queue = queue
        self._pace = pace
        self._clock = clock
        self._pid = os.getpid()
        self._name = f"{self._pid}-{secrets.token_hex(4)}"
        self._stirred = threading.Condition()
        self._stirs = 0
        self._is_open = True
        self._is_stopping = False
        self._running: set[str] = set()
        self._ended = threading.Event()
        self._threads = [self._thread(self._work_on, f"memory-worker-{each + 1}") for each in range(pace.workers)]
        self._left = len(self._threads)
        if self._threads:
            self._thread(self._keep_leases, "memory-leases").start()
        for thread in self._threads:
            thread.start()
        atexit.register(self._at_exit)

    # Handing over

    def submit(
        self,
        content: object,
        namespace: NamespaceLike,
        thread: str | None = None,
        *,
        after_seconds: float | None = None,
        **terms: Unpack[TermOptions],
    ) -> str | None:
        """Have a conversation remembered; gives the job's id, or None where nobody said anything.

        What arrives for the same namespace and thread before the job begins is merged into it: turns are added, one
        that is there already, by its id, is replaced. Later, it makes a job of its own, done after the first.

        Args:
            content: text, a message, or messages (LangChain or dicts).
            namespace: where to.
            thread: the conversation's; None is a thread of its own.
            after_seconds: how long to wait for more, instead of `debounce`.
            terms: `categories`, `importance`, `source`, `private`, `metadata`, `reason`, as for `remember`.

        Raises:
            InputError: the content or a term cannot be used.
            StoreError: the queue is full, or its file failed; nothing was taken over.
            ConfigurationError: it was closed, or made in another process.
        """
        where, transcript, kept = read_namespace(namespace), turns_in(content), _kept_terms(terms)
        if not spoken(transcript):
            if transcript.left_out.get("unreadable message"):
                raise InputError(f"There is nothing to remember: {transcript.notes[0]}")
            return None
        wait = self._pace.debounce if after_seconds is None else after_seconds
        check_seconds("after_seconds", wait, InputError)
        self._check_usable()
        now = self._clock()
        id = self._queue.add(
            where,
            None if thread is None else str(thread),
            transcript.messages,
            now=now,
            due=now + wait,
            at_latest=self._pace.at_latest,
            capacity=self._pace.capacity,
            terms=kept,
        )
        self._stir()
        return id

    async def asubmit(
        self,
        content: object,
        namespace: NamespaceLike,
        thread: str | None = None,
        *,
        after_seconds: float | None = None,
        **terms: Unpack[TermOptions],
    ) -> str | None:
        """The asynchronous form of `submit`."""
        call = functools.partial(self.submit, content, namespace, thread, after_seconds=after_seconds, **terms)
        return await on_thread(call)

    def flush(self, namespace: NamespaceLike | None = None, thread: str | None = None) -> int:
        """Let what waits, of all or of a namespace or thread, begin at once; gives how many jobs. It is not waited for.

        Jobs that wait for their next attempt go on waiting; see `retry`.
        """
        where = None if namespace is None else read_namespace(namespace)
        hurried = self._queue.hurry(where, thread, now=self._clock())
        self._stir()
        return hurried

    def drain(self, timeout: float) -> int:
        """Do everything that falls due within so many seconds; gives how many jobs wait or run even then.

        Jobs that wait for their next attempt are waited for where that comes within the time.
        """
        self._check_process()
        deadline = time.monotonic() + timeout
        self.flush()
        while (left := deadline - time.monotonic()) > 0:
            seen = self._stirs
            if not self._threads and self._step():
                continue
            if not self._queue.is_pending(self._name, now=self._clock() + left):
                break
            self._rest(seen, left)
        counts = self._queue.counts()
        return counts["waiting"] + counts["running"]

    def close(self, timeout: float = 5.0) -> None:
        """Take nothing more, drain for so many seconds, and end; what is left stays in the queue's file."""
        if not self._is_open:
            return
        self._is_open = False
        atexit.unregister(self._at_exit)
        deadline = time.monotonic() + timeout
        try:
            self.drain(timeout)
        finally:
            self._is_stopping = True
            self._stir()
            for thread in self._threads:
                thread.join(max(0.0, deadline - time.monotonic()))
            if not self._threads:
                self._queue.close()

    # Looking, and putting right

    def jobs(self, *, state: JobState | None = None, limit: int | None = None) -> list[Job]:
        """The jobs of the queue, whoever does them, the latest submitted first; of those done the last 1,000."""
        return self._queue.jobs(state=state, limit=limit)

    def counts(self) -> dict[JobState, int]:
        """How many jobs wait, run, have failed and are done."""
        return self._queue.counts()

    def retry(self, job: str) -> None:
        """Try a job again at once that has failed, or that waits for its next attempt.

        Raises:
            NotFoundError: there is no such job.
        """
        self._queue.retry(job, now=self._clock())
        self._stir()

    def withdraw(self, namespace: NamespaceLike, thread: str | None = None) -> int:
        """Take back what waits or has failed of a namespace or thread, and forget its turns; gives how many jobs."""
        return self._queue.withdraw(read_namespace(namespace), thread)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # The threads

    def _thread(self, target: Callable[[], None], name: str) -> threading.Thread:
        # Daemons, so that the interpreter never waits for them.
        return threading.Thread(target=target, name=name, daemon=True)

    def _work_on(self) -> None:
        while not self._is_stopping:
            seen = self._stirs
            if not self._step():
                self._rest(seen, _LOOKS_EVERY)
        with self._stirred:
            self._left -= 1
            is_last = not self._left
        if is_last:
            self._ended.set()
            self._queue.close()

    def _step(self) -> bool:
        """Do the next job that is due; False where none is."""
        try:
            claim = self._queue.claim(
                self._name, now=self._clock(), lease=self._pace.lease, attempts=self._pace.attempts
            )
            if claim is None:
                return False
            self._running.add(claim.id)
            try:
                self._do(claim)
            finally:
                self._running.discard(claim.id)
                self._stir()
        except StoreError as error:
            # What was done is known by its mark in the store, so that the job may well come again.
            _log.warning("The queue of memories failed; its jobs are tried again.\n%s", describe_error(error))
            return False
        return True

    def _do(self, claim: Claim) -> None:
        try:
            outcome = self._work(claim)
        except _TRIED_AGAIN as error:
            wait = min(self._pace.backoff * 2.0 ** min(claim.attempt - 1, 30), _LONGEST_BACKOFF)
            is_last = claim.attempt >= self._pace.attempts
            self._failed(claim, error, None if is_last else self._clock() + wait)
        except Exception as error:  # noqa: BLE001 - whatever a job raises, the other jobs go on
            self._failed(claim, error, None)
        else:
            self._queue.finish(claim.id, self._name, now=self._clock(), outcome=outcome)

    def _failed(self, claim: Claim, error: Exception, again_at: float | None) -> None:
        said = f"{type(error).__name__}: {error}"
        self._queue.fail(claim.id, self._name, said, now=self._clock(), again_at=again_at)
        what = "has failed; see jobs() and retry()" if again_at is None else "is tried again later"
        _log.warning("The job %s %s.\n%s", claim.id, what, describe_error(error))

    def _rest(self, seen: int, longest: float) -> None:
        """Wait until something was submitted or done since that many stirs, until a job is due, or a moment."""
        due = self._queue.next_due() if seen == self._stirs else None
        until_due = _LOOKS_EVERY if due is None or due <= self._clock() else due - self._clock()
        with self._stirred:
            if seen == self._stirs:
                self._stirred.wait(min(until_due, longest, _LOOKS_EVERY))

    def _stir(self) -> None:
        with self._stirred:
            self._stirs += 1
            self._stirred.notify_all()

    def _keep_leases(self) -> None:
        while not self._ended.wait(self._pace.lease / 3):
            running = list(self._running)
            try:
                if running:
                    self._queue.renew(running, self._name, now=self._clock(), lease=self._pace.lease)
            except StoreError as error:
                _log.warning("The leases of running jobs could not be renewed.\n%s", describe_error(error))

    def _at_exit(self) -> None:
        if os.getpid() != self._pid:
            return
        try:
            self.close(self._pace.exit_timeout)
        except StoreError as error:
            _log.warning("The queue of memories failed at the end of the process.\n%s", describe_error(error))

    def _check_process(self) -> None:
        if os.getpid() != self._pid:
            raise ConfigurationError(
                "This background was made before the process was forked, and its threads are not in this one. "
                "Call engine.background(…) in every process; they share the queue's file."
            )

    def _check_usable(self) -> None:
        self._check_process()
        if not self._is_open:
            raise ConfigurationError("This background was closed, so it takes nothing over. Make another one.")


def check_seconds(name: str, value: object, error: type[ConfigurationError | InputError] = ConfigurationError) -> None:
    """A number of seconds."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and 0 <= value <= 1e9):  # type: ignore[operator]
        raise error(f"{name} must be a number of seconds from 0 to a billion, got {shown(value)}.")


def _kept_terms(given: TermOptions) -> dict[str, Any]:
    """The terms as they can be kept in the queue."""
    read_terms(**given)
    named: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if "categories" in named:
        named["categories"] = list(named["categories"])
    if "metadata" in named:
        named["metadata"] = dict(named["metadata"])
    try:
        json.dumps(named)
    except (TypeError, ValueError) as error:
        raise InputError(f"metadata must be JSON, to be kept in the queue: {error}") from error
    return named
