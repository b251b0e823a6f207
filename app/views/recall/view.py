"""The part of the Recall page that runs again at every move of a slider, on candidates already fetched."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import streamlit as st
from mnemoscope import MemoryConfig, RecallResult
from mnemoscope.recall import Profile

from app.session.session import Session
from app.views.recall import filters, keep, loosen
from app.views.recall import settings as recall_settings
from app.views.recall.query import RecallQuery
from app.views.recall.results import agent, compare, drag, explanation
from app.views.recall.results import rows as recall_rows
from app.views.recall.results import summary as recall_summary
from app.views.recall.settings import RankingSettings

__all__ = ["BESIDE_KEY", "DRAGGED_KEY", "draw"]

BESIDE_KEY, DRAGGED_KEY = "r_two", "r_drag"

_DRAGGED = "The weights move to the ranking and rank at every step, in this browser. The page follows when you let go."


@st.fragment
def draw(
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
        chosen = recall_settings.draw(stored, profiles, weighs_words=weighs_words, is_dragged=is_dragged)
    result = chosen.rank(fetched)
    with summary:
        recall_summary.draw(result, fetched)
        recall_summary.draw_warnings(result, control)
    with results:
        if is_dragged:
            drag.draw(result, stored)
        if is_beside:
            compare.draw(fetched, chosen, stored, profiles)
        else:
            _draw_rows(result, fetched, chosen, stored, now)
        agent.draw(result, asked, chosen)
    # Drawn last, so that a moved slider shows in the rows first.
    with keeping:
        keep.draw(working, result, asked, chosen)


def _draw_rows(
    result: RecallResult, fetched: RecallResult, chosen: RankingSettings, stored: MemoryConfig, now: datetime
) -> None:
    is_tuned = result.ranking.config != stored
    rows = recall_rows.returned_rows(result, fetched.rerank(stored) if is_tuned else None)
    scale = max(float(result.ranking.scores.max(initial=0.0)), 0.001)

    def explain(ref: tuple[tuple[str, ...], str]) -> None:
        explanation.draw(result, ref, chosen, stored)

    if rows:
        recall_rows.draw_returned(rows, scale=scale, now=now, explain=explain)
    else:
        loosen.draw(result)
    recall_rows.draw_dropped(result, scale=scale, now=now, explain=explain)
