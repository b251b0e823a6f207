from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from app.session import connections
from app.session.settings import VARIABLES, Settings
from app.shell import server, trial
from app.shell.command import COMMANDS, load_command, mnemoscope

LOADED = [load_command(name) for name in COMMANDS]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the command would have served, in place of a server that blocks."""
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(server, "serve", lambda settings, **rest: calls.append({"settings": settings, **rest}))
    return calls


@pytest.fixture(autouse=True)
def own_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for variable in VARIABLES.values():
        monkeypatch.delenv(variable.name, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOGNAME", "ana")
    return tmp_path


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(mnemoscope, list(arguments))


def test_the_bare_command_serves_the_own_store_reading_only(served: list[dict[str, Any]], own_folders: Path) -> None:
    assert invoke().exit_code == 0
    assert served == [{"settings": Settings(None, None, "ana", False), "port": None, "opens_browser": True}]
    own = own_folders / "data" / "mnemoscope" / "memories.sqlite"
    first = connections.read_catalogue(served[0]["settings"]).find(None)
    assert first.file() == own


def test_options_win_over_the_environment(
    served: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MNEMOSCOPE_STORE", "/elsewhere.sqlite")
    monkeypatch.setenv("MNEMOSCOPE_MODEL", "openai:some-model")
    monkeypatch.chdir(tmp_path)
    result = invoke("--store", "m.sqlite", "--operator", "ben", "--write", "--port", "9001", "--no-browser")
    assert result.exit_code == 0, result.output
    settings = Settings(str(tmp_path / "m.sqlite"), "openai:some-model", "ben", True)
    assert served == [{"settings": settings, "port": 9001, "opens_browser": False}]


def test_the_demo_is_built_once_and_served_for_reading(
    served: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "_build", lambda path: path.write_text(f"built {path.parent.exists()}"))
    assert invoke("demo", "--no-browser").exit_code == 0
    trial.trial_path().write_text("changed by the operator")
    assert invoke("demo", "--no-browser").exit_code == 0
    assert trial.trial_path().read_text() == "changed by the operator"
    assert invoke("demo", "--no-browser", "--fresh", "--write").exit_code == 0
    assert trial.trial_path().read_text() == "built True"
    assert [call["settings"].is_writing for call in served] == [False, False, True]
    assert not list(trial.trial_path().parent.glob("*unfinished*"))


def test_the_doctor_finds_a_new_machine_in_order(tmp_path: Path) -> None:
    result = invoke("doctor", "--store", str(tmp_path / "m.sqlite"))
    assert result.exit_code == 0, result.output
    assert "ok   Embedder: the bundled MiniLM, 384 dimensions" in result.output
    assert "warn Reachable: " in result.output
    assert "is not there yet; the first memory makes it" in result.output
    assert "ok   Model: none, so rules extract facts" in result.output
    assert not (tmp_path / "m.sqlite").exists()


def test_the_doctor_fails_on_a_damaged_store_and_says_what_to_do(tmp_path: Path) -> None:
    damaged = tmp_path / "m.sqlite"
    damaged.write_bytes(b"this is no database" * 100)
    result = invoke("doctor", "--store", str(damaged))
    assert result.exit_code == 1
    assert f"FAIL Reachable: The SQLite file {damaged} cannot be used" in result.output
    assert "Name another file with --store or $MNEMOSCOPE_STORE." in result.output


def test_the_doctor_fails_on_a_model_that_cannot_answer(tmp_path: Path) -> None:
    result = invoke("doctor", "--store", str(tmp_path / "m.sqlite"), "--model", "nobody:nothing")
    assert result.exit_code == 1
    assert "FAIL Model: " in result.output
    assert "Check its name, its package and the key in the environment." in result.output


def test_the_doctor_prints_json(tmp_path: Path) -> None:
    result = invoke("doctor", "--store", str(tmp_path / "m.sqlite"), "--json")
    printed = json.loads(result.output)
    assert (printed["connection"], printed["is_good"]) == ("m.sqlite", True)
    assert [step["name"] for step in printed["steps"]][:3] == ["Configuration", "Embedder", "Reachable"]


def test_the_doctor_checks_the_connection_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "mnemoscope.toml").write_text('[connections.lab]\nurl = "memory:"\nembedder = "hashing"\n')
    result = invoke("doctor", "--connection", "lab")
    assert result.exit_code == 0, result.output
    assert "Configuration: lab: memory:" in result.output
    refused = invoke("doctor", "--connection", "nowhere")
    assert refused.exit_code == 1
    assert "There is no connection 'nowhere'; there is lab" in refused.output


def test_a_password_on_the_command_line_is_refused_and_not_repeated() -> None:
    result = invoke("doctor", "--store", "postgresql://ana:hunter2@localhost/memories")
    assert result.exit_code == 2
    assert "spells out a password" in result.output
    assert "hunter2" not in result.output


@pytest.mark.parametrize("command", LOADED, ids=lambda command: command.name)
def test_every_command_and_option_has_help(command: Any) -> None:
    assert command.help
    options = [each for each in command.params if isinstance(each, click.Option)]
    assert all(option.help for option in options)
