"""The adapter of any other `BaseStore`, by the official API alone."""

from __future__ import annotations

import math
from asyncio import InvalidStateError
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import orjson
from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore, GetOp, Item, Op, PutOp, SearchItem, SearchOp

from ..core.locks import lock_of
from ..core.namespaces import Namespace, has_text_labels, is_reserved, is_within
from ..core.text import storable
from ..core.times import read_time
from ..errors import MnemoscopeError, StoreError
from .base import CONTENT_FIELD, Abilities, Guard, Hit, Ref, Snapshot, StoredItem, Write
from .prefixes import to_prefix
from .values import PreparedWrite, check_guards, copy_json, latest_of, prepare

__all__ = ["GenericAdapter"]


EVERYTHING = 1_000_000
"""The limit of a search that wants all; asked again with ten times more where it was reached.

Never by pages: most stores repeat or lose rows from one page to the next.
"""

WIDEST_SEARCH = 100_000
"""The most that a search by meaning asks for, where fewer than wanted came back."""

READ_ATTEMPTS = 100
"""How often a read is tried where a writer in another thread gets in its way."""

_EPOCH = datetime.fromtimestamp(0, UTC)

_DEEDS: tuple[tuple[Callable[[Op], bool], str], ...] = (
    (lambda op: isinstance(op, PutOp), "write or delete items"),
    (lambda op: isinstance(op, SearchOp) and op.query is not None, "search by meaning"),
    (lambda op: isinstance(op, SearchOp), "list the items of a namespace"),
    (lambda _op: True, "read items by their keys"),
)
"""What operations are for, as people read it; the first that fits counts."""

_LIMITS = (
    "Vectors cannot be read, so the ranking is as good as the store's own search.",
    "The search may return fewer than asked for, as stores with an approximate index do.",
    "Changes by others are seen only by reading everything again.",
    "A write that fails half-way may be written in part, and another process can come between its check and it.",
    "A write that takes vectors away deletes the item before it puts it, so a reader may miss it for a moment.",
    "The time of creation cannot be set, and many stores reset it whenever an item is changed.",
    "A write of an item with a time-to-live starts it anew.",
    "Some stores keep the vectors of deleted items, and list a namespace where something was only looked for.",
)


