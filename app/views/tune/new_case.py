"""A new case: a query and which of what it brings back is right; or out of feedback and of what agents asked."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from mnemoscope import MemoryRecord, MnemoscopeError
from mnemoscope.core import Namespace, show_namespace, utc_now
from mnemoscope.journal import AskedQuery
from mnemoscope.recall import Case

from app.components import actions, keep
from app.components.keep import save_case
from app.session import session
from app.session.cache import kept, stamp
from app.session.scope import Scope
from app.session.session import Session
from app.text.display import counted, one_line

QUERY_KEY, NAMESPACE_KEY, SAVE_KEY = "tune.new.query", "tune.new.namespace", "tune.new.save"

EXPECTED_KEY, UNWANTED_KEY = "tune.new.expected", "tune.new.unwanted"

_OFFERED = 40

KEEP_KEY, ASKED_KEY = "tune.feedback.keep", "tune.asked"

_SHOWN, _TEXT_LIMIT = 5, 100


def draw_new_case(working: Session, here: Scope) -> None:
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
        offered = _offer(working, namespace, query.strip())
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


def start_case(query: str, namespace: Namespace) -> None:
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


def _offer(working: Session, namespace: Namespace, query: str) -> list[MemoryRecord]:
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
    if save_case(query, namespace, expected, unwanted):
        for key in (EXPECTED_KEY, UNWANTED_KEY):
            st.session_state[key] = []
        st.session_state[QUERY_KEY] = ""


def draw_offers(working: Session, here: Scope, known: Sequence[Case]) -> None:
    """Draw both; `known` are the cases that there are."""
    with st.expander("From feedback and recalls", icon=":material/thumbs_up_down:"):
        ids = {each.id for each in known}
        _draw_feedback(working, [each for each in _read_feedback(working, here) if each.id not in ids])
        asked = {(each.query.strip(), each.namespace) for each in known}
        _draw_asked([each for each in keep.read_agents_queries(working, here) if not _has_case(each, asked)])


def _read_feedback(working: Session, here: Scope) -> list[Case]:
    return kept(
        "tune.feedback",
        stamp(working, here, "feedback"),
        lambda: working.engine.usage.feedback_cases(here.namespace, subtree=here.subtree),
    )


def _draw_feedback(working: Session, cases: Sequence[Case]) -> None:
    st.markdown("**Feedback**")
    if not cases:
        st.caption("No feedback here that is not a case already. Agents give it by `engine.usage.give_feedback(…)`.")
        return
    for each in cases[:_SHOWN]:
        st.text(f"{one_line(each.query, _TEXT_LIMIT)}  (+{len(each.expected)}, −{len(each.unwanted)})")
    if len(cases) > _SHOWN:
        st.caption(f"and {len(cases) - _SHOWN:,} more")
    st.button(
        f"Keep {counted(len(cases), 'case')} from feedback",
        key=KEEP_KEY,
        icon=":material/thumb_up:",
        disabled=not working.is_writing,
        help="Reading only. Switch writing on at the top of the page."
        if not working.is_writing
        else "What was of use is expected; what was not is unwanted.",
        on_click=_keep,
        args=(list(cases),),
    )


def _draw_asked(queries: Sequence[AskedQuery]) -> None:
    st.markdown("**What agents asked**")
    if not queries:
        st.caption("No recall is noted here that is not a case already.")
        return
    now, known = utc_now(), {each.query: each for each in sorted(queries, key=lambda each: -each.count)}
    st.selectbox(
        "A query without a case",
        list(known),
        None,
        key=ASKED_KEY,
        format_func=lambda text: keep.label_query(known[text], now),
        placeholder="The most frequent first",
        help="Puts it into the new case above; there, say what should come back.",
        on_change=_take,
        args=(known,),
    )


def _has_case(each: AskedQuery, asked: set[tuple[str, tuple[str, ...]]]) -> bool:
    return any((each.query.strip(), namespace) in asked for namespace, _ in each.recalled)


def _keep(cases: list[Case]) -> None:
    try:
        working = session.require_writing()
        changes = working.engine.tuning.save_cases(cases, actor=working.operator, reason="from feedback")
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    actions.report(f"Kept {counted(len(changes), 'case')}.", undo=changes[0].group if changes else None)


def _take(known: dict[str, AskedQuery]) -> None:
    chosen = known.get(st.session_state.get(ASKED_KEY) or "")
    if chosen is not None:
        start_case(chosen.query, chosen.recalled[0][0])
        st.session_state[ASKED_KEY] = None
