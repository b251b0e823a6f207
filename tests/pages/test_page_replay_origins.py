"""Replay reads threads of checkpoints, takes several conversations in sequence, and saves expected outcomes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from langgraph.checkpoint.sqlite import SqliteSaver
from mnemoscope import MemoryEngine, Message
from mnemoscope.conversations import Transcript, load_samples, read_sample
from streamlit.testing.v1 import AppTest

from app.views.replay.plan import plan
from app.views.replay.plan.plan import list_expected
from app.views.replay.plan.run import Run
from app.views.replay.setting import PLAN_KEY
from app.views.replay.source import thread as replay_thread
from app.views.replay.source import upload
from app.views.replay.source.conversation import ALL_KEY, ORIGIN_KEY, join_transcripts

Dashboard = Callable[..., AppTest]
EVE = ("memories", "eve")
LYON = {"p_sample": "ana-moves-to-lyon", "ns": list(EVE)}


@pytest.fixture
def checkpoints(tmp_path: Path) -> Path:
    """A file of checkpoints that holds two threads of an agent."""
    path = tmp_path / "checkpoints.sqlite"
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        agent = create_agent(FakeListChatModel(responses=["I see."]), checkpointer=SqliteSaver(connection))
        for thread, said in (("one", "I play the cello."), ("<b>two</b>", "I live in Oslo.")):
            agent.invoke({"messages": [("user", said)]}, {"configurable": {"thread_id": thread}})
    return path


def threads(dashboard: Dashboard, engine: MemoryEngine, place: object) -> AppTest:
    state = {ORIGIN_KEY: "thread", replay_thread.PLACE_KEY: str(place), "replay.opened_places": (str(place),)}
    test = dashboard(engine, "replay", query={"ns": list(EVE)}, writing=True, state=state)
    assert not test.exception
    return test


def planned(test: AppTest) -> AppTest:
    test.button(key=PLAN_KEY).click().run()
    assert not test.exception
    return test


def run_of(test: AppTest) -> Run:
    run = test.session_state["replay.run"]
    assert isinstance(run, Run)
    return run


def contents(engine: MemoryEngine) -> set[str]:
    return {record.content for record in engine.list(EVE)}


def test_a_thread_is_replayed_and_its_memories_lead_back_to_their_turns(
    dashboard: Dashboard, empty_engine: MemoryEngine, checkpoints: Path
) -> None:
    before = checkpoints.read_bytes()
    test = threads(dashboard, empty_engine, checkpoints)
    test.selectbox(key=replay_thread.THREAD_KEY).set_value("one").run()
    planned(test).button(key=plan.COMMIT_KEY).click().run()
    [record] = empty_engine.list(EVE)
    assert (record.content, record.evidence[0].source) == ("User plays the cello", "thread/one")
    run = empty_engine.runs.get(record.evidence[0].run or "")
    assert [turn.text for turn in run.turns_of_memory(record.key)] == ["I play the cello."]
    assert checkpoints.read_bytes() == before


def test_place_search_and_thread_are_taken_from_the_url(
    dashboard: Dashboard, empty_engine: MemoryEngine, checkpoints: Path
) -> None:
    linked = {"p_from": "thread", "p_place": str(checkpoints), "p_thread": "one"}
    test = dashboard(empty_engine, "replay", query={"ns": list(EVE), **linked})
    assert test.selectbox(key=replay_thread.THREAD_KEY).value == "one"
    found = dashboard(empty_engine, "replay", query={"ns": list(EVE), **linked, "p_find": "OSLO"})
    assert found.selectbox(key=replay_thread.THREAD_KEY).value == "<b>two</b>"
    none = dashboard(empty_engine, "replay", query={"ns": list(EVE), **linked, "p_find": "nobody said so"})
    assert "No thread holds these words." in [each.value for each in none.caption]


def test_older_threads_are_read_page_by_page_and_one_that_is_linked_at_once(
    dashboard: Dashboard, empty_engine: MemoryEngine, checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_thread, "THREADS", 1)
    test = threads(dashboard, empty_engine, checkpoints)
    assert len(test.selectbox(key=replay_thread.THREAD_KEY).options) == 1
    test.button(key=replay_thread.MORE_KEY).click().run()
    assert not test.exception
    assert len(test.selectbox(key=replay_thread.THREAD_KEY).options) == 2
    assert not [each for each in test.button if each.key == replay_thread.MORE_KEY]
    linked = {"p_from": "thread", "p_place": str(checkpoints), "p_thread": "one"}
    test = dashboard(empty_engine, "replay", query={"ns": list(EVE), **linked})
    assert test.selectbox(key=replay_thread.THREAD_KEY).value == "one"


def test_a_database_that_a_link_names_is_not_opened_unasked(
    dashboard: Dashboard, empty_engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(replay_thread, "open_checkpointer", lambda place: opened.append(place))
    query = {"ns": list(EVE), "p_from": "thread", "p_place": "postgresql://me:${HOME}@example.invalid/db"}
    test = dashboard(empty_engine, "replay", query=query)
    assert not test.exception
    assert opened == []
    assert test.button(key=replay_thread.OPEN_KEY)


@pytest.mark.parametrize(
    ("place", "is_shared"),
    [
        ("postgresql://me:${PGPASSWORD}@127.0.0.1:1/db", True),
        ("postgresql://me@127.0.0.1:1/db", True),
        ("postgresql://me:secret@127.0.0.1:1/db", False),
        ("postgresql://me:a${B}@127.0.0.1:1/db", False),
        ("postgresql://127.0.0.1:1/db?password=secret", False),
    ],
)
def test_a_password_that_was_typed_in_does_not_stand_in_the_url(
    dashboard: Dashboard, empty_engine: MemoryEngine, place: str, is_shared: bool
) -> None:
    test = dashboard(empty_engine, "replay", query={"ns": list(EVE), "p_from": "thread"})
    test.text_input(key=replay_thread.PLACE_KEY).set_value(place).run()
    assert (replay_thread.PLACE_KEY in test.query_params) is is_shared


@pytest.mark.parametrize("place", ["gone.sqlite", "postgresql://me@${HOME}/db", "postgresql://nobody@127.0.0.1:1/x"])
def test_checkpoints_that_cannot_be_read_are_said_to_be_so(
    dashboard: Dashboard, empty_engine: MemoryEngine, tmp_path: Path, place: str
) -> None:
    test = threads(dashboard, empty_engine, place if "://" in place else tmp_path / place)
    assert len(test.error) == 1
    assert test.button(key=PLAN_KEY).disabled


def test_a_viewer_opens_no_checkpoints(
    dashboard: Dashboard, empty_engine: MemoryEngine, checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOSCOPE_ROLE", "viewer")
    test = threads(dashboard, empty_engine, checkpoints)
    assert "Your role is viewer, and checkpoints are opened by an editor." in [each.value for each in test.caption]


def test_all_conversations_of_a_file_are_one_plan_in_their_order(
    dashboard: Dashboard, empty_engine: MemoryEngine
) -> None:
    talks = ("I live in Oslo.", "I moved to Rome.")
    lines = "\n".join(json.dumps({"messages": [{"role": "user", "content": text}]}) for text in talks)
    test = dashboard(empty_engine, "replay", query={"ns": list(EVE)}, writing=True, state={ORIGIN_KEY: "upload"})
    test.file_uploader(key=upload.UPLOAD_KEY).set_value(("talks.jsonl", lines.encode(), "")).run()
    test.checkbox(key=ALL_KEY).check().run()
    planned(test)
    ids = [message.id.partition("/")[0] for message in run_of(test).plan.messages]
    assert ids == ["conversation-1", "conversation-2"]
    test.button(key=plan.COMMIT_KEY).click().run()
    assert {change.group for change in empty_engine.history(EVE)} == {run_of(test).group}
    assert contents(empty_engine)


def test_all_samples_of_a_person_are_one_plan(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    test = dashboard(empty_engine, "replay", query=LYON)
    test.checkbox(key=ALL_KEY).check().run()
    planned(test)
    assert len({message.id.partition("/")[0] for message in run_of(test).plan.messages}) > 2


def test_joined_conversations_keep_their_turns_apart_and_their_counts() -> None:
    one = Transcript((Message("m1", "user", "a"),), {"image": 1}, ("n1",))
    two = Transcript((Message("m1", "user", "b"),), {"image": 2}, ("n2",))
    both = join_transcripts([("one", one), ("two", two)])
    assert [message.id for message in both.messages] == ["one/m1", "two/m1"]
    assert (dict(both.left_out), both.notes) == ({"image": 3}, ("n1", "n2"))


def test_what_a_plan_leaves_is_offered_as_the_expected_outcome(
    dashboard: Dashboard, empty_engine: MemoryEngine
) -> None:
    test = planned(dashboard(empty_engine, "replay", query=LYON))
    sample = next(each for each in load_samples(datetime.now(UTC)) if each.id == "ana-moves-to-lyon")
    assert sorted(each.content for each in list_expected(run_of(test).plan)) == sorted(
        each.content for each in sample.expected
    )
    empty_engine.apply(run_of(test).plan)
    again = empty_engine.plan(list(sample.messages), EVE)
    assert {each.content for each in list_expected(again)} == {each.content for each in sample.expected}


def test_a_saved_outcome_is_read_again() -> None:
    text = json.dumps({
        "id": "x", "title": "x", "description": "", "namespace": ["memories", "eve"], "not_expected": [],
        "messages": [{"id": "m1", "role": "user", "text": "I sing.", "name": None, "said_at": None}],
        "expected": [{"content": "User sings", "action": "insert", "replaces": None}],
    })  # fmt: skip
    read = read_sample(text, datetime.now(UTC))
    assert [(message.id, message.text) for message in read.messages] == [("m1", "I sing.")]
