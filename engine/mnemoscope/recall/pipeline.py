"""Recall: a checked request, and the procedure from it to a result or to the explanation of one memory."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from ..config import MemoryConfig
from ..context import Context
from ..core.execution import Step, Steps
from ..core.filters import Filter, compile_filter
from ..core.namespaces import Namespace, NamespaceLike, Scope
from ..core.records import MemoryRecord
from ..core.text import shown, storable
from ..core.times import aware
from ..core.validation import check_flag, check_kind, check_moment, check_whole
from ..embedding.encode import embed_query, embed_texts
from ..errors import EmbeddingError, InputError
from ..index.scope import ScopeIndex, index_of
from ..index.visibility import Visibility
from ..journal.changes import Tombstone, book
from ..journal.entries import read_entry
from ..journal.provenance import ambient, thread_of
from ..journal.time_travel import with_vectors
from ..stores.base import CONTENT_FIELD, EMBED_AGAIN, StoreAdapter, StoredItem, Vectors
from .explanation import Explanation, explain, locate
from .ranking import Candidates, rank
from .result import RecallResult, count_of, gather, widen

__all__ = ["LONGEST_QUERY", "MOST_EMBEDDED", "RecallOptions", "Request", "explain_memory", "read_request", "recall"]


LONGEST_QUERY = 100_000
"""Characters of a query; a longer one is refused."""

_BY_WORDS = "{difference} So these are ranked by their words alone: similarity is BM25 over its maximum."

MOST_EMBEDDED = 10_000
"""Memories that are embedded again to recall what was, where a store's vectors cannot be read."""


@dataclass(frozen=True)
class Request:
    """What to recall: every value is checked."""

    query: str
    scope: Scope
    visibility: Visibility
    config: MemoryConfig
    limit: int
    min_score: float
    min_similarity: float | None
    is_noted: bool = False
    max_tokens: int | None = None
    as_of: datetime | None = None


