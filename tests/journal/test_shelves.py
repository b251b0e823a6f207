"""Cases, profiles and labels: every change of them is in the history, can be undone, and goes with an export."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from engine_fixture import ANA, BEN, KINDS, engine_over, facts, memory_store, opened
from mnemoscope import ConflictError, InputError, MemoryConfig, MemoryEngine
from mnemoscope.consolidation.calibration import Pair, sample_pairs
from mnemoscope.journal.changes import book
from mnemoscope.recall.cases import case
from mnemoscope.recall.profiles import Profile
from mnemoscope.stores.base import Write
from mnemoscope.stores.choice import adapt
from mnemoscope.stores.view import View

TEA = case("where is the tea", ANA, expected=["green tea in the kitchen"], note="asked often")


def filled(engine: MemoryEngine) -> MemoryEngine:
    engine.remember_facts(facts("green tea in the kitchen", "green tea in the kitchen cupboard"), ANA)
    engine.save_cases([TEA, case("what of the dog", BEN, unwanted=["x"])], actor="op")
    engine.save_profile(Profile("calm", MemoryConfig(recency_weight=0.05, min_score=0.2)))
    engine.label(pair_of(engine), "changed")
    return engine


def pair_of(engine: MemoryEngine) -> Pair:
    [pair] = sample_pairs(engine.index(ANA))
    return pair


@pytest.mark.parametrize("kind", KINDS)
def test_a_deleted_case_comes_back_by_undo(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        engine = engine_over(store)
        engine.save_cases([TEA], actor="op", reason="from a ticket")
        before = engine.cases()
        [deleted] = engine.delete_cases([TEA], actor="op")
        assert engine.cases() == []
        [latest, first] = engine.history(ANA)
        assert (latest.id, latest.action, latest.shelf, latest.actor) == (deleted.id, "delete", "cases", "op")
        assert (first.action, first.reason) == ("insert", "from a ticket")
        assert first.text_after is not None
        assert first.text_after.splitlines() == [
            "Case: where is the tea", "expected: green tea in the kitchen", "note: asked often"
        ]  # fmt: skip
        engine.undo(deleted.group)
        assert engine.cases() == before
        assert engine.counts() == {}
        engine.close()


def test_an_overwritten_profile_and_label_come_back_by_undo() -> None:
    engine = filled(engine_over())
    kept = engine.profiles()["calm"]
    [changed] = engine.save_profile(Profile("calm", MemoryConfig()))
    assert (changed.action, changed.namespace) == ("update", ())
    assert engine.profiles()["calm"].config == MemoryConfig()
    engine.undo(changed.id)
    assert engine.profiles()["calm"] == kept
    [changed] = engine.label(pair_of(engine), "different")
    engine.undo(changed.id)
    assert list(engine.labels(ANA).values()) == ["changed"]
    assert engine.delete_profile("nobody") == []
    [gone] = engine.delete_profile("calm")
    assert engine.profiles() == {}
    engine.undo(gone.group)
    assert engine.profiles()["calm"] == kept


def test_a_case_that_changed_since_is_not_undone() -> None:
    engine = engine_over()
    [first] = engine.save_cases([TEA])
    engine.save_cases([case(TEA.query, ANA, expected=["another"])])
    with pytest.raises(ConflictError):
        engine.undo(first.id)
    assert [each.expected for each in engine.cases()] == [("another",)]


def test_all_that_somebody_did_can_be_taken_back_with_the_cases_among_it() -> None:
    engine = engine_over()
    engine.save_cases([TEA], actor="op")
    engine.update(ANA, engine.remember_facts(facts("tea"), ANA)[0].key, content="coffee", actor="op")
    plan = engine.plan_undo(by="op")
    assert {each.text_then for each in plan.open} == {None, "tea"}
    engine.apply_undo(plan)
    assert engine.cases() == []
    assert [record.content for record in engine.list(ANA)] == ["tea"]


def test_how_memories_were_is_not_mixed_with_cases() -> None:
    engine = filled(engine_over())
    moment = engine.history(ANA)[-1].at
    engine.delete_cases(engine.cases())
    assert {record.content for record in engine.as_of(ANA, moment)} == {
        "green tea in the kitchen", "green tea in the kitchen cupboard"
    }  # fmt: skip
    assert [each.record.namespace for each in engine.recall("tea", (), subtree=True, as_of=moment)] == [ANA, ANA]
    assert engine.worklist("changed", ANA) is not None


def test_cases_labels_and_profiles_go_with_an_export_of_the_whole_store() -> None:
    engine, other = filled(engine_over()), engine_over(memory_store())
    plan = other.plan_import(b"".join(engine.export()))
    assert plan.counts == {"new": len(plan.rows)}
    changes = other.apply_import(plan)
    assert other.cases() == engine.cases()
    assert other.profiles() == engine.profiles()
    assert other.labels() == engine.labels()
    assert [change.text_after for change in other.history(ANA) if change.action == "insert"] == [
        change.text_after for change in engine.history(ANA)
    ]
    assert other.plan_import(b"".join(engine.export())).counts == {"same": len(plan.rows)}
    other.undo(changes[0].group)
    assert (other.cases(), other.profiles(), other.labels()) == ([], {}, {})


def test_without_history_they_go_all_the_same_and_of_one_namespace_its_own_alone() -> None:
    engine = filled(engine_over())
    kinds = [row.kind for row in engine_over().plan_import(b"".join(engine.export(ANA, history=False))).rows]
    assert sorted(kinds) == ["case", "label", "memory", "memory"]


def test_cases_are_moved_with_their_namespace_and_labels_are_not() -> None:
    engine, other = filled(engine_over()), engine_over()
    plan = other.plan_import(b"".join(engine.export(ANA, history=False)), ("team", "tea"))
    assert [(row.kind, row.status) for row in plan.rows if row.kind == "label"] == []
    assert [row.reason for row in plan.rows if row.status == "invalid"] == [
        "a label is of the two places it was made for; import it there"
    ]
    other.apply_import(plan)
    assert [(each.namespace, each.query) for each in other.cases()] == [(("team", "tea"), TEA.query)]


@pytest.mark.parametrize(("rule", "expected"), [("skip", ("mine",)), ("overwrite", TEA.expected), ("newer", ("mine",))])
def test_another_case_in_its_place_goes_by_the_rule(rule: str, expected: tuple[str, ...]) -> None:
    engine, other = filled(engine_over()), engine_over()
    for _ in range(20):
        other._clock()
    other.save_cases([case(TEA.query, ANA, expected=["mine"])])
    other.apply_import(other.plan_import(b"".join(engine.export(ANA, history=False)), conflicts=rule))  # type: ignore[arg-type]
    assert [each.expected for each in other.cases(ANA)] == [expected]


@pytest.mark.parametrize(
    "row",
    [
        '{"type": "case", "namespace": ["a"], "key": "k", "value": {"query": ""}}',
        '{"type": "label", "namespace": ["a"], "key": "k", "value": {"label": "odd"}}',
        '{"type": "profile", "namespace": [], "key": "a/b", "value": {"config": {}}}',
        '{"type": "profile", "namespace": [], "key": "p", "value": {"config": {"semantic_weight": 7}}}',
    ],
)
def test_a_row_that_is_none_is_told_and_left_out(row: str) -> None:
    plan = engine_over().plan_import(row)
    assert [each.status for each in plan.rows] == ["invalid"]


def test_erasing_a_memory_blanks_the_history_of_the_cases_that_name_it() -> None:
    engine = filled(engine_over())
    key = next(record.key for record in engine.list(ANA) if record.content == "green tea in the kitchen")
    engine.delete_cases([TEA])
    receipt = engine.erase(ANA, key, confirm="memories/ana")
    assert receipt.is_complete
    changes = [change for change in engine.history(ANA) if change.shelf == "cases"]
    assert [(change.erased, change.before, change.after) for change in changes] == [(True, None, None)] * 2
    assert len([change for change in engine.history(BEN) if change.after]) == 1


def test_an_unknown_label_changes_nothing() -> None:
    engine = filled(engine_over())
    with pytest.raises(InputError, match="no label"):
        engine.label(pair_of(engine), "odd")
    assert list(engine.labels().values()) == ["changed"]


def test_a_connection_limited_to_a_namespace_undoes_what_it_keeps() -> None:
    engine = engine_over(View(adapt(memory_store()), prefixes=[ANA]))
    engine.save_cases([TEA])
    [deleted] = engine.delete_cases([TEA])
    [saved] = engine.save_profile(Profile("calm", MemoryConfig()))
    engine.undo(deleted.id)
    engine.undo(saved.id)
    assert [each.query for each in engine.cases()] == [TEA.query]
    assert engine.profiles() == {}
    assert engine.counts() == {}


def test_the_history_of_a_case_that_was_moved_with_its_namespace_can_be_undone_there() -> None:
    engine, other, there = filled(engine_over()), engine_over(), ("team", "tea")
    engine.save_cases([case(TEA.query, ANA, expected=["black tea"])])
    engine.delete_cases(engine.cases(ANA))
    plan = other.plan_import(b"".join(engine.export(ANA)), there)
    refused = {row.reason for row in plan.rows if row.status == "invalid"}
    assert refused == {"a label is of the two places it was made for; import it there"}
    other.apply_import(plan)
    [gone] = [change for change in other.history(there) if change.action == "delete"]
    other.undo(gone.id)
    [back] = other.cases()
    assert other.cases(there) == [back]
    assert (back.namespace, back.expected, back.id) == (there, ("black tea",), gone.key)
    other.delete_cases([back])
    assert other.cases() == []


def test_the_tombstone_in_a_moved_history_moves_too() -> None:
    engine, other, there = engine_over(), engine_over(), ("team", "tea")
    key = engine.remember_facts(facts("tea"), ANA)[0].key
    engine.forget(ANA, key=key)
    engine.restore(ANA, key)
    other.apply_import(other.plan_import(b"".join(engine.export(ANA)), there))
    other.undo(next(change for change in other.history(there, key) if change.action == "restore").id)
    assert [stone.record.namespace for stone in other.trash(there)] == [there]


def test_a_case_is_of_the_place_where_it_stands() -> None:
    engine = engine_over()
    engine.adapter.write([Write(book("cases", BEN), "odd", {"kind": "case", **TEA.to_value()})])
    [found] = engine.cases(BEN)
    assert (found.namespace, found.expected, engine.cases(ANA)) == (BEN, TEA.expected, [])
    engine.save_cases([replace(found, expected=("other",))])
    assert [each.expected for each in engine.cases()] == [("other",)]
    engine.delete_cases(engine.cases())
    assert engine.cases() == []
