"""`mnemoscope evaluate`, on an SQLite file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from mnemoscope import ExtractedFact, MemoryConfig, MemoryEngine
from mnemoscope.connections import connection_to, open_connection
from mnemoscope.recall import Profile, case

from app.shell.command import mnemoscope

ANA = ("memories", "ana")
Invoke = Callable[..., Result]
pytestmark = pytest.mark.usefixtures("script_home")
FACTS = ("Ana lives in Lisbon", "Ana drinks green tea", "Ana plays chess")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "memories.sqlite"
    engine = opened(path)
    engine.remember_facts([ExtractedFact(content=text) for text in FACTS], ANA)
    engine.close()
    lines = [{"query": text, "namespace": list(ANA), "expected": [text]} for text in FACTS]
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def opened(path: Path) -> MemoryEngine:
    return open_connection(connection_to(str(path), embedder="hashing"))


@pytest.fixture
def invoke(store: Path) -> Invoke:
    def call(*arguments: str, code: int = 0) -> Result:
        result = CliRunner().invoke(mnemoscope, ["evaluate", "--store", str(store), *arguments])
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return call


def test_a_profile_is_measured_on_the_cases_of_a_file(invoke: Invoke) -> None:
    result = invoke("cases.jsonl", "--profile", "precise", "--against", "classic", "--metric", "ndcg@10")
    first, head, line = result.output.splitlines()
    assert first.startswith("3 cases")
    assert head.split() == ["precise", "classic"]
    assert line.split("  ")[0] == "ndcg@10"
    assert "1.000 [1.000, 1.000]" in line


def test_it_prints_json(invoke: Invoke) -> None:
    printed = json.loads(invoke("cases.jsonl", "--metric", "recall@1", "--json").output)
    assert printed["profiles"] == {"in use": {"recall@1": {"mean": 1.0, "low": 1.0, "high": 1.0}}}
    assert printed["exact"] is True
    assert [each["values"] for each in printed["cases"]] == [{"in use": {"recall@1": 1.0}}] * 3


def test_it_fails_where_a_figure_is_worse_than_asked_for(invoke: Invoke) -> None:
    invoke("cases.jsonl", "--fail-under", "ndcg@10=.5")
    result = invoke("cases.jsonl", "--fail-under", "precision@10=.5", code=1)
    assert "precision@10 of in use is 0.100, and 0.5 is asked for." in result.stderr


def test_what_no_case_says_anything_about_is_not_good_enough(invoke: Invoke) -> None:
    result = invoke("cases.jsonl", "--fail-under", "unwanted@5=.5", code=1)
    assert "cannot be measured" in result.stderr


def test_more_of_the_unwanted_than_asked_for_fails(invoke: Invoke, tmp_path: Path) -> None:
    line = {"query": FACTS[0], "namespace": list(ANA), "unwanted": [FACTS[0]]}
    (tmp_path / "unwanted.jsonl").write_text(json.dumps(line), encoding="utf-8")
    invoke("unwanted.jsonl", "--fail-under", "unwanted@1=1")
    invoke("unwanted.jsonl", "--fail-under", "unwanted@1=.5", code=1)


def test_an_expected_memory_that_is_not_there_is_named(invoke: Invoke, tmp_path: Path) -> None:
    line = {"query": "tea", "expected": ["\x1b[2J gone", FACTS[1]]}
    (tmp_path / "gone.jsonl").write_text(json.dumps(line), encoding="utf-8")
    result = invoke("gone.jsonl", "--namespace", "memories/ana", "--metric", "recall@10")
    assert "0.500" in result.output
    assert "No memory" in result.stderr
    assert "\x1b" not in result.stderr


def test_without_a_file_the_cases_and_profiles_of_the_store_are_taken(invoke: Invoke, store: Path) -> None:
    engine = opened(store)
    engine.tuning.save_cases([case("tea", ANA, expected=[FACTS[1]])])
    engine.tuning.save_profile(Profile("mine", MemoryConfig(lexical_weight=0.5)))
    engine.close()
    assert invoke("--profile", "mine", "--namespace", "memories").output.startswith("1 case;")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["cases.jsonl", "--profile", "nobody"], 1, "There is no profile 'nobody'; there are in use, classic"),
        (["cases.jsonl", "--metric", "bleu"], 1, "There is no metric"),
        (["cases.jsonl", "--fail-under", "ndcg@10"], 2, "METRIC=VALUE"),
        (["cases.jsonl", "--fail-under", "ndcg@10=7"], 2, "from 0 to 1"),
        (["cases.jsonl", "--fail-under", "bleu=.1"], 2, "There is no metric"),
        (["nowhere.jsonl"], 2, "No such file"),
        ([], 1, "There are no cases"),
    ],
)
def test_what_cannot_be_measured_is_said(invoke: Invoke, arguments: list[str], code: int, said: str) -> None:
    assert said in invoke(*arguments, code=code).stderr


def test_nothing_is_written(invoke: Invoke, store: Path) -> None:
    before = store.read_bytes()
    invoke("cases.jsonl")
    assert store.read_bytes() == before
