"""Choices in the URL under plain names, where Streamlit would put the labels; and steps through numbered things."""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st

_FIRST = "1"


def follow(name: str, allowed: Collection[str], default: str) -> None:
    """Give the widget with the key `name` the value that the URL has; call it before the widget is drawn.

    Values that are not allowed are dropped. The widget's `on_change` has to be `write`.
    """
    linked = st.query_params.get(name)
    if linked in allowed:
        st.session_state[name] = linked
    elif st.session_state.get(name) not in allowed:
        st.session_state[name] = default
    write(name, default)


def keep(name: str) -> None:
    """Give a text with the key `name` the value that the URL has; call it before it is drawn.

    Its `on_change` has to be `write`, with an empty default. What was typed and is not in the URL stays.
    """
    linked = st.query_params.get(name)
    if linked is not None:
        st.session_state[name] = linked
    else:
        st.session_state.setdefault(name, "")


def write(name: str, default: str) -> None:
    """Put the widget's value into the URL, unless it is the default."""
    value = st.session_state[name]
    if value == default:
        st.query_params.pop(name, None)
    elif st.query_params.get(name) != value:
        st.query_params[name] = value


def draw_steps(name: str, total: int, noun: str) -> int:
    """Draw steps through `total` things called `noun`; the position shown, from 0. `name` is the URL parameter."""
    follow(name, _numbers(total), _FIRST)
    at = read_position(name)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content"):
        _draw_step(name, at - 1, total, icon=":material/chevron_left:", label="Previous")
        st.caption(f"{noun} {at + 1} of {total}", width="content")
        _draw_step(name, at + 1, total, icon=":material/chevron_right:", label="Next")
    return at


def read_position(name: str) -> int:
    """The position that is shown, from 0."""
    return int(st.session_state.get(name, _FIRST)) - 1


def go_to(name: str, at: int) -> None:
    """Show the thing at this position; for callbacks."""
    st.session_state[name] = str(at + 1)
    write(name, _FIRST)


def _draw_step(name: str, at: int, total: int, *, icon: str, label: str) -> None:
    st.button(
        label,
        key=f"replay.{label.lower()}-{name}",
        icon=icon,
        icon_position="right" if label == "Next" else "left",
        disabled=not 0 <= at < total,
        on_click=go_to,
        args=(name, at),
    )


def _numbers(total: int) -> list[str]:
    return [str(number) for number in range(1, total + 1)]
