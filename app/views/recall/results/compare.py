"""Two profiles side by side on the same candidates: each its list, and where every memory stands in the other."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
from mnemoscope import MemoryConfig, RecallResult
from mnemoscope.recall import Profile, place_of

from app.text.display import counted, one_line
from app.views.recall.results import bars
from app.views.recall.settings import STORED, RankingSettings, profile_name

__all__ = ["OTHER_KEY", "draw"]

OTHER_KEY = "recall.other"

_TEXT_LIMIT = 110


def draw(fetched: RecallResult, chosen: RankingSettings, stored: MemoryConfig, profiles: Mapping[str, Profile]) -> None:
    """Draw the ranking of a profile beside the one of the settings here."""
    name = st.selectbox("Compare with", [STORED, *profiles], key=OTHER_KEY, format_func=profile_name, width=240)
    other = chosen.having_config(stored if name == STORED else profiles[name].config).rank(fetched)
    here = chosen.rank(fetched)
    scale = max(*(float(each.ranking.scores.max(initial=0.0)) for each in (here, other)), 0.001)
    shared = len({*here.ranking.order.tolist()} & {*other.ranking.order.tolist()})
    st.caption(f"In both: {shared:,} of {counted(len(here), 'memory', 'memories')}.")
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(f"**{profile_name(name)}**")
        _draw_list(other, None, scale)
    with right:
        st.markdown("**The settings here**")
        _draw_list(here, other, scale)


def _draw_list(result: RecallResult, other: RecallResult | None, scale: float) -> None:
    for place, (at, match) in enumerate(zip(result.ranking.order.tolist(), result, strict=True), start=1):
        with st.container(horizontal=True, gap="small", vertical_alignment="top"):
            st.html(bars.move(place, None if other is None else place_of(other, at)), width=34)
            with st.container(gap=None, width="stretch"):
                st.text(one_line(match.record.content, _TEXT_LIMIT), width="stretch")
                st.html(bars.bar(match.parts, match.score, scale=scale))
