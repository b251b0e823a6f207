from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from engine_fixture import (
    ANA,
    BEN,
    KINDS,
    START,
    CountingEmbeddings,
    Vectors,
    dump,
    engine_over,
    facts,
    memory_store,
    opened,
)
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import examples
from langgraph.store.memory import InMemoryStore
from mnemoscope import EmbeddingError, InputError, MemoryConfig, MemoryEngine, MemoryRecord, NamespaceError, StoreError
from mnemoscope.index import Drop
from mnemoscope.recall import reasons_of
from mnemoscope.stores import GenericAdapter, Write

SIZE = 16
NOW = datetime(2025, 6, 1, tzinfo=UTC)
QUERY = "what is asked"


def random_memories(seed: int, count: int, *, clustered: bool) -> tuple[list[Write], dict[str, list[float]]]:
    """Memories of any age and importance in a few categories and sources, some private; and the query's vector."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(4, SIZE))
    writes, known = [], {QUERY: rng.normal(size=SIZE).tolist()}
    for number in range(count):
        vector = centres[number % 4] + 0.05 * rng.normal(size=SIZE) if clustered else rng.normal(size=SIZE)
        text = f"memory {number}"
        known[text] = vector.tolist()
        record = MemoryRecord(
            key=f"k{number:04}",
            namespace=ANA,
            content=text,
            categories=[str(rng.choice(["a", "b", "c"]))],
            importance=None if number % 11 == 0 else float(rng.random()),
            created_at=NOW - timedelta(days=float(rng.uniform(-2, 200))),
            source=str(rng.choice(["ana", "ben"])),
            private=bool(rng.random() < 0.2),
            metadata={"team": str(rng.choice(["red", "blue"]))},
        )
        vectors = {} if number % 13 == 0 else {"content": vector.astype(np.float32)}
        writes.append(Write(ANA, record.key, record.to_value(), vectors))
    return writes, known


def brute_force(engine: MemoryEngine, known: dict[str, list[float]], config: MemoryConfig, asked: Any) -> list[str]:
    """The keys of the top-k, by the formula, one memory after the other."""
    snapshot = engine.adapter.load(ANA) if engine.adapter.abilities.reads_vectors else None
    vectored = {snapshot.items[at].key for at in snapshot.owner.tolist()} if snapshot else None
    query = np.array(known[QUERY]) / np.linalg.norm(known[QUERY])
    found = []
    for item in engine.adapter.load(ANA).items:
        record = MemoryRecord.from_item(item)
        if record.private and record.source != asked.get("source"):
            continue
        if asked.get("categories") is not None and not set(asked["categories"]) & set(record.categories):
            continue
        if asked.get("filter") and record.metadata["team"] != "red":
            continue
        vector = np.array(known[record.content])
        cosine = float(vector @ query / np.linalg.norm(vector))
        if vectored is not None and record.key not in vectored:
            cosine = 0.0
        age = max((NOW - record.changed_at).total_seconds(), 0.0) / 86_400
        importance = config.default_importance if record.importance is None else record.importance
        score = (
            config.semantic_weight * cosine
            + config.recency_weight * 0.5 ** (age / config.recency_half_life_days)
            + config.importance_weight * importance
        )
        if score >= asked.get("min_score", 0.0):
            found.append((-score, age, record.key))
    return [key for _, _, key in sorted(found)][: asked["limit"]]


def scores_of(result: Any) -> list[float]:
    return [round(match.score, 5) for match in result]


asked_for = st.fixed_dictionaries(
    {"limit": st.integers(0, 12)},
    optional={
        "categories": st.lists(st.sampled_from("abc"), max_size=2),
        "source": st.sampled_from(["ana", "ben"]),
        "filter": st.just({"metadata.team": "red"}),
        "min_score": st.sampled_from([0.2, 0.5]),
    },
)
configs = st.builds(
    MemoryConfig,
    semantic_weight=st.sampled_from([0.0, 0.5, 1.0]),
    recency_weight=st.sampled_from([0.05, 0.3, 1.0]),
    recency_half_life_days=st.sampled_from([1.0, 30.0, 365.0]),
    recall_oversample=st.sampled_from([1, 3]),
)


@pytest.mark.parametrize("clustered", [True, False], ids=["clustered", "random"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_result_is_the_true_top_k(kind: str, clustered: bool, tmp_path: Path) -> None:
    writes, known = random_memories(7, 150, clustered=clustered)
    if kind == "generic":
        writes = [replace(write, vectors={"content": np.zeros(0, np.float32)}) for write in writes]
    with opened(kind, tmp_path, Vectors(known, SIZE)) as store:
        engine = engine_over(store, clock=lambda: NOW)
        engine.adapter.write(writes)

        @examples(60)
        @given(asked_for, configs)
        def check(asked: dict[str, Any], config: MemoryConfig) -> None:
            result = engine.recall(QUERY, ANA, config=config, touch=False, **asked)
            assert result.exact
            assert [match.record.key for match in result] == brute_force(engine, known, config, asked)

        check()
        engine.close()


def test_clustered_short_facts_lose_none_of_the_top_five() -> None:
    """Oversampling three times missed most of them."""
    writes, known = random_memories(3, 2_000, clustered=True)
    engine = engine_over(memory_store(Vectors(known, SIZE), SIZE), clock=lambda: NOW)
    engine.adapter.write(writes)
    result = engine.recall(QUERY, ANA, limit=5, include_private=False)
    assert [match.record.key for match in result] == brute_force(engine, known, MemoryConfig(), {"limit": 5})
    assert (result.examined, result.total, result.exact) == (2_000, 2_000, True)


def test_a_store_that_keeps_items_to_itself_is_never_called_exact() -> None:
    class Short(InMemoryStore):
        def batch(self, ops: Any) -> Any:
            return [
                found[:5] if isinstance(found, list) and getattr(op, "query", None) else found
                for op, found in zip(ops, super().batch(ops), strict=True)
            ]

    embedder = CountingEmbeddings()
    store = Short(index={"dims": embedder.dimensions, "embed": embedder, "fields": ["content"]})
    engine = engine_over(GenericAdapter(store))
    engine.remember_facts(facts(*(f"number {n}" for n in range(30))), ANA)
    result = engine.recall("number", ANA, limit=10)
    assert (len(result), result.exact, result.examined, result.total) == (5, False, 5, 30)


@pytest.mark.parametrize("kind", KINDS)
def test_filters_widen_the_search_instead_of_thinning_the_result(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        engine = engine_over(store, config=MemoryConfig(consolidation_threshold=1.0))
        engine.remember_facts(facts(*(f"green tea number {n}" for n in range(60))), ANA)
        engine.remember_facts(facts("has a dog"), ANA, categories=["rare"], metadata={"team": "red"})
        for narrow in ({"categories": ["rare"]}, {"filter": {"metadata.team": "red"}}):
            result = engine.recall("green tea", ANA, limit=1, **narrow)
            assert [match.record.content for match in result] == ["has a dog"]
        engine.close()


@pytest.mark.parametrize("kind", KINDS)
def test_namespaces_are_searched_exactly_unless_the_subtree_is_asked_for(kind: str, tmp_path: Path) -> None:
    places = [("m", "al"), ("m", "alice"), ("m", "al", "work"), ("m", "a.l"), ("m",)]
    with opened(kind, tmp_path) as store:
        engine = engine_over(store)
        for place in places:
            engine.remember_facts(facts(f"tea of {'/'.join(place)}"), place)
        assert [match.record.content for match in engine.recall("tea", ("m", "al"))] == ["tea of m/al"]
        below = engine.recall("tea", ("m", "al"), subtree=True)
        assert sorted(match.record.content for match in below) == ["tea of m/al", "tea of m/al/work"]
        assert len(engine.recall("tea", "m", subtree=True)) == 5
        assert [match.record.content for match in engine.recall("tea", ("m", "a.l"))] == ["tea of m/a.l"]
        everything = engine.recall("tea", (), subtree=True)
        assert len(everything) == 5
        engine.close()


def test_our_own_books_are_never_recalled() -> None:
    engine = engine_over()
    key = engine.remember_facts(facts("likes tea"), ANA)[0].key
    engine.forget(ANA, key=key)
    assert len(engine.recall("tea", (), subtree=True)) == 0
    assert engine.counts() == {}
    assert engine.list((), subtree=True) == []


def test_private_memories_are_seen_on_behalf_of_their_source_alone() -> None:
    engine = engine_over()
    engine.remember("ana's secret tea", ANA, extract=False, source="ana", private=True)
    engine.remember("tea for all", ANA, extract=False, source="ana")
    counts = {who: len(engine.recall("tea", ANA, source=who)) for who in ("ana", "ben", None)}
    assert counts == {"ana": 2, "ben": 1, None: 1}
    assert len(engine.recall("tea", ANA, include_private=True)) == 2
    assert engine.recall("tea", ANA).dropped[0].reason is Drop.PRIVATE


def test_parts_sum_to_the_score_and_shares_to_one() -> None:
    engine = engine_over()
    for number in range(6):
        engine.remember_facts(facts(f"tea number {number}", importance=number / 5), ANA)
    result = engine.recall("tea number 3", ANA)
    for match in result:
        assert sum(part.contribution for part in match.parts) == match.score
        assert match.similarity == match.parts[0].raw
        assert match.match_reasons == reasons_of(match.parts)
    assert [match.score for match in result] == sorted((match.score for match in result), reverse=True)
    assert sum(result.ranking.shares().values()) == pytest.approx(1.0)


def test_every_memory_is_returned_or_dropped_for_a_reason() -> None:
    engine = engine_over()
    engine.remember_facts(facts(*(f"tea number {n}" for n in range(8))), ANA, categories=["a"])
    engine.remember_facts(facts("coffee"), ANA, categories=["b"])
    result = engine.recall("tea number 3", ANA, limit=2, categories=["a"], min_score=0.45)
    assert len(result) + len(result.dropped) == result.total == 9
    assert sum(result.dropped_counts.values()) == len(result.dropped)
    assert result.dropped_counts == Counter(each.reason for each in result.dropped)
    assert all(each.detail for each in result.dropped)
    assert [each.record for each in result.dropped[:2]] == [result.dropped[0].record, result.dropped[1].record]


def test_equal_scores_come_in_a_stated_order() -> None:
    engine = engine_over(clock=lambda: START, config=MemoryConfig(consolidation_threshold=1.0))
    embedder = engine.adapter.embeddings
    assert embedder is not None
    vector = np.array(embedder.embed_query("tea"), np.float32)
    record = MemoryRecord("k", ANA, "tea", created_at=START)
    engine.adapter.write([Write(ANA, key, record.to_value(), {"content": vector}) for key in ("c", "a", "b")])
    for _ in range(3):
        assert [match.record.key for match in engine.recall("tea", ANA)] == ["a", "b", "c"]
    assert [match.record.key for match in engine.recall("tea", ANA, limit=2)] == ["a", "b"]


def test_reranking_needs_no_store_and_gives_what_a_new_recall_gives() -> None:
    writes, known = random_memories(5, 80, clustered=False)
    embedder = CountingEmbeddings(SIZE)
    engine = engine_over(memory_store(embedder, SIZE), clock=lambda: NOW)
    engine.adapter.write(writes)
    del known
    result = engine.recall(QUERY, ANA, limit=5)
    other = MemoryConfig(semantic_weight=0.1, recency_weight=0.9, recency_half_life_days=5)
    embedder.fails = ValueError("not to be called")
    again = result.rerank(other, limit=7, min_score=0.1)
    embedder.fails = None
    anew = engine.recall(QUERY, ANA, limit=7, min_score=0.1, config=other)
    assert [match.record.key for match in again] == [match.record.key for match in anew]
    assert scores_of(again) == scores_of(anew)


def test_words_count_where_they_are_asked_to() -> None:
    engine = engine_over(config=MemoryConfig(lexical_weight=0.5, recency_weight=0.0, importance_weight=0.0))
    engine.remember_facts(facts("the number is AB-1234", "the number is unknown to all", "plays chess"), ANA)
    assert engine.recall("AB-1234", ANA, limit=1)[0].record.content == "the number is AB-1234"


@pytest.mark.parametrize("kind", KINDS)
def test_reading_changes_no_byte(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        engine = engine_over(store)
        engine.remember_facts(facts("likes tea", "lives in Paris"), ANA)
        before = dump(engine)
        for _ in range(3):
            engine.recall("tea", ANA)
            engine.list(ANA)
            engine.counts()
            engine.history(ANA)
            engine.flush()
        assert dump(engine) == before
        engine.close()


@pytest.mark.parametrize(
    ("arguments", "error", "named"),
    [
        ({"query": None}, InputError, "needs a query"),
        ({"query": ["tea"]}, InputError, "needs a query"),
        ({"query": "x" * 100_001}, InputError, "100,001 characters; 100,000"),
        ({"limit": -1}, InputError, "limit must be a whole number from 0, got int -1"),
        ({"limit": 2.5}, InputError, "limit"),
        ({"limit": None}, InputError, "limit"),
        ({"limit": True}, InputError, "limit"),
        ({"min_score": float("nan")}, InputError, "min_score must be a number"),
        ({"min_score": "0.5"}, InputError, "min_score must be a number"),
        ({"min_similarity": "a"}, InputError, "min_similarity must be a number"),
        ({"categories": "food"}, InputError, "categories must be a list of texts"),
        ({"source": 5}, InputError, "source must be a text"),
        ({"since": "2024"}, InputError, "since must be a datetime"),
        ({"subtree": "yes"}, InputError, "subtree must be True or False"),
        ({"include_private": 1}, InputError, "include_private must be True or False"),
        ({"namespace": ()}, NamespaceError, "at least one label"),
        ({"namespace": ("__mnemoscope__",)}, NamespaceError, "reserved"),
        ({"filter": {"source": {"$regex": "x"}}}, ValueError, "regex"),
    ],
)
def test_bad_arguments_are_refused_by_name_sync_and_async(arguments: Any, error: Any, named: str) -> None:
    engine = engine_over()
    asked = {"query": "tea", "namespace": ANA, **arguments}
    with pytest.raises(error, match=named):
        engine.recall(**asked)
    with pytest.raises(error, match=named):
        asyncio.run(engine.arecall(**asked))


def test_an_unknown_option_is_refused_by_the_name_of_the_method() -> None:
    with pytest.raises(TypeError, match=r"recall\(\) got an unexpected keyword argument 'categorys'"):
        asyncio.run(engine_over().arecall("tea", ANA, categorys=["a"]))


def test_async_recall_takes_every_option_and_gives_the_same() -> None:
    engine = engine_over()
    engine.remember_facts(facts("likes green tea", "lives in Paris"), ANA, categories=["a"], source="ana")
    options: dict[str, Any] = {
        "categories": ["a"], "limit": 1, "min_score": 0.1, "source": "ana", "include_private": True,
        "filter": {"source": "ana"}, "touch": False, "subtree": True, "since": START, "until": NOW,
        "min_similarity": 0.0, "config": MemoryConfig(),
    }  # fmt: skip
    sync = engine.recall("green tea", ANA, **options)
    result = asyncio.run(engine.arecall("green tea", ANA, **options))
    assert [match.record for match in result] == [match.record for match in sync]


def test_a_query_no_store_could_hold_is_still_answered() -> None:
    engine = engine_over()
    engine.remember_facts(facts("likes tea"), ANA)
    assert len(engine.recall("tea \x00 \ud800", ANA)) == 1


@pytest.mark.parametrize(
    ("answers", "named"),
    [
        ([[1.0, 2.0]], "shape"),
        ([[float("nan")] * 32], "not a finite number"),
        ([["a"] * 32], "something else"),
        ([None], "shape|something else"),
    ],
)
def test_an_embedder_that_answers_nonsense_is_an_error_and_no_empty_result(answers: Any, named: str) -> None:
    embedder = CountingEmbeddings()
    engine = engine_over(memory_store(embedder))
    engine.remember_facts(facts("likes tea"), ANA)
    embedder.answers = answers
    with pytest.raises(EmbeddingError, match=named):
        engine.recall("tea", ANA)


def test_an_embedder_that_fails_is_an_embedding_error_with_its_cause() -> None:
    embedder = CountingEmbeddings()
    engine = engine_over(memory_store(embedder))
    embedder.fails = ConnectionError("no network")
    with pytest.raises(EmbeddingError, match="ConnectionError: no network") as caught:
        engine.recall("tea", ANA)
    assert caught.value.__cause__ is embedder.fails
    with pytest.raises(EmbeddingError, match="no network"):
        asyncio.run(engine.arecall("tea", ANA))


def test_a_store_that_fails_is_an_error_and_no_empty_result() -> None:
    class Failing(InMemoryStore):
        broken = False

        def batch(self, ops: Any) -> Any:
            if self.broken:
                raise ConnectionError("gone")
            return super().batch(ops)

    embedder = CountingEmbeddings()
    store = Failing(index={"dims": embedder.dimensions, "embed": embedder, "fields": ["content"]})
    engine = engine_over(store)
    engine.remember_facts(facts("likes tea"), ANA)
    store.broken = True
    with pytest.raises(StoreError, match="ConnectionError: gone"):
        engine.recall("tea", ANA)


def test_a_bad_item_is_ranked_on_what_is_known_and_breaks_nothing() -> None:
    store = memory_store()
    engine = engine_over(store)
    engine.remember_facts(facts("likes green tea"), ANA)
    store.put(ANA, "bad", {"content": "green tea", "importance": float("nan"), "created_at": "?", "categories": "x"})
    store.put(ANA, "worse", {"content": 5}, index=False)
    store.put(ANA, "future", {"content": "green tea", "created_at": "2999-01-01T00:00:00Z"})
    result = engine.recall("green tea", ANA)
    assert {match.record.key for match in result} >= {"bad", "future"}
    assert result.dropped_counts == {Drop.UNREADABLE: 1}


def test_each_knob_of_the_ranking_changes_a_result() -> None:
    clock_at = NOW
    engine = engine_over(clock=lambda: clock_at)
    embedder = engine.adapter.embeddings
    assert embedder is not None

    def put(key: str, text: str, days: int, importance: float | None) -> Write:
        record = MemoryRecord(key, ANA, text, importance=importance, created_at=NOW - timedelta(days=days))
        return Write(ANA, key, record.to_value(), {"content": np.array(embedder.embed_query(text), np.float32)})

    engine.adapter.write(
        [put("near", "green tea", 90, 0.1), put("new", "chess", 0, 0.1), put("big", "chess", 90, None)]
    )

    def first(**knobs: Any) -> str:
        weights = {"semantic_weight": 0.01, "recency_weight": 0.01, "importance_weight": 0.01, **knobs}
        return engine.recall("green tea", ANA, config=MemoryConfig(**weights))[0].record.key

    assert first(semantic_weight=1.0) == "near"
    assert first(recency_weight=1.0) == "new"
    assert first(importance_weight=1.0, default_importance=0.9) == "big"
    assert first(recency_weight=0.3, importance_weight=0.2, default_importance=0.9, recency_half_life_days=1e5) == "big"
    assert first(recency_weight=0.3, importance_weight=0.2, default_importance=0.9, recency_half_life_days=1) == "new"


@pytest.mark.parametrize("ago", [None, timedelta(0)])
def test_times_are_told_by_the_step_that_took_them(ago: timedelta | None, monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(CountingEmbeddings):
        def embed_query(self, text: str) -> list[float]:
            seconds[0] += 5.0
            return super().embed_query(text)

    seconds = [0.0]
    engine = engine_over(memory_store(Slow()))
    engine.remember_facts(facts("tea"), ANA)
    monkeypatch.setattr("mnemoscope.recall.pipeline.time", SimpleNamespace(perf_counter=lambda: seconds[0]))
    timings = engine.recall("tea", ANA, as_of=None if ago is None else engine.context.clock() - ago).timings
    assert dict(timings) == {"embed": 5.0, "fetch": 0.0, "rank": 0.0}


def test_an_empty_namespace_is_an_empty_exact_result() -> None:
    result = engine_over().recall("tea", BEN)
    assert (list(result), result.exact, result.total, result.ranking.shares()) == ([], True, 0, {})
