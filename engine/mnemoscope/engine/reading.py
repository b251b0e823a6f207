"""`Reading`: recall, explain, get, list and count; nothing here changes a memory."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Hashable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from ..config import MemoryConfig
from ..core.execution import Steps, arun, check_options, on_thread, run, twin
from ..core.filters import Filter, compile_filter
from ..core.namespaces import Namespace, NamespaceLike, is_reserved, read_namespace, read_prefix
from ..core.records import MemoryRecord
from ..core.times import Clock
from ..core.validation import check_flag, check_key, check_whole
from ..index.budget import IndexMemory
from ..index.scope import IndexCache, ScopeIndex
from ..index.visibility import Drop, Visibility
from ..journal.changes import Tombstone, book
from ..journal.entries import read_entry
from ..journal.journal import Journal
from ..journal.provenance import ambient, thread_of
from ..recall.access import Access, AccessLog
from ..recall.explanation import Explanation, locate
from ..recall.explanation import explain as explain_in
from ..recall.pipeline import Request, recalled, request
from ..recall.result import RecallResult
from ..stores.base import StoreAdapter

__all__ = ["Listing", "Reading"]


class Listing(list[MemoryRecord]):
    """Memories, the latest changed first; `total` counts all that may be seen, `withheld` those that may not."""

    def __init__(self, records: Sequence[MemoryRecord], total: int, withheld: Mapping[Drop, int]) -> None:
        super().__init__(records)
        self.total = total
        self.withheld = dict(withheld)


class Reading:
    """The part of `MemoryEngine` that reads."""

    adapter: StoreAdapter
    config: MemoryConfig
    _access: AccessLog
    _clock: Clock
    _counted: tuple[Hashable | None, dict[Namespace, int]] | None = None
    _indexes: IndexCache
    _journal: Journal

    def recall(
        self,
        query: str,
        namespace: NamespaceLike,
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
    ) -> RecallResult:
        """The memories that matter to the query, best first by the composite score.

        Args:
            query: what to look for; not empty.
            namespace: where; exactly there unless `subtree`.
            categories: at least one must be shared; None for any, an empty list matches nothing.
            limit: how many at most, from 0.
            min_score: the least composite score; None as configured.
            source: on whose behalf; makes that source's private memories visible.
            include_private: see everybody's private memories (operators).
            filter: see `mnemoscope.filters`.
            touch: whether to note the recall in the access history; None as configured. Memories themselves
                are never changed by reading.
            subtree: also search the namespaces below.
            since, until: bounds of the time at which the content last changed.
            min_similarity: the least similarity, whatever the score; None as configured.
            max_tokens: how many tokens the memories may take up as lines of a prompt; of the first `limit`, those
                that do not fit are dropped.
            as_of: look at the store as it was at this time: ages, expiry and what was private as they were then, so it
                is for those who may see the history. Not noted in the access history.
            config: weights, half-life and minimums for this recall alone.

        Raises:
            InputError: the query is empty or longer than `LONGEST_QUERY`, the limit is negative, or how the store
                was `as_of` then is not known any more.
            StoreError: the store failed; that is never shown as an empty result.
        """
        asked = request(
            query,
            namespace,
            self.config if config is None else config,
            categories=categories,
            limit=limit,
            min_score=min_score,
            source=source,
            include_private=include_private,
            filter=filter,
            subtree=subtree,
            since=since,
            until=until,
            min_similarity=min_similarity,
            max_tokens=max_tokens,
            as_of=as_of,
        )
        return run(self._recalled(asked, touch))

    async def arecall(
        self,
        query: str,
        namespace: NamespaceLike,
        *,
        touch: bool | None = None,
        config: MemoryConfig | None = None,
        **options: Any,
    ) -> RecallResult:
        """The asynchronous form of `recall`, with the same options."""
        check_options("arecall", options, tuple(inspect.signature(self.recall).parameters)[2:])
        chosen = self.config if config is None else config
        return await arun(self._recalled(request(query, namespace, chosen, **options), touch))

    def explain(
        self, query: str, namespace: NamespaceLike, key: str, *, within: NamespaceLike | None = None, **options: Any
    ) -> Explanation:
        """Why a recall of this query returns the memory or does not, and what would bring it in.

        Args:
            query: what is looked for.
            namespace: where the memory is.
            key: which it is; it need not exist.
            within: where the recall looks, if not exactly there.
            options: those of `recall`; the recall is not noted in the access history.
        """
        check_key("key", key)
        where = read_namespace(namespace)
        result = self.recall(query, where if within is None else within, **{**options, "touch": False})
        if locate(result, where, key) is not None or result.as_of is not None:
            return explain_in(result, where, key)
        at = (book("tombstones", where), key)
        stored, stone = self.adapter.get([(where, key), at])
        return explain_in(
            result,
            where,
            key,
            stored=None if stored is None else MemoryRecord.from_item(stored),
            tombstone=None if stone is None else read_entry(stone, Tombstone.from_item),
        )

    async def aexplain(self, query: str, namespace: NamespaceLike, key: str, **options: Any) -> Explanation:
        """The asynchronous form of `explain`, with the same options."""
        return await on_thread(functools.partial(self.explain, query, namespace, key, **options))

    def get(self, namespace: NamespaceLike, key: str) -> MemoryRecord | None:
        """The memory at this key, or None. Like every call that names a key, for code that may see all of it.

        Private and expired memories are given too; `shows` says whether a recall may give one.
        """
        check_key("key", key)
        item = self.adapter.get([(read_namespace(namespace), key)])[0]
        return None if item is None else MemoryRecord.from_item(item)

    def shows(self, record: MemoryRecord, *, source: str | None = None) -> bool:
        """Whether a recall on behalf of this source may give the memory: readable, not expired, not another's."""
        return Visibility(source).shows(record, self._clock())

    def list(
        self,
        namespace: NamespaceLike,
        limit: int | None = 200,
        *,
        source: str | None = None,
        include_private: bool = False,
        categories: Sequence[str] | None = None,
        filter: Filter | None = None,
        subtree: bool = False,
    ) -> Listing:
        """Memories of a namespace, the latest changed first; `total` says how many there are in all."""
        check_whole("limit", limit)
        index = self.index(namespace, subtree=subtree)
        visibility = Visibility(source, include_private, categories, compile_filter(filter))
        withheld = visibility.withheld(index, self._clock())
        open_ = np.flatnonzero(withheld == Drop.NONE).tolist()
        ordered = sorted(open_, key=lambda at: (-index.changed[at], index.records[at].key))
        codes, counts = np.unique(withheld[withheld != Drop.NONE], return_counts=True)
        hidden = {Drop(code): count for code, count in zip(codes.tolist(), counts.tolist(), strict=True)}
        return Listing([index.records[at] for at in ordered[:limit]], len(ordered), hidden)

    def index(self, namespace: NamespaceLike, *, subtree: bool = False) -> ScopeIndex:
        """The cached index of a scope as the store is now: every record with its vector, for pages and tools."""
        return self._indexes.get(read_prefix(namespace) if subtree else read_namespace(namespace), subtree=subtree)

    @property
    def cached_bytes(self) -> int:
        """Roughly what the cached indexes hold in memory."""
        return self._indexes.nbytes

    @property
    def index_memory(self) -> IndexMemory:
        """What the indexes of this engine and of the whole process take, and whether that is enough."""
        return self._indexes.memory

    def counts(self, prefix: NamespaceLike = ()) -> dict[Namespace, int]:
        """Memories of each namespace that is or lies below the prefix; our own books are left out.

        Those of the whole store are counted again only where something was written since.
        """
        if where := read_prefix(prefix):
            return _without_books(self.adapter.counts(where))
        token = self.adapter.token((), subtree=True)
        before = self._counted
        if before is None or token is None or before[0] != token:
            before = self._counted = (token, _without_books(self.adapter.counts(())))
        return dict(before[1])

    def access(self, namespace: NamespaceLike) -> dict[str, Access]:
        """How often, when and for what the memories of a namespace were recalled, by key."""
        return self._access.of(read_namespace(namespace))

    aget = twin(get)
    alist = twin(list)
    acounts = twin(counts)
    aaccess = twin(access)

    def _recalled(self, asked: Request, touch: bool | None) -> Steps[RecallResult]:
        check_flag("touch", touch)
        now = self._clock()
        result = yield from recalled(self.adapter, self._indexes, self._journal, asked, now)
        is_noted = self.config.touch_on_recall if touch is None else touch
        if is_noted and asked.as_of is None:
            records = [match.record for match in result]
            self._access.note(records, asked.query, now, recall=result.id, thread=thread_of(ambient()))
        return result


def _without_books(counts: Mapping[Namespace, int]) -> dict[Namespace, int]:
    return {namespace: count for namespace, count in counts.items() if not is_reserved(namespace)}
