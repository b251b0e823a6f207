"""Feedback on what was recalled, and the access history it rests on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_fixture import ANA, STORES, TEMPLATE, WAYS, State, Way, config, engine_on
from engine_fixture import engine_over, facts, memory_store
from langchain_core.messages import HumanMessage
from langgraph.graph import START, StateGraph
from mnemoscope import InputError, MemoryEngine, NotFoundError


@pytest.fixture(params=STORES)
def engine(request: Any, tmp_path: Path) -> Iterator[MemoryEngine]:
    with engine_on(request.param, tmp_path) as made:
        made.remember_facts(facts("likes green tea", "has a dog"), ANA)
        yield made


@pytest.mark.parametrize("namespace", [None, ANA])
def test_feedback_keeps_the_query_the_rank_and_who_gave_it(engine: MemoryEngine, namespace: Any) -> None:
    result = engine.recall("green tea", ANA)
    key = result[1].record.key
    engine.usage.give_feedback(result.id, key, useful=False, namespace=namespace, actor="ana")
    [given] = engine.usage.feedback(ANA)[key]
    assert (given.query, given.rank, given.useful, given.actor) == ("green tea", 2, False, "ana")


def test_a_second_word_on_the_same_recall_takes_the_place_of_the_first(engine: MemoryEngine) -> None:
    first, second = engine.recall("green tea", ANA), engine.recall("tea", ANA)
    key = first[0].record.key
    for recall, useful in ((first, False), (second, True), (first, True)):
        asyncio.run(engine.usage.agive_feedback(recall.id, key, useful=useful))
    assert [(each.query, each.useful) for each in engine.usage.feedback(ANA)[key]] == [
        ("green tea", True),
        ("tea", True),
    ]


def test_feedback_makes_cases_for_tuning(engine: MemoryEngine) -> None:
    result = engine.recall("green tea", ANA)
    tea, dog = (match.record.key for match in result)
    engine.usage.give_feedback(result.id, tea, useful=False)
    again = engine.recall("green tea", ANA)
    engine.usage.give_feedback(again.id, tea, useful=True)
    engine.usage.give_feedback(again.id, dog, useful=False)
    [made] = engine.usage.feedback_cases(ANA)
    assert (made.query, made.namespace, made.expected, made.unwanted) == ("green tea", ANA, (tea,), (dog,))


def test_feedback_is_given_by_another_process(engine: MemoryEngine) -> None:
    result = engine.recall("green tea", ANA)
    engine.flush()
    engine_over(engine.store).usage.give_feedback(result.id, result[0].record.key, useful=True)
    assert len(engine.usage.feedback(ANA)) == 1


@pytest.mark.parametrize("touch", [True, False])
def test_feedback_on_what_was_not_recalled_or_not_noted_is_refused(touch: bool) -> None:
    engine = engine_over()
    engine.remember_facts(facts("likes green tea", "has a dog"), ANA)
    result = engine.recall("green tea", ANA, limit=1, touch=touch)
    other = next(record.key for record in engine.list(ANA) if record.key != result[0].record.key)
    for recall, key in (("recall-none", result[0].record.key), (result.id, other)):
        with pytest.raises(NotFoundError, match="is noted"):
            engine.usage.give_feedback(recall, key, useful=True)
    with pytest.raises(InputError, match="useful"):
        engine.usage.give_feedback(result.id, result[0].record.key, useful=1)  # type: ignore[arg-type]


def test_a_rerank_is_the_same_recall() -> None:
    engine = engine_over()
    engine.remember_facts(facts("likes green tea"), ANA)
    result = engine.recall("tea", ANA)
    assert result.rerank(engine.config).id == result.id


@pytest.mark.parametrize("way", WAYS)
def test_the_access_history_names_recall_and_thread(engine: MemoryEngine, way: Way) -> None:
    graph = StateGraph(State)
    graph.add_node("recall", engine.recall_node(namespace=TEMPLATE, limit=1))
    graph.add_edge(START, "recall")
    way(graph.compile(), {"messages": [HumanMessage("green tea")]}, config(thread="thread-9"))
    [(key, access)] = engine.usage.recalls(ANA).items()
    note = access.recent[0]
    assert (note.query, note.rank, note.thread) == ("green tea", 1, "thread-9")
    assert note.recall is not None
    assert engine.usage.give_feedback(note.recall, key, useful=True).thread == "thread-9"


def test_erasing_a_memory_erases_the_feedback_on_it(engine: MemoryEngine) -> None:
    result = engine.recall("green tea", ANA)
    key = result[0].record.key
    engine.usage.give_feedback(result.id, key, useful=True)
    engine.curation.erase(ANA, key, confirm="memories/ana")
    assert engine.usage.feedback(ANA) == {}


def test_feedback_at_the_same_moment_is_all_kept() -> None:
    store = memory_store()
    engine = engine_over(store)
    engine.remember_facts(facts("likes green tea"), ANA)
    recalls = [engine.recall("tea", ANA) for _ in range(8)]
    key = recalls[0][0].record.key
    engine.flush()

    async def all_at_once() -> None:
        await asyncio.gather(
            *(engine.usage.agive_feedback(recall.id, key, useful=True, namespace=ANA) for recall in recalls)
        )

    asyncio.run(all_at_once())
    assert len(engine.usage.feedback(ANA)[key]) == 8
