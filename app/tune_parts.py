"""The parts of the Tune page, as a table; which one is open is in the URL."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from app import tune_cases, tune_compare, tune_data, tune_search, tune_threshold
from app.scope import Scope
from app.session import Session

__all__ = ["PARTS", "PART_KEY", "choose"]

PART_KEY = "t_part"

PARTS: dict[str, Callable[[Session, Scope], None]] = {
    "Cases": tune_cases.draw,
    "Compare": tune_compare.draw,
    "Search": tune_search.draw,
    "Threshold": tune_threshold.draw,
}
"""Every part by its label, and what draws it."""

_ON_CASES = ("Compare", "Search")


def choose() -> Callable[[Session, Scope], None]:
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
                key=tune_data.PRIVATE_KEY,
                bind="query-params",
                help="An agent recalls a private memory only on behalf of its own source.",
            )
    return PARTS[chosen]
