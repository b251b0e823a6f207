"""docs/configuration.md names every key, address, profile setting, command, option and variable there is."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from mnemoscope.config import KNOBS
from mnemoscope.connections import CONNECTION_KEYS, SCHEMES, TOP_KEYS, load_connections

from app.session.settings import VARIABLES
from app.shell.command import COMMANDS, SCRIPTS, load_command

LOADED = [load_command(name) for name in COMMANDS]

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
TABLE_LINES = [line for line in TEXT.splitlines() if line.startswith("|")]
ROWS = {line.split("|")[1].strip(): line for line in TABLE_LINES if line.startswith("| `")}
OPTIONS = [(command, option) for command in LOADED if command.name not in SCRIPTS for option in command.params]


@pytest.mark.parametrize("name", [*CONNECTION_KEYS, *KNOBS])
def test_every_key_has_a_row(name: str) -> None:
    assert f"`{name}`" in ROWS


@pytest.mark.parametrize("name", TOP_KEYS)
def test_every_table_of_the_file_is_named(name: str) -> None:
    assert f"`{name}`" in TEXT


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_kind_of_address_is_named(scheme: str) -> None:
    assert re.search(rf"`{re.escape(scheme)}:", TEXT)


@pytest.mark.parametrize("command", LOADED, ids=lambda command: command.name)
def test_every_command_has_a_row(command: object) -> None:
    assert f"`{command.name}`" in ROWS  # type: ignore[attr-defined]


@pytest.mark.parametrize(("command", "option"), OPTIONS, ids=lambda each: each.name)
def test_every_option_has_a_row_that_names_its_command(command: object, option: object) -> None:
    row = ROWS[f"`{option.opts[0] if option.opts[0].startswith('--') else option.opts[-1]}`"]  # type: ignore[attr-defined]
    assert command.name in row.split("|")[3]  # type: ignore[attr-defined]


@pytest.mark.parametrize("variable", VARIABLES.values(), ids=lambda variable: variable.name)
def test_every_variable_has_a_row(variable: object) -> None:
    assert any(f"`{variable.name}`" in line for line in TABLE_LINES)  # type: ignore[attr-defined]


@pytest.mark.parametrize("knob", KNOBS.values(), ids=lambda knob: knob.name)
def test_every_default_is_the_one_that_is_told(knob: object) -> None:
    told = ROWS[f"`{knob.name}`"].split("|")[2].strip()  # type: ignore[attr-defined]
    assert told == str(knob.default).lower() or float(told) == knob.default  # type: ignore[attr-defined]


def test_the_example_is_a_file_that_is_accepted(tmp_path: Path) -> None:
    example = re.search(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    assert example is not None
    (tmp_path / "mnemoscope.toml").write_text(example.group(1), encoding="utf-8")
    found = load_connections(tmp_path / "mnemoscope.toml")
    assert list(found.connections) == list(tomllib.loads(example.group(1))["connections"])