class _Stopwatch:
    """Seconds of each step of a recall, whatever their order and however often one is taken."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(("embed", "fetch", "rank"), 0.0)
        self._began = time.perf_counter()

    def lap(self, step: str) -> None:
        """What has passed since the last lap belongs to this step."""
        now = time.perf_counter()
        self.seconds[step] += now - self._began
        self._began = now


class RecallOptions(TypedDict, total=False):
    """The options of `MemoryEngine.recall`, for those that hand them on."""

    categories: Sequence[str] | None
    limit: int
    min_score: float | None
    source: str | None
    include_private: bool
    filter: Filter | None
    touch: bool | None
    subtree: bool
    since: datetime | None
    until: datetime | None
    min_similarity: float | None
    max_tokens: int | None
    as_of: datetime | None
    config: MemoryConfig | None


def read_request(
    query: str,
    namespace: NamespaceLike,
    default: MemoryConfig,
    *,
    categories: Sequence[str] | None = None,
    limit: int = 10,
    min_score: float | None = None,
    source: str | None = None,
    include_private: bool = False,
    filter: Filter | None = None,
    touch: bool | None = None,
    subtree: bool = False,
    since: datetime | None = None,
    until: datetime | None = None,
    min_similarity: float | None = None,
    max_tokens: int | None = None,
    as_of: datetime | None = None,
    config: MemoryConfig | None = None,
) -> Request:
    """The arguments of `MemoryEngine.recall`, checked; `default` stands in for a configuration.

    Raises:
        InputError: one of them cannot be used.
        FilterError: the filter is not of the documented form.
        NamespaceError: the namespace cannot be used.
    """
    if config is None:
        config = default
    check_kind("config", config, MemoryConfig)
    check_flag("include_private", include_private)
    check_flag("subtree", subtree)
    check_flag("touch", touch)
    if limit is None:
        raise InputError("limit must be a whole number from 0, got None.")
    check_whole("limit", limit)
    check_whole("max_tokens", max_tokens)
    check_moment("as_of", as_of)
    _check_bound("min_score", min_score)
    _check_bound("min_similarity", min_similarity)
    return Request(
        query=_query(query),
        scope=Scope.of(namespace, subtree=subtree),
        visibility=Visibility(source, include_private, categories, compile_filter(filter), since, until),
        config=config,
        limit=limit,
        min_score=config.min_score if min_score is None else min_score,
        min_similarity=config.min_similarity or None if min_similarity is None else min_similarity,
        # Recalls of the past are looks by people, not uses by an agent.
        is_noted=as_of is None and (default.touch_on_recall if touch is None else touch),
        max_tokens=max_tokens,
        as_of=None if as_of is None else aware(as_of),
    )


def recall(context: Context, asked: Request) -> Steps[RecallResult]:
    """Answer a request, and note it in the access history where it asks for that.

    Raises:
        StoreError: the store failed.
        EmbeddingError: the embedder failed, or does not fit the store's vectors.
        InputError: nobody knows how the store was at that moment, or it has not come yet.
    """
    now = context.now()
    if not asked.query.strip():
        return _nothing(asked)
    result = yield from _answer(context, asked, now)
    if asked.is_noted:
        records = [match.record for match in result]
        context.access.note(records, asked.query, now, recall=result.id, thread=thread_of(ambient()))
    return result


def explain_memory(context: Context, asked: Request, namespace: Namespace, key: str) -> Steps[Explanation]:
    """Why this request returns the memory at this place or does not, and what would bring it in."""
    if not asked.query.strip():
        raise InputError(f"To explain a recall takes its query, a text with some words, got {shown(asked.query)}.")
    result = yield from _answer(context, asked, context.now())
    if locate(result, namespace, key) is not None or result.as_of is not None:
        return explain(result, namespace, key)
    at = (book("tombstones", namespace), key)
    stored, stone = yield Step(context.adapter.get, ([(namespace, key), at],))
    return explain(
        result,
        namespace,
        key,
        stored=None if stored is None else MemoryRecord.from_item(stored),
        tombstone=None if stone is None else read_entry(stone, Tombstone.from_item),
    )


def _nothing(asked: Request) -> RecallResult:
    """The empty result of an empty query: a turn of an agent without words, such as an image, asks for nothing."""
    empty = np.empty(0)
    considered = Candidates([], empty, None, empty, empty, np.empty(0, np.int8), total=0)
    return RecallResult(
        query=asked.query,
        namespace=asked.scope.namespace,
        ranking=rank(considered, asked.config, limit=asked.limit, min_score=asked.min_score),
        limit=asked.limit,
        min_score=asked.min_score,
        min_similarity=asked.min_similarity,
        timings={},
        as_of=asked.as_of,
        notice="The query holds no words, so nothing was looked for.",
    )


def _answer(context: Context, asked: Request, now: datetime) -> Steps[RecallResult]:
    watch = _Stopwatch()
    candidates = yield from _candidates(context, asked, now, watch)
    ranking = rank(
        candidates,
        asked.config,
        limit=asked.limit,
        min_score=asked.min_score,
        min_similarity=asked.min_similarity,
        max_tokens=asked.max_tokens,
    )
    watch.lap("rank")
    return RecallResult(
        query=asked.query,
        namespace=asked.scope.namespace,
        ranking=ranking,
        limit=asked.limit,
        min_score=asked.min_score,
        min_similarity=asked.min_similarity,
        timings=watch.seconds,
        max_tokens=asked.max_tokens,
        as_of=asked.as_of,
        counting=functools.partial(count_of, context.adapter, asked.scope),
        embedder=str(context.embedders.present or ""),
        notice=_BY_WORDS.format(difference=difference) if (difference := context.embedders.difference) else "",
    )


def _candidates(context: Context, asked: Request, now: datetime, watch: _Stopwatch) -> Steps[Candidates]:
    """What is considered: of then, by vectors that can be read, by words alone, or by the store's own search."""
    adapter = context.adapter
    if asked.as_of is not None:
        index = yield from _index_then(context, asked, now)
        watch.lap("fetch")
        yield Step(context.embedders.require)
        vector = yield from embed_query(adapter, asked.query)
        _check_fits(vector, index)
        watch.lap("embed")
        return gather(index, vector, asked.query, asked.visibility, asked.config, asked.as_of)
    if adapter.abilities.reads_vectors and adapter.embeddings is not None:
        found, index = yield from _matching(context, asked, watch)
        return gather(index, found, asked.query, asked.visibility, asked.config, now)
    if (yield Step(context.embedders.check)):
        index = yield Step(context.index, (asked.scope,))
        watch.lap("fetch")
        return gather(index, None, asked.query, asked.visibility, asked.config, now)
    search = functools.partial(
        widen, adapter, asked.scope, asked.query, asked.visibility, asked.config, now, limit=asked.limit
    )
    candidates: Candidates = yield Step(search)
    watch.lap("fetch")
    return candidates


