"""Checkpoints of several versions of LangGraph, in several shapes, and one that nobody can read beside the others."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, TypedDict

import psycopg
import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from mnemoscope import StoreError
from mnemoscope.conversations import Conversation, list_threads, open_checkpointer, read_thread
from stores_fixture import postgres_database

FOLDER = Path(__file__).parent / "checkpoints"
VERSIONS = sorted(path.stem for path in FOLDER.glob("*.sql"))
TALKS = {
    "ana": ["I live in Lisbon.", "Noted, number 1.", "I am allergic to peanuts.", "Noted, number 3."],
    "ben": ["I work as a nurse.", "Noted, number 1."],
}


def opened(version: str, folder: Path) -> str:
    """The place of a database that a saver of that version wrote."""
    dump = (FOLDER / f"{version}.sql").read_text(encoding="utf-8")
    if version.startswith("sqlite"):
        path = folder / "threads.sqlite"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(dump)
        return str(path)
    url = postgres_database("v_" + version.replace("-", "_").replace(".", "_"))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(dump.encode())
    return url


def texts(conversation: Conversation) -> list[str]:
    return [each.text for each in conversation.messages]


@pytest.mark.parametrize("version", VERSIONS)
def test_threads_of_every_version_are_listed_and_read(version: str, tmp_path: Path) -> None:
    with open_checkpointer(opened(version, tmp_path)) as saver:
        threads = {each.id for each in list_threads(saver)}
        assert threads == set(TALKS)
        assert {thread: texts(read_thread(saver, thread)) for thread in TALKS} == TALKS


@pytest.mark.parametrize("version", [each for each in VERSIONS if each.startswith("sqlite")])
def test_looking_changes_no_byte_of_an_old_file(version: str, tmp_path: Path) -> None:
    place = opened(version, tmp_path)
    before = Path(place).read_bytes()
    with open_checkpointer(place) as saver:
        list_threads(saver)
        read_thread(saver, "ana")
    assert Path(place).read_bytes() == before


class Plain(TypedDict):
    messages: Annotated[list[Any], lambda old, new: [*(old or []), *new]]


SHAPES: dict[str, list[Any]] = {
    "dicts": [{"role": "user", "content": "I live in Lisbon."}, {"role": "assistant", "content": "Noted."}],
    "tuples": [("user", "I live in Lisbon."), ("assistant", "Noted.")],
    "messages": [HumanMessage("I live in Lisbon."), AIMessage("Noted.")],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_messages_of_every_shape_are_read(shape: str, tmp_path: Path) -> None:
    graph = StateGraph(Plain)
    graph.add_node("answer", lambda _: {"messages": SHAPES[shape][1:]})
    graph.add_edge(START, "answer")
    place = str(tmp_path / "threads.sqlite")
    with SqliteSaver.from_conn_string(place) as saver:
        graph.compile(checkpointer=saver).invoke(
            {"messages": SHAPES[shape][:1]}, {"configurable": {"thread_id": "ana"}}
        )
    with open_checkpointer(place) as saver:
        assert texts(read_thread(saver, "ana")) == ["I live in Lisbon.", "Noted."]


def test_a_conversation_within_a_subgraph_is_read(tmp_path: Path) -> None:
    inner = StateGraph(MessagesState)
    inner.add_node("answer", lambda _: {"messages": [AIMessage("Noted.")]})
    inner.add_edge(START, "answer")

    class Outer(TypedDict):
        asked: str

    agent = inner.compile(checkpointer=True)

    def ask(state: Outer) -> dict[str, Any]:
        agent.invoke({"messages": [HumanMessage(state["asked"])]})
        return {}

    outer = StateGraph(Outer)
    outer.add_node("ask", ask)
    outer.add_edge(START, "ask")
    place = str(tmp_path / "threads.sqlite")
    with SqliteSaver.from_conn_string(place) as saver:
        outer.compile(checkpointer=saver).invoke({"asked": "I live in Lisbon."}, {"configurable": {"thread_id": "ana"}})
    with open_checkpointer(place) as saver:
        assert texts(read_thread(saver, "ana")) == ["I live in Lisbon.", "Noted."]


@pytest.mark.parametrize("damage", [b"", b"\x00\xff", b"\xc1garbage"], ids=["empty", "another value", "garbage"])
def test_a_thread_that_cannot_be_read_is_named_and_the_others_stay(damage: bytes, tmp_path: Path) -> None:
    place = opened("sqlite-3.1.1", tmp_path)
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("UPDATE checkpoints SET checkpoint = ? WHERE thread_id = 'ana'", (damage,))
        connection.commit()
    with open_checkpointer(place) as saver:
        threads = {each.id: each for each in list_threads(saver)}
        assert set(threads) == set(TALKS)
        assert texts(read_thread(saver, "ben")) == TALKS["ben"]
        assert threads["ben"].unreadable is None
        assert "Its bytes are damaged" in (threads["ana"].unreadable or "")
        with pytest.raises(StoreError, match=r"The thread .*ana.* cannot be read"):
            read_thread(saver, "ana")