class GenericAdapter:
    """Any `BaseStore`. Asynchronous stores work from any thread but that of their own event loop."""

    abilities = Abilities(
        reads_vectors=False, sees_changes=False, atomic=False, guards_processes=False, limits=_LIMITS, holds="objects"
    )

    def __init__(self, store: BaseStore) -> None:
        self.store = store
        self.name = type(store).__name__
        self._lock = lock_of(store)

    @property
    def embeddings(self) -> Embeddings | None:
        """The store's embedder, or None where it does not show it."""
        found = getattr(self.store, "embeddings", None)
        return found if isinstance(found, Embeddings) else None

    @property
    def dimensions(self) -> int | None:
        """Dimensions of the store's vectors, or None where it does not say."""
        dimensions = (getattr(self.store, "index_config", None) or {}).get("dims")
        return dimensions if isinstance(dimensions, int) else None

    def counts(self, prefix: Namespace = ()) -> dict[Namespace, int]:
        """Items of every namespace within the prefix; the store has no count, so all are read."""
        return dict(sorted(Counter(tuple(item.namespace) for item in self._within(prefix, subtree=True)).items()))

    def get(self, refs: Sequence[Ref]) -> list[StoredItem | None]:
        """The items at these places, by one batch."""
        return [_stored(item) if item else None for item in self._got(refs)]

    def load(self, namespace: Namespace, *, subtree: bool = False, keys: Sequence[Ref] | None = None) -> Snapshot:
        """The items of a namespace, or those at `keys`, without vectors."""
        found = self._within(namespace, subtree=subtree) if keys is None else self._got(sorted(set(keys)))
        items = sorted((_stored(item) for item in found if item), key=lambda item: item.ref)
        empty = np.empty((0, self.dimensions or 0), dtype=np.float32)
        return Snapshot(items, [_marker(item) for item in items], empty, np.empty(0, dtype=np.int64), [])

    def latest(
        self,
        namespace: Namespace,
        *,
        subtree: bool = False,
        limit: int | None = None,
        before: str | None = None,
        where: Mapping[str, str] | None = None,
    ) -> list[StoredItem]:
        """Items by key, greatest first; the store sorts by nothing, so all are read."""
        items = list(self._within(namespace, subtree=subtree))
        return list(map(_stored, latest_of(items, limit=limit, before=before, where=where)))

    def markers(self, namespace: Namespace, *, subtree: bool = False) -> dict[Ref, Hashable]:
        """The marker of every item; the store shows no versions, so all are read."""
        snapshot = self.load(namespace, subtree=subtree)
        return {item.ref: marker for item, marker in zip(snapshot.items, snapshot.markers, strict=True)}

    def token(self, namespace: Namespace, *, subtree: bool = False) -> Hashable | None:  # noqa: ARG002 - it cannot tell
        """None: the store cannot tell."""
        return None

    def search(self, namespace: Namespace, query: str, limit: int, *, subtree: bool = False) -> list[Hit]:
        """The store's own nearest items.

        The search is widened, never paged, until `limit` are of the namespace or a wider one brings no more.
        """
        return self.search_each(namespace, [query], limit, subtree=subtree)[0]

    def search_each(
        self, namespace: Namespace, queries: Sequence[str], limit: int, *, subtree: bool = False
    ) -> list[list[Hit]]:
        """`search` for several queries, in one batch of the store and one more for each widening.

        Before it is widened all are counted, so that a small namespace is searched once.
        """
        hits: list[list[Hit]] = [[] for _ in queries]
        before: dict[int, int] = {}
        total: int | None = None
        open_queries, asked = list(range(len(queries))), max(limit, 1)
        while open_queries:
            raw = self._searched(namespace, asked, [queries[at] for at in open_queries])
            for at, found in zip(open_queries, raw, strict=True):
                items = [item for item in found if _is_in(item, namespace, subtree=subtree)]
                hits[at] = _hits(items)[: max(limit, 0)]
                if len(items) < limit and total is None:
                    total = sum(1 for _ in self._within(namespace, subtree=subtree))
                is_all = len(items) >= min(limit, total or 0) or len(found) == before.get(at)
                before[at] = -1 if is_all or asked >= WIDEST_SEARCH else len(found)
            open_queries, asked = [at for at in open_queries if before[at] >= 0], asked * 10
        return hits

    def write(self, writes: Sequence[Write], guards: Sequence[Guard] = ()) -> None:
        """Check every guard, then do all writes: one batch, or a few where the store needs it.

        Vectors that would go stale are removed by a delete first, and equal texts are put in separate
        batches: `InMemoryStore`, alone or in a server, refuses a batch that holds one text twice.
        """
        prepared = prepare(writes, None, embeds=True, holds="objects")
        with self._lock:
            refs = [each.ref for each in prepared]
            guarded = [(guard.namespace, guard.key) for guard in guards]
            places = list(dict.fromkeys([*guarded, *refs]))
            found = {ref: item.value for ref, item in zip(places, self._got(places), strict=True) if item is not None}
            check_guards(guards, found)
            deletes = [
                PutOp(each.namespace, each.key, None) for each in prepared if _must_go_first(each, found.get(each.ref))
            ]
            self._run(deletes)
            for puts in _rounds([each for each in prepared if each.value is not None]):
                self._run([self._put(each) for each in puts])

    def close(self) -> None:
        """Nothing to release."""

    def _put(self, write: PreparedWrite) -> PutOp:
        fields = list(write.vectors) if isinstance(write.vectors, dict) else []
        settings = getattr(self.store, "ttl_config", None) or {}
        # What put() gives a new item; our own books must not expire.
        minutes = None if is_reserved(write.namespace) else settings.get("default_ttl")
        return PutOp(write.namespace, write.key, write.value, fields or False, minutes)

    def _got(self, refs: Sequence[Ref]) -> list[Item | None]:
        # Stores refuse a whole batch for one label that nothing can be under.
        asked = [at for at, (namespace, key) in enumerate(refs) if to_prefix(namespace) and not storable(key)[1]]
        found: list[Item | None] = [None] * len(refs)
        for at, item in zip(asked, self._run([GetOp(*refs[at], refresh_ttl=False) for at in asked]), strict=True):
            found[at] = item
        return found

    def _within(self, namespace: Namespace, *, subtree: bool) -> Iterator[SearchItem]:
        limit = EVERYTHING
        while len(found := self._searched(namespace, limit, [None])[0]) >= limit:
            limit *= 10
        return (item for item in found if _is_in(item, namespace, subtree=subtree))

    def _searched(self, namespace: Namespace, limit: int, queries: Sequence[str | None]) -> list[list[SearchItem]]:
        if namespace and not to_prefix(namespace):
            return [[] for _ in queries]
        return self._run([SearchOp(namespace, None, limit, 0, query, refresh_ttl=False) for query in queries])

    def _run(self, operations: Sequence[Op]) -> list[Any]:
        if not operations:
            return []
        try:
            return self._batch(operations)
        except MnemoscopeError:
            raise
        except NotImplementedError as error:
            raise StoreError(_cannot(self.name, operations, str(error))) from error
        except InvalidStateError as error:
            raise StoreError(
                f"The store {self.name} was called on its own event loop. Call the engine's asynchronous methods, such "
                f"as arecall(), there: {error}"
            ) from error
        # The store may be anybody's, and so may its errors be.
        except Exception as error:
            raise StoreError(f"The store {self.name} failed: {type(error).__name__}: {error}") from error

    def _batch(self, operations: Sequence[Op]) -> list[Any]:
        attempts = 1 if any(isinstance(each, PutOp) for each in operations) else READ_ATTEMPTS
        for _ in range(attempts - 1):
            try:
                return self.store.batch(operations)
            except RuntimeError as error:
                # `InMemoryStore` walks over dictionaries that another thread may be writing to.
                if "changed size during iteration" not in str(error):
                    raise
        return self.store.batch(operations)


