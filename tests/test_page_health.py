from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from mnemoscope import MemoryEngine
from mnemoscope.connecting import open_connection
from mnemoscope.connections import connection_to
from mnemoscope.errors import ConflictError, StoreUnavailableError
from streamlit.testing.v1 import AppTest

from app import health_report
from app.calls import CallLog
from app.health_details import PACKAGES, versions

Dashboard = Callable[..., AppTest]
ANA = ("memories", "ana")
NOW = datetime(2026, 5, 1, tzinfo=UTC)


def shown(test: AppTest) -> str:
    elements = (*test.text, *test.markdown, *test.caption, *test.code, *test.subheader)
    return "\n".join(str(element.value) for element in elements)


def test_figures_kinds_and_checks_are_shown(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    test = dashboard(seeded_engine, "health")
    assert [(metric.label, metric.value) for metric in test.metric][:2] == [("Memories", "5"), ("Namespaces", "2")]
    kinds = test.dataframe[0].value
    assert dict(zip(kinds["Kind"], kinds["Items"], strict=True))["Ours"] == 5
    assert "Leaks" in shown(test)
    assert "nothing of another namespace, and nothing private" in shown(test)
    assert "hashing:256, 256 dimensions" in shown(test)


def test_a_finding_is_shown_with_its_fix_and_is_gone_when_it_was_followed(
    dashboard: Dashboard, seeded_engine: MemoryEngine
) -> None:
    seeded_engine.store.put(ANA, "**odd**", {"content": "No vector"}, index=False)
    test = dashboard(seeded_engine, "health")
    assert "1 memory: memories/ana · **odd**" in [text.value for text in test.text]
    assert "They are found by no query." in shown(test)
    seeded_engine.store.delete(ANA, "**odd**")
    test.button(key=health_report.AGAIN_KEY).click().run()
    assert "They are found by no query." not in shown(test)


def test_the_store_is_looked_over_once_until_it_is_asked_for_again(
    dashboard: Dashboard, seeded_engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    real = health_report.examine
    monkeypatch.setattr(health_report, "examine", lambda *all_, **named: asked.append(1) or real(*all_, **named))
    test = dashboard(seeded_engine, "health").run()
    assert asked == [1]
    test.button(key=health_report.AGAIN_KEY).click().run()
    assert asked == [1, 1]


def test_another_embedder_is_the_first_finding(
    dashboard: Dashboard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.sqlite"
    engine = open_connection(connection_to(str(path), embedder="hashing"))
    engine.remember("Ana lives in Lisbon.", ANA, extract=False)
    engine.close()
    monkeypatch.setenv("MNEMOSCOPE_STORE", str(path))
    test = dashboard(None, "health")
    assert not test.exception
    assert "the embedder gives 384, the file holds 1 of 256" in shown(test)
    assert "The vectors in this store are by hashing:256" in shown(test)


def test_the_log_keeps_slow_and_failed_calls_of_a_connection_without_secrets() -> None:
    log = CallLog(lambda: NOW)
    note = log.watcher("a", lambda: ["hunter2"])
    note("counts", 0.01, None)
    note("load", 2.0, None)
    note("search", 0.01, StoreUnavailableError("refused for hunter2"))
    note("write", 0.01, ConflictError([]))
    log.watcher("b", list)("load", 3.0, None)
    assert log.total == 5
    assert [(call.name, call.seconds, call.error) for call in log.of("a")] == [
        ("search", 0.01, "StoreUnavailableError: refused for ***"),
        ("load", 2.0, ""),
    ]


def test_the_log_is_bounded() -> None:
    log = CallLog(lambda: NOW)
    note = log.watcher("a", list)
    for _ in range(1_000):
        note("load", 1.0, None)
    assert len(log.of("a")) == 200


def test_versions_are_those_of_what_is_installed() -> None:
    found = versions()
    assert {"Python", "SQLite", "langgraph", "streamlit", "numpy"} <= set(found)
    assert set(found) <= {"Python", "SQLite", *PACKAGES}
