"""The commands that pages show: a shell and the command line read them as they are meant, whatever the texts hold."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import examples
from mnemoscope import MemoryConfig

from app.components import code
from app.session.settings import VARIABLES
from app.shell.command import SCRIPTS, load_command
from app.text.shell_words import quoted
from app.views.recall import agent
from app.views.recall.filters import RecallFilters
from app.views.recall.query import RecallQuery
from app.views.recall.sliders import RankingSettings

LOADED = [load_command(name) for name in SCRIPTS]

BASH = shutil.which("bash")


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for variable in VARIABLES.values():
        monkeypatch.delenv(variable.name, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = tmp_path / "my memories.sqlite"
    monkeypatch.setenv("MNEMOSCOPE_STORE", str(path))
    return path


def parsed(line: str) -> tuple[str, dict[str, object]]:
    """The command of a line and what its parameters become, as the command line itself parses them."""
    words = shlex.split(line)
    assert words[0] == "mnemoscope"
    command = load_command(words[1])
    context = command.make_context(words[1], words[2:], resilient_parsing=False)
    return str(command.name), context.params


def test_a_command_names_the_store_and_its_options(store: Path) -> None:
    line = code.write_command("forget", namespace=("memories", "ana"), key=["a b", "c"], dry_run=True, reason="")
    name, given = parsed(line.replace("\\\n", ""))
    assert name == "forget"
    assert (given["store"], given["namespace"]) == (str(store), ("memories", "ana"))
    assert (given["keys"], given["dry_run"], given["reason"]) == (("a b", "c"), True, "")


@pytest.mark.usefixtures("store")
def test_a_value_that_looks_like_an_option_stays_a_value() -> None:
    _, given = parsed(code.write_command("recall", "--limit", namespace=("m",), source="-x").replace("\\\n", ""))
    assert (given["query"], given["source"]) == ("--limit", "-x")


@pytest.mark.usefixtures("store")
def test_memories_of_several_namespaces_take_one_command_each() -> None:
    refs = [(("b",), "1"), (("a",), "2"), (("b",), "3")]
    lines = code.write_commands_at("restore", refs).replace(" \\\n", "").splitlines()
    assert [(parsed(line)[1]["namespace"], parsed(line)[1]["keys"]) for line in lines] == [
        (("a",), ("2",)),
        (("b",), ("1", "3")),
    ]


@pytest.mark.usefixtures("store")
def test_the_command_of_a_recall_asks_the_same() -> None:
    since = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    filters = RecallFilters(("food", "it's"), include_private=True, since=since, filter='{"source": "nurse"}')
    chosen = RankingSettings(MemoryConfig(min_score=0.25), 0, 500)
    line = agent.write_recall_command(RecallQuery('say "tea"', ("memories", "ana"), True, filters), chosen)
    _, given = parsed(line.replace("\\\n", ""))
    wanted = {"query": 'say "tea"', "namespace": ("memories", "ana"), "subtree": True, "categories": ("food", "it's")}
    wanted |= {"include_private": True, "since": since, "filter": {"source": "nurse"}}
    wanted |= {"limit": 0, "min_score": 0.25, "min_similarity": None, "max_tokens": 500}
    assert {name: given[name] for name in wanted} == wanted


@pytest.mark.usefixtures("store")
def test_a_connection_of_the_file_is_named_and_no_secret_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "mnemoscope.toml"
    file.write_text('[connections.main]\nurl = "postgresql://me:${PASSWORD_OF_IT}@host/db"\n', encoding="utf-8")
    monkeypatch.delenv("MNEMOSCOPE_STORE")
    monkeypatch.setenv("MNEMOSCOPE_CONFIG", str(file))
    line = code.write_command("history")
    assert shlex.split(line.replace("\\\n", ""))[2:] == ["--config", str(file), "--connection", "main"]
    monkeypatch.delenv("MNEMOSCOPE_CONFIG")
    monkeypatch.setenv("MNEMOSCOPE_STORE", "postgresql://me:hunter2@host/db")
    assert "hunter2" not in code.write_command("history")


@pytest.mark.skipif(BASH is None, reason="there is no bash here")
@examples(60)
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40))
def test_a_shell_reads_any_text_as_one_word(text: str) -> None:
    script = f"printf %s {quoted(text)}"
    said = subprocess.run([str(BASH), "-c", script], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"}).stdout
    assert said.decode() == text


@pytest.mark.parametrize("command", LOADED, ids=lambda each: str(each.name))
def test_every_command_is_there(command: click.Command) -> None:
    assert command.callback is not None
