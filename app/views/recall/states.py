"""What the Recall page shows in place of results: no query yet, nothing there, nothing left and how to loosen it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import streamlit as st
from mnemoscope import MemoryEngine, MemoryRecord, RecallResult
from mnemoscope.core import Namespace, show_namespace
from mnemoscope.index import Drop

from app.components import states
from app.session import links
from app.session.scope import Scope
from app.text.display import counted, one_line, safe
from app.views.recall import filters, query, sliders
from app.views.recall.query import QUERY_KEY, RecallQuery

CLEAR_KEY = "recall.clear"

_FILTERS = (Drop.CATEGORY, Drop.FILTERED, Drop.OUTSIDE_TIME)

LOOSENED: dict[Drop, tuple[str, Callable[[], None]]] = {
    Drop.CATEGORY: ("Any category", lambda: filters.set_filters("categories")),
    Drop.FILTERED: ("Without the filter on fields", lambda: filters.set_filters("filter")),
    Drop.OUTSIDE_TIME: ("Any time", lambda: filters.set_filters("since", "until")),
    Drop.PRIVATE: ("Show private memories", lambda: filters.set_filters(include_private=True)),
    Drop.BELOW_SIMILARITY: ("No minimum similarity", lambda: sliders.set_slider("min_similarity", 0.0)),
    Drop.BELOW_SCORE: ("No minimum score", lambda: sliders.set_slider("min_score", 0.0)),
    Drop.BEYOND_TOKENS: ("No token budget", lambda: sliders.set_slider("max_tokens", None)),
}
"""What takes each reason away: the label of the button, and what it does."""


def draw_start(records: Sequence[MemoryRecord]) -> None:
    """There is no query yet: say what a query shows, and offer a few."""
    states.draw_empty(
        "What would the agent remember?",
        "Type a query above, as the agent would. You see what comes back, and what every part of each score did."
        + (" Or start with a category:" if records else ""),
        icon=":material/manage_search:",
    )
    query.offer_examples(records)


def draw_nothing_here(engine: MemoryEngine, asked: RecallQuery, counts: Mapping[Namespace, int]) -> None:
    """The scope holds no memories; name the namespaces beside it that would answer."""
    states.draw_nothing_remembered(Scope(asked.namespace, asked.subtree), counts)
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
            links.link_to("recall", "Look there", ns=list(namespace), **{QUERY_KEY: asked.text})


def draw_unreadable_filter(problem: str) -> None:
    """The filter on fields is none: say what is wrong with it, and recall nothing rather than everything."""
    st.error("**The filter on fields cannot be read**", icon=":material/filter_alt_off:")
    st.code(safe(problem, 1_000), language=None, wrap_lines=True)


def draw_cut_off(result: RecallResult) -> None:
    """Draw each reason with its count; those that can be loosened with a button."""
    with st.container(border=True, key="recall-cut-off"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(_headline(result))
            if not set(result.dropped_counts).isdisjoint(_FILTERS):
                st.button("Clear filters", key=CLEAR_KEY, on_click=filters.clear_filters)
        for reason, count in sorted(result.dropped_counts.items(), key=lambda pair: -pair[1]):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.text(f"{reason.label}: {count:,}", width=260)
                if reason in LOOSENED:
                    label, loosen = LOOSENED[reason]
                    st.button(label, key=loosen_key(reason), icon=":material/lock_open:", on_click=loosen)
        best = next((each for each in result.dropped if each.reason in sliders.CUTS), None)
        if best is not None:
            st.caption(f"The best: {best.detail}.")


def _headline(result: RecallResult) -> str:
    told = counted(result.examined, "memory", "memories")
    reasons = set(result.dropped_counts)
    is_cut, is_filtered = not reasons.isdisjoint(sliders.CUTS), not reasons.isdisjoint(_FILTERS)
    if is_cut and is_filtered:
        return f":material/filter_alt_off: **Filters and minimums leave none of {told}.**"
    if is_cut:
        return ":material/vertical_align_top: **No memory reaches the minimum.**"
    if is_filtered:
        return f":material/filter_alt_off: **The filters leave none of {told}.**"
    return f":material/visibility_off: **None of {told} may be seen.**"


def loosen_key(reason: Drop) -> str:
    """The key of the button that loosens this reason."""
    return f"recall.loosen-{reason.name.lower()}"
