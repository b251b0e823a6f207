"""The row above every page: scope, store, who extracts, reading or writing, and for whom."""

from __future__ import annotations

import streamlit as st

from app import scope, session
from app.display import one_line
from app.session import OPERATOR_KEY, WRITING_KEY, Session

__all__ = ["draw"]


def draw() -> None:
    """Draw the header.

    Raises:
        StoreError: the store cannot be opened or read.
    """
    working = session.current()
    counts = working.engine.counts()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="header"):
        scope.draw(counts)
        st.space("stretch")
        _draw_store(working)
        _draw_mode(working)


def _draw_store(working: Session) -> None:
    _draw_named(":material/database:", one_line(working.connection, 40), key="header-store")
    if working.model is None:
        st.badge("Rules extract facts here, not a model", icon=":material/rule:", color="gray", width="content")
    else:
        _draw_named(":material/smart_toy:", one_line(working.model, 40), key="header-model")


def _draw_mode(working: Session) -> None:
    label, icon = ("Writing", ":material/edit:") if working.is_writing else ("Reading", ":material/visibility:")
    with st.popover(label, icon=icon, type="primary" if working.is_writing else "secondary", width="content"):
        # The widgets are made from the settings once; from then on the session state holds the choice.
        st.session_state.setdefault(WRITING_KEY, working.is_writing)
        st.session_state.setdefault(OPERATOR_KEY, working.operator)
        st.toggle("Allow writing", key=WRITING_KEY, help="While this is off, nothing in the store can change.")
        st.text_input("Your name in the history", key=OPERATOR_KEY, max_chars=100)
        st.caption("Every change is written down with this name and can be undone.")
    _draw_named(":material/person:", one_line(working.operator, 24), key="header-operator-name")


def _draw_named(icon: str, text: str, *, key: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xxsmall", width="content", key=key):
        st.markdown(icon, width="content")
        st.text(text, width="content")
