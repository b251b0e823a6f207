"""Cases, profiles and labels: every change of them is in the history, can be undone, and goes with an export."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from engine_fixture import ANA, BEN, KINDS, engine_over, facts, memory_store, opened
from mnemoscope import ConflictError, InputError, MemoryConfig, MemoryEngine
from mnemoscope.consolidation import Pair, sample_pairs
from mnemoscope.journal import book
from mnemoscope.recall import Profile, case
from mnemoscope.stores import View, Write, adapt

TEA = case("where is the tea", ANA, expected=["green tea in the kitchen"], note="asked often")


def filled(engine: MemoryEngine) -> MemoryEngine:
    engine.remember_facts(facts("green tea in the kitchen", "green tea in the kitchen cupboard"), ANA)
    engine.tuning.save_cases([TEA, case("what of the dog", BEN, unwanted=["x"])], actor="op")
    engine.tuning.save_profile(Profile("calm", MemoryConfig(recency_weight=0.05, min_score=0.2)))
    engine.tuning.label(pair_of(engine), "changed")
    return engine


def pair_of(engine: MemoryEngine) -> Pair:
    [pair] = sample_pairs(engine.index(ANA))
    return pair


@pytest.mark.parametrize("kind", KINDS)
def test_a_deleted_case_comes_back_by_undo(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        engine = engine_over(store)
        engine.tuning.save_cases([TEA], actor="op", reason="from a ticket")
        before = engine.tuning.cases()
        [deleted] = engine.tuning.delete_cases([TEA], actor="op")
        assert engine.tuning.cases() == []
        [latest, first] = engine.history(ANA)
        assert (latest.id, latest.action, latest.shelf, latest.actor) == (deleted.id, "delete", "cases", "op")
        assert (first.action, first.reason) == ("insert", "from a ticket")
        assert first.text_after is not None
        assert first.text_after.splitlines() == [
            "Case: where is the tea", "expected: green tea in the kitchen", "note: asked often"
        ]  # fmt: skip
        engine.undo(deleted.group)
        assert engine.tuning.cases() == before
        assert engine.counts() == {}
        engine.close()


def test_an_overwritten_profile_and_label_come_back_by_undo() -> None:
    engine = filled(engine_over())
    kept = engine.tuning.profiles()["calm"]
    [changed] = engine.tuning.save_profile(Profile("calm", MemoryConfig()))
    assert (changed.action, changed.namespace) == ("update", ())
    assert engine.tuning.profiles()["calm"].config == MemoryConfig()
    engine.undo(changed.id)
    assert engine.tuning.profiles()["calm"] == kept
    [changed] = engine.tuning.label(pair_of(engine), "different")
    engine.undo(changed.id)
    assert list(engine.tuning.labels(ANA).values()) == ["changed"]
    assert engine.tuning.delete_profile("nobody") == []
    [gone] = engine.tuning.delete_profile("calm")
    assert engine.tuning.profiles() == {}
    engine.undo(gone.group)
    assert engine.tuning.profiles()["calm"] == kept


def test_a_case_that_changed_since_is_not_undone() -> None:
    engine = engine_over()
    [first] = engine.tuning.save_cases([TEA])
    engine.tuning.save_cases([case(TEA.query, ANA, expected=["another"])])
    with pytest.raises(ConflictError):
        engine.undo(first.id)
    assert [each.expected for each in engine.tuning.cases()] == [("another",)]


def test_all_that_somebody_did_can_be_taken_back_with_the_cases_among_it() -> None:
    engine = engine_over()
    engine.tuning.save_cases([TEA], actor="op")
    engine.update(ANA, engine.remember_facts(facts("tea"), ANA)[0].key, content="coffee", actor="op")
    plan = engine.curation.plan_undo(by="op")
    assert {each.text_then for each in plan.open} == {None, "tea"}
    engine.curation.apply_undo(plan)
    assert engine.tuning.cases() == []
    assert [record.content for record in engine.list(ANA)] == ["tea"]


def test_how_memories_were_is_not_mixed_with_cases() -> None:
    engine = filled(engine_over())
    moment = engine.history(ANA)[-1].at
    engine.tuning.delete_cases(engine.tuning.cases())
    assert {record.content for record in engine.as_of(ANA, moment)} == {
        "green tea in the kitchen", "green tea in the kitchen cupboard"
    }  # fmt: skip
    assert [each.record.namespace for each in engine.recall("tea", (), subtree=True, as_of=moment)] == [ANA, ANA]
    assert engine.curation.worklist("changed", ANA) is not None


def test_cases_labels_and_profiles_go_with_an_export_of_the_whole_store() -> None:
    engine, other = filled(engine_over()), engine_over(memory_store())
    plan = other.transfer.plan_import(b"".join(engine.transfer.export()))
    assert plan.counts == {"new": len(plan.rows)}
    changes = other.transfer.apply_import(plan)
    assert other.tuning.cases() == engine.tuning.cases()
    assert other.tuning.profiles() == engine.tuning.profiles()
    assert other.tuning.labels() == engine.tuning.labels()
    assert [change.text_after for change in other.history(ANA) if change.action == "insert"] == [
        change.text_after for change in engine.history(ANA)
    ]
    assert other.transfer.plan_import(b"".join(engine.transfer.export())).counts == {"same": len(plan.rows)}
    other.undo(changes[0].group)
    assert (other.tuning.cases(), other.tuning.profiles(), other.tuning.labels()) == ([], {}, {})


def test_without_history_they_go_all_the_same_and_of_one_namespace_its_own_alone() -> None:
    engine = filled(engine_over())
    kinds = [
        row.kind
        for row in engine_over().transfer.plan_import(b"".join(engine.transfer.export(ANA, history=False))).rows
    ]
    assert sorted(kinds) == ["case", "label", "memory", "memory"]


def test_cases_are_moved_with_their_namespace_and_labels_are_not() -> None:
    engine, other = filled(engine_over()), engine_over()
    plan = other.transfer.plan_import(b"".join(engine.transfer.export(ANA, history=False)), ("team", "tea"))
    assert [(row.kind, row.status) for row in plan.rows if row.kind == "label"] == []
    assert [row.reason for row in plan.rows if row.status == "invalid"] == [
        "a label is of the two places it was made for; import it there"
    ]
    other.transfer.apply_import(plan)
    assert [(each.namespace, each.query) for each in other.tuning.cases()] == [(("team", "tea"), TEA.query)]


@pytest.mark.parametrize(("rule", "expected"), [("skip", ("mine",)), ("overwrite", TEA.expected), ("newer", ("mine",))])
def test_another_case_in_its_place_goes_by_the_rule(rule: str, expected: tuple[str, ...]) -> None:
    engine, other = filled(engine_over()), engine_over()
    for _ in range(20):
        other.context.clock()
    other.tuning.save_cases([case(TEA.query, ANA, expected=["mine"])])
    other.transfer.apply_import(
        other.transfer.plan_import(b"".join(engine.transfer.export(ANA, history=False)), conflicts=rule)
    )  # type: ignore[arg-type]
    assert [each.expected for each in other.tuning.cases(ANA)] == [expected]


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
    plan = engine_over().transfer.plan_import(row)
    assert [each.status for each in plan.rows] == ["invalid"]


def test_erasing_a_memory_blanks_the_history_of_the_cases_that_name_it() -> None:
    engine = filled(engine_over())
    key = next(record.key for record in engine.list(ANA) if record.content == "green tea in the kitchen")
    engine.tuning.delete_cases([TEA])
    receipt = engine.curation.erase(ANA, key, confirm="memories/ana")
    assert receipt.is_complete
    changes = [change for change in engine.history(ANA) if change.shelf == "cases"]
    assert [(change.erased, change.before, change.after) for change in changes] == [(True, None, None)] * 2
    assert len([change for change in engine.history(BEN) if change.after]) == 1


def test_an_unknown_label_changes_nothing() -> None:
    engine = filled(engine_over())
    with pytest.raises(InputError, match="no label"):
        engine.tuning.label(pair_of(engine), "odd")
    assert list(engine.tuning.labels().values()) == ["changed"]


def test_a_connection_limited_to_a_namespace_undoes_what_it_keeps() -> None:
    engine = engine_over(View(adapt(memory_store()), prefixes=[ANA]))
    engine.tuning.save_cases([TEA])
    [deleted] = engine.tuning.delete_cases([TEA])
    [saved] = engine.tuning.save_profile(Profile("calm", MemoryConfig()))
    engine.undo(deleted.id)
    engine.undo(saved.id)
    assert [each.query for each in engine.tuning.cases()] == [TEA.query]
    assert engine.tuning.profiles() == {}
    assert engine.counts() == {}


def test_the_history_of_a_case_that_was_moved_with_its_namespace_can_be_undone_there() -> None:
    engine, other, there = filled(engine_over()), engine_over(), ("team", "tea")
    engine.tuning.save_cases([case(TEA.query, ANA, expected=["black tea"])])
    engine.tuning.delete_cases(engine.tuning.cases(ANA))
    plan = other.transfer.plan_import(b"".join(engine.transfer.export(ANA)), there)
    refused = {row.reason for row in plan.rows if row.status == "invalid"}
    assert refused == {"a label is of the two places it was made for; import it there"}
    other.transfer.apply_import(plan)
    [gone] = [change for change in other.history(there) if change.action == "delete"]
    other.undo(gone.id)
    [back] = other.tuning.cases()
    assert other.tuning.cases(there) == [back]
    assert (back.namespace, back.expected, back.id) == (there, ("black tea",), gone.key)
    other.tuning.delete_cases([back])
    assert other.tuning.cases() == []


def test_the_tombstone_in_a_moved_history_moves_too() -> None:
    engine, other, there = engine_over(), engine_over(), ("team", "tea")
    key = engine.remember_facts(facts("tea"), ANA)[0].key
    engine.forget(ANA, key=key)
    engine.restore(ANA, key)
    other.transfer.apply_import(other.transfer.plan_import(b"".join(engine.transfer.export(ANA)), there))
    other.undo(next(change for change in other.history(there, key) if change.action == "restore").id)
    assert [stone.record.namespace for stone in other.curation.trash(there)] == [there]


def test_a_case_is_of_the_place_where_it_stands() -> None:
    engine = engine_over()
    engine.adapter.write([Write(book("cases", BEN), "odd", {"kind": "case", **TEA.to_value()})])
    [found] = engine.tuning.cases(BEN)
    assert (found.namespace, found.expected, engine.tuning.cases(ANA)) == (BEN, TEA.expected, [])
    engine.tuning.save_cases([replace(found, expected=("other",))])
    assert [each.expected for each in engine.tuning.cases()] == [("other",)]
    engine.tuning.delete_cases(engine.tuning.cases())
    assert engine.tuning.cases() == []
