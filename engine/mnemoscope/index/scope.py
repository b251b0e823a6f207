"""One cached index a namespace: records, vectors and columns, kept fresh by the store's change token.

An index is immutable: a refresh makes a new one from the old and from what changed, so that readers in
other threads keep a consistent one without any lock.
"""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import compress, count, pairwise
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from ..core.locks import ForkSafeLock
from ..core.namespaces import Namespace, Scope, is_reserved
from ..core.records import MemoryRecord
from ..journal.changes import Tombstone
from ..journal.entries import read_entry
from ..stores.base import Ref, Snapshot, StoreAdapter, StoredItem, TracksChanges
from ..stores.snapshots import Items
from .budget import IndexBudget, IndexMemory, give_back, process_budget, without_collecting
from .columns import Columns
from .lexical import LexicalIndex

__all__ = ["IndexCache", "ScopeIndex", "Turn", "index_of"]


Turn: TypeAlias = tuple[str, datetime]
"""A turn as evidence knows it: the quote and when it was said."""

# What one record costs beside its text and vector, its words and columns included, and what one piece of evidence
# does: measured on records of the usual shape.
_BYTES_PER_RECORD = 1_650
_BYTES_PER_EVIDENCE = 600

# From so many memories on, what was only needed to read them is worth being given back.
_MANY = 10_000


@dataclass(frozen=True, eq=False)
class ScopeIndex:
    """Every memory of one scope (a namespace, or with `subtree` all below it), ready to be ranked.

    `matrix` holds unit vectors, float32 of shape (vectors, dimensions); `owner[j]` is the position in
    `records` of row j, ascending. `misfits` counts the vectors of another dimension, by item.
    """

    namespace: Namespace
    subtree: bool
    token: Hashable | None
    records: list[MemoryRecord]
    markers: list[Hashable]
    matrix: NDArray[np.float32]
    owner: NDArray[np.int64]
    misfits: Mapping[Ref, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.records)

    @cached_property
    def position(self) -> dict[Ref, int]:
        """Where each item stands in `records`."""
        return {(record.namespace, record.key): at for at, record in enumerate(self.records)}

    @cached_property
    def changed(self) -> NDArray[np.float64]:
        """When each content last changed, in seconds since 1970."""
        return np.fromiter((record.changed_at.timestamp() for record in self.records), np.float64, len(self))

    @cached_property
    def importance(self) -> NDArray[np.float64]:
        """Importance, 0 to 1, NaN where the item states none."""
        values = (np.nan if record.importance is None else record.importance for record in self.records)
        return np.fromiter(values, np.float64, len(self))

    @cached_property
    def private(self) -> NDArray[np.bool_]:
        """Which memories are private to their source."""
        return np.fromiter((record.private for record in self.records), np.bool_, len(self))

    @cached_property
    def expires(self) -> NDArray[np.float64]:
        """When each memory expires, in seconds since 1970; infinite where it does not."""
        values = (record.expires_at.timestamp() if record.expires_at else np.inf for record in self.records)
        return np.fromiter(values, np.float64, len(self))

    @cached_property
    def unreadable(self) -> NDArray[np.bool_]:
        """Which items hold no text that could be recalled."""
        return np.fromiter((not record.content for record in self.records), np.bool_, len(self))

    @cached_property
    def vectored(self) -> NDArray[np.bool_]:
        """Which memories have a usable vector."""
        found = np.zeros(len(self), np.bool_)
        found[self.owner] = True
        return found

    @cached_property
    def learned(self) -> dict[Turn, list[MemoryRecord]]:
        """Which memories rest on which turn: by its verbatim quote and the time at which it was said."""
        found: dict[Turn, list[MemoryRecord]] = {}
        for record in self.records:
            for each in record.evidence:
                if each.quote and each.said_at:
                    found.setdefault((each.quote, each.said_at), []).append(record)
        return found

    @cached_property
    def tombstones(self) -> list[Tombstone | None]:
        """The records of a book of tombstones as what they are, in their order; None for what is none."""
        return [read_entry(_as_item(record), Tombstone.from_item) for record in self.records]

    @cached_property
    def lexical(self) -> LexicalIndex:
        """The words of every memory, built at first use."""
        return LexicalIndex.build([record.content for record in self.records])

    @cached_property
    def columns(self) -> Columns:
        """What filters and orders of the whole scope look at, each column built at first use."""
        return Columns(self.records)

    @cached_property
    def nbytes(self) -> int:
        """Roughly what this index holds in memory."""
        texts = sum(len(record.content) for record in self.records)
        evidence = sum(len(record.evidence) for record in self.records)
        return self.matrix.nbytes + 3 * texts + _BYTES_PER_RECORD * len(self) + _BYTES_PER_EVIDENCE * evidence

    def cosine(self, vector: NDArray[np.float32]) -> NDArray[np.float64]:
        """Cosine of each memory with a unit vector of shape (dimensions,); NaN where it has no vector."""
        similarities: NDArray[np.float64] = self.cosines(vector[np.newaxis, :])[0]
        return similarities

    def cosines(self, vectors: NDArray[np.float32]) -> NDArray[np.float64]:
        """Cosines of unit vectors of shape (m, dimensions) with n memories, shape (m, n), NaN where unknown.

        A memory with several vectors counts by its nearest, as stores do.
        """
        if not len(self.owner):
            return np.full((len(vectors), len(self)), np.nan)
        # A product with one vector is twice as fast as one with a matrix of one row.
        products = (self.matrix @ vectors[0])[np.newaxis] if len(vectors) == 1 else vectors @ self.matrix.T
        np.clip(products, -1.0, 1.0, out=products)
        if len(self.owner) == len(self) and self._one_each:
            return products.astype(np.float64)
        similarities = np.full((len(vectors), len(self)), np.nan)
        starts = np.flatnonzero(np.diff(self.owner, prepend=-1))
        similarities[:, self.owner[starts]] = np.maximum.reduceat(products, starts, axis=1)
        return similarities

    @cached_property
    def _one_each(self) -> bool:
        return bool(np.array_equal(self.owner, np.arange(len(self))))


