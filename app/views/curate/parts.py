"""The parts of the Curate page, as a table; which one is open is in the URL."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from app.session.scope import Scope
from app.session.session import Session
from app.views.curate import adopt, retention, trash, worklists
from app.views.transfer import exporting, importing

__all__ = ["PARTS", "PART_KEY", "choose"]

PART_KEY = "w_part"

_WITH_TEXTS = ("Worklists", "Trash", "Retention")


def _transfer(working: Session, here: Scope) -> None:
    left, right = st.columns([6, 13], gap="large")
    with left:
        exporting.draw(working, here)
    with right:
        importing.draw(working, here)


PARTS: dict[str, Callable[[Session, Scope], None]] = {
    "Worklists": worklists.draw,
    "Trash": trash.draw,
    "Retention": retention.draw,
    "Adopt": adopt.draw,
    "Export and import": _transfer,
}
"""Every part by its label, and what draws it."""


def choose() -> Callable[[Session, Scope], None]:
    """Draw the title with the parts beside it; what draws the one that is chosen."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="curate-head"):
        st.title("Curate", anchor=False, width="content")
        chosen = st.segmented_control(
            "Part", list(PARTS), default="Worklists", required=True, key=PART_KEY, bind="query-params",
            label_visibility="collapsed",
        )  # fmt: skip
        if chosen in _WITH_TEXTS:
            st.space("stretch")
            st.toggle("Show private", key=worklists.PRIVATE_KEY, bind="query-params")
    return PARTS[chosen]
