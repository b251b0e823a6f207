"""Which memory the Recall page explains: its place, kept in the URL as `r_m` and `r_mn`."""

from __future__ import annotations

import streamlit as st
from mnemoscope.core import read_namespace
from mnemoscope.errors import NamespaceError
from mnemoscope.stores import Ref

__all__ = ["choose", "current", "parameters"]

_KEY, _NAMESPACE = "r_m", "r_mn"


def current() -> Ref | None:
    """Where the chosen memory is, if one is chosen."""
    key = st.query_params.get(_KEY)
    if not key:
        return None
    try:
        return read_namespace(st.query_params.get_all(_NAMESPACE)), key
    except NamespaceError:
        return None


def choose(ref: Ref | None) -> None:
    """Choose a memory, or none, from a callback."""
    st.query_params.pop(_KEY, None)
    st.query_params.pop(_NAMESPACE, None)
    if ref is not None:
        st.query_params[_KEY] = ref[1]
        st.query_params[_NAMESPACE] = list(ref[0])


def parameters(ref: Ref) -> dict[str, str | list[str]]:
    """The URL parameters that choose this memory, for links from other pages."""
    return {_KEY: ref[1], _NAMESPACE: list(ref[0])}
