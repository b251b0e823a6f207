"""Choices of Replay that are in the URL under plain names, where Streamlit would put the widget's labels."""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st

__all__ = ["follow", "keep", "write"]


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
