"""What an action says afterwards: a toast once, and an Undo that stays until it is used or dismissed.

An action calls `report` (no other Streamlit call may come between its writes), then the page runs again
and `draw_outcome`, called by the frame, shows it.
"""

from __future__ import annotations

from typing import Any

import streamlit as st
from mnemoscope import MnemoscopeError
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app.session import connections, session
from app.text.display import safe

UNDO_KEY = "feedback.undo"


DISMISS_KEY = "feedback.dismiss"


OUTCOME_KEY = "feedback.outcome"
"""What the last action left to say: its "toast", its "refusal", and the "offer" to undo it."""


def report(message: str, *, undo: str | None = None) -> None:
    """Say that an action succeeded; `undo` is the id of its change or group of changes.

    `message` is fixed text with numbers, never stored text: toasts are Markdown.
    """
    outcome = _outcome()
    outcome["toast"] = message
    outcome.pop("refusal", None)
    if undo is not None:
        outcome["offer"] = {"message": message, "undo": undo}


def refuse(error: MnemoscopeError) -> None:
    """Say that an action failed and nothing was written, from a callback."""
    _outcome()["refusal"] = safe(connections.scrub_secrets(str(error)), 1_000)


def draw_outcome() -> None:
    """Show what the last action left to say. Called once a run, above the page."""
    outcome = st.session_state.setdefault(OUTCOME_KEY, {})
    toast = outcome.pop("toast", None)
    if toast:
        st.toast(toast, icon=":material/check_circle:")
    refusal = outcome.pop("refusal", None)
    if refusal:
        st.error("**Nothing was changed**", icon=":material/error:")
        st.code(refusal, language=None, wrap_lines=True)
    offer = outcome.get("offer")
    if offer:
        _draw_offer(offer["message"], offer["undo"])


def _outcome() -> dict[str, Any]:
    """Where outcomes are noted, found without a look at the session's state.

    A click while an action works ends its run at the next such look. What was written by then must still be said, or
    the second of two clicks on Save tells of a conflict with the first.
    """
    context = get_script_run_ctx()
    known = context.session_state.filtered_state.get(OUTCOME_KEY) if context is not None else None
    outcome: dict[str, Any] = st.session_state.setdefault(OUTCOME_KEY, {}) if known is None else known
    return outcome


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
    _outcome().pop("offer", None)
