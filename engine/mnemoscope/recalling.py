"""Recalling: a checked request, and the procedure from it to a result."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from .checking import check_flag, check_whole
from .config import MemoryConfig
from .embedded import embed_query
from .errors import EmbeddingError, InputError
from .filters import Filter, compile_filter
from .index import IndexCache, ScopeIndex
from .namespaces import Namespace, NamespaceLike, read_namespace, read_prefix
from .ranking import rank
from .recall import RecallResult, gather, widen
from .steps import Step, Steps
from .stores.base import StoreAdapter
from .text import shown, storable
from .visibility import Visibility

__all__ = ["LONGEST_QUERY", "Request", "recalled", "request"]

LONGEST_QUERY = 100_000
"""Characters of a query; a longer one is refused."""


@dataclass(frozen=True)
class Request:
    """What to recall: every value is checked."""

    query: str
    namespace: Namespace
    visibility: Visibility
    config: MemoryConfig
    limit: int
    min_score: float
    min_similarity: float | None
    subtree: bool


def request(
    query: str,
    namespace: NamespaceLike,
    config: MemoryConfig,
    *,
    categories: Sequence[str] | None = None,
    limit: int = 10,
    min_score: float = 0.0,
    source: str | None = None,
    include_private: bool = False,
    filter: Filter | None = None,
    subtree: bool = False,
    since: datetime | None = None,
    until: datetime | None = None,
    min_similarity: float | None = None,
) -> Request:
    """The arguments of `MemoryEngine.recall`, checked.

    Raises:
        InputError: one of them cannot be used.
        FilterError: the filter is not of the documented form.
        NamespaceError: the namespace cannot be used.
    """
    check_flag("include_private", include_private)
    check_flag("subtree", subtree)
    if limit is None:
        raise InputError("limit must be a whole number from 0, got None.")
    check_whole("limit", limit)
    _check_bound("min_score", min_score)
    if min_similarity is not None:
        _check_bound("min_similarity", min_similarity)
    visibility = Visibility(source, include_private, categories, compile_filter(filter), since, until)
    where = read_prefix(namespace) if subtree else read_namespace(namespace)
    return Request(_query(query), where, visibility, config, limit, min_score, min_similarity, subtree)


def recalled(adapter: StoreAdapter, indexes: IndexCache, asked: Request, now: datetime) -> Steps[RecallResult]:
    """Answer a request.

    Raises:
        StoreError: the store failed.
        EmbeddingError: the embedder failed, or does not fit the store's vectors.
    """
    marks = [time.perf_counter()]
    if adapter.abilities.reads_vectors and adapter.embeddings is not None:
        vector = yield from embed_query(adapter, asked.query)
        marks.append(time.perf_counter())
        index = yield Step(functools.partial(indexes.get, asked.namespace, subtree=asked.subtree))
        marks.append(time.perf_counter())
        _check_fits(vector, index)
        candidates = gather(index, vector, asked.query, asked.visibility, asked.config, now)
    else:
        marks.append(time.perf_counter())
        search = functools.partial(widen, adapter, asked.namespace, asked.query, asked.visibility, asked.config, now)
        candidates = yield Step(functools.partial(search, limit=asked.limit, subtree=asked.subtree))
        marks.append(time.perf_counter())
    ranking = rank(
        candidates, asked.config, limit=asked.limit, min_score=asked.min_score, min_similarity=asked.min_similarity
    )
    marks.append(time.perf_counter())
    timings = dict(zip(("embed", "fetch", "rank"), np.diff(marks).tolist(), strict=True))
    return RecallResult(
        asked.query, asked.namespace, ranking, asked.limit, asked.min_score, asked.min_similarity, timings
    )


def _query(query: object) -> str:
    if not isinstance(query, str) or not query.strip():
        raise InputError(f"A recall needs a query with some text, got {shown(query)}.")
    if len(query) > LONGEST_QUERY:
        raise InputError(f"The query has {len(query):,} characters; {LONGEST_QUERY:,} are allowed. Shorten it.")
    # What no store can hold, no memory says; and embedders fail on it.
    return storable(query)[0]


def _check_bound(name: str, value: object) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or math.isnan(value):
        raise InputError(f"{name} must be a number, got {shown(value)}.")


def _check_fits(vector: NDArray[np.float32], index: ScopeIndex) -> None:
    # A store that does not tell its dimensions shows them by its vectors.
    if len(index.matrix) and index.matrix.shape[1] != len(vector):
        raise EmbeddingError(
            f"The query has a vector of {len(vector)} dimensions, but those of the store have "
            f"{index.matrix.shape[1]}. Use the embedder that the store was filled with."
        )
