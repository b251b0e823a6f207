from __future__ import annotations

from typing import Any

import pytest
from engine_fixture import ANA, START, Judge, contents, decide, engine_over, facts
from mnemoscope import (
    ConflictError,
    ConsolidationDecision,
    Evidence,
    InputError,
    MemoryConfig,
    MemoryEngine,
    MemoryRecord,
    Plan,
)
from mnemoscope.consolidation import Settlement, Terms, choose, edit_decision, edit_fact, memory_key, merged_names

ALL = MemoryConfig(consolidation_threshold=0.0)


def settlement(*known: MemoryRecord, taken: frozenset[str] = frozenset(), **terms: Any) -> Settlement:
    stored = {record.key: record for record in known}
    return Settlement(ANA, Terms(**terms), MemoryConfig(), START, "run-1", known=stored, taken=taken | set(stored))


def known(key: str = "k", content: str = "works at Google", **fields: Any) -> MemoryRecord:
    return MemoryRecord(key, ANA, content, created_at=START, **fields)


def decision(action: str, key: str | None = None, content: str | None = None) -> ConsolidationDecision:
    return ConsolidationDecision(action=action, target_key=key, content=content, reason="why")


def test_an_update_keeps_the_past_and_takes_over_what_is_new() -> None:
    old = known(categories=["job"], importance=0.9, metadata={"a": 1, "b": 1}, source="chat", extra={"stranger": 1})
    settled = settlement(old, categories=("told",), metadata={"b": 2}, source="mail")
    [fact] = facts("joined Microsoft", categories=["work"], message_ids=["m1"], quote="I joined Microsoft")
    planned = settled.settle(0, fact, [(old, 0.9)], decision("update", "k"))
    [change] = settled.changes()
    assert (planned.outcome, planned.target, change.action) == ("update", "k", "update")
    after = change.after
    assert after is not None
    assert after.content == "joined Microsoft"
    assert after.categories == ["job", "work", "told"]
    assert (after.importance, after.source, after.revision) == (0.9, "chat", 2)
    assert (after.created_at, after.updated_at) == (START, START)
    assert after.metadata == {"a": 1, "b": 2}
    assert after.extra == {"stranger": 1}
    assert after.evidence == [Evidence("mail", ["m1"], "I joined Microsoft", None, "run-1")]


@pytest.mark.parametrize(
    ("proposal", "rejected"),
    [
        (decision("merge", "k"), "the action 'merge' is none of insert, update, skip, forget"),
        (decision("", None), "the action '' is none of"),
        (decision("update", "invented"), "'invented' was not among those offered"),
        (decision("skip", None), "was not among those offered"),
        (decision("forget", "other"), "'other' was not among those offered"),
    ],
)
def test_a_proposal_that_was_not_offered_is_shown_and_the_fact_inserted_as_it_is(
    proposal: ConsolidationDecision, rejected: str
) -> None:
    settled = settlement(known(), known("other", "another memory"))
    fact = facts("joined Microsoft")[0]
    planned = settled.settle(0, fact, [(known(), 0.9)], proposal.model_copy(update={"content": "merged text"}))
    assert planned.outcome == "insert"
    assert planned.rejected is not None
    assert rejected in planned.rejected
    assert [(change.action, change.after and change.after.content) for change in settled.changes()] == [
        ("insert", "joined Microsoft")
    ]


def test_a_fact_that_updates_what_an_earlier_one_forgot_is_inserted() -> None:
    settled = settlement(known())
    offered = [(known(), 0.9)]
    settled.settle(0, facts("left Google")[0], offered, decision("forget", "k"))
    planned = settled.settle(1, facts("joined Microsoft")[0], offered, decision("update", "k"))
    assert "no longer there" in (planned.rejected or "")
    assert sorted(change.action for change in settled.changes()) == ["forget", "insert"]


def test_forgetting_with_a_new_text_stores_that_text() -> None:
    settled = settlement(known())
    planned = settled.settle(0, facts("left Google")[0], [(known(), 0.9)], decision("forget", "k", "is retired"))
    assert planned.outcome == "insert"
    assert {change.action: change.after and change.after.content for change in settled.changes()} == {
        "forget": None,
        "insert": "is retired",
    }


def test_a_blank_or_unstorable_text_of_a_judge_is_put_right() -> None:
    settled = settlement(known())
    settled.settle(0, facts("joined Microsoft")[0], [(known(), 0.9)], decision("update", "k", " \n"))
    assert settled.record("k").content == "joined Microsoft"  # type: ignore[union-attr]
    settled.settle(1, facts("x")[0], [(known(), 0.9)], decision("update", "k", "joined\x00 Micro\ud800soft "))
    assert settled.record("k").content == "joined\ufffd Micro\ufffdsoft"  # type: ignore[union-attr]


def test_two_updates_of_one_memory_become_one_change_with_both_facts() -> None:
    settled = settlement(known())
    settled.settle(0, facts("joined Apple")[0], [(known(), 0.9)], decision("update", "k"))
    settled.settle(1, facts("joined Microsoft")[0], [(known(), 0.9)], decision("update", "k"))
    [change] = settled.changes()
    assert (change.after and change.after.content, change.facts) == ("joined Microsoft", (0, 1))


