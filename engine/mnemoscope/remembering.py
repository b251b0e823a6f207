"""Remembering: the caller's terms checked, a plan carried out, and the two together."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .applying import edits_of, texts_to_embed
from .changes import Change
from .checking import check_flag, check_number, check_object, check_text, check_texts
from .errors import ConflictError, InputError
from .facts import ExtractedFact
from .journal import Journal
from .messages import Transcript
from .namespaces import Namespace
from .planner import Planner, calls_left
from .plans import Plan, Terms
from .prompt_book import unkept_prompts
from .records import MemoryRecord
from .runs import run_of, run_write
from .steps import Step, Steps
from .stores.base import Guard, Write

__all__ = ["TERMS", "Applied", "applied", "plan_of", "remembered", "terms_of"]

TERMS = ("categories", "importance", "source", "private", "metadata", "reason")
"""What a caller may say of all facts of one call."""

_ATTEMPTS = 3


class Applied(list[MemoryRecord]):
    """The memories that a plan inserted or updated. `group` names the change for `undo`, None if there was none."""

    def __init__(self, records: Sequence[MemoryRecord], changes: Sequence[Change], plan: Plan) -> None:
        super().__init__(records)
        self.changes = list(changes)
        self.plan = plan

    @property
    def group(self) -> str | None:
        """The group of all changes made."""
        return self.changes[0].group if self.changes else None


def terms_of(
    categories: Sequence[str] | None = None,
    importance: float | None = None,
    source: str | None = None,
    private: bool = False,
    metadata: Mapping[str, Any] | None = None,
    reason: str = "",
) -> Terms:
    """The caller's terms, checked.

    Raises:
        InputError: one of them cannot be used, or a private memory would have no source.
    """
    check_texts("categories", categories)
    check_number("importance", importance)
    check_text("source", source)
    check_flag("private", private)
    check_object("metadata", metadata)
    check_text("reason", reason)
    if private and not source:
        raise InputError("A private memory needs a source=: nobody could ever recall it otherwise.")
    return Terms(tuple(categories or ()), importance, source, bool(private), dict(metadata or {}), reason or "")


def plan_of(
    planner: Planner, transcript: Transcript, namespace: Namespace, terms: Terms, *, extract: bool
) -> Steps[Plan]:
    """The plan for what was said; without `extract` for the very text of people and assistant, as one fact.

    Raises:
        InputError: nothing was said.
    """
    said = [message for message in transcript.messages if extract or message.role in ("user", "assistant")]
    if not any(message.text.strip() for message in said):
        raise InputError("There is nothing to remember: the content is empty or holds no text.")
    if extract:
        return planner.from_transcript(transcript, namespace, terms)
    text = "\n\n".join(message.text for message in said)
    fact = ExtractedFact(content=text, message_ids=[message.id for message in said])
    return _as_said(planner.from_facts([fact], namespace, terms), transcript)


def applied(
    planner: Planner,
    journal: Journal,
    plan: Plan,
    actor: str,
    also: Sequence[Write] = (),
    guards: Sequence[Guard] = (),
) -> Steps[Applied]:
    """Carry out the plan in one batch, with these writes; a plan that holds anything is kept as a run.

    Raises:
        ModelError: the plan is of a failed extraction.
        ConflictError: a memory that it touches has changed since, or one of the guards does not hold.
    """
    if plan.failure is not None:
        raise plan.failure
    reworded = yield from planner.embed(texts_to_embed(plan))
    edits = edits_of(plan, {**plan.vectors, **reworded})
    unkept = functools.partial(unkept_prompts, planner.adapter, plan.prompts, actor, plan.created_at)
    prompts = (yield Step(unkept)) if plan.prompts else []
    writes = [*also, *prompts, *([run_write(run_of(plan, actor=actor))] if plan.facts or plan.calls else [])]
    changes = yield Step(functools.partial(journal.commit, edits, actor=actor, run=plan.id, also=writes, guards=guards))
    written = [change.after for change in plan.changes if change.after is not None]
    return Applied(written, changes, plan)


def remembered(
    planner: Planner,
    journal: Journal,
    plan: Steps[Plan],
    actor: str,
    also: Sequence[Write] = (),
    guards: Sequence[Guard] = (),
) -> Steps[Applied]:
    """Make the plan and carry it out; anew with the same facts where another process wrote in between."""
    made = yield from plan
    for _ in range(_ATTEMPTS - 1):
        try:
            return (yield from applied(planner, journal, made, actor, also, guards))
        except ConflictError:
            made = yield from planner.again(made, most_calls=calls_left(made.calls))
    return (yield from applied(planner, journal, made, actor, also, guards))


def _as_said(plan: Steps[Plan], transcript: Transcript) -> Steps[Plan]:
    made = yield from plan
    return replace(made, messages=transcript.messages)