def _cannot(name: str, operations: Sequence[Op], said: str) -> str:
    """What a store cannot do, by the operations that it has not implemented."""
    what = next(words for is_one, words in _DEEDS if any(map(is_one, operations)))
    told = f" ({said})" if said else ""
    return (
        f"The store {name} cannot {what}: its batch() is not implemented for it{told}. Mnemoscope needs batch(), from "
        "any thread; an abatch() alone is not enough."
    )


def _must_go_first(write: PreparedWrite, existing: Any) -> bool:
    """Whether the item is to be deleted, or may hold vectors that a put would leave behind."""
    if write.value is None:
        return True
    if existing is None or not isinstance(write.vectors, dict):
        return False
    if not isinstance(existing, dict):
        return True
    if not write.vectors:
        # Of our own books, only what has a text was ever embedded.
        return CONTENT_FIELD in existing or not is_reserved(write.namespace)
    return not all(isinstance(existing.get(name), str) for name in write.vectors)


def _rounds(writes: Sequence[PreparedWrite]) -> list[list[PreparedWrite]]:
    rounds: list[tuple[set[str], list[PreparedWrite]]] = []
    for write in writes:
        fields = write.vectors if isinstance(write.vectors, dict) else {}
        texts = {str((write.value or {}).get(name)) for name in fields}
        for taken, members in rounds:
            if not taken & texts:
                taken |= texts
                members.append(write)
                break
        else:
            rounds.append((texts, [write]))
    return [members for _, members in rounds]


def _is_in(item: SearchItem, namespace: Namespace, *, subtree: bool) -> bool:
    found = tuple(item.namespace)
    is_here = has_text_labels(found) and is_within(found, namespace, subtree=subtree)
    return is_here and (bool(namespace) or not is_reserved(found))


def _stored(item: Item) -> StoredItem:
    return StoredItem(
        namespace=tuple(item.namespace),
        key=item.key,
        value=copy_json(item.value),
        created_at=read_time(item.created_at) or _EPOCH,
        updated_at=read_time(item.updated_at) or _EPOCH,
    )


def _marker(item: StoredItem) -> Hashable:
    try:
        value = orjson.dumps(item.value, default=repr, option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError):
        value = repr(item.value).encode(errors="replace")
    return hash((item.created_at, item.updated_at, value))


def _hits(items: Sequence[SearchItem]) -> list[Hit]:
    """The items as hits, those whose similarity is not a number after the others."""
    hits = [
        Hit(_stored(item), item.score if item.score is not None and math.isfinite(item.score) else None)
        for item in items
    ]
    return sorted(hits, key=lambda hit: hit.similarity is None)
