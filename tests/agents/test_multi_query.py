"""Searching with several queries: the same ranking as one recall, with queries by a callable or a model."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agent_fixture import ANA, TEMPLATE, WAYS, Way, answering, config
from engine_fixture import KINDS, engine_over, facts, opened, swap
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import examples
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from mnemoscope import ConfigurationError, InputError, MemoryConfig, MemoryEngine, ModelError
from mnemoscope.agents import MOST_QUERIES

WAY = pytest.mark.parametrize("way", WAYS)
TALK = {"messages": [HumanMessage("my dog Rex"), AIMessage("Fine dog."), HumanMessage("what should he eat?")]}
WORDS = ("tea", "dog", "Porto", "chess", "milk", "green")


def seeded(**options: Any) -> MemoryEngine:
    engine = engine_over(**options)
    engine.remember_facts(facts("likes green tea", "has a dog called Rex", "lives in Porto", "plays chess"), ANA)
    return engine


@pytest.mark.parametrize("kind", KINDS)
def test_each_memory_comes_once_under_its_best_score(kind: str, tmp_path: Any) -> None:
    with opened(kind, tmp_path) as store:
        engine = seeded(store=store)
        found = engine.agents.recall_many(["green tea", "dog Rex", "green tea"], ANA, limit=2, touch=False)
        assert {match.record.content for match in found} == {"likes green tea", "has a dog called Rex"}
        single = {match.record.key: match for match in engine.recall("green tea", ANA, touch=False)}
        tea = next(match for match in found if "tea" in match.record.content)
        assert tea.similarity == pytest.approx(single[tea.record.key].similarity, abs=1e-5)
        assert found.exact
        assert len(found.results) == 2


@examples(25)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join), min_size=1, max_size=3),
    st.integers(1, 5),
)
def test_the_merged_order_is_that_of_ranking_every_memory_by_its_best_query(queries: list[str], limit: int) -> None:
    engine = engine_over(config=MemoryConfig(consolidation_threshold=1.0))
    engine.remember_facts(facts("tea Porto 0", "dog chess 1", "Porto milk 2", "chess green 3", "milk tea 4"), ANA)
    moment = engine.context.clock()
    swap(engine, clock=lambda: moment)
    best: dict[str, float] = {}
    for query in queries:
        for match in engine.recall(query, ANA, limit=100, touch=False):
            best[match.record.key] = max(best.get(match.record.key, 0.0), match.score)
    found = engine.agents.recall_many(queries, ANA, limit=limit, touch=False)
    assert [match.score for match in found] == pytest.approx(sorted(best.values(), reverse=True)[:limit])


@WAY
def test_a_callable_writes_the_queries(way: Way) -> None:
    seen: list[Any] = []

    def queries(messages: Any) -> list[str]:
        seen.append([each.text for each in messages])
        return ["dog Rex", "", "green tea"]

    async def aqueries(messages: Any) -> list[str]:
        return queries(messages)

    for writer in (queries, aqueries):
        found = way(seeded().agents.searcher(writer, namespace=TEMPLATE, limit=2), TALK)
        assert {match.record.content for match in found} == {"likes green tea", "has a dog called Rex"}
    assert seen[0] == ["my dog Rex", "Fine dog.", "what should he eat?"]


@WAY
def test_a_model_writes_the_queries(way: Way) -> None:
    model = answering({"queries": [{"query": "dog Rex"}, {"query": 5}, {"question": "x"}]})
    found = way(seeded().agents.searcher(model=model, namespace=TEMPLATE, limit=1), TALK)
    assert [result.query for result in found.results] == ["dog Rex"]
    assert found[0].record.content == "has a dog called Rex"


@WAY
def test_where_no_queries_are_written_the_question_itself_is_looked_for(way: Way) -> None:
    for searcher in (
        seeded().agents.searcher(model=FakeListChatModel(responses=["no", "no"]), namespace=TEMPLATE),
        seeded().agents.searcher(lambda _: [], namespace=TEMPLATE),
    ):
        assert [result.query for result in way(searcher, TALK).results] == ["what should he eat?"]


def test_the_number_of_queries_is_bounded_and_nothing_asked_recalls_nothing() -> None:
    searcher = seeded().agents.searcher(lambda _: [f"query {n}" for n in range(50)], namespace=TEMPLATE)
    assert len(searcher.invoke(TALK, config()).results) == MOST_QUERIES
    assert len(seeded().agents.searcher(lambda _: [], namespace=TEMPLATE).invoke({"messages": []}, config())) == 0


def test_a_writer_that_fails_is_named() -> None:
    def broken(_messages: Any) -> list[str]:
        raise RuntimeError("boom")

    with pytest.raises(ModelError, match="writer of queries raised RuntimeError: boom"):
        seeded().agents.searcher(broken, namespace=TEMPLATE).invoke(TALK, config())


def test_bad_queries_are_refused() -> None:
    with pytest.raises(InputError, match="queries"):
        engine_over().agents.recall_many("dog", ANA)
    with pytest.raises(InputError, match="queries"):
        asyncio.run(engine_over().agents.arecall_many([5], ANA))
    with pytest.raises(ConfigurationError, match="queries="):
        engine_over().agents.searcher(namespace=TEMPLATE)
