"""The adapter of `InMemoryStore`: for tests and trials."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from operator import is_
from typing import Any, TypeVar

import numpy as np
from langchain_core.embeddings import Embeddings
from langgraph.store.base import Item
from langgraph.store.memory import InMemoryStore

from ..core.locks import lock_of
from ..core.namespaces import Namespace, has_text_labels, is_reserved, is_within
from ..core.times import Clock, read_time, utc_now
from ..errors import StoreError
from .base import Abilities, Guard, Hit, Known, Ref, Snapshot, StoredItem, Write
from .snapshots import VectorRow, embed_queries, embed_query, nearest, snapshot_of
from .values import PreparedWrite, check_guards, copy_json, latest_of, prepare

__all__ = ["MemoryAdapter"]


Result = TypeVar("Result")

READ_ATTEMPTS = 100
"""How often a reading starts anew because somebody wrote to the store's dictionaries meanwhile."""

_EPOCH = datetime.fromtimestamp(0, UTC)


class _Seen:
    """The very items that were there: equal only to the same objects in the same order.

    It holds them, so that none of their identities can pass to a newer item.
    """

    __slots__ = ("items",)

    def __init__(self, items: tuple[Item, ...]) -> None:
        self.items = items

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Seen) or len(self.items) != len(other.items):
            return False
        return all(map(is_, self.items, other.items))

    def __hash__(self) -> int:
        return hash((len(self.items), id(self.items[0]) if self.items else 0))


