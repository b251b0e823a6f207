"""Recall: the candidates of a query, gathered from the index or the store's search, and the result."""

from __future__ import annotations

import functools
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..config import MemoryConfig
from ..core.namespaces import Namespace
from ..core.records import MemoryRecord
from ..core.text import one_line
from ..index.lexical import LexicalIndex
from ..index.scope import ScopeIndex
from ..index.visibility import Drop, Visibility
from ..stores.base import Hit, StoreAdapter
from .ranking import Candidates, Ranking, rank
from .scoring import ScorePart, reasons_of
from .token_budget import prompt_line, tokens_of

__all__ = ["Dropped", "MemoryMatch", "RecallResult", "count_of", "gather", "widen"]


SEARCH_LIMIT = 10_000
"""How far a search is widened where a store's vectors cannot be read."""

_WIDER = 8
"""How many times more is asked for where a search proved nothing: a store takes nearly as long for few as for many."""


@dataclass(frozen=True)
class MemoryMatch:
    """One recalled memory. `parts` sum to `score`; `similarity` is None where it has no vector."""

    record: MemoryRecord
    score: float
    similarity: float | None
    parts: list[ScorePart] = field(default_factory=list)

    @property
    def match_reasons(self) -> list[str]:
        """Which parts speak for it: "semantic", "recency", "importance"."""
        return reasons_of(self.parts)

    def format(self) -> str:
        """One line for a prompt: score, text, categories. Stored line breaks cannot make a second line."""
        line = f"- (score={self.score:.2f}) {one_line(self.record.content)}"
        if self.record.categories:
            line += f"  [{', '.join(one_line(each) for each in self.record.categories)}]"
        return line


@dataclass(frozen=True)
class Dropped:
    """A candidate that was not returned: why, and by how much where it was a matter of numbers."""

    record: MemoryRecord
    reason: Drop
    detail: str
    score: float
    similarity: float | None
    parts: list[ScorePart]


class _DroppedList(Sequence[Dropped]):
    """Dropped candidates, best score first, made one by one as they are read."""

    def __init__(self, ranking: Ranking, describe: Callable[[int], str]) -> None:
        self._ranking = ranking
        self._describe = describe

    def __len__(self) -> int:
        return len(self._ranking.dropped_order)

    @overload
    def __getitem__(self, at: int) -> Dropped: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Dropped]: ...
    def __getitem__(self, at: int | slice) -> Dropped | Sequence[Dropped]:
        if isinstance(at, slice):
            return [self._make(int(each)) for each in self._ranking.dropped_order[at]]
        return self._make(int(self._ranking.dropped_order[at]))

    def _make(self, at: int) -> Dropped:
        parts = self._ranking.parts_at(at)
        return Dropped(
            record=self._ranking.candidates.records[at],
            reason=Drop(int(self._ranking.reasons[at])),
            detail=self._describe(at),
            score=float(self._ranking.scores[at]),
            similarity=parts[0].raw,
            parts=parts,
        )


