"""Remember: the caller's terms checked, a plan carried out, and the two together. Facts are written nowhere else."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from ..context import Context
from ..conversations.messages import Transcript, read_messages
from ..core.execution import Step, Steps
from ..core.namespaces import Namespace
from ..core.payloads import as_object
from ..core.records import MemoryRecord, rewritten
from ..core.validation import check_flag, check_number, check_object, check_text, check_texts
from ..embedding.encode import embed_texts
from ..errors import ConflictError, EmbeddingError, InputError, ModelError
from ..extraction.facts import ExtractedFact
from ..journal.changes import Change, Edit
from ..models.prompts import unkept_prompts
from ..stores.base import CONTENT_FIELD, EMBED_AGAIN, KEEP, Guard, Keep, Vectors, Write
from .plan import Plan, PlannedChange, Terms
from .planner import Planner, calls_left
from .runs import run_of, run_write
from .seen_turns import Thread, unread

__all__ = [
    "Applied",
    "TermOptions",
    "apply_plan",
    "edits_of",
    "plan_content",
    "read_terms",
    "remember",
    "remember_unread",
    "texts_to_embed",
    "vectors_for",
]

_ATTEMPTS = 3


class TermOptions(TypedDict, total=False):
    """What a caller may say of all facts of one call, for those that hand it on; see `MemoryEngine.remember`."""

    categories: Sequence[str] | None
    importance: float | None
    source: str | None
    private: bool
    metadata: Mapping[str, Any] | None
    reason: str


class Applied(list[MemoryRecord]):
    """The memories that a plan inserted or updated: a list that also keeps the plan and the changes.

    `group` names the changes for `undo`, None if there was none. A copy and what is pickled keep all of it; a slice
    or a sum is a plain list.
    """

    def __init__(self, records: Sequence[MemoryRecord], changes: Sequence[Change], plan: Plan) -> None:
        super().__init__(records)
        self.changes = list(changes)
        self.plan = plan

    @property
    def group(self) -> str | None:
        """The group of all changes made."""
        return self.changes[0].group if self.changes else None


def read_terms(
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


def plan_content(
    planner: Planner, content: object, namespace: Namespace, terms: Terms, *, extract: bool = True
) -> Steps[Plan]:
    """The plan for what was said; without `extract` for the very text of people and assistant, as one fact.

    Facts in place of a text or messages are planned as they are. Where nobody said anything in words, as with an image
    alone, the plan is empty, and its `left_out` says what there was.
    """
    if isinstance(content, list | tuple) and content and all(isinstance(each, ExtractedFact) for each in content):
        return planner.from_facts(content, namespace, terms)
    transcript = read_messages(content)
    said = [message for message in transcript.messages if extract or message.role in ("user", "assistant")]
    if not any(message.text.strip() for message in said):
        return _as_said(planner.from_facts([], namespace, terms), transcript)
    if extract:
        return planner.from_transcript(transcript, namespace, terms)
    text = "\n\n".join(message.text for message in said)
    fact = ExtractedFact(content=text, message_ids=[message.id for message in said])
    return _as_said(planner.from_facts([fact], namespace, terms), transcript)


def apply_plan(
    context: Context,
    plan: Plan,
    actor: str | None = None,
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
    adapter, by = context.adapter, actor or context.actor
    reworded = yield from embed_texts(adapter, texts_to_embed(plan))
    edits = edits_of(plan, {**plan.vectors, **reworded})
    unkept = functools.partial(unkept_prompts, adapter, plan.prompts, by, plan.created_at)
    prompts = (yield Step(unkept)) if plan.prompts else []
    writes = [
        *also,
        *prompts,
        *([run_write(run_of(plan, actor=by))] if plan.facts or plan.calls or plan.withheld else []),
    ]
    commit = functools.partial(context.journal.commit, edits, actor=by, run=plan.id, also=writes, guards=guards)
    changes = yield Step(commit)
    context.locks.note_write(plan.namespace)
    written = [change.after for change in plan.changes if change.after is not None]
    return Applied(written, changes, plan)


def remember(
    context: Context,
    planner: Planner,
    plan: Steps[Plan],
    actor: str | None = None,
    also: Sequence[Write] = (),
    guards: Sequence[Guard] = (),
) -> Steps[Applied]:
    """Make the plan and carry it out; again with the same facts where somebody wrote in between.

    No lock is held while a model is asked, so turns of one namespace are read side by side. The namespace is held
    for the commit alone, and only a plan that knows what others have stored meanwhile is committed. The last attempt
    plans under the lock, so that it comes to an end however many write.

    Raises:
        ModelError: extraction failed; nothing is written.
        ConflictError: other processes wrote the same memories all the while, or a guard does not hold.
    """
    made = yield from plan
    for _ in range(_ATTEMPTS - 1):
        applied = yield from context.locks.while_held(
            [made.namespace], _apply_if_current(context, made, actor, also, guards)
        )
        if applied is not None:
            return applied
        yield from _check_guards(context, guards)
        made = yield from planner.again(made, most_calls=calls_left(made.calls))
    last = _apply_again(context, planner, made, actor, also, guards)
    return (yield from context.locks.while_held([made.namespace], last))


def remember_unread(
    context: Context,
    planner: Planner,
    transcript: Transcript,
    namespace: Namespace,
    terms: Terms,
    actor: str | None = None,
    *,
    reader: str = "",
    thread: Thread | None = None,
    most: int | None = None,
    also: Sequence[Write] = (),
    guards: Sequence[Guard] = (),
) -> Steps[Applied]:
    """Remember the turns that do not bear this reader's mark in the namespace, and mark them in the same batch.

    Each of these turns is held meanwhile, so that in this process nobody reads it twice; another process that reads
    it at the same time loses at the commit, and reads what is still unread. `thread` leaves out what others said on
    it, and `most` bounds a conversation that was never read, see `unread`.

    Raises:
        ModelError: extraction failed; nothing is written and the turns count as not read.
        ConflictError: others wrote the same memories, or read the same turns, all the while.
    """
    look = functools.partial(unread, context.adapter, namespace, transcript, reader=reader, thread=thread, most=most)
    first = yield from look(context.now())
    held = [("turn", *namespace, mark.key) for mark in first.marks]

    def read() -> Steps[Applied]:
        for attempt in range(_ATTEMPTS):
            new = yield from look(context.now())
            if new.is_empty:
                break
            plan = planner.from_transcript(new.transcript, namespace, terms)
            marks, unmarked = (*new.marks, *new.claims, *also), (*new.guards, *guards)
            try:
                return (yield from remember(context, planner, plan, actor, marks, unmarked))
            except ConflictError:
                # Another process may have read the same turns in between; what the caller guards is not read again.
                if attempt == _ATTEMPTS - 1:
                    raise
                yield from _check_guards(context, guards)
            except (ModelError, EmbeddingError):
                # The next to speak on the thread must not be taken for who said these turns; they are read later.
                if new.claims:
                    yield Step(context.adapter.write, (list(new.claims), []))
                raise
        return Applied([], [], (yield from planner.from_facts([], namespace, terms)))

    return (yield from context.locks.while_held(held, read()))


def _apply_if_current(
    context: Context, plan: Plan, actor: str | None, also: Sequence[Write], guards: Sequence[Guard]
) -> Steps[Applied | None]:
    """The plan carried out, or None where others have stored something that it does not know of."""
    if plan.seen != context.locks.writes(plan.namespace):
        return None
    try:
        return (yield from apply_plan(context, plan, actor, also, guards))
    except ConflictError:
        return None


def _apply_again(
    context: Context,
    planner: Planner,
    plan: Plan,
    actor: str | None,
    also: Sequence[Write],
    guards: Sequence[Guard],
) -> Steps[Applied]:
    if plan.seen != context.locks.writes(plan.namespace):
        plan = yield from planner.again(plan, most_calls=calls_left(plan.calls))
    return (yield from apply_plan(context, plan, actor, also, guards))


def _check_guards(context: Context, guards: Sequence[Guard]) -> Steps[None]:
    """Give up at once where what must not be there is there: planning again would not help."""
    if not guards:
        return
    places = [(guard.namespace, guard.key) for guard in guards]
    items = yield Step(context.adapter.get, (places,))
    for guard, item in zip(guards, items, strict=True):
        if guard.value is None and item is not None:
            raise ConflictError.of_words("Another process has read the same turns, or done the same job, meanwhile.")


def _as_said(plan: Steps[Plan], transcript: Transcript) -> Steps[Plan]:
    made = yield from plan
    return replace(made, messages=transcript.messages, left_out=transcript.left_out)


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
    return rewritten(as_object(plan.stored[change.key].value), change.before, change.after)


def _text_changes(change: PlannedChange) -> bool:
    return change.before is None or change.after is None or change.before.content != change.after.content
