"""`on_prune` with the real `agentstate-reducer` package and real checkpointers."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from agent_fixture import ANA, WAYS, Counting, State, Way, config, engine_on
from agentstate_reducer import Background, MessageReducer, ReducerConfig
from agentstate_reducer.langgraph import ReducingSaver
from engine_fixture import contents, engine_over
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from mnemoscope import MemoryEngine

WAY = pytest.mark.parametrize("way", WAYS)
FACTS = ("I like tea", "I live in Porto", "I have a dog", "I am 31", "I play chess")


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def engine(request: Any, tmp_path: Path) -> Iterator[MemoryEngine]:
    with engine_on(request.param, tmp_path, extractor=Counting()) as made:
        yield made


def chat(engine: MemoryEngine, saver: Any) -> Any:
    """A new process, as it were: a reducer without any memory of its own over the same saver."""
    reducer = MessageReducer(config=ReducerConfig(min_messages=2, max_messages=4, on_prune=[engine.on_prune]))
    graph = StateGraph(State)
    graph.add_node("answer", lambda state: {"messages": [AIMessage(f"ok {len(state['messages'])}")]})
    graph.add_edge(START, "answer")
    return graph.compile(checkpointer=ReducingSaver(saver, reducer))


@contextmanager
def opened_saver(kind: str, folder: Path) -> Iterator[Any]:
    if kind == "memory":
        yield InMemorySaver()
    else:
        connection = sqlite3.connect(folder / "threads.sqlite", check_same_thread=False)
        yield SqliteSaver(connection)
        connection.close()


def turns_read(engine: MemoryEngine) -> list[str]:
    return [line for text in engine.extractor.texts for line in text.splitlines()]


def reducing(hook: Any, **settings: Any) -> MessageReducer:
    """A reducer that keeps the last message alone."""
    chosen = {"min_messages": 1, "max_messages": 1, "preserve_first": False, **settings}
    return MessageReducer(config=ReducerConfig(on_prune=[hook], **chosen))


@WAY
def test_every_pruned_turn_is_extracted_exactly_once(engine: MemoryEngine, way: Way) -> None:
    graph = chat(engine, InMemorySaver())
    for text in FACTS:
        way(graph, {"messages": [HumanMessage(text)]})
    left = [message.text for message in graph.get_state(config()).values["messages"]]
    read = turns_read(engine)
    assert len(read) == len(set(read))
    pruned = [text for text in FACTS if text not in left]
    assert len(pruned) >= 3
    assert [line.removeprefix("user: ") for line in read if line.startswith("user: ")] == pruned
    assert set(pruned) <= set(contents(engine))


@pytest.mark.parametrize("saver", ["memory", "sqlite"])
def test_a_new_process_does_not_read_pruned_turns_again(saver: str, engine: MemoryEngine, tmp_path: Path) -> None:
    with opened_saver(saver, tmp_path) as kept:
        for text in FACTS:
            chat(engine, kept).invoke({"messages": [HumanMessage(text)]}, config())
    read = turns_read(engine)
    assert len(read) == len(set(read)) >= 4


def test_turns_pruned_again_because_the_checkpoint_was_not_written_are_not_read_again() -> None:
    engine = engine_over(extractor=Counting())
    reducer = reducing(engine.on_prune, max_messages=2, dedupe_on_prune=False)
    talk = [HumanMessage(text, id=str(at)) for at, text in enumerate(FACTS[:3])]
    for _ in range(3):
        reducer.reduce(talk, [], namespace=ANA)
    assert turns_read(engine) == ["user: I like tea", "user: I live in Porto"]


def test_the_namespace_of_the_run_is_handed_on(engine: MemoryEngine) -> None:
    graph = chat(engine, InMemorySaver())
    for text in FACTS:
        graph.invoke({"messages": [HumanMessage(text)]}, config("ana"))
    for text in FACTS:
        graph.invoke({"messages": [HumanMessage(f"Ben here: {text}")]}, config("ben", "t2"))
    assert not any(text.startswith("Ben here") for text in contents(engine, ANA))
    assert any(text.startswith("Ben here") for text in contents(engine, ("memories", "ben")))


def test_a_missing_namespace_is_an_error_that_the_reducer_reports(caplog: pytest.LogCaptureFixture) -> None:
    engine = engine_over()
    reducer = reducing(engine.on_prune)
    with caplog.at_level(logging.WARNING):
        reducer.reduce([HumanMessage("I like tea"), HumanMessage("I have a dog")], [], namespace=None)
    assert "on_prune got no namespace" in caplog.text
    assert engine.counts() == {}


def test_turns_that_could_not_be_read_are_read_when_they_come_again() -> None:
    engine = engine_over(extractor=Counting())
    engine.extractor.fails = TimeoutError("down")
    talk = [HumanMessage("I like tea", id="1"), HumanMessage("I have a dog", id="2")]
    reducer = reducing(engine.on_prune, dedupe_on_prune=False)
    reducer.reduce(talk, [], namespace=ANA)
    engine.extractor.fails = None
    reducer.reduce(talk, [], namespace=ANA)
    assert contents(engine) == ["I like tea"]


def test_the_hook_works_off_the_request_path() -> None:
    engine = engine_over()
    with Background(engine.on_prune) as hook:
        reducing(hook).reduce([HumanMessage("I like tea"), HumanMessage("I have a dog")], [], namespace=ANA)
    assert contents(engine) == ["I like tea"]
