"""Queries asked before, to be run again: those of this session, and those that agents recalled the namespace for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import streamlit as st
from mnemoscope.core import utc_now
from mnemoscope.journal import AskedQuery

from app.session.cache import kept, stamp
from app.session.scope import Scope
from app.session.session import Session
from app.text.display import age, counted, one_line

__all__ = ["AGENTS_KEY", "OWN_KEY", "QUERY_KEY", "agents_queries", "draw", "labelled"]

QUERY_KEY = "r_q"
OWN_KEY, AGENTS_KEY = "recall.history.own", "recall.history.agents"

_ASKED = "recall.asked"
_KEPT, _OFFERED = 30, 200
_TEXT_LIMIT = 120


def draw(working: Session, here: Scope, asked: str) -> None:
    """Draw the two lists behind a button, and note what is asked now."""
    own = _noted(asked)
    with st.popover("History", icon=":material/history:", width="content", key="recall.history"):
        _draw_own([text for text in own if text != asked])
        _draw_agents(agents_queries(working, here))


def agents_queries(working: Session, here: Scope) -> list[AskedQuery]:
    """What the memories of the scope were recalled for, the latest first."""
    return kept(
        "recall.queries",
        stamp(working, here, "access"),
        lambda: working.engine.usage.queries(here.namespace, subtree=here.subtree, limit=_OFFERED),
    )


def labelled(each: AskedQuery, now: datetime) -> str:
    """A query in a list: its text, how often it was asked, and how long ago."""
    return f"{one_line(each.query, _TEXT_LIMIT)}  ·  {counted(each.count, 'time')}, {age(each.last, now)}"


def _noted(asked: str) -> list[str]:
    """The queries of this session, the latest first."""
    before: list[str] = st.session_state.get(_ASKED, [])
    if asked:
        st.session_state[_ASKED] = [asked, *(text for text in before if text != asked)][:_KEPT]
    noted: list[str] = st.session_state.get(_ASKED, before)
    return noted


def _draw_own(queries: Sequence[str]) -> None:
    if not queries:
        st.caption("What you ask here stands here, to be asked again.")
        return
    st.selectbox(
        "Asked in this session", queries, None, key=OWN_KEY, format_func=lambda text: one_line(text, _TEXT_LIMIT),
        placeholder="Ask again", on_change=_ask_again, args=(OWN_KEY,),
    )  # fmt: skip


def _draw_agents(queries: Sequence[AskedQuery]) -> None:
    if not queries:
        st.caption("No recall of an agent is noted here.")
        return
    now, known = utc_now(), {each.query: each for each in queries}
    st.selectbox(
        "Asked by agents",
        list(known),
        None,
        key=AGENTS_KEY,
        format_func=lambda text: labelled(known[text], now),
        placeholder="Ask again",
        on_change=_ask_again,
        args=(AGENTS_KEY,),
    )


def _ask_again(key: str) -> None:
    text = st.session_state.get(key)
    if text is not None:
        st.session_state[QUERY_KEY] = text
        st.session_state[key] = None