class IndexCache:
    """The indexes of one store, kept within the budget of the process, or another one."""

    _numbers = count()

    def __init__(self, adapter: StoreAdapter, *, budget: IndexBudget[Any] | None = None) -> None:
        self._adapter = adapter
        self._budget: IndexBudget[Any] = process_budget() if budget is None else budget
        self._owner = next(self._numbers)
        # What waits for the same index to be built waits for one of these, which live as long as that takes.
        self._building: WeakValueDictionary[Scope, ForkSafeLock] = WeakValueDictionary()
        self._lock = ForkSafeLock()
        self._counted: tuple[Hashable | None, dict[Namespace, int]] | None = None
        weakref.finalize(self, self._budget.end, self._owner)

    @property
    def memory(self) -> IndexMemory:
        """What the cached indexes hold in memory, roughly, and those of the whole process."""
        return self._budget.memory_of(self._owner)

    @property
    def nbytes(self) -> int:
        """Roughly what all cached indexes of this store hold in memory."""
        return self.memory.own

    def get(self, namespace: Namespace, *, subtree: bool = False) -> ScopeIndex:
        """The index of this scope as the store is now."""
        scope = Scope(namespace, subtree)
        with self._lock:
            turn = self._building.setdefault(scope, ForkSafeLock())
        with turn:
            token = self._adapter.token(namespace, subtree=subtree)
            old: ScopeIndex | None = self._budget.find(self._owner, scope)
            if old is not None and token is not None and old.token == token:
                return old
            if old is not None and token is not None:
                index = self._refresh(old, token)
            else:
                index = self._build(namespace, subtree, token)
            self._budget.keep(self._owner, scope, index)
        return index

    def counts(self, prefix: Namespace = ()) -> dict[Namespace, int]:
        """Memories of each namespace that is or lies below the prefix, without our own entries.

        Those of the whole store are counted again only where something was written since.
        """
        if prefix:
            return _without_entries(self._adapter.counts(prefix))
        token = self._adapter.token((), subtree=True)
        before = self._counted
        if before is None or token is None or before[0] != token:
            before = self._counted = (token, _without_entries(self._adapter.counts(())))
        return dict(before[1])

    def drop(self) -> None:
        """Forget every cached index."""
        self._budget.drop(self._owner)

    def _build(self, namespace: Namespace, subtree: bool, token: Hashable | None) -> ScopeIndex:
        with without_collecting():
            snapshot = self._adapter.load(namespace, subtree=subtree)
            index = _indexed(namespace, subtree, token, snapshot)
        del snapshot
        if len(index) >= _MANY:
            give_back()
        return index

    def _refresh(self, old: ScopeIndex, token: Hashable) -> ScopeIndex:
        stale = self._stale(old)
        if not stale:
            return _renewed(old, token)
        if 2 * len(stale) > len(old):
            return self._build(old.namespace, old.subtree, token)
        snapshot = self._adapter.load(old.namespace, subtree=old.subtree, keys=sorted(stale))
        return _merged(old, stale, _indexed(old.namespace, old.subtree, token, snapshot))

    def _stale(self, old: ScopeIndex) -> set[Ref]:
        """Where the store may differ from the index."""
        if isinstance(self._adapter, TracksChanges):
            changed = self._adapter.changed(old.namespace, old.token, subtree=old.subtree, known=old)
            if changed is not None:
                return set(changed)
        present = self._adapter.markers(old.namespace, subtree=old.subtree)
        known = dict(zip(old.position, old.markers, strict=True))
        fresh = {ref for ref, marker in present.items() if known.get(ref, _NONE) != marker}
        return fresh | {ref for ref in known if ref not in present}


