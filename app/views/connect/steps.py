"""Connect, second part: the steps as they are done, each with what to do."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st
from mnemoscope.health import Check, State

from app.text.display import counted

__all__ = ["draw", "draw_check"]

_ICONS: dict[State, str] = {
    "good": ":green[:material/check_circle:]",
    "warning": ":orange[:material/warning:]",
    "bad": ":red[:material/error:]",
    "skipped": ":gray[:material/remove:]",
}


def draw(steps: Iterable[Check]) -> list[Check]:
    """Draw each step when it is done, then what they come to; the steps."""
    done: list[Check] = []
    with st.container(border=True, gap="small", key="connect-steps"):
        for check in steps:
            done.append(check)
            draw_check(check)
    failed = [check for check in done if check.state == "bad"]
    warned = [check for check in done if check.state == "warning"]
    if failed:
        st.error(f"**{failed[0].name} failed.** The other connections are not affected.", icon=":material/error:")
    elif warned:
        st.warning(f"It works, with {counted(len(warned), 'thing')} to look at.", icon=":material/warning:")
    else:
        st.success("It works. Nothing was written.", icon=":material/check_circle:")
    return done


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
