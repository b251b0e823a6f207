"""Candidates and their ranking under one configuration: pure, with no reference to a store.

So the dashboard re-ranks the candidates of a recall with no store, embedding or model call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..config import MemoryConfig
from ..core.records import MemoryRecord
from ..errors import InputError
from ..index.visibility import Drop
from .scoring import PARTS, ScorePart, contributions, decay
from .token_budget import fitting, prompt_line

__all__ = ["Candidates", "Ranking", "rank"]


@dataclass(frozen=True, eq=False)
class Candidates:
    """n memories with the raw signals of one query, in arrays of shape (n,).

    `cosine` is -1 to 1, NaN without a vector; `lexical` is BM25 over its maximum, 0 to 1, or None where it
    was not asked for; `withheld` holds `Drop` codes. `total` is how many memories the scope holds, None where
    nobody counted them, `exact` whether every one of them was considered or proven not to matter.
    """

    records: Sequence[MemoryRecord]
    cosine: NDArray[np.float64]
    lexical: NDArray[np.float64] | None
    age_seconds: NDArray[np.float64]
    importance: NDArray[np.float64]
    withheld: NDArray[np.int8]
    total: int | None
    exact: bool = True

    def __len__(self) -> int:
        return len(self.records)

    def similarity(self, config: MemoryConfig) -> NDArray[np.float64]:
        """Cosine, or the score fusion `(1-w)·max(0, cosine) + w·lexical` where `lexical_weight` is w > 0."""
        if not config.lexical_weight or self.lexical is None:
            return self.cosine
        cosine = np.maximum(np.nan_to_num(self.cosine, nan=0.0), 0.0)
        return (1 - config.lexical_weight) * cosine + config.lexical_weight * self.lexical

    def raw(self, config: MemoryConfig) -> NDArray[np.float64]:
        """The raw signals in the order of `PARTS`, shape (3, n), NaN where not known."""
        raw = np.empty((len(PARTS), len(self.cosine)), np.float64)
        raw[0] = self.similarity(config)
        raw[1] = decay(self.age_seconds, config.recency_half_life_days)
        raw[2] = np.where(np.isnan(self.importance), config.default_importance, self.importance)
        return raw


@dataclass(frozen=True, eq=False)
class Ranking:
    """Candidates under one configuration. `order` holds the returned positions, best first.

    `raw` and `parts` have shape (3, n) in the order of `PARTS`; `scores` are the sums of `parts`; `reasons`
    holds the `Drop` code of every candidate.
    """

    candidates: Candidates
    config: MemoryConfig
    raw: NDArray[np.float64]
    parts: NDArray[np.float64]
    scores: NDArray[np.float64]
    reasons: NDArray[np.int8]
    order: NDArray[np.int64]

    def parts_at(self, at: int) -> list[ScorePart]:
        """The parts of the score of the candidate at this position."""
        weights = (self.config.semantic_weight, self.config.recency_weight, self.config.importance_weight)
        return [
            ScorePart(name, None if np.isnan(raw) else float(raw), weight, float(part))
            for name, raw, weight, part in zip(PARTS, self.raw[:, at], weights, self.parts[:, at], strict=True)
        ]

    @cached_property
    def dropped_order(self) -> NDArray[np.int64]:
        """Positions of everything not returned, best score first."""
        at = np.flatnonzero(self.reasons != Drop.NONE)
        return at[np.argsort(-self.scores[at], kind="stable")]

    def shares(self) -> dict[str, float]:
        """How much of the spread of the returned scores each part explains; the shares sum to 1.

        The share of a part is its covariance with the score over the variance of the score, among the
        returned memories; a negative one works against the order. Empty where the scores do not vary.
        """
        parts = self.parts[:, self.order]
        if parts.shape[1] < 2:
            return {}
        scores = parts.sum(axis=0)
        variance = float(scores.var())
        if variance < 1e-18:
            return {}
        covariances = ((parts - parts.mean(axis=1, keepdims=True)) * (scores - scores.mean())).mean(axis=1)
        return {name: float(each) / variance for name, each in zip(PARTS, covariances, strict=True)}


def rank(
    candidates: Candidates,
    config: MemoryConfig,
    *,
    limit: int,
    min_score: float = 0.0,
    min_similarity: float | None = None,
    max_tokens: int | None = None,
) -> Ranking:
    """Order the candidates: score, then the later change, then namespace and key; cut at `limit`.

    Of those, the ones that fit into `max_tokens` are kept, each counted as its line of a prompt.

    Raises:
        InputError: `limit` is not a whole number from 0.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise InputError(f"limit must be a whole number from 0, got {limit!r}.")
    raw = candidates.raw(config)
    parts = contributions(raw[0], raw[1], raw[2], config)
    scores = parts.sum(axis=0)
    reasons = candidates.withheld.copy()
    open_ = reasons == Drop.NONE
    if min_similarity is not None:
        reasons[open_ & ~(raw[0] >= min_similarity)] = Drop.BELOW_SIMILARITY
    reasons[(reasons == Drop.NONE) & (scores < min_score)] = Drop.BELOW_SCORE
    order = _top(candidates, scores, np.flatnonzero(reasons == Drop.NONE), limit)
    beyond = reasons == Drop.NONE
    beyond[order] = False
    reasons[beyond] = Drop.BEYOND_LIMIT
    if max_tokens is not None:
        lines = [prompt_line(candidates.records[at], float(scores[at])) for at in order.tolist()]
        fits = np.array(fitting(lines, max_tokens), np.bool_)
        reasons[order[~fits]] = Drop.BEYOND_TOKENS
        order = order[fits]
    return Ranking(candidates, config, raw, parts, scores, reasons, order)


def _top(
    candidates: Candidates, scores: NDArray[np.float64], eligible: NDArray[np.int64], limit: int
) -> NDArray[np.int64]:
    if limit < len(eligible):
        if not limit:
            return eligible[:0]
        last = np.partition(scores[eligible], len(eligible) - limit)[len(eligible) - limit]
        eligible = eligible[scores[eligible] >= last]
    # Ties are few, so only the chosen are put into the full order.
    records, ages = candidates.records, candidates.age_seconds
    chosen = sorted(eligible.tolist(), key=lambda at: (-scores[at], ages[at], records[at].namespace, records[at].key))
    return np.array(chosen[:limit], dtype=np.int64)
