"""The part of the Recall page that runs again at every move of a slider, on candidates already fetched."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import streamlit as st
from mnemoscope import MemoryConfig, RecallResult
from mnemoscope.recall import Profile, place_of

from app.session.session import Session
from app.text.display import counted, one_line, safe
from app.views.recall import agent, bars, drag, explanation, filters, saving, sliders, states
from app.views.recall.query import RecallQuery
from app.views.recall.rows import draw_dropped, draw_returned, list_returned
from app.views.recall.sliders import STORED, RankingSettings, label_profile

BESIDE_KEY, DRAGGED_KEY = "r_two", "r_drag"

_DRAGGED = "The weights move to the ranking and rank at every step, in this browser. The page follows when you let go."

_STEPS = {"embed": "embedding", "fetch": "fetching", "rank": "ranking"}

_MARGIN = 0.02

OTHER_KEY = "recall.other"

_COMPARED_LIMIT = 110


@st.fragment
def draw_results(
    working: Session,
    fetched: RecallResult,
    asked: RecallQuery,
    profiles: Mapping[str, Profile],
    *,
    control: float | None,
    now: datetime,
) -> None:
    """Draw settings, results, near misses and what the agent gets; no store, embedding or model call."""
    filters.ask_again()
    stored = working.engine.config
    results, settings = st.columns([3.2, 1], gap="medium")
    with results:
        summary, keeping = st.container(), st.container()
        with st.container(horizontal=True, gap="medium"):
            is_beside = st.toggle("Compare two profiles", key=BESIDE_KEY, bind="query-params")
            is_dragged = st.toggle("Rank while dragging", key=DRAGGED_KEY, bind="query-params", help=_DRAGGED)
    with settings:
        weighs_words = fetched.ranking.candidates.lexical is not None
        chosen = sliders.draw_sliders(stored, profiles, weighs_words=weighs_words, is_dragged=is_dragged)
    result = chosen.rank(fetched)
    with summary:
        draw_summary(result, fetched)
        draw_warnings(result, control)
    with results:
        if is_dragged:
            drag.draw_dragging(result, stored)
        if is_beside:
            draw_profiles(fetched, chosen, stored, profiles)
        else:
            _draw_rows(result, fetched, chosen, stored, now)
        agent.draw_agent_view(result, asked, chosen)
    # Drawn last, so that a moved slider shows in the rows first.
    with keeping:
        saving.draw_saving(working, result, asked, chosen)


def _draw_rows(
    result: RecallResult, fetched: RecallResult, chosen: RankingSettings, stored: MemoryConfig, now: datetime
) -> None:
    is_tuned = result.ranking.config != stored
    rows = list_returned(result, fetched.rerank(stored) if is_tuned else None)
    scale = max(float(result.ranking.scores.max(initial=0.0)), 0.001)

    def explain(ref: tuple[tuple[str, ...], str]) -> None:
        explanation.draw_explanation(result, ref, chosen, stored)

    if rows:
        draw_returned(rows, scale=scale, now=now, explain=explain)
    else:
        states.draw_cut_off(result)
    draw_dropped(result, scale=scale, now=now, explain=explain)


def draw_summary(result: RecallResult, fetched: RecallResult) -> None:
    """Draw the summary of a ranking; `fetched` is the recall that brought its candidates."""
    shares = result.ranking.shares()
    st.html(bars.write_legend())
    told = describe_shares(shares)
    if told:
        st.markdown(told, help=_describe_exactly(shares))
        st.html(bars.write_shares(shares))
    sure = "exact" if result.exact else "not proven to be exact"
    examined = f"{result.examined:,} of {counted(result.total, 'memory', 'memories')} examined"
    times = [f"{_STEPS[name]} {1000 * seconds:.1f} ms" for name, seconds in fetched.timings.items() if name != "rank"]
    times += [f"{_STEPS['rank']} {1000 * result.timings['rank']:.1f} ms"]
    by = [f"by {one_line(result.embedder, 100)}"] if result.embedder and not result.notice else []
    st.caption(" · ".join([f"{len(result)} returned", sure, examined, *by, *times]))


def describe_shares(shares: dict[str, float]) -> str:
    """Which part decides the order, in a sentence; empty where nothing does."""
    if not shares:
        return ""
    # Where parts work against each other, each share alone may be far above the whole.
    whole = sum(map(abs, shares.values()))
    (name, share), *rest = sorted(((name, share / whole) for name, share in shares.items()), key=lambda each: -each[1])
    for_it = [f"{each} {value:.0%}" for each, value in rest if value >= 0.005]
    against = [f"{each} {-value:.0%}" for each, value in rest if value <= -0.005]
    if not against:
        return ", ".join([f"**{name.capitalize()} decides {share:.0%} of this ranking**", *for_it]) + "."
    decides = "decides most" if share >= max(-value for _, value in rest) else "leads"
    return ", ".join([f"**{name.capitalize()} {decides}: {share:.0%}**", *for_it]) + f", against {', '.join(against)}."


def _describe_exactly(shares: dict[str, float]) -> str:
    """The shares as they are measured, for the tooltip."""
    listed = ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
    return (
        f"Measured, each part's share of the differences between the scores: {listed}. They add up to 100%; a negative "
        "share turns the order the other way. The sentence gives each part's size out of all sizes."
    )


def draw_warnings(result: RecallResult, control: float | None) -> None:
    """Warn where the scores say less: by words alone, all alike, or no higher than for a query without meaning."""
    if result.notice:
        st.warning(safe(result.notice, 600), icon=":material/warning:")
    if len(result) > 1 and not result.ranking.shares():
        st.warning("Every score here is the same, so the order means nothing.", icon=":material/drag_handle:")
    known = [value for value in result.ranking.candidates.cosine.tolist() if value == value]
    if control is not None and known and max(known) <= control + _MARGIN:
        st.warning(
            f"The nearest memory has a similarity of {max(known):.2f}, and a query without meaning reaches "
            f"{control:.2f} here. Nothing may answer this query.",
            icon=":material/help_center:",
        )


def draw_profiles(
    fetched: RecallResult, chosen: RankingSettings, stored: MemoryConfig, profiles: Mapping[str, Profile]
) -> None:
    """Draw the ranking of a profile beside the one of the settings here."""
    name = st.selectbox("Compare with", [STORED, *profiles], key=OTHER_KEY, format_func=label_profile, width=240)
    other = chosen.having_config(stored if name == STORED else profiles[name].config).rank(fetched)
    here = chosen.rank(fetched)
    scale = max(*(float(each.ranking.scores.max(initial=0.0)) for each in (here, other)), 0.001)
    shared = len({*here.ranking.order.tolist()} & {*other.ranking.order.tolist()})
    st.caption(f"In both: {shared:,} of {counted(len(here), 'memory', 'memories')}.")
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(f"**{label_profile(name)}**")
        _draw_list(other, None, scale)
    with right:
        st.markdown("**The settings here**")
        _draw_list(here, other, scale)


def _draw_list(result: RecallResult, other: RecallResult | None, scale: float) -> None:
    for place, (at, match) in enumerate(zip(result.ranking.order.tolist(), result, strict=True), start=1):
        with st.container(horizontal=True, gap="small", vertical_alignment="top"):
            st.html(bars.write_move(place, None if other is None else place_of(other, at)), width=34)
            with st.container(gap=None, width="stretch"):
                st.text(one_line(match.record.content, _COMPARED_LIMIT), width="stretch")
                st.html(bars.write_bar(match.parts, match.score, scale=scale))
