"""`BackgroundWork`: the part of `MemoryEngine` that remembers conversations later, each job once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..background.jobs import Claim
from ..background.queue import JobQueue
from ..background.workers import Background, Pace
from ..consolidation.apply import TERMS, Applied, remembered, terms_of
from ..consolidation.plan import Terms
from ..consolidation.seen_turns import turns_in, unread
from ..conversations.messages import Transcript
from ..core.execution import Step, Steps, check_options, run
from ..core.namespaces import Namespace, NamespaceLike, read_namespace
from ..core.times import to_iso
from ..errors import ConflictError
from ..journal.changes import book
from ..journal.provenance import came_from
from ..stores.base import Guard, Write
from .writing import Writing

__all__ = ["BackgroundWork"]


class BackgroundWork(Writing):
    """The part of `MemoryEngine` for work that nobody waits for."""

    def background(self, queue: str | Path | None, *, actor: str | None = None, **options: Any) -> Background:
        """Threads that remember what is submitted to them, out of a durable queue.

        Args:
            queue: the path of an SQLite file for the queue alone, which other processes may share; None keeps it in
                memory, where it is lost with the process.
            actor: who is journalled.
            options: those of `Pace`: `workers`, `debounce`, `at_latest`, `attempts`, `backoff`, `lease`, `capacity`,
                `exit_timeout`.

        Raises:
            ConfigurationError: an option is out of range.
            StoreUnavailableError: the file cannot be opened, or is no queue.
        """
        check_options("background", options, tuple(Pace.__dataclass_fields__))
        pace = Pace(**options)

        def work(claim: Claim) -> str:
            thread = {"configurable": {"thread_id": claim.thread}} if claim.thread is not None else {}
            came = came_from(f"background {claim.id}", thread)  # type: ignore[arg-type]
            reason = "; ".join(filter(None, (came, claim.terms.get("reason"))))
            terms = {**claim.terms, "reason": reason}
            applied = self.remember_once(claim.messages, claim.namespace, job=claim.id, actor=actor, **terms)
            return _outcome(applied)

        return Background(work, JobQueue(queue), pace)

    def remember_once(
        self, messages: object, namespace: NamespaceLike, *, job: str, actor: str | None = None, **terms: Any
    ) -> Applied | None:
        """Remember turns as `remember_turns` does, unless it was done before under this job's name; then None.

        A mark of the job is written in one batch with what was remembered, and only if it is not there yet: whoever
        does a job again, or at the same time, changes nothing.

        Raises:
            ModelError: extraction failed; nothing is written.
            ConflictError: others wrote the same memories all the while; nothing is written.
        """
        check_options("remember_once", terms, TERMS)
        where, transcript, given = read_namespace(namespace), turns_in(messages), terms_of(**terms)
        with self._turns.of(where):
            try:
                return run(self._done_once(transcript, where, given, actor, job))
            except ConflictError:
                if self.adapter.get([(book("jobs", where), job)])[0] is None:
                    raise
                return None

    def _done_once(
        self, transcript: Transcript, where: Namespace, terms: Terms, actor: str | None, job: str
    ) -> Steps[Applied | None]:
        at = (book("jobs", where), job)
        if (yield Step(self.adapter.get, ([at],)))[0] is not None:
            return None
        planner, now = self._planner(), self._clock()
        new = yield from unread(self.adapter, where, transcript, now)
        if new.is_empty:
            return Applied([], [], (yield from planner.from_facts([], where, terms)))
        plan = planner.from_transcript(new.transcript, where, terms)
        marks = (*new.marks, Write(*at, {"kind": "job", "at": to_iso(now)}))
        guards = (Guard(*at, None),)
        return (yield from remembered(planner, self._journal, plan, actor or self.actor, marks, guards))


def _outcome(applied: Applied | None) -> str:
    if applied is None:
        return "It was done before, as its mark in the store says."
    group = f" ({applied.group})" if applied.group else ""
    return f"Remembered {len(applied)} of {len(applied.plan.facts)} facts{group}."
