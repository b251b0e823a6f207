"""The search for better weights: found on one half of the cases, judged on the other, and shown as a plateau."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st
from mnemoscope import MemoryConfig
from mnemoscope.core import Watch
from mnemoscope.evaluation import FEWEST_CASES, GRID, WeightSearch, floors, search

from app.components import keep, states
from app.session.scope import Scope
from app.session.session import Session
from app.text.display import counted
from app.views.tune import charts, compare, data

START_KEY, METRIC_KEY, FLOOR_KEY = "tune.search", "tune.search.metric", "tune.floor"


_METRICS = ("ndcg@10", "recall@5", "recall@10", "mrr")


_FOUND = "tune.found"


_LABELS = {
    "lexical_weight": "Share of words in the similarity",
    "recency_weight": "Weight of recency",
    "importance_weight": "Weight of importance",
    "recency_half_life_days": "Half-life in days",
}


def draw_search(working: Session, here: Scope) -> None:
    """Draw the search, and what it found last."""
    found = data.read_judged(working, here)
    useful = sum(bool(each.case.expected) for each in found)
    if useful < FEWEST_CASES:
        states.draw_empty(
            f"{counted(useful, 'case')} of at least {FEWEST_CASES}",
            "A search is judged on cases that it has not seen, so it takes a few. Add cases that expect something.",
            icon=":material/query_stats:",
        )
        return
    stamp = (data.stamp_judged(working, here), working.engine.config)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        metric = st.selectbox("Better means a greater", _METRICS, key=METRIC_KEY, width=220)
        started = st.button("Search", key=START_KEY, type="primary", icon=":material/query_stats:")
    st.caption(
        "Tries many weights on one half of the cases and judges what it finds on the other half. "
        "No model, embedding or store is asked."
    )
    if started:
        found_now = _search(working, here, metric)
        st.session_state[_FOUND] = (stamp, found_now)
        st.session_state[FLOOR_KEY] = found_now.chosen.config.min_score
    kept = st.session_state.get(_FOUND)
    if kept is None or kept[0] != stamp:
        return
    _draw_found(working, here, kept[1])


def _search(working: Session, here: Scope, metric: str) -> WeightSearch:
    bar = st.progress(0.0, "Searching …")

    def show(done: float) -> None:
        bar.progress(done, "Searching …")

    try:
        judged = data.read_judged(working, here)
        return search(judged, working.engine.config, metric=metric, watch=Watch(show))
    finally:
        bar.empty()


def _draw_found(working: Session, here: Scope, tuning: WeightSearch) -> None:
    present, chosen = working.engine.config, tuning.chosen.config
    judged, change = st.columns([1, 1.2], gap="medium")
    with judged:
        st.subheader(f"On {counted(tuning.held_out, 'case')} it has not seen", anchor=False)
        values = {"In use": tuning.present, "Found": tuning.found}
        st.plotly_chart(charts.chart_intervals(values), config=charts.CONFIG, key="tune-judged")
        st.markdown(f"**{compare.describe_difference(tuning.judged.difference, tuning.metric)}**")
        st.caption(f"{len(tuning.judged.wins)} gain, {len(tuning.judged.losses)} lose, {tuning.judged.ties} stay.")
    with change:
        st.subheader("What would change", anchor=False)
        _draw_settings(present, chosen)
        skipped = f", {tuning.skipped:,} left out to bound the time" if tuning.skipped else ""
        st.caption(
            f"{len(tuning.trials):,} combinations tried on {counted(tuning.searched, 'case')}{skipped}. "
            f"{len(tuning.plateau):,} are as good as the best, as far as the cases tell; of these the one nearest to "
            "the profile in use is taken."
        )
    st.subheader("The plateau", anchor=False)
    st.caption("For each value the best that can be reached with it. Filled: as good as the best of all.")
    for column, setting in zip(st.columns(len(GRID), gap="medium"), GRID, strict=True):
        with column:
            st.markdown(f"**{_LABELS[setting]}**")
            figure = charts.chart_plateau(
                tuning.curve(setting), float(getattr(present, setting)), float(getattr(chosen, setting))
            )
            st.plotly_chart(figure, config=charts.CONFIG, key=f"tune-plateau-{setting}")
    _draw_floor(working, here, chosen)


def _draw_settings(present: MemoryConfig, chosen: MemoryConfig) -> None:
    names = {"semantic_weight": "Weight of similarity", **_LABELS, "min_score": "Minimum score"}
    st.dataframe(
        pd.DataFrame(
            [[f"{getattr(present, name):g}", f"{getattr(chosen, name):g}"] for name in names],
            index=list(names.values()),
            columns=["In use", "Found"],
        ),
        alt="Settings in use and found",
    )


def _draw_floor(working: Session, here: Scope, chosen: MemoryConfig) -> None:
    curve, saving = st.columns([1.2, 1], gap="medium")
    with curve:
        st.subheader("Minimum score", anchor=False)
        st.caption(
            "It starts one step below the greatest that lost none of the expected among the cases searched."
            + (" Scores fall as memories age, so leave room." if chosen.recency_weight else "")
        )
        # The slider is given its start here alone: it goes back to it where another part was open meanwhile.
        st.session_state.setdefault(FLOOR_KEY, chosen.min_score)
        least = st.slider("Minimum score", 0.0, 0.95, step=0.05, key=FLOOR_KEY, label_visibility="collapsed")
        found = floors(data.read_judged(working, here), chosen)
        st.plotly_chart(charts.chart_floors(found, least), config=charts.CONFIG, key="tune-floors")
    with saving:
        keep.draw_profile(working, replace(chosen, min_score=least))
