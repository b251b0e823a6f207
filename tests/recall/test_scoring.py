from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mnemoscope import MemoryConfig, MemoryRecord, composite_score
from mnemoscope.recall import PARTS, contributions, decay, parts_of, reasons_of

NOW = datetime(2025, 6, 1, tzinfo=UTC)
weights = st.floats(0, 1)


def record(*, days_old: float = 0.0, importance: float | None = 0.5) -> MemoryRecord:
    return MemoryRecord("k", ("m",), "x", importance=importance, created_at=NOW - timedelta(days=days_old))


def test_the_score_is_the_published_formula() -> None:
    score, reasons = composite_score(record(days_old=30, importance=0.8), 0.6, MemoryConfig(), now=NOW)
    assert score == pytest.approx(0.5 * 0.6 + 0.3 * 0.5 + 0.2 * 0.8)
    assert reasons == ["semantic", "importance"]


@given(
    similarity=st.none() | st.floats(-1, 1),
    days=st.floats(-1000, 10_000),
    importance=st.none() | st.floats(0, 1),
    semantic=weights,
    recency=weights,
    important=st.floats(0.01, 1),
)
def test_the_parts_sum_to_the_score(
    similarity: float | None, days: float, importance: float | None, semantic: float, recency: float, important: float
) -> None:
    config = MemoryConfig(semantic_weight=semantic, recency_weight=recency, importance_weight=important)
    memory = record(days_old=days, importance=importance)
    parts = parts_of(memory, similarity, config, NOW)
    score, reasons = composite_score(memory, similarity, config, now=NOW)
    assert sum(part.contribution for part in parts) == score
    assert [part.name for part in parts] == list(PARTS)
    assert reasons == reasons_of(parts)
    assert -semantic <= score <= semantic + recency + important + 1e-12


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 1e8), st.floats(0, 1)), min_size=1, max_size=20))
def test_many_memories_are_scored_as_one_by_one(rows: list[tuple[float, float, float]]) -> None:
    config = MemoryConfig()
    similarity, age, importance = (np.array(column) for column in zip(*rows, strict=True))
    together = contributions(similarity, decay(age, config.recency_half_life_days), importance, config).sum(axis=0)
    alone = [
        composite_score(
            replace(record(), importance=each[2], created_at=NOW - timedelta(seconds=each[1])), each[0], config, now=NOW
        )[0]
        for each in rows
    ]
    assert together == pytest.approx(np.array(alone), abs=1e-9)


def test_what_is_not_known_contributes_nothing_and_is_marked() -> None:
    parts = parts_of(record(), None, MemoryConfig(), NOW)
    assert (parts[0].raw, parts[0].contribution) == (None, 0.0)


@pytest.mark.parametrize("unknown", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_counts_as_not_known(unknown: float) -> None:
    assert composite_score(record(), unknown, MemoryConfig(), now=NOW)[0] == pytest.approx(0.3 + 0.1)
    parts = parts_of(record(importance=unknown), 0.0, MemoryConfig(default_importance=0.2), NOW)
    assert parts[2].raw == 0.2


def test_an_importance_out_of_range_does_not_come_first_for_every_query() -> None:
    assert composite_score(record(importance=50.0), 0.0, MemoryConfig(), now=NOW)[0] == pytest.approx(0.3 + 0.2)


def test_a_memory_without_importance_has_the_configured_one() -> None:
    assert parts_of(record(importance=None), 0.0, MemoryConfig(default_importance=0.9), NOW)[2].raw == 0.9


def test_a_time_in_the_future_counts_as_now() -> None:
    assert parts_of(record(days_old=-400), 0.0, MemoryConfig(), NOW)[1].raw == 1.0


def test_naive_times_are_taken_as_utc() -> None:
    naive = MemoryRecord("k", ("m",), "x", created_at=datetime(2025, 5, 2))
    assert parts_of(naive, 0.0, MemoryConfig(), NOW)[1].raw == pytest.approx(0.5)
    assert parts_of(naive, 0.0, MemoryConfig(), datetime(2025, 6, 1))[1].raw == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("weight", "part"),
    [("semantic_weight", "similarity"), ("recency_weight", "recency"), ("importance_weight", "importance")],
)
def test_a_weight_of_zero_removes_its_part(weight: str, part: str) -> None:
    parts = parts_of(record(importance=1.0), 1.0, MemoryConfig(**{weight: 0.0}), NOW)  # type: ignore[arg-type]
    assert {each.name: each.contribution for each in parts}[part] == 0.0


def test_the_half_life_halves() -> None:
    days = np.array([0.0, 10.0, 20.0]) * 86_400
    assert decay(days, 10.0) == pytest.approx(np.array([1.0, 0.5, 0.25]))


def test_a_tiny_half_life_and_a_huge_age_give_no_warning() -> None:
    assert decay(np.array([1e12]), 1e-6) == pytest.approx(0.0)
