from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from mnemoscope import MemoryEngine
from mnemoscope.connections import Connection, connection_to, load_connections
from streamlit.testing.v1 import AppTest

from app.session.connections import Catalogue
from app.text.toml import write_connection
from app.views.connect import page

Dashboard = Callable[..., AppTest]
SECRET = "hunter2-and-more"


def shown(test: AppTest) -> str:
    elements = (*test.text, *test.markdown, *test.caption, *test.code, *test.error, *test.warning, *test.success)
    return "\n".join(str(element.value) for element in elements)


def opened(dashboard: Dashboard, file: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("MNEMOSCOPE_STORE", str(file))
    return dashboard(None, "connect")


def writing_down(test: AppTest, kind: str, url: str) -> AppTest:
    test.get_by_key(page.KIND_KEY).set_value(kind).run()
    return test.text_input(key=page.URL_KEY).set_value(url).run()


def test_a_configured_connection_is_tried_step_by_step(
    dashboard: Dashboard, seeded_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = opened(dashboard, seeded_file, monkeypatch)
    test.button(key=page.TRY_KEY).click().run()
    assert test.success[0].value == "It works. Nothing was written."
    assert "5 memories in 2 namespaces" in shown(test)
    assert "is found first by its own text, with similarity 1.000" in shown(test)


def test_the_page_works_while_the_store_does_not(
    dashboard: Dashboard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = opened(dashboard, tmp_path / "typo.sqlite", monkeypatch)
    assert "The store did not answer" in test.error[0].value
    test.button(key=page.TRY_KEY).click().run()
    assert "is not there yet; the first memory makes it" in shown(test)


def test_a_new_connection_is_tried_and_written_down(
    dashboard: Dashboard, seeded_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = writing_down(opened(dashboard, tmp_path / "m.sqlite", monkeypatch), "sqlite", f"sqlite:///{seeded_file}")
    test.text_input(key=page.NAME_KEY).set_value("lab").run()
    test.button(key=page.TRY_KEY).click().run()
    assert test.success
    table = next(code.value for code in test.code if code.value.startswith("[connections"))
    (tmp_path / "mnemoscope.toml").write_text(table)
    assert load_connections(tmp_path / "mnemoscope.toml").named("lab").file() == seeded_file


def test_a_password_is_not_taken(dashboard: Dashboard, seeded_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    test = writing_down(
        opened(dashboard, seeded_file, monkeypatch), "postgresql", f"postgresql://ana:{SECRET}@127.0.0.1/agents"
    )
    assert "Put the password in an environment variable" in test.warning[0].value
    assert test.button(key=page.TRY_KEY).disabled
    assert SECRET not in shown(test)


def test_an_address_of_no_known_form_is_refused(
    dashboard: Dashboard, seeded_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = writing_down(opened(dashboard, seeded_file, monkeypatch), "sqlite", "mysql://h/d")
    assert "The configuration cannot be used" in test.error[0].value
    assert test.button(key=page.TRY_KEY).disabled


@pytest.mark.parametrize(
    ("connection", "part"),
    [
        (Connection(name="x", url="python:os:getcwd"), "Code is run only where the configuration names it"),
        (Connection(name="x", url="memory:", embedder="python:os:getcwd"), "Code is run only"),
        (Connection(name="x", url="langgraph://${HOME}.example"), "filled in for a password alone"),
        (Connection(name="x", url="${DATABASE_URL}"), "filled in for a password alone"),
        (Connection(name="x", url="postgresql://a:${P}@h/d?options=${HOME}"), "filled in for a password alone"),
        (Connection(name="x", url="postgresql://a:${P}@h/d"), ""),
        (Connection(name="x", url="memory:"), ""),
    ],
)
def test_what_is_typed_in_runs_no_code_and_sends_no_variable_elsewhere(connection: Connection, part: str) -> None:
    said = page.find_obstacle(connection, Catalogue({}, ""))
    assert part in said
    assert bool(part) == bool(said)


def test_what_the_configuration_names_may_be_tried() -> None:
    own = Connection(name="x", url="python:my.stores:make")
    assert page.find_obstacle(own, Catalogue({"x": own}, "x")) == ""


def test_the_table_says_everything_and_is_read_back_alike(tmp_path: Path) -> None:
    connection = Connection(
        name="my \u00e9 lab",
        url="langgraph://h:1",
        namespaces=(("memories", "b%2Ec"),),
        read_only=True,
        model='anthropic:"x"',
        profile="classic",
        headers=(("x-api-key", "${KEY}"),),
    )
    (tmp_path / "mnemoscope.toml").write_text(write_connection(connection), encoding="utf-8")
    found = load_connections(tmp_path / "mnemoscope.toml").named("my \u00e9 lab")
    for name in ("url", "namespaces", "read_only", "model", "profile", "headers"):
        assert getattr(found, name) == getattr(connection, name)


def test_the_table_holds_no_secret() -> None:
    text = write_connection(connection_to(f"postgresql://ana:{SECRET}@h/d", embedder="hashing", dimensions=256))
    assert SECRET not in text
    table = tomllib.loads(text)["connections"]["h/d"]
    assert table == {
        "url": "postgresql://ana:${MNEMOSCOPE_PASSWORD}@h/d",
        "embedder": "hashing",
        "dimensions": 256,
    }


def test_an_injected_engine_does_not_hide_the_page(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    test = dashboard(seeded_engine, "connect")
    assert [title.value for title in test.title] == ["Connect"]
