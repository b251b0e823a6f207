"""The parts of the Tune page, as a table; which one is open is in the URL."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from app.session.scope import Scope
from app.session.session import Session
from app.views.tune import cases, compare, data, search, threshold

PART_KEY = "t_part"


PARTS: dict[str, Callable[[Session, Scope], None]] = {
    "Cases": cases.draw_cases,
    "Compare": compare.draw_comparison,
    "Search": search.draw_search,
    "Threshold": threshold.draw_threshold,
}


"""Every part by its label, and what draws it."""


_ON_CASES = ("Compare", "Search")


def choose_part() -> Callable[[Session, Scope], None]:
    """Draw the title with the parts beside it; what draws the one that is chosen."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="tune-head"):
        st.title("Tune", anchor=False, width="content")
        chosen = st.segmented_control(
            "Part", list(PARTS), default="Cases", required=True, key=PART_KEY, bind="query-params",
            label_visibility="collapsed",
        )  # fmt: skip
        if chosen in _ON_CASES:
            st.space("stretch")
            st.toggle(
                "Private memories too",
                key=data.PRIVATE_KEY,
                bind="query-params",
                help="An agent recalls a private memory only on behalf of its own source.",
            )
    return PARTS[chosen]
