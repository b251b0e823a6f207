"""What a call costs in embeddings, calls of the store and writes, on each kind of store."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from agent_fixture import ANA, STORES, TEMPLATE, WAYS, State, Way, engine_on
from engine_fixture import CountingEmbeddings, engine_over, facts, opened
from langchain_core.messages import HumanMessage
from langgraph.graph import START, StateGraph
from langgraph.store.base import Result, SearchOp
from langgraph.store.memory import InMemoryStore
from mnemoscope import MemoryConfig, MemoryEngine
from mnemoscope.stores import GenericAdapter

BY_MEANING = MemoryConfig(semantic_weight=1.0, recency_weight=0.0, importance_weight=0.0, recall_oversample=1)


class Asked(CountingEmbeddings):
    """Counts queries too."""

    def embed_query(self, text: str) -> list[float]:
        self.calls.append([text])
        return super().embed_query(text)


class Noted(InMemoryStore):
    """Notes every batch: how many searches by a query it holds, and how much others may give."""

    def __init__(self, embedder: CountingEmbeddings) -> None:
        super().__init__(index={"dims": embedder.dimensions, "embed": embedder, "fields": ["content"]})
        self.asked: list[tuple[str, int]] = []

    def batch(self, ops: Iterable[Any]) -> list[Result]:
        asked = list(ops)
        for op in asked:
            if isinstance(op, SearchOp):
                self.asked.append(("query" if op.query else "listing", op.limit))
        return super().batch(asked)


def noted(config: MemoryConfig, count: int) -> tuple[MemoryEngine, Noted, CountingEmbeddings]:
    embedder = Asked(64)
    store = Noted(embedder)
    engine = engine_over(GenericAdapter(store), config=config)
    engine.remember_facts(facts(*(f"fact number {n}" for n in range(count))), ANA)
    engine.recall("warm", ANA, touch=False)
    store.asked.clear()
    embedder.calls.clear()
    return engine, store, embedder


def graph_of(engine: MemoryEngine) -> Any:
    graph = StateGraph(State)
    graph.add_node("recall", engine.recall_node(namespace=TEMPLATE, limit=3))
    graph.add_edge(START, "recall")
    return graph.compile()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["memory", "sqlite", "generic"])
def test_a_recall_node_embeds_once_and_the_caller_s_thread_writes_nothing(kind: str, way: Way, tmp_path: Path) -> None:
    embedder = Asked()
    with opened(kind, tmp_path, embedder) as store:
        engine = engine_over(store)
        engine.remember_facts(facts("tea in the morning", "a dog", "Porto"), ANA)
        agent = graph_of(engine)
        way(agent, {"messages": [HumanMessage("warm")]})
        engine.flush()
        embedder.calls.clear()
        writers: list[int] = []
        write = engine.adapter.write

        def noting(*arguments: Any) -> None:
            writers.append(threading.get_ident())
            write(*arguments)

        engine.adapter.write = noting  # type: ignore[method-assign]
        answer = way(agent, {"messages": [HumanMessage("tea?")]})
        assert "tea in the morning" in answer["memory"]
        assert len(embedder.calls) == 1
        assert threading.get_ident() not in writers
        engine.flush()
        engine.close()


def test_a_store_whose_search_proves_the_result_is_asked_once_and_never_for_everything() -> None:
    engine, store, embedder = noted(BY_MEANING, 500)
    result = engine.recall("fact number 7", ANA, limit=5, touch=False)
    assert (len(result), result.exact) == (5, True)
    assert store.asked == [("query", 5)]
    assert len(embedder.calls) == 1
    assert result.total == 500


def test_a_small_namespace_is_searched_once() -> None:
    engine, store, embedder = noted(MemoryConfig(), 8)
    result = engine.recall("fact number 7", ANA, limit=5, touch=False)
    assert (len(result), result.exact, result.total) == (5, True, 8)
    assert [kind for kind, _ in store.asked].count("query") == 1
    assert len(embedder.calls) == 1


@pytest.mark.parametrize("kind", STORES)
def test_remembering_a_hundred_facts_embeds_once_on_every_store(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with engine_on(kind, tmp_path) as engine:
        engine.remember_facts(facts(*(f"earlier {n}" for n in range(20))), ANA)
        embedder, calls = type(engine.adapter.embeddings), []
        embed = embedder.embed_documents  # type: ignore[union-attr]

        def counted(self: Any, texts: list[str]) -> list[list[float]]:
            calls.append(len(texts))
            return embed(self, texts)  # type: ignore[no-any-return]

        monkeypatch.setattr(embedder, "embed_documents", counted)
        engine.remember_facts(facts(*(f"fact number {n}" for n in range(100))), ANA)
        assert calls == [100]
