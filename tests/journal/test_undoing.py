"""Undoing a run, or everything somebody did since a time: what goes back, and what stays and why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from engine_fixture import ANA, BEN, KINDS, START, contents, dump, engine_over, facts, memory_store, opened
from mnemoscope import Change, ConflictError, InputError, MemoryEngine, NotFoundError


@pytest.fixture(params=KINDS)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MemoryEngine]:
    with opened(request.param, tmp_path) as store:
        made = engine_over(store)
        yield made
        made.close()


def remembered(engine: MemoryEngine, *texts: str, **terms: object) -> dict[str, str]:
    engine.remember_facts(facts(*texts), ANA, **terms)
    return {record.content: record.key for record in engine.list(ANA, None, include_private=True)}


def plain(engine: MemoryEngine) -> object:
    """What there is, without when the store wrote it."""
    return {key: value[::2] for key, value in dump(engine).items()}


def test_everything_somebody_did_goes_back_as_one_group_and_can_be_done_again(engine: MemoryEngine) -> None:
    keys = remembered(engine, "Likes tea", "Lives in Oslo", "Has a dog")
    before = plain(engine)
    since = engine.history()[0].at
    engine.update(ANA, keys["Likes tea"], content="Likes coffee", actor="bot")
    engine.update(ANA, keys["Likes tea"], content="Likes milk", actor="bot")
    engine.forget(ANA, key=keys["Has a dog"], actor="bot")
    engine.remember_facts(facts("Owns a boat"), ANA, actor="bot")
    after = plain(engine)
    plan = engine.curation.plan_undo(ANA, by="bot", since=since)
    assert [(each.text_now, each.text_then) for each in plan.open] == [
        ("Owns a boat", None), (None, "Has a dog"), ("Likes milk", "Likes tea"),
    ]  # fmt: skip
    assert plan.blocked == ()
    assert plain(engine) == after
    changes = engine.curation.apply_undo(plan, actor="ada")
    assert {change.group for change in changes} == {changes[0].group}
    assert {change.actor for change in changes} == {"ada"}
    assert plain(engine) == before
    assert engine.curation.trash(ANA) == []
    engine.undo(changes[0].group)
    assert plain(engine) == after
    assert [stone.key for stone in map(lambda stone: stone.record, engine.curation.trash(ANA))] == [keys["Has a dog"]]


def test_what_others_changed_since_stays_and_the_plan_says_who(engine: MemoryEngine) -> None:
    keys = remembered(engine, "Likes tea", "Lives in Oslo")
    engine.update(ANA, keys["Likes tea"], content="Likes coffee", actor="bot")
    engine.update(ANA, keys["Lives in Oslo"], content="Lives in Rome", actor="bot")
    engine.update(ANA, keys["Lives in Oslo"], content="Lives in Bari", actor="maria")
    plan = engine.curation.plan_undo(ANA, by="bot")
    assert [each.ref[1] for each in plan.open] == [keys["Likes tea"]]
    assert "maria has changed it since" in plan.blocked[0].obstacle
    engine.curation.apply_undo(plan)
    assert contents(engine) == ["Likes tea", "Lives in Bari"]


def test_what_was_undone_already_is_left_out(engine: MemoryEngine) -> None:
    keys = remembered(engine, "Likes tea")
    change = engine.update(ANA, keys["Likes tea"], content="Likes coffee", actor="bot")
    engine.undo(change.id, actor="maria")
    assert engine.curation.plan_undo(ANA, by="bot").memories == ()
    assert engine.curation.apply_undo(engine.curation.plan_undo(ANA, by="bot")) == []


def test_a_run_is_undone_as_far_as_nobody_touched_what_it_made(engine: MemoryEngine) -> None:
    applied = engine.remember_facts(facts("Likes tea", "Lives in Oslo"), ANA)
    keys = {record.content: record.key for record in engine.list(ANA)}
    engine.update(ANA, keys["Lives in Oslo"], importance=0.9, actor="maria")
    plan = engine.curation.plan_undo(run=applied.changes[0].run)
    assert [len(plan.open), len(plan.blocked)] == [1, 1]
    engine.curation.apply_undo(plan)
    assert contents(engine) == ["Lives in Oslo"]


def test_half_a_move_is_never_taken_back(engine: MemoryEngine) -> None:
    keys = remembered(engine, "Likes tea")
    engine.curation.move([(ANA, keys["Likes tea"])], BEN, actor="bot")
    engine.update(BEN, keys["Likes tea"], content="Likes coffee", actor="maria")
    plan = engine.curation.plan_undo(by="bot")
    assert (plan.open, len(plan.blocked)) == ((), 2)
    assert engine.curation.plan_undo(ANA, by="bot").open == ()
    engine.undo(engine.history(BEN)[0].id)
    assert len(engine.curation.plan_undo(by="bot").open) == 2


def test_what_was_erased_or_written_by_others_code_stays(engine: MemoryEngine) -> None:
    keys = remembered(engine, "Likes tea", "Lives in Oslo")
    for text in keys:
        engine.update(ANA, keys[text], importance=0.9, actor="bot")
    engine.curation.erase(ANA, keys["Likes tea"], confirm="memories/ana")
    engine.store.put(ANA, keys["Lives in Oslo"], {"content": "Overwritten"})
    obstacles = {each.ref[1]: each.obstacle for each in engine.curation.plan_undo(ANA, by="bot").blocked}
    assert "without a history" in obstacles[keys["Lives in Oslo"]]
    assert engine.curation.plan_undo(ANA, by="bot").open == ()


def test_a_stale_plan_is_refused_whole(engine: MemoryEngine) -> None:
    keys = remembered(engine, "Likes tea", "Lives in Oslo")
    for text in keys:
        engine.update(ANA, keys[text], importance=0.9, actor="bot")
    plan = engine.curation.plan_undo(ANA, by="bot")
    engine.update(ANA, keys["Likes tea"], importance=0.1, actor="maria")
    before = plain(engine)
    with pytest.raises(ConflictError):
        engine.curation.apply_undo(plan)
    assert plain(engine) == before


def test_an_undo_names_whose_changes_or_which_run(engine: MemoryEngine) -> None:
    with pytest.raises(InputError, match="by="):
        engine.curation.plan_undo(ANA)


def test_several_are_restored_or_allowed_as_one_group(engine: MemoryEngine) -> None:
    keys = remembered(engine, "Likes tea", "Lives in Oslo", "Has a dog")
    engine.forget(ANA, keys=list(keys.values()))
    refs = [(ANA, keys["Likes tea"]), (ANA, keys["Has a dog"])]
    allowed = engine.curation.allow(refs)
    assert len({change.group for change in allowed}) == 1
    assert {stone.record.content: stone.allowed for stone in engine.curation.trash(ANA)} == {
        "Likes tea": True, "Has a dog": True, "Lives in Oslo": False,
    }  # fmt: skip
    with pytest.raises(NotFoundError, match="'gone'"):
        engine.curation.restore([*refs, (ANA, "gone")])
    restored = engine.curation.restore(refs, actor="ada")
    assert contents(engine) == ["Has a dog", "Likes tea"]
    assert engine.recall("tea", ANA, limit=1)[0].record.content == "Likes tea"
    engine.undo(restored[0].group)
    assert contents(engine) == []


def test_the_history_is_filtered_by_actor_action_and_run(engine: MemoryEngine) -> None:
    applied = engine.remember_facts(facts("Likes tea", "Lives in Oslo"), ANA, actor="bot")
    (first, second) = engine.list(ANA)
    engine.update(ANA, first.key, importance=0.9, actor="ada")
    engine.forget(ANA, key=second.key, actor="bot")

    def actions(found: list[Change]) -> list[str]:
        return [change.action for change in found]

    assert actions(engine.history(ANA, by="bot")) == ["forget", "insert", "insert"]
    assert actions(engine.history(ANA, action="update")) == ["update"]
    assert actions(engine.history(ANA, run=applied.changes[0].run)) == ["insert", "insert"]
    assert actions(engine.history(ANA, second.key, by="bot")) == ["forget", "insert"]


def test_the_exported_history_holds_texts_and_no_vectors(engine: MemoryEngine) -> None:
    keys = remembered(engine, "Likes tea")
    engine.update(ANA, keys["Likes tea"], content="Likes coffee", actor="ada", reason="asked")
    lines = [json.loads(line) for line in engine.transfer.export_history(ANA, actor="ada")]
    assert [(line["before"]["content"], line["after"]["content"], line["reason"]) for line in lines] == [
        ("Likes tea", "Likes coffee", "asked")
    ]
    assert "vectors" not in lines[0]
    assert len(list(engine.transfer.export_history())) == 2


def test_changes_by_writers_whose_clocks_differ_are_taken_back_in_the_order_in_which_they_were_made() -> None:
    store = memory_store()
    ahead, behind = (
        engine_over(store, clock=lambda at=at: START + timedelta(seconds=at), actor="bot") for at in (9, 7)
    )
    key = ahead.remember_facts(facts("one"), ANA)[0].key
    behind.update(ANA, key, content="two")
    behind.update(ANA, key, content="three")
    assert ahead.as_of(ANA, START + timedelta(seconds=5)) == []
    ahead.update(ANA, key, content="four", actor="op")
    assert ahead.as_of(ANA, START + timedelta(seconds=5)) == []
    assert [change.text_after for change in ahead.history(ANA)] == ["four", "one", "three", "two"]
    [step] = ahead.curation.plan_undo(ANA, by="bot").memories
    assert step.obstacle.startswith("op has changed it since")
    ahead.undo(ahead.history(ANA)[0].id, actor="op")
    [step] = ahead.curation.plan_undo(ANA, by="bot").memories
    assert (step.text_then, step.text_now, step.obstacle) == (None, "three", "")
    ahead.curation.apply_undo(ahead.curation.plan_undo(ANA, by="bot"), actor="op")
    assert ahead.list(ANA) == []


def test_what_was_put_back_by_hand_stays_out_of_the_plan(engine: MemoryEngine) -> None:
    key = remembered(engine, "Likes tea")["Likes tea"]
    engine.update(ANA, key, categories=["a"], actor="bot")
    engine.undo(engine.history(ANA)[0].id, actor="op")
    assert engine.curation.plan_undo(ANA, by="bot").memories == ()
