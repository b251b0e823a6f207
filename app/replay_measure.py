"""Two setups measured on conversations whose memories are known: all figures, and which is better on which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st
from mnemoscope import MnemoscopeError
from mnemoscope.embedding import load_embeddings
from mnemoscope.replay_evaluation import MATCH_FROM, CaseResult, ReplayCase, ReplayReport, case_of, evaluate
from mnemoscope.replay_setup import ReplaySetup
from mnemoscope.samples import load_samples, read_sample
from mnemoscope.times import utc_now

from app import states
from app.display import one_line
from app.session import Session

__all__ = ["FILES_KEY", "MATCH_KEY", "MEASURE_KEY", "draw", "verdict"]

FILES_KEY, MATCH_KEY, MEASURE_KEY = "replay.expected_files", "replay.match_from", "replay.measure"
_KEPT = "replay.measured"
_TEXT = 200


@dataclass(frozen=True)
class _Measured:
    made_of: tuple[Any, ...]
    reports: tuple[ReplayReport, ReplayReport]


def draw(working: Session, left: ReplaySetup, right: ReplaySetup) -> None:
    """Draw the choice of conversations, the button, and what came of it."""
    with st.expander("Measure both on conversations with expected memories", icon=":material/straighten:"):
        files = st.file_uploader(
            "Saved outcomes; without any, the samples", type="json", accept_multiple_files=True, key=FILES_KEY
        )
        match_from = st.slider("A memory counts as expected from a similarity of", 0.3, 1.0, MATCH_FROM, key=MATCH_KEY)
        made_of = (left, right, match_from, tuple((file.name, file.size) for file in files))
        pressed = st.button(
            "Measure",
            key=MEASURE_KEY,
            icon=":material/straighten:",
            help="Replays every conversation twice with each setup. A model is called for each.",
        )
        if pressed:
            _measure(working, (left, right), [file.getvalue() for file in files], match_from, made_of)
        kept = st.session_state.get(_KEPT)
        if isinstance(kept, _Measured) and kept.made_of == made_of:
            _draw_figures(*kept.reports)
            _draw_cases(*kept.reports)


def verdict(left: CaseResult, right: CaseResult) -> str:
    """Which side did better on a conversation, by F1."""
    one, other = left.f1, right.f1
    if one == other:
        return "same"
    return "left" if (one or 0.0) > (other or 0.0) else "right"


def _measure(
    working: Session,
    setups: tuple[ReplaySetup, ReplaySetup],
    files: list[bytes],
    match_from: float,
    made_of: tuple[Any, ...],
) -> None:
    embeddings = working.adapter.embeddings or load_embeddings("bundled")
    try:
        with st.spinner("Replaying every conversation …"):
            cases = _cases(files)
            left, right = (evaluate(cases, setup, embeddings, match_from=match_from) for setup in setups)
    except MnemoscopeError as error:
        states.failed(error)
    else:
        st.session_state[_KEPT] = _Measured(made_of, (left, right))


def _cases(files: list[bytes]) -> list[ReplayCase]:
    now = utc_now()
    read = [read_sample(file.decode(errors="replace"), now) for file in files] if files else load_samples(now)
    return [case_of(sample) for sample in read]


def _draw_figures(left: ReplayReport, right: ReplayReport) -> None:
    st.dataframe(
        pd.DataFrame(
            {
                "figure": [name.replace("_", " ") for name in left.figures],
                "left": pd.array(list(left.figures.values()), dtype="Float64"),
                "right": pd.array([right.figures[name] for name in left.figures], dtype="Float64"),
            }
        ),
        hide_index=True,
        alt="The figures of both setups",
    )
    st.caption(
        f"Matched one to one from a similarity of {left.match_from:.2f} on; ties are pairs as similar as another."
    )


def _draw_cases(left: ReplayReport, right: ReplayReport) -> None:
    pairs = list(zip(left.cases, right.cases, strict=True))
    st.dataframe(
        pd.DataFrame(
            {
                "conversation": [one_line(one.id, _TEXT) for one, _ in pairs],
                "better": [verdict(*pair) for pair in pairs],
                "left F1": pd.array([one.f1 for one, _ in pairs], dtype="Float64"),
                "right F1": pd.array([other.f1 for _, other in pairs], dtype="Float64"),
                "left misses": [_listed(one.missed) for one, _ in pairs],
                "right misses": [_listed(other.missed) for _, other in pairs],
                "left surplus": [_listed(one.surplus) for one, _ in pairs],
                "right surplus": [_listed(other.surplus) for _, other in pairs],
                "failed": [one_line(f"{one.failure or ''} {other.failure or ''}") for one, other in pairs],
            }
        ),
        hide_index=True,
        alt="Both setups on each conversation",
    )


def _listed(texts: tuple[str, ...]) -> list[str]:
    return [one_line(text, _TEXT) for text in texts]
