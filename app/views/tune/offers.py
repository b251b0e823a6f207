"""Cases out of what happened: from feedback, by one click, and from what agents asked, to be completed by hand."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from mnemoscope import MnemoscopeError
from mnemoscope.core import utc_now
from mnemoscope.journal import AskedQuery
from mnemoscope.recall import Case

from app.components import feedback
from app.session import session
from app.session.cache import kept, stamp
from app.session.scope import Scope
from app.session.session import Session
from app.text.display import counted, one_line
from app.views.recall import history
from app.views.tune import new_case

__all__ = ["ASKED_KEY", "KEEP_KEY", "draw"]

KEEP_KEY, ASKED_KEY = "tune.feedback.keep", "tune.asked"

_SHOWN, _TEXT_LIMIT = 5, 100


def draw(working: Session, here: Scope, known: Sequence[Case]) -> None:
    """Draw both; `known` are the cases that there are."""
    with st.expander("From feedback and recalls", icon=":material/thumbs_up_down:"):
        ids = {each.id for each in known}
        _draw_feedback(working, [each for each in _from_feedback(working, here) if each.id not in ids])
        asked = {(each.query.strip(), each.namespace) for each in known}
        _draw_asked([each for each in history.agents_queries(working, here) if not _has_case(each, asked)])


def _from_feedback(working: Session, here: Scope) -> list[Case]:
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
        format_func=lambda text: history.labelled(known[text], now),
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
        feedback.refused(error)
        return
    feedback.done(f"Kept {counted(len(changes), 'case')}.", undo=changes[0].group if changes else None)


def _take(known: dict[str, AskedQuery]) -> None:
    chosen = known.get(st.session_state.get(ASKED_KEY) or "")
    if chosen is not None:
        new_case.start(chosen.query, chosen.recalled[0][0])
        st.session_state[ASKED_KEY] = None
