"""Which memory Browse has open beside its table: in the URL as `b_key`, with its namespace as repeated `b_in`."""

from __future__ import annotations

import streamlit as st
from mnemoscope.core import is_within
from mnemoscope.stores import Ref

from app.session.scope import Scope

__all__ = ["OPENINGS_KEY", "close", "current", "open_memory", "query_of"]

OPENINGS_KEY = "browse.openings"
"""How often a memory was closed: a table under a new key has no cell selected, so that it can be clicked again."""


def current(scope: Scope) -> Ref | None:
    """Where the open memory is; None if none is, or it lies outside of the scope."""
    key = st.query_params.get("b_key")
    namespace = tuple(st.query_params.get_all("b_in")) or scope.namespace
    if not key or not is_within(namespace, scope.namespace, subtree=scope.subtree):
        return None
    return namespace, key


def query_of(ref: Ref) -> dict[str, str | list[str]]:
    """The URL parameters that open this memory."""
    namespace, key = ref
    return {"b_key": key, "b_in": list(namespace)}


def open_memory(ref: Ref) -> None:
    """Open this memory; for callbacks."""
    for name, value in query_of(ref).items():
        st.query_params[name] = value


def close() -> None:
    """Open none; for callbacks."""
    for name in ("b_key", "b_in"):
        st.query_params.pop(name, None)
    st.session_state[OPENINGS_KEY] = st.session_state.get(OPENINGS_KEY, 0) + 1
