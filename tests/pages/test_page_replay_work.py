"""Replay works beside the page: a model by the real client, a cancel that frees it, and a column that is committed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from engine_fixture import facts
from mnemoscope import ExtractedFact, MemoryEngine
from mnemoscope.extraction import REASONS, Extraction, Withheld
from openai_server import OpenAIServer, hangs, says
from streamlit.testing.v1 import AppTest

from app.components import work
from app.components.work import cancel_key
from app.views.replay.compare import columns, compare, setups
from app.views.replay.plan import plan, run, summary
from app.views.replay.setting import MODE_KEY, PLAN_KEY

Dashboard = Callable[..., AppTest]
EVE = ("memories", "eve")
SAMPLE = {"p_sample": "ana-moves-to-lyon", "ns": list(EVE)}
COMPARE = {**SAMPLE, "p_mode": "compare"}

SAID = [
    {
        "content": "Ana left Farfetch for Ubisoft in March",
        "categories": ["work"],
        "importance": 0.8,
        "quote": "I also left Farfetch for Ubisoft",
        "message_ids": [],
        "subject": "Ana",
        "date": "2025-03",
    },
    {"content": "Ana owns a boat", "quote": "my boat", "message_ids": [], "subject": "Ana"},
]


class Doubtful:
    """An extractor that gives one fact and holds one back."""

    label = "doubtful"

    def extract(self, _messages: object) -> Extraction:
        invented = ExtractedFact(content="Ana owns <b>a boat</b>", quote="my boat")
        withheld = (Withheld(invented, REASONS["unsupported"]),)
        return Extraction(facts("Ana sings"), {"unsupported": 1}, withheld=withheld)


def with_model(test: AppTest, side: str) -> AppTest:
    test.selectbox(key=setups.setup_key(side, "reader")).set_value("model").run()
    test.text_input(key=setups.setup_key(side, "model")).set_value("openai:test-model").run()
    return test


def clicked(test: AppTest, key: str) -> AppTest:
    test.button(key=key).click().run()
    assert not test.exception
    return test


def words(test: AppTest) -> str:
    drawn = (*test.text, *test.code, *test.markdown, *test.caption, *test.error)
    return "\n".join(str(element.value) for element in drawn)


def contents(engine: MemoryEngine) -> set[str]:
    return {record.content for record in engine.list(EVE)}


def test_a_model_stands_beside_the_rules_with_the_differences_marked(
    dashboard: Dashboard, empty_engine: MemoryEngine, model: Callable[..., OpenAIServer]
) -> None:
    server = model(says({"facts": SAID}))
    test = with_model(dashboard(empty_engine, "replay", query=COMPARE), "left")
    clicked(test, compare.COMPARE_KEY)
    shown = words(test)
    assert "Ana left Farfetch for Ubisoft in March" in shown
    assert "User left Farfetch for Ubisoft" in shown
    assert "**8 differences** in 8 facts" in shown
    assert "other text" in shown
    assert "only here" in shown
    assert "test-model" in shown
    assert "18 tokens" in shown
    assert "LLMExtractor('openai:test-model')" in shown
    assert len(server.requests) == 1
    assert empty_engine.counts() == {}


def test_a_column_is_corrected_and_committed_from_its_own_reading(
    dashboard: Dashboard, empty_engine: MemoryEngine, model: Callable[..., OpenAIServer]
) -> None:
    server = model(says({"facts": SAID}))
    test = with_model(dashboard(empty_engine, "replay", query=COMPARE, writing=True), "left")
    clicked(test, compare.COMPARE_KEY)
    clicked(test, columns.TAKE_KEYS[0])
    assert test.session_state[MODE_KEY] == "plan"
    assert contents(empty_engine) == set()
    clicked(test, summary.let_in_key(0))
    clicked(test, plan.COMMIT_KEY)
    records = {record.content: record for record in empty_engine.list(EVE)}
    assert set(records) == {"Ana left Farfetch for Ubisoft in March", "Ana owns a boat"}
    [evidence] = records["Ana left Farfetch for Ubisoft in March"].evidence
    assert (evidence.date, evidence.quote) == ("2025-03", "I also left Farfetch for Ubisoft")
    assert empty_engine.runs.get(evidence.run or "").extractor == "test-model"
    assert len(server.requests) == 1


def test_what_is_held_back_is_shown_and_let_in_as_the_operators_choice(
    dashboard: Dashboard, empty_engine: MemoryEngine
) -> None:
    engine = MemoryEngine(empty_engine.store, extractor=Doubtful(), consolidator=empty_engine.consolidator)
    test = clicked(dashboard(engine, "replay", query=SAMPLE, writing=True), PLAN_KEY)
    assert REASONS["unsupported"] in words(test)
    clicked(test, summary.let_in_key(0))
    assert test.button(key=plan.COMMIT_KEY).label == "Commit both facts"
    assert "engine.replan(plan, let_in=[0], actor='tester')" in words(test)
    clicked(test, plan.COMMIT_KEY)
    [change] = [each for each in engine.history(EVE) if each.text_after == "Ana owns <b>a boat</b>"]
    assert change.actor == "tester"
    assert change.reason.startswith("Let in by tester, though held back: Its quote is not in the conversation.")


def test_a_wait_for_a_model_shows_its_progress_and_a_cancel_frees_the_page(
    dashboard: Dashboard,
    empty_engine: MemoryEngine,
    model: Callable[..., OpenAIServer],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model(hangs)
    test = with_model(dashboard(empty_engine, "replay", query=COMPARE), "left")
    monkeypatch.setattr(work, "PATIENCE_SECONDS", 0.05)
    clicked(test, compare.COMPARE_KEY)
    assert test.button(key=compare.COMPARE_KEY).disabled
    begun = test.session_state["replay.work-compare"]
    assert begun.is_running
    clicked(test, cancel_key(compare.WORK))
    assert begun.is_cancelled
    assert "Cancelled before it was done. Nothing was written." in words(test)
    assert not test.button(key=compare.COMPARE_KEY).disabled
    assert empty_engine.history() == []


def test_a_plan_is_made_beside_the_page_and_can_be_cancelled(
    dashboard: Dashboard, empty_engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slow(_text: str) -> list[ExtractedFact]:
        await asyncio.sleep(60)
        return facts("Ana sings")

    engine = MemoryEngine(empty_engine.store, extractor=slow, consolidator=empty_engine.consolidator)
    test = dashboard(engine, "replay", query=SAMPLE, writing=True)
    monkeypatch.setattr(work, "PATIENCE_SECONDS", 0.05)
    clicked(test, PLAN_KEY)
    assert "Reading the conversation" in words(test)
    clicked(test, work.cancel_key(run.WORK))
    assert "Cancelled before it was done." in words(test)
    assert not test.button(key=PLAN_KEY).disabled
    assert "replay.run" not in test.session_state
