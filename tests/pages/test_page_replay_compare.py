"""Replay compares two setups on copies of a namespace, marks where they differ, and leaves the store as it is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from engine_fixture import engine_over, facts
from mnemoscope import ExtractedFact, MemoryEngine, Plan
from streamlit.testing.v1 import AppTest

from app.views.replay.compare import compare, measure, setups
from app.views.replay.compare.columns import DIFFERENCES_KEY, Pair, pair_facts

Dashboard = Callable[..., AppTest]
EVE = ("memories", "eve")
LYON = {"p_sample": "ana-moves-to-lyon", "ns": list(EVE), "p_mode": "compare"}


def compared(test: AppTest) -> AppTest:
    test.button(key=compare.COMPARE_KEY).click().run()
    assert not test.exception
    return test


def plain(test: AppTest) -> str:
    return "\n".join(str(element.value) for element in (*test.text, *test.code))


def markup(test: AppTest) -> str:
    return "\n".join(str(element.value) for element in (*test.markdown, *test.caption, *test.error))


def plans_of(test: AppTest) -> tuple[Plan, Plan]:
    comparison = test.session_state["replay.comparison"]
    assert isinstance(comparison, compare.Comparison)
    return comparison.plans


def plan(*found: dict[str, Any]) -> Plan:
    engine = engine_over(extractor=lambda _: [ExtractedFact(**each) for each in found])
    return engine.plan("anything", EVE)


def with_extractor(engine: MemoryEngine, *contents: str) -> MemoryEngine:
    return MemoryEngine(engine.store, extractor=lambda _: facts(*contents), consolidator=engine.consolidator)


def test_two_setups_stand_side_by_side_and_nothing_is_written(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    engine = with_extractor(empty_engine, "User moved to Lyon last month", "Ana owns <b>a boat</b>")
    test = compared(dashboard(engine, "replay", query=LYON, writing=True))
    left, right = plans_of(test)
    assert (len(left.facts), len(right.facts)) == (2, 8)
    assert "Ana owns <b>a boat</b>" in plain(test)
    assert "only here" in markup(test)
    assert "<b>" not in markup(test)
    assert empty_engine.counts() == {}
    assert empty_engine.history() == []


def test_the_differences_alone_can_be_shown(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    test = compared(dashboard(empty_engine, "replay", query=LYON))
    assert "**0 differences** in 8 facts" in markup(test)
    test.toggle(key=DIFFERENCES_KEY).set_value(True).run()
    assert "User moved to Lyon last month" not in plain(test)


def test_a_threshold_of_its_own_is_used_and_another_setting_needs_another_look(
    dashboard: Dashboard, empty_engine: MemoryEngine
) -> None:
    test = dashboard(empty_engine, "replay", query=LYON)
    test.slider(key=setups.setup_key("right", "threshold_rules")).set_value(0.9).run()
    compared(test)
    assert [each.config.consolidation_threshold for each in plans_of(test)] == [
        empty_engine.config.consolidation_threshold,
        0.9,
    ]
    test.slider(key=setups.setup_key("right", "threshold_rules")).set_value(0.8).run()
    assert "Nothing is compared yet" in markup(test)


@pytest.mark.parametrize(("base", "outcome"), [("now", "skip"), ("empty", "insert"), ("then", "insert")])
def test_what_they_are_tried_on_is_a_copy_as_chosen(
    dashboard: Dashboard, empty_engine: MemoryEngine, base: str, outcome: str
) -> None:
    engine = with_extractor(empty_engine, "User plays the cello")
    engine.remember("anything", EVE)
    before = len(engine.history())
    state = {compare.BASE_KEY: base, compare.MOMENT_KEY: datetime(2025, 1, 1, 12, 0)}
    test = compared(
        dashboard(engine, "replay", query=LYON, state=state if base == "then" else {compare.BASE_KEY: base})
    )
    assert [planned.outcome for planned in plans_of(test)[0].facts] == [outcome]
    assert len(engine.history()) == before


def test_a_namespace_too_large_to_copy_is_refused(
    dashboard: Dashboard, seeded_engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare, "MOST_COPIED", 2)
    test = compared(dashboard(seeded_engine, "replay", query={**LYON, "ns": ["memories", "ana"]}))
    assert "up to 2 are copied" in plain(test)


def test_an_unknown_model_is_an_error_that_says_so(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    test = dashboard(empty_engine, "replay", query=LYON)
    test.selectbox(key=setups.setup_key("right", "reader")).set_value("model").run()
    assert test.button(key=compare.COMPARE_KEY).disabled
    test.text_input(key=setups.setup_key("right", "model")).set_value("nobody:nothing").run()
    compared(test)
    assert "The configuration cannot be used" in markup(test)


# Which facts answer to each other


def test_facts_answer_by_their_words_and_then_by_what_they_rest_on() -> None:
    left = plan(
        {"content": "lives in Lyon", "importance": 0.5},
        {"content": "likes tea", "quote": "I like green tea", "message_ids": ["m1"]},
        {"content": "has a dog"},
    )
    right = plan(
        {"content": "likes green tea", "quote": "I like green tea.", "message_ids": ["m1"]},
        {"content": "Lives in  LYON", "importance": 0.9},
        {"content": "plays chess", "quote": "I like green tea", "message_ids": ["m2"]},
    )
    assert pair_facts(left, right) == [
        Pair(0, 1, "other importance"),
        Pair(1, 0, "other text"),
        Pair(2, None, "only here"),
        Pair(None, 2, "only here"),
    ]
    assert [pair.difference for pair in pair_facts(left, left)] == ["", "", ""]


# Measured on conversations with expected memories


def test_both_setups_are_measured_and_the_better_one_is_named_by_conversation(
    dashboard: Dashboard, empty_engine: MemoryEngine
) -> None:
    engine = with_extractor(empty_engine, "User moved to Lyon last month")
    test = dashboard(engine, "replay", query=LYON)
    test.button(key=measure.MEASURE_KEY).click().run()
    assert not test.exception
    cases, figures = (frame.value for frame in test.dataframe[:2])
    recall = figures[figures["figure"] == "recall"].iloc[0]
    assert recall["right"] > 0.9 > recall["left"]
    named = dict(zip(cases["conversation"], cases["verdict"], strict=True))
    assert (named["ana-first-trip"], named["empty"]) == ("right", "same")
    assert "Of 15 conversations:" in markup(test)
    assert empty_engine.counts() == {}


def test_a_file_that_is_no_outcome_is_refused(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    test = dashboard(empty_engine, "replay", query=LYON)
    test.file_uploader(key=measure.FILES_KEY).set_value([("x.json", b"{}", "application/json")]).run()
    test.button(key=measure.MEASURE_KEY).click().run()
    assert not test.exception
    assert "This is not a sample conversation" in plain(test)
