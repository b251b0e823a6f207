"""Threads of checkpointers: a real agent talks, and its threads are read, replayed, and left as they were."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from mnemoscope import (
    ConfigurationError,
    InputError,
    MemoryEngine,
    NotFoundError,
    StoreError,
    StoreUnavailableError,
)
from mnemoscope.conversations import Thread, list_threads, open_checkpointer, read_thread
from stores_fixture import postgres_database

TALKS = {
    "ana": ["Hi! I live in Lisbon.", "I'm allergic to peanuts.", "Thanks, bye!"],
    "ben": ["I work as a nurse in Oslo."],
    "cleo": ["  What is the\ncapital of France?  "],
}


def talk(saver: BaseCheckpointSaver[Any], thread_id: str, *turns: str) -> None:
    """Say these turns to a compiled agent on this thread."""
    agent = create_agent(FakeListChatModel(responses=["I see."]), checkpointer=saver)
    for turn in turns:
        agent.invoke({"messages": [HumanMessage(turn)]}, {"configurable": {"thread_id": thread_id}})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """An SQLite file of checkpoints that holds `TALKS`, closed again."""
    path = tmp_path / "threads and more.sqlite"
    with SqliteSaver.from_conn_string(str(path)) as saver:
        for thread_id, turns in TALKS.items():
            talk(saver, thread_id, *turns)
    return path


@pytest.fixture(scope="module")
def database() -> str:
    """The URL of a PostgreSQL database of checkpoints that holds `TALKS`."""
    url = postgres_database("threads")
    with PostgresSaver.from_conn_string(url) as saver:
        saver.setup()
        for thread_id, turns in TALKS.items():
            talk(saver, thread_id, *turns)
    return url


@pytest.fixture(params=["sqlite", "postgres", "memory"])
def saver(request: pytest.FixtureRequest) -> Iterator[BaseCheckpointSaver[Any]]:
    """A checkpointer that holds `TALKS`: a file or a database opened for reading, or one in memory."""
    if request.param != "memory":
        place = request.getfixturevalue({"sqlite": "file", "postgres": "database"}[request.param])
        with open_checkpointer(str(place)) as opened:
            yield opened
        return
    kept = InMemorySaver()
    for thread_id, turns in TALKS.items():
        talk(kept, thread_id, *turns)
    yield kept


def test_threads_are_listed_latest_first_with_their_size_and_first_words(saver: BaseCheckpointSaver[Any]) -> None:
    threads = list_threads(saver)
    assert [(each.id, each.message_count, each.opening) for each in threads] == [
        ("cleo", 2, "What is the capital of France?"),
        ("ben", 2, "I work as a nurse in Oslo."),
        ("ana", 6, "Hi! I live in Lisbon."),
    ]
    times = [each.last_at for each in threads if each.last_at]
    assert times == sorted(times, reverse=True)
    assert len(times) == 3


def test_threads_are_listed_page_by_page(saver: BaseCheckpointSaver[Any]) -> None:
    found: list[str] = []
    last: Thread | None = None
    while page := list_threads(saver, limit=1, before=last):
        last = page[-1]
        found.append(last.id)
    assert found == ["cleo", "ben", "ana"]


@pytest.mark.parametrize(
    ("contains", "found"), [("LISBON", ["ana"]), ("i see", ["cleo", "ben", "ana"]), ("CLE", ["cleo"]), ("nobody", [])]
)
def test_threads_are_found_by_their_name_and_by_what_was_said(
    saver: BaseCheckpointSaver[Any], contains: str, found: list[str]
) -> None:
    assert [each.id for each in list_threads(saver, contains=contains)] == found


def test_a_thread_with_more_checkpoints_than_a_page_hides_no_other(tmp_path: Path) -> None:
    with SqliteSaver.from_conn_string(str(tmp_path / "long.sqlite")) as saver:
        talk(saver, "old", "Hello.")
        talk(saver, "long", *["And then?"] * 30)
        threads = list_threads(saver)
        assert [(each.id, each.message_count) for each in threads] == [("long", 60), ("old", 2)]
        assert [each.id for each in list_threads(saver, before=threads[0])] == ["old"]
        times = [message.said_at for message in read_thread(saver, "long").messages]
        assert len(set(times)) == 60
        assert times == sorted(times, key=str)


def test_a_thread_is_read_with_the_ids_of_its_messages_and_when_each_was_said(saver: BaseCheckpointSaver[Any]) -> None:
    conversation = read_thread(saver, "ana")
    latest = saver.get_tuple({"configurable": {"thread_id": "ana"}})
    assert latest is not None
    kept = latest.checkpoint["channel_values"]["messages"]
    assert [message.id for message in conversation.messages] == [message.id for message in kept]
    assert [message.role for message in conversation.messages] == ["user", "assistant"] * 3
    times = [message.said_at for message in conversation.messages]
    assert None not in times
    assert len(set(times)) == 6
    assert (conversation.id, conversation.title, conversation.format) == ("ana", "Hi! I live in Lisbon.", "langgraph")


def test_a_message_keeps_the_time_it_tells_itself() -> None:
    kept = InMemorySaver()
    agent = create_agent(FakeListChatModel(responses=["I see."]), checkpointer=kept)
    told = HumanMessage("Hi!", additional_kwargs={"timestamp": "2020-01-02T03:04:05+00:00"})
    agent.invoke({"messages": [told]}, {"configurable": {"thread_id": "t"}})
    first, second = read_thread(kept, "t").messages
    assert first.said_at is not None
    assert second.said_at is not None
    assert (first.said_at.year, second.said_at.year > 2020) == (2020, True)


def test_only_the_messages_of_the_newest_checkpoint_are_read() -> None:
    kept = InMemorySaver()
    talk(kept, "t", "I live in Lisbon.")
    agent = create_agent(FakeListChatModel(responses=["I see."]), checkpointer=kept)
    agent.update_state(
        {"configurable": {"thread_id": "t"}},
        {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), HumanMessage("Start again.")]},
    )
    assert [message.text for message in read_thread(kept, "t").messages] == ["Start again."]


def test_reading_changes_nothing(file: Path) -> None:
    before = hashlib.sha256(file.read_bytes()).hexdigest()
    with open_checkpointer(str(file)) as saver:
        for thread in list_threads(saver):
            read_thread(saver, thread.id)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            talk(saver, "ana", "Write this down.")
    assert hashlib.sha256(file.read_bytes()).hexdigest() == before


def test_a_database_is_opened_for_reading_alone(database: str) -> None:
    with open_checkpointer(database) as saver, pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        talk(saver, "ana", "Write this down.")


def test_a_saver_that_was_not_set_up_is_not_set_up_by_reading(tmp_path: Path) -> None:
    path = tmp_path / "empty.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        saver = SqliteSaver(connection)
        with pytest.raises(StoreError, match="no such table"):
            list_threads(saver)
        assert saver.is_setup is False
    assert path.read_bytes() == b""


def test_states_of_subgraphs_are_no_threads() -> None:
    kept = InMemorySaver()
    inner = StateGraph(MessagesState)
    inner.add_node("say", lambda _: {"messages": [AIMessage("I see.")]})
    inner.add_edge(START, "say")
    outer = StateGraph(MessagesState)
    outer.add_node("inner", inner.compile(checkpointer=True))
    outer.add_edge(START, "inner")
    graph = outer.compile(checkpointer=kept)
    graph.invoke({"messages": [HumanMessage("Hello.")]}, {"configurable": {"thread_id": "t"}})
    assert {each.config["configurable"]["checkpoint_ns"] for each in kept.list(None)} > {""}
    assert [(each.id, each.message_count) for each in list_threads(kept)] == [("t", 2)]


def test_a_thread_without_messages_is_empty_and_says_so() -> None:
    kept = InMemorySaver()
    graph = StateGraph(dict)
    graph.add_node("count", lambda _: {"number": 1})
    graph.add_edge(START, "count")
    graph.compile(checkpointer=kept).invoke({}, {"configurable": {"thread_id": "t"}})
    conversation = read_thread(kept, "t")
    assert (conversation.messages, conversation.title) == ((), "t")
    assert conversation.notes == ("Its newest checkpoint holds no messages.",)


def test_wrong_threads_files_and_limits_are_named(saver: BaseCheckpointSaver[Any], tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="zoe"):
        read_thread(saver, "zoe")
    with pytest.raises(InputError, match="limit"):
        list_threads(saver, limit=0)
    with pytest.raises(StoreUnavailableError), open_checkpointer(str(tmp_path / "none.sqlite")):
        pass
    with pytest.raises(StoreUnavailableError), open_checkpointer("postgresql://127.0.0.1:1/none"):
        pass
    with pytest.raises(ConfigurationError) as caught, open_checkpointer("postgresql://u:hunter2@[/x"):
        pass
    assert "hunter2" not in str(caught.value)


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    path.write_text("Hello, I am no database at all." * 50)
    with open_checkpointer(str(path)) as saver, pytest.raises(StoreError, match="not a database"):
        list_threads(saver)


def test_what_a_thread_teaches_leads_back_to_its_messages(file: Path, empty_engine: MemoryEngine) -> None:
    with open_checkpointer(str(file)) as saver:
        conversation = read_thread(saver, "ana")
    said = {message.id: message for message in conversation.messages}
    plan = empty_engine.plan(conversation.messages, ("memories", "ana"))
    memories = empty_engine.apply(plan)
    assert sorted(memory.content for memory in memories) == ["User is allergic to peanuts", "User lives in Lisbon"]
    for memory in memories:
        [evidence] = memory.evidence
        [message_id] = evidence.message_ids
        assert evidence.quote in said[message_id].text
        assert evidence.said_at == said[message_id].said_at
    again = empty_engine.remember(conversation.messages, ("memories", "ana"))
    assert list(again) == []
