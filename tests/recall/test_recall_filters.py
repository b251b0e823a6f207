"""Every filter of a recall against a plain look at all memories, on every kind of store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_fixture import engine_over, facts
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import examples
from mnemoscope import InputError, MemoryConfig, MemoryEngine, MemoryRecord
from mnemoscope.index import Drop
from mnemoscope.recall import Standing, node_text, prompt_line, tokens_of
from stores_fixture import BACKENDS, EMBEDDINGS, put

ANA, BELOW = ("memories", "ana"), ("memories", "ana", "work")
NOW = datetime(2025, 6, 1, tzinfo=UTC)
QUERY = "green tea in the harbour"
WORDS = ["green", "tea", "harbour", "boat", "coffee", "red", "door", "code", "stone"]
KINDS = ("memory", "sqlite", "postgres", "generic-memory")


def writes() -> list[Any]:
    rng = np.random.default_rng(5)
    found = []
    for number in range(90):
        text = f"n{number} " + " ".join(rng.choice(WORDS, int(rng.integers(2, 30))).tolist())
        changed = NOW - timedelta(days=float(rng.uniform(0, 200)))
        record = MemoryRecord(
            key=f"k{number:03}",
            namespace=BELOW if number % 5 == 0 else ANA,
            content=text,
            categories=[str(rng.choice(["a", "b", "c"]))],
            importance=float(rng.random()),
            created_at=changed,
            source=str(rng.choice(["ana", "ben"])),
            private=bool(rng.random() < 0.2),
            expires_at=NOW - timedelta(days=1) if number % 17 == 0 else None,
            metadata={"team": str(rng.choice(["red", "blue"])), "size": number % 7},
        )
        found.append(
            put(
                record.key,
                text,
                record.namespace,
                **{name: each for name, each in record.to_value().items() if name != "content"},
            )
        )
    return found


@pytest.fixture(scope="module", params=KINDS)
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryEngine]:
    with BACKENDS[request.param](tmp_path_factory.mktemp("filters")) as backend:
        engine = engine_over(backend.adapter, clock=lambda: NOW)
        engine.adapter.write(writes())
        yield engine


def cosine(one: str, other: str) -> float:
    left, right = (np.array(EMBEDDINGS.embed_query(each)) for each in (one, other))
    return float(left @ right / (np.linalg.norm(left) * np.linalg.norm(right)))


def reason_of(record: MemoryRecord, asked: dict[str, Any]) -> Drop:
    """The first of the stated reasons that keeps this memory out, by the book."""
    tests = [
        (Drop.EXPIRED, record.expires_at is not None and record.expires_at <= NOW),
        (Drop.PRIVATE, record.private and not asked.get("include_private") and record.source != asked.get("source")),
        (Drop.OUTSIDE_TIME, "since" in asked and record.changed_at < asked["since"]),
        (Drop.OUTSIDE_TIME, "until" in asked and record.changed_at > asked["until"]),
        (Drop.CATEGORY, "categories" in asked and not set(asked["categories"]) & set(record.categories)),
        (Drop.FILTERED, "filter" in asked and not (record.metadata["team"] == "red" and record.metadata["size"] < 5)),
        (Drop.BELOW_SIMILARITY, cosine(record.content, QUERY) < asked.get("min_similarity", -1.0)),
        (Drop.BELOW_SCORE, score_of(record) < asked.get("min_score", 0.0)),
    ]
    return next((reason for reason, applies in tests if applies), Drop.NONE)


def score_of(record: MemoryRecord) -> float:
    age = (NOW - record.changed_at).total_seconds() / 86_400
    return 0.5 * cosine(record.content, QUERY) + 0.3 * 0.5 ** (age / 30) + 0.2 * float(record.importance or 0.0)


def by_the_book(engine: MemoryEngine, asked: dict[str, Any]) -> tuple[list[str], Counter[Drop]]:
    """The keys that a recall must return, and how many it must drop for each reason."""
    namespaces = (ANA, BELOW) if asked.get("subtree") else (ANA,)
    items = [item for namespace in namespaces for item in engine.adapter.load(namespace).items]
    records = {record.key: record for record in map(MemoryRecord.from_item, items)}
    reasons = {key: reason_of(record, asked) for key, record in records.items()}
    open_ = sorted((key for key in records if reasons[key] is Drop.NONE), key=lambda key: -score_of(records[key]))
    returned, left = [], asked.get("max_tokens", 10**9)
    for key in open_[: asked["limit"]]:
        cost = tokens_of(prompt_line(records[key], score_of(records[key])) + "\n")
        if cost <= left:
            returned.append(key)
            left -= cost
    counts = Counter(reason for reason in reasons.values() if reason is not Drop.NONE)
    counts[Drop.BEYOND_LIMIT] = len(open_[asked["limit"] :])
    counts[Drop.BEYOND_TOKENS] = len(open_[: asked["limit"]]) - len(returned)
    return returned, +counts


asked_for = st.fixed_dictionaries(
    {"limit": st.integers(0, 15)},
    optional={
        "subtree": st.booleans(),
        "categories": st.lists(st.sampled_from("abc"), max_size=2),
        "source": st.sampled_from(["ana", "ben", "eve"]),
        "include_private": st.booleans(),
        "filter": st.just({"metadata": {"team": "red", "size": {"$lt": 5}}}),
        "since": st.sampled_from([NOW - timedelta(days=days) for days in (10, 60, 150)]),
        "until": st.sampled_from([NOW - timedelta(days=days) for days in (5, 30, 120)]),
        "min_similarity": st.sampled_from([0.1, 0.3, 0.6]),
        "min_score": st.sampled_from([0.2, 0.35, 0.5]),
        "max_tokens": st.sampled_from([0, 20, 60, 200, 2_000]),
    },
)


def test_any_filters_together_return_what_a_plain_look_at_all_memories_does(engine: MemoryEngine) -> None:
    @examples(60)
    @given(asked_for)
    def check(asked: dict[str, Any]) -> None:
        result = engine.recall(QUERY, ANA, touch=False, **asked)
        returned, dropped = by_the_book(engine, asked)
        assert result.exact
        assert [match.record.key for match in result] == returned
        if result.examined == result.total:
            assert result.dropped_counts == dropped
            assert len(result.dropped) == dropped.total()

    check()


NARROWER: dict[str, list[Any]] = {
    "categories": [["a", "b"], ["a"], []],
    "filter": [{"metadata.team": "red"}, {"metadata.team": "red", "metadata.size": {"$in": [1, 2]}}],
    "since": [NOW - timedelta(days=150), NOW - timedelta(days=20)],
    "until": [NOW - timedelta(days=5), NOW - timedelta(days=120)],
    "min_similarity": [0.1, 0.4, 0.8],
    "min_score": [0.2, 0.4],
    "max_tokens": [100, 30, 0],
    "limit": [40, 3, 0],
}


@pytest.mark.parametrize("name", NARROWER)
def test_a_narrower_filter_never_returns_anything_that_a_wider_does_not(engine: MemoryEngine, name: str) -> None:
    wide = {"limit": 90, "include_private": True}
    results = [
        {match.record.key for match in engine.recall(QUERY, ANA, touch=False, **{**wide, **given})}
        for given in ({}, *({name: value} for value in NARROWER[name]))
    ]
    assert all(len(narrower) <= len(wider) for wider, narrower in pairwise(results))
    if name != "max_tokens":
        assert all(narrower <= wider for wider, narrower in pairwise(results))


@pytest.mark.parametrize("kind", KINDS)
def test_a_recall_of_then_is_the_recall_that_was_made_then(kind: str, tmp_path: Path) -> None:
    moment = [NOW]
    with BACKENDS[kind](tmp_path) as backend:
        engine = engine_over(backend.adapter, clock=lambda: moment[0])
        engine.remember_facts(facts("green tea at home", "red door", "old harbour boat", importance=0.3), ANA)
        engine.remember_facts(facts("a stone", importance=0.9), BELOW)
        moment[0] += timedelta(days=3)
        records = {record.content: record for record in engine.list(ANA)}
        then = [(each.record.key, each.score) for each in engine.recall(QUERY, ANA, subtree=True, touch=False)]
        at = moment[0]
        moment[0] += timedelta(days=40)
        engine.update(ANA, records["green tea at home"].key, content="coffee, never tea")
        engine.forget(ANA, key=records["red door"].key)
        engine.remember_facts(facts("green tea in the harbour"), ANA)
        assert engine.recall(QUERY, ANA)[0].record.content == "green tea in the harbour"

        past = engine.recall(QUERY, ANA, subtree=True, as_of=at)
        assert past.exact
        assert past.as_of == at
        assert [each.record.key for each in past] == [key for key, _ in then]
        assert [each.score for each in past] == pytest.approx([score for _, score in then], abs=1e-6)
        assert engine.usage.recalls(ANA)[records["old harbour boat"].key].count == 1
        assert len(engine.recall(QUERY, ANA, as_of=NOW - timedelta(days=1))) == 0


def test_a_memory_that_was_not_there_yet_is_told_to_be_so() -> None:
    moment = [NOW]
    engine = engine_over(clock=lambda: moment[0])
    moment[0] += timedelta(days=1)
    [made] = engine.remember_facts(facts("green tea"), ANA)
    explained = engine.explain(QUERY, ANA, made.key, as_of=NOW)
    assert explained.standing is Standing.MISSING
    assert explained.sentences == ["There was no memory with this key here on 2025-06-01 00:00 UTC."]
    with pytest.raises(InputError, match="not come yet"):
        engine.recall(QUERY, ANA, as_of=moment[0] + timedelta(seconds=1))
    with pytest.raises(InputError, match="as_of must be a datetime"):
        engine.recall(QUERY, ANA, as_of="yesterday")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="max_tokens must be a whole number"):
        engine.recall(QUERY, ANA, max_tokens=-1)


def test_what_the_budget_leaves_out_says_so_and_how_much_more_it_takes() -> None:
    engine = engine_over(clock=lambda: NOW)
    engine.remember_facts(facts("green tea in the harbour", "green tea in the harbour " * 9, "green tea"), ANA)
    every = engine.recall(QUERY, ANA, touch=False)
    costs = [tokens_of(prompt_line(each.record, each.score) + "\n") for each in every]
    result = engine.recall(QUERY, ANA, max_tokens=costs[0] + costs[2], touch=False)
    assert [each.record.content for each in result] == [every[0].record.content, every[2].record.content]
    [left] = result.dropped
    assert left.reason is Drop.BEYOND_TOKENS
    assert left.detail == f"its {costs[1]} tokens are beyond the token budget of {costs[0] + costs[2]}"
    assert node_text(result).endswith("\n(1 more did not fit.)")
    explained = engine.explain(QUERY, ANA, left.record.key, max_tokens=costs[0] + costs[2])
    [remedy] = [each for each in explained.remedies if each.setting == "max_tokens"]
    assert remedy.after == costs[0] + costs[1]
    assert left.record.key in [each.record.key for each in engine.recall(QUERY, ANA, max_tokens=remedy.after)]
    assert left.record.key not in [each.record.key for each in engine.recall(QUERY, ANA, max_tokens=remedy.after - 1)]


def test_minimums_come_from_the_configuration_unless_they_are_given() -> None:
    engine = engine_over(clock=lambda: NOW, config=MemoryConfig(min_score=0.6, min_similarity=0.2))
    engine.remember_facts(facts("green tea in the harbour", "a stone"), ANA)
    assert [each.record.content for each in engine.recall(QUERY, ANA, touch=False)] == ["green tea in the harbour"]
    assert len(engine.recall(QUERY, ANA, min_score=0.0, min_similarity=-1.0, touch=False)) == 2
    loose = MemoryConfig()
    assert len(engine.recall(QUERY, ANA, touch=False).rerank(loose)) == 2
    assert len(engine.recall(QUERY, ANA, min_score=0.5, min_similarity=0.1, touch=False).rerank(loose)) == 1
