from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import examples
from langgraph.store.memory import InMemoryStore
from mnemoscope import (
    ExtractedFact,
    MemoryConfig,
    MemoryEngine,
    MemoryRecord,
    RecallResult,
    RuleConsolidator,
    RuleExtractor,
)
from mnemoscope.embedding import HashingEmbeddings
from mnemoscope.index import Drop
from mnemoscope.recall import Candidates, Remedy, Standing, explain, node_text, place_of, rank, remedies_for, tool_text

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ANA = ("memories", "ana")

units = st.floats(0.0, 1.0).map(lambda value: round(value, 3))
memories = st.tuples(
    st.one_of(st.none(), st.floats(-1.0, 1.0).map(lambda value: round(value, 3))),
    st.integers(0, 400),
    st.one_of(st.none(), units),
)
weights = st.tuples(units, units, units).filter(lambda each: sum(each) > 0)


@st.composite
def recalls(draw: st.DrawFn) -> RecallResult:
    rows = draw(st.lists(memories, min_size=1, max_size=12))
    semantic, recency, importance = draw(weights)
    config = MemoryConfig(
        semantic_weight=semantic,
        recency_weight=recency,
        importance_weight=importance,
        recency_half_life_days=draw(st.sampled_from([0.5, 7.0, 30.0, 200.0])),
    )
    return recalled(
        rows,
        config,
        limit=draw(st.integers(0, 5)),
        min_score=draw(st.sampled_from([0.0, 0.2, 0.5])),
        min_similarity=draw(st.sampled_from([None, 0.0, 0.4])),
    )


def recalled(
    rows: Sequence[tuple[float | None, float, float | None]],
    config: MemoryConfig | None = None,
    *,
    limit: int = 1,
    min_score: float = 0.0,
    min_similarity: float | None = None,
    lexical: list[float] | None = None,
) -> RecallResult:
    """A recall over memories of these similarities, ages in days and importances, in this order m0, m1, …"""
    candidates = Candidates(
        records=[MemoryRecord(f"m{at}", ANA, f"memory {at}") for at in range(len(rows))],
        cosine=np.array([np.nan if row[0] is None else row[0] for row in rows], np.float64),
        lexical=None if lexical is None else np.array(lexical),
        age_seconds=np.array([row[1] * 86_400.0 for row in rows], np.float64),
        importance=np.array([np.nan if row[2] is None else row[2] for row in rows], np.float64),
        withheld=np.zeros(len(rows), np.int8),
        total=len(rows),
    )
    ranking = rank(
        candidates, config or MemoryConfig(), limit=limit, min_score=min_score, min_similarity=min_similarity
    )
    return RecallResult("query", ANA, ranking, limit, min_score, min_similarity, {})


def is_returned_with(result: RecallResult, at: int, setting: str, value: float | None) -> bool:
    terms: dict[str, Any] = {
        "limit": result.limit, "min_score": result.min_score, "min_similarity": result.min_similarity,
    }  # fmt: skip
    config = result.ranking.config
    if setting in terms:
        terms[setting] = value
    else:
        config = replace(config, **{setting: value})  # type: ignore[arg-type]
    return at in rank(result.ranking.candidates, config, **terms).order


def a_little_less(remedy: Remedy) -> float | None:
    assert remedy.before is not None
    assert remedy.after is not None
    if remedy.setting == "limit":
        return int(remedy.after) - 1
    if remedy.setting == "recency_half_life_days":
        share = 1e-4 / max(1e-4, abs(np.log(remedy.after / remedy.before)))
        return None if share >= 1 else float(remedy.after * (remedy.before / remedy.after) ** share)
    distance = remedy.after - remedy.before
    return None if abs(distance) < 1e-5 else remedy.after - np.copysign(1e-5, distance)


@given(recalls())
def test_the_parts_sum_to_the_score(result: RecallResult) -> None:
    for match in [*result, *result.dropped]:
        assert sum(part.contribution for part in match.parts) == pytest.approx(match.score, abs=1e-12)


@given(recalls())
def test_the_order_is_total_and_the_same_whatever_order_the_store_gave(result: RecallResult) -> None:
    back = np.arange(len(result.ranking.candidates))[::-1]
    given_ = result.ranking.candidates
    turned = replace(
        given_,
        records=[given_.records[at] for at in back],
        **{name: getattr(given_, name)[back] for name in ("cosine", "age_seconds", "importance", "withheld")},
    )
    again = copy(result)
    again.ranking = replace(result.ranking, candidates=turned)
    again = again.rerank(result.ranking.config)
    assert [match.record.key for match in again] == [match.record.key for match in result]


@given(recalls())
def test_a_rerank_with_the_same_settings_is_the_recall(result: RecallResult) -> None:
    again = result.rerank(result.ranking.config)
    assert again.ranking.order.tolist() == result.ranking.order.tolist()
    assert again.ranking.reasons.tolist() == result.ranking.reasons.tolist()


