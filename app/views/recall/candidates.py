"""The candidates of a query, fetched once; every slider of the Recall page ranks them again without the store."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import streamlit as st
from mnemoscope import MemoryEngine, RecallResult

from app.views.recall.filters import RecallFilters
from app.views.recall.query import RecallQuery

__all__ = ["MOST_RETURNED", "control_similarity", "fetch"]

MOST_RETURNED = 50
"""The most memories the page returns; a store whose vectors cannot be read is searched as far as this needs."""

CONTROL = "zqxv blorft 7741 wumpelstrang"
"""A query that means nothing, to which nothing should be similar."""

_LEXICAL_UP_TO = 20_000
_ANY_LEXICAL_WEIGHT = 0.5


@dataclass
class _Slot:
    """The last recall of one query, and the store's change token then."""

    token: Hashable | None = None
    result: RecallResult | None = None


def fetch(engine: MemoryEngine, asked: RecallQuery) -> RecallResult:
    """The recall of the query, fetched anew only once the store changed, without a trace in the access history."""
    slot, token = _slot(engine, asked), engine.adapter.token(asked.namespace, subtree=asked.subtree)
    if slot.result is None or token is None or slot.token != token:
        slot.token, slot.result = token, _recall(engine, asked)
    return slot.result


def control_similarity(engine: MemoryEngine, asked: RecallQuery) -> float | None:
    """How similar the nearest memory is to a query without meaning; None where that would cost a search."""
    if not engine.adapter.abilities.reads_vectors:
        return None
    if asked.filters.as_of is not None:
        return None
    result = fetch(engine, RecallQuery(CONTROL, asked.namespace, asked.subtree, RecallFilters(include_private=True)))
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