@dataclass(frozen=True, eq=False)
class RecallResult(Sequence[MemoryMatch]):
    """The memories recalled, best first, and the account of how they were chosen.

    `exact` says whether this is proven to be the true top-k; `examined` of `total` memories were considered.
    `timings` are seconds by step. `id` names the recall, for feedback. `as_of` is the moment at which the store is
    looked at, None for now. `embedder` is the one in use, and `notice` says where it could not be used, and why.
    `counting` counts the scope, once at most: a copy, or what is pickled, knows the count.
    """

    query: str
    namespace: Namespace
    ranking: Ranking
    limit: int
    min_score: float
    min_similarity: float | None
    timings: Mapping[str, float]
    id: str = field(default_factory=lambda: f"recall-{uuid.uuid4()}")
    max_tokens: int | None = None
    as_of: datetime | None = None
    embedder: str = ""
    notice: str = ""
    counting: Callable[[], int] = field(default=lambda: 0, repr=False)

    @cached_property
    def matches(self) -> list[MemoryMatch]:
        """The recalled memories, best first."""
        return [self._match(int(at)) for at in self.ranking.order]

    @property
    def exact(self) -> bool:
        """Whether the result is the true top-k of the score."""
        return self.ranking.candidates.exact

    @property
    def examined(self) -> int:
        """How many memories were considered."""
        return len(self.ranking.candidates)

    @cached_property
    def total(self) -> int:
        """How many memories the scope holds; counted now where the search proved its result without."""
        known = self.ranking.candidates.total
        return known if known is not None else self.counting()

    @property
    def dropped(self) -> Sequence[Dropped]:
        """Everything considered but not returned, best score first, with the reason."""
        return _DroppedList(self.ranking, self._detail)

    @cached_property
    def dropped_counts(self) -> dict[Drop, int]:
        """How many were dropped for each reason."""
        codes, counts = np.unique(self.ranking.reasons, return_counts=True)
        found = zip(codes.tolist(), counts.tolist(), strict=True)
        return {Drop(code): count for code, count in found if code != Drop.NONE}

    def rerank(self, config: MemoryConfig, *, limit: int | None = None, min_score: float | None = None) -> RecallResult:
        """The same candidates under another configuration; no store, embedding or model call.

        Minimums stay as they were asked for; those that came from the configuration come from the new one.
        """
        limit = self.limit if limit is None else limit
        before = self.ranking.config
        if min_score is None:
            min_score = config.min_score if self.min_score == before.min_score else self.min_score
        least = self.min_similarity
        if (least or 0.0) == before.min_similarity:
            least = least if config.min_similarity == before.min_similarity else config.min_similarity or None
        started = time.perf_counter()
        candidates = self.ranking.candidates
        if candidates.total is None or len(candidates) < candidates.total:
            # What was searched proved the old top alone.
            candidates = replace(candidates, exact=_proven(candidates, config, limit))
        ranking = rank(
            candidates, config, limit=limit, min_score=min_score, min_similarity=least, max_tokens=self.max_tokens
        )
        timings = {"rank": time.perf_counter() - started}
        return replace(self, ranking=ranking, limit=limit, min_score=min_score, min_similarity=least, timings=timings)

    def __getstate__(self) -> dict[str, Any]:
        # What counts holds the store, which no copy may share.
        return {**self.__dict__, "counting": functools.partial(int, self.total)}

    def __len__(self) -> int:
        return len(self.ranking.order)

    @overload
    def __getitem__(self, at: int) -> MemoryMatch: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[MemoryMatch]: ...
    def __getitem__(self, at: int | slice) -> MemoryMatch | Sequence[MemoryMatch]:
        return self.matches[at]

    def _match(self, at: int) -> MemoryMatch:
        parts = self.ranking.parts_at(at)
        return MemoryMatch(self.ranking.candidates.records[at], float(self.ranking.scores[at]), parts[0].raw, parts)

    def _detail(self, at: int) -> str:
        reason = Drop(int(self.ranking.reasons[at]))
        score = float(self.ranking.scores[at])
        if reason is Drop.BELOW_SCORE:
            return f"score {score:.3f} is {self.min_score - score:.3f} below the minimum of {self.min_score:.3f}"
        if reason is Drop.BELOW_SIMILARITY and self.min_similarity is not None:
            raw = self.ranking.raw[0, at]
            known = "unknown" if np.isnan(raw) else f"{raw:.3f}"
            return f"similarity {known} is below the minimum of {self.min_similarity:.3f}"
        if reason is Drop.BEYOND_LIMIT and len(self):
            last = float(self.ranking.scores[self.ranking.order[-1]])
            return f"score {score:.3f}, {last - score:.3f} below the last of the {len(self)} returned"
        if reason is Drop.BEYOND_TOKENS:
            cost = tokens_of(prompt_line(self.ranking.candidates.records[at], score) + "\n")
            return f"its {cost} tokens are beyond the token budget of {self.max_tokens}"
        return reason.label


