"""What is asked on the Recall page: the query, and the filters that need the store. All of it is in the URL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from mnemoscope.namespaces import Namespace
from mnemoscope.records import MemoryRecord

from app.display import one_line
from app.scope import Scope

__all__ = ["CATEGORIES_KEY", "PRIVATE_KEY", "QUERY_KEY", "RecallQuery", "clear_filters", "draw", "offer_examples"]

QUERY_KEY = "r_q"
CATEGORIES_KEY = "r_cat"
PRIVATE_KEY = "r_private"

LONGEST = 10_000
_EXAMPLES = 5


@dataclass(frozen=True)
class RecallQuery:
    """A query with its scope and the filters that decide which memories are candidates."""

    text: str
    namespace: Namespace
    subtree: bool
    categories: tuple[str, ...]
    include_private: bool

    @property
    def is_filtered(self) -> bool:
        """Whether anything but the scope leaves memories out."""
        return bool(self.categories)


def draw(scope: Scope, records: Sequence[MemoryRecord]) -> RecallQuery:
    """Draw the query box and the filters over the records of the scope; what is asked."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        text = st.text_input(
            "Query",
            key=QUERY_KEY,
            bind="query-params",
            type="search",
            max_chars=LONGEST,
            placeholder="Ask what the agent would ask",
            label_visibility="collapsed",
        )
        categories, include_private = _draw_filters(records)
    return RecallQuery(text.strip(), scope.namespace, scope.subtree, tuple(categories), include_private)


def clear_filters() -> None:
    """Take every filter back, from a callback."""
    st.session_state[CATEGORIES_KEY] = []


def offer_examples(records: Sequence[MemoryRecord]) -> None:
    """Offer queries made from the categories that are stored most."""
    examples = [name for name in _categories(records) if _is_plain(name)][:_EXAMPLES]
    if not examples:
        return
    with st.container(horizontal=True, horizontal_alignment="center", gap="small"):
        for name in examples:
            st.button(name, key=f"recall.example-{name}", icon=":material/search:", on_click=_ask, args=(name,))


def _draw_filters(records: Sequence[MemoryRecord]) -> tuple[list[str], bool]:
    names = _categories(records)
    # Before the widgets are first drawn, what the URL says is not in the session yet.
    chosen = list(st.session_state.get(CATEGORIES_KEY, st.query_params.get_all(CATEGORIES_KEY)))
    count = len(chosen) + bool(st.session_state.get(PRIVATE_KEY, st.query_params.get(PRIVATE_KEY) == "true"))
    label = f"Filters · {count}" if count else "Filters"
    with st.popover(label, icon=":material/filter_list:", width="content"):
        categories = st.multiselect(
            "Categories",
            [*names, *(name for name in chosen if name not in names)],
            key=CATEGORIES_KEY,
            bind="query-params",
            format_func=lambda name: one_line(name, 60),
            placeholder="Any category",
        )
        include_private = st.toggle(
            "Show private memories",
            key=PRIVATE_KEY,
            bind="query-params",
            help="An agent sees a private memory only on behalf of its own source.",
        )
    return categories, include_private


def _categories(records: Sequence[MemoryRecord]) -> list[str]:
    counts = Counter(name for record in records if not record.private for name in record.categories)
    return [name for name, _ in counts.most_common()]


def _is_plain(name: str) -> bool:
    # A button's label is Markdown, so only what cannot be markup is offered.
    return name.replace(" ", "").isalnum() and len(name) <= 24


def _ask(text: str) -> None:
    st.session_state[QUERY_KEY] = text
