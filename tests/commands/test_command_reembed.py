"""`mnemoscope reembed`: over to another embedder from a terminal, and what every other command says meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from mnemoscope.connections import connection_to, open_connection
from mnemoscope.embedding import HashingEmbeddings

from app.session.settings import VARIABLES
from app.shell.command import mnemoscope
from app.text.reembedding import describe_duration

ANA = ("memories", "ana")
HERE = f"python:{__name__}:small"
Invoke = Callable[..., Result]


def small() -> HashingEmbeddings:
    return HashingEmbeddings(32)


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    for variable in VARIABLES.values():
        monkeypatch.delenv(variable.name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("MNEMOSCOPE_OPERATOR", "script")
    monkeypatch.setenv("MNEMOSCOPE_EMBEDDER", "hashing")
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "m.sqlite"
    with closing(open_connection(connection_to(str(path), embedder="hashing"))) as engine:
        for number in range(5):
            engine.remember(f"Ana tells of the fact {number}", ANA, extract=False)

    def call(*arguments: str, code: int = 0) -> Result:
        result = CliRunner().invoke(mnemoscope, [arguments[0], "--store", str(path), *arguments[1:]])
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return call


def test_a_store_goes_over_and_back_again(invoke: Invoke) -> None:
    assert "No change of embedder was begun" in invoke("reembed", "--next-embedder", HERE, "--status").stdout
    done = invoke("reembed", "--next-embedder", HERE, "--reason", "smaller")
    assert done.stdout.startswith("The vectors in use are by hashing:32, 32 dimensions. Those by hashing:256")
    assert "5 of 5 vectors" in done.stderr or "0 of 5 vectors" in done.stderr
    found = json.loads(
        invoke("recall", "fact 3", "--namespace", "memories/ana", "--next-embedder", HERE, "--json").stdout
    )
    assert found
    [entry] = json.loads(invoke("history", "--action", "reembed", "--json").stdout)
    assert (entry["actor"], entry["reason"].endswith("; smaller")) == ("script", True)
    refused = invoke("undo", entry["group"], code=1)
    assert "mnemoscope reembed --back" in refused.stderr
    back = json.loads(invoke("reembed", "--next-embedder", HERE, "--back", "--json").stdout)
    assert (back["state"], back["embedded"], back["target"]["name"]) == ("done", 0, "hashing:256")
    assert invoke("reembed", "--drop").stdout == "Dropped the vectors by hashing:32, 32 dimensions.\n"
    assert invoke("reembed", "--drop").stdout == "There was nothing to drop.\n"


def test_whoever_names_only_the_old_embedder_is_told(invoke: Invoke) -> None:
    invoke("reembed", "--next-embedder", HERE)
    refused = invoke("remember", "Ana has a parrot", "--namespace", "memories/ana", code=1)
    assert "by hashing:32, 32 dimensions, but hashing:256, 256 dimensions is in use" in refused.stderr
    assert "mnemoscope reembed" in refused.stderr
    # Its configuration names the embedder of before; that is a target like any other.
    assert invoke("reembed").stdout.startswith("The vectors in use are by hashing:256")


def test_it_can_be_made_anew_with_the_same_embedder(invoke: Invoke) -> None:
    assert "the only embedder that is named" in invoke("reembed", code=1).stderr
    again = json.loads(invoke("reembed", "--again", "--json").stdout)
    assert (again["state"], again["embedded"]) == ("done", 5)
    again = json.loads(invoke("reembed", "--again", "--json").stdout)
    assert (again["state"], again["embedded"]) == ("done", 5)


def test_nothing_under_way_cannot_be_paused_and_a_viewer_may_only_look(invoke: Invoke) -> None:
    assert "nothing to pause" in invoke("reembed", "--pause", code=1).stderr
    assert "takes the role admin" in invoke("reembed", "--next-embedder", HERE, "--role", "editor", code=1).stderr
    invoke("reembed", "--status", "--role", "viewer")
    assert "rate" in invoke("reembed", "--rate", "0", code=2).stderr


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.2, "1 second"), (59, "59 seconds"), (61, "1 minute"), (7_300, "2 hours")]
)
def test_a_time_is_told_in_its_largest_unit(seconds: float, said: str) -> None:
    assert describe_duration(seconds) == said
