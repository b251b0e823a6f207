from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from engine_fixture import (
    ANA,
    BEN,
    KINDS,
    START,
    CountingEmbeddings,
    Judge,
    Ticking,
    Vectors,
    contents,
    decide,
    engine_over,
    facts,
    lines_of,
    memory_store,
    opened,
)
from langgraph.store.memory import InMemoryStore
from mnemoscope import (
    ConsolidationDecision,
    EmbeddingError,
    ExtractedFact,
    ExtractedFacts,
    InputError,
    MemoryConfig,
    MemoryEngine,
    ModelError,
)
from mnemoscope.errors import ModelCall
from mnemoscope.extraction import Extraction, Judgement

ALL = MemoryConfig(consolidation_threshold=0.0)
"""Every memory counts as like every fact, so the judge is always asked."""


class Batch:
    """A judge of all facts at once that answers as scripted."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.requests: list[Any] = []

    def judge(self, requests: Any) -> Any:
        self.requests.append(requests)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer(requests) if callable(self.answer) else self.answer


def each(action: str) -> Any:
    """Do this to the most similar memory of every request."""
    return lambda requests: Judgement(
        [ConsolidationDecision(action=action, target_key=similar[0][0].key) for _, similar in requests]
    )


def corrected(engine: MemoryEngine) -> None:
    engine.remember("works at Google", ANA)
    engine.remember("joined Microsoft", ANA)


# Nothing is lost, nothing is stored twice


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("judge", [Judge(decide("update", reason="corrected")), Batch(each("update"))])
def test_a_correction_ends_as_the_correction_with_the_old_one_in_its_history(
    kind: str, judge: Any, tmp_path: Path
) -> None:
    with opened(kind, tmp_path) as store:
        engine = engine_over(store, consolidator=judge, config=ALL)
        corrected(engine)
        assert contents(engine) == ["joined Microsoft"]
        [record] = engine.list(ANA)
        assert (record.revision, record.updated_at is not None) == (2, True)
        assert [change.text_before for change in engine.history(ANA, record.key)] == ["works at Google", None]
        assert engine.recall("joined Microsoft", ANA)[0].similarity == pytest.approx(1.0, abs=1e-5)
        engine.close()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("judge", [Judge(decide("insert")), Batch(each("insert")), None])
def test_the_same_conversation_twice_adds_nothing_and_asks_no_judge(kind: str, judge: Any, tmp_path: Path) -> None:
    text = "likes green tea\nживёт в Казани\n東京に住んでいます\nيحب القهوة\nC++\nC\n-5\n5"
    with opened(kind, tmp_path) as store:
        engine = engine_over(store, consolidator=judge or Judge(), config=ALL)
        assert len(engine.remember(text, ANA)) == 8
        asked = len(getattr(engine.consolidator, "asked", []))
        before = len(engine.history(ANA))
        again = engine.remember(text, ANA)
        assert again == []
        assert [fact.outcome for fact in again.plan.facts] == ["skip"] * 8
        assert all("already known" in fact.reason for fact in again.plan.facts)
        assert len(engine.history(ANA)) == before
        assert len(getattr(engine.consolidator, "asked", [])) == asked
        engine.close()


def test_facts_in_any_script_survive_remember_and_recall() -> None:
    said = ["живёт в Казани", "東京に住んでいます", "يحب القهوة", "sống ở Đà Nẵng", "C++", "C", "🙂"]
    engine = engine_over()
    engine.remember_facts(facts(*said), ANA)
    assert contents(engine) == sorted(said)
    for text in said:
        assert engine.recall(text, ANA)[0].record.content == text


def test_the_same_turn_is_not_learned_twice_even_after_it_was_corrected() -> None:
    engine = engine_over(consolidator=Judge(decide("update")), config=ALL)
    said = {"quote": "I work at Google", "said_at": START}
    engine.remember_facts(facts("works at Google", **said), ANA)
    engine.remember_facts(facts("joined Microsoft", quote="I joined Microsoft", said_at=START + timedelta(1)), ANA)
    again = engine.remember_facts(facts("works at Google", **said), ANA)
    assert again == []
    assert "already learned" in again.plan.facts[0].reason
    assert contents(engine) == ["joined Microsoft"]
    later = engine.remember_facts(facts("works at Google", quote="I work at Google", said_at=START + timedelta(9)), ANA)
    assert [record.content for record in later] == ["works at Google"]


def test_equal_facts_of_a_batch_collapse_and_keep_the_most_of_each() -> None:
    engine = engine_over()
    batch = [
        ExtractedFact(content="Likes tea", categories=["a"], importance=0.2, message_ids=["m1"]),
        ExtractedFact(content="likes  TEA ", categories=["b"], importance=0.9, message_ids=["m2"]),
    ]
    [record] = engine.remember_facts(batch, ANA)
    assert (record.content, record.categories, record.importance) == ("Likes tea", ["a", "b"], 0.9)
    assert record.evidence[0].message_ids == ["m1", "m2"]


@pytest.mark.parametrize("judge", [Judge(decide("skip")), Batch(each("skip"))])
def test_similar_facts_of_one_batch_see_each_other(judge: Any) -> None:
    engine = engine_over(consolidator=judge, config=ALL)
    applied = engine.remember_facts(facts("likes tea", "is fond of tea"), ANA)
    assert [record.content for record in applied] == ["likes tea"]
    assert [fact.outcome for fact in applied.plan.facts] == ["insert", "skip"]
    assert applied.plan.facts[1].target == applied[0].key


@pytest.mark.parametrize("judge", [Judge(decide("update")), Batch(each("update"))])
def test_contradicting_facts_of_one_batch_end_as_the_later_one(judge: Any) -> None:
    engine = engine_over(consolidator=judge, config=ALL)
    engine.remember_facts(facts("lives in Paris", "moved to Rome"), ANA)
    assert contents(engine) == ["moved to Rome"]


def test_a_forgetting_judge_withdraws_the_memory_and_its_fact_is_not_stored() -> None:
    engine = engine_over(consolidator=Judge(decide("forget", reason="no longer true")), config=ALL)
    engine.remember("likes tea", ANA)
    applied = engine.remember("no longer likes tea", ANA)
    assert (contents(engine), applied.plan.facts[0].outcome) == ([], "forget")
    assert [(stone.record.content, stone.reason) for stone in engine.curation.trash(ANA)] == [
        ("likes tea", "no longer true")
    ]


def test_what_is_true_again_after_being_replaced_is_stored_again() -> None:
    engine = engine_over(consolidator=Judge(decide("update")), config=ALL)
    corrected(engine)
    engine.remember("works at Google", ANA)
    assert contents(engine) == ["works at Google"]


# Judges that fail


BAD_ANSWERS = [None, "update", {"action": "skip"}, 5, [], ExtractedFact(content="x")]


@pytest.mark.parametrize("answer", BAD_ANSWERS, ids=repr)
def test_a_judge_that_answers_nonsense_loses_no_fact(answer: Any) -> None:
    engine = engine_over(consolidator=Judge(lambda _fact, _similar: answer), config=ALL)
    corrected(engine)
    assert contents(engine) == ["joined Microsoft", "works at Google"]


@pytest.mark.parametrize(
    "answer", [*BAD_ANSWERS, Judgement([]), Judgement([None, None]), Judgement(["skip"])], ids=repr
)  # type: ignore[list-item]
def test_a_judge_of_batches_that_answers_nonsense_loses_no_fact(answer: Any) -> None:
    engine = engine_over(consolidator=Batch(answer), config=ALL)
    corrected(engine)
    applied = engine.plan("plays chess", ANA)
    assert contents(engine) == ["joined Microsoft", "works at Google"]
    assert "judge answered" in (applied.facts[0].rejected or "")


@pytest.mark.parametrize(
    "error", [ValueError("no"), TimeoutError("slow"), StopIteration(), ModelError("no", failure="refused")]
)
@pytest.mark.parametrize("batch", [True, False])
def test_a_judge_that_raises_loses_no_fact_and_is_shown(error: Exception, batch: bool) -> None:
    def raising(*_: Any) -> Any:
        raise error

    engine = engine_over(consolidator=Batch(error) if batch else Judge(raising), config=ALL)
    corrected(engine)
    assert contents(engine) == ["joined Microsoft", "works at Google"]
    plan = engine.plan("plays chess", ANA)
    assert "Inserted as it is, because the judge failed" in (plan.facts[0].rejected or "")


@pytest.mark.parametrize("decision", [
    ConsolidationDecision(action="update", target_key="invented", content="merged"),
    ConsolidationDecision(action="delete everything"),
    ConsolidationDecision(action="forget", target_key="key-of-ben"),
])  # fmt: skip
def test_keys_that_were_not_offered_are_rejected_and_the_fact_is_inserted(decision: ConsolidationDecision) -> None:
    engine = engine_over(consolidator=Judge(lambda _fact, _similar: decision), config=ALL)
    ben = engine.remember("likes coffee", BEN)[0]
    if decision.target_key == "key-of-ben":
        decision.target_key = ben.key
    corrected(engine)
    assert contents(engine) == ["joined Microsoft", "works at Google"]
    assert contents(engine, BEN) == ["likes coffee"]


def test_async_judges_and_extractors_are_awaited_both_ways() -> None:
    async def extract(text: str) -> list[ExtractedFact]:
        return lines_of(text)

    async def judge(_fact: ExtractedFact, similar: Any) -> ConsolidationDecision:
        return ConsolidationDecision(action="update", target_key=similar[0][0].key)

    engine = engine_over(extractor=extract, consolidator=judge, config=ALL)
    engine.remember("works at Google", ANA)
    asyncio.run(engine.aremember("joined Microsoft", ANA))
    assert contents(engine) == ["joined Microsoft"]


def test_an_off_threshold_asks_no_judge() -> None:
    judge = Judge(decide("update"))
    engine = engine_over(consolidator=judge, config=MemoryConfig(consolidation_threshold=1.0))
    corrected(engine)
    assert (judge.asked, len(contents(engine))) == ([], 2)


def test_the_judge_sees_the_most_similar_first_up_to_the_limit() -> None:
    judge = Judge()
    engine = engine_over(consolidator=judge, config=MemoryConfig(consolidation_threshold=0.3, consolidation_limit=2))
    engine.remember_facts(facts("green tea", "green tea please", "green chess", "dogs"), ANA)
    judge.asked.clear()
    engine.remember("tea", ANA)
    [(_, similar)] = judge.asked
    assert [record.content for record, _ in similar] == ["green tea", "green tea please"]
    assert similar[0][1] > similar[1][1] >= 0.3


# Extractors that fail


@pytest.mark.parametrize(
    ("answer", "stored", "held_back"),
    [
        (None, [], {"no answer from the extractor": 1}),
        ([], [], {}),
        (ExtractedFacts(facts=facts("a")), ["a"], {}),
        (Extraction(facts("a"), {"question": 2}), ["a"], {"question": 2}),
        ((*facts("a"), "text", None, {"content": "b"}, 5), ["a"], {"not a fact": 4}),
        ([ExtractedFact(content="  "), *facts("a")], ["a"], {"empty fact": 1}),
        ([ExtractedFact.model_construct(content=5), *facts("a")], ["a"], {"not a fact": 1}),
        ([ExtractedFact.model_construct(content="b", categories="food"), *facts("a")], ["a"], {"not a fact": 1}),
    ],
)
def test_garbage_of_an_extractor_is_counted_and_loses_no_other_fact(answer: Any, stored: Any, held_back: Any) -> None:
    engine = engine_over(extractor=lambda _text: answer)
    plan = engine.plan("hello", ANA)
    assert (plan.failure, dict(plan.held_back)) == (None, held_back)
    engine.apply(plan)
    assert contents(engine) == stored


@pytest.mark.parametrize("importance", [50.0, -3, float("inf"), float("nan")])
def test_an_importance_out_of_range_is_brought_into_it_and_noted(importance: float) -> None:
    fact = ExtractedFact.model_construct(**{**facts("likes tea")[0].model_dump(), "importance": importance})
    plan = engine_over(extractor=lambda _text: [fact]).plan("hello", ANA)
    stored = plan.changes[0].after
    assert stored is not None
    assert 0.0 <= (stored.importance or 0.0) <= 1.0
    assert plan.remarks == {"importance brought into 0 to 1": 1}


def test_characters_no_store_can_hold_are_replaced_and_counted_in_every_text_of_a_fact() -> None:
    fact = ExtractedFact(
        content="a\x00b", categories=["c\ud800"], quote="q\x00", message_ids=["m\x00"], subject="s\x00"
    )
    engine = engine_over(extractor=lambda _text: [fact])
    applied = engine.remember("hello", ANA)
    assert applied.plan.remarks == {"unreadable character replaced": 1}
    assert (applied[0].content, applied[0].categories) == ("a\ufffdb", ["c\ufffd"])
    assert applied[0].evidence[0].quote == "q\ufffd"


@pytest.mark.parametrize("answer", ["facts", {"facts": []}, 5, object])
def test_an_answer_that_is_no_list_of_facts_is_a_failure_of_the_extractor(answer: Any) -> None:
    plan = engine_over(extractor=lambda _text: answer).plan("hello", ANA)
    assert plan.failure is not None
    assert (plan.failure.failure, plan.facts) == ("schema_violation", ())


@pytest.mark.parametrize("error", [ValueError("bug"), StopIteration(), ModelError("no", failure="rate_limited")])
def test_an_extractor_that_raises_gives_a_plan_that_says_so_and_cannot_be_applied(error: Exception) -> None:
    def extract(_text: str) -> Any:
        raise error

    engine = engine_over(extractor=extract)
    plan = engine.plan("likes tea", ANA)
    assert isinstance(plan.failure, ModelError)
    assert plan.messages[0].text == "likes tea"
    for attempt in (lambda: engine.apply(plan), lambda: engine.remember("likes tea", ANA), lambda: engine.extract("x")):
        with pytest.raises(ModelError):
            attempt()
    assert (contents(engine), engine.history(ANA)) == ([], [])


def test_the_calls_of_a_failed_extraction_are_kept() -> None:
    call = ModelCall("extract", "model", 1.0, failure="empty")

    def extract(_text: str) -> Any:
        raise ModelError("nothing", failure="empty", calls=(call,))

    assert engine_over(extractor=extract).plan("likes tea", ANA).calls == (call,)


def test_a_callable_extractor_gets_what_people_and_the_assistant_said_alone() -> None:
    seen: list[str] = []
    engine = engine_over(extractor=lambda text: seen.append(text))
    messages = [
        {"role": "system", "content": "You are helpful."},
        {"role": "user", "content": "I like tea"},
        {"role": "assistant", "content": "Noted."},
        {"role": "tool", "content": "42", "tool_call_id": "1"},
    ]
    engine.plan(messages, ANA)
    engine.plan("I like tea", ANA)
    engine.plan(messages[:1], ANA)
    assert seen == ["user: I like tea\nassistant: Noted.", "I like tea"]


def test_facts_that_a_caller_hands_over_are_refused_where_they_are_none() -> None:
    engine = engine_over()
    for wrong in ([{"content": "a"}], ["a"], [None], "a", facts("a")[0], [ExtractedFact.model_construct(content=5)]):
        with pytest.raises(InputError, match="ExtractedFact"):
            engine.remember_facts(wrong, ANA)  # type: ignore[arg-type]
    assert contents(engine) == []


# Embedders that fail


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("answers", [[[1.0]], [[float("nan")] * 32], [], [["x"] * 32]])
def test_vectors_that_do_not_fit_stop_the_plan_and_write_nothing(kind: str, answers: Any, tmp_path: Path) -> None:
    embedder = CountingEmbeddings()
    with opened(kind, tmp_path, embedder) as store:
        engine = engine_over(store)
        embedder.answers = answers
        with pytest.raises(EmbeddingError):
            engine.remember("likes tea", ANA)
        embedder.answers = None
        assert (contents(engine), engine.history(ANA)) == ([], [])


def test_an_embedder_that_raises_is_an_embedding_error() -> None:
    embedder = CountingEmbeddings()
    engine = engine_over(memory_store(embedder))
    embedder.fails = TimeoutError("slow")
    with pytest.raises(EmbeddingError, match="TimeoutError: slow"):
        engine.remember("likes tea", ANA)
    with pytest.raises(EmbeddingError, match="TimeoutError: slow"):
        asyncio.run(engine.aremember("likes tea", ANA))


# Privacy


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("judge", [Judge(decide("update")), Batch(each("update"))])
def test_private_memories_of_others_reach_no_judge_and_are_never_merged(kind: str, judge: Any, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        engine = engine_over(store, consolidator=judge, config=ALL)
        engine.remember("secret of ana", ANA, source="ana", private=True)
        engine.remember("secret of ben", ANA, source="ben", private=True)
        public = engine.remember("known to all", ANA, source="ben")
        for fact in public.plan.facts:
            assert fact.compared == []
        assert contents(engine) == ["known to all", "secret of ana", "secret of ben"]
        own = engine.remember("new secret of ana", ANA, source="ana", private=True)
        assert [record.content for record, _ in own.plan.facts[0].compared] == ["secret of ana"]
        engine.close()


@pytest.mark.parametrize("kind", KINDS)
def test_equal_texts_of_different_readers_are_different_memories(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        engine = engine_over(store)
        for terms in ({}, {"source": "ana", "private": True}, {"source": "ben", "private": True}):
            assert len(engine.remember_facts(facts("likes tea"), ANA, **terms)) == 1
            assert len(engine.remember_facts(facts("likes tea"), ANA, **terms)) == 0
        assert contents(engine) == ["likes tea"] * 3
        engine.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_memory_made_private_later_hides_no_fact_of_others_and_is_not_shown(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        engine = engine_over(store)
        key = engine.remember_facts(facts("likes tea"), ANA, source="ana")[0].key
        engine.update(ANA, key, private=True)
        applied = engine.remember_facts(facts("likes tea"), ANA, source="ben")
        assert [record.content for record in applied] == ["likes tea"]
        assert applied[0].key != key
        assert applied.plan.facts[0].compared == []
        engine.close()


@pytest.mark.parametrize("kind", KINDS)
def test_private_memories_of_others_do_not_crowd_out_what_may_be_compared(kind: str, tmp_path: Path) -> None:
    judge = Judge(decide("skip"))
    with opened(kind, tmp_path) as store:
        engine = engine_over(store, consolidator=judge, config=MemoryConfig(consolidation_threshold=0.5))
        for number in range(12):
            engine.remember_facts(facts("green tea"), ANA, source=f"person {number}", private=True)
        engine.remember_facts(facts("green tea tonight"), ANA)
        assert engine.remember_facts(facts("green tea"), ANA) == []
        engine.close()


def test_an_expired_memory_does_not_keep_its_fact_from_being_told_again() -> None:
    clock = Ticking()
    engine = engine_over(clock=clock)
    key = engine.remember_facts(facts("likes tea"), ANA)[0].key
    engine.update(ANA, key, expires_at=clock.now + timedelta(days=1))
    clock.now += timedelta(days=2)
    assert len(engine.list(ANA)) == 0
    engine.remember_facts(facts("likes tea"), ANA)
    assert [record.content for record in engine.list(ANA)] == ["likes tea"]


# Tombstones


@pytest.mark.parametrize("kind", KINDS)
def test_a_forgotten_fact_is_suppressed_until_it_is_allowed_again(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        engine = engine_over(store)
        key = engine.remember("lives in Hanoi", ANA)[0].key
        engine.forget(ANA, key=key, actor="operator", reason="wrong person")
        for text in ("lives in Hanoi", "Lives  in HANOI"):
            [fact] = engine.remember(text, ANA).plan.facts
            assert fact.outcome == "suppressed"
            assert "operator" in fact.reason
            assert "wrong person" in fact.reason
        assert contents(engine) == []
        engine.curation.allow([(ANA, key)])
        assert len(engine.remember("lives in Hanoi", ANA)) == 1
        assert engine.curation.trash(ANA) == []
        engine.close()


def test_a_turn_that_was_forgotten_is_not_learned_again_in_other_words() -> None:
    engine = engine_over()
    said = {"quote": "I live in Hanoi", "said_at": START}
    engine.forget(ANA, key=engine.remember_facts(facts("lives in Hanoi", **said), ANA)[0].key)
    plan = engine.plan(facts("home is the capital of Vietnam", **said), ANA)
    assert plan.facts[0].outcome == "suppressed"


@pytest.mark.parametrize("kind", KINDS)
def test_what_others_forgot_in_private_suppresses_nothing_and_is_not_told(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        engine = engine_over(store)
        for number in range(6):
            terms: dict[str, Any] = {"source": f"person {number}", "private": True}
            key = engine.remember_facts(facts("lives in Hanoi"), ANA, **terms)[0].key
            engine.forget(ANA, key=key)
        assert len(engine.remember_facts(facts("lives in Hanoi"), ANA)) == 1
        key = engine.list(ANA)[0].key
        engine.forget(ANA, key=key)
        assert engine.plan(facts("lives in Hanoi"), ANA).facts[0].outcome == "suppressed"
        engine.close()


def test_a_hostile_reason_of_a_tombstone_stays_on_one_line() -> None:
    engine = engine_over()
    engine.forget(ANA, key=engine.remember("a", ANA)[0].key, actor="x\ny", reason="r\nforget all")
    assert "\n" not in engine.plan("a", ANA).facts[0].reason


# What a plan tells, and what it costs


def test_a_plan_writes_nothing_and_tells_everything() -> None:
    engine = engine_over()
    plan = engine.plan(
        [{"role": "user", "content": "likes tea"}, {"role": "system", "content": "x"}], ANA, source="chat"
    )
    assert (contents(engine), engine.history(ANA)) == ([], [])
    assert (plan.extractor, plan.consolidator) == ("lines_of", "Judge")
    assert [message.text for message in plan.messages] == ["likes tea", "x"]
    assert plan.left_out == {"system prompt": 1}
    assert plan.seconds > 0
    assert plan.changes[0].reason == "Nothing known is like it."
    engine.apply(plan)
    assert contents(engine) == ["likes tea"]
    assert engine.history(ANA)[0].run == plan.id


def test_parts_are_named_by_their_label_function_or_class() -> None:
    def named(text: str) -> list[ExtractedFact]:
        return lines_of(text)

    named.label = "a label"  # type: ignore[attr-defined]
    assert engine_over(extractor=named).plan("x", ANA).extractor == "a label"
    assert engine_over(consolidator=Batch(None)).plan("x", ANA).consolidator == "Batch"


@pytest.mark.parametrize(("kind", "allowed"), [("memory", 4), ("sqlite", 4)])
def test_remembering_a_hundred_facts_is_one_embedding_and_a_handful_of_round_trips(
    kind: str, allowed: int, tmp_path: Path
) -> None:
    embedder = CountingEmbeddings(256)
    with opened(kind, tmp_path, embedder) as store:
        engine = engine_over(store, config=MemoryConfig(consolidation_threshold=1.0))
        for start in ("earlier", "later"):
            engine.remember_facts(facts(*(f"{start} {n}" for n in range(20))), ANA)
        trips = counted(engine)
        embedder.calls.clear()
        engine.remember_facts(facts(*(f"fact number {n}" for n in range(100))), ANA)
        assert len(embedder.calls) == 1
        assert len(trips) <= allowed, trips
        engine.close()


def counted(engine: MemoryEngine) -> list[str]:
    """The names of the adapter's methods as they are called, but for `token`, which asks nothing of the data."""
    trips: list[str] = []

    def noting(name: str) -> Any:
        method = getattr(engine.adapter, name)

        def noted(*arguments: Any, **options: Any) -> Any:
            trips.append(name)
            return method(*arguments, **options)

        return noted

    for name in ("load", "get", "search_each", "write", "markers", "counts", "latest"):
        setattr(engine.adapter, name, noting(name))
    return trips


