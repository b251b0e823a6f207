"""Where a replayed conversation is to be remembered: a namespace that is there, or a new one."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
from mnemoscope.core import Namespace, read_namespace, show_namespace
from mnemoscope.errors import NamespaceError

from app.session import scope
from app.text.display import one_line, safe
from app.views.replay.source.chosen import Chosen

__all__ = ["TARGET_KEY", "choose"]

TARGET_KEY = "replay.target"

_SUGGESTED = "replay.suggested_target"


def choose(chosen: Chosen | None, counts: Mapping[Namespace, int]) -> Namespace | None:
    """Draw the choice of a namespace; None while what is chosen or typed is none.

    The one at the top of the page is suggested, or else the one that a sample is meant for.
    """
    meant_for = chosen.meant_for if chosen else None
    suggested = _suggested(meant_for)
    offered = {show_namespace(each): each for each in sorted({*counts, *filter(None, (suggested, meant_for))})}
    if st.session_state.get(_SUGGESTED, ()) != suggested or TARGET_KEY not in st.session_state:
        st.session_state[_SUGGESTED] = suggested
        st.session_state[TARGET_KEY] = show_namespace(suggested) if suggested else None
    kept = st.session_state[TARGET_KEY]
    typed = st.selectbox(
        "Into the namespace",
        [*offered, *([kept] if kept and kept not in offered else [])],
        index=None,
        key=TARGET_KEY,
        format_func=lambda name: one_line(name, 60),
        accept_new_options=True,
        placeholder="Choose one, or type a new one such as memories/ana",
        help="A namespace that is not there yet comes into being with its first memory.",
    )
    return _read(typed, offered) if typed else None


def _read(typed: str, offered: Mapping[str, Namespace]) -> Namespace | None:
    try:
        return offered.get(typed) or read_namespace(typed.strip())
    except NamespaceError as error:
        st.warning("**This cannot be a namespace.** Type labels with a slash between them, such as memories/ana.")
        st.code(safe(str(error), 500), language=None, wrap_lines=True)
        return None


def _suggested(meant_for: Namespace | None) -> Namespace | None:
    top = scope.current()
    # A mere prefix of namespaces is looked at, not remembered into.
    return (None if top.subtree else top.namespace) or meant_for or top.namespace or None
