"""Two setups on one conversation: chosen side by side, run on scratch copies, and drawn fact by fact."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import streamlit as st
from mnemoscope import MnemoscopeError, Plan
from mnemoscope.core import Namespace, Watch, on_thread, show_namespace
from mnemoscope.replay import ReplaySetup

from app.components import python_lines, states
from app.session.session import Session
from app.views.replay.compare import base as replay_base
from app.views.replay.compare import columns, measure
from app.views.replay.compare import setups as replay_setups
from app.views.replay.compare.base import Base
from app.views.replay.plan import work as replay_work
from app.views.replay.plan.work import Work
from app.views.replay.source.chosen import Chosen

__all__ = ["COMPARE_KEY", "WORK", "Comparison", "draw"]

COMPARE_KEY = "replay.compare"
WORK = "compare"

_KEPT = "replay.comparison"
_SIDES = ("left", "right")


@dataclass(frozen=True)
class Comparison:
    """The plans of both sides, and what they were made of."""

    made_of: tuple[Any, ...]
    plans: tuple[Plan, Plan]


def draw(working: Session, chosen: Chosen, namespace: Namespace) -> None:
    """Draw the setups, the button, and what came of it."""
    ended, failure = _collected()
    base = replay_base.choose()
    setups = []
    for side, column, default in zip(_SIDES, st.columns(2, gap="medium"), ("own", "rules"), strict=True):
        with column, st.container(border=True, key=f"replay-{side}"):
            setups.append(replay_setups.choose(working, side, default))
    left, right = setups
    st.button(
        "Compare",
        key=COMPARE_KEY,
        type="primary",
        icon=":material/compare_arrows:",
        disabled=left is None or right is None or replay_work.is_running(WORK),
        help="Reads the conversation twice, each time into a copy of its own. Nothing is written to the store.",
        on_click=_begin,
        args=(working, chosen, namespace, base, (left, right)),
    )
    replay_work.draw(WORK, ended)
    if failure is not None:
        states.failed(failure)
    elif left is not None and right is not None:
        _draw_comparison(working, chosen, _made_of(working, chosen, namespace, base, (left, right)))
        with st.expander("Measure both on conversations with expected memories", icon=":material/straighten:"):
            measure.draw(working, (left, right), measure.COLUMNS)
        python_lines.draw(
            {"Left": _python(chosen, namespace, left), "Right": _python(chosen, namespace, right)},
            commands="mnemoscope replay talks/*.json --config left.toml --compare right.toml",
        )


def _python(chosen: Chosen, namespace: Namespace, setup: ReplaySetup) -> str:
    lines = [
        f"messages = {chosen.python}",
        f"reader = {replay_setups.python_of(setup)}",
        f"plan = reader.plan(messages, {show_namespace(namespace)!r}, source={chosen.source!r})",
    ]
    return "\n".join(lines)


def _draw_comparison(working: Session, chosen: Chosen, made_of: tuple[Any, ...]) -> None:
    kept = st.session_state.get(_KEPT)
    if isinstance(kept, Comparison) and kept.made_of == made_of:
        columns.draw(working, chosen, kept.plans, (made_of[-2], made_of[-1]))
    elif not replay_work.is_running(WORK):
        states.empty("Nothing is compared yet", "Choose two setups and compare.", icon=":material/compare_arrows:")


def _collected() -> tuple[Work | None, MnemoscopeError | None]:
    work = replay_work.ended(WORK)
    try:
        if work is not None and not work.is_cancelled:
            st.session_state[_KEPT] = Comparison(work.made_of, work.result())
    except MnemoscopeError as error:
        return work, error
    return work, None


def _made_of(
    working: Session, chosen: Chosen, namespace: Namespace, base: Base, setups: tuple[ReplaySetup, ReplaySetup]
) -> tuple[Any, ...]:
    return (working.connection, chosen.source, len(chosen.transcript.messages), namespace, base, *setups)


def _begin(
    working: Session, chosen: Chosen, namespace: Namespace, base: Base, setups: tuple[ReplaySetup, ReplaySetup]
) -> None:
    async def planned(setup: ReplaySetup) -> Plan:
        engine = await on_thread(lambda: replay_base.scratch_copy(working, namespace, base, setup))
        return await engine.aplan(chosen.transcript, namespace, source=chosen.source)

    async def job(watch: Watch) -> tuple[Plan, Plan]:
        tasks = [asyncio.ensure_future(planned(setup)) for setup in setups]
        try:
            for done, task in enumerate(asyncio.as_completed(tasks), start=1):
                await task
                watch.at(done / len(tasks))
            return tasks[0].result(), tasks[1].result()
        finally:
            for each in tasks:
                each.cancel()

    made_of = _made_of(working, chosen, namespace, base, setups)
    replay_work.begin(WORK, job, made_of=made_of, says="Reading the conversation twice", counts=True)
