"""Merge, move, allow, erase, retention and trimming: what each does, refuses and leaves."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from engine_fixture import ANA, BEN, KINDS, contents, dump, engine_over, facts, opened
from mnemoscope import ConflictError, Evidence, InputError, MemoryConfig, MemoryEngine, NotFoundError
from mnemoscope.curation import RetentionRule
from mnemoscope.journal import book

SECRET = "User lives at 17 Jasmine Lane"


@pytest.fixture(params=KINDS)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MemoryEngine]:
    with opened(request.param, tmp_path) as store:
        made = engine_over(store)
        yield made
        made.close()


def keys_by_text(engine: MemoryEngine) -> dict[str, str]:
    return {record.content: record.key for record in engine.list(ANA, None, include_private=True)}


def remembered(engine: MemoryEngine, *texts: str, **terms: object) -> dict[str, str]:
    engine.remember_facts(facts(*texts), ANA, **terms)
    return keys_by_text(engine)


def test_a_merge_keeps_what_each_memory_adds_and_is_undone_at_once(engine: MemoryEngine) -> None:
    engine.remember_facts(facts("Likes tea", categories=["food"], importance=0.3, quote="I like tea"), ANA)
    engine.remember_facts(facts("Drinks sencha", categories=["drink"], importance=0.8), ANA, metadata={"app": "shop"})
    keys = keys_by_text(engine)
    before = dump(engine)
    changes = engine.curation.merge(ANA, [keys["Likes tea"], keys["Drinks sencha"]], content="Likes sencha")
    (record,) = engine.list(ANA)
    assert (record.key, record.content, record.importance) == (keys["Likes tea"], "Likes sencha", 0.8)
    assert (record.categories, record.metadata, record.revision) == (["food", "drink"], {"app": "shop"}, 2)
    assert any(each.quote == "I like tea" for each in record.evidence)
    assert engine.curation.trash(ANA) == []
    assert [match.record.content for match in engine.recall("sencha", ANA)] == ["Likes sencha"]
    engine.undo(changes[0].group)
    assert {key: value[::2] for key, value in dump(engine).items()} == {
        key: value[::2] for key, value in before.items()
    }


def test_merged_memories_suppress_nothing(engine: MemoryEngine) -> None:
    keys = remembered(engine, "Likes tea", "Drinks sencha")
    engine.curation.merge(ANA, list(keys.values()))
    assert engine.plan(facts("Drinks sencha"), ANA).facts[0].outcome == "insert"


def test_what_is_not_for_the_same_eyes_is_not_merged(engine: MemoryEngine) -> None:
    remembered(engine, "Likes tea", private=True, source="a")
    keys = remembered(engine, "Drinks sencha")
    before = dump(engine)
    with pytest.raises(InputError, match="same eyes"):
        engine.curation.merge(ANA, list(keys.values()))
    assert dump(engine) == before


def test_a_merge_of_what_is_gone_or_stale_or_alone_is_refused(engine: MemoryEngine) -> None:
    keys = list(remembered(engine, "Likes tea", "Drinks sencha").values())
    with pytest.raises(NotFoundError, match="'gone'"):
        engine.curation.merge(ANA, [keys[0], "gone"])
    with pytest.raises(ConflictError):
        engine.curation.merge(ANA, keys, expected_revisions={keys[0]: 7})
    with pytest.raises(InputError, match="at least two"):
        engine.curation.merge(ANA, [keys[0], keys[0]])
    assert contents(engine) == ["Drinks sencha", "Likes tea"]


def test_a_moved_memory_keeps_everything_and_undo_brings_it_back(engine: MemoryEngine) -> None:
    key = remembered(engine, "Likes tea", metadata={"app": "shop"})["Likes tea"]
    before = dump(engine)
    changes = engine.curation.move([(ANA, key)], BEN, reason="it is his")
    assert dump(engine) == {}
    assert {key: value[::2] for key, value in dump(engine, BEN).items()} == {
        key: each[::2] for key, each in before.items()
    }
    assert engine.recall("tea", BEN)[0].record.key == key
    assert [change.action for change in engine.history(BEN)] == ["move"]
    engine.undo(changes[0].group)
    assert {key: value[::2] for key, value in dump(engine).items()} == {key: each[::2] for key, each in before.items()}
    assert dump(engine, BEN) == {}


def test_a_move_onto_another_memory_or_to_itself_is_refused(engine: MemoryEngine) -> None:
    key = remembered(engine, "Likes tea")["Likes tea"]
    engine.remember_facts(facts("Likes tea"), BEN)
    with pytest.raises(ConflictError):
        engine.curation.move([(ANA, key)], BEN)
    with pytest.raises(InputError, match="already"):
        engine.curation.move([(ANA, key)], ANA)
    assert (contents(engine), contents(engine, BEN)) == (["Likes tea"], ["Likes tea"])


def test_a_forgotten_fact_is_suppressed_until_it_is_allowed_again(engine: MemoryEngine) -> None:
    key = remembered(engine, "User lives in Hanoi")["User lives in Hanoi"]
    engine.forget(ANA, key=key, actor="maria", reason="moved away")
    plan = engine.plan(facts("User lives in Hanoi"), ANA)
    assert plan.facts[0].outcome == "suppressed"
    assert "maria" in plan.facts[0].reason
    assert "moved away" in plan.facts[0].reason
    (change,) = engine.curation.allow([(ANA, key)], actor="maria")
    assert (change.action, engine.curation.trash(ANA)[0].allowed) == ("allow", True)
    assert engine.plan(facts("User lives in Hanoi"), ANA).facts[0].outcome == "insert"
    engine.undo(change.id)
    assert engine.plan(facts("User lives in Hanoi"), ANA).facts[0].outcome == "suppressed"
    engine.curation.allow([(ANA, key)])
    engine.curation.allow([(ANA, key)], allowed=False)
    assert engine.plan(facts("User lives in Hanoi"), ANA).facts[0].outcome == "suppressed"
    with pytest.raises(NotFoundError, match="'gone'"):
        engine.curation.allow([(ANA, "gone")])


def test_a_tombstone_stops_suppressing_when_its_time_is_over(engine: MemoryEngine) -> None:
    key = remembered(engine, "User lives in Hanoi")["User lives in Hanoi"]
    engine.forget(ANA, key=key)
    short = engine_over(engine.adapter, config=MemoryConfig(suppress_for_days=0.0), clock=engine.context.clock)
    assert short.plan(facts("User lives in Hanoi"), ANA).facts[0].outcome == "insert"
    assert engine.plan(facts("User lives in Hanoi"), ANA).facts[0].outcome == "suppressed"


def test_erasing_leaves_no_trace_of_the_text(engine: MemoryEngine) -> None:
    key = remembered(engine, SECRET)[SECRET]
    engine.update(ANA, key, content="User lives at 18 Jasmine Lane", reason=f"was {SECRET}")
    engine.recall("Jasmine Lane", ANA)
    engine.curation.move([(ANA, key)], BEN)
    engine.forget(BEN, key=key, reason="asked for")
    receipt = engine.curation.erase(BEN, key, confirm="memories/ben", actor="maria", reason="request 12")
    assert receipt.is_complete
    assert (receipt.items, receipt.tombstones, receipt.elsewhere) == (0, 1, 0)
    assert receipt.refs == ((BEN, key), (ANA, key))
    assert "Jasmine" not in repr(receipt)
    assert [(change.action, change.actor, change.reason) for change in engine.history(BEN)][:1] == [
        ("erase", "maria", "request 12")
    ]
    for name in ("journal", "tombstones", "access"):
        for namespace in (ANA, BEN):
            stored = engine.adapter.load(book(name, namespace)).items
            assert "Jasmine" not in repr([(item.key, item.value) for item in stored])
    with pytest.raises(NotFoundError, match="erased for good"):
        engine.undo(engine.history(ANA, key)[-1].id)
    assert [hit.item.key for hit in engine.adapter.search(BEN, SECRET, 10)] == []
    assert engine.store.search(BEN, query=SECRET) == []


def test_erasing_a_merged_memory_erases_what_went_into_it(engine: MemoryEngine) -> None:
    keys = remembered(engine, SECRET, "Likes tea")
    engine.curation.merge(ANA, [keys["Likes tea"], keys[SECRET]], content=f"Likes tea. {SECRET}")
    receipt = engine.curation.erase(ANA, keys["Likes tea"], confirm="memories/ana")
    assert set(receipt.refs) == {(ANA, key) for key in keys.values()}
    assert "Jasmine" not in repr([change.to_value() for change in engine.history(ANA)])


def test_an_erasure_counts_who_else_holds_the_words(engine: MemoryEngine) -> None:
    key = remembered(engine, SECRET)[SECRET]
    engine.store.put(ANA, "copy", {"content": f"Note: {SECRET}"})
    receipt = engine.curation.erase(ANA, key, confirm="memories/ana")
    assert (receipt.is_complete, receipt.elsewhere) == (True, 1)
    assert engine.get(ANA, "copy") is not None


def test_an_erasure_is_confirmed_and_names_what_exists(engine: MemoryEngine) -> None:
    key = remembered(engine, SECRET)[SECRET]
    with pytest.raises(InputError, match="confirm='memories/ana'"):
        engine.curation.erase(ANA, key, confirm="yes")
    with pytest.raises(NotFoundError, match="Nothing is known"):
        engine.curation.erase(ANA, "gone", confirm="memories/ana")
    with pytest.raises(InputError, match="at least one"):
        engine.curation.erase(ANA, [], confirm="memories/ana")
    assert contents(engine) == [SECRET]


def test_an_erased_memory_leaves_no_row_in_the_file(tmp_path: Path) -> None:
    with opened("sqlite", tmp_path) as store:
        engine = engine_over(store)
        key = remembered(engine, SECRET)[SECRET]
        engine.update(ANA, key, content="User lives at 18 Jasmine Lane")
        engine.curation.erase(ANA, key, confirm="memories/ana")
        engine.close()
    connection = sqlite3.connect(tmp_path / "memories.sqlite")
    values = " ".join(value for (value,) in connection.execute("SELECT value FROM store"))
    vectors = connection.execute("SELECT count(*) FROM store_vectors").fetchone()[0]
    connection.close()
    assert "Jasmine" not in values
    assert vectors == 0


def test_retention_is_a_plan_that_touches_nothing_by_itself(engine: MemoryEngine) -> None:
    engine.remember_facts(facts("Old chatter", categories=["chat"], importance=0.1), ANA)
    engine.remember_facts(facts("Old and dear", categories=["chat"], importance=0.9), ANA)
    keys = remembered(engine, "Pinned chatter", categories=["chat"], importance=0.1)
    engine.update(ANA, keys["Pinned chatter"], pinned=True)
    rules = [
        RetentionRule("chatter", categories=("chat",), importance_below=0.5),
        RetentionRule("ancient", older_than=timedelta(days=400)),
        RetentionRule("unread", not_recalled_for=timedelta(minutes=1), importance_below=0.2),
    ]
    engine.curation.set_retention(ANA, rules)
    assert engine.curation.retention(ANA) == rules
    plan = engine.curation.plan_retention(ANA)
    assert [(each.record.content, each.rules) for each in plan.outlived] == [("Old chatter", ("chatter", "unread"))]
    assert plan.counts == {"chatter": 1, "ancient": 0, "unread": 1}
    assert len(contents(engine)) == 3
    forgotten = engine.curation.apply_retention(plan, actor="maria")
    assert (forgotten, contents(engine)) == (1, ["Old and dear", "Pinned chatter"])
    assert engine.curation.trash(ANA)[0].reason == "Retention: chatter, unread"
    assert forgotten.group is not None
    engine.undo(forgotten.group)
    assert len(contents(engine)) == 3


def test_a_retention_plan_is_refused_where_a_memory_changed(engine: MemoryEngine) -> None:
    key = remembered(engine, "Old chatter", importance=0.1)["Old chatter"]
    plan = engine.curation.plan_retention(ANA, [RetentionRule("all", importance_below=0.5)])
    engine.update(ANA, key, importance=0.2)
    with pytest.raises(ConflictError):
        engine.curation.apply_retention(plan)
    assert contents(engine) == ["Old chatter"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"name": "x"}, "at least one criterion"), ({"name": " "}, "needs a name"),
     ({"name": "x", "older_than": timedelta(-1)}, "negative")],
)  # fmt: skip
def test_a_retention_rule_that_says_nothing_is_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        RetentionRule(**fields)  # type: ignore[arg-type]


def test_trimming_counts_first_and_drops_only_what_is_confirmed(engine: MemoryEngine) -> None:
    key = remembered(engine, "Likes tea")["Likes tea"]
    engine.update(ANA, key, content="Likes coffee")
    first = engine.history(ANA)[-1]
    counted = engine.curation.trim_history(timedelta(0))
    assert (counted, counted.is_done, len(engine.history(ANA))) == (2, False, 2)
    with pytest.raises(InputError, match="confirm=2"):
        engine.curation.trim_history(counted.before, confirm=1)
    engine.update(ANA, key, content="Likes water")
    assert engine.curation.trim_history(counted.before, confirm=2).is_done
    assert [change.text_after for change in engine.history(ANA)] == ["Likes water"]
    with pytest.raises(NotFoundError):
        engine.undo(first.id)
    with pytest.raises(InputError, match="The history begins at"):
        engine.as_of(ANA, first.at)
    assert [record.content for record in engine.as_of(ANA, counted.before)] == ["Likes coffee"]


def test_the_age_to_trim_is_a_setting(engine: MemoryEngine) -> None:
    remembered(engine, "Likes tea")
    assert engine.curation.trim_history() == 0
    brief = engine_over(engine.adapter, config=MemoryConfig(history_days=0.0), clock=engine.context.clock)
    assert brief.curation.trim_history() == 1


def test_evidence_is_merged_once() -> None:
    quote = Evidence(source="s", quote="I like tea")
    engine = engine_over()
    for key in "ab":
        value = {"content": f"Likes tea {key}", "evidence": [quote.to_value()]}
        engine.store.put(ANA, key, value)
    engine.curation.merge(ANA, ["a", "b"])
    assert engine.list(ANA)[0].evidence == [quote]
