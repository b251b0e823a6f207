"""Recall: the candidates of a query, gathered from the index or the store's search, and the result."""

from __future__ import annotations

import functools
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from ..config import MemoryConfig
from ..core.namespaces import Namespace, Scope
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

    def to_json(self) -> dict[str, Any]:
        """The match as a JSON object: where the memory is, its stored value, and the score with its parts."""
        return {
            "namespace": list(self.record.namespace),
            "key": self.record.key,
            "value": self.record.to_value(),
            "score": self.score,
            "similarity": self.similarity,
            "parts": [asdict(part) for part in self.parts],
        }

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


class RecallResult(list[MemoryMatch]):
    """The memories recalled, best first: a list of matches that also keeps the account of how they were chosen.

    `exact` says whether this is proven to be the true top-k; `examined` of `total` memories were considered.
    `timings` are seconds by step. `id` names the recall, for feedback. `as_of` is the moment at which the store is
    looked at, None for now. `embedder` is the one in use, and `notice` says where it could not be used, and why.
    A copy, and what is pickled, keeps the account; a slice, a sum and what a checkpoint gives back are plain lists.
    """

    def __init__(
        self,
        query: str,
        namespace: Namespace,
        ranking: Ranking,
        limit: int,
        min_score: float,
        min_similarity: float | None,
        timings: Mapping[str, float],
        *,
        id: str = "",
        max_tokens: int | None = None,
        as_of: datetime | None = None,
        embedder: str = "",
        notice: str = "",
        counting: Callable[[], int] = lambda: 0,
    ) -> None:
        super().__init__(_match(ranking, int(at)) for at in ranking.order)
        self.query = query
        self.namespace = namespace
        self.ranking = ranking
        self.limit = limit
        self.min_score = min_score
        self.min_similarity = min_similarity
        self.timings = timings
        self.id = id or f"recall-{uuid.uuid4()}"
        self.max_tokens = max_tokens
        self.as_of = as_of
        self.embedder = embedder
        self.notice = notice
        self._counting = counting

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
        return known if known is not None else self._counting()

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

    def rerank(
        self,
        config: MemoryConfig,
        *,
        limit: int | None = None,
        min_score: float | None = None,
        min_similarity: float | Literal["as before"] | None = "as before",
        max_tokens: int | Literal["as before"] | None = "as before",
    ) -> RecallResult:
        """The same candidates under another configuration; no store, embedding or model call.

        Cutoffs that are not given stay as they were asked for; those that came from the configuration come from the
        new one.
        """
        limit = self.limit if limit is None else limit
        before = self.ranking.config
        if min_score is None:
            min_score = config.min_score if self.min_score == before.min_score else self.min_score
        budget = self.max_tokens if max_tokens == "as before" else max_tokens
        least = self.min_similarity if min_similarity == "as before" else min_similarity
        if min_similarity == "as before" and (least or 0.0) == before.min_similarity:
            least = least if config.min_similarity == before.min_similarity else config.min_similarity or None
        started = time.perf_counter()
        candidates = self.ranking.candidates
        if candidates.total is None or len(candidates) < candidates.total:
            # What was searched proved the old top alone.
            candidates = replace(candidates, exact=_proven(candidates, config, limit))
        ranking = rank(candidates, config, limit=limit, min_score=min_score, min_similarity=least, max_tokens=budget)
        return RecallResult(
            self.query,
            self.namespace,
            ranking,
            limit,
            min_score,
            least,
            {"rank": time.perf_counter() - started},
            id=self.id,
            max_tokens=budget,
            as_of=self.as_of,
            embedder=self.embedder,
            notice=self.notice,
            counting=self._counting,
        )

    def to_json(self) -> list[dict[str, Any]]:
        """The matches as JSON values, best first."""
        return [match.to_json() for match in self]

    def __getstate__(self) -> dict[str, Any]:
        # What counts holds the store, which no copy may share.
        return {**self.__dict__, "_counting": functools.partial(int, self.total)}

    def _detail(self, at: int) -> str:
        reason = Drop(int(self.ranking.reasons[at]))
        score = float(self.ranking.scores[at])
        if reason is Drop.BELOW_SCORE:
            return f"score {score:.3f} is {self.min_score - score:.3f} below the minimum of {self.min_score:.3f}"
        if reason is Drop.BELOW_SIMILARITY and self.min_similarity is not None:
            raw = self.ranking.raw[0, at]
            known = "unknown" if np.isnan(raw) else f"{raw:.3f}"
            return f"similarity {known} is below the minimum of {self.min_similarity:.3f}"
        if reason is Drop.BEYOND_LIMIT and self:
            last = float(self.ranking.scores[self.ranking.order[-1]])
            return f"score {score:.3f}, {last - score:.3f} below the last of the {len(self)} returned"
        if reason is Drop.BEYOND_TOKENS:
            cost = tokens_of(prompt_line(self.ranking.candidates.records[at], score) + "\n")
            return f"its {cost} tokens are beyond the token budget of {self.max_tokens}"
        return reason.label


def _match(ranking: Ranking, at: int) -> MemoryMatch:
    parts = ranking.parts_at(at)
    return MemoryMatch(ranking.candidates.records[at], float(ranking.scores[at]), parts[0].raw, parts)


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
    scope: Scope,
    query: str,
    visibility: Visibility,
    config: MemoryConfig,
    now: datetime,
    *,
    limit: int,
) -> Candidates:
    """Candidates from the store's own search, widened until no unseen memory could enter the top `limit`.

    An unseen memory has at most the similarity of the last one seen, so it cannot score above
    `w_s·that + w_r + w_i`. Stops at `SEARCH_LIMIT`, and then says that it is not exact. What there is in all is
    counted only where the search came back short.
    """
    asked, total = min(max(limit, 1) * config.recall_oversample, SEARCH_LIMIT), None
    while True:
        hits = adapter.search(scope.namespace, query, asked, subtree=scope.subtree)
        if total is None and (len(hits) < asked or asked >= SEARCH_LIMIT):
            total = count_of(adapter, scope)
        seen_all = total is not None and len(hits) >= total
        candidates = _from_hits(hits, query, visibility, config, now, total=total, exact=seen_all)
        if seen_all or _proven(candidates, config, limit):
            return replace(candidates, exact=True)
        # A store that gave fewer than it holds, though asked for all, keeps some to itself.
        if total is not None and asked >= min(total, SEARCH_LIMIT):
            return candidates
        asked = min(asked * _WIDER, SEARCH_LIMIT)


def count_of(adapter: StoreAdapter, scope: Scope) -> int:
    """How many items the scope holds. A store that does not count has all of them read for it."""
    return sum(count for found, count in adapter.counts(scope.namespace).items() if scope.holds(found))


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