def test_a_memory_changed_there_and_back_is_not_changed() -> None:
    settled = settlement(known())
    settled.settle(0, facts("joined Microsoft")[0], [(known(), 0.9)], decision("update", "k"))
    settled.settle(1, facts("works at Google")[0], [(known(), 0.9)], decision("update", "k"))
    assert settled.changes() == ()


def test_what_is_inserted_and_forgotten_in_one_plan_is_never_written() -> None:
    settled = settlement()
    fact = facts("likes tea")[0]
    settled.settle(0, fact, [], None)
    pending = MemoryRecord(memory_key("likes tea", Terms()), (), "likes tea")
    settled.settle(1, facts("likes no tea")[0], [(pending, 0.9)], decision("forget", pending.key))
    assert settled.changes() == ()


def test_keys_depend_on_the_text_as_it_is_compared_and_on_whose_it_is() -> None:
    assert memory_key("Likes  TEA", Terms()) == memory_key("likes tea", Terms(source="ana"))
    private = [memory_key("likes tea", Terms(source=who, private=True)) for who in ("ana", "ben")]
    assert len({*private, memory_key("likes tea", Terms()), memory_key("likes tea", Terms(), 1)}) == 4
    assert memory_key("C++", Terms()) != memory_key("C", Terms())


def test_a_key_in_use_by_another_text_is_passed_over() -> None:
    first = memory_key("likes tea", Terms())
    settled = settlement(known(first, "edited by hand since"))
    assert settled.settle(0, facts("likes tea")[0], [], None).target == memory_key("likes tea", Terms(), 1)


def test_names_are_merged_in_order_once_each() -> None:
    assert merged_names(["b", "a"], ("a", "c"), []) == ["b", "a", "c"]


# Leaving out and editing


def planned(engine: MemoryEngine, *contents: str) -> Plan:
    return engine.plan(facts(*contents), ANA)


def test_only_the_chosen_facts_are_committed() -> None:
    engine = engine_over()
    engine.apply(choose(planned(engine, "likes tea", "has a dog", "plays chess"), [0, 2]))
    assert contents(engine) == ["likes tea", "plays chess"]


def test_a_choice_can_be_widened_again_and_none_is_a_choice() -> None:
    engine = engine_over()
    plan = planned(engine, "likes tea", "has a dog")
    nothing = choose(plan, [])
    assert engine.apply(nothing) == []
    assert engine.history(ANA) == []
    assert choose(nothing, [0, 1]).changes == plan.changes


def test_leaving_out_a_fact_takes_away_what_rested_on_it() -> None:
    engine = engine_over(config=ALL, consolidator=Judge(decide("skip")))
    plan = planned(engine, "likes tea", "is fond of tea")
    assert [fact.outcome for fact in plan.facts] == ["insert", "skip"]
    alone = choose(plan, [1])
    assert alone.facts[1].outcome == "insert"
    engine.apply(alone)
    assert contents(engine) == ["is fond of tea"]


def test_an_edited_fact_is_stored_as_edited_and_found_by_its_new_words() -> None:
    engine = engine_over()
    engine.apply(edit_fact(planned(engine, "likes tea"), 0, facts("likes coffee\x00 ")[0]))
    assert contents(engine) == ["likes coffee\ufffd"]
    assert engine.recall("likes coffee\ufffd", ANA)[0].similarity == pytest.approx(1.0)


def test_a_decision_can_be_overruled() -> None:
    engine = engine_over(config=ALL, consolidator=Judge(decide("skip")))
    engine.remember_facts(facts("likes tea"), ANA)
    plan = planned(engine, "is fond of coffee")
    assert plan.changes == ()
    key = plan.facts[0].target
    engine.apply(edit_decision(plan, 0, decision("update", key)))
    assert contents(engine) == ["is fond of coffee"]


def test_a_suppression_can_be_overruled() -> None:
    engine = engine_over()
    engine.forget(ANA, key=engine.remember_facts(facts("likes tea"), ANA)[0].key)
    plan = planned(engine, "likes tea")
    assert (plan.facts[0].outcome, plan.changes) == ("suppressed", ())
    engine.apply(edit_decision(plan, 0, decision("insert")))
    assert contents(engine) == ["likes tea"]
    assert engine.curation.trash(ANA) == []


@pytest.mark.parametrize("at", [-1, 1, 99])
def test_a_position_that_is_not_there_is_refused(at: int) -> None:
    plan = planned(engine_over(), "likes tea")
    for edited in (
        lambda: choose(plan, [at]),
        lambda: edit_fact(plan, at, facts("x")[0]),
        lambda: edit_decision(plan, at, decision("insert")),
    ):
        with pytest.raises(InputError, match=f"1 facts, counted from 0; there is none at {at}"):
            edited()


def test_a_fact_cannot_be_emptied() -> None:
    with pytest.raises(InputError, match="needs some text"):
        edit_fact(planned(engine_over(), "likes tea"), 0, facts(" ")[0])


def test_a_fact_edited_into_a_memory_that_exists_is_a_conflict_and_writes_nothing() -> None:
    engine = engine_over()
    engine.remember_facts(facts("has a dog"), ANA)
    plan = edit_fact(planned(engine, "likes tea"), 0, facts("has a dog")[0])
    with pytest.raises(ConflictError, match="has a dog"):
        engine.apply(plan)
    assert contents(engine) == ["has a dog"]