def gather(
    index: ScopeIndex,
    vector: NDArray[np.float32] | None,
    query: str,
    visibility: Visibility,
    config: MemoryConfig,
    now: datetime,
) -> Candidates:
    """Every memory of the index as a candidate for this query. Exact, since none is left out.

    Without a vector the words stand in for it, whatever the configuration weighs.
    """
    lexical = _lexical_share(index.lexical, query) if config.lexical_weight or vector is None else None
    return Candidates(
        records=index.records,
        cosine=index.cosine(vector) if vector is not None else _lexical_share(index.lexical, query),
        lexical=lexical,
        age_seconds=now.timestamp() - index.changed,
        importance=index.importance,
        withheld=visibility.withheld(index, now),
        total=len(index),
    )


def widen(
    adapter: StoreAdapter,
    namespace: Namespace,
    query: str,
    visibility: Visibility,
    config: MemoryConfig,
    now: datetime,
    *,
    limit: int,
    subtree: bool = False,
) -> Candidates:
    """Candidates from the store's own search, widened until no unseen memory could enter the top `limit`.

    An unseen memory has at most the similarity of the last one seen, so it cannot score above
    `w_s·that + w_r + w_i`. Stops at `SEARCH_LIMIT`, and then says that it is not exact. What there is in all is
    counted only where the search came back short.
    """
    asked, total = min(max(limit, 1) * config.recall_oversample, SEARCH_LIMIT), None
    while True:
        hits = adapter.search(namespace, query, asked, subtree=subtree)
        if total is None and (len(hits) < asked or asked >= SEARCH_LIMIT):
            total = count_of(adapter, namespace, subtree=subtree)
        seen_all = total is not None and len(hits) >= total
        candidates = _from_hits(hits, query, visibility, config, now, total=total, exact=seen_all)
        if seen_all or _proven(candidates, config, limit):
            return replace(candidates, exact=True)
        # A store that gave fewer than it holds, though asked for all, keeps some to itself.
        if total is not None and asked >= min(total, SEARCH_LIMIT):
            return candidates
        asked = min(asked * _WIDER, SEARCH_LIMIT)


def count_of(adapter: StoreAdapter, namespace: Namespace, *, subtree: bool) -> int:
    """How many items the scope holds. A store that does not count has all of them read for it."""
    return sum(count for found, count in adapter.counts(namespace).items() if subtree or found == namespace)


def _lexical_share(lexical: LexicalIndex, query: str) -> NDArray[np.float64]:
    scores = lexical.scores(query).astype(np.float64)
    best = scores.max(initial=0.0)
    share: NDArray[np.float64] = scores / best if best > 0 else scores
    return share


def _from_hits(
    hits: list[Hit],
    query: str,
    visibility: Visibility,
    config: MemoryConfig,
    now: datetime,
    *,
    total: int | None,
    exact: bool,
) -> Candidates:
    found = _index_of(hits)
    similarity = np.array([np.nan if hit.similarity is None else hit.similarity for hit in hits], np.float64)
    return Candidates(
        records=found.records,
        cosine=similarity,
        lexical=_lexical_share(found.lexical, query) if config.lexical_weight else None,
        age_seconds=now.timestamp() - found.changed,
        importance=found.importance,
        withheld=visibility.withheld(found, now),
        total=total,
        exact=exact,
    )


def _index_of(hits: list[Hit]) -> ScopeIndex:
    records = [MemoryRecord.from_item(hit.item) for hit in hits]
    nothing = np.zeros((0, 1), np.float32)
    return ScopeIndex((), True, None, records, [None] * len(hits), nothing, np.zeros(0, np.int64))


def _proven(candidates: Candidates, config: MemoryConfig, limit: int) -> bool:
    if not limit:
        return True
    ranking = rank(candidates, config, limit=limit)
    known = candidates.cosine[~np.isnan(candidates.cosine)]
    # BM25 is relative to the best of all texts, so with it only a full view proves anything.
    if len(ranking.order) < limit or not len(known) or config.lexical_weight:
        return False
    # One without a vector, which some searches leave out, has no similarity at all.
    bound = config.semantic_weight * max(known.min(), 0.0) + config.recency_weight + config.importance_weight
    return bool(ranking.scores[ranking.order[-1]] >= bound)
