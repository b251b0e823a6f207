"""The rule consolidator: what is the same, what corrects what, and what stands beside it."""

from datetime import UTC, datetime, timedelta

import pytest
from mnemoscope import ConsolidationDecision, Evidence, ExtractedFact, MemoryRecord, RuleConsolidator
from mnemoscope.extraction import compare

SAID_AT = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def judge(fact: ExtractedFact, *memories: MemoryRecord) -> ConsolidationDecision:
    return RuleConsolidator()(fact, [(memory, 0.7) for memory in memories])


def memory(content: str, key: str = "k", *evidence: Evidence) -> MemoryRecord:
    return MemoryRecord(key, ("memories", "ana"), content, evidence=list(evidence))


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("User likes tea", "user LIKES  tea"),
        ("User likes tea", "User loves tea"),
        ("User hates tea", "User does not like tea"),
        ("User lives in Hanoi", "User moved to Hanoi last month"),
        ("User lives in Hanoi with their wife Mai", "User lives in Hanoi"),
        ("User likes tea and coffee", "User likes tea"),
        ("Я переехала в Казань", "Теперь я живу в Казани"),
        ("東京に住んでいます。", "東京に住んでます"),
    ],
)
def test_what_is_known_is_skipped(earlier: str, later: str) -> None:
    decision = judge(ExtractedFact(content=later), memory(earlier))
    assert (decision.action, decision.target_key) == ("skip", "k")
    assert decision.reason


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("User lives in Berlin", "User moved to Hanoi last month"),
        ("The user lives in Berlin", "User moved from Berlin to Hanoi"),
        ("User works at Google", "User joined Microsoft"),
        ("User works at Google", "User left Google for Microsoft"),
        ("User works at Google", "User no longer works at Google"),
        ("User likes tea", "User does not like tea any more"),
        ("User drinks four coffees a day", "User no longer drinks coffee"),
        ("User smokes", "User quit smoking"),
        ("User is vegetarian", "User eats meat again"),
        ("User is married", "User got divorced"),
        ("User is 34", "User turned 35 in May"),
        ("User prefers trains to planes", "User prefers planes to trains"),
        ("User prefers aisle seats", "User prefers window seats on long flights"),
        ("User's favourite colour is blue", "User's favorite color is green"),
        ("User's email is a@x.org", "User's email is b@x.org"),
        ("Caroline lives in Rome", "Caroline moved to Oslo"),
        ("Я живу в Москве", "Мы переехали в Казань"),
        ("Я люблю чай", "Я не люблю чай"),
        ("東京に住んでいます", "先月、大阪に引っ越しました"),
        ("肉は食べません", "肉は食べます"),
        ("أعيش في القاهرة", "انتقلت إلى دبي"),
        ("User lives in Hanoi", "User lives in Hanoi with their wife Mai"),
    ],
)
def test_correction_or_detail_updates(earlier: str, later: str) -> None:
    decision = judge(ExtractedFact(content=later), memory("User plays chess", "other"), memory(earlier))
    assert (decision.action, decision.target_key) == ("update", "k")
    assert decision.reason


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("User likes tea", "User likes coffee"),
        ("User likes tea", "User likes tea shops"),
        ("User likes C++", "User likes C"),
        ("User has two cats", "User has three dogs"),
        ("User's daughter lives in Lyon", "User lives in Paris"),
        ("User's daughter is called Mia", "User's daughter is called Zoe"),
        ("Caroline lives in Rome", "Melanie lives in Oslo"),
        ("User joined a gym", "User joined Microsoft"),
        ("User is a nurse", "User is a painter"),
        ("User speaks French", "User speaks German"),
        ("User is allergic to peanuts", "User is allergic to cashews"),
        ("私は犬が好きです", "私は猫が好きです"),
        ("Я люблю чай", "Я люблю кофе"),
        ("User flies from Rome to Oslo", "User flies from Oslo to Rome"),
    ],
)
def test_what_stands_beside_is_inserted(earlier: str, later: str) -> None:
    assert compare(later, earlier).relation == "unrelated"
    assert judge(ExtractedFact(content=later), memory(earlier)).action == "insert"


def test_nothing_similar_is_an_insert_that_says_so() -> None:
    assert judge(ExtractedFact(content="User likes tea")).reason == "No memory resembles it."


def test_reason_names_what_changed() -> None:
    reason = judge(ExtractedFact(content="User joined Microsoft"), memory("User works at Google")).reason
    assert reason == "The employer was “Google” and is now “Microsoft”."


def test_fact_said_before_the_memory_does_not_overturn_it() -> None:
    known = memory("User moved to Hanoi", "k", Evidence(said_at=SAID_AT))
    older = ExtractedFact(content="User lives in Berlin", said_at=SAID_AT - timedelta(days=1))
    newer = ExtractedFact(content="User lives in Berlin", said_at=SAID_AT + timedelta(days=1))
    assert judge(older, known).action == "skip"
    assert judge(newer, known).action == "update"


def test_sentence_that_a_memory_already_rests_on_is_skipped() -> None:
    known = memory("User moved to Hanoi", "k", Evidence(None, ["1"], "I live in Berlin.", SAID_AT))
    again = ExtractedFact(content="User lives in Berlin", quote="I live in Berlin.", message_ids=["1"], said_at=SAID_AT)
    assert judge(again, known).action == "skip"


def test_same_is_preferred_to_a_correction() -> None:
    decision = judge(
        ExtractedFact(content="User lives in Hanoi"),
        memory("User lives in Berlin", "old"),
        memory("User lives in Hanoi", "same"),
    )
    assert (decision.action, decision.target_key) == ("skip", "same")
