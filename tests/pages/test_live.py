"""Following what agents write: when a page runs again, what is asked of the store for it, and what a failure says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mnemoscope import MemoryEngine, StoreError
from mnemoscope.stores import GenericAdapter
from streamlit.testing.v1 import AppTest

from app.components import live
from app.session.navigation import PAGES

Dashboard = Callable[..., AppTest]
ANA = ("memories", "ana")
HERE: dict[str, str | list[str]] = {"ns": list(ANA)}


class Browser:
    """Stands for the indicator's script: asks when it is told to, and keeps what it was told."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        self.asks: list[Callable[[], None]] = []
        self.switches = False

    def __call__(self, **given: Any) -> None:
        self.told.append(given["data"])
        if self.switches:
            self.switches = False
            given["on_switched_change"]()
        if self.asks:
            self.asks.pop()()
            given["on_asked_change"]()


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> Browser:
    made = Browser()
    monkeypatch.setattr(live, "_indicator", made)
    return made


def listed(test: AppTest) -> list[str]:
    return [text for table in test.dataframe if "content" in table.value for text in table.value["content"]]


def nothing() -> None:
    """What an agent does meanwhile."""


def test_a_page_runs_again_where_what_it_shows_has_changed_and_not_otherwise(
    dashboard: Dashboard, seeded_engine: MemoryEngine, browser: Browser
) -> None:
    test = dashboard(seeded_engine, "browse", query=HERE)
    assert len(browser.told) == 1
    browser.asks.append(nothing)
    test.run()
    assert len(browser.told) == 2
    browser.asks.append(lambda: seeded_engine.remember_facts([], ("memories", "ben")) and None)
    test.run()
    assert len(browser.told) == 3
    browser.asks.append(lambda: seeded_engine.remember("Ana has a dog.", ANA, extract=False) and None)
    test.run()
    assert len(browser.told) == 5
    assert [each["refreshed"] for each in browser.told] == [0, 0, 0, 0, 1]
    assert "Ana has a dog." in listed(test)


def test_a_recall_by_an_agent_is_a_change_for_browse(
    dashboard: Dashboard, seeded_engine: MemoryEngine, browser: Browser
) -> None:
    test = dashboard(seeded_engine, "browse", query=HERE)

    def recall() -> None:
        seeded_engine.recall("green tea", ANA, limit=1)
        seeded_engine.flush()

    browser.asks.append(recall)
    test.run()
    assert browser.told[-1]["refreshed"] == 1


@pytest.mark.parametrize("page", [row.name for row in PAGES])
def test_the_pages_that_show_what_agents_write_follow_and_the_others_do_not(
    dashboard: Dashboard, seeded_engine: MemoryEngine, browser: Browser, page: str
) -> None:
    dashboard(seeded_engine, page)
    assert len(browser.told) == (1 if page in ("overview", "browse", "history", "health") else 0)


def test_looking_asks_for_marks_alone(
    dashboard: Dashboard, seeded_engine: MemoryEngine, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = dashboard(seeded_engine, "browse", query=HERE)
    called: list[str] = []
    look = live.look

    def watched() -> None:
        with monkeypatch.context() as watching:
            for name in ("counts", "get", "load", "latest", "markers", "search", "search_each", "write"):
                watching.setattr(seeded_engine.adapter, name, lambda *_, name=name, **__: called.append(name))
            look()

    monkeypatch.setattr(live, "look", watched)
    browser.asks.append(nothing)
    test.run()
    assert called == []
    assert test.session_state["live.state"] == "live"


def test_a_store_that_fails_meanwhile_leaves_the_page_as_it_is(
    dashboard: Dashboard, seeded_engine: MemoryEngine, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = dashboard(seeded_engine, "browse", query=HERE)
    token = seeded_engine.adapter.token

    def away(*_arguments: Any, **_options: Any) -> None:
        raise StoreError("the disk is gone")

    def breaks() -> None:
        monkeypatch.setattr(seeded_engine.adapter, "token", away)

    browser.asks.append(breaks)
    test.run()
    assert test.session_state["live.state"] == "away"
    assert not test.exception
    monkeypatch.setattr(seeded_engine.adapter, "token", token)
    browser.asks.append(nothing)
    test.run()
    assert test.session_state["live.state"] == "live"


def test_live_can_be_switched_off_and_nothing_is_asked_then(
    dashboard: Dashboard, seeded_engine: MemoryEngine, browser: Browser
) -> None:
    test = dashboard(seeded_engine, "browse", query=HERE)
    browser.switches = True
    test.run()
    browser.asks.append(lambda: seeded_engine.remember("Ana has a dog.", ANA, extract=False) and None)
    told = len(browser.told)
    test.run()
    assert browser.told[-1]["state"] == "off"
    assert len(browser.told) == told + 1


def test_a_store_that_cannot_tell_of_changes_is_said_to_be_so(
    dashboard: Dashboard, seeded_engine: MemoryEngine, browser: Browser
) -> None:
    engine = MemoryEngine(
        GenericAdapter(seeded_engine.store), extractor=seeded_engine.extractor, consolidator=seeded_engine.consolidator
    )
    dashboard(engine, "browse", query=HERE)
    assert browser.told[-1]["state"] == "blind"


def test_health_follows_the_file_of_the_queue(
    dashboard: Dashboard,
    seeded_engine: MemoryEngine,
    browser: Browser,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = tmp_path / "mnemoscope.toml"
    config.write_text('[connections.agents]\nurl = "sqlite:///m.sqlite"\nqueue = "queue.sqlite"\n')
    monkeypatch.setenv("MNEMOSCOPE_CONFIG", str(config))
    monkeypatch.delenv("MNEMOSCOPE_STORE", raising=False)
    with seeded_engine.background(tmp_path / "queue.sqlite", workers=0) as background:
        test = dashboard(seeded_engine, "health")
        browser.asks.append(lambda: background.submit("I like tea", ANA, "t1") and None)
        test.run()
        assert browser.told[-1]["refreshed"] == 1
        assert {each.label: each.value for each in test.metric}["Waiting"] == "1"
        background.close(0)
