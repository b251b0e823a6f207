"""Runs are kept: from a memory to its turn, from a turn to its memories, forgotten and erased with them."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from engine_fixture import ANA, BEN, KINDS, Judge, contents, decide, engine_over, facts, lines_of, memory_store, opened
from mnemoscope import (
    PRESETS,
    ConsolidationDecision,
    ExtractedFact,
    InputError,
    MemoryConfig,
    MemoryEngine,
    Message,
    NotFoundError,
    RuleConsolidator,
    RuleExtractor,
)
from mnemoscope.consolidation import NOT_KEPT, choose
from mnemoscope.errors import ModelCall
from mnemoscope.extraction import Extraction, Judgement, Similar
from mnemoscope.journal import book

TALK = [
    Message("a1", "user", "I live in Lyon."),
    Message("a2", "assistant", "Lyon is lovely."),
    Message("a3", "user", "My sister Zoe has two cats."),
    Message("a4", "system", "You are a travel agent."),
]
ALL = MemoryConfig(consolidation_threshold=0.0)


def ruled(store: Any = None, **options: Any) -> MemoryEngine:
    """An engine with the rules, under a ticking clock."""
    chosen = {"extractor": RuleExtractor(), "consolidator": RuleConsolidator(), "config": PRESETS["rules"], **options}
    return engine_over(store, **chosen)


def books(engine: MemoryEngine) -> str:
    """Everything that the library keeps beside the memories, as text."""
    items = [each for name in ("runs", "journal") for each in engine.adapter.load(book(name), subtree=True).items]
    return json.dumps([item.value for item in items], default=str, ensure_ascii=False)


@pytest.mark.parametrize("kind", KINDS)
def test_a_memory_leads_to_its_turn_and_a_turn_to_its_memories(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        engine = ruled(store)
        applied = engine.remember(TALK, ANA, source="chat-1", actor="maria", reason="nightly")
        lyon = next(record for record in applied if "Lyon" in record.content)
        run = engine.runs.get(lyon.evidence[0].run or "")
        assert (run.id, run.namespace, run.source, run.actor) == (applied.plan.id, ANA, "chat-1", "maria")
        assert [turn.id for turn in run.turns_of_memory(lyon.key)] == ["a1"]
        assert [fact.target for fact in run.facts_of_turn("a1")] == [lyon.key]
        assert run.facts_of_turn("a2") == []
        assert {change.run for change in engine.history(ANA)} == {run.id}


def test_a_run_holds_its_settings_its_spoken_turns_and_its_decisions() -> None:
    engine = ruled()
    plan = engine.plan(TALK, ANA, source="chat-1", reason="nightly")
    engine.apply(plan)
    [run] = engine.runs.list(ANA)
    assert [turn.id for turn in run.messages] == ["a1", "a2", "a3"]
    assert (run.at, run.reason, run.not_kept) == (plan.created_at, "nightly", 0)
    assert run.settings["consolidation_threshold"] == PRESETS["rules"].consolidation_threshold
    assert (run.extractor, run.consolidator) == (plan.extractor, plan.consolidator)
    assert [(fact.content, fact.outcome, fact.quote) for fact in run.facts] == [
        (planned.fact.content, planned.outcome, planned.fact.quote) for planned in plan.facts
    ]


def test_planning_keeps_nothing_and_a_talk_without_facts_neither() -> None:
    engine = ruled()
    engine.plan(TALK, ANA)
    engine.remember("Thanks a lot!", ANA)
    assert engine.runs.list() == []


def test_a_fact_left_out_is_kept_as_left_out() -> None:
    engine = engine_over()
    engine.apply(choose(engine.plan("likes tea\nhas a dog", ANA), [1]))
    [run] = engine.runs.list(ANA)
    assert [(fact.content, fact.chosen) for fact in run.facts] == [("likes tea", False), ("has a dog", True)]
    assert run.facts_of_memory(run.facts[0].target or "") == []


def test_a_fact_already_known_leads_to_the_memory_that_says_it() -> None:
    engine = engine_over()
    [record] = engine.remember("likes tea", ANA)
    engine.remember([Message("b1", "user", "likes tea")], ANA, source="later")
    later, first = engine.runs.list(ANA)
    assert [fact.target for fact in later.facts] == [fact.target for fact in first.facts] == [record.key]
    assert [fact.outcome for fact in later.facts] == ["skip"]


def test_what_a_model_answered_is_not_kept_but_what_it_took_is() -> None:
    class Told:
        label = "told"

        def extract(self, _messages: Any) -> Extraction:
            call = ModelCall("extract", "small-model", 0.5, 120, 30, raw="the raw answer")
            return Extraction(facts("likes tea"), calls=(call,))

    engine = engine_over(extractor=Told())
    engine.remember("I like tea", ANA)
    [run] = engine.runs.list(ANA)
    assert [(call.model, call.input_tokens, call.raw) for call in run.calls] == [("small-model", 120, None)]
    assert "the raw answer" not in books(engine)


def test_turns_are_not_kept_where_the_setting_says_so() -> None:
    engine = ruled(config=MemoryConfig(keep_transcripts=False))
    engine.remember(TALK, ANA)
    [run] = engine.runs.list(ANA)
    assert (run.messages, run.not_kept) == ((), 3)
    assert "lovely" not in books(engine)


def test_the_turns_of_old_runs_are_counted_and_dropped_once_the_count_is_confirmed() -> None:
    engine = ruled()
    engine.remember(TALK, ANA)
    [run] = engine.runs.list(ANA)
    assert engine.runs.trim_transcripts() == 0
    assert engine.runs.trim_transcripts(run.at) == 0
    counted = engine.runs.trim_transcripts(timedelta(0))
    assert (counted, counted.is_done) == (1, False)
    with pytest.raises(InputError, match=r"1 runs before .* hold turns, but 2 were confirmed"):
        engine.runs.trim_transcripts(counted.before, confirm=2)
    assert engine.runs.trim_transcripts(counted.before, confirm=1).is_done
    [bare] = engine.runs.list(ANA)
    assert (bare.messages, bare.not_kept) == ((), len(run.messages))
    assert [fact.content for fact in bare.facts] == [fact.content for fact in run.facts]
    assert [record.evidence[0].quote for record in engine.list(ANA)] != [None]
    assert engine.runs.trim_transcripts(timedelta(0)) == 0


def test_a_secret_that_was_said_is_not_kept() -> None:
    engine = ruled()
    engine.remember(
        [
            Message("a1", "user", "I live in Lyon. My password is Gl4cier!Lac and I like it."),
            Message("a2", "user", "Pay with 4111 1111 1111 1111."),
        ],
        ANA,
    )
    [run] = engine.runs.list(ANA)
    assert [turn.text for turn in run.messages] == [f"I live in Lyon. {NOT_KEPT}", NOT_KEPT]
    assert "4111" not in books(engine)


def test_of_an_endless_talk_the_turns_of_facts_are_kept_and_the_others_counted() -> None:
    engine = engine_over(extractor=lambda _: facts("likes tea", message_ids=["a2"]))
    engine.remember([Message("a1", "user", "x" * 200_001), Message("a2", "user", "y" * 10)], ANA)
    [run] = engine.runs.list(ANA)
    assert ([turn.id for turn in run.messages], run.not_kept) == (["a2"], 1)


def test_runs_come_latest_first_by_namespace_and_by_conversation() -> None:
    engine = engine_over()
    for text, where, source in (("likes tea", ANA, "one"), ("has a dog", ANA, "two"), ("plays chess", BEN, "one")):
        engine.remember(text, where, source=source)
    assert [run.facts[0].content for run in engine.runs.list()] == ["plays chess", "has a dog", "likes tea"]
    assert [run.facts[0].content for run in engine.runs.list(ANA, source="one")] == ["likes tea"]
    latest, first = engine.runs.list(ANA)
    assert engine.runs.list(ANA, before=latest.id) == [first]
    assert engine.runs.list(("memories",), subtree=True, limit=1)[0].namespace == BEN


def test_an_unknown_run_is_said_to_be_unknown() -> None:
    with pytest.raises(NotFoundError, match="No run is kept under the id 'run-1'"):
        engine_over().runs.get("run-1")


def test_agents_see_nothing_of_the_runs() -> None:
    store = memory_store()
    engine = engine_over(store)
    engine.remember("likes tea", ANA)
    assert [item.value["content"] for item in store.search(("memories",), query="likes tea")] == ["likes tea"]
    assert list(engine.counts()) == [ANA]


# Forgetting a conversation


def test_forgetting_a_conversation_offers_its_memories_and_takes_those_that_rest_on_it_alone() -> None:
    def judge(fact: ExtractedFact, similar: Similar) -> ConsolidationDecision:
        tea = [record for record, _ in similar if "tea" in record.content]
        if tea and "tea" in fact.content:
            return ConsolidationDecision(action="update", target_key=tea[0].key)
        return ConsolidationDecision(action="insert")

    engine = engine_over(consolidator=judge, config=ALL)
    engine.remember("likes tea", ANA, source="one")
    engine.remember("likes green tea\nhas a dog", ANA, source="two")
    offered = engine.runs.forget(ANA, source="two")
    assert [record.content for record in offered.memories] == ["has a dog"]
    assert [record.content for record in offered.shared] == ["likes green tea"]
    assert (offered.group, len(contents(engine))) == (None, 2)

    done = engine.runs.forget(ANA, run=offered.runs[0].id, dry_run=False, reason="asked for")
    assert contents(engine) == ["likes green tea"]
    two, one = engine.runs.list(ANA)
    assert (two.messages, two.not_kept, len(one.messages)) == ((), 1, 1)
    engine.undo(done.group or "")
    assert contents(engine) == ["has a dog", "likes green tea"]


@pytest.mark.parametrize("which", [{}, {"run": "a", "source": "b"}])
def test_forgetting_a_conversation_needs_to_know_which(which: dict[str, str]) -> None:
    with pytest.raises(InputError, match="either run= or source="):
        engine_over().runs.forget(ANA, **which)


# Erasing


@pytest.mark.parametrize("kind", KINDS)
def test_erasing_a_memory_takes_its_words_and_its_talk_out_of_the_runs(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        engine = ruled(store)
        records = engine.remember(TALK, ANA, source="chat-1")
        lyon = next(record for record in records if "Lyon" in record.content)
        receipt = engine.curation.erase(ANA, lyon.key, confirm="memories/ana")
        assert (receipt.is_complete, receipt.runs) == (True, 1)
        assert "Lyon" not in books(engine)
        [run] = engine.runs.list(ANA)
        assert (run.messages, run.not_kept) == ((), 3)
        assert [fact.erased for fact in run.facts] == [fact.target == lyon.key for fact in run.facts]
        assert any("Zoe" in fact.content for fact in run.facts)


def test_erasing_finds_the_words_in_the_runs_of_other_talks_too() -> None:
    engine = engine_over()
    [record] = engine.remember("likes jasmine tea", ANA)
    [other] = engine.remember("has a dog\nlikes jasmine tea", ANA)
    receipt = engine.curation.erase(ANA, record.key, confirm="memories/ana")
    assert (receipt.is_complete, receipt.runs) == (True, 2)
    assert other.content == "has a dog"
    assert "jasmine" not in books(engine)


# Several targets, and decisions that stand


def test_a_decision_may_withdraw_further_memories_and_all_of_it_is_one_undoable_group() -> None:
    def judge(fact: ExtractedFact, similar: Similar) -> ConsolidationDecision:
        if fact.content != "moved to Lyon":
            return ConsolidationDecision(action="insert")
        keys = {record.content: record.key for record, _ in similar}
        return ConsolidationDecision(
            action="update", target_key=keys["lives in Rome"], also_forget=[keys["works in Rome"]], reason="moved"
        )

    engine = engine_over(consolidator=judge, config=ALL)
    engine.remember("lives in Rome\nworks in Rome\nhas a dog", ANA)
    applied = engine.remember("moved to Lyon", ANA)
    assert contents(engine) == ["has a dog", "moved to Lyon"]
    assert sorted(change.action for change in applied.changes) == ["forget", "update"]
    run = engine.runs.get(applied.plan.id)
    [forgotten] = engine.curation.trash(ANA)
    assert [fact.also_forgot for fact in run.facts] == [(forgotten.record.key,)]
    engine.undo(applied.group or "")
    assert contents(engine) == ["has a dog", "lives in Rome", "works in Rome"]


@pytest.mark.parametrize(("also", "said"), [("nowhere", "not among those offered"), (None, "kept and forgotten")])
def test_a_further_target_that_was_not_offered_or_is_the_first_is_rejected(also: str | None, said: str) -> None:
    def judge(_fact: ExtractedFact, similar: Similar) -> ConsolidationDecision:
        key = similar[0][0].key
        return ConsolidationDecision(action="skip", target_key=key, also_forget=[also or key])

    engine = engine_over(consolidator=judge, config=ALL)
    engine.remember_facts(facts("lives in Rome"), ANA)
    [planned] = engine.remember("moved to Lyon", ANA).plan.facts
    assert (planned.outcome, contents(engine)) == ("insert", ["lives in Rome", "moved to Lyon"])
    assert said in (planned.rejected or "")


@pytest.mark.parametrize("together", [False, True])
def test_planning_anew_judges_again_only_what_is_like_other_memories_now(together: bool) -> None:
    store = memory_store()
    other = engine_over(store)
    asked: list[str] = []

    def answer(fact: ExtractedFact, similar: Similar) -> ConsolidationDecision:
        asked.append(fact.content)
        if similar[0][0].content == "works at Google":
            other.update(ANA, similar[0][0].key, content="works at Apple")
        return decide("update")(fact, similar)

    class Together:
        def judge(self, requests: list[tuple[ExtractedFact, Similar]]) -> Judgement:
            return Judgement([answer(*request) for request in requests])

    config = MemoryConfig(consolidation_threshold=0.99)
    judge = Together() if together else Judge(answer)
    engine = engine_over(store, consolidator=judge, config=config, extractor=lines_of)
    other.remember("works at Google\nhas a dog", ANA)
    engine.remember("works AT Google!\nHAS a dog!", ANA)
    assert asked == ["works AT Google!", "HAS a dog!"]
    assert contents(engine) == ["HAS a dog!", "works AT Google!", "works at Apple"]
