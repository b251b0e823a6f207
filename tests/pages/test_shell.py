from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mnemoscope import MemoryEngine, StoreUnavailableError
from streamlit.testing.v1 import AppTest

from app.components import actions
from app.session.navigation import PAGES
from app.session.scope import BELOW_KEY, NAMESPACE_KEY
from app.shell.header import SWITCH_KEY

Dashboard = Callable[..., AppTest]
ANA = ("memories", "ana")


def texts(test: AppTest) -> str:
    return "\n".join(str(element.value) for element in (*test.text, *test.markdown, *test.caption, *test.code))


@pytest.mark.parametrize("page", PAGES, ids=lambda row: row.name)
def test_every_page_opens_on_a_seeded_and_on_an_empty_store(
    dashboard: Dashboard, seeded_engine: MemoryEngine, empty_engine: MemoryEngine, page: Any
) -> None:
    for engine in (seeded_engine, empty_engine):
        test = dashboard(engine, page.name)
        assert not test.exception
        assert [title.value for title in test.title] == [page.title]


@pytest.mark.parametrize("page", PAGES, ids=lambda row: row.name)
def test_every_page_says_that_the_store_is_away(
    dashboard: Dashboard, seeded_engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch, page: Any
) -> None:
    def away(*_arguments: Any, **_options: Any) -> None:
        raise StoreUnavailableError("The file is locked.")

    monkeypatch.setattr(seeded_engine, "counts", away)
    test = dashboard(seeded_engine, page.name)
    assert not test.exception
    assert "The store did not answer" in test.error[0].value
    assert "The file is locked." in texts(test)


def test_the_header_names_store_mode_operator_and_that_rules_extract(
    dashboard: Dashboard, seeded_engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOSCOPE_STORE", "/data/agents.sqlite")
    test = dashboard(seeded_engine)
    shown = texts(test)
    assert "agents.sqlite" in shown
    # The commands to be copied name the file in full, and nothing else does.
    assert not [each.value for each in (*test.text, *test.markdown, *test.caption) if "/data/agents" in each.value]
    assert "tester" in shown
    assert "Rules extract facts here, not a model" in shown


def test_a_model_is_named_in_place_of_the_rules(
    dashboard: Dashboard, seeded_engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOSCOPE_MODEL", "anthropic:some-model")
    shown = texts(dashboard(seeded_engine))
    assert "anthropic:some-model" in shown
    assert "Rules extract facts here" not in shown


def test_the_url_chooses_the_namespace(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    test = dashboard(seeded_engine, query={"ns": ["memories", "ana"]})
    assert test.selectbox(key=NAMESPACE_KEY).value == ANA


def test_the_url_may_name_the_namespace_with_a_slash(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    assert dashboard(seeded_engine, query={"ns": "memories/ana"}).selectbox(key=NAMESPACE_KEY).value == ANA


@pytest.mark.parametrize("page", ["overview", "browse", "recall"])
def test_a_namespace_that_does_not_exist_is_said_to_be_none(
    dashboard: Dashboard, seeded_engine: MemoryEngine, page: str
) -> None:
    shown = texts(dashboard(seeded_engine, page, query={"ns": "memories/annna"}))
    assert "No memories under memories/annna; it does not exist." in shown
    assert "Nothing is remembered" not in shown


@pytest.mark.parametrize("labels", [["__mnemoscope__"], ["", "a"], ["nobody", "<b>"]])
def test_a_namespace_that_cannot_be_shown_breaks_no_page(
    dashboard: Dashboard, seeded_engine: MemoryEngine, labels: list[str]
) -> None:
    test = dashboard(seeded_engine, query={"ns": labels})
    assert not test.exception
    assert len(test.title) == 1


def test_a_prefix_that_holds_nothing_itself_means_what_lies_below(
    dashboard: Dashboard, seeded_engine: MemoryEngine
) -> None:
    test = dashboard(seeded_engine, query={"ns": ["memories"]})
    assert test.checkbox(key=BELOW_KEY).value is True
    assert test.checkbox(key=BELOW_KEY).disabled


def test_reading_is_the_default_and_writing_is_refused_until_it_is_switched_on(
    dashboard: Dashboard, seeded_engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MNEMOSCOPE_WRITE", raising=False)
    test = dashboard(seeded_engine)
    assert test.button(key=SWITCH_KEY).label == "Allow writing"
    test.session_state["feedback.outcome"] = {"offer": {"message": "Forgot 1 memory.", "undo": "some-change"}}
    test.run().button(key=actions.UNDO_KEY).click().run()
    assert "Writing is off." in texts(test)


def test_an_action_can_be_undone_from_the_bar_until_it_is_dismissed(
    dashboard: Dashboard, seeded_engine: MemoryEngine
) -> None:
    key = seeded_engine.list(ANA, limit=1)[0].key
    seeded_engine.forget(ANA, key=key)
    change = seeded_engine.history(ANA, key)[0]
    test = dashboard(seeded_engine, writing=True)
    test.session_state["feedback.outcome"] = {"offer": {"message": "Forgot 1 memory.", "undo": change.group}}
    test.run().button(key=actions.UNDO_KEY).click().run()
    assert [record.key for record in seeded_engine.list(ANA) if record.key == key] == [key]
    assert [toast.value for toast in test.toast] == ["Undone."]
    assert "offer" not in test.session_state["feedback.outcome"]


def test_a_store_that_cannot_be_opened_is_a_message_not_a_crash(
    dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    damaged = tmp_path / "m.sqlite"
    damaged.write_bytes(b"this is no database" * 100)
    monkeypatch.setenv("MNEMOSCOPE_STORE", str(damaged))
    test = dashboard()
    assert "The store did not answer" in test.error[0].value
    assert not test.exception
