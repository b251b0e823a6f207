"""Rows that are no export of ours: what is no memory is refused, what cannot be read is left out and said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from engine_fixture import ANA, dump, engine_over, memory_store
from mnemoscope import MemoryEngine
from mnemoscope.curation import ADOPTED

EXPORTS = Path(__file__).resolve().parent / "exports"
ITEM = {"namespace": ["memories", "ana"], "key": "k"}
NOTE = {"kind": "Note", "content": {"title": "Tea", "body": "green"}}


@pytest.fixture
def engine() -> MemoryEngine:
    return engine_over(memory_store())


def written(engine: MemoryEngine, *rows: object) -> dict[str, Any]:
    """What the store holds under the one key after these rows were imported."""
    engine.transfer.apply_import(engine.transfer.plan_import("\n".join(json.dumps(row) for row in rows), ANA))
    ((_, value),) = ((item.key, item.value) for item in engine.adapter.load(ANA).items)
    return dict(value)


@pytest.mark.parametrize("content", [5, None, "", "  ", ["a"], {}, True], ids=repr)
@pytest.mark.parametrize(
    "form",
    [
        lambda text: {"content": text},
        lambda text: {"memory": text, "user_id": "ana"},
        lambda text: {"content": text, "scope": "/team"},
        lambda text: {**ITEM, "value": {"content": text}},
    ],
    ids=["plain", "mem0", "crewai", "item"],
)
def test_a_row_without_text_is_no_memory(engine: MemoryEngine, form: Any, content: object) -> None:
    rows = [{"content": "first"}, form(content), {"content": "last"}]
    plan = engine.transfer.plan_import("\n".join(json.dumps(row) for row in rows), ANA)
    assert plan.counts == {"new": 2, "invalid": 1}
    (bad,) = [row for row in plan.rows if row.status == "invalid"]
    assert bad.where == "line 2"
    assert bad.reason.startswith("it has no text under '")
    engine.transfer.apply_import(plan)
    assert {record.content for record in engine.list(ANA)} == {"first", "last"}


LEFT_OUT = {
    "above": ({"importance": 7}, "importance 7 is not from 0 to 1, left out"),
    "word": ({"importance": "high"}, "importance 'high' is not from 0 to 1, left out"),
    "time": ({"created_at": "yesterday"}, "created_at 'yesterday' is not a time, left out"),
    "number of categories": ({"categories": 7}, "categories 7 is not a list of texts, left out"),
    "source": ({"source": 5}, "source 5 is not text, left out"),
    "metadata": ({"metadata": [1]}, "metadata [1] is not an object, left out"),
    "pinned": ({"pinned": "x"}, "pinned 'x' is not true or false, left out"),
    "revision": ({"revision": 0}, "revision 0 is not a whole number from 1, left out"),
    "evidence": ({"evidence": 1}, "evidence 1 is not a list, left out"),
}


@pytest.mark.parametrize(("stated", "remark"), LEFT_OUT.values(), ids=LEFT_OUT.keys())
def test_what_cannot_be_read_is_left_out_and_said(engine: MemoryEngine, stated: dict[str, Any], remark: str) -> None:
    row = {"key": "k", "content": "Likes tea", "source": "crm"} | stated
    plan = engine.transfer.plan_import(json.dumps([row, {"content": "Likes jazz"}]), ANA)
    assert plan.counts == {"new": 2}
    assert [each.remarks for each in plan.rows] == [(remark,), ()]
    assert [each.where for each in plan.remarked] == [plan.rows[0].where]
    engine.transfer.apply_import(plan)
    record = engine.get(ANA, "k")
    assert record is not None
    assert (record.content, record.problems, record.extra) == ("Likes tea", (), {})
    bare = {name: part for name, part in row.items() if name not in stated}
    assert engine.transfer.plan_import(json.dumps([bare]), ANA).counts == {"same": 1}


def test_what_can_be_read_in_part_is_taken(engine: MemoryEngine) -> None:
    row = {
        "content": "Likes tea", "categories": ["food", 5], "private": "maybe",
        "evidence": [{"quote": "I like tea", "page": 3}, "no object"],
    }  # fmt: skip
    plan = engine.transfer.plan_import(json.dumps([row, {"content": "Likes jazz", "categories": "music"}]), ANA)
    assert [each.remarks for each in plan.rows] == [
        (
            "categories ['food', 5] is not a list of texts, what is not text is left out",
            "private 'maybe' is not true or false, taken as private",
            "evidence holds what is not known, left out",
        ),
        ("categories 'music' is not a list of texts, taken as one",),
    ]
    engine.transfer.apply_import(plan)
    (tea,) = [each for each in engine.index(ANA).records if each.content == "Likes tea"]
    assert (tea.categories, tea.private, [each.quote for each in tea.evidence]) == (["food"], True, ["I like tea"])
    assert [each.categories for each in engine.list(ANA)] == [["music"]]


def test_a_table_leaves_out_what_it_cannot_read_too(engine: MemoryEngine) -> None:
    table = "key,content,importance,pinned,metadata,team\na,Likes tea,high,maybe,[1],red\nb,Likes jazz,7,yes,{},\n"
    plan = engine.transfer.plan_import(table, ANA)
    assert [each.remarks for each in plan.rows] == [
        (
            "importance 'high' is not from 0 to 1, left out",
            "metadata [1] is not an object, left out",
            "pinned 'maybe' is not true or false, left out",
        ),
        ("importance 7.0 is not from 0 to 1, left out",),
    ]
    engine.transfer.apply_import(plan)
    found = {record.key: record for record in engine.list(ANA)}
    assert (found["a"].pinned, found["b"].pinned, found["a"].extra, found["b"].extra) == (
        False, True, {"team": "red"}, {},
    )  # fmt: skip


FOREIGN = {
    "plain": json.dumps({"namespace": ["memories", "ana"], "key": "k", "content": "Likes tea", "team": "red"}),
    "item": json.dumps({**ITEM, "value": {"content": "Likes tea"}, "created_at": "2025-01-01T00:00:00+00:00"}),
    "nested item": json.dumps({**ITEM, "value": NOTE}),
    "nested plain": json.dumps({**ITEM, **NOTE}),
    "typed": json.dumps({**ITEM, "type": "memory", "content": "Likes tea"}),
    "table": "namespace,key,content\nmemories/ana,k,Likes tea\n",
    "mem0": (EXPORTS / "mem0.json").read_text(encoding="utf-8"),
    "crewai": (EXPORTS / "crewai.jsonl").read_text(encoding="utf-8"),
}


@pytest.mark.parametrize("data", FOREIGN.values(), ids=FOREIGN.keys())
def test_adoption_finds_nothing_to_do_after_an_import_and_one_undo_takes_it_back(
    engine: MemoryEngine, data: str
) -> None:
    before = dump(engine)
    changes = engine.transfer.apply_import(engine.transfer.plan_import(data))
    plan = engine.curation.plan_adoption((), subtree=True)
    assert (len(plan), plan.unadoptable, plan.ours) == (0, (), len(changes))
    assert all(not record.problems for space in engine.counts() for record in engine.list(space, None))
    assert engine.transfer.plan_import(data).counts.get("same") == len(changes)
    engine.undo(changes[0].group)
    assert dump(engine) == before


def test_a_plain_row_becomes_a_memory_of_ours(engine: MemoryEngine) -> None:
    row = {"key": "k", "id": 7, "content": "Likes tea", "team": {"name": "red"}, "created_at": "2025-01-01"}
    value = written(engine, row)
    assert value.pop("created_at") == value.pop("last_accessed") == "2025-01-01T00:00:00+00:00"
    assert value == {
        "kind": "memory", "content": "Likes tea", "categories": [], "importance": None, "source": None,
        "private": False, "metadata": {}, "updated_at": None, "revision": 1, "evidence": [],
        "team": {"name": "red"}, "id": 7,
    }  # fmt: skip


def test_what_our_form_has_no_place_for_is_kept(engine: MemoryEngine) -> None:
    value = written(engine, {**ITEM, "value": {**NOTE, "metadata": {"a": 1}, "odd": 2}})
    assert (value["kind"], value["content"], value["odd"]) == ("memory", "title: Tea\nbody: green", 2)
    assert value["metadata"] == {"a": 1, ADOPTED: {"text_at": "content.*", "fields": NOTE}}


def test_unknown_names_of_other_programs_survive(engine: MemoryEngine) -> None:
    mem0 = {"id": "k", "memory": "Likes tea", "user_id": "ana", "hash": "x", "score": 0.3, "expiration_date": "2030"}
    value = written(engine, mem0)
    assert (value["metadata"], value["expiration_date"]) == ({"user_id": "ana"}, "2030")
    assert not {"hash", "score", "memory", "id"} & value.keys()


def test_an_export_of_ours_comes_back_with_what_is_malformed_in_it(engine: MemoryEngine) -> None:
    odd = {"content": "Likes tea", "importance": 7, "created_at": "yesterday", "categories": 5}
    engine.store.put(ANA, "odd", odd, index=False)
    engine.store.put(ANA, "none", {"content": 5}, index=False)
    lines = b"".join(engine.transfer.export())
    other = engine_over(memory_store())
    plan = other.transfer.plan_import(lines)
    assert (plan.counts["new"], plan.remarked) == (len(plan.rows), ())
    other.transfer.apply_import(plan)
    assert {item.key: item.value for item in other.adapter.load(ANA).items} == {"odd": odd, "none": {"content": 5}}


@pytest.mark.parametrize(("created", "is_written"), [("2099-01-01", True), ("2001-01-01", False)])
def test_the_newer_rule_goes_by_the_times_that_the_row_states(
    engine: MemoryEngine, created: str, is_written: bool
) -> None:
    written(engine, {"key": "k", "content": "Likes tea", "created_at": "2020-01-01"})
    engine.update(ANA, "k", content="Likes coffee")
    row = json.dumps({"key": "k", "content": "Likes milk", "created_at": created})
    plan = engine.transfer.plan_import(row, ANA, conflicts="newer")
    assert plan.written == int(is_written)
    engine.transfer.apply_import(plan)
    record = engine.get(ANA, "k")
    assert record is not None
    assert (record.content, record.changed_at.year == 2099) == (
        ("Likes milk" if is_written else "Likes coffee"),
        is_written,
    )


@pytest.mark.parametrize(
    ("stated", "status"), [({}, False), ({"created_at": "2099-01-01"}, True)], ids=["none", "late"]
)
def test_what_was_forgotten_stays_so_where_a_row_states_no_time(
    engine: MemoryEngine, stated: dict[str, str], status: bool
) -> None:
    row = {"key": "k", "content": "Likes tea", **stated}
    written(engine, row)
    engine.forget(ANA, key="k", reason="wrong")
    (told,) = engine.transfer.plan_import(json.dumps(row), ANA, conflicts="newer").rows
    assert (told.status, told.is_written) == ("conflicting", status)
