from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from mnemoscope import ExtractedFact, MemoryEngine, MemoryRecord, StoreUnavailableError
from mnemoscope.index import ScopeIndex
from streamlit.testing.v1 import AppTest

from app.views.overview import cards
from app.views.overview.summary import Point, summarise

Dashboard = Callable[..., AppTest]
ANA = ("memories", "ana")
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def metrics(test: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in test.metric}


def record(key: str, days: float, **fields: Any) -> MemoryRecord:
    namespace = fields.pop("namespace", ANA)
    return MemoryRecord(key=key, namespace=namespace, content="x", created_at=NOW - timedelta(days=days), **fields)


def index_of(*records: MemoryRecord) -> ScopeIndex:
    nothing = np.zeros((0, 2), np.float32)
    return ScopeIndex((), True, None, list(records), [None] * len(records), nothing, np.zeros(0, np.int64))


def test_the_numbers_are_those_of_the_whole_store(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    test = dashboard(seeded_engine)
    assert not test.exception
    assert metrics(test) == {
        "Memories": "5", "New this week": "5", "Namespaces": "2", "Categories": "4", "Private": "0", "Need a look": "0",
    }  # fmt: skip


def test_the_numbers_follow_the_scope(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    shown = metrics(dashboard(seeded_engine, query={"ns": ["memories", "ben"]}))
    assert (shown["Memories"], shown["Namespaces"], shown["Categories"]) == ("1", "1", "1")


def test_what_needs_a_look_is_counted_and_linked(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    seeded_engine.store.put(ANA, "odd", {"content": "Odd.", "importance": "high"}, index=False)
    test = dashboard(seeded_engine)
    assert metrics(test)["Need a look"] == "2"
    links = {link.proto.label: link.proto.query_string for link in test.get("page_link")}
    assert links["1 without a vector"] == "b_is=No+vector&b_private=true"


def test_the_latest_changes_are_listed_and_private_texts_are_not(
    dashboard: Dashboard, seeded_engine: MemoryEngine
) -> None:
    secret = ExtractedFact(content="Ana has a secret.", categories=["secret"])
    seeded_engine.remember_facts([secret], ANA, source="chat", private=True, actor="planner")
    test = dashboard(seeded_engine)
    changes = test.dataframe[1].value
    assert list(changes["text"][:2]) == ["(private)", "Ben is allergic to peanuts."]
    assert list(changes["who"][:2]) == ["planner", "agent"]
    assert "secret" not in "".join(chart.proto.spec for chart in test.get("plotly_chart"))


def test_a_click_on_a_change_opens_its_memory_in_browse(
    dashboard: Dashboard, seeded_engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    went: list[dict[str, Any]] = []
    monkeypatch.setattr("streamlit.switch_page", lambda _page, query_params: went.append(query_params))
    from app.components import tables
    from app.views.overview import cards

    changes = seeded_engine.history((), limit=20)
    key = tables.key_of(cards.CHANGES_KEY, [(change.namespace, change.id) for change in changes])
    dashboard(seeded_engine, state={key: {"selection": {"rows": [], "columns": [], "cells": [[0, "text"]]}}})
    assert went == [{"b_key": changes[0].key, "b_in": ["memories", "ben"]}]


def test_a_click_on_a_namespace_browses_it(
    dashboard: Dashboard, seeded_engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    went: list[dict[str, Any]] = []
    monkeypatch.setattr("streamlit.switch_page", lambda _page, query_params: went.append(query_params))
    from app.components import tables
    from app.views.overview import cards

    key = tables.key_of(cards.NAMESPACES_KEY, [(ANA, ""), (("memories", "ben"), "")])
    dashboard(seeded_engine, state={key: {"selection": {"rows": [], "columns": [], "cells": [[1, "count"]]}}})
    assert went == [{"ns": ["memories", "ben"]}]


def test_an_empty_store_says_what_to_do_next(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    test = dashboard(empty_engine)
    assert "**Nothing is remembered here yet**" in [element.value for element in test.markdown]
    assert not test.metric


def test_a_store_that_fails_on_reading_is_a_message(
    dashboard: Dashboard, seeded_engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_arguments: Any, **_options: Any) -> None:
        raise StoreUnavailableError("The file is locked.")

    monkeypatch.setattr(seeded_engine, "index", away)
    test = dashboard(seeded_engine)
    assert "The store did not answer" in test.error[0].value


def test_reading_the_page_writes_nothing(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    before = {record.key: record.to_value() for record in seeded_engine.list((), subtree=True)}
    dashboard(seeded_engine)
    assert {record.key: record.to_value() for record in seeded_engine.list((), subtree=True)} == before
    assert len(seeded_engine.history()) == 5
    assert seeded_engine.usage.recalls(ANA) == {}


def test_growth_counts_up_to_today_and_its_steps_stay_few() -> None:
    summary = summarise(index_of(record("a", 3), record("b", 1), record("c", 1)), NOW)
    assert [(point.made, point.total) for point in summary.growth] == [(1, 1), (0, 1), (2, 3), (0, 3)]
    years = summarise(index_of(record("a", 4_000), record("b", 0)), NOW)
    assert len(years.growth) <= 120
    assert years.growth[-1].total == 2


def test_a_namespace_is_as_new_as_its_latest_change() -> None:
    updated = record("a", 90, updated_at=NOW - timedelta(days=1))
    summary = summarise(index_of(updated, record("b", 30), record("c", 2, namespace=("team",))), NOW)
    assert [(row.namespace, row.count) for row in summary.namespaces] == [(ANA, 2), (("team",), 1)]
    assert summary.namespaces[0].changed_at == NOW - timedelta(days=1)
    assert summary.made_lately == 1


def test_unknown_importance_is_counted_apart() -> None:
    summary = summarise(index_of(record("a", 1, importance=None), record("b", 1, importance=1.0)), NOW)
    assert summary.unknown_importance == 1
    assert summary.importance == [0] * 9 + [1]


def test_hostile_category_names_are_escaped_in_the_chart() -> None:
    figure = cards.chart_categories({"<a href='http://example.invalid'>x</a>": 2, "b": 1})
    drawn = json.dumps(figure.to_plotly_json()["layout"]["yaxis"]["ticktext"])
    assert "<a" not in drawn
    assert "&lt;a href" in drawn


def test_growth_within_one_day_is_a_mark_that_is_seen() -> None:
    figure = cards.chart_growth([Point(date(2026, 5, 4), made=3, total=3)])
    assert figure.data[0].mode == "lines+markers"
    assert figure.layout.yaxis.range[1] > 3
    assert figure.layout.xaxis.range[0] < figure.layout.xaxis.range[1]
