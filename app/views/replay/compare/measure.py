"""Two setups measured on conversations whose memories are known: all figures, and which is better on which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st
from mnemoscope import MnemoscopeError
from mnemoscope.conversations import load_samples, read_sample
from mnemoscope.core import Watch, utc_now
from mnemoscope.embedding import load_embeddings
from mnemoscope.replay import MATCH_FROM, CaseResult, ReplayCase, ReplayReport, ReplaySetup, aevaluate, case_of

from app.components import states, work
from app.components.work import Work, take_ended
from app.session.session import Session
from app.text.display import counted, one_line

FILES_KEY, MATCH_KEY, MEASURE_KEY = "replay.expected_files", "replay.match_from", "replay.measure"


WORK = "measure"


_KEPT = "replay.measured"


_TEXT = 200


_SHARES = ("f1", "precision", "recall", "junk_rate", "unsupported_rate")


@dataclass(frozen=True)
class Naming:
    """What the two sides are called, and in which words it is said that the first or the second did better."""

    sides: tuple[str, str]
    better: Mapping[str, str]
    button: str


COLUMNS = Naming(("left", "right"), {"first": "left", "second": "right", "same": "same"}, "Measure both")


WORDINGS = Naming(("before", "now"), {"first": "worse", "second": "better", "same": "same"}, "Measure this wording")


@dataclass(frozen=True)
class _Measured:
    made_of: tuple[Any, ...]
    reports: tuple[ReplayReport, ReplayReport]


def draw_measure(
    working: Session, setups: tuple[ReplaySetup, ReplaySetup] | None, naming: Naming, why_not: str = ""
) -> None:
    """Draw the choice of conversations, the button, and what came of it. Without setups, `why_not` says why."""
    ended, failure = _collect()
    which, how = st.columns([3, 2], gap="medium")
    files = which.file_uploader(
        "Conversations with expected memories, as Replay saves them; without any, the samples",
        type="json",
        accept_multiple_files=True,
        key=FILES_KEY,
    )
    which.caption(f"On {counted(len(files), 'file')}" if files else "On the samples")
    match_from = how.slider("A memory counts as expected from a similarity of", 0.3, 1.0, MATCH_FROM, key=MATCH_KEY)
    made_of = (setups, match_from, tuple(file.getvalue() for file in files))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            naming.button,
            key=MEASURE_KEY,
            icon=":material/straighten:",
            disabled=setups is None or work.is_running(WORK),
            help="Replays every conversation twice with each side, in scratch copies. A model is called for each.",
            on_click=_begin,
            args=(working, made_of),
        )
        if why_not:
            st.caption(why_not, width="content")
    work.draw_progress(WORK, ended)
    if failure is not None:
        states.draw_failed(failure)
    kept = st.session_state.get(_KEPT)
    if isinstance(kept, _Measured) and kept.made_of == made_of:
        _draw_summary(*kept.reports, naming)
        _draw_cases(*kept.reports, naming)
        _draw_figures(*kept.reports, naming)
    elif isinstance(kept, _Measured):
        st.caption("What was measured last was another choice than this one. Measure again to see what it gives.")


def verdict(first: CaseResult, second: CaseResult) -> str:
    """Which of two results is better, "first", "second" or "same": by F1, then by less junk, then by support."""
    one, other = _merit(first), _merit(second)
    return "same" if one == other else "first" if one > other else "second"


def _merit(result: CaseResult) -> tuple[bool, float, int, int]:
    return result.failure is None, result.f1 or 0.0, -len(result.junk), -result.unsupported


def _collect() -> tuple[Work | None, MnemoscopeError | None]:
    work = take_ended(WORK)
    try:
        if work is not None and not work.is_cancelled:
            st.session_state[_KEPT] = _Measured(work.made_of, work.result())
    except MnemoscopeError as error:
        return work, error
    return work, None


def _begin(working: Session, made_of: tuple[Any, ...]) -> None:
    setups, match_from, files = made_of
    embeddings = working.adapter.embeddings or load_embeddings("bundled")

    async def job(watch: Watch) -> tuple[ReplayReport, ...]:
        cases = _cases(files)
        reports = []
        for at, setup in enumerate(setups):
            part = watch.part(at / len(setups), (at + 1) / len(setups))
            reports.append(await aevaluate(cases, setup, embeddings, match_from=match_from, watch=part))
        return tuple(reports)

    work.begin(WORK, job, made_of=made_of, says="Replaying every conversation", counts=True)


def _cases(files: Sequence[bytes]) -> list[ReplayCase]:
    now = utc_now()
    read = [read_sample(file.decode(errors="replace"), now) for file in files] if files else load_samples(now)
    return [case_of(sample) for sample in read]


def _draw_summary(first: ReplayReport, second: ReplayReport, naming: Naming) -> None:
    counts = Counter(verdict(*pair) for pair in zip(first.cases, second.cases, strict=True))
    told = [f"{counts[name]} {naming.better[name]}" for name in ("second", "first", "same") if counts[name]]
    st.markdown(f"**Of {counted(len(first.cases), 'conversation')}: {', '.join(told)}**")
    with st.container(horizontal=True):
        for name in _SHARES:
            before, now = first.figures[name], second.figures[name]
            st.metric(
                name.replace("_", " ").replace("f1", "F1").capitalize(),
                "–" if now is None else f"{now:.2f}",
                _describe_move(before, now),
                delta_color="inverse" if name.endswith("_rate") else "normal",
                border=True,
                help=f"{naming.sides[1].capitalize()}, and how far from {naming.sides[0]}.",
            )


def _describe_move(before: float | None, now: float | None) -> str | None:
    moved = "" if before is None or now is None else f"{now - before:+.2f}"
    return moved if moved.strip("+-0.") else None


def _draw_figures(first: ReplayReport, second: ReplayReport, naming: Naming) -> None:
    one, other = naming.sides
    with st.expander("All figures: model calls, tokens, cost, seconds and more", icon=":material/table_chart:"):
        st.dataframe(
            pd.DataFrame(
                {
                    "figure": [name.replace("_", " ") for name in first.figures],
                    one: pd.array(list(first.figures.values()), dtype="Float64"),
                    other: pd.array([second.figures[name] for name in first.figures], dtype="Float64"),
                }
            ),
            hide_index=True,
            alt="The figures of both sides",
        )
        st.caption(
            f"Matched one to one from a similarity of {first.match_from:.2f} on; ties are pairs as similar as another."
        )


def _draw_cases(first: ReplayReport, second: ReplayReport, naming: Naming) -> None:
    pairs = list(zip(first.cases, second.cases, strict=True))
    one, other = naming.sides
    sides = ((one, first.cases), (other, second.cases))
    columns: dict[str, Any] = {
        "conversation": [one_line(before.id, _TEXT) for before, _ in pairs],
        "verdict": [naming.better[verdict(*pair)] for pair in pairs],
    }
    for name, value in _CASE_COLUMNS.items():
        columns |= {f"{side} {name}": [value(case) for case in cases] for side, cases in sides}
    frame = pd.DataFrame(columns).convert_dtypes()
    st.dataframe(frame, hide_index=True, alt="Both sides on each conversation", column_config=_formats(naming))


def _formats(naming: Naming) -> dict[str, Any]:
    formats: dict[str, Any] = {f"{side} F1": st.column_config.NumberColumn(format="%.2f") for side in naming.sides}
    for name in ("misses", "surplus"):
        formats |= {f"{side} {name}": st.column_config.ListColumn(width="medium") for side in naming.sides}
    return formats


def _list_texts(texts: tuple[str, ...]) -> list[str]:
    return [one_line(text, _TEXT) for text in texts]


_CASE_COLUMNS: dict[str, Callable[[CaseResult], Any]] = {
    "F1": lambda case: case.f1,
    "junk": lambda case: len(case.junk),
    "unsupported": lambda case: case.unsupported,
    "misses": lambda case: _list_texts(case.missed),
    "surplus": lambda case: _list_texts(case.surplus),
    "failed": lambda case: one_line(case.failure or ""),
}
