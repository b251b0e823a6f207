"""The parts of the History page, as a table; which one is open is in the URL."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from app import history_compare, history_list, history_undo
from app.history_filters import PRIVATE_KEY, VIEW_KEY
from app.scope import Scope
from app.session import Session

__all__ = ["PARTS", "choose"]

PARTS: dict[str, Callable[[Session, Scope], None]] = {
    "Changes": history_list.draw,
    history_undo.LABEL: history_undo.draw,
    "Then and now": history_compare.draw,
}
"""Every part by its label, and what draws it."""


def choose() -> Callable[[Session, Scope], None]:
    """Draw the title with the parts beside it; what draws the one that is chosen."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="history-head"):
        st.title("History", anchor=False, width="content")
        chosen = st.segmented_control(
            "Part", list(PARTS), default="Changes", required=True, key=VIEW_KEY, bind="query-params",
            label_visibility="collapsed",
        )  # fmt: skip
        st.space("stretch")
        st.toggle("Show private", key=PRIVATE_KEY, bind="query-params")
    return PARTS[chosen]
