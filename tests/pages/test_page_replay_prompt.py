"""The prompt workbench: wordings kept as versions, how they differ, what they change, and which one is in use."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from mnemoscope import MemoryEngine
from mnemoscope.models import PromptBook, prompt_text, prompt_version
from mnemoscope.replay import CaseResult, Match
from openai_server import OpenAIServer, Reply, hangs, says
from streamlit.testing.v1 import AppTest

from app.components import work
from app.views.replay import prompts
from app.views.replay.compare import measure
from app.views.replay.compare.measure import verdict
from app.views.replay.prompts import AGAINST_KEY, MODEL_KEY, PURPOSE_KEY

Dashboard = Callable[..., AppTest]
WORKBENCH: dict[str, str | list[str]] = {"p_mode": "prompt"}
OWN = "Write down pets alone."
TALK = {
    "id": "cat", "title": "cat", "description": "", "namespace": ["memories", "eve"], "not_expected": [],
    "messages": [{"id": "m1", "role": "user", "text": "I have a cat.", "name": None, "said_at": None}],
    "expected": [{"content": "User has a cat", "action": "insert", "replaces": None}],
}  # fmt: skip
MATCH = Match("b", "b", 1.0)
CAT = {"content": "User has a cat", "quote": "I have a cat", "message_ids": ["m1"]}
JUNK = {"content": "User said hello to somebody", "quote": "I have a cat", "message_ids": ["m1"]}
BOAT = {"content": "User owns a boat", "quote": "my boat", "message_ids": ["m1"]}


def by_wording(answers: dict[str, list[dict[str, Any]]]) -> Reply:
    """A reply that depends on what the model is told to do."""

    def reply(handler: Any, body: dict[str, Any]) -> None:
        says({"facts": answers[body["messages"][0]["content"]]})(handler, body)

    return reply


def edited(test: AppTest, text: str = OWN) -> AppTest:
    [area] = [each for each in test.text_area if each.key and each.key.startswith("replay.prompt_text-")]
    area.set_value(text).run()
    assert not test.exception
    return test


def clicked(test: AppTest, key: str) -> AppTest:
    test.button(key=key).click().run()
    assert not test.exception
    return test


def words(test: AppTest) -> str:
    drawn = (*test.text, *test.code, *test.markdown, *test.caption, *test.error, *test.info, *test.warning)
    return "\n".join(str(element.value) for element in drawn)


def measured(test: AppTest) -> AppTest:
    test.text_input(key=MODEL_KEY).set_value("openai:test-model").run()
    return clicked(uploaded(test, TALK), measure.MEASURE_KEY)


def uploaded(test: AppTest, talk: dict[str, Any]) -> AppTest:
    upload = [("cat.json", json.dumps(talk).encode(), "application/json")]
    test.file_uploader(key=measure.FILES_KEY).set_value(upload).run()
    return test


def test_without_a_model_the_workbench_says_so_and_what_to_do(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    test = dashboard(empty_engine, "replay", query=WORKBENCH)
    assert "No model is configured here." in words(test)
    assert "`--model`" in words(test)
    assert test.button(key=measure.MEASURE_KEY).disabled
    assert "Name a model above to measure." in words(test)


def test_a_wording_is_kept_with_its_name_and_put_to_use(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    test = edited(dashboard(empty_engine, "replay", query=WORKBENCH, writing=True))
    assert test.button(key=prompts.USE_KEY).disabled
    test.text_input(key=prompts.NAME_KEY).set_value("<b>pets</b>").run()
    test.text_input(key=prompts.NOTE_KEY).set_value("too many facts").run()
    clicked(test, prompts.SAVE_KEY)
    book = PromptBook(empty_engine.adapter)
    kept = book.find(prompt_version(OWN))
    assert (kept.text, kept.name, kept.note, kept.actor) == (OWN, "<b>pets</b>", "too many facts", "tester")
    assert test.session_state[prompts.VERSION_KEY] == kept.id
    assert book.in_use().text == prompt_text("extract")
    clicked(test, prompts.USE_KEY)
    assert book.in_use() == kept
    assert "This wording is kept, and in use." in words(test)
    [table] = [frame.value for frame in test.dataframe if "version" in frame.value]
    assert list(table["version"]) == [kept.id, prompt_version(prompt_text("extract"))]
    assert list(table["in use"]) == [True, False]


def test_while_writing_is_off_nothing_is_kept(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    test = edited(dashboard(empty_engine, "replay", query=WORKBENCH))
    assert test.button(key=prompts.SAVE_KEY).disabled
    assert "Writing is off" in words(test)


def test_the_effect_of_a_wording_is_told_conversation_by_conversation(
    dashboard: Dashboard, empty_engine: MemoryEngine, model: Callable[..., OpenAIServer]
) -> None:
    answers = {prompt_text("extract"): [JUNK, BOAT], OWN: [CAT]}
    server = model(*[by_wording(answers)] * 4)
    test = measured(edited(dashboard(empty_engine, "replay", query=WORKBENCH)))
    assert "Of 1 conversation: 1 better" in words(test)
    cases, figures = (frame.value for frame in test.dataframe[:2])
    [row] = cases.to_dict("records")
    assert (row["conversation"], row["verdict"], row["before F1"], row["now F1"]) == ("cat", "better", 0.0, 1.0)
    assert (row["before unsupported"], row["now unsupported"], row["before misses"]) == (1, 0, ["User has a cat"])
    tokens = figures[figures["figure"] == "input tokens"].iloc[0]
    assert (tokens["before"], tokens["now"]) == (11, 11)
    assert len(server.requests) == 4
    assert empty_engine.counts() == {}
    of_the_same_name_and_size = {**TALK, "id": "dog"}
    assert "was another choice than this one" in words(uploaded(test, of_the_same_name_and_size))


def test_measuring_can_be_cancelled(
    dashboard: Dashboard,
    empty_engine: MemoryEngine,
    model: Callable[..., OpenAIServer],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model(hangs)
    test = edited(dashboard(empty_engine, "replay", query=WORKBENCH))
    monkeypatch.setattr(work, "PATIENCE_SECONDS", 0.05)
    measured(test)
    assert test.session_state["replay.work-measure"].is_running
    clicked(test, work.cancel_key(measure.WORK))
    assert "Cancelled before it was done. Nothing was written." in words(test)


def test_a_run_leads_to_the_wording_it_followed_and_an_unknown_one_is_told(
    dashboard: Dashboard, empty_engine: MemoryEngine
) -> None:
    book = PromptBook(empty_engine.adapter)
    kept = book.save("Judge gently.", purpose="consolidate", name="gentle", actor="mia")
    query = {**WORKBENCH, "p_purpose": "consolidate", "p_prompt": kept.id}
    test = dashboard(empty_engine, "replay", query=query)
    assert test.selectbox(key=PURPOSE_KEY).value == "consolidate"
    assert [each.value for each in test.text_area] == ["Judge gently."]
    unknown = dashboard(empty_engine, "replay", query={**WORKBENCH, "p_prompt": "0123456789ab"})
    assert "is not kept in this store" in words(unknown)
    assert unknown.selectbox(key=AGAINST_KEY).value == prompt_version(prompt_text("extract"))


@pytest.mark.parametrize(
    ("first", "second", "better"),
    [
        ({}, {}, "same"),
        ({"missed": ("a",)}, {}, "second"),
        ({}, {"failure": "empty"}, "first"),
        ({"junk": ("a",)}, {}, "second"),
        ({}, {"unsupported": 1}, "first"),
    ],
)
def test_the_better_result_is_told_by_f1_then_junk_then_support(
    first: dict[str, Any], second: dict[str, Any], better: str
) -> None:
    results = [CaseResult(**{"id": "x", "memories": ("b",), "matches": (MATCH,), "missed": (), "surplus": (), **each})
               for each in (first, second)]  # fmt: skip
    assert verdict(*results) == better
