"""The parts of the History page, as a table; which one is open is in the URL."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from app.session import links
from app.session.links import HISTORY_VIEW_KEY
from app.session.scope import Scope
from app.session.session import Session
from app.views.history import compare, table, undo
from app.views.history.filters import PRIVATE_KEY

PARTS: dict[str, Callable[[Session, Scope], None]] = {
    "Changes": table.draw_changes,
    links.HISTORY_UNDO: undo.draw_undo,
    "Then and now": compare.draw_then_and_now,
}


"""Every part by its label, and what draws it."""


def choose_part() -> Callable[[Session, Scope], None]:
    """Draw the title with the parts beside it; what draws the one that is chosen."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="history-head"):
        st.title("History", anchor=False, width="content")
        chosen = st.segmented_control(
            "Part", list(PARTS), default="Changes", required=True, key=HISTORY_VIEW_KEY, bind="query-params",
            label_visibility="collapsed",
        )  # fmt: skip
        st.space("stretch")
        st.toggle("Show private", key=PRIVATE_KEY, bind="query-params")
    return PARTS[chosen]
