"""The look-up: what a namespace holds that matters to new facts.

One matrix product where the store's vectors can be read, else one batched search; never what is private to
another source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from ..config import MemoryConfig
from ..core.execution import Step, Steps
from ..core.namespaces import Namespace
from ..core.records import MemoryRecord
from ..core.text import normalise
from ..embedding.encode import embed_texts
from ..extraction.facts import ExtractedFact, Similar
from ..index.scope import IndexCache, ScopeIndex
from ..index.visibility import Drop, Visibility
from ..journal.changes import Tombstone, book
from ..journal.entries import read_entry
from ..stores.base import Hit, Ref, StoreAdapter, StoredItem
from .decisions import memory_key
from .plan import Terms

__all__ = ["KEYS_TRIED", "Known", "Lookup", "usable"]


SUPPRESSED_FROM = 0.93
"""Similarity from which a fact counts as the one that was forgotten, though not said in the same words."""

KEYS_TRIED = 3
"""How many of the keys that a text may have are looked up."""

SEARCHED = 50
"""How many memories a search is asked for where vectors cannot be read, so that enough may be shown to the judge."""

_STONES_COMPARED = 3


@dataclass(frozen=True)
class Known:
    """What the namespace holds that matters to these facts; positions are those of the facts.

    `similar` are memories like each fact, `stones` the tombstones that suppress it, `learned` memories that
    already rest on the very turn it was taken from. `stored` holds the items of the memories by key, and of those
    that stand where a fact's own memory would; `buried` are keys of the
    facts at which something else was forgotten.
    """

    similar: list[Similar] = field(default_factory=list)
    stones: dict[int, Tombstone] = field(default_factory=dict)
    learned: dict[int, MemoryRecord] = field(default_factory=dict)
    vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    stored: dict[str, StoredItem] = field(default_factory=dict)
    buried: frozenset[str] = frozenset()

    @property
    def taken(self) -> frozenset[str]:
        """Keys that no new memory may have. An insert over a tombstone would take that out of the trash."""
        return self.buried.union(self.stored)


class Lookup:
    """Looks facts up for one plan: in one namespace, under one caller's terms, at one time."""

    def __init__(
        self, adapter: StoreAdapter, indexes: IndexCache, config: MemoryConfig, terms: Terms, now: datetime
    ) -> None:
        self._adapter = adapter
        self._indexes = indexes
        self._config = config
        self._terms = terms
        self._now = now

    def known(self, facts: Sequence[ExtractedFact], namespace: Namespace) -> Steps[Known]:
        """What is known that matters to the facts."""
        if not facts:
            return Known()
        texts = [fact.content for fact in facts]
        vectors = yield from embed_texts(self._adapter, texts)
        if self._adapter.abilities.reads_vectors and vectors:
            matrix = np.stack([vectors[text] for text in texts])
            return (yield from self._in_index(facts, namespace, matrix, vectors))
        return (yield from self._by_search(facts, namespace, vectors))

    def _in_index(
        self,
        facts: Sequence[ExtractedFact],
        namespace: Namespace,
        matrix: NDArray[np.float32],
        vectors: dict[str, NDArray[np.float32]],
    ) -> Steps[Known]:
        index = yield Step(self._indexes.get, (namespace,))
        stones = yield Step(self._indexes.get, (book("tombstones", namespace),))
        similar = self._nearest(index, matrix)
        learned = {
            at: record
            for at, fact in enumerate(facts)
            for record in (index.learned.get((fact.quote, fact.said_at), ()) if fact.quote and fact.said_at else ())
            if usable(record, self._terms, self._now)
        }
        places = self._places(facts, namespace, similar, learned)
        stored = yield from self._read([ref for ref in places if ref in index.position])
        suppressed = self._suppressed(facts, stones, stones.cosines(matrix))
        where = book("tombstones", namespace)
        found = {
            key: stones.tombstones[at] for _, key in places if (at := stones.position.get((where, key))) is not None
        }
        return Known(similar, suppressed, learned, vectors, stored, self._buried(facts, found))

    def _by_search(
        self, facts: Sequence[ExtractedFact], namespace: Namespace, vectors: dict[str, NDArray[np.float32]]
    ) -> Steps[Known]:
        texts = [fact.content for fact in facts]
        wanted = max(self._config.consolidation_limit, SEARCHED)
        hits = yield Step(self._adapter.search_each, (namespace, texts, wanted))
        stone_hits = yield Step(self._adapter.search_each, (book("tombstones", namespace), texts, wanted))
        found = [list(self._usable_hits(row)) for row in hits]
        threshold, most = self._config.consolidation_threshold, self._config.consolidation_limit
        similar = [[pair for pair in row if pair[1] >= threshold][:most] for row in found]
        learned = {
            at: record for at, row in enumerate(found) for record, _ in reversed(row) if _rests_on(record, facts[at])
        }
        places, where = self._places(facts, namespace, similar, learned), book("tombstones", namespace)
        items = (yield Step(self._adapter.get, ([*places, *((where, key) for _, key in places)],))) if places else []
        found_items = [item for item in items if item is not None]
        stored = {item.key: item for item in found_items if item.namespace == namespace}
        there = {item.key: read_entry(item, Tombstone.from_item) for item in found_items if item.namespace == where}
        buried = self._buried(facts, there)
        return Known(similar, self._stones_of(facts, stone_hits), learned, vectors, stored, buried)

    def _nearest(self, index: ScopeIndex, matrix: NDArray[np.float32]) -> list[Similar]:
        if not len(index) or self._config.consolidation_threshold >= 1.0:
            return [[] for _ in matrix]
        cosines = np.nan_to_num(index.cosines(matrix), nan=-1.0)
        similarities: NDArray[np.float64] = np.where(self._offered(index), cosines, -1.0)
        count = min(self._config.consolidation_limit, len(index))
        best = np.argpartition(-similarities, count - 1, axis=1)[:, :count]
        found: list[Similar] = []
        for row, columns in zip(similarities, best, strict=True):
            ordered = sorted(columns.tolist(), key=lambda at: (-row[at], index.records[at].key))
            near = [at for at in ordered if row[at] >= self._config.consolidation_threshold]
            found.append([(index.records[at], float(row[at])) for at in near])
        return found

    def _offered(self, index: ScopeIndex) -> NDArray[np.bool_]:
        """Which memories the judge may be shown: never another source's private ones, never across privacy."""
        seen = Visibility(source=self._terms.source).withheld(index, self._now) == Drop.NONE
        same: NDArray[np.bool_] = seen & (index.private == self._terms.private)
        return same

    def _suppressed(
        self, facts: Sequence[ExtractedFact], index: ScopeIndex, scores: NDArray[np.float64]
    ) -> dict[int, Tombstone]:
        read = index.tombstones
        stones = {row: stone for row, stone in enumerate(read) if stone is not None and self._suppresses(stone)}
        counts = np.fromiter((row in stones for row in range(len(read))), np.bool_, len(read))
        nearest = np.argsort(-np.where(counts, np.nan_to_num(scores, nan=-1.0), -2.0), axis=1)[:, :_STONES_COMPARED]
        found: dict[int, Tombstone] = {}
        for at, fact in enumerate(facts):
            for row in nearest[at].tolist():
                if row in stones and _is_forgotten(fact, stones[row], float(scores[at, row])):
                    found.setdefault(at, stones[row])
        turns = {turn: stone for stone in stones.values() for turn in _turns_of(stone.record)}
        for at, fact in enumerate(facts):
            if (fact.quote, fact.said_at) in turns:
                found.setdefault(at, turns[fact.quote, fact.said_at])
        return found

    def _suppresses(self, stone: Tombstone) -> bool:
        is_over = self._now - stone.forgotten_at >= timedelta(days=self._config.suppress_for_days)
        return not stone.allowed and not is_over and _same_eyes(stone.record, self._terms)

    def _stones_of(self, facts: Sequence[ExtractedFact], hits: Sequence[Sequence[Hit]]) -> dict[int, Tombstone]:
        found: dict[int, Tombstone] = {}
        for at, (fact, row) in enumerate(zip(facts, hits, strict=True)):
            for hit in row:
                stone = read_entry(hit.item, Tombstone.from_item)
                if stone is not None and self._suppresses(stone) and _is_forgotten(fact, stone, hit.similarity or 0.0):
                    found.setdefault(at, stone)
        return found

    def _usable_hits(self, hits: Sequence[Hit]) -> Iterator[tuple[MemoryRecord, float]]:
        for hit in hits:
            record = MemoryRecord.from_item(hit.item)
            if record.content and usable(record, self._terms, self._now):
                yield record, -1.0 if hit.similarity is None else hit.similarity

    def _places(
        self,
        facts: Sequence[ExtractedFact],
        namespace: Namespace,
        similar: Sequence[Similar],
        learned: Mapping[int, MemoryRecord],
    ) -> list[Ref]:
        keys = {record.key for row in similar for record, _ in row} | {record.key for record in learned.values()}
        keys |= {memory_key(fact.content, self._terms, salt) for fact in facts for salt in range(KEYS_TRIED)}
        return [(namespace, key) for key in sorted(keys)]

    def _buried(self, facts: Sequence[ExtractedFact], stones: Mapping[str, Tombstone | None]) -> frozenset[str]:
        """Keys of these facts at which something else was forgotten: the memory had another text by then."""
        return frozenset(
            key
            for fact in facts
            for salt in range(KEYS_TRIED)
            if (stone := stones.get(key := memory_key(fact.content, self._terms, salt))) is not None
            and normalise(stone.record.content) != normalise(fact.content)
        )

    def _read(self, refs: Sequence[Ref]) -> Steps[dict[str, StoredItem]]:
        items = (yield Step(self._adapter.get, (refs,))) if refs else []
        return {item.key: item for item in items if item is not None}


def usable(record: MemoryRecord, terms: Terms, now: datetime) -> bool:
    """Whether a fact may be compared with the memory: it is for the same readers, and has not expired."""
    return _same_eyes(record, terms) and (record.expires_at is None or record.expires_at > now)


def _same_eyes(record: MemoryRecord, terms: Terms) -> bool:
    return record.private == terms.private and Visibility(source=terms.source).sees(record)


def _is_forgotten(fact: ExtractedFact, stone: Tombstone, similarity: float) -> bool:
    same_words = normalise(fact.content) == normalise(stone.record.content)
    return same_words or similarity >= SUPPRESSED_FROM or _rests_on(stone.record, fact)


def _rests_on(record: MemoryRecord, fact: ExtractedFact) -> bool:
    """Whether the memory was already learned from the very turn that the fact was taken from."""
    return (fact.quote, fact.said_at) in _turns_of(record)


def _turns_of(record: MemoryRecord) -> list[tuple[str | None, datetime | None]]:
    return [(each.quote, each.said_at) for each in record.evidence if each.quote and each.said_at]
