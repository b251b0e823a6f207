"""The Tune page: empty, with cases, its actions with their effect in the store, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from mnemoscope import ExtractedFact, MemoryConfig, MemoryEngine, MemoryRecord
from mnemoscope.consolidation import LabelBook
from mnemoscope.evaluation import Interval
from mnemoscope.recall import Case, CaseBook, ProfileBook, case
from mnemoscope.stores import Write
from streamlit.testing.v1 import AppTest

from app.components import actions
from app.components.keep import PROFILE_NAME_KEY
from app.components.keep import PROFILE_SAVE_KEY as PROFILE_SAVE_KEY
from app.session.scope import Scope
from app.views.history import change
from app.views.tune import charts, new_case
from app.views.tune.cases import DELETE_KEY, read_case_file
from app.views.tune.compare import METRIC_KEY, PROFILES_KEY, describe_difference
from app.views.tune.new_case import EXPECTED_KEY, QUERY_KEY, SAVE_KEY
from app.views.tune.search import FLOOR_KEY, START_KEY
from app.views.tune.threshold import LABEL_KEYS, SKIP_KEY

Dashboard = Callable[..., AppTest]
ANA = ("memories", "ana")
HERE = {"ns": ["memories", "ana"]}
NOW = datetime.now(UTC)
HOSTILE = "**bold** ![x](http://example.invalid/x.png) \u202eexe"


def put(engine: MemoryEngine, key: str, text: str, days: int = 0) -> None:
    assert engine.adapter.embeddings is not None
    record = MemoryRecord(key, ANA, text, created_at=NOW - timedelta(days=days))
    vector = np.array(engine.adapter.embeddings.embed_query(text), np.float32)
    engine.adapter.write([Write(ANA, key, record.to_value(), {"content": vector})])


@pytest.fixture
def judged(empty_engine: MemoryEngine) -> MemoryEngine:
    """Twelve cases whose right memory is old among new ones, so that the classic weights do harm."""
    for at in range(12):
        put(empty_engine, f"right{at}", f"word{at} alpha beta", 500)
        put(empty_engine, f"new{at}", f"chatter{at}")
    empty_engine.tuning.save_cases([case(f"word{at}", ANA, expected=[f"right{at}"]) for at in range(12)])
    return empty_engine


def opened(dashboard: Dashboard, engine: MemoryEngine, part: str, *, writing: bool = False) -> AppTest:
    test = dashboard(engine, "tune", query={**HERE, "t_part": part}, writing=writing)
    assert not test.exception
    assert test.title[0].value == "Tune"
    return test


def said(test: AppTest) -> str:
    return "\n".join(str(each.value) for each in (*test.markdown, *test.caption, *test.text))


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("Cases", "No cases here yet"),
        ("Compare", "No cases to measure on"),
        ("Search", "0 cases of at least 8"),
        ("Threshold", "No two memories are alike here"),
    ],
)
def test_every_part_of_an_empty_store_says_what_to_do(
    dashboard: Dashboard, empty_engine: MemoryEngine, part: str, expected: str
) -> None:
    assert expected in said(opened(dashboard, empty_engine, part))


def test_a_case_is_made_from_what_a_query_brings_back(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    test = opened(dashboard, seeded_engine, "Cases", writing=True)
    test.text_input(key=QUERY_KEY).set_value("where does Ana live?").run()
    key = next(record.key for record in seeded_engine.list(ANA) if "Lisbon" in record.content)
    test.multiselect(key=EXPECTED_KEY).set_value([key]).run()
    test.button(key=SAVE_KEY).click().run()
    assert not test.exception
    [found] = CaseBook(seeded_engine.adapter).all()
    assert (found.query, found.namespace, found.expected) == ("where does Ana live?", ANA, (key,))
    assert test.text_input(key=QUERY_KEY).value == ""
    assert seeded_engine.usage.recalls(ANA) == {}


def test_without_writing_a_case_cannot_be_saved(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    test = opened(dashboard, seeded_engine, "Cases")
    test.text_input(key=QUERY_KEY).set_value("tea").run()
    assert test.button(key=SAVE_KEY).disabled


def test_hostile_cases_are_shown_as_they_are(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    seeded_engine.tuning.save_cases([case(HOSTILE, ANA, expected=[HOSTILE], unwanted=["x" * 5_000])])
    test = opened(dashboard, seeded_engine, "Cases")
    frame = test.dataframe[0].value
    assert frame["query"][0] == "**bold** ![x](http://example.invalid/x.png) <U+202E>exe"
    assert len(frame["unwanted"][0][0]) < 300
    compared = opened(dashboard, seeded_engine, "Compare")
    assert "example.invalid" not in "".join(str(each.value) for each in compared.markdown)


def test_keys_are_shown_as_the_memories_they_name_but_private_ones_are_not(
    dashboard: Dashboard, empty_engine: MemoryEngine
) -> None:
    put(empty_engine, "k1", "likes tea")
    record = MemoryRecord("k2", ANA, "a secret", private=True, source="s")
    empty_engine.adapter.write([Write(ANA, "k2", record.to_value(), {})])
    empty_engine.tuning.save_cases([case("tea", ANA, expected=["k1", "k2"])])
    frame = opened(dashboard, empty_engine, "Cases").dataframe[0].value
    assert list(frame["expected"][0]) == ["likes tea", "k2"]


def test_ticked_cases_are_deleted(dashboard: Dashboard, judged: MemoryEngine) -> None:
    from app.components.tables import key_of

    cases = CaseBook(judged.adapter).all()
    key = key_of("tune.cases", [(each.namespace, each.id) for each in cases])
    test = dashboard(
        judged, "tune", query=HERE, writing=True, state={key: {"selection": {"rows": [2], "columns": [], "cells": []}}}
    )
    test.button(key=DELETE_KEY).click().run()
    assert {each.id for each in CaseBook(judged.adapter).all()} == {each.id for each in cases} - {cases[2].id}


def test_cases_come_from_feedback_by_one_click_and_can_be_undone(
    dashboard: Dashboard, empty_engine: MemoryEngine
) -> None:
    empty_engine.remember_facts([ExtractedFact(content="green tea"), ExtractedFact(content="a red door")], ANA)
    result = empty_engine.recall("tea?", ANA)
    recalled = {match.record.content: match.record.key for match in result}
    empty_engine.usage.give_feedback(result.id, recalled["green tea"], useful=True)
    empty_engine.usage.give_feedback(result.id, recalled["a red door"], useful=False)
    test = dashboard(empty_engine, "tune", query=HERE, writing=True)
    test.button(key=new_case.KEEP_KEY).click().run()
    assert not test.exception
    [kept] = empty_engine.tuning.cases()
    assert (kept.query, kept.expected, kept.unwanted) == ("tea?", (recalled["green tea"],), (recalled["a red door"],))
    assert new_case.KEEP_KEY not in [each.key for each in test.button]
    test.button(key=actions.UNDO_KEY).click().run()
    assert empty_engine.tuning.cases() == []


def test_what_agents_asked_most_begins_a_case(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    for query in ("once", HOSTILE, HOSTILE):
        seeded_engine.recall(query, ANA, limit=1)
    test = dashboard(seeded_engine, "tune", query=HERE, writing=True)
    first, second = test.selectbox(key=new_case.ASKED_KEY).options
    assert "2 times" in first
    assert second.startswith("once  ·  1 time")
    test.selectbox(key=new_case.ASKED_KEY).select_index(1).run()
    assert test.text_input(key=new_case.QUERY_KEY).value == "once"
    seeded_engine.tuning.save_cases([case("once", ANA, expected=["x"])])
    test = dashboard(seeded_engine, "tune", query=HERE, writing=True)
    assert len(test.selectbox(key=new_case.ASKED_KEY).options) == 1


def test_history_tells_of_a_deleted_case_and_undoes_it(dashboard: Dashboard, judged: MemoryEngine) -> None:
    [deleted] = judged.tuning.delete_cases(judged.tuning.cases()[:1])
    test = dashboard(judged, "history", query={**HERE, "h_id": deleted.id}, writing=True)
    assert not test.exception
    assert "Case: word" in test.dataframe[0].value["text"][0]
    assert "There was no such entry after." in [each.value for each in test.caption]
    test.button(key=change.UNDO_KEY).click().run()
    assert len(judged.tuning.cases()) == 12


def test_a_file_of_cases_is_read_for_the_scope() -> None:
    assert read_case_file(b'{"query": "q", "expected": ["x"]}', Scope(ANA, False)) == [Case("q", ANA, ("x",))]


def test_profiles_are_compared_on_the_cases(dashboard: Dashboard, judged: MemoryEngine) -> None:
    test = opened(dashboard, judged, "Compare")
    table = test.dataframe[0].value
    assert list(table.index) == ["In use", "classic", "precise"]
    assert table.loc["precise", "ndcg@10"].startswith("1.000")
    assert test.segmented_control(key=METRIC_KEY).value == "ndcg@10"
    test.selectbox(key="tune.other").set_value("precise").run()
    assert "**Gains: 12**" in said(test)
    assert "Better: +" in said(test)


def test_the_python_of_a_comparison_measures_the_same(dashboard: Dashboard, judged: MemoryEngine) -> None:
    test = opened(dashboard, judged, "Compare")
    line = next(each.value for each in test.code if "tuning.judge(" in each.value)
    names: dict[str, Any] = {"engine": judged}
    exec(line, names)
    summary = names["evaluation"].summary("precise")["ndcg@10"]
    assert summary is not None
    assert f"{summary.mean:.3f}" in str(test.dataframe[0].value.to_dict())
    assert any(each.value.startswith("mnemoscope evaluate") for each in test.code)


def test_one_profile_has_nothing_to_be_compared_with(dashboard: Dashboard, judged: MemoryEngine) -> None:
    test = opened(dashboard, judged, "Compare")
    test.multiselect(key=PROFILES_KEY).set_value(["precise"]).run()
    assert not test.exception
    assert "Gains" not in said(test)


def test_what_is_missing_is_told(dashboard: Dashboard, judged: MemoryEngine) -> None:
    judged.tuning.save_cases([case("gone", ANA, expected=["no such memory"])])
    test = opened(dashboard, judged, "Compare")
    assert test.warning[0].value == "1 expected memory is not there, or not to be seen, and so not recalled."


def test_a_search_finds_a_better_profile_which_is_kept_and_written_out(
    dashboard: Dashboard, judged: MemoryEngine
) -> None:
    test = opened(dashboard, judged, "Search", writing=True)
    test.button(key=START_KEY).click().run()
    assert not test.exception
    assert "Better: +" in said(test)
    test.text_input(key=PROFILE_NAME_KEY).set_value("found").run()
    assert '[profiles."found"]' in test.code[0].value
    test.button(key=PROFILE_SAVE_KEY).click().run()
    saved = ProfileBook(judged.adapter).all()["found"]
    assert saved.config != MemoryConfig()
    assert saved.config.touch_on_recall
    compared = opened(dashboard, judged, "Compare")
    assert "found" in compared.dataframe[0].value.index


def test_the_minimum_score_starts_at_what_was_found_and_again_where_another_part_was_open(
    dashboard: Dashboard, judged: MemoryEngine
) -> None:
    test = opened(dashboard, judged, "Search")
    test.button(key=START_KEY).click().run()
    start = test.slider(key=FLOOR_KEY).value
    assert start > 0.0
    test.slider(key=FLOOR_KEY).set_value(0.0).run()
    assert test.slider(key=FLOOR_KEY).value == 0.0
    for part in ("Cases", "Search"):
        test.segmented_control(key="t_part").set_value(part).run()
    assert not test.exception
    assert test.slider(key=FLOOR_KEY).value == start


def test_the_result_of_a_search_goes_when_the_cases_change(dashboard: Dashboard, judged: MemoryEngine) -> None:
    test = opened(dashboard, judged, "Search")
    test.button(key=START_KEY).click().run()
    assert "The plateau" in [each.value for each in test.subheader]
    judged.tuning.save_cases([case("another", ANA, expected=["right0"])])
    test.run()
    assert "The plateau" not in [each.value for each in test.subheader]


def test_a_wrong_name_of_a_profile_is_refused(dashboard: Dashboard, judged: MemoryEngine) -> None:
    test = opened(dashboard, judged, "Search", writing=True)
    test.button(key=START_KEY).click().run()
    test.text_input(key=PROFILE_NAME_KEY).set_value("a/b").run()
    test.button(key=PROFILE_SAVE_KEY).click().run()
    assert ProfileBook(judged.adapter).all() == {}
    assert "Nothing was changed" in test.error[0].value


def test_a_pair_is_labelled_and_the_threshold_follows(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    for key, text in (("a", "likes green tea"), ("b", "likes green tea too"), ("c", "likes green apples")):
        put(empty_engine, key, text)
    test = opened(dashboard, empty_engine, "Threshold", writing=True)
    assert "Label some pairs" in said(test)
    test.button(key=LABEL_KEYS["changed"]).click().run()
    assert list(LabelBook(empty_engine.adapter).all(ANA).values()) == ["changed"]
    assert "is the greatest threshold that finds 95 %" in said(test)
    before = said(test)
    test.button(key=SKIP_KEY).click().run()
    assert said(test) != before
    assert len(LabelBook(empty_engine.adapter).all(ANA)) == 1


def test_without_writing_a_pair_cannot_be_labelled(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    put(empty_engine, "a", "likes green tea")
    put(empty_engine, "b", "likes green tea too")
    test = opened(dashboard, empty_engine, "Threshold")
    assert all(test.button(key=key).disabled for key in LABEL_KEYS.values())


@pytest.mark.parametrize(
    ("low", "high", "metric", "expected"),
    [
        (0.1, 0.3, "ndcg@10", "Better"),
        (-0.3, -0.1, "ndcg@10", "Worse"),
        (-0.1, 0.1, "ndcg@10", "No difference"),
        (-0.3, -0.1, "unwanted@5", "Better"),
    ],
)
def test_a_verdict_says_no_more_than_the_interval_proves(low: float, high: float, metric: str, expected: str) -> None:
    assert describe_difference(Interval((low + high) / 2, low, high), metric).startswith(expected)


def test_names_in_charts_are_text_not_markup() -> None:
    figure: Any = charts.chart_intervals({"<a href='x'>y</a>": Interval(0.5, 0.4, 0.6), "none": None})
    assert figure.layout.yaxis.ticktext == ("&lt;a href='x'&gt;y&lt;/a&gt;",)
