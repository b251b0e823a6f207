from __future__ import annotations

from datetime import UTC, datetime

from langgraph.store.memory import InMemoryStore
from mnemoscope import MemoryConfig, RecallResult
from mnemoscope.core import Scope
from mnemoscope.embedding import HashingEmbeddings
from mnemoscope.index import Visibility
from mnemoscope.recall import rank, widen
from mnemoscope.stores import GenericAdapter

ANA = ("memories", "ana")
LATER = datetime(2100, 1, 1, tzinfo=UTC)
SIMILARITY_ALONE = MemoryConfig(semantic_weight=1.0, recency_weight=0.0, importance_weight=0.0)


def searched(config: MemoryConfig, limit: int) -> RecallResult:
    """A recall over a store whose vectors cannot be read, of which only a part was searched."""
    store = InMemoryStore(index={"dims": 64, "embed": HashingEmbeddings(64), "fields": ["content"]})
    for number in range(60):
        store.put(ANA, f"m{number:02}", {"kind": "memory", "content": f"tea {'leaf ' * number}", "importance": 0.5})
    candidates = widen(GenericAdapter(store), Scope(ANA), "tea", Visibility(), config, LATER, limit=limit)
    ranking = rank(candidates, config, limit=limit)
    return RecallResult("tea", ANA, ranking, limit, 0.0, None, {}, counting=lambda: 60)


def test_a_rerank_of_a_part_of_the_store_says_that_it_is_not_proven() -> None:
    result = searched(SIMILARITY_ALONE, limit=2)
    assert result.exact
    assert result.examined < result.total
    recent = MemoryConfig(semantic_weight=0.1, recency_weight=0.9, importance_weight=0.0)
    assert not result.rerank(recent).exact
    assert not result.rerank(SIMILARITY_ALONE, limit=result.examined + 1).exact
    assert result.rerank(SIMILARITY_ALONE).exact