@examples(300)
@given(recalls())
def test_a_remedy_brings_the_memory_in_and_a_little_less_does_not(result: RecallResult) -> None:
    for at in range(len(result.ranking.candidates)):
        for remedy in remedies_for(result, at):
            assert is_returned_with(result, at, remedy.setting, remedy.after)
            assert is_returned_with(result, at, remedy.setting, remedy.readable)
            if remedy.before is None or remedy.after is None:
                continue
            less = a_little_less(remedy)
            if less is not None:
                assert not is_returned_with(result, at, remedy.setting, less)


@examples(25)
@given(recalls())
def test_no_remedy_is_missed_that_a_scan_would_find(result: RecallResult) -> None:
    scans = {
        "semantic_weight": np.linspace(0.001, 1, 60),
        "recency_weight": np.linspace(0.001, 1, 60),
        "importance_weight": np.linspace(0.001, 1, 60),
        "recency_half_life_days": np.logspace(-5, 5, 120),
    }
    for at in np.flatnonzero(result.ranking.reasons != Drop.NONE).tolist():
        found = {remedy.setting: remedy for remedy in remedies_for(result, at)}
        for setting, values in scans.items():
            before = getattr(result.ranking.config, setting)
            scale = np.log if setting == "recency_half_life_days" else float
            distances = [
                abs(scale(value) - scale(before)) for value in values if is_returned_with(result, at, setting, value)
            ]
            if distances:
                after = found[setting].after
                assert after is not None
                assert abs(scale(after) - scale(before)) <= min(distances) + 2e-6


@given(recalls())
def test_the_place_of_what_is_returned_is_its_place_in_the_result(result: RecallResult) -> None:
    places = [place_of(result, int(at)) for at in result.ranking.order]
    assert places == list(range(1, len(places) + 1))


def test_a_weight_is_raised_to_where_the_scores_cross() -> None:
    # 0.5·0.8 + 0.3·1 + w·0.2 = 0.5·0.6 + 0.3·1 + w·0.9 at w = 1/7.
    result = recalled([(0.8, 0, 0.2), (0.6, 0, 0.9)], MemoryConfig(importance_weight=0.1))
    remedy = next(each for each in remedies_for(result, 1) if each.setting == "importance_weight")
    assert remedy.after == pytest.approx(1 / 7, abs=1e-9)
    assert remedy.sentence == "raise importance_weight from 0.1 to 0.15"


def test_the_half_life_is_raised_to_where_the_decays_cross() -> None:
    # 0.3·(1 - 0.5^(30/h)) = 0.5·0.2 at 0.5^(30/h) = 2/3.
    result = recalled([(0.4, 0, 0.5), (0.6, 30, 0.5)])
    remedy = next(each for each in remedies_for(result, 1) if each.setting == "recency_half_life_days")
    assert remedy.after == pytest.approx(30 / np.log2(1.5), rel=1e-9)
    assert remedy.readable == 52


def test_the_share_of_words_is_raised_to_where_the_similarities_cross() -> None:
    config = MemoryConfig(lexical_weight=0.1)
    result = recalled([(0.8, 0, 0.5), (0.4, 0, 0.5)], config, lexical=[0.0, 1.0])
    remedy = next(each for each in remedies_for(result, 1) if each.setting == "lexical_weight")
    assert remedy.after == pytest.approx(0.4 / 1.4, abs=1e-9)


def test_a_score_below_the_minimum_is_cured_by_exactly_the_difference() -> None:
    result = recalled([(0.2, 90, 0.1)], min_score=0.5)
    remedy = next(each for each in remedies_for(result, 0) if each.setting == "min_score")
    assert remedy.after == float(result.ranking.scores[0])
    assert remedy.readable is not None
    assert remedy.readable <= remedy.after


def test_a_memory_without_a_vector_is_let_in_only_without_a_minimum_similarity() -> None:
    result = recalled([(None, 0, 0.5)], min_similarity=0.1)
    assert [remedy.sentence for remedy in remedies_for(result, 0)] == ["drop min_similarity"]
    assert (
        "It has no vector, so its similarity is not known and counts as nothing."
        in explain(result, ANA, "m0").sentences
    )


def test_what_is_returned_needs_no_remedy_and_is_named_with_its_place() -> None:
    explanation = explain(recalled([(0.9, 0, 0.5), (0.1, 9, 0.5)], limit=2), ANA, "m1")
    assert explanation.standing is Standing.RETURNED
    assert (explanation.place, explanation.visible, explanation.remedies) == (2, 2, ())
    assert explanation.sentences == ["It is returned, at place 2 of 2, with a score of 0.394."]


