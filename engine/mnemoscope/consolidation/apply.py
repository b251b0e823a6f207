"""Remembering: the caller's terms checked, a plan carried out, and the two together."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..conversations.messages import Transcript
from ..core.execution import Step, Steps
from ..core.namespaces import Namespace
from ..core.payloads import cleaned_object
from ..core.records import MemoryRecord, rewritten
from ..core.validation import check_flag, check_number, check_object, check_text, check_texts
from ..errors import ConflictError, InputError
from ..extraction.facts import ExtractedFact
from ..journal.changes import Change, Edit
from ..journal.journal import Journal
from ..models.prompts import unkept_prompts
from ..stores.base import CONTENT_FIELD, EMBED_AGAIN, KEEP, Guard, Keep, Vectors, Write
from .plan import Plan, PlannedChange, Terms
from .planner import Planner, calls_left
from .runs import run_of, run_write

__all__ = [
    "TERMS",
    "Applied",
    "applied",
    "edits_of",
    "plan_of",
    "remembered",
    "terms_of",
    "texts_to_embed",
    "vectors_for",
]


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


def texts_to_embed(plan: Plan) -> list[str]:
    """Texts that the plan would store and that have no vector yet: reworded or edited ones."""
    texts = [change.after.content for change in plan.changes if change.after and _text_changes(change)]
    return [text for text in dict.fromkeys(texts) if text not in plan.vectors]


def edits_of(plan: Plan, vectors: Mapping[str, NDArray[np.float32]]) -> list[Edit]:
    """The edits that carry out the plan, given the vectors of all its texts."""
    return [_edit(plan, change, vectors) for change in plan.changes]


def vectors_for(text: str, vectors: Mapping[str, NDArray[np.float32]]) -> Vectors:
    """The vectors to write for a text; where we have none, the store embeds the field by itself."""
    return {CONTENT_FIELD: vectors[text]} if text in vectors else EMBED_AGAIN


def _edit(plan: Plan, change: PlannedChange, vectors: Mapping[str, NDArray[np.float32]]) -> Edit:
    written: Vectors | Keep = KEEP
    if change.after and _text_changes(change):
        written = vectors_for(change.after.content, vectors)
    return Edit(
        namespace=plan.namespace,
        key=change.key,
        action=change.action,
        expected=None if change.before is None else plan.stored[change.key].guarded,
        after=_value(plan, change),
        vectors=written,
        reason="; ".join(part for part in (change.reason, plan.terms.reason) if part),
        buries=change.action == "forget",
    )


def _value(plan: Plan, change: PlannedChange) -> dict[str, Any] | None:
    if change.after is None:
        return None
    if change.before is None:
        return change.after.to_value()
    return rewritten(cleaned_object(plan.stored[change.key].value), change.before, change.after)


def _text_changes(change: PlannedChange) -> bool:
    return change.before is None or change.after is None or change.before.content != change.after.content
