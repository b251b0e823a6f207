"""Who may do what: roles by configuration and by sign-in, enforced in the actions themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mnemoscope import ConfigurationError, MemoryEngine
from mnemoscope.connections import ROLES, Role, Roles, load_connections, may, read_roles
from streamlit.testing.v1 import AppTest

from app.components import actions
from app.session import sign_in
from app.session.session import OPERATOR_KEY
from app.shell.header import SWITCH_KEY

Dashboard = Callable[..., AppTest]
ANA = ("memories", "ana")


def texts(test: AppTest) -> str:
    return "\n".join(str(element.value) for element in (*test.text, *test.markdown, *test.caption, *test.code))


@pytest.fixture
def signed_in(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A function that lets Streamlit know this of the user."""
    return lambda **known: monkeypatch.setattr(sign_in, "account", lambda: known)


@pytest.fixture
def configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """A function that writes the configuration of the dashboard."""

    def write(text: str) -> None:
        file = tmp_path / "mnemoscope.toml"
        file.write_text(text, encoding="utf-8")
        monkeypatch.setenv("MNEMOSCOPE_CONFIG", str(file))

    return write


def offering_an_undo(dashboard: Dashboard, engine: MemoryEngine) -> AppTest:
    """A page on which a memory that was forgotten can be brought back."""
    forgotten = engine.forget(ANA, key=engine.list(ANA)[0].key)
    state = {"feedback.outcome": {"offer": {"message": "Forgot 1 memory.", "undo": forgotten.group}}}
    return dashboard(engine, writing=True, state=state)


# Configuration


def test_each_role_may_do_what_those_before_it_may() -> None:
    assert [[may(role, needed) for needed in ROLES] for role in ROLES] == [
        [True, False, False], [True, True, False], [True, True, True],
    ]  # fmt: skip


def test_people_are_known_by_the_file_whatever_the_case(tmp_path: Path) -> None:
    file = tmp_path / "mnemoscope.toml"
    file.write_text('[roles]\ndefault = "editor"\nadmin = ["Ada@Example.org"]\nviewer = ["eve@example.org"]\n')
    roles = load_connections(file, {}).roles
    assert [roles.of(name) for name in ("ada@example.ORG", "eve@example.org", "ben@example.org", None)] == [
        "admin", "viewer", "editor", "editor",
    ]  # fmt: skip


def test_without_configuration_strangers_look_and_the_own_machine_may_do_everything() -> None:
    assert (Roles().of("anybody@example.org"), Roles().of(None)) == ("viewer", "admin")


@pytest.mark.parametrize(
    "table",
    [{"owner": ["ada"]}, {"default": "root"}, {"admin": "ada"}, {"admin": [1]}, {"admin": ["a"], "viewer": ["A"]}, 7],
)
def test_a_table_of_another_form_is_refused(table: Any) -> None:
    with pytest.raises(ConfigurationError):
        read_roles(table, where="mnemoscope.toml, [roles]")


def test_a_role_that_does_not_exist_is_refused_by_the_dashboard(
    dashboard: Dashboard, seeded_engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOSCOPE_ROLE", "owner")
    test = dashboard(seeded_engine)
    assert "The configuration cannot be used" in test.error[0].value
    assert "'owner': allowed is viewer, editor, admin" in texts(test)
    assert not test.metric


# Enforcement


@pytest.mark.parametrize(("role", "is_back"), [("viewer", False), ("editor", True), ("admin", True)])
def test_an_action_is_refused_to_viewers_even_where_its_button_is_shown(
    dashboard: Dashboard, seeded_engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch, role: Role, is_back: bool
) -> None:
    monkeypatch.setenv("MNEMOSCOPE_ROLE", role)
    test = offering_an_undo(dashboard, seeded_engine)
    test.button(key=actions.UNDO_KEY).click().run()
    assert not test.exception
    assert len(seeded_engine.list(ANA)) == (4 if is_back else 3)
    assert ("This takes the role editor, and yours is viewer." in texts(test)) is not is_back


@pytest.mark.parametrize("role", ROLES)
def test_the_header_says_the_role_and_viewers_cannot_switch_writing_on(
    dashboard: Dashboard, seeded_engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch, role: Role
) -> None:
    monkeypatch.setenv("MNEMOSCOPE_ROLE", role)
    test = dashboard(seeded_engine, writing=True)
    assert f"Your role is {role}." in texts(test)
    assert bool([button for button in test.button if button.key == SWITCH_KEY]) is (role != "viewer")


# Sign-in


def test_nothing_is_shown_before_somebody_has_signed_in(
    dashboard: Dashboard, seeded_engine: MemoryEngine, signed_in: Callable[..., None]
) -> None:
    signed_in(is_logged_in=False)
    test = dashboard(seeded_engine, "browse")
    assert [button.key for button in test.button] == [sign_in.SIGN_IN_KEY]
    assert not test.dataframe
    assert not test.title


def test_who_signed_in_has_their_own_role_and_name(
    dashboard: Dashboard,
    seeded_engine: MemoryEngine,
    signed_in: Callable[..., None],
    configured: Callable[[str], None],
) -> None:
    configured('[roles]\neditor = ["ben@example.org"]\n')
    signed_in(is_logged_in=True, email="Ben@example.org", email_verified=True, name="Ben")
    test = offering_an_undo(dashboard, seeded_engine)
    assert "Your role is editor." in texts(test)
    assert not [each for each in test.text_input if each.key == OPERATOR_KEY]
    test.session_state[OPERATOR_KEY] = "somebody else"
    test.button(key=actions.UNDO_KEY).click().run()
    assert seeded_engine.history(ANA, limit=1)[0].actor == "Ben@example.org"


def test_an_address_that_nobody_vouches_for_gives_no_role(
    dashboard: Dashboard,
    seeded_engine: MemoryEngine,
    signed_in: Callable[..., None],
    configured: Callable[[str], None],
) -> None:
    configured('[roles]\nadmin = ["ada@example.org"]\n')
    signed_in(is_logged_in=True, email="ada@example.org", email_verified=False, sub="4711", name="Ada")
    assert "Your role is viewer." in texts(dashboard(seeded_engine, writing=True))


def test_a_typed_name_never_gives_a_role(
    dashboard: Dashboard, seeded_engine: MemoryEngine, configured: Callable[[str], None]
) -> None:
    configured('[roles]\ndefault = "viewer"\nadmin = ["ada@example.org"]\n')
    state = {OPERATOR_KEY: "ada@example.org"}
    assert "Your role is viewer." in texts(dashboard(seeded_engine, writing=True, state=state))
