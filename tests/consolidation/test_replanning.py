"""A plan made again keeps what a person changed in it, and lets in what was held back in that person's name."""

from __future__ import annotations

import asyncio

import pytest
from engine_fixture import ANA, engine_over, facts
from mnemoscope import ConsolidationDecision, ExtractedFact, InputError, MemoryEngine, Message, Plan
from mnemoscope.consolidation import choose, edit_decision, edit_fact
from mnemoscope.extraction import REASONS, Extraction, Withheld

INVENTED = ExtractedFact(content="Ana owns a boat", quote="my boat", message_ids=["m1", "m9"], importance=0.7)
STEERED = ExtractedFact(content="Ana likes tea", quote="I like tea", message_ids=["m1"])
TALK = [Message("m1", "user", "I like tea and live in Oslo.")]


class Careful:
    """An extractor that takes out one fact and holds two back."""

    label = "careful"

    def extract(self, _messages: object) -> Extraction:
        withheld = (Withheld(INVENTED, REASONS["unsupported"]), Withheld(STEERED, REASONS["instruction"]))
        return Extraction(facts("Ana lives in Oslo"), {"unsupported": 1, "instruction": 1}, withheld=withheld)


@pytest.fixture
def engine() -> MemoryEngine:
    return engine_over(extractor=Careful())


def outcomes(plan: Plan) -> list[tuple[str, str]]:
    return [(planned.fact.content, planned.outcome) for planned in plan.facts]


def test_a_withheld_fact_is_let_in_and_journalled_as_the_choice_of_who_let_it_in(engine: MemoryEngine) -> None:
    plan = engine.replan(engine.plan(TALK, ANA), let_in=[0], actor="mia")
    assert outcomes(plan) == [("Ana lives in Oslo", "insert"), ("Ana owns a boat", "insert")]
    assert ([each.fact for each in plan.withheld], dict(plan.held_back)) == ([STEERED], {"instruction": 1})
    engine.apply(plan, actor="mia")
    [change] = [each for each in engine.history(ANA) if each.text_after == "Ana owns a boat"]
    assert change.reason.startswith("Let in by mia, though held back: Its quote is not in the conversation.")
    assert change.actor == "mia"


def test_of_a_fact_that_is_let_in_no_quote_is_kept_that_nobody_said(engine: MemoryEngine) -> None:
    plan = engine.replan(engine.plan(TALK, ANA), let_in=[0, 1])
    invented, steered = (planned.fact for planned in plan.facts[1:])
    assert (invented.quote, invented.message_ids, invented.importance) == (None, ["m1"], 0.7)
    assert (steered.quote, steered.message_ids) == ("I like tea", ["m1"])


def test_letting_in_asynchronously_gives_the_same(engine: MemoryEngine) -> None:
    plan = engine.plan(TALK, ANA)
    assert outcomes(asyncio.run(engine.areplan(plan, let_in=[1]))) == outcomes(engine.replan(plan, let_in=[1]))


@pytest.mark.parametrize("at", [-1, 2])
def test_only_what_was_withheld_can_be_let_in(engine: MemoryEngine, at: int) -> None:
    with pytest.raises(InputError, match="withholds 2 facts"):
        engine.replan(engine.plan(TALK, ANA), let_in=[at])


def test_a_fact_that_the_plan_holds_already_is_not_let_in_again(engine: MemoryEngine) -> None:
    plan = edit_fact(engine.plan(TALK, ANA), 0, ExtractedFact(content="ana OWNS a boat"))
    with pytest.raises(InputError, match="already holds"):
        engine.replan(plan, let_in=[0])


def test_what_a_person_changed_stays_when_more_is_let_in() -> None:
    engine = engine_over(extractor=lambda _: facts("Ana lives in Oslo", "Ana has a cat", "Ana sings"))
    plan = choose(edit_fact(engine.plan("x", ANA), 0, ExtractedFact(content="Ana lives in Bergen")), [0, 2])
    decided = ConsolidationDecision(action="insert", reason="Decided by mia.")
    again = engine.replan(edit_decision(plan, 2, decided))
    assert [planned.chosen for planned in again.facts] == [True, False, True]
    assert again.facts[2].reason == "Decided by mia."
    engine.apply(again)
    assert {record.content for record in engine.list(ANA)} == {"Ana lives in Bergen", "Ana sings"}


def test_a_suppression_that_a_person_overruled_stays_overruled() -> None:
    engine = engine_over(extractor=lambda _: facts("Ana lives in Oslo"))
    [record] = engine.remember("x", ANA)
    engine.forget(ANA, key=record.key)
    plan = engine.plan("x", ANA)
    assert plan.facts[0].outcome == "suppressed"
    assert engine.replan(plan).facts[0].outcome == "suppressed"
    overruled = edit_decision(plan, 0, ConsolidationDecision(action="insert", reason="Decided by mia."))
    assert engine.replan(overruled).facts[0].outcome == "insert"


def test_a_plan_made_again_sees_what_was_written_meanwhile_and_facts_made_equal_become_one() -> None:
    engine = engine_over(extractor=lambda _: facts("Ana lives in Oslo", "Ana sings"))
    plan = engine.plan("x", ANA)
    engine.remember_facts(facts("Ana sings"), ANA)
    assert outcomes(engine.replan(plan)) == [("Ana lives in Oslo", "insert"), ("Ana sings", "skip")]
    [one] = engine.replan(edit_fact(plan, 1, ExtractedFact(content="Ana lives in Oslo"))).facts
    assert one.collapsed == 1