def _without_entries(counts: Mapping[Namespace, int]) -> dict[Namespace, int]:
    return {namespace: count for namespace, count in counts.items() if not is_reserved(namespace)}


def index_of(namespace: Namespace, subtree: bool, snapshot: Snapshot) -> ScopeIndex:
    """An index of this snapshot, outside of any cache."""
    return _indexed(namespace, subtree, None, snapshot)


_NONE = object()

_MERGED_COLUMNS = frozenset({"changed", "expires", "importance", "private", "unreadable"})


def _indexed(namespace: Namespace, subtree: bool, token: Hashable | None, snapshot: Snapshot) -> ScopeIndex:
    matrix, owner = snapshot.matrix, snapshot.owner
    norms = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
    usable = np.isfinite(norms) & (norms > 0)
    if not usable.all():
        matrix, owner, norms = matrix[usable], owner[usable], norms[usable]
    if len(norms) and not np.allclose(norms, 1.0, atol=1e-4):
        matrix = matrix / norms[:, np.newaxis]
    misfits = {snapshot.items[at].ref: count for at, count in snapshot.misfits.items()}
    items = snapshot.items.drained() if isinstance(snapshot.items, Items) else snapshot.items
    records = [MemoryRecord.from_item(item) for item in items]
    return ScopeIndex(namespace, subtree, token, records, snapshot.markers, matrix, owner, misfits)


def _renewed(old: ScopeIndex, token: Hashable) -> ScopeIndex:
    renewed = ScopeIndex(
        old.namespace, old.subtree, token, old.records, old.markers, old.matrix, old.owner, old.misfits
    )
    # The cached columns describe the same records.
    renewed.__dict__.update({name: value for name, value in old.__dict__.items() if name not in renewed.__dict__})
    return renewed


def _merged(old: ScopeIndex, stale: set[Ref], fresh: ScopeIndex) -> ScopeIndex:
    kept = np.fromiter((ref not in stale for ref in old.position), np.bool_, len(old))
    renumbered = np.cumsum(kept) - 1
    rows = kept[old.owner]
    records = [*compress(old.records, kept), *fresh.records]
    owner = np.concatenate([renumbered[old.owner[rows]], fresh.owner + (len(records) - len(fresh))])
    merged = ScopeIndex(
        old.namespace,
        old.subtree,
        fresh.token,
        records,
        [*compress(old.markers, kept), *fresh.markers],
        _joined(old.matrix, rows, fresh.matrix),
        owner,
        {ref: count for ref, count in old.misfits.items() if ref not in stale} | dict(fresh.misfits),
    )
    # What was made of the old records need not be made again.
    for name in _MERGED_COLUMNS & old.__dict__.keys():
        merged.__dict__[name] = np.concatenate([getattr(old, name)[kept], getattr(fresh, name)])
    if "lexical" in old.__dict__:
        merged.__dict__["lexical"] = old.lexical.changed(kept, [record.content for record in fresh.records])
    return merged


def _joined(old: NDArray[np.float32], rows: NDArray[np.bool_], fresh: NDArray[np.float32]) -> NDArray[np.float32]:
    """The kept rows and the fresh ones, in one copy."""
    count = int(rows.sum())
    if not count or not len(fresh):
        return old[rows] if count else fresh
    joined = np.empty((count + len(fresh), fresh.shape[1]), np.float32)
    # Few rows go as a rule, so what stays between them is copied as a whole.
    gone = [-1, *np.flatnonzero(~rows).tolist(), len(old)]
    end = 0
    for before, after in pairwise(gone):
        start, end = end, end + after - before - 1
        joined[start:end] = old[before + 1 : after]
    joined[count:] = fresh
    return joined


def _as_item(record: MemoryRecord) -> StoredItem:
    return StoredItem(record.namespace, record.key, record.extra, record.created_at, record.created_at)
