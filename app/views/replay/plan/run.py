"""The plan that is being looked at, kept in the session: made, corrected and carried out here; drawn elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import streamlit as st
from mnemoscope import (
    ConflictError,
    ConsolidationDecision,
    ExtractedFact,
    MemoryConfig,
    MemoryEngine,
    MnemoscopeError,
    PermissionDeniedError,
    Plan,
)
from mnemoscope.consolidation import PlannedFact, choose, edit_decision, edit_fact
from mnemoscope.core import Namespace, Watch, on_thread
from mnemoscope.errors import Conflict
from mnemoscope.models import prompt_text
from mnemoscope.replay import ReplaySetup

from app.components import actions, work
from app.components.work import Work, take_ended
from app.session import session
from app.session.session import Session
from app.text.display import counted
from app.views.replay.source.conversation import ReplayConversation

WORK = "plan"
"""The name of the work that makes a plan."""

_RUN = "replay.run"


@dataclass(frozen=True)
class _Asked:
    """What a plan is made of; see `Run`."""

    connection: str
    source: str
    setup: ReplaySetup | None = None
    edits: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """A plan on its way to the store behind `connection`.

    `setup` is the column that it was taken from, None for the connection's own way. `edits` are the Python lines of
    what was corrected in it; `conflicts` why it was refused; `group` names its changes and `written` counts them, once
    it was carried out.
    """

    connection: str
    source: str
    plan: Plan
    setup: ReplaySetup | None = None
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


def find_run(working: Session, chosen: ReplayConversation, namespace: Namespace) -> Run | None:
    """The plan for this conversation and namespace, if it is the one that is kept."""
    run = _read()
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


def begin(working: Session, chosen: ReplayConversation, namespace: Namespace) -> None:
    """Begin to plan what would be remembered; nothing is written, and `collect` gives the plan. A callback."""

    async def job(_watch: Watch) -> Plan:
        return await working.engine.aplan(chosen.transcript, namespace, source=chosen.source)

    asked = _Asked(working.connection, chosen.source)
    work.begin(WORK, job, made_of=asked, says="Reading the conversation")


def take(working: Session, chosen: ReplayConversation, plan: Plan, setup: ReplaySetup) -> None:
    """Begin to plan a column's facts again, for the store itself, so that they can be committed. A callback."""
    asked = _Asked(working.connection, chosen.source, setup)

    async def job(_watch: Watch) -> Plan:
        # Building a model's client may fail, which is then told like any other failure of the work.
        engine = await on_thread(lambda: _engine_of(working, setup))
        return await engine.areplan(plan)

    work.begin(WORK, job, made_of=asked, says="Comparing with what is remembered now")


def let_in(at: int) -> None:
    """Begin to let a fact in that the plan withholds at this position, as the operator's own choice. A callback."""
    run = _read()
    if run is None or run.is_committed:
        return
    try:
        working = session.current()
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    line = f"plan = engine.replan(plan, let_in=[{at}], actor={working.operator!r})"
    asked = _Asked(run.connection, run.source, run.setup, (*run.edits, line))

    async def job(_watch: Watch) -> Plan:
        engine = await on_thread(lambda: _engine_of(working, run.setup))
        return await engine.areplan(run.plan, let_in=[at], actor=working.operator)

    work.begin(WORK, job, made_of=asked, says="Comparing with what is remembered now")


def collect_plan() -> Work | None:
    """Keep the plan that has been made meanwhile; the work that has ended, for saying how.

    Raises:
        MnemoscopeError: it could not be made.
    """
    work = take_ended(WORK)
    if work is not None and not work.is_cancelled:
        asked: _Asked = work.made_of
        _keep(Run(asked.connection, asked.source, work.result(), asked.setup, asked.edits))
    return work


def open_facts(plan: Plan) -> list[int]:
    """The positions of the facts that can be committed or left out: those that would change something."""
    return [at for at, planned in enumerate(plan.facts) if planned.outcome in ("insert", "update", "forget")]


def tick(at: int, *, is_chosen: bool) -> None:
    """Take a fact into the plan, or leave it out."""
    run = _read()
    if run is not None:
        _choose(run, {each for each in _list_chosen(run.plan) if each != at} | ({at} if is_chosen else set()))


def tick_all(*, is_chosen: bool) -> None:
    """Take every fact into the plan, or leave every one out that would change something."""
    run = _read()
    if run is not None:
        everything = set(range(len(run.plan.facts)))
        _choose(run, everything if is_chosen else everything - set(open_facts(run.plan)))


def amend(at: int, fact: ExtractedFact, decision: ConsolidationDecision | None) -> None:
    """Put another fact in the place of one, and decide anew if there is a decision.

    Raises:
        InputError: the fact has no text.
    """
    run = _read()
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
    run = _read()
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
        actions.refuse(error)
    else:
        number = len(applied.changes)
        _keep(replace(run, group=applied.group, written=number))
        actions.report(f"Committed {counted(number, 'change')}.", undo=applied.group)


def discard() -> None:
    """Drop the plan; the store is as it was. A callback."""
    st.session_state.pop(_RUN, None)


def is_undone(engine: MemoryEngine, run: Run) -> bool:
    """Whether what the plan wrote was taken back since."""
    changes = engine.history(run.plan.namespace, limit=1_000)
    own = {change.id for change in changes if change.group == run.group}
    return any(change.undoes in own for change in changes)


def _engine_of(working: Session, setup: ReplaySetup | None) -> MemoryEngine:
    """The engine over the store that reads and decides as this setup says; the connection's own without one."""
    if setup is None:
        return working.engine
    return MemoryEngine(working.adapter, config=setup.config, **setup.parts())


def _read() -> Run | None:
    run = st.session_state.get(_RUN)
    return run if isinstance(run, Run) else None


def _keep(run: Run) -> Run:
    st.session_state[_RUN] = run
    return run


def _list_chosen(plan: Plan) -> set[int]:
    return {at for at, planned in enumerate(plan.facts) if planned.chosen}


def _choose(run: Run, chosen: set[int]) -> None:
    _keep(replace(run, plan=choose(run.plan, sorted(chosen)), conflicts=()))


def _lines_of(at: int, before: PlannedFact, after: ExtractedFact) -> tuple[str, ...]:
    old = before.fact.model_dump()
    changed = {name: value for name, value in after.model_dump().items() if value != old[name]}
    if not changed:
        return ()
    return (f"plan = edit_fact(plan, {at}, plan.facts[{at}].fact.model_copy(update={changed!r}))",)


def write_setup(setup: ReplaySetup) -> str:
    """The Python expression of an engine over the same store that reads as this setup says."""
    config = f"config=MemoryConfig(**{_list_changed(setup.config)!r})"
    if setup.model is not None:
        # In full, since the wording need not be kept anywhere.
        prompt = f", prompt={setup.extract_prompt!r}"
        is_shipped = setup.extract_prompt in (None, prompt_text("extract"))
        extractor = f"LLMExtractor({setup.model!r}{'' if is_shipped else prompt})"
        return f"MemoryEngine(engine.adapter, {setup.model!r}, extractor={extractor}, {config})"
    if setup.extractor is not None:
        return f"MemoryEngine(engine.adapter, extractor=engine.extractor, consolidator=engine.consolidator, {config})"
    return f"MemoryEngine(engine.adapter, extractor=RuleExtractor(), consolidator=RuleConsolidator(), {config})"


def _list_changed(config: MemoryConfig) -> dict[str, Any]:
    return {
        spec.name: getattr(config, spec.name) for spec in fields(config) if getattr(config, spec.name) != spec.default
    }