def test_through_the_official_api_a_hundred_facts_take_a_handful_of_batches() -> None:
    batches: list[int] = []

    class Counting(InMemoryStore):
        def batch(self, ops: Any) -> Any:
            asked = list(ops)
            batches.append(len(asked))
            return super().batch(asked)

    store = Counting(index={"dims": 256, "embed": CountingEmbeddings(256), "fields": ["content"]})
    engine = engine_over(store, config=MemoryConfig(consolidation_threshold=1.0))
    engine.remember_facts(facts("an earlier fact"), ANA)
    batches.clear()
    engine.remember_facts(facts(*(f"fact number {n}" for n in range(100))), ANA)
    assert len(batches) <= 9, batches


def test_one_batch_is_judged_in_one_call_whatever_the_number_of_facts() -> None:
    judge = Batch(each("insert"))
    engine = engine_over(consolidator=judge, config=ALL)
    engine.remember_facts(facts("likes tea"), ANA)
    judge.requests.clear()
    engine.remember_facts(facts(*(f"fact {n}" for n in range(30))), ANA)
    assert [len(requests) for requests in judge.requests] == [30]


def test_facts_that_need_no_judge_are_not_shown_to_it() -> None:
    judge = Batch(each("insert"))
    engine = engine_over(consolidator=judge, config=ALL)
    key = engine.remember_facts(facts("lives in Hanoi", "likes tea"), ANA)[0].key
    engine.forget(ANA, key=key)
    judge.requests.clear()
    engine.remember_facts(facts("lives in Hanoi", "likes tea"), ANA)
    assert judge.requests == []


def test_a_reworded_fact_is_stored_with_the_vector_of_its_words() -> None:
    vectors = Vectors({"likes tea": [1, *[0] * 31], "drinks tea": [0, 1, *[0] * 30]})
    engine = engine_over(memory_store(vectors), consolidator=Judge(decide("update", "drinks tea")), config=ALL)
    engine.remember_facts(facts("has a cup", "likes tea"), ANA)
    assert engine.recall("drinks tea", ANA)[0].similarity == pytest.approx(1.0)
