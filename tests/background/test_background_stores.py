"""The background with its memories on each kind of store, and what happens while one of its parts is down."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from agent_fixture import ANA, STORES, TEMPLATE, WAYS, Counting, State, Way, config, engine_on
from engine_fixture import BEN, Judge, contents, lines_of, swap
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from mnemoscope import Background, InputError, MemoryEngine, StoreError
from mnemoscope.background.service import remember_once
from mnemoscope.core import Locks

SOON = {"debounce": 0.0, "workers": 0}


@pytest.fixture(params=STORES)
def engine(request: Any, tmp_path: Path) -> Iterator[MemoryEngine]:
    with engine_on(request.param, tmp_path) as made:
        yield made


def said(*texts: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text, "id": f"turn {text}"} for text in texts]


def agent_of(engine: MemoryEngine, background: Background) -> Any:
    graph = StateGraph(State)
    graph.add_node("recall", engine.recall_node(namespace=TEMPLATE))
    graph.add_node("answer", lambda _state: {"messages": [AIMessage("Noted.")]})
    graph.add_node(
        "remember", engine.agents.remember_node(namespace=TEMPLATE, submit=background.submit, into="remembered")
    )
    graph.add_edge(START, "recall")
    graph.add_edge("recall", "answer")
    graph.add_edge("answer", "remember")
    return graph.compile(checkpointer=InMemorySaver())


def test_what_two_processes_submit_to_one_queue_is_merged_and_remembered_once(
    engine: MemoryEngine, tmp_path: Path
) -> None:
    extractor = Counting()
    swap(engine, extractor=extractor)
    path = tmp_path / "queue.sqlite"
    with engine.background(path, **SOON) as one, engine.background(path, **SOON) as other:
        one.submit(said("I like tea"), ANA, "t1")
        other.submit(said("I like tea", "I live in Porto"), ANA, "t1")
        other.submit(said("I have a dog"), BEN, "t1")
        assert one.drain(30) == other.drain(30) == 0
        assert one.counts() == {"waiting": 0, "running": 0, "failed": 0, "done": 2}
    assert contents(engine) == ["I like tea", "I live in Porto"]
    assert contents(engine, BEN) == ["I have a dog"]
    assert len(extractor.texts) == 2
    assert {change.actor for change in engine.history()} == {"agent"}


def test_a_job_that_was_done_changes_nothing_when_it_comes_again(engine: MemoryEngine) -> None:
    assert remember_once(engine.context, "Tea", ANA, job="job-1") is not None
    assert remember_once(engine.context, "Coffee", ANA, job="job-1") is None
    assert contents(engine) == ["Tea"]


def test_of_two_who_do_one_job_at_the_same_time_one_writes(engine: MemoryEngine) -> None:
    def meanwhile(text: str) -> list[Any]:
        other = MemoryEngine(engine.store, extractor=lines_of, consolidator=Judge())
        swap(other, locks=Locks())
        assert remember_once(other.context, "Tea by the other", ANA, job="job-1") is not None
        return lines_of(text)

    swap(engine, extractor=meanwhile)
    assert remember_once(engine.context, "Tea by the first", ANA, job="job-1") is None
    assert contents(engine) == ["Tea by the other"]


def test_workers_serve_every_user_of_many_that_submit_at_once(engine: MemoryEngine) -> None:
    with engine.background(None, debounce=0, workers=2) as background:
        threads = [
            threading.Thread(target=background.submit, args=(said(f"Fact {number}"), ("memories", f"u{number % 7}")))
            for number in range(40)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert background.drain(60) == 0
    assert sum(engine.counts().values()) == 40


@pytest.mark.parametrize("way", WAYS)
def test_the_agent_goes_on_while_the_store_is_down_and_the_work_is_queued(
    engine: MemoryEngine, way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    with engine.background(None, debounce=0, workers=0, attempts=3, backoff=0.0) as background:
        agent = agent_of(engine, background)

        def down(*_arguments: Any, **_options: Any) -> Any:
            raise StoreError("the store is down")

        with monkeypatch.context() as broken:
            for name in ("get", "load", "token", "write", "search_each"):
                broken.setattr(engine.adapter, name, down)
            result = way(agent, {"messages": [HumanMessage("I like tea")]}, config())
            assert "cannot be read" in result["memory"]
            assert result["messages"][-1].text == "Noted."
            assert result["remembered"] == "Handed over to be remembered."
            background.drain(0.2)
            (job,) = background.jobs()
            assert job.state in ("waiting", "failed")
            assert "the store is down" in job.error
        if job.state == "failed":
            background.retry(job.id)
        background.flush()
        assert background.drain(30) == 0
    assert "I like tea" in contents(engine)


def test_marks_are_dropped_only_once_they_are_old_and_counted(engine: MemoryEngine) -> None:
    now = engine.context.clock()
    with engine.background(None, **SOON) as background:
        background.submit(said("I like tea", "I live in Porto"), ANA, "t1")
        background.drain(30)
    assert engine.curation.trim_marks(timedelta(days=1)) == 0
    with pytest.raises(InputError, match="kept for"):
        engine.curation.trim_marks(timedelta(hours=1))
    swap(engine, clock=lambda: now + timedelta(days=40))
    counted = engine.curation.trim_marks(timedelta(days=30))
    assert (counted, counted.is_done) == (4, False)  # the job, the first turn by its id, the second by its place too
    with pytest.raises(InputError, match="confirm=4"):
        engine.curation.trim_marks(timedelta(days=30), confirm=2)
    assert engine.curation.trim_marks(timedelta(days=30), confirm=4).is_done
    assert engine.curation.trim_marks(timedelta(days=30)) == 0
    assert contents(engine) == ["I like tea", "I live in Porto"]
    assert len(engine.remember(said("I like tea"), ANA, once=True)) == 0
