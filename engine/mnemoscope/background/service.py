"""Remembering in the background: what its workers do with a job, each job once."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

from ..consolidation.plan import Terms
from ..consolidation.planner import Planner
from ..consolidation.remember import Applied, TermOptions, read_terms, remember_unread
from ..consolidation.seen_turns import turns_in
from ..context import Context
from ..conversations.messages import Transcript
from ..core.execution import Step, Steps, run
from ..core.namespaces import Namespace, NamespaceLike, read_namespace
from ..core.times import to_iso
from ..errors import ConflictError
from ..journal.changes import book
from ..journal.provenance import came_from
from ..stores.base import Guard, Write
from .jobs import Claim
from .queue import JobQueue
from .workers import Background, Pace

__all__ = ["remember_once", "start_background"]


def start_background(context: Context, queue: str | Path | None, pace: Pace, *, actor: str | None) -> Background:
    """Threads that remember what is submitted to them; see `MemoryEngine.background`.

    Raises:
        StoreUnavailableError: the file cannot be opened, or is no queue.
    """

    def work(claim: Claim) -> str:
        thread: Any = {"configurable": {"thread_id": claim.thread}} if claim.thread is not None else {}
        reason = "; ".join(filter(None, (came_from(f"background {claim.id}", thread), claim.terms.get("reason"))))
        terms: Any = {**claim.terms, "reason": reason}
        return _describe(remember_once(context, claim.messages, claim.namespace, job=claim.id, actor=actor, **terms))

    return Background(work, JobQueue(queue), pace)


def remember_once(
    context: Context,
    messages: object,
    namespace: NamespaceLike,
    *,
    job: str,
    actor: str | None = None,
    **terms: Unpack[TermOptions],
) -> Applied | None:
    """Remember the turns that were not read before, unless it was done under this job's name; then None.

    A mark of the job is written in one batch with what was remembered, and only if it is not there yet: a job that is
    done again, or twice at the same time, changes nothing.

    Raises:
        ModelError: extraction failed; nothing is written.
        ConflictError: others wrote the same memories all the while; nothing is written.
    """
    where, transcript, given = read_namespace(namespace), turns_in(messages), read_terms(**terms)
    try:
        return run(_remember_job(context, transcript, where, given, actor, job))
    except ConflictError:
        if context.adapter.get([(book("jobs", where), job)])[0] is None:
            raise
        return None


def _remember_job(
    context: Context, transcript: Transcript, where: Namespace, terms: Terms, actor: str | None, job: str
) -> Steps[Applied | None]:
    at = (book("jobs", where), job)
    if (yield Step(context.adapter.get, ([at],)))[0] is not None:
        return None
    mark = Write(*at, {"kind": "job", "at": to_iso(context.now())})
    return (
        yield from remember_unread(
            context,
            Planner(context),
            transcript,
            where,
            terms,
            actor,
            also=[mark],
            guards=[Guard(*at, None)],
        )
    )


def _describe(applied: Applied | None) -> str:
    if applied is None:
        return "It was done before, as its mark in the store says."
    group = f" ({applied.group})" if applied.group else ""
    return f"Remembered {len(applied)} of {len(applied.plan.facts)} facts{group}."
