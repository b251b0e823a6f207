"""Whether Replay makes one plan to commit, compares two setups, or works on the prompt."""

from __future__ import annotations

import streamlit as st

from app.views.replay.source import url

__all__ = ["MODE_KEY", "choose", "go"]

MODE_KEY = "p_mode"
_MODES = {
    "plan": ":material/fact_check: One plan",
    "compare": ":material/compare_arrows: Two setups",
    "prompt": ":material/edit_note: Prompt",
}


def choose() -> str:
    """Draw the choice: "plan", "compare" or "prompt"."""
    url.follow(MODE_KEY, _MODES, "plan")
    mode = st.segmented_control(
        "Do",
        list(_MODES),
        format_func=lambda name: _MODES[name],
        required=True,
        key=MODE_KEY,
        on_change=url.write,
        args=(MODE_KEY, "plan"),
        persist_state="session",
        label_visibility="collapsed",
    )
    return mode or "plan"


def go(mode: str) -> None:
    """Show this part of the page; for callbacks."""
    st.session_state[MODE_KEY] = mode
    url.write(MODE_KEY, "plan")