class MemoryAdapter:
    """An `InMemoryStore`, read and written in its own dictionaries."""

    name = "memory"
    _abilities = Abilities(
        holds="objects",
        reads_vectors=True,
        sees_changes=True,
        atomic=True,
        guards_processes=True,
        limits=(
            "The store lives in this process alone and is gone when it ends.",
            "The store has no lock: its own put() in another thread can come between a write's check and the write.",
            "A value that other code changes in place, on the object it got from the store, is not seen as a change.",
            "The store's own put() resets the creation time of an item.",
            "The store goes on listing a namespace after its last item is deleted.",
        ),
    )

    def __init__(self, store: InMemoryStore, *, clock: Clock = utc_now) -> None:
        self.store = store
        self._clock = clock
        self._lock = lock_of(store)
        self._unnamable = 0

    @property
    def abilities(self) -> Abilities:
        """What can be done here, with a warning where the last look met namespaces whose labels are no texts."""
        if not self._unnamable:
            return self._abilities
        number = "1 namespace has" if self._unnamable == 1 else f"{self._unnamable} namespaces have"
        warning = (
            f"{number} labels that are not text, such as None or 7. Other stores refuse these, and their items are not "
            "shown here. Put them again under labels that are text."
        )
        return replace(self._abilities, warnings=(warning,))

    @property
    def embeddings(self) -> Embeddings | None:
        """The store's embedder, or None where it was built without an index."""
        return self.store.embeddings

    @property
    def dimensions(self) -> int | None:
        """Dimensions of the store's vectors, or None where it was built without an index."""
        return self.store.index_config["dims"] if self.store.index_config else None

    def counts(self, prefix: Namespace = ()) -> dict[Namespace, int]:
        """Items of every namespace within the prefix."""
        return self._read(lambda: {space: len(part) for space, part in self._spaces(prefix, subtree=True) if part})

    def get(self, refs: Sequence[Ref]) -> list[StoredItem | None]:
        """The items at these places."""
        found = self._read(lambda: [self._item(ref) for ref in refs])
        return [_stored(item) if item else None for item in found]

    def load(self, namespace: Namespace, *, subtree: bool = False, keys: Sequence[Ref] | None = None) -> Snapshot:
        """The items of a namespace, or those at `keys`, with their vectors."""

        def read() -> list[tuple[Item, dict[str, Any]]]:
            if keys is None:
                items = self._items(namespace, subtree=subtree)
            else:
                items = [item for item in map(self._item, sorted(set(keys))) if item]
            return [(item, dict(self._vectors((item.namespace, item.key)))) for item in items]

        pairs = sorted(self._read(read), key=lambda pair: (pair[0].namespace, pair[0].key))
        # One by one, since as bytes all together they would take the memory of the matrix once more.
        rows = (
            VectorRow(position, name, _bytes(vectors[name]))
            for position, (_, vectors) in enumerate(pairs)
            for name in sorted(vectors)
        )
        markers: list[Hashable] = [_Seen((item,)) for item, _ in pairs]
        return snapshot_of([_stored(item) for item, _ in pairs], markers, rows, dimensions=self.dimensions)

    def latest(
        self,
        namespace: Namespace,
        *,
        subtree: bool = False,
        limit: int | None = None,
        before: str | None = None,
        where: Mapping[str, str] | None = None,
    ) -> list[StoredItem]:
        """Items by key, greatest first."""
        items = self._read(lambda: self._items(namespace, subtree=subtree))
        return list(map(_stored, latest_of(items, limit=limit, before=before, where=where)))

    def markers(self, namespace: Namespace, *, subtree: bool = False) -> dict[Ref, Hashable]:
        """The marker of every item."""
        items = self._read(lambda: self._items(namespace, subtree=subtree))
        found: dict[Ref, Hashable] = {(item.namespace, item.key): _Seen((item,)) for item in items}
        return dict(sorted(found.items()))

    def token(self, namespace: Namespace, *, subtree: bool = False) -> Hashable | None:
        """Equal to an earlier one if the very same items are there."""
        if not subtree:
            return _Seen(self._read(lambda: tuple(self.store._data.get(namespace, {}).values())))
        return _Seen(tuple(self._read(lambda: self._items(namespace, subtree=subtree))))

    def changed(
        self,
        namespace: Namespace,
        since: Hashable,
        *,
        subtree: bool = False,
        known: Known | None = None,  # noqa: ARG002 - the token itself holds what was there
    ) -> list[Ref] | None:
        """The places of the items that came or went since."""
        if not isinstance(since, _Seen):
            return None
        before = {id(item): item for item in since.items}
        now = {id(item): item for item in self._read(lambda: self._items(namespace, subtree=subtree))}
        moved = [*(now[each] for each in now.keys() - before.keys()), *(before[each] for each in before.keys() - now)]
        return sorted({(item.namespace, item.key) for item in moved})

    def search(self, namespace: Namespace, query: str, limit: int, *, subtree: bool = False) -> list[Hit]:
        """The nearest items, ranked exactly."""
        vector = embed_query(self.embeddings, query, self.dimensions)
        return nearest(self.load(namespace, subtree=subtree), vector, limit)

    def search_each(
        self, namespace: Namespace, queries: Sequence[str], limit: int, *, subtree: bool = False
    ) -> list[list[Hit]]:
        """The nearest items of each query, from one reading and one batch of embeddings."""
        if not queries:
            return []
        vectors = embed_queries(self.embeddings, queries, self.dimensions)
        loaded = self.load(namespace, subtree=subtree)
        return [nearest(loaded, vector, limit) for vector in vectors]

    def write(self, writes: Sequence[Write], guards: Sequence[Guard] = ()) -> None:
        """Check every guard, then do all writes; whatever interrupts them, all are undone."""
        prepared = prepare(writes, self.dimensions, holds="objects")
        with self._lock:
            stored = {guard_ref: self._item(guard_ref) for guard_ref in {(g.namespace, g.key) for g in guards}}
            check_guards(guards, {ref: item.value for ref, item in stored.items() if item})
            before = [(each.ref, self._item(each.ref), dict(self._vectors(each.ref))) for each in prepared]
            try:
                for each in prepared:
                    self._apply(each)
            except BaseException:
                for ref, item, vectors in before:
                    self._put(ref, item, vectors)
                raise

    def close(self) -> None:
        """Nothing to release."""

    def _apply(self, write: PreparedWrite) -> None:
        existing = self._item(write.ref)
        if write.value is None:
            self._put(write.ref, None, {})
            return
        now = self._clock()
        item = Item(
            value=write.value,
            key=write.key,
            namespace=write.namespace,
            created_at=write.write.created_at or (existing.created_at if existing else now),
            updated_at=now,
        )
        kept = self._vectors(write.ref) if existing else {}
        self._put(write.ref, item, write.vectors if isinstance(write.vectors, dict) else kept)

    def _put(self, ref: Ref, item: Item | None, vectors: dict[str, Any]) -> None:
        namespace, key = ref
        # Both dictionaries make what is missing when indexed, so they are indexed for putting alone.
        if vectors:
            self.store._vectors[namespace][key] = vectors
        elif namespace in self.store._vectors:
            self.store._vectors[namespace].pop(key, None)
        if item:
            self.store._data[namespace][key] = item
        elif namespace in self.store._data:
            self.store._data[namespace].pop(key, None)

    def _item(self, ref: Ref) -> Item | None:
        return self.store._data.get(ref[0], {}).get(ref[1])

    def _vectors(self, ref: Ref) -> dict[str, Any]:
        return self.store._vectors.get(ref[0], {}).get(ref[1], {})

    def _items(self, namespace: Namespace, *, subtree: bool) -> list[Item]:
        return [item for _, part in self._spaces(namespace, subtree=subtree) for item in list(part.values())]

    def _spaces(self, namespace: Namespace, *, subtree: bool) -> Iterator[tuple[Namespace, dict[str, Item]]]:
        if not subtree:
            yield namespace, self.store._data.get(namespace, {})
            return
        spaces = list(self.store._data)
        named = [space for space in spaces if has_text_labels(space)]
        self._unnamable = sum(not has_text_labels(space) and bool(self.store._data.get(space)) for space in spaces)
        for space in sorted(named):
            if is_within(space, namespace, subtree=True) and (namespace or not is_reserved(space)):
                yield space, self.store._data.get(space, {})

    def _read(self, reading: Callable[[], Result]) -> Result:
        for _ in range(READ_ATTEMPTS):
            try:
                with self._lock:
                    return reading()
            except RuntimeError as error:
                if "during iteration" not in str(error):
                    raise
        raise StoreError(f"The in-memory store was written to during each of {READ_ATTEMPTS} readings; try again.")


def _stored(item: Item) -> StoredItem:
    return StoredItem(
        namespace=item.namespace,
        key=item.key,
        value=copy_json(item.value),
        created_at=read_time(item.created_at) or _EPOCH,
        updated_at=read_time(item.updated_at) or _EPOCH,
    )


def _bytes(vector: Any) -> bytes | None:
    try:
        row = np.asarray(vector, dtype="<f4")
    except (TypeError, ValueError):
        return None
    return row.tobytes() if row.ndim == 1 else None
