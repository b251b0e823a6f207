"""Two setups on one conversation: chosen side by side, run on scratch copies, and drawn fact by fact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st
from mnemoscope import MnemoscopeError, Plan
from mnemoscope.namespaces import Namespace
from mnemoscope.replay_setup import ReplaySetup

from app import replay_base, replay_columns, replay_measure, replay_setups, states
from app.replay_base import Base
from app.replay_chosen import Chosen
from app.session import Session

__all__ = ["COMPARE_KEY", "Comparison", "draw"]

COMPARE_KEY = "replay.compare"
_KEPT = "replay.comparison"
_SIDES = ("left", "right")


@dataclass(frozen=True)
class Comparison:
    """The plans of both sides, and what they were made of."""

    made_of: tuple[Any, ...]
    plans: tuple[Plan, Plan]


def draw(working: Session, chosen: Chosen, namespace: Namespace) -> None:
    """Draw the setups, the button, and what came of it."""
    base = replay_base.choose()
    setups = []
    for side, column, default in zip(_SIDES, st.columns(2, gap="medium"), ("own", "rules"), strict=True):
        with column, st.container(border=True, key=f"replay-{side}"):
            setups.append(replay_setups.choose(working, side, default))
    left, right = setups
    if left is not None and right is not None:
        replay_measure.draw(working, left, right)
    made_of = (working.connection, chosen.source, len(chosen.transcript.messages), namespace, base, left, right)
    pressed = st.button(
        "Compare",
        key=COMPARE_KEY,
        type="primary",
        icon=":material/compare_arrows:",
        disabled=left is None or right is None,
        help="Reads the conversation twice, each time into a copy of its own. Nothing is written to the store.",
    )
    if pressed and left is not None and right is not None:
        _compare(working, chosen, namespace, base, (left, right), made_of)
    kept = st.session_state.get(_KEPT)
    if isinstance(kept, Comparison) and kept.made_of == made_of:
        replay_columns.draw(*kept.plans)
    else:
        states.empty("Nothing is compared yet", "Choose two setups and compare.", icon=":material/compare_arrows:")


def _compare(
    working: Session,
    chosen: Chosen,
    namespace: Namespace,
    base: Base,
    setups: tuple[ReplaySetup, ReplaySetup],
    made_of: tuple[Any, ...],
) -> None:
    try:
        with st.spinner("Reading the conversation twice …"):
            left, right = (_planned(working, chosen, namespace, base, setup) for setup in setups)
    except MnemoscopeError as error:
        states.failed(error)
    else:
        st.session_state[_KEPT] = Comparison(made_of, (left, right))


def _planned(working: Session, chosen: Chosen, namespace: Namespace, base: Base, setup: ReplaySetup) -> Plan:
    engine = replay_base.scratch_copy(working, namespace, base, setup)
    return engine.plan(chosen.transcript, namespace, source=chosen.source)
