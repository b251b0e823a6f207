"""The parts of the Curate page, as a table; which one is open is in the URL."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from app.session.scope import Scope
from app.session.session import Session
from app.views.curate import adopt, retention, transfer, trash, worklists

PART_KEY = "w_part"


_WITH_TEXTS = ("Worklists", "Trash", "Retention")


def _transfer(working: Session, here: Scope) -> None:
    left, right = st.columns([6, 13], gap="large")
    with left:
        transfer.draw_export(working, here)
    with right:
        transfer.draw_import(working, here)


PARTS: dict[str, Callable[[Session, Scope], None]] = {
    "Worklists": worklists.draw_worklists,
    "Trash": trash.draw_trash,
    "Retention": retention.draw_retention,
    "Adopt": adopt.draw_adoption,
    "Export and import": _transfer,
}


"""Every part by its label, and what draws it."""


def choose_part() -> Callable[[Session, Scope], None]:
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
