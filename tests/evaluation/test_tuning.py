"""The search for better weights, and the calibration of the consolidation threshold."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from engine_fixture import ANA, START, Vectors, engine_over, facts, memory_store
from mnemoscope import CancelledWorkError, InputError, MemoryConfig, MemoryEngine, MemoryRecord
from mnemoscope.consolidation import LabelBook, Pair, sample_pairs, suggested, threshold_curve
from mnemoscope.core import Watch
from mnemoscope.evaluation import GRID, MIN_SCORES, Judged, collect, floors, halves, search
from mnemoscope.recall import case
from mnemoscope.stores import Write


def aged_store(count: int = 24) -> MemoryEngine:
    """Memories of which the right one is always old, and the wrong ones are new: recency does harm."""
    engine = engine_over(clock=lambda: START)
    for at in range(count):
        for key, text, days in ((f"right{at}", f"word{at} alpha beta", 400), (f"new{at}", f"chatter{at}", 0)):
            record = MemoryRecord(key, ANA, text, created_at=START - timedelta(days=days))
            vector = np.array(engine.adapter.embeddings.embed_query(text), np.float32)  # type: ignore[union-attr]
            engine.adapter.write([Write(ANA, key, record.to_value(), {"content": vector})])
    return engine


def judged(count: int = 24) -> list[Judged]:
    cases = [case(f"word{at}", ANA, expected=[f"right{at}"]) for at in range(count)]
    return collect(aged_store(count).context, cases, now=START)


def test_a_search_finds_what_helps_and_judges_it_on_cases_it_has_not_seen() -> None:
    found = search(judged(), MemoryConfig())
    assert (found.searched, found.held_out) == (12, 12)
    assert found.present is not None
    assert found.found is not None
    assert found.found.mean > found.present.mean + 0.3
    assert found.judged.difference is not None
    assert found.judged.difference.low > 0
    assert found.chosen.config.recency_weight < 0.3 or found.chosen.config.lexical_weight > 0
    assert replace(found.chosen.config, min_score=0.0) in [trial.config for trial in found.plateau]
    assert found.best in found.plateau


def test_the_plateau_is_told_for_every_setting() -> None:
    found = search(judged(), MemoryConfig())
    for setting, values in GRID.items():
        curve = found.curve(setting)
        assert set(values) <= {point.value for point in curve}
        assert any(point.is_on_plateau for point in curve)


def test_where_nothing_helps_the_present_profile_is_kept() -> None:
    present = MemoryConfig(semantic_weight=1, recency_weight=0, importance_weight=0, lexical_weight=0.4)
    found = search(judged(), present)
    assert replace(found.chosen.config, min_score=0.0) == present
    assert found.judged.difference == (0.0, 0.0, 0.0)


def test_the_minimum_score_is_one_step_below_the_greatest_that_loses_nothing() -> None:
    found = search(judged(), MemoryConfig())
    curve = {point.value: point for point in found.curve("min_score")}
    assert list(curve) == list(MIN_SCORES)
    chosen = found.chosen.config.min_score
    assert chosen > 0
    lossless = [value for value, point in curve.items() if point.is_on_plateau]
    assert curve[0.0].is_on_plateau
    assert chosen == round(max(lossless) - 0.05, 2)
    assert found.chosen.mean == curve[0.0].mean
    assert found.found is not None
    engine, query = aged_store(24), "word1"
    left = engine.recall(query, ANA, config=found.chosen.config, limit=50)
    assert "right1" in [match.record.key for match in left]
    assert len(left) < len(engine.recall(query, ANA, config=replace(found.chosen.config, min_score=0.0), limit=50))


def test_the_halves_are_the_same_whatever_the_order() -> None:
    each = judged(9)
    first = [{one.case.id for one in half} for half in halves(each)]
    assert first == [{one.case.id for one in half} for half in halves(each[::-1])]
    assert [len(half) for half in first] == [5, 4]


def test_a_search_on_few_cases_is_refused() -> None:
    with pytest.raises(InputError, match="at least 8 cases"):
        search(judged(7), MemoryConfig())


def test_a_search_can_be_cancelled() -> None:
    with pytest.raises(CancelledWorkError):
        search(judged(8), MemoryConfig(), watch=Watch(cancelled=lambda: True))


def test_the_work_of_a_search_is_bounded_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemoscope.evaluation.tuning._MOST_WORK", 1)
    found = search(judged(8), MemoryConfig())
    assert len(found.trials) == 20
    assert found.skipped > 100


def test_a_least_score_keeps_less_the_greater_it_is() -> None:
    found = floors(judged(8), MemoryConfig(semantic_weight=1, recency_weight=0, importance_weight=0))
    assert found[0] == (0.0, 1.0, 1.0)
    assert [each.kept for each in found] == sorted((each.kept for each in found), reverse=True)
    assert found[-1].returned < 0.5


def pairs_of(texts: dict[str, list[float]]) -> list[Pair]:
    padded = {text: [*vector, *[0.0] * (32 - len(vector))] for text, vector in texts.items()}
    engine = engine_over(memory_store(Vectors(padded)), config=MemoryConfig(consolidation_threshold=1.0))
    engine.remember_facts(facts(*texts), ANA)
    return sample_pairs(engine.index(ANA))


TEXTS = {"a": [1.0], "a again": [0.98, 0.199], "a other": [0.6, 0.8], "far": [0.0, 0.0, 1.0]}


def test_pairs_are_offered_by_similarity() -> None:
    found = pairs_of(TEXTS)
    named = [({pair.one.content, pair.other.content}, round(pair.similarity, 2)) for pair in found]
    assert named == [({"a", "a again"}, 0.98), ({"a again", "a other"}, 0.75), ({"a", "a other"}, 0.6)]


def test_many_pairs_of_one_similarity_are_stood_for_by_a_few() -> None:
    found = pairs_of({f"a{at}": [1.0] for at in range(12)})
    assert len(found) == 8
    assert sum(pair.weight for pair in found) == pytest.approx(66)


def test_private_memories_are_not_offered() -> None:
    engine = engine_over(memory_store(Vectors({})))
    engine.remember_facts(facts("the same"), ANA, source="s", private=True)
    engine.remember_facts(facts("the same"), ANA)
    assert sample_pairs(engine.index(ANA)) == []


def test_the_curve_tells_what_each_threshold_finds() -> None:
    pairs = pairs_of(TEXTS)
    labels = {pairs[0].id: "duplicate", pairs[1].id: "different", pairs[2].id: "changed"}
    curve = {point.threshold: point for point in threshold_curve(pairs, labels)}
    assert (curve[0.9].recall, curve[0.9].precision, curve[0.9].found) == (0.5, 1.0, 1.0)
    assert curve[0.5].recall == 1.0
    assert curve[0.5].precision == pytest.approx(2 / 3)
    assert curve[1.0].precision is None
    best = suggested(list(curve.values()))
    assert best is not None
    assert best.threshold == 0.6


def test_a_label_of_a_crowded_step_counts_for_all_of_it() -> None:
    pairs = pairs_of({**{f"a{at}": [1.0] for at in range(12)}, "b": [0.6, 0.8]})
    crowded = next(pair for pair in pairs if pair.similarity > 0.99)
    lone = next(pair for pair in pairs if pair.similarity < 0.7)
    curve = {point.threshold: point for point in threshold_curve(pairs, {crowded.id: "duplicate", lone.id: "changed"})}
    assert curve[0.9].recall == pytest.approx(66 / 78)


def test_without_labels_nothing_is_said() -> None:
    assert threshold_curve(pairs_of(TEXTS), {}) == []
    assert suggested([]) is None


def test_a_label_ends_with_the_texts_it_was_given_for() -> None:
    pair = pairs_of(TEXTS)[0]
    changed: Any = Pair(pair.one, MemoryRecord("k", ANA, "another text"), pair.similarity)
    assert changed.id != pair.id
    assert Pair(pair.other, pair.one, 0.1).id == pair.id


def test_labels_are_kept_without_the_texts() -> None:
    engine = engine_over()
    pair = pairs_of(TEXTS)[0]
    book = LabelBook(engine.adapter)
    engine.tuning.label(pair, "changed")
    assert book.all(ANA) == {pair.id: "changed"}
    assert "a again" not in repr([item.value for item in engine.adapter.load(("__mnemoscope__",), subtree=True).items])
    with pytest.raises(InputError, match="no label"):
        engine.tuning.label(pair, "similar")
