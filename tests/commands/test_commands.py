"""The commands for scripts, on an SQLite file, with the rules in place of a model."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from mnemoscope import ExtractedFact
from mnemoscope.connections import connection_to, open_connection

from app.shell.command import SCRIPTS, load_command, mnemoscope

LOADED = [load_command(name) for name in SCRIPTS]

ANA = ("memories", "ana")
Invoke = Callable[..., Result]
pytestmark = pytest.mark.usefixtures("script_home")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "memories.sqlite"
    engine = open_connection(connection_to(str(path), embedder="hashing"))
    seed = {
        ANA: [
            ExtractedFact(content="Ana lives in Lisbon", categories=["home"], importance=0.9),
            ExtractedFact(content="Ana drinks green tea", categories=["food"], importance=0.2),
            ExtractedFact(content="Hostile \x1b[2J\u202e text\nwith a second line"),
        ],
        ("memories", "ben"): [ExtractedFact(content="Ben plays chess")],
    }
    for namespace, facts in seed.items():
        engine.remember_facts(facts, namespace)
    engine.remember_facts([ExtractedFact(content="Ana has a secret")], ANA, source="crm", private=True)
    engine.close()
    return path


@pytest.fixture
def invoke(store: Path) -> Invoke:
    def call(*arguments: str, code: int = 0, input: bytes | None = None) -> Result:
        result = CliRunner().invoke(mnemoscope, [arguments[0], "--store", str(store), *arguments[1:]], input=input)
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return call


def texts(rows: Sequence[dict[str, Any]]) -> list[str]:
    return sorted(row["content"] for row in rows)


def listed(invoke: Invoke, *options: str) -> list[str]:
    return texts(json.loads(invoke("list", "--json", *options).stdout)["memories"])


# Reading


def test_recall_over_the_whole_store_has_to_be_asked_for(invoke: Invoke) -> None:
    assert "--subtree" in invoke("recall", "chess", code=2).stderr
    best = invoke("recall", "Ben plays chess", "--subtree", "--limit", "1").stdout
    assert "Ben plays chess" in best


def test_recall_prints_the_best_first_with_score_and_key(invoke: Invoke) -> None:
    lines = invoke("recall", "Ana lives in Lisbon", "--namespace", "memories/ana", "--limit", "2").stdout.splitlines()
    assert len(lines) == 2
    score, key, text = lines[0].split("  ")
    assert (0.5 < float(score) <= 1, len(key), text) == (True, 36, "Ana lives in Lisbon")


def test_recall_as_json_explains_its_scores(invoke: Invoke) -> None:
    result = json.loads(invoke("recall", "green tea", "--namespace", "memories/ana", "--json").stdout)
    assert (result["exact"], result["total"]) == (True, 4)
    first = result["matches"][0]
    assert (first["content"], first["namespace"]) == ("Ana drinks green tea", list(ANA))
    assert sum(first["parts"].values()) == pytest.approx(first["score"])


def test_recall_takes_the_narrowing_options(invoke: Invoke) -> None:
    def found(*options: str) -> list[str]:
        result = invoke("recall", "secret", "--namespace", "memories", "--subtree", "--json", *options)
        return texts(json.loads(result.stdout)["matches"])

    assert found("--category", "food") == ["Ana drinks green tea"]
    assert "Ana has a secret" not in found()
    assert "Ana has a secret" in found("--source", "crm")
    assert "Ana has a secret" in found("--include-private")
    assert found("--min-score", "1") == []


def test_list_shows_one_namespace_or_all_and_says_what_it_leaves_out(invoke: Invoke) -> None:
    result = invoke("list", "--namespace", "memories/ana", "--limit", "1")
    assert result.stdout.startswith("memories/ana  ")
    assert result.stdout.count("\n") == 1
    assert "2 more; see --limit." in result.stderr
    assert "1 not shown: " in result.stderr
    assert "Ben plays chess" in listed(invoke)
    assert listed(invoke, "--category", "home") == ["Ana lives in Lisbon"]


def test_stored_text_cannot_act_on_a_terminal(invoke: Invoke) -> None:
    for options in ((), ("--json",)):
        printed = invoke("list", *options).stdout
        assert "\x1b" not in printed
        assert "\u202e" not in printed


def test_reading_writes_nothing_and_makes_no_file(invoke: Invoke, store: Path, tmp_path: Path) -> None:
    before = store.read_bytes()
    invoke("recall", "tea", "--namespace", "memories/ana")
    invoke("history")
    invoke("export")
    invoke("forget", "--namespace", "memories/ana", "--category", "food", "--dry-run")
    invoke("remember", "I live in Porto.", "--namespace", "memories/ana", "--dry-run")
    assert store.read_bytes() == before
    missing = tmp_path / "missing.sqlite"
    result = CliRunner().invoke(mnemoscope, ["list", "--store", str(missing)])
    assert result.exit_code == 1
    assert f"Error: There is no SQLite file {missing}" in result.stderr
    assert not missing.exists()


# Remembering


def test_remember_extracts_by_rules_and_can_be_undone(invoke: Invoke) -> None:
    told = json.loads(invoke("remember", "I live in Porto.", "--namespace", "memories/cleo", "--json").stdout)
    assert [fact["outcome"] for fact in told[0]["facts"]] == ["insert"]
    assert "Porto" in told[0]["memories"][0]["content"]
    history = json.loads(invoke("history", "--namespace", "memories/cleo", "--json").stdout)
    assert [(change["actor"], change["action"]) for change in history] == [("script", "insert")]
    assert "vectors" not in history[0]
    undone = json.loads(invoke("undo", told[0]["group"], "--reason", "a test", "--json").stdout)
    assert [(change["action"], change["reason"]) for change in undone] == [("undo", "a test")]
    assert listed(invoke, "--namespace", "memories/cleo") == []


def test_remember_takes_the_terms_of_every_fact(invoke: Invoke) -> None:
    options = ("--as-it-is", "--category", "note", "--importance", "0.7", "--source", "crm", "--private")
    result = invoke("remember", "Call back on Friday", "--namespace", "memories/cleo", *options, "--reason", "a call")
    assert result.stdout.startswith("insert ")
    assert "To take it back: mnemoscope undo " in result.stderr
    rows = json.loads(invoke("list", "--namespace", "memories/cleo", "--source", "crm", "--json").stdout)["memories"]
    kept = [rows[0][name] for name in ("content", "categories", "importance", "source", "private")]
    assert kept == ["Call back on Friday", ["note"], 0.7, "crm", True]


def test_remember_reads_conversations_from_a_file_or_the_standard_input(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "chats.jsonl"
    chats = [{"messages": [{"role": "user", "content": f"I live in {city}."}]} for city in ("Porto", "Faro")]
    file.write_text("\n".join(map(json.dumps, chats)))
    told = json.loads(invoke("remember", "--file", str(file), "--namespace", "memories/cleo", "--json").stdout)
    assert len(told) == 2
    piped = invoke("remember", "--file", "-", "--namespace", "memories/dora", input=file.read_bytes())
    assert piped.stdout.count("insert ") >= 1
    assert listed(invoke, "--namespace", "memories/dora")


def test_remember_reads_the_rest_of_a_file_and_says_what_it_could_not(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "chats.jsonl"
    file.write_text('{"messages": [{"role": "user", "content": "I live in Porto."}]}\n{"broken": \n')
    result = invoke("remember", "--file", str(file), "--namespace", "memories/cleo", code=1)
    assert "Not read: " in result.stderr
    assert listed(invoke, "--namespace", "memories/cleo")


def test_remember_wants_a_text_or_a_file(invoke: Invoke, store: Path) -> None:
    assert "either TEXT or --file" in invoke("remember", "--namespace", "memories/cleo", code=2).stderr
    result = invoke("remember", "Tea", "--file", str(store), "--namespace", "memories/cleo", code=2)
    assert "either TEXT or --file" in result.stderr


# Forgetting and history


def test_forget_shows_first_and_then_does_and_is_undone(invoke: Invoke) -> None:
    dry = json.loads(
        invoke("forget", "--namespace", "memories/ana", "--category", "food", "--dry-run", "--json").stdout
    )
    assert (dry["forgotten"], dry["group"], texts(dry["sample"])) == (1, None, ["Ana drinks green tea"])
    assert "Ana drinks green tea" in listed(invoke)
    done = invoke("forget", "--namespace", "memories/ana", "--category", "food", "--reason", "a test")
    assert "Forgotten: 1" in done.stderr
    assert "Ana drinks green tea" not in listed(invoke)
    invoke("undo", done.stderr.rpartition("undo ")[2].split()[0])
    assert "Ana drinks green tea" in listed(invoke)


def test_forget_by_key_age_and_importance(invoke: Invoke) -> None:
    rows = json.loads(invoke("list", "--namespace", "memories/ana", "--json").stdout)["memories"]
    key = next(row["key"] for row in rows if "Lisbon" in row["content"])
    for options, count in (
        (("--key", key), 1),
        (("--importance-below", "0.3"), 1),
        (("--older-than", "1"), 0),
        (("--not-recalled", "0"), 4),
        (("--source", "crm"), 1),
    ):
        told = invoke("forget", "--namespace", "memories/ana", *options, "--dry-run", "--json").stdout
        assert json.loads(told)["forgotten"] == count, options


def test_history_is_narrowed_and_one_line_a_change(invoke: Invoke) -> None:
    assert len(invoke("history").stdout.splitlines()) == 5
    assert len(invoke("history", "--limit", "2").stdout.splitlines()) == 2
    assert len(invoke("history", "--namespace", "memories", "--subtree", "--by", "agent").stdout.splitlines()) == 5
    assert invoke("history", "--action", "forget").stdout == ""
    changes = json.loads(invoke("history", "--namespace", "memories/ben", "--json").stdout)
    for option in ("key", "group", "run"):
        same = json.loads(invoke("history", f"--{option}", changes[0][option], "--json").stdout)
        assert [change["id"] for change in same] == [changes[0]["id"]]


def test_undo_of_what_is_not_there_or_changed_since_says_so(invoke: Invoke) -> None:
    assert "The journal has no change or group 'nothing'" in invoke("undo", "nothing", code=1).stderr
    first = json.loads(invoke("history", "--namespace", "memories/ben", "--json").stdout)[0]
    invoke("forget", "--namespace", "memories/ben", "--key", first["key"])
    assert "changed since it was read" in invoke("undo", first["group"], code=1).stderr


# Export and import


def test_an_export_goes_whole_into_another_store(invoke: Invoke, tmp_path: Path) -> None:
    file, other = tmp_path / "backup.jsonl", str(tmp_path / "other.sqlite")
    told = json.loads(invoke("export", "--output", str(file), "--json").stdout)
    assert told == {"file": str(file), "bytes": file.stat().st_size, "lines": file.read_bytes().count(b"\n")}
    assert invoke("export").stdout_bytes.count(b"\n") == told["lines"]
    options = ["import", str(file), "--store", other, "--json"]
    done = CliRunner().invoke(mnemoscope, options)
    assert done.exit_code == 0, done.output
    group = json.loads(done.stdout)["group"]
    rows = CliRunner().invoke(mnemoscope, ["list", "--store", other, "--include-private", "--json"])
    assert texts(json.loads(rows.stdout)["memories"]) == listed(invoke, "--include-private")
    CliRunner().invoke(mnemoscope, ["undo", group, "--store", other])
    left = CliRunner().invoke(mnemoscope, ["list", "--store", other, "--include-private", "--json"])
    assert json.loads(left.stdout)["memories"] == []


@pytest.mark.parametrize(
    ("options", "held"),
    [
        (("--format", "csv"), b"Ben plays chess"),
        (("--format", "history"), b'"insert"'),
        (("--no-vectors", "--no-history", "--namespace", "memories/ben"), b"Ben plays chess"),
    ],
)
def test_exports_have_three_forms_and_a_scope(invoke: Invoke, options: tuple[str, ...], held: bytes) -> None:
    printed = invoke("export", *options).stdout_bytes
    assert held in printed
    assert ("--namespace" in options) != (b"Lisbon" in printed)


def test_an_export_that_cannot_be_written_leaves_nothing(invoke: Invoke, tmp_path: Path) -> None:
    target = tmp_path / "nowhere" / "backup.jsonl"
    assert "cannot be written" in invoke("export", "--output", str(target), code=1).stderr
    assert "name it with --output" in invoke("export", "--json", code=2).stderr
    assert not list(tmp_path.glob("*unfinished*"))


def test_an_import_is_tried_first_and_names_rows_it_cannot_take(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    file.write_text(json.dumps([{"content": "Ben likes jazz"}, {"other": 1}]))
    told = json.loads(invoke("import", str(file), "--namespace", "memories/ben", "--dry-run", "--json").stdout)
    assert (told["group"], told["would_write"], told["rows"]) == (None, 1, {"new": 1, "invalid": 1})
    assert [row["status"] for row in told["problems"]] == ["invalid"]
    done = invoke("import", str(file), "--namespace", "memories/ben", "--conflicts", "newer", "--reason", "a move")
    assert "2 rows: 1 invalid, 1 new. Written: 1." in done.stdout
    assert listed(invoke, "--namespace", "memories/ben") == ["Ben likes jazz", "Ben plays chess"]


def test_an_import_says_what_it_leaves_out_of_rows(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    file.write_text(json.dumps([{"content": "Ben likes jazz", "importance": 7}, {"content": 5}]))
    told = json.loads(invoke("import", str(file), "--namespace", "memories/ben", "--dry-run", "--json").stdout)
    (remark,) = told["remarks"]
    assert remark["remark"] == "importance 7 is not from 0 to 1, left out"
    assert told["rows"] == {"new": 1, "invalid": 1}
    done = invoke("import", str(file), "--namespace", "memories/ben")
    assert "2 rows: 1 invalid, 1 new. Written: 1. With remarks: 1." in done.stdout
    assert f"{remark['where']}: importance 7 is not from 0 to 1, left out" in done.stderr
    adopted = invoke("adopt", "--namespace", "memories/ben", "--dry-run", "--json")
    assert json.loads(adopted.stdout)["to_adopt"] == 0


def test_a_file_that_cannot_be_read_makes_no_store(invoke: Invoke, tmp_path: Path) -> None:
    file, new = tmp_path / "garbage.json", tmp_path / "new.sqlite"
    file.write_text("{no json at all")
    result = CliRunner().invoke(mnemoscope, ["import", str(file), "--store", str(new), "--namespace", "memories/ben"])
    assert (result.exit_code, result.stderr.startswith("Error: ")) == (1, True)
    assert not list(tmp_path.glob("new.sqlite*"))
    told = invoke("import", str(file), "--namespace", "memories/ben", code=1).stderr
    assert "Nothing in garbage.json can be imported" in told


def test_an_unknown_action_is_refused_with_those_there_are(invoke: Invoke) -> None:
    said = " ".join(invoke("history", "--action", "zzz", code=2).stderr.split())
    assert "'zzz' is not one of 'insert', 'update', 'forget'" in said
    assert json.loads(invoke("history", "--action", "forget", "--json").stdout) == []


def test_forgetting_without_a_criterion_names_the_options_of_the_command(invoke: Invoke) -> None:
    said = " ".join(invoke("forget", "--namespace", "memories/ana", code=2).stderr.split())
    assert "--key, --category, --older-than, --not-recalled, --importance-below or --source" in said
    assert "not_recalled_since" not in said
    assert len(listed(invoke, "--namespace", "memories/ana")) == 3


# Who may


WRITING = (
    ("remember", "I live in Porto.", "--namespace", "memories/ana"),
    ("forget", "--namespace", "memories/ana", "--category", "food"),
    ("undo", "anything"),
    ("import", "rows.json", "--namespace", "memories/ana"),
)


@pytest.mark.parametrize("arguments", WRITING, ids=lambda each: each[0])
def test_nothing_is_written_where_it_may_not_be(
    arguments: tuple[str, ...], invoke: Invoke, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "rows.json").write_text('[{"content": "Ana likes jazz"}]')
    before = store.read_bytes()
    read_only = invoke(*arguments, "--read-only", code=1)
    assert "Error: This connection is read-only, so nothing was written." in read_only.stderr
    viewer = invoke(*arguments, "--role", "viewer", code=1)
    assert "Your role is viewer" in viewer.stderr
    assert store.read_bytes() == before


def test_an_import_takes_an_administrator(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text('[{"content": "Ana likes jazz"}]')
    assert "takes the role admin" in invoke("import", "rows.json", "--role", "editor", code=1).stderr


def test_a_named_connection_of_the_file_is_used_within_its_namespaces(store: Path, tmp_path: Path) -> None:
    (tmp_path / "mnemoscope.toml").write_text(
        f'[connections.lab]\nurl = "sqlite:///{store.name}"\nembedder = "hashing"\nnamespaces = ["memories/ben"]\n'
    )
    rows = CliRunner().invoke(mnemoscope, ["list", "--connection", "lab", "--json"])
    assert texts(json.loads(rows.stdout)["memories"]) == ["Ben plays chess"]
    outside = ["remember", "I live in Porto.", "--connection", "lab", "--namespace", "memories/ana"]
    refused = CliRunner().invoke(mnemoscope, outside)
    assert refused.exit_code == 1
    assert "nothing may be written in 'memories/ana'" in " ".join(refused.stderr.split())
    unknown = CliRunner().invoke(mnemoscope, ["list", "--connection", "nowhere"])
    assert (unknown.exit_code, "There is no connection 'nowhere'" in unknown.stderr) == (1, True)


@pytest.mark.parametrize("command", LOADED, ids=lambda command: command.name)
def test_every_command_says_how_it_is_used(command: Any) -> None:
    result = CliRunner().invoke(mnemoscope, [command.name, "--help"])
    assert result.exit_code == 0
    assert f"Usage: mnemoscope {command.name}" in result.output
    assert "--json" in result.output


# What a new user ran into


@pytest.mark.parametrize("since", ["0001-01-01T00:00+14:00", "9999-12-31T23:59-14:00"])
def test_a_time_beyond_all_times_is_the_first_or_the_last(invoke: Invoke, since: str) -> None:
    invoke("recall", "tea", "--namespace", "memories/ana", "--since", since, "--until", since)
    invoke("undo", "--by", "script", "--since", since, "--dry-run")


@pytest.mark.parametrize("days", ["1000000", "1e15", "1e400"])
def test_nothing_is_older_than_time(invoke: Invoke, days: str) -> None:
    for option in ("--older-than", "--not-recalled"):
        said = invoke("forget", "--namespace", "memories/ana", option, days, "--dry-run").stderr
        assert "Would be forgotten: 0" in said


@pytest.mark.parametrize("text", ['{"a":' * 3000 + "1" + "}" * 3000, '{"importance": NaN}', "[]"])
def test_a_filter_that_is_no_json_object_is_refused(invoke: Invoke, text: str) -> None:
    assert "is no JSON object" in invoke("recall", "x", "--namespace", "memories/ana", "--filter", text, code=2).stderr


@pytest.mark.parametrize(
    "command",
    [
        ("forget", "--namespace", "a/b", "--key", "k"), ("retain", "--namespace", "a/b"), ("undo", "x"),
        ("restore", "--namespace", "a/b", "--key", "k"), ("worklist", "stale", "--namespace", "a/b", "--accept", "x"),
        ("erase", "--namespace", "a/b", "--key", "k", "--confirm", "a/b"), ("adopt", "--namespace", "a/b"),
        ("update", "--namespace", "a/b", "--key", "k", "--content", "x"),
    ],
    ids=lambda command: command[0],
)  # fmt: skip
def test_only_what_puts_something_in_makes_a_store(tmp_path: Path, command: tuple[str, ...]) -> None:
    path = tmp_path / "typo.sqlite"
    result = CliRunner().invoke(mnemoscope, [command[0], "--store", str(path), *command[1:]])
    assert (result.exit_code, "There is no SQLite file" in result.stderr, path.exists()) == (1, True, False)


def test_the_command_that_takes_a_change_back_names_the_store(invoke: Invoke, store: Path) -> None:
    said = invoke("forget", "--namespace", "memories/ana", "--category", "food").stderr
    line = said.partition("To take it back: ")[2].strip()
    assert f"--store {store}" in line
    result = CliRunner().invoke(mnemoscope, shlex.split(line)[1:])
    assert result.exit_code == 0, result.output


def test_a_key_that_is_not_there_is_an_error_and_nothing_is_forgotten(invoke: Invoke) -> None:
    before = listed(invoke)
    key = json.loads(invoke("list", "--namespace", "memories/ana", "--json").stdout)["memories"][0]["key"]
    options = ("--namespace", "memories/ana", "--key", key, "--key", "nope")
    assert "There is no memory 'nope'" in invoke("forget", *options, code=1).stderr
    assert listed(invoke) == before


def test_a_label_with_a_slash_is_addressed_as_a_json_list(invoke: Invoke) -> None:
    where = '["a/b", "c%2F"]'
    invoke("remember", "I like sailing.", "--namespace", where, "--as-it-is")
    listing = invoke("list", "--namespace", where).stdout
    assert listing.startswith(where)
    assert listed(invoke, "--namespace", "a/b/c%2F") == []
    invoke(
        "forget",
        "--namespace",
        where,
        "--key",
        json.loads(invoke("list", "--namespace", where, "--json").stdout)["memories"][0]["key"],
    )
    assert listed(invoke, "--namespace", where) == []


def test_a_slash_at_the_end_of_a_namespace_does_not_count(invoke: Invoke) -> None:
    assert listed(invoke, "--namespace", "memories/ana/") == listed(invoke, "--namespace", "memories/ana")


def test_a_recall_over_several_namespaces_says_where_each_memory_is(invoke: Invoke) -> None:
    assert "memories/ben  " in invoke("recall", "chess", "--subtree").stdout


def test_a_recall_by_words_alone_says_so(invoke: Invoke) -> None:
    other = ("recall", "tea", "--namespace", "memories/ana", "--embedder", "bundled")
    assert "words" in invoke(*other).stderr
    assert "words" in json.loads(invoke(*other, "--json").stdout)["notice"]
