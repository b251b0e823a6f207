from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from mnemoscope import ConflictError, MemoryEngine, StoreUnavailableError
from mnemoscope.connections import connection_to, open_connection
from mnemoscope.index import budget, process_budget
from streamlit.testing.v1 import AppTest

from app.session import index_memory
from app.session.calls import CallLog
from app.views.health import report
from app.views.health.figures import PACKAGES, list_versions

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
    assert "No search by meaning finds them; words, recency and importance still rank them." in shown(test)
    assert "Curate, worklist 'Not to be found by meaning'" in shown(test)
    seeded_engine.store.delete(ANA, "**odd**")
    test.button(key=report.AGAIN_KEY).click().run()
    assert "No search by meaning finds them" not in shown(test)


def test_the_store_is_looked_over_once_until_it_is_asked_for_again(
    dashboard: Dashboard, seeded_engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    real = report.examine
    monkeypatch.setattr(report, "examine", lambda *all_, **named: asked.append(1) or real(*all_, **named))
    test = dashboard(seeded_engine, "health").run()
    assert asked == [1]
    test.button(key=report.AGAIN_KEY).click().run()
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
    found = list_versions()
    assert {"Python", "SQLite", "langgraph", "streamlit", "numpy"} <= set(found)
    assert set(found) <= {"Python", "SQLite", *PACKAGES}


@pytest.fixture
def two_stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two connections, and a budget for the indexes of theirs alone."""
    monkeypatch.setattr(budget, "_PROCESS", budget.IndexBudget())
    tables = [f'[connections.{name}]\nurl = "sqlite:///{name}.sqlite"\nembedder = "hashing"\n' for name in ("a", "b")]
    (tmp_path / "mnemoscope.toml").write_text("".join(tables))
    monkeypatch.setenv("MNEMOSCOPE_CONFIG", str(tmp_path / "mnemoscope.toml"))
    for name in ("a", "b"):
        engine = open_connection(connection_to(str(tmp_path / f"{name}.sqlite"), embedder="hashing"))
        engine.remember("Ana lives in Lisbon.", ANA, extract=False)
        engine.close()


@pytest.mark.usefixtures("two_stores")
def test_the_memory_of_all_indexes_is_shown_of_what_it_may_be_and_by_connection(
    dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOSCOPE_INDEX_MEMORY", "64")
    dashboard(None, "overview", query={"c": "b"})
    test = dashboard(None, "health", query={"c": "a"}).run()
    assert not test.exception
    assert next(each.value for each in test.metric if each.label == "Indexes in memory").endswith(" kB of 64 MB")
    assert [text.value.split()[0] for text in test.text if text.value.endswith(" kB")] == ["a", "b"]
    assert "Too little memory" not in shown(test)


@pytest.mark.usefixtures("two_stores")
def test_indexes_that_have_no_room_are_told_on_every_page_and_cured_on_health(dashboard: Dashboard) -> None:
    test = dashboard(None, "health", query={"c": "a"})
    process_budget().limit_bytes = 1_000
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(index_memory, "limit", lambda _settings: None)
        test.button(key=report.AGAIN_KEY).click().run()
        assert "Too little memory for the indexes" in shown(test)
        assert "one index alone takes" in shown(test)
        assert "MNEMOSCOPE_INDEX_MEMORY=" in shown(test)


@pytest.mark.usefixtures("two_stores")
def test_a_memory_that_is_no_number_is_refused_by_name(dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMOSCOPE_INDEX_MEMORY", "2 GB")
    test = dashboard(None, "health")
    assert not test.exception
    assert "MNEMOSCOPE_INDEX_MEMORY is str '2 GB'" in shown(test)
