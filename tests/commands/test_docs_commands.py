"""docs/commands.md names every command for scripts and every option it has."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from app.shell.command import SCRIPTS, load_command

LOADED = [load_command(name) for name in SCRIPTS]

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
ROWS = {line.split("`")[1]: line.split("|") for line in TEXT.splitlines() if line.startswith("| `")}
OPTIONS = [(command, option) for command in LOADED for option in command.params if isinstance(option, click.Option)]


@pytest.mark.parametrize("command", LOADED, ids=lambda command: command.name)
def test_every_command_for_scripts_has_a_row_that_names_its_argument(command: click.Command) -> None:
    arguments = [each.name.upper() for each in command.params if isinstance(each, click.Argument) and each.name]
    assert ROWS[str(command.name)][1].strip() == " ".join([f"`{command.name}`", *arguments])


@pytest.mark.parametrize(("command", "option"), OPTIONS, ids=lambda each: each.name)
def test_every_option_has_a_row_that_names_its_commands(command: click.Command, option: click.Option) -> None:
    assert command.name in _commands(option.opts[0])


def test_no_row_tells_of_an_option_or_command_that_is_not_there() -> None:
    known = {f"{command.name} {option.opts[0]}" for command, option in OPTIONS}
    told = {f"{command} {name}" for name in ROWS if name.startswith("--") for command in _commands(name)}
    assert told == known


def _commands(option: str) -> list[str]:
    return [each.strip() for each in ROWS[option][2].split(",")]
