"""Browse shows where a memory comes from: the turn in its conversation, and what else that turn led to."""

from __future__ import annotations

from collections.abc import Callable

from engine_fixture import engine_over, facts, memory_store
from mnemoscope import MemoryConfig, MemoryEngine, Message
from streamlit.testing.v1 import AppTest

from app.views.browse.evidence import forget_key

Dashboard = Callable[..., AppTest]
ANA = ("memories", "ana")
TALK = [Message(f"m{at}", "user", f"This is turn {at}.") for at in range(1, 9)]


def told(**options: object) -> MemoryEngine:
    """An engine that took two facts out of turn 4, one of them hostile."""
    found = facts("likes tea", "**bold** http://example.invalid", message_ids=["m4"], quote="turn 4")
    engine = engine_over(memory_store(), extractor=lambda _: found, **options)
    engine.remember(TALK, ANA, source="chat-1")
    return engine


def evidence(dashboard: Dashboard, engine: MemoryEngine, start: str) -> AppTest:
    key = next(record.key for record in engine.list(ANA) if record.content.startswith(start))
    query = {"ns": list(ANA), "b_key": key, "b_in": list(ANA)}
    test = dashboard(engine, "browse", query=query)
    assert not test.exception
    return test


def test_the_turn_stands_among_those_around_it(dashboard: Dashboard) -> None:
    shown = [element.value for element in evidence(dashboard, told(), "likes tea").text]
    turns = [text for text in shown if text.startswith("User: This is turn")]
    assert turns == [f"User: This is turn {at}." for at in range(2, 7)]
    assert any(text.startswith("Taken out by") for text in shown)


def test_the_day_that_was_spoken_of_and_the_way_to_take_the_run_back_are_shown(dashboard: Dashboard) -> None:
    found = facts("moved to Porto", message_ids=["m4"], quote="turn 4", date="2025-03")
    engine = engine_over(memory_store(), extractor=lambda _: found)
    [record] = engine.remember(TALK, ANA, source="chat-1")
    assert [each.date for each in record.evidence] == ["2025-03"]
    test = evidence(dashboard, engine, "moved to Porto")
    assert any("speaks of 2025-03 · source chat-1" in element.value for element in test.text)
    links = [element.proto for element in test.get("page_link")]
    [back] = [link for link in links if link.label == "Take back the whole run"]
    assert f"h_run={record.evidence[0].run}" in back.query_string


def test_what_else_the_turn_led_to_is_opened_by_a_click(dashboard: Dashboard) -> None:
    engine = told()
    test = evidence(dashboard, engine, "likes tea")
    assert "**bold** http://example.invalid" in [element.value for element in test.text]
    test.button(key="browse.same_turn-0-0").click().run()
    opened = test.query_params["b_key"]
    assert engine.get(ANA, opened[0] if isinstance(opened, list) else opened).content.startswith("**bold**")


def test_where_turns_are_not_kept_it_says_so(dashboard: Dashboard) -> None:
    test = evidence(dashboard, told(config=MemoryConfig(keep_transcripts=False)), "likes tea")
    assert "The turns of this conversation are not kept." in [element.value for element in test.caption]


def test_a_conversation_is_forgotten_with_its_memories_after_they_were_shown(dashboard: Dashboard) -> None:
    engine = told()
    key = next(record.key for record in engine.list(ANA) if record.content.startswith("likes"))
    query = {"ns": list(ANA), "b_key": key, "b_in": list(ANA)}
    test = dashboard(engine, "browse", query=query, writing=True, state={"browse.conversation-0": True})
    assert "**2 memories rest on this conversation alone**" in [element.value for element in test.markdown]
    test.button(key=forget_key(0)).click().run()
    assert not test.exception
    assert engine.list(ANA) == []
    assert engine.runs.list(ANA)[0].messages == ()
    assert {change.actor for change in engine.history(ANA, limit=2)} == {"tester"}


def test_while_writing_is_off_no_conversation_is_forgotten(dashboard: Dashboard) -> None:
    test = evidence(dashboard, told(), "likes tea")
    assert not [button for button in test.button if button.key == forget_key(0)]
