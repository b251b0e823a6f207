"""Health takes a store over to another embedder: begun, paused, taken up, gone back on; seen from another session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mnemoscope import MemoryEngine
from mnemoscope.connections import connection_to, open_connection
from mnemoscope.reembedding import ReembedState
from streamlit.testing.v1 import AppTest

from app.views.health import reembed
from app.views.recall.query import QUERY_KEY

Dashboard = Callable[..., AppTest]
ANA = ("memories", "ana")


def shown(test: AppTest) -> str:
    elements = (*test.text, *test.markdown, *test.caption, *test.code, *test.subheader, *test.warning)
    return "\n".join(str(element.value) for element in elements)


def opened(path: Path, **more: Any) -> MemoryEngine:
    return open_connection(connection_to(str(path), embedder="hashing", **more))


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A store by the hashing embedder, which is to go over to the bundled one; writing is switched on."""
    path = tmp_path / "m.sqlite"
    with closing(opened(path)) as engine:
        for number in range(6):
            engine.remember(f"Ana tells of the fact {number}.", ANA, extract=False)
    monkeypatch.setenv("MNEMOSCOPE_STORE", str(path))
    monkeypatch.setenv("MNEMOSCOPE_EMBEDDER", "hashing")
    monkeypatch.setenv("MNEMOSCOPE_NEXT_EMBEDDER", "bundled")
    yield path
    reembed.open_worker.clear()


def finished(test: AppTest) -> AppTest:
    """The page after the thread of the work has ended."""
    here = reembed.open_worker("m.sqlite")
    assert here.thread is not None
    here.thread.join()
    assert here.error == ""
    return test.run()


def test_a_change_is_begun_here_and_recall_uses_the_new_embedder(dashboard: Dashboard, path: Path) -> None:
    test = dashboard(None, "health", writing=True)
    assert not test.exception
    assert "Change of embedder" in shown(test)
    test.button(key=reembed.START_KEY).click().run()
    test = finished(test)
    assert not test.exception
    assert "The vectors in use are by bundled:all-MiniLM-L6-v2-int8, 384 dimensions." in shown(test)
    assert "Those by hashing:256, 256 dimensions are kept" in shown(test)
    with closing(opened(path, next_embedder="bundled")) as engine:
        result = engine.recall("fact 3", ANA)
        assert (result.embedder, result.notice) == ("bundled:all-MiniLM-L6-v2-int8, 384 dimensions", "")
        assert engine.history((), subtree=True, action="reembed")[0].actor == "tester"


def test_it_is_gone_back_on_and_the_former_vectors_are_dropped(dashboard: Dashboard, path: Path) -> None:
    with closing(opened(path, next_embedder="bundled")) as engine:
        engine.reembedding.start()
    test = dashboard(None, "health", writing=True)
    test.button(key=reembed.BACK_KEY).click().run()
    test = finished(test)
    assert "The vectors in use are by hashing:256" in shown(test)
    test.button(key=reembed.DROP_KEY).click().run()
    assert not test.exception
    assert "are kept" not in shown(test)
    with closing(opened(path)) as engine:
        assert engine.reembedding.status() is None


def test_what_another_process_is_at_is_seen_and_paused_and_taken_up(dashboard: Dashboard, path: Path) -> None:
    seen: list[AppTest] = []

    def look(state: ReembedState) -> None:
        if state.state == "running" and state.staged == 2:
            test = dashboard(None, "health", writing=True)
            assert "agent is at it: 2 of 6 vectors" in shown(test)
            test.button(key=reembed.PAUSE_KEY).click().run()
            seen.append(test)

    with closing(opened(path, next_embedder="bundled")) as engine:
        assert engine.reembedding.start(batch=2, progress=look).state == "paused"
    test = seen[0].run()
    assert "It is paused: 4 of 6 vectors" in shown(test)
    assert test.button(key=reembed.START_KEY).label == "Go on"
    test.button(key=reembed.START_KEY).click().run()
    assert "The vectors in use are by bundled" in shown(finished(test))


@pytest.mark.usefixtures("path")
def test_an_embedder_that_was_changed_in_the_configuration_leads_to_the_change(
    dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOSCOPE_EMBEDDER", "bundled")
    monkeypatch.delenv("MNEMOSCOPE_NEXT_EMBEDDER")
    test = dashboard(None, "health", writing=True)
    assert "The vectors in this store are by hashing:256, 256 dimensions, but bundled" in shown(test)
    test.button(key=reembed.START_KEY).click().run()
    test = finished(test)
    assert "The vectors in use are by bundled" in shown(test)
    assert "Another embedder than the store's" not in shown(test)


@pytest.mark.usefixtures("path")
def test_recall_says_that_it_goes_by_words(dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMOSCOPE_EMBEDDER", "bundled")
    monkeypatch.delenv("MNEMOSCOPE_NEXT_EMBEDDER")
    test = dashboard(None, "recall", query={"ns": list(ANA), QUERY_KEY: "fact 3"})
    assert not test.exception
    assert "ranked by their words alone" in shown(test)


def test_it_takes_an_admin_and_writing(dashboard: Dashboard, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    test = dashboard(None, "health")
    test.button(key=reembed.START_KEY).click().run()
    assert "Writing is off" in shown(test)
    monkeypatch.setenv("MNEMOSCOPE_ROLE", "editor")
    test = dashboard(None, "health", writing=True)
    test.button(key=reembed.START_KEY).click().run()
    assert "takes the role admin" in shown(test)
    with closing(opened(path)) as engine:
        assert engine.reembedding.status() is None


@pytest.mark.usefixtures("path")
def test_a_store_with_one_embedder_shows_nothing_of_it(dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MNEMOSCOPE_NEXT_EMBEDDER")
    assert "Change of embedder" not in shown(dashboard(None, "health"))