def test_each_part_is_set_against_the_last_one_returned() -> None:
    explanation = explain(recalled([(0.9, 60, 0.5), (0.5, 0, 0.5)]), ANA, "m0")
    assert explanation.standing is Standing.DROPPED
    similarity, recency, importance = explanation.parts
    assert similarity.gap == pytest.approx(0.2)
    assert recency.gap == pytest.approx(-0.225)
    assert importance.gap == 0
    assert (similarity.place, recency.place, importance.place) == (1, 2, 1)
    assert "gains 0.200 by similarity and loses 0.225 by recency" in " ".join(explanation.sentences)


@pytest.fixture
def engine() -> MemoryEngine:
    embedder = HashingEmbeddings(64)
    store = InMemoryStore(index={"dims": 64, "embed": embedder, "fields": ["content"]})
    engine = MemoryEngine(store, extractor=RuleExtractor(), consolidator=RuleConsolidator(), clock=lambda: NOW)
    facts = ("Ana drinks green tea.", "Ana lives in Lisbon.", "Ana's door code is on the fridge.")
    engine.remember_facts(
        [ExtractedFact(content=facts[0], categories=["food"]), ExtractedFact(content=facts[1], categories=["home"])],
        ANA,
    )
    engine.remember_facts([ExtractedFact(content=facts[2], categories=["home"])], ANA, source="nurse", private=True)
    return engine


def key_of(engine: MemoryEngine, text: str) -> str:
    return next(each.key for each in engine.list(ANA, include_private=True) if text in each.content)


def test_a_returned_memory_is_explained_as_recall_returns_it(engine: MemoryEngine) -> None:
    match = engine.recall("green tea", ANA)[0]
    explanation = engine.explain("green tea", ANA, match.record.key)
    assert explanation.place == 1
    assert explanation.score == pytest.approx(match.score)


@pytest.mark.parametrize(
    ("options", "text", "drop"),
    [
        ({"categories": ["food"]}, "Lisbon", Drop.CATEGORY),
        ({}, "door code", Drop.PRIVATE),
        ({"since": NOW + timedelta(days=1)}, "Lisbon", Drop.OUTSIDE_TIME),
        ({"filter": {"metadata.trip": "spring"}}, "Lisbon", Drop.FILTERED),
    ],
)
def test_the_filter_that_removed_it_is_named_and_no_weight_is_blamed(
    engine: MemoryEngine, options: dict[str, Any], text: str, drop: Drop
) -> None:
    explanation = engine.explain("tea", ANA, key_of(engine, text), **options)
    assert explanation.drop is drop
    assert explanation.remedies == ()
    assert explanation.sentences[-1] == "No weight or minimum brings it in; only another filter does."


def test_a_forgotten_memory_is_explained_by_who_forgot_it_and_why(engine: MemoryEngine) -> None:
    key = key_of(engine, "Lisbon")
    engine.forget(ANA, key=key, actor="mia", reason="moved\naway")
    explanation = engine.explain("Lisbon", ANA, key)
    assert explanation.standing is Standing.FORGOTTEN
    assert explanation.sentences == [
        "It was forgotten by mia on 2026-03-01 00:00 UTC: moved away. It can be restored from the trash."
    ]


def test_a_memory_that_never_was_is_said_to_be_missing(engine: MemoryEngine) -> None:
    assert engine.explain("tea", ANA, "nothing").standing is Standing.MISSING


def test_a_memory_outside_the_searched_part_is_said_to_exist(engine: MemoryEngine) -> None:
    engine.remember_facts([ExtractedFact(content="Ben drinks tea.")], ("memories", "ben"))
    key = engine.list(("memories", "ben"))[0].key
    assert engine.explain("tea", ("memories", "ben"), key, within="memories/ana").standing is Standing.NOT_EXAMINED
    inside = engine.explain("tea", ("memories", "ben"), key, within="memories", subtree=True)
    assert inside.standing is Standing.RETURNED


def test_an_item_without_text_is_explained_as_unreadable(engine: MemoryEngine) -> None:
    engine.store.put(ANA, "odd", {"kind": "memory", "content": ""})
    assert engine.explain("tea", ANA, "odd").drop is Drop.UNREADABLE


def test_explaining_leaves_no_trace_in_the_access_history(engine: MemoryEngine) -> None:
    engine.explain("green tea", ANA, key_of(engine, "tea"))
    engine.flush()
    assert engine.usage.recalls(ANA) == {}


def test_what_agents_get_is_given_by_the_same_functions_that_they_call(engine: MemoryEngine) -> None:
    search = engine.tools()[0]
    configurable = {"configurable": {"memory_namespace": ANA}}
    given_ = search.invoke({"query": "green tea", "limit": 5}, configurable)
    assert given_ == tool_text(engine.recall("green tea", ANA, limit=5))
    state = engine.recall_node().invoke({"messages": [{"role": "user", "content": "green tea"}]}, configurable)
    assert state["memory"] == node_text(engine.recall("green tea", ANA, limit=5))
