"""The composite score and its parts: pure, of one memory or of many at once.

score = semantic_weight·similarity + recency_weight·0.5^(age_days/half_life) + importance_weight·importance

(CrewAI's unified memory; the same in `langgraph-memory`.) A part that is not known contributes 0 and is
marked, so that a memory with a fault never comes first by accident.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from ..config import MemoryConfig
from ..core.records import MemoryRecord
from ..core.times import aware, utc_now

__all__ = ["PARTS", "ScorePart", "composite_score", "contributions", "decay", "parts_of", "reasons_of"]


PARTS = ("similarity", "recency", "importance")
"""The parts of a score, in the order in which they are shown."""

SECONDS_PER_DAY = 86_400.0


@dataclass(frozen=True)
class ScorePart:
    """One part of a score: `contribution = weight · raw`. `raw` is None where it is not known."""

    name: str
    raw: float | None
    weight: float
    contribution: float


def decay(age_seconds: NDArray[np.float64], half_life_days: float) -> NDArray[np.float64]:
    """Recency, 1 for now and halving every `half_life_days`. A time in the future counts as now."""
    ages: NDArray[np.float64] = np.maximum(age_seconds, 0.0) / (SECONDS_PER_DAY * half_life_days)
    return np.exp2(-ages)


def contributions(
    similarity: NDArray[np.float64],
    recency: NDArray[np.float64],
    importance: NDArray[np.float64],
    config: MemoryConfig,
) -> NDArray[np.float64]:
    """The weighted parts of n memories as an array of shape (3, n), rows in the order of `PARTS`.

    Raw values are NaN where not known; those contribute 0. The scores are the sums over the rows.
    """
    weights = (config.semantic_weight, config.recency_weight, config.importance_weight)
    weighted = np.empty((len(PARTS), len(similarity)), np.float64)
    for row, raw, weight in zip(weighted, (similarity, recency, importance), weights, strict=True):
        np.multiply(raw, weight, out=row)
    weighted[np.isnan(weighted)] = 0.0
    return weighted


def parts_of(record: MemoryRecord, similarity: float | None, config: MemoryConfig, now: datetime) -> list[ScorePart]:
    """The parts of one memory's score; their contributions sum to it.

    A similarity or importance that is not a finite number is not known; importance is brought into 0 to 1.
    """
    age = (aware(now) - aware(record.changed_at)).total_seconds()
    importance = _known(record.importance)
    importance = config.default_importance if importance is None else min(max(importance, 0.0), 1.0)
    raw = (_known(similarity), float(decay(np.array([age]), config.recency_half_life_days)[0]), importance)
    weights = (config.semantic_weight, config.recency_weight, config.importance_weight)
    return [
        ScorePart(name, value, weight, weight * (value or 0.0))
        for name, value, weight in zip(PARTS, raw, weights, strict=True)
    ]


def composite_score(
    record: MemoryRecord, similarity: float | None, config: MemoryConfig, *, now: datetime | None = None
) -> tuple[float, list[str]]:
    """The score of one memory, and which parts speak for it.

    The reasons are "semantic", then "recency" and "importance" where their raw value is above 0.5, as in
    `langgraph-memory`; the numbers are in `parts_of`.
    """
    parts = parts_of(record, similarity, config, now or utc_now())
    return sum(part.contribution for part in parts), reasons_of(parts)


def reasons_of(parts: list[ScorePart]) -> list[str]:
    """The names `composite_score` gives for these parts."""
    return ["semantic"] + [part.name for part in parts[1:] if (part.raw or 0.0) > 0.5]


def _known(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
