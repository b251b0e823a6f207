"""A new case: a query, and which of the memories that it brings back are right."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from mnemoscope import MemoryRecord, MnemoscopeError
from mnemoscope.core import Namespace, show_namespace
from mnemoscope.recall import case

from app.components import feedback
from app.session import session
from app.session.scope import Scope
from app.session.session import Session
from app.text.display import one_line

__all__ = ["EXPECTED_KEY", "QUERY_KEY", "SAVE_KEY", "UNWANTED_KEY", "draw", "save", "start"]

QUERY_KEY, NAMESPACE_KEY, SAVE_KEY = "tune.new.query", "tune.new.namespace", "tune.new.save"
EXPECTED_KEY, UNWANTED_KEY = "tune.new.expected", "tune.new.unwanted"

_OFFERED = 40


def draw(working: Session, here: Scope) -> None:
    """Draw the form."""
    with st.container(border=True):
        st.markdown("**New case**")
        namespace = _namespace(working, here)
        if namespace is None:
            st.caption("There is no namespace with memories here.")
            return
        query = st.text_input("Query", key=QUERY_KEY, max_chars=10_000, placeholder="Ask what the agent would ask")
        if not query.strip():
            return
        offered = _offered(working, namespace, query.strip())
        texts = {record.key: one_line(record.content, 120) for record in offered}
        expected = st.multiselect("Should come back", list(texts), key=EXPECTED_KEY, format_func=texts.__getitem__)
        left = [key for key in texts if key not in expected]
        unwanted = st.multiselect("Should not", left, key=UNWANTED_KEY, format_func=texts.__getitem__)
        is_off = not working.is_writing or not (expected or unwanted)
        st.button(
            "Save case",
            key=SAVE_KEY,
            type="primary",
            disabled=is_off,
            help=None if working.is_writing else "Reading only. Switch writing on at the top of the page.",
            on_click=_save,
            args=(query.strip(), namespace),
        )


def save(query: str, namespace: Namespace, expected: Sequence[str], unwanted: Sequence[str]) -> bool:
    """Keep a case, from a callback; whether it was."""
    try:
        working = session.require_writing()
        made = case(query, namespace, expected=expected, unwanted=unwanted)
        changes = working.engine.tuning.save_cases([made], actor=working.operator)
    except MnemoscopeError as error:
        feedback.refused(error)
        return False
    feedback.done("Saved the case. Tune measures profiles on it.", undo=changes[0].group if changes else None)
    return True


def start(query: str, namespace: Namespace) -> None:
    """Begin a new case with this query, from a callback."""
    for key in (EXPECTED_KEY, UNWANTED_KEY):
        st.session_state[key] = []
    st.session_state[QUERY_KEY] = query
    st.session_state[NAMESPACE_KEY] = namespace


def _namespace(working: Session, here: Scope) -> Namespace | None:
    if here.namespace and not here.subtree:
        return here.namespace
    names = list(working.engine.counts(here.namespace))
    if not names:
        return None
    chosen: Namespace = st.selectbox(
        "Namespace", names, key=NAMESPACE_KEY, format_func=lambda name: one_line(show_namespace(name), 80)
    )
    return chosen


def _offered(working: Session, namespace: Namespace, query: str) -> list[MemoryRecord]:
    """What the query brings back, and what was already chosen."""
    result = working.engine.recall(query, namespace, limit=_OFFERED, touch=False)
    found = {match.record.key: match.record for match in result}
    chosen = [*st.session_state.get(EXPECTED_KEY, []), *st.session_state.get(UNWANTED_KEY, [])]
    for key in chosen:
        if key not in found and (record := working.engine.get(namespace, key)) is not None:
            found[key] = record
    return list(found.values())


def _save(query: str, namespace: Namespace) -> None:
    expected, unwanted = st.session_state.get(EXPECTED_KEY, []), st.session_state.get(UNWANTED_KEY, [])
    if save(query, namespace, expected, unwanted):
        for key in (EXPECTED_KEY, UNWANTED_KEY):
            st.session_state[key] = []
        st.session_state[QUERY_KEY] = ""
