"""The plan that is being looked at, kept in the session: made, corrected and carried out here; drawn elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st
from mnemoscope import (
    Conflict,
    ConflictError,
    ConsolidationDecision,
    ExtractedFact,
    MemoryEngine,
    MnemoscopeError,
    PermissionDeniedError,
    Plan,
    PlannedFact,
    choose,
    edit_decision,
    edit_fact,
)
from mnemoscope.namespaces import Namespace

from app import feedback, session
from app.display import counted
from app.replay_chosen import Chosen
from app.session import Session

__all__ = ["Run", "amend", "begin", "commit", "current", "discard", "is_undone", "open_facts", "tick", "tick_all"]

_RUN = "replay.run"


@dataclass(frozen=True)
class Run:
    """A plan on its way to the store behind `connection`.

    `edits` are the Python lines of what was corrected in it; `conflicts` why it was refused; `group` names its
    changes and `written` counts them, once it was carried out.
    """

    connection: str
    source: str
    plan: Plan
    edits: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    group: str | None = None
    written: int = 0

    @property
    def is_committed(self) -> bool:
        """Whether it was carried out."""
        return self.group is not None

    @property
    def stamp(self) -> str:
        """A part for widget keys that changes with the plan and with every correction."""
        return f"{self.plan.id[-8:]}.{len(self.edits)}"


def current(working: Session, chosen: Chosen, namespace: Namespace) -> Run | None:
    """The plan for this conversation and namespace, if it is the one that is kept."""
    run = _kept()
    if (
        run is None
        or run.connection != working.connection
        or run.source != chosen.source
        or run.plan.namespace != namespace
    ):
        return None
    # Another file may come under the same name.
    is_same = [each.text for each in run.plan.messages] == [each.text for each in chosen.transcript.messages]
    return run if is_same else None


def begin(working: Session, chosen: Chosen, namespace: Namespace) -> Run:
    """Plan what would be remembered; nothing is written."""
    plan = working.engine.plan(chosen.transcript, namespace, source=chosen.source)
    return _keep(Run(working.connection, chosen.source, plan))


def open_facts(plan: Plan) -> list[int]:
    """The positions of the facts that can be committed or left out: those that would change something."""
    return [at for at, planned in enumerate(plan.facts) if planned.outcome in ("insert", "update", "forget")]


def tick(at: int, *, is_chosen: bool) -> None:
    """Take a fact into the plan, or leave it out."""
    run = _kept()
    if run is not None:
        _choose(run, {each for each in _chosen(run.plan) if each != at} | ({at} if is_chosen else set()))


def tick_all(*, is_chosen: bool) -> None:
    """Take every fact into the plan, or leave every one out that would change something."""
    run = _kept()
    if run is not None:
        everything = set(range(len(run.plan.facts)))
        _choose(run, everything if is_chosen else everything - set(open_facts(run.plan)))


def amend(at: int, fact: ExtractedFact, decision: ConsolidationDecision | None) -> None:
    """Put another fact in the place of one, and decide anew if there is a decision.

    Raises:
        InputError: the fact has no text.
    """
    run = _kept()
    if run is None:
        return
    before = run.plan.facts[at]
    plan = edit_fact(run.plan, at, fact)
    lines = _lines_of(at, before, fact)
    if decision is not None:
        plan = edit_decision(plan, at, decision)
        given = decision.model_dump(exclude_defaults=True)
        arguments = ", ".join(f"{name}={value!r}" for name, value in given.items())
        lines += (f"plan = edit_decision(plan, {at}, ConsolidationDecision({arguments}))",)
    _keep(replace(run, plan=plan, edits=run.edits + lines, conflicts=()))


def commit() -> None:
    """Carry the plan out as one undoable change; a callback."""
    run = _kept()
    if run is None or run.is_committed:
        return
    try:
        working = session.require_writing()
        if working.connection != run.connection:
            raise PermissionDeniedError("This plan was made on another connection, so nothing was written. Plan again.")
        applied = working.engine.apply(run.plan, actor=working.operator)
    except ConflictError as error:
        _keep(replace(run, conflicts=tuple(error.conflicts)))
    except MnemoscopeError as error:
        feedback.refused(error)
    else:
        number = len(applied.changes)
        _keep(replace(run, group=applied.group, written=number))
        feedback.done(f"Committed {counted(number, 'change')}.", undo=applied.group)


def discard() -> None:
    """Drop the plan; the store is as it was. A callback."""
    st.session_state.pop(_RUN, None)


def is_undone(engine: MemoryEngine, run: Run) -> bool:
    """Whether what the plan wrote was taken back since."""
    changes = engine.history(run.plan.namespace, limit=1_000)
    own = {change.id for change in changes if change.group == run.group}
    return any(change.undoes in own for change in changes)


def _kept() -> Run | None:
    run = st.session_state.get(_RUN)
    return run if isinstance(run, Run) else None


def _keep(run: Run) -> Run:
    st.session_state[_RUN] = run
    return run


def _chosen(plan: Plan) -> set[int]:
    return {at for at, planned in enumerate(plan.facts) if planned.chosen}


def _choose(run: Run, chosen: set[int]) -> None:
    _keep(replace(run, plan=choose(run.plan, sorted(chosen)), conflicts=()))


def _lines_of(at: int, before: PlannedFact, after: ExtractedFact) -> tuple[str, ...]:
    old = before.fact.model_dump()
    changed = {name: value for name, value in after.model_dump().items() if value != old[name]}
    if not changed:
        return ()
    return (f"plan = edit_fact(plan, {at}, plan.facts[{at}].fact.model_copy(update={changed!r}))",)
