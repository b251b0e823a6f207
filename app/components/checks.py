"""One step of a check-up in a row: its mark, its name, what was seen, and below it what to do."""

from __future__ import annotations

import streamlit as st
from mnemoscope.health import Check, State

_ICONS: dict[State, str] = {
    "good": ":green[:material/check_circle:]",
    "warning": ":orange[:material/warning:]",
    "bad": ":red[:material/error:]",
    "skipped": ":gray[:material/remove:]",
}


def draw_check(check: Check) -> None:
    """One step in a row: its mark, its name, what was seen, and below it what to do."""
    with st.container(horizontal=True, vertical_alignment="top", gap="small"):
        st.markdown(_ICONS[check.state], width="content")
        st.markdown(f"**{check.name}**", width=150)
        with st.container(gap="xxsmall"):
            st.text(check.report)
            if check.remedy:
                with st.container(horizontal=True, vertical_alignment="top", gap="xxsmall"):
                    st.markdown(":primary[:material/build:]", width="content")
                    st.text(check.remedy)
            if check.command:
                st.code(check.command, language=None, wrap_lines=True)
