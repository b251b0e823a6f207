"""Which turns were read is a matter of turns and speakers, never of positions, id shapes or counts of messages."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_fixture import ANA, STORES, TEMPLATE, Counting, config, engine_on
from engine_fixture import swap
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from mnemoscope import MemoryEngine, MissingNamespaceError, ModelError, NamespaceTemplate, StoreError

BOB = ("memories", "bob")


@pytest.fixture(params=STORES)
def engine(request: Any, tmp_path: Path) -> Iterator[MemoryEngine]:
    with engine_on(request.param, tmp_path) as made:
        swap(made, extractor=Counting())
        yield made


def lines_read(engine: MemoryEngine) -> list[str]:
    """What the extractor was shown, line by line, in order, whoever said it."""
    return [
        line.removeprefix("user: ").removeprefix("assistant: ")
        for text in engine.context.extractor.texts
        for line in text.splitlines()
    ]


def remember(
    engine: MemoryEngine, messages: list[Any], user: str = "ana", thread: str | None = "t1", **how: Any
) -> None:
    node = engine.agents.remember_node(namespace=TEMPLATE, **how)
    settings = config(user, thread or "")
    if thread is None:
        del settings["configurable"]["thread_id"]
    node.invoke({"messages": messages}, settings)


def failing(*_: Any) -> Any:
    raise ModelError("down", failure="provider_error")


def with_new_ids(*texts: str) -> list[Any]:
    kinds = itertools.cycle((HumanMessage, AIMessage))
    return [kind(text, id=str(uuid.uuid4())) for kind, text in zip(kinds, texts, strict=False)]


def without_ids(*texts: str) -> list[Any]:
    return [("user" if at % 2 == 0 else "assistant", text) for at, text in enumerate(texts)]


def test_what_was_said_before_fifty_tool_calls_is_read(engine: MemoryEngine) -> None:
    messages: list[Any] = [HumanMessage("I am allergic to peanuts")]
    for number in range(50):
        messages.append(AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": str(number)}]))
        messages.append(ToolMessage("nothing", tool_call_id=str(number)))
    remember(engine, messages)
    assert lines_read(engine) == ["I am allergic to peanuts"]


def test_no_turn_is_out_of_reach_after_an_outage_however_long(engine: MemoryEngine) -> None:
    reading = engine.context.extractor
    swap(engine, extractor=failing)
    said: list[Any] = []
    for number in range(60):
        said += with_new_ids(f"Fact {number}", f"Answer {number}")
        remember(engine, said)
    swap(engine, extractor=reading)
    remember(engine, said)
    assert lines_read(engine)[0] == "Fact 0"
    assert len(lines_read(engine)) == 120
    remember(engine, [*said, *with_new_ids("One more")])
    assert lines_read(engine)[120:] == ["One more"]


@pytest.mark.parametrize("write", [with_new_ids, without_ids])
@pytest.mark.parametrize("thread", ["t1", None])
def test_a_client_that_sends_the_whole_conversation_each_time_is_read_once(
    engine: MemoryEngine, write: Callable[..., list[Any]], thread: str | None
) -> None:
    texts = [f"Line {number}" for number in range(10)]
    for end in range(2, 11, 2):
        remember(engine, write(*texts[:end]), thread=thread)
    assert lines_read(engine) == texts


@pytest.mark.parametrize("write", [with_new_ids, without_ids])
def test_a_client_that_sends_its_last_turns_is_read_once(engine: MemoryEngine, write: Callable[..., list[Any]]) -> None:
    texts = [f"Line {number}" for number in range(30)]
    for end in range(2, 31, 2):
        remember(engine, write(*texts[max(0, end - 8) : end]), thread=None)
    assert lines_read(engine) == texts


def test_the_same_words_in_another_place_are_new(engine: MemoryEngine) -> None:
    said = with_new_ids("Any plans?", "Tell me yours.", "No.", "Fine.")
    remember(engine, said)
    said += with_new_ids("I moved to Rome.", "Anything else?", "No.", "Fine.")
    remember(engine, said)
    assert lines_read(engine)[4:] == [
        "I moved to Rome.", "Anything else?", "No.", "Fine."
    ]  # fmt: skip


def test_two_conversations_may_begin_alike(engine: MemoryEngine) -> None:
    for _ in range(2):
        remember(engine, without_ids("I live in Hanoi"), thread=None)
    for thread in ("t1", "t2"):
        remember(engine, without_ids("I live in Hanoi"), thread=thread)
    assert lines_read(engine) == ["I live in Hanoi"] * 4


@pytest.mark.parametrize("id", ["m1", "m7'", "1", "a1", "x" * 200])
def test_an_id_may_look_like_anything(engine: MemoryEngine, id: str) -> None:
    for _ in range(3):
        remember(engine, [HumanMessage("I live in Hanoi", id=id)], thread=None)
    assert lines_read(engine) == ["I live in Hanoi"]


def test_a_conversation_that_was_never_read_can_be_begun_at_its_last_turns(engine: MemoryEngine) -> None:
    old = with_new_ids(*(f"Line {number}" for number in range(6)))
    remember(engine, old, turns=2)
    assert lines_read(engine) == ["Line 4", "Line 5"]
    remember(engine, [*old, *with_new_ids("Line 6", "Line 7", "Line 8")], turns=2)
    assert [line[-1] for line in lines_read(engine)] == ["4", "5", "6", "7", "8"]


def test_what_one_person_said_on_a_shared_thread_is_not_remembered_as_anothers(engine: MemoryEngine) -> None:
    said = with_new_ids("I am allergic to peanuts", "Noted.")
    remember(engine, said, "ana")
    said += with_new_ids("What shall we cook?", "Soup.")
    remember(engine, said, "bob")
    said += with_new_ids("I hate soup", "Stew then.")
    remember(engine, said, "ana")
    assert {record.content for record in engine.list(BOB)} == {"Soup.", "What shall we cook?"}
    assert lines_read(engine) == [
        "I am allergic to peanuts", "Noted.", "What shall we cook?", "Soup.",
        "I hate soup", "Stew then.",
    ]  # fmt: skip


def test_turns_that_could_not_be_read_stay_with_who_said_them(engine: MemoryEngine) -> None:
    reading = engine.context.extractor
    swap(engine, extractor=failing)
    said = with_new_ids("I am allergic to peanuts", "Noted.")
    remember(engine, said, "ana")
    swap(engine, extractor=reading)
    said += with_new_ids("What shall we cook?", "Soup.")
    remember(engine, said, "bob")
    assert lines_read(engine) == ["What shall we cook?", "Soup."]
    remember(engine, said, "ana")
    assert lines_read(engine)[2:] == ["I am allergic to peanuts", "Noted."]


def test_turns_that_are_handed_over_are_those_of_who_speaks(engine: MemoryEngine) -> None:
    taken: list[Any] = []
    said = with_new_ids("I am allergic to peanuts", "Noted.")
    remember(engine, said, "ana", submit=lambda *given: taken.append(given))
    said += with_new_ids("What shall we cook?", "Soup.")
    remember(engine, said, "bob", submit=lambda *given: taken.append(given))
    assert [([each.text for each in turns], where, thread) for turns, where, thread in taken] == [
        (["I am allergic to peanuts", "Noted."], ANA, "t1"),
        (["What shall we cook?", "Soup."], BOB, "t1"),
    ]


def test_turns_are_handed_over_where_the_store_does_not_answer(engine: MemoryEngine, monkeypatch: Any) -> None:
    def down(*_: Any) -> Any:
        raise StoreError("down")

    taken: list[Any] = []
    monkeypatch.setattr(type(engine.context.adapter), "get", down)
    remember(engine, with_new_ids("I like tea", "Noted."), submit=lambda *given: taken.append(given))
    assert [each.text for each in taken[0][0]] == ["I like tea", "Noted."]


def test_a_memory_that_all_share_reads_every_speaker(engine: MemoryEngine) -> None:
    node = engine.agents.remember_node(namespace=NamespaceTemplate(("team",), shared=True))
    said = with_new_ids("I am allergic to peanuts", "Noted.")
    node.invoke({"messages": said}, config("ana"))
    node.invoke({"messages": [*said, *with_new_ids("I hate soup", "Stew then.")]}, config("bob"))
    assert len(lines_read(engine)) == 4


def test_the_speaker_may_be_named(engine: MemoryEngine) -> None:
    said = [HumanMessage("I am allergic to peanuts", name="ana"), HumanMessage("I hate soup", name="bob")]
    node = engine.agents.remember_node(namespace=TEMPLATE, speaker="user_id")
    node.invoke({"messages": said}, config("bob"))
    assert lines_read(engine) == ["I hate soup"]
    other = engine.agents.remember_node(namespace=TEMPLATE, speaker="who")
    with pytest.raises(MissingNamespaceError, match=r"config\['configurable'\]\['who'\] is None"):
        other.invoke({"messages": said}, config("bob"))
