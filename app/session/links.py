"""What pages know of each other: the URL parameters that open a memory, a change or an explanation elsewhere."""

from __future__ import annotations

import streamlit as st
from mnemoscope import NamespaceError
from mnemoscope.core import is_within, read_namespace
from mnemoscope.index import State
from mnemoscope.stores import Ref

from app.session.navigation import PAGES, path_of
from app.session.scope import Scope

MEMORY_OPENINGS_KEY = "browse.openings"
"""How often a memory was closed: a table under a new key has no cell selected, so that it can be clicked again."""

_EXPLAINED, _EXPLAINED_IN = "r_m", "r_mn"

CHANGE_OPENINGS_KEY = "history.openings"
"""How often a change was closed: a table under a new key has no cell selected, so that it can be clicked again."""

_CHANGE = "h_id"

BROWSE_STATES: dict[str, State] = {
    "Private": "private",
    "Pinned": "pinned",
    "Expired": "expired",
    "No vector": "unvectored",
    "Malformed": "malformed",
    "No text": "unreadable",
}
"""What can be said of a memory beside its content, by label."""

HISTORY_VIEW_KEY = "h_view"

HISTORY_UNDO = "Take back"


def read_open_memory(scope: Scope) -> Ref | None:
    """Where the open memory is; None if none is, or it lies outside of the scope."""
    key = st.query_params.get("b_key")
    namespace = tuple(st.query_params.get_all("b_in")) or scope.namespace
    if not key or not is_within(namespace, scope.namespace, subtree=scope.subtree):
        return None
    return namespace, key


def query_of_memory(ref: Ref) -> dict[str, str | list[str]]:
    """The URL parameters that open this memory."""
    namespace, key = ref
    return {"b_key": key, "b_in": list(namespace)}


def open_memory(ref: Ref) -> None:
    """Open this memory; for callbacks."""
    for name, value in query_of_memory(ref).items():
        st.query_params[name] = value


def close_memory() -> None:
    """Open none; for callbacks."""
    for name in ("b_key", "b_in"):
        st.query_params.pop(name, None)
    st.session_state[MEMORY_OPENINGS_KEY] = st.session_state.get(MEMORY_OPENINGS_KEY, 0) + 1


def read_explained_memory() -> Ref | None:
    """Where the chosen memory is, if one is chosen."""
    key = st.query_params.get(_EXPLAINED)
    if not key:
        return None
    try:
        return read_namespace(st.query_params.get_all(_EXPLAINED_IN)), key
    except NamespaceError:
        return None


def explain_memory(ref: Ref | None) -> None:
    """Choose a memory, or none, from a callback."""
    st.query_params.pop(_EXPLAINED, None)
    st.query_params.pop(_EXPLAINED_IN, None)
    if ref is not None:
        st.query_params[_EXPLAINED] = ref[1]
        st.query_params[_EXPLAINED_IN] = list(ref[0])


def query_of_explanation(ref: Ref) -> dict[str, str | list[str]]:
    """The URL parameters that choose this memory, for links from other pages."""
    return {_EXPLAINED: ref[1], _EXPLAINED_IN: list(ref[0])}


def read_open_change() -> str | None:
    """The id of the change that is open."""
    return st.query_params.get(_CHANGE) or None


def open_change(id: str) -> None:
    """Open this change; for callbacks."""
    st.query_params[_CHANGE] = id


def close_change() -> None:
    """Open none; for callbacks."""
    st.query_params.pop(_CHANGE, None)
    st.session_state[CHANGE_OPENINGS_KEY] = st.session_state.get(CHANGE_OPENINGS_KEY, 0) + 1


def link_to(name: str, label: str, **query: str | list[str]) -> None:
    """A link to a page with these URL parameters. `label` is fixed text, never stored text."""
    icon = next(row.icon for row in PAGES if row.name == name)
    st.page_link(path_of(name), label=label, icon=icon, query_params=query)
