"""What is asked on the Recall page, all of it in the URL; what was asked before; and the candidates, fetched once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st
from mnemoscope import MemoryEngine, MemoryRecord, RecallResult
from mnemoscope.core import Namespace, utc_now
from mnemoscope.index import ScopeIndex
from mnemoscope.journal import AskedQuery

from app.components.keep import QUERY_LIMIT, label_query, read_agents_queries
from app.session.scope import Scope
from app.session.session import Session
from app.text.display import one_line
from app.views.recall import filters as recall_filters
from app.views.recall.filters import RecallFilters

LONGEST = 10_000

_EXAMPLES = 5

QUERY_KEY = "r_q"

OWN_KEY, AGENTS_KEY = "recall.history.own", "recall.history.agents"

_ASKED = "recall.asked"

_MOST_KEPT = 30

MOST_RETURNED = 50
"""The most memories the page returns; a store whose vectors cannot be read is searched as far as this needs."""

CONTROL = "zqxv blorft 7741 wumpelstrang"
"""A query that means nothing, to which nothing should be similar."""

_LEXICAL_UP_TO = 20_000

_ANY_LEXICAL_WEIGHT = 0.5


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


def draw_query(working: Session, scope: Scope, index: ScopeIndex) -> RecallQuery:
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
        filters = recall_filters.draw_filters(index, _categories(index.records))
        draw_earlier(working, scope, text.strip())
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


def draw_earlier(working: Session, here: Scope, asked: str) -> None:
    """Draw the two lists behind a button, and note what is asked now."""
    own = _note_query(asked)
    with st.popover("History", icon=":material/history:", width="content", key="recall.history"):
        _draw_own([text for text in own if text != asked])
        _draw_agents(read_agents_queries(working, here))


def _note_query(asked: str) -> list[str]:
    """The queries of this session, the latest first."""
    before: list[str] = st.session_state.get(_ASKED, [])
    if asked:
        st.session_state[_ASKED] = [asked, *(text for text in before if text != asked)][:_MOST_KEPT]
    noted: list[str] = st.session_state.get(_ASKED, before)
    return noted


def _draw_own(queries: Sequence[str]) -> None:
    if not queries:
        st.caption("What you ask here stands here, to be asked again.")
        return
    st.selectbox(
        "Asked in this session", queries, None, key=OWN_KEY, format_func=lambda text: one_line(text, QUERY_LIMIT),
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
        format_func=lambda text: label_query(known[text], now),
        placeholder="Ask again",
        on_change=_ask_again,
        args=(AGENTS_KEY,),
    )


def _ask_again(key: str) -> None:
    text = st.session_state.get(key)
    if text is not None:
        st.session_state[QUERY_KEY] = text
        st.session_state[key] = None


@dataclass
class _Slot:
    """The last recall of one query, and the store's change token then."""

    token: Hashable | None = None
    result: RecallResult | None = None


def fetch_candidates(engine: MemoryEngine, asked: RecallQuery) -> RecallResult:
    """The recall of the query, fetched anew only once the store changed, without a trace in the access history."""
    slot, token = _slot(engine, asked), engine.adapter.token(asked.namespace, subtree=asked.subtree)
    if slot.result is None or token is None or slot.token != token:
        slot.token, slot.result = token, _recall(engine, asked)
    return slot.result


def measure_control(engine: MemoryEngine, asked: RecallQuery) -> float | None:
    """How similar the nearest memory is to a query without meaning; None where that would cost a search."""
    if not engine.adapter.abilities.reads_vectors:
        return None
    if asked.filters.as_of is not None:
        return None
    result = fetch_candidates(
        engine, RecallQuery(CONTROL, asked.namespace, asked.subtree, RecallFilters(include_private=True))
    )
    return max((each for each in result.ranking.candidates.cosine.tolist() if each == each), default=None)


@st.cache_resource(max_entries=32, ttl=600, show_spinner=False, hash_funcs={MemoryEngine: id})
def _slot(engine: MemoryEngine, asked: RecallQuery) -> _Slot:
    del engine, asked
    return _Slot()


def _recall(engine: MemoryEngine, asked: RecallQuery) -> RecallResult:
    config = engine.config
    if not config.lexical_weight and _can_weigh_words(engine, asked):
        # The words are then among the candidates, so that their slider has something to weigh.
        config = replace(config, lexical_weight=_ANY_LEXICAL_WEIGHT)
    return engine.recall(
        asked.text,
        asked.namespace,
        limit=MOST_RETURNED,
        min_score=0.0,
        config=config,
        touch=False,
        **asked.options,
    )


def _can_weigh_words(engine: MemoryEngine, asked: RecallQuery) -> bool:
    if not engine.adapter.abilities.reads_vectors:
        return False
    return len(engine.index(asked.namespace, subtree=asked.subtree)) <= _LEXICAL_UP_TO
