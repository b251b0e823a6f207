"""Where nothing is left: what keeps how many memories out, and one click to loosen each."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from mnemoscope import RecallResult
from mnemoscope.index import Drop

from app.text.display import counted
from app.views.recall import filters, settings

__all__ = ["CLEAR_KEY", "LOOSENED", "draw", "key_of"]

CLEAR_KEY = "recall.clear"

_FILTERS = (Drop.CATEGORY, Drop.FILTERED, Drop.OUTSIDE_TIME)

LOOSENED: dict[Drop, tuple[str, Callable[[], None]]] = {
    Drop.CATEGORY: ("Any category", lambda: filters.take("categories")),
    Drop.FILTERED: ("Without the filter on fields", lambda: filters.take("filter")),
    Drop.OUTSIDE_TIME: ("Any time", lambda: filters.take("since", "until")),
    Drop.PRIVATE: ("Show private memories", lambda: filters.take(include_private=True)),
    Drop.BELOW_SIMILARITY: ("No minimum similarity", lambda: settings.take("min_similarity", 0.0)),
    Drop.BELOW_SCORE: ("No minimum score", lambda: settings.take("min_score", 0.0)),
    Drop.BEYOND_TOKENS: ("No token budget", lambda: settings.take("max_tokens", None)),
}
"""What takes each reason away: the label of the button, and what it does."""


def draw(result: RecallResult) -> None:
    """Draw each reason with its count; those that can be loosened with a button."""
    with st.container(border=True, key="recall-cut-off"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(_headline(result))
            if not set(result.dropped_counts).isdisjoint(_FILTERS):
                st.button("Clear filters", key=CLEAR_KEY, on_click=filters.clear)
        for reason, count in sorted(result.dropped_counts.items(), key=lambda pair: -pair[1]):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.text(f"{reason.label}: {count:,}", width=260)
                if reason in LOOSENED:
                    label, loosen = LOOSENED[reason]
                    st.button(label, key=key_of(reason), icon=":material/lock_open:", on_click=loosen)
        best = next((each for each in result.dropped if each.reason in settings.CUTS), None)
        if best is not None:
            st.caption(f"The best: {best.detail}.")


def _headline(result: RecallResult) -> str:
    told = counted(result.examined, "memory", "memories")
    reasons = set(result.dropped_counts)
    is_cut, is_filtered = not reasons.isdisjoint(settings.CUTS), not reasons.isdisjoint(_FILTERS)
    if is_cut and is_filtered:
        return f":material/filter_alt_off: **Filters and minimums leave none of {told}.**"
    if is_cut:
        return ":material/vertical_align_top: **No memory reaches the minimum.**"
    if is_filtered:
        return f":material/filter_alt_off: **The filters leave none of {told}.**"
    return f":material/visibility_off: **None of {told} may be seen.**"


def key_of(reason: Drop) -> str:
    """The key of the button that loosens this reason."""
    return f"recall.loosen-{reason.name.lower()}"
