"""What the Recall page shows in place of results: no query yet, nothing there, a filter that is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import streamlit as st
from mnemoscope import MemoryEngine, MemoryRecord
from mnemoscope.core import Namespace, show_namespace

from app.components import states
from app.session import navigation
from app.session.scope import Scope
from app.text.display import counted, one_line, safe
from app.views.recall import query
from app.views.recall.query import QUERY_KEY, RecallQuery

__all__ = ["draw_empty", "draw_start", "draw_unreadable_filter"]


def draw_start(records: Sequence[MemoryRecord]) -> None:
    """There is no query yet: say what a query shows, and offer a few."""
    states.empty(
        "What would the agent remember?",
        "Type a query above, as the agent would. You see what comes back, and what every part of each score did."
        + (" Or start with a category:" if records else ""),
        icon=":material/manage_search:",
    )
    query.offer_examples(records)


def draw_empty(engine: MemoryEngine, asked: RecallQuery, counts: Mapping[Namespace, int]) -> None:
    """The scope holds no memories; name the namespaces beside it that would answer."""
    states.nothing_remembered(Scope(asked.namespace, asked.subtree), counts)
    parent = asked.namespace[:-1]
    if not asked.text or not any(counts):
        return
    found = engine.recall(asked.text, parent, subtree=True, limit=20, touch=False)
    places = Counter(match.record.namespace for match in found)
    if places:
        st.markdown("**Namespaces beside this one do have memories for the query:**")
    for namespace, number in places.most_common(5):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(f"{one_line(show_namespace(namespace), 80)}  ·  {counted(number, 'hit')}", width="content")
            navigation.link_to("recall", "Look there", ns=list(namespace), **{QUERY_KEY: asked.text})


def draw_unreadable_filter(problem: str) -> None:
    """The filter on fields is none: say what is wrong with it, and recall nothing rather than everything."""
    st.error("**The filter on fields cannot be read**", icon=":material/filter_alt_off:")
    st.code(safe(problem, 1_000), language=None, wrap_lines=True)