def _matching(
    context: Context, asked: Request, watch: _Stopwatch
) -> Steps[tuple[NDArray[np.float32] | None, ScopeIndex]]:
    """The vector of the query and the index, both by one embedder; no vector where the store's cannot be had."""
    adapter, embedders = context.adapter, context.embedders
    while True:
        used = adapter.embeddings
        vector = None if embedders.difference else (yield from embed_query(adapter, asked.query))
        watch.lap("embed")
        index = yield Step(context.index, (asked.scope,))
        # Looked at afterwards: so long as the store has not gone over by now, the index is of this embedder.
        differed = bool(embedders.difference)
        differs = bool((yield Step(embedders.check)))
        watch.lap("fetch")
        if differs:
            return None, index
        if adapter.embeddings is used and not differed:
            _check_fits(vector, index)
            return vector, index


def _index_then(context: Context, asked: Request, now: datetime) -> Steps[ScopeIndex]:
    """The index of the scope as it was, with the vectors of then; embedded again where the store keeps its own."""
    adapter, scope = context.adapter, asked.scope
    assert asked.as_of is not None, "only asked for a moment"
    if asked.as_of > now:
        raise InputError(f"as_of is {asked.as_of.isoformat()}, which has not come yet; leave it out for now.")
    if adapter.embeddings is None:
        raise InputError("as_of needs the embedder, and this store keeps it to itself; recall without as_of.")
    then = functools.partial(context.journal.then, scope.namespace, asked.as_of, subtree=scope.subtree)
    found = yield Step(then)
    items, vectors = [item for item, _ in found], [each for _, each in found]
    lacking = [at for at, each in enumerate(vectors) if each is EMBED_AGAIN or not adapter.abilities.reads_vectors]
    made = yield from _embed_again(adapter, [items[at] for at in lacking])
    for at, each in zip(lacking, made, strict=True):
        vectors[at] = each
    width = adapter.dimensions or next((len(row) for each in vectors for row in each.values()), 0)
    return index_of(scope.namespace, scope.subtree, with_vectors(items, vectors, width))


def _embed_again(adapter: StoreAdapter, items: Sequence[StoredItem]) -> Steps[list[Vectors]]:
    if len(items) > MOST_EMBEDDED:
        raise InputError(
            f"as_of would embed {len(items):,} memories, because their vectors of then cannot be used; "
            f"{MOST_EMBEDDED:,} are allowed. Name a smaller namespace."
        )
    texts = [MemoryRecord.from_item(item).content for item in items]
    known = yield from embed_texts(adapter, [text for text in texts if text])
    return [{CONTENT_FIELD: known[text]} if text in known else {} for text in texts]


def _query(query: object) -> str:
    if not isinstance(query, str):
        raise InputError(f"A recall needs a query, a text, got {shown(query)}.")
    if len(query) > LONGEST_QUERY:
        raise InputError(f"The query has {len(query):,} characters; {LONGEST_QUERY:,} are allowed. Shorten it.")
    # What no store can hold, no memory says; and embedders fail on it.
    return storable(query)[0]


def _check_bound(name: str, value: object) -> None:
    if value is None:
        return
    try:
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)
    except OverflowError:
        is_number = False
    if not is_number:
        raise InputError(f"{name} must be a number, got {shown(value)}.")


def _check_fits(vector: NDArray[np.float32] | None, index: ScopeIndex) -> None:
    assert vector is not None, "only asked for where one was made"
    # A store that does not tell its dimensions shows them by its vectors.
    if len(index.matrix) and index.matrix.shape[1] != len(vector):
        raise EmbeddingError(
            f"The query has a vector of {len(vector)} dimensions, but those of the store have "
            f"{index.matrix.shape[1]}. Use the embedder that the store was filled with."
        )
