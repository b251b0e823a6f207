from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mnemoscope.connections import connection_to, open_connection
from mnemoscope.embedding import IDENTITY_AT
from streamlit.testing.v1 import AppTest

from app.session.scope import NAMESPACE_KEY
from app.session.session import CONNECTION_KEY
from app.shell.header import MAKE_KEY, SWITCH_KEY

Dashboard = Callable[..., AppTest]
ANA, BEN = ("memories", "ana"), ("memories", "ben")
SECRET = "hunter2-and-more"

CONFIGURATION = """
default = "first"
[connections.first]
url = "sqlite:///first.sqlite"
embedder = "hashing"
[connections.second]
url = "sqlite:///second.sqlite"
embedder = "hashing"
[connections.closed]
url = "sqlite:///first.sqlite"
embedder = "hashing"
read_only = true
[connections.away]
url = "postgresql://app:${AWAY_PASSWORD}@127.0.0.1:1/agents"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mnemoscope.toml").write_text(CONFIGURATION)
    monkeypatch.setenv("MNEMOSCOPE_CONFIG", str(tmp_path / "mnemoscope.toml"))
    monkeypatch.setenv("AWAY_PASSWORD", SECRET)
    fill(tmp_path / "first.sqlite", "Ana lives in Lisbon.", ANA)
    fill(tmp_path / "second.sqlite", "Ben drinks green tea.", BEN)
    return tmp_path


def fill(path: Path, text: str, namespace: tuple[str, ...]) -> None:
    engine = open_connection(connection_to(str(path), embedder="hashing"))
    engine.remember(text, namespace, extract=False)
    engine.close()


def offered(test: AppTest) -> str:
    return " ".join(str(option) for option in test.selectbox(key=NAMESPACE_KEY).options)


def shown(test: AppTest) -> str:
    elements = (*test.text, *test.markdown, *test.caption, *test.code, *test.error, *test.warning)
    return "\n".join(str(element.value) for element in elements)


@pytest.mark.usefixtures("folder")
def test_the_default_is_shown_first_and_the_url_names_it(dashboard: Dashboard) -> None:
    test = dashboard()
    assert test.selectbox(key=CONNECTION_KEY).value == "first"
    assert test.selectbox(key=CONNECTION_KEY).options == ["first", "second", "closed", "away"]
    assert test.query_params["c"] == "first"
    assert "memories/ana" in offered(test)


@pytest.mark.usefixtures("folder")
def test_a_url_names_another_connection(dashboard: Dashboard) -> None:
    test = dashboard(query={"c": "second"})
    assert test.selectbox(key=CONNECTION_KEY).value == "second"
    assert "memories/ben" in offered(test)
    assert "memories/ana" not in offered(test)


@pytest.mark.usefixtures("folder")
def test_going_over_to_another_connection_leaves_scope_and_writing_behind(dashboard: Dashboard) -> None:
    test = dashboard(query={"ns": list(ANA)}, writing=True)
    assert test.selectbox(key=NAMESPACE_KEY).value == ANA
    assert test.button(key=SWITCH_KEY).label == "Stop writing"
    test.selectbox(key=CONNECTION_KEY).select("second").run()
    assert not test.exception
    assert test.selectbox(key=NAMESPACE_KEY).value == ()
    assert test.button(key=SWITCH_KEY).label == "Allow writing"
    assert test.query_params["c"] == "second"
    assert "memories/ben" in offered(test)


@pytest.mark.usefixtures("folder")
def test_a_connection_that_fails_looks_failed_and_the_others_go_on(dashboard: Dashboard) -> None:
    test = dashboard(query={"c": "away"})
    assert "The store did not answer" in test.error[0].value
    assert "Nothing is remembered here yet" not in shown(test)
    assert SECRET not in shown(test)
    test.selectbox(key=CONNECTION_KEY).select("first").run()
    assert not test.error
    assert "memories/ana" in offered(test)


@pytest.mark.usefixtures("folder")
def test_a_connection_that_is_not_configured_is_said_to_be_so(dashboard: Dashboard) -> None:
    test = dashboard(query={"c": "<b>nowhere"})
    assert "a connection that is not configured" in test.warning[0].value
    assert test.selectbox(key=CONNECTION_KEY).value == "first"


@pytest.mark.usefixtures("folder")
def test_a_read_only_connection_has_no_switch_and_its_actions_are_refused(dashboard: Dashboard) -> None:
    test = dashboard(
        query={"c": "closed"}, writing=True, state={"feedback.outcome": {"offer": {"message": "x", "undo": "y"}}}
    )
    assert not [button for button in test.button if button.key == SWITCH_KEY]
    assert "This connection is read-only" in shown(test)
    test.button(key="feedback.undo").click().run()
    assert "This connection is read-only, so nothing was written." in shown(test)


@pytest.mark.usefixtures("folder")
def test_the_command_makes_every_connection_read_only(dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMOSCOPE_READ_ONLY", "1")
    assert "This connection is read-only" in shown(dashboard(writing=True))


def test_a_broken_configuration_is_named_on_the_page(dashboard: Dashboard, folder: Path) -> None:
    (folder / "mnemoscope.toml").write_text("[connections.x]\nurll = 'memory:'\n")
    test = dashboard()
    assert "The configuration cannot be used" in test.error[0].value
    assert "Did you mean 'url'?" in shown(test)


def test_a_replaced_file_is_opened_anew_and_that_is_said(dashboard: Dashboard, folder: Path) -> None:
    test = dashboard()
    fill(folder / "new.sqlite", "Ben drinks green tea.", BEN)
    (folder / "new.sqlite").replace(folder / "first.sqlite")
    test.run()
    assert "memories/ben" in offered(test)
    assert "was replaced" in test.toast[0].value


def test_the_own_store_is_made_only_once_writing_is_on(
    dashboard: Dashboard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    test = dashboard()
    assert "There is no store yet." in shown(test)
    assert not list(tmp_path.rglob("*.sqlite"))
    test.button(key=SWITCH_KEY).click().run()
    assert [file.name for file in tmp_path.rglob("*.sqlite")] == ["memories.sqlite"]
    assert "There is no store yet." not in shown(test.run())


def test_a_file_that_was_named_and_is_not_there_is_a_failure(
    dashboard: Dashboard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOSCOPE_STORE", str(tmp_path / "typo.sqlite"))
    test = dashboard()
    assert "The store did not answer" in test.error[0].value
    assert "There is no SQLite file" in shown(test)
    assert not (tmp_path / "typo.sqlite").exists()
    test.button(key=SWITCH_KEY).click().run()
    assert not (tmp_path / "typo.sqlite").exists()
    test.button(key=MAKE_KEY).click().run()
    assert not test.error
    assert (tmp_path / "typo.sqlite").exists()


def test_a_folder_in_place_of_a_file_is_said_to_be_one(
    dashboard: Dashboard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOSCOPE_STORE", str(tmp_path))
    assert f"{tmp_path} is a folder" in shown(dashboard())


def test_another_embedder_than_the_stores_is_a_badge_in_the_header(dashboard: Dashboard, folder: Path) -> None:
    def note(name: str) -> Any:
        engine = open_connection(connection_to(str(folder / "second.sqlite"), embedder="hashing"))
        engine.store.put(*IDENTITY_AT, {"kind": "embedder", "name": name, "dimensions": 256}, index=False)
        engine.close()

    assert "Another embedder" not in shown(dashboard(query={"c": "second"}))
    note("somebody:else")
    assert "Another embedder" in shown(dashboard(query={"c": "second"}))


def test_a_memory_store_is_one_for_reading_and_for_writing(
    dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.session import session
    from app.session.connections import read_catalogue
    from app.session.settings import Settings

    monkeypatch.setenv("MNEMOSCOPE_STORE", "memory:")
    monkeypatch.setenv("MNEMOSCOPE_EMBEDDER", "hashing")
    test = dashboard()
    connection = read_catalogue(Settings.from_environment()).find(None)
    writer = session.memory_engine(connection, True, "")
    writer.remember("Ana lives in Lisbon.", ANA, extract=False)
    assert "memories/ana" in offered(test.run())


def test_a_model_without_its_key_leaves_every_reading_page_and_the_way_to_another_connection(
    dashboard: Dashboard, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    first = '[connections.first]\nmodel = "openai:gpt-4"'
    (folder / "mnemoscope.toml").write_text(CONFIGURATION.replace("[connections.first]", first))
    for page in ("overview", "browse"):
        test = dashboard(page=page)
        assert not test.exception
        assert not test.error
        assert "The model 'openai:gpt-4' cannot be used" in shown(test)
        assert len(test.selectbox(key=CONNECTION_KEY).options) == 4
    test = dashboard(page="replay", query={"ns": list(ANA)})
    test.button(key="replay.plan").click().run()
    assert "The configuration cannot be used" in shown(test)


@pytest.mark.usefixtures("folder")
def test_an_error_of_any_kind_leaves_the_way_to_another_connection(
    dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_arguments: Any) -> None:
        raise RuntimeError("unforeseen")

    monkeypatch.setattr("app.session.session.memory_engine", fails)
    test = dashboard()
    assert "Something went wrong" in shown(test)
    assert len(test.selectbox(key=CONNECTION_KEY).options) == 4


def test_a_store_that_is_not_there_is_made_by_its_button_alone(dashboard: Dashboard, folder: Path) -> None:
    file = folder / "second.sqlite"
    file.unlink()
    test = dashboard(query={"c": "second"})
    test.button(key=SWITCH_KEY).click().run()
    assert not file.exists()
    assert f"There is no SQLite file {file}" in shown(test)
    test.button(key=MAKE_KEY).click().run()
    assert file.exists()
    assert not test.error
