"""The commands that change and curate memories, on an SQLite file."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from mnemoscope import ExtractedFact, MemoryEngine
from mnemoscope.connections import connection_to, open_connection
from mnemoscope.curation import RetentionRule

from app.shell.command import mnemoscope

ANA, BEN = ("memories", "ana"), ("memories", "ben")
TEXTS = ("Ana lives in Lisbon", "Ana lives in Lisbon!", "Ana drinks green tea")
Invoke = Callable[..., Result]
pytestmark = pytest.mark.usefixtures("script_home")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[MemoryEngine]:
    engine = open_connection(connection_to(str(tmp_path / "memories.sqlite"), embedder="hashing"))
    for at, text in enumerate(TEXTS):
        engine.store.put(ANA, str(at), memory_value(text))
    yield engine
    engine.close()


@pytest.fixture
def invoke(engine: MemoryEngine, tmp_path: Path) -> Invoke:
    assert engine

    def call(*arguments: str, code: int = 0) -> Result:
        store = str(tmp_path / "memories.sqlite")
        result = CliRunner().invoke(mnemoscope, [arguments[0], "--store", store, *arguments[1:]])
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return call


def memory_value(text: str) -> dict[str, Any]:
    return {"kind": "memory", "content": text, "categories": ["home"], "created_at": "2026-01-02T03:04:05+00:00"}


def key_of(engine: MemoryEngine, text: str) -> str:
    return next(record.key for record in engine.list(ANA) if record.content == text)


def texts(engine: MemoryEngine, namespace: tuple[str, ...] = ANA) -> set[str]:
    return {record.content for record in engine.list(namespace)}


def printed(result: Result) -> Any:
    return json.loads(result.stdout)


def test_update_changes_a_text_and_undo_takes_it_back(engine: MemoryEngine, invoke: Invoke) -> None:
    key = key_of(engine, TEXTS[2])
    change = printed(
        invoke("update", "--namespace", "memories/ana", "--key", key, "--content", "Ana drinks coffee", "--json")
    )[0]
    assert (change["actor"], change["action"]) == ("script", "update")
    assert texts(engine) == {*TEXTS[:2], "Ana drinks coffee"}
    invoke("undo", change["group"])
    assert texts(engine) == set(TEXTS)


def test_update_changes_the_labels_of_several_as_one_group(engine: MemoryEngine, invoke: Invoke) -> None:
    keys = [part for text in TEXTS[:2] for part in ("--key", key_of(engine, text))]
    options = ("--add-category", "city", "--drop-category", "home", "--importance", "0.9")
    changes = printed(invoke("update", "--namespace", "memories/ana", *keys, *options, "--json"))
    assert (len(changes), len({change["group"] for change in changes})) == (2, 1)
    labels = {record.content: (record.categories, record.importance) for record in engine.list(ANA)}
    assert labels[TEXTS[0]] == labels[TEXTS[1]] == (["city"], 0.9)
    assert labels[TEXTS[2]][0] == ["home"]


def test_an_update_at_another_revision_is_refused(engine: MemoryEngine, invoke: Invoke) -> None:
    options = ("--key", key_of(engine, TEXTS[0]), "--content", "x", "--revision", "7")
    result = invoke("update", "--namespace", "memories/ana", *options, code=1)
    assert "revision" in result.stderr
    assert texts(engine) == set(TEXTS)


@pytest.mark.parametrize(
    "options", [(), ("--revision", "1"), ("--content", "x", "--key", "b"), ("--content", "x", "--add-category", "c")]
)
def test_an_update_that_does_not_say_what_it_means_is_refused(invoke: Invoke, options: tuple[str, ...]) -> None:
    invoke("update", "--namespace", "memories/ana", "--key", "a", *options, code=2)


def test_merge_makes_one_of_several(engine: MemoryEngine, invoke: Invoke) -> None:
    keys = [part for text in TEXTS[:2] for part in ("--key", key_of(engine, text))]
    result = invoke("merge", "--namespace", "memories/ana", *keys, "--content", "Ana lives in Lisbon these days")
    assert texts(engine) == {"Ana lives in Lisbon these days", TEXTS[2]}
    invoke("undo", result.stderr.partition("undo ")[2].split()[0])
    assert texts(engine) == set(TEXTS)


def test_move_takes_a_memory_to_another_namespace(engine: MemoryEngine, invoke: Invoke) -> None:
    invoke("move", "--namespace", "memories/ana", "--key", key_of(engine, TEXTS[2]), "--to", "memories/ben")
    assert (texts(engine), texts(engine, BEN)) == (set(TEXTS[:2]), {TEXTS[2]})


def test_trash_lists_what_restore_brings_back(engine: MemoryEngine, invoke: Invoke) -> None:
    key = key_of(engine, TEXTS[2])
    engine.forget(ANA, key=key, reason="not so")
    stone = printed(invoke("trash", "--namespace", "memories/ana", "--json"))[0]
    assert (stone["memory"]["key"], stone["reason"], stone["allowed"]) == (key, "not so", False)
    assert "not so" in invoke("trash", "--namespace", "memories/ana").stdout
    invoke("restore", "--namespace", "memories/ana", "--key", key)
    assert texts(engine) == set(TEXTS)
    assert printed(invoke("trash", "--namespace", "memories/ana", "--json")) == []


def test_allow_lets_a_forgotten_fact_be_remembered_again(engine: MemoryEngine, invoke: Invoke) -> None:
    key = key_of(engine, TEXTS[2])
    engine.forget(ANA, key=key)
    place = ("--namespace", "memories/ana", "--key", key)
    invoke("allow", *place)
    invoke("allow", *place, "--no-more")
    assert not engine.remember_facts([ExtractedFact(content=TEXTS[2])], ANA)
    invoke("allow", *place)
    engine.remember_facts([ExtractedFact(content=TEXTS[2])], ANA)
    assert texts(engine) == set(TEXTS)


def test_erase_needs_the_namespace_once_more_and_says_what_it_verified(engine: MemoryEngine, invoke: Invoke) -> None:
    place = ("--namespace", "memories/ana", "--key", key_of(engine, TEXTS[2]))
    invoke("erase", *place, "--confirm", "memories", code=1)
    assert texts(engine) == set(TEXTS)
    receipt = printed(invoke("erase", *place, "--confirm", "memories/ana", "--json"))
    assert (receipt["items"], receipt["failures"], bool(receipt["verified"])) == (1, [], True)
    assert texts(engine) == set(TEXTS[:2])


def test_erase_takes_the_role_admin(engine: MemoryEngine, invoke: Invoke) -> None:
    place = ("--namespace", "memories/ana", "--key", key_of(engine, TEXTS[2]))
    result = invoke("erase", *place, "--confirm", "memories/ana", "--role", "editor", code=1)
    assert "admin" in result.stderr
    assert texts(engine) == set(TEXTS)


def test_a_row_of_a_worklist_is_accepted_by_its_id(engine: MemoryEngine, invoke: Invoke) -> None:
    asked = ("worklist", "duplicates", "--namespace", "memories/ana")
    row = printed(invoke(*asked, "--json"))[0]
    assert (row["proposal"], len(row["keys"])) == ("merge", 2)
    assert row["id"] in invoke(*asked).stdout
    changes = printed(invoke(*asked, "--accept", row["id"], "--json"))
    assert texts(engine) == {row["content"], TEXTS[2]}
    assert "has no row" in invoke(*asked, "--accept", row["id"], code=1).stderr
    invoke("undo", changes[0]["group"])
    assert texts(engine) == set(TEXTS)


def test_a_row_that_is_rejected_stays_away(engine: MemoryEngine, invoke: Invoke) -> None:
    asked = ("worklist", "duplicates", "--namespace", "memories/ana")
    invoke(*asked, "--reject", printed(invoke(*asked, "--json"))[0]["id"])
    assert printed(invoke(*asked, "--json")) == []
    assert texts(engine) == set(TEXTS)


def test_a_worklist_that_is_not_there_is_named_with_those_that_are(invoke: Invoke) -> None:
    assert "duplicates" in invoke("worklist", "dupes", "--namespace", "memories/ana", code=1).stderr


def test_adopt_brings_a_strangers_item_to_our_form_and_undo_back(engine: MemoryEngine, invoke: Invoke) -> None:
    engine.store.put(BEN, "k", {"content": "Ben plays chess"})
    assert printed(invoke("adopt", "--namespace", "memories/ben", "--dry-run", "--json"))["to_adopt"] == 1
    assert engine.store.get(BEN, "k").value == {"content": "Ben plays chess"}
    changes = printed(invoke("adopt", "--namespace", "memories/ben", "--json"))
    assert engine.store.get(BEN, "k").value["kind"] == "memory"
    invoke("undo", changes[0]["group"])
    assert engine.store.get(BEN, "k").value == {"content": "Ben plays chess"}


def test_adopt_hints_at_the_field_that_may_be_the_text(engine: MemoryEngine, invoke: Invoke) -> None:
    engine.store.put(BEN, "k", {"n": 1, "body": "Ben plays a lot of chess."})
    asked = invoke("adopt", "--namespace", "memories/ben", "--dry-run")
    assert 'text_fields = { "memories/ben" = "body" }  (1 of 1 have a text there)' in asked.stderr
    engine.store.put(("notes",), "k", {"n": 1, 'the "body"': "Ben plays a lot of chess."})
    [line] = [
        each for each in invoke("adopt", "--namespace", "notes", "--dry-run").stderr.splitlines() if "Hint" in each
    ]
    assert tomllib.loads(line.removeprefix("Hint: ").partition("  (")[0])["text_fields"] == {"notes": 'the "body"'}


def test_retain_forgets_what_the_rules_say(engine: MemoryEngine, invoke: Invoke) -> None:
    engine.curation.set_retention(ANA, [RetentionRule("no tea", older_than=timedelta(0), categories=("home",))])
    asked = ("retain", "--namespace", "memories/ana", "--json")
    assert printed(invoke(*asked, "--dry-run"))["would_forget"] == 3
    assert texts(engine) == set(TEXTS)
    done = printed(invoke(*asked))
    assert (done["forgotten"], texts(engine)) == (3, set())
    invoke("undo", done["group"])
    assert texts(engine) == set(TEXTS)


def test_undo_takes_back_what_somebody_did_since_a_time_but_what_others_changed(
    engine: MemoryEngine, invoke: Invoke
) -> None:
    for key, text in (("0", "Ana lives in Porto"), ("2", "Ana drinks coffee")):
        engine.update(ANA, key, content=text, actor="bot")
    engine.update(ANA, "2", content="Ana drinks mate", actor="ben")
    asked = ("undo", "--namespace", "memories/ana", "--by", "bot", "--since", "2026-01-01")
    said = invoke(*asked, "--dry-run").stderr
    assert ("Would be taken back: 1" in said, "Stays as it is: memories/ana  2" in said) == (True, True)
    assert texts(engine) == {"Ana lives in Porto", TEXTS[1], "Ana drinks mate"}
    invoke(*asked)
    assert texts(engine) == {TEXTS[0], TEXTS[1], "Ana drinks mate"}
    assert invoke(*asked, "--since", "yesterday", code=2).stderr.count("is no time") == 1
    invoke("undo", code=2)
    invoke("undo", "x", "--by", "bot", code=2)
