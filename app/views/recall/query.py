"""What is asked on the Recall page: the query and its filters, all of it in the URL, and what was asked before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from mnemoscope import MemoryRecord
from mnemoscope.core import Namespace
from mnemoscope.index import ScopeIndex

from app.session.scope import Scope
from app.session.session import Session
from app.views.recall import filters as recall_filters
from app.views.recall import history
from app.views.recall.filters import RecallFilters
from app.views.recall.history import QUERY_KEY

__all__ = ["QUERY_KEY", "RecallQuery", "draw", "offer_examples"]

LONGEST = 10_000
_EXAMPLES = 5


@dataclass(frozen=True)
class RecallQuery:
    """A query with its scope and the filters that decide which memories are candidates."""

    text: str
    namespace: Namespace
    subtree: bool
    filters: RecallFilters = field(default_factory=RecallFilters)

    @property
    def options(self) -> dict[str, Any]:
        """What is set of it, as arguments of `engine.recall` beside query and namespace."""
        return ({"subtree": True} if self.subtree else {}) | self.filters.options


def draw(working: Session, scope: Scope, index: ScopeIndex) -> RecallQuery:
    """Draw the query box, the filters over the index of the scope, and what was asked before; what is asked."""
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
        filters = recall_filters.draw(index, _categories(index.records))
        history.draw(working, scope, text.strip())
    return RecallQuery(text.strip(), scope.namespace, scope.subtree, filters)


def offer_examples(records: Sequence[MemoryRecord]) -> None:
    """Offer queries made from the categories that are stored most."""
    examples = [name for name in _categories(records) if _is_plain(name)][:_EXAMPLES]
    if not examples:
        return
    with st.container(horizontal=True, horizontal_alignment="center", gap="small"):
        for name in examples:
            st.button(name, key=f"recall.example-{name}", icon=":material/search:", on_click=_ask, args=(name,))


def _categories(records: Sequence[MemoryRecord]) -> list[str]:
    counts = Counter(name for record in records if not record.private for name in record.categories)
    return [name for name, _ in counts.most_common()]


def _is_plain(name: str) -> bool:
    # A button's label is Markdown, so only what cannot be markup is offered.
    return name.replace(" ", "").isalnum() and len(name) <= 24


def _ask(text: str) -> None:
    st.session_state[QUERY_KEY] = text
