"""Steps through numbered things, the number in the URL: the facts of a plan, the pages of a transcript."""

from __future__ import annotations

import streamlit as st

from app.views.replay.source import url

__all__ = ["draw", "go", "position"]

_FIRST = "1"


def draw(name: str, total: int, noun: str) -> int:
    """Draw steps through `total` things called `noun`; the position shown, from 0. `name` is the URL parameter."""
    url.follow(name, _numbers(total), _FIRST)
    at = position(name)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content"):
        _draw_step(name, at - 1, total, icon=":material/chevron_left:", label="Previous")
        st.caption(f"{noun} {at + 1} of {total}", width="content")
        _draw_step(name, at + 1, total, icon=":material/chevron_right:", label="Next")
    return at


def position(name: str) -> int:
    """The position that is shown, from 0."""
    return int(st.session_state.get(name, _FIRST)) - 1


def go(name: str, at: int) -> None:
    """Show the thing at this position; for callbacks."""
    st.session_state[name] = str(at + 1)
    url.write(name, _FIRST)


def _draw_step(name: str, at: int, total: int, *, icon: str, label: str) -> None:
    st.button(
        label,
        key=f"replay.{label.lower()}-{name}",
        icon=icon,
        icon_position="right" if label == "Next" else "left",
        disabled=not 0 <= at < total,
        on_click=go,
        args=(name, at),
    )


def _numbers(total: int) -> list[str]:
    return [str(number) for number in range(1, total + 1)]
