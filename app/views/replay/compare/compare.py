"""Two setups on one conversation: chosen side by side, run on scratch copies, and drawn fact by fact."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import streamlit as st
from mnemoscope import InputError, MemoryEngine, MnemoscopeError, Plan
from mnemoscope.core import Namespace, Watch, on_thread, show_namespace, utc_now
from mnemoscope.embedding import load_embeddings
from mnemoscope.replay import ReplaySetup, memories_at, scratch_engine

from app.components import code, states, work
from app.components.work import Work, take_ended
from app.session.session import Session
from app.views.replay.compare import columns, measure
from app.views.replay.compare import setups as replay_setups
from app.views.replay.plan import run
from app.views.replay.source.conversation import ReplayConversation

COMPARE_KEY = "replay.compare"

WORK = "compare"

_KEPT = "replay.comparison"

_SIDES = ("left", "right")

BASE_KEY = "replay.base"

MOMENT_KEY = "replay.moment"

MOST_COPIED = 20_000

Base = tuple[str, datetime | None]

_BASES = {
    "now": "A copy of the namespace as it is",
    "empty": "An empty namespace",
    "then": "A copy of the namespace as it was",
}


@dataclass(frozen=True)
class Comparison:
    """The plans of both sides, and what they were made of."""

    made_of: tuple[Any, ...]
    plans: tuple[Plan, Plan]


def draw_comparison(working: Session, chosen: ReplayConversation, namespace: Namespace) -> None:
    """Draw the setups, the button, and what came of it."""
    ended, failure = _collect()
    base = choose_base()
    setups = []
    for side, column, default in zip(_SIDES, st.columns(2, gap="medium"), ("own", "rules"), strict=True):
        with column, st.container(border=True, key=f"replay-{side}"):
            setups.append(replay_setups.choose_setup(working, side, default))
    left, right = setups
    st.button(
        "Compare",
        key=COMPARE_KEY,
        type="primary",
        icon=":material/compare_arrows:",
        disabled=left is None or right is None or work.is_running(WORK),
        help="Reads the conversation twice, each time into a copy of its own. Nothing is written to the store.",
        on_click=_begin,
        args=(working, chosen, namespace, base, (left, right)),
    )
    work.draw_progress(WORK, ended)
    if failure is not None:
        states.draw_failed(failure)
    elif left is not None and right is not None:
        _draw_comparison(working, chosen, _made_of(working, chosen, namespace, base, (left, right)))
        with st.expander("Measure both on conversations with expected memories", icon=":material/straighten:"):
            measure.draw_measure(working, (left, right), measure.COLUMNS)
        code.draw_code(
            {"Left": _python(chosen, namespace, left), "Right": _python(chosen, namespace, right)},
            commands="mnemoscope replay talks/*.json --config left.toml --compare right.toml",
        )


def _python(chosen: ReplayConversation, namespace: Namespace, setup: ReplaySetup) -> str:
    lines = [
        f"messages = {chosen.python}",
        f"reader = {run.write_setup(setup)}",
        f"plan = reader.plan(messages, {show_namespace(namespace)!r}, source={chosen.source!r})",
    ]
    return "\n".join(lines)


def _draw_comparison(working: Session, chosen: ReplayConversation, made_of: tuple[Any, ...]) -> None:
    kept = st.session_state.get(_KEPT)
    if isinstance(kept, Comparison) and kept.made_of == made_of:
        columns.draw_columns(working, chosen, kept.plans, (made_of[-2], made_of[-1]))
    elif not work.is_running(WORK):
        states.draw_empty("Nothing is compared yet", "Choose two setups and compare.", icon=":material/compare_arrows:")


def _collect() -> tuple[Work | None, MnemoscopeError | None]:
    work = take_ended(WORK)
    try:
        if work is not None and not work.is_cancelled:
            st.session_state[_KEPT] = Comparison(work.made_of, work.result())
    except MnemoscopeError as error:
        return work, error
    return work, None


def _made_of(
    working: Session,
    chosen: ReplayConversation,
    namespace: Namespace,
    base: Base,
    setups: tuple[ReplaySetup, ReplaySetup],
) -> tuple[Any, ...]:
    return (working.connection, chosen.source, len(chosen.transcript.messages), namespace, base, *setups)


def _begin(
    working: Session,
    chosen: ReplayConversation,
    namespace: Namespace,
    base: Base,
    setups: tuple[ReplaySetup, ReplaySetup],
) -> None:
    async def planned(setup: ReplaySetup) -> Plan:
        engine = await on_thread(lambda: copy_namespace(working, namespace, base, setup))
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
    work.begin(WORK, job, made_of=made_of, says="Reading the conversation twice", counts=True)


def choose_base() -> Base:
    """Draw the choice; which copy, and of when."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        base = st.selectbox(
            "Tried on",
            list(_BASES),
            format_func=lambda name: _BASES[name],
            key=BASE_KEY,
            width=380,
            help="Always a copy in memory: whatever happens in it, the store stays as it is.",
        )
        if base != "then":
            return base, None
        day = st.datetime_input("As it was at (UTC)", utc_now() - timedelta(days=7), key=MOMENT_KEY)
    return base, day.replace(tzinfo=UTC)


def copy_namespace(working: Session, namespace: Namespace, base: Base, setup: ReplaySetup) -> MemoryEngine:
    """An engine over the copy.

    Raises:
        InputError: the namespace holds more memories than may be copied, or it is not known how it was.
    """
    kind, moment = base
    embeddings = working.adapter.embeddings
    own = embeddings if embeddings is not None else load_embeddings("bundled")
    if kind == "empty":
        return scratch_engine(setup, own)
    count = working.engine.counts(namespace).get(namespace, 0)
    if count > MOST_COPIED:
        raise InputError(
            f"This namespace holds {count:,} memories; up to {MOST_COPIED:,} are copied. Try an empty one."
        )
    records, vectors = memories_at(working.engine, namespace, moment)
    known = vectors if embeddings is not None else {}
    return scratch_engine(setup, own, records=records, vectors=known)
