"""What an action says afterwards: a toast once, and an Undo that stays until it is used or dismissed.

An action calls `report` (no other Streamlit call may come between its writes), then the page runs again
and `draw_outcome`, called by the frame, shows it.
"""

from __future__ import annotations

import streamlit as st
from mnemoscope import MnemoscopeError

from app.session import connections, session
from app.text.display import safe

UNDO_KEY = "feedback.undo"


DISMISS_KEY = "feedback.dismiss"


_TOAST = "feedback.toast"


_OFFER = "feedback.offer"


_REFUSAL = "feedback.refusal"


def report(message: str, *, undo: str | None = None) -> None:
    """Say that an action succeeded; `undo` is the id of its change or group of changes.

    `message` is fixed text with numbers, never stored text: toasts are Markdown.
    """
    st.session_state[_TOAST] = message
    st.session_state.pop(_REFUSAL, None)
    if undo is not None:
        st.session_state[_OFFER] = {"message": message, "undo": undo}


def refuse(error: MnemoscopeError) -> None:
    """Say that an action failed and nothing was written, from a callback."""
    st.session_state[_REFUSAL] = safe(connections.scrub_secrets(str(error)), 1_000)


def draw_outcome() -> None:
    """Show what the last action left to say. Called once a run, above the page."""
    toast = st.session_state.pop(_TOAST, None)
    if toast:
        st.toast(toast, icon=":material/check_circle:")
    refusal = st.session_state.pop(_REFUSAL, None)
    if refusal:
        st.error("**Nothing was changed**", icon=":material/error:")
        st.code(refusal, language=None, wrap_lines=True)
    offer = st.session_state.get(_OFFER)
    if offer:
        _draw_offer(offer["message"], offer["undo"])


def _draw_offer(message: str, change: str) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="feedback-bar"):
        st.markdown(f":material/check_circle: {message}", width="stretch")
        st.button("Undo", key=UNDO_KEY, icon=":material/undo:", on_click=_undo, args=(change,))
        st.button("Dismiss", key=DISMISS_KEY, icon=":material/close:", type="tertiary", on_click=_drop_offer)


def _undo(change: str) -> None:
    try:
        working = session.require_writing()
        working.engine.undo(change, actor=working.operator)
    except MnemoscopeError as error:
        refuse(error)
        return
    _drop_offer()
    report("Undone.")


def _drop_offer() -> None:
    st.session_state.pop(_OFFER, None)
