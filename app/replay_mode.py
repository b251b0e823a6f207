"""Whether Replay makes one plan to commit, or compares two setups."""

from __future__ import annotations

import streamlit as st

from app import replay_url

__all__ = ["MODE_KEY", "choose"]

MODE_KEY = "p_mode"
_MODES = {"plan": ":material/fact_check: One plan", "compare": ":material/compare_arrows: Two setups"}


def choose() -> str:
    """Draw the choice: "plan" or "compare"."""
    replay_url.follow(MODE_KEY, _MODES, "plan")
    mode = st.segmented_control(
        "Do",
        list(_MODES),
        format_func=lambda name: _MODES[name],
        required=True,
        key=MODE_KEY,
        on_change=replay_url.write,
        args=(MODE_KEY, "plan"),
        persist_state="session",
        label_visibility="collapsed",
    )
    return mode or "plan"
