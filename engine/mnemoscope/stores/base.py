"""What the engine asks of a store, beyond the official `BaseStore` API.

An adapter wraps one `BaseStore`. The generic one lives on the official API alone; the others read vectors,
count, and write atomically where their store allows it. `Abilities` says which of it is so.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore
from numpy.typing import NDArray

from ..core.frozen import KeepsTuples
from ..core.namespaces import Namespace

__all__ = [
    "CONTENT_FIELD",
    "EMBED_AGAIN",
    "KEEP",
    "NULL",
    "Abilities",
    "Guard",
    "Hit",
    "Keep",
    "Known",
    "Null",
    "Ref",
    "Snapshot",
    "StoreAdapter",
    "StoredItem",
    "TracksChanges",
    "Vectors",
    "Write",
]


Ref: TypeAlias = tuple[Namespace, str]
"""Where an item is: its namespace and key."""

Vectors: TypeAlias = Mapping[str, NDArray[np.float32]]
"""Vectors of one item by the field they were made from; empty where it has none."""

CONTENT_FIELD = "content"
"""The field whose text is embedded."""

EMBED_AGAIN: Vectors = {CONTENT_FIELD: np.zeros(0, np.float32)}
"""What to write where we have no vector: a store whose vectors cannot be read embeds the text by itself."""


class Keep(Enum):
    """The type of `KEEP`."""

    KEEP = "keep"


KEEP = Keep.KEEP
"""Leave the vectors of an item as they are: for changes that do not touch its text."""


class Null(Enum):
    """The type of `NULL`."""

    NULL = "null"


NULL = Null.NULL
"""In a guard: an item is there, and a stranger stored JSON null as its value."""


@dataclass(frozen=True, slots=True)
class StoredItem(KeepsTuples):
    """One item as it is in the store. Times are aware UTC. `value` is the caller's own copy.

    `text_field` is the field that holds the text of items of others there, where the connection names one.
    """

    namespace: Namespace
    key: str
    value: Any
    created_at: datetime
    updated_at: datetime
    text_field: str | None = None

    @property
    def ref(self) -> Ref:
        """Where the item is."""
        return self.namespace, self.key

    @property
    def guarded(self) -> Any:
        """Its value as a guard names it, to tell null from nothing."""
        return NULL if self.value is None else self.value


@dataclass(frozen=True)
class Write:
    """Put an item (`value` is an object) or delete it (`value` is None), vectors included.

    `vectors` replaces all vectors of the item; `KEEP` leaves them; an empty mapping leaves it without any.
    A store that embeds by itself takes the field names and embeds `value[field]`. `created_at` is the
    item's own creation time where it must survive (an undo); None keeps the present one, or is now. With `as_stored`
    the value comes out of a store or an export, and may hold whatever this store can, be it beyond what is taken anew.
    """

    namespace: Namespace
    key: str
    value: Mapping[str, Any] | None
    vectors: Vectors | Keep = field(default_factory=dict)
    created_at: datetime | None = None
    as_stored: bool = False

    @property
    def ref(self) -> Ref:
        """Where the item is."""
        return self.namespace, self.key


@dataclass(frozen=True)
class Guard:
    """A condition of a write: the item's value must still equal `value`. None: it must not exist; `NULL`: it is null.

    Writes under one `shared` guard need not wait for each other; whoever changes that item waits for them all.
    """

    namespace: Namespace
    key: str
    value: Mapping[str, Any] | Null | None
    shared: bool = False


@dataclass(frozen=True)
class Hit:
    """One result of the store's own search; `similarity` is None for an item without a vector."""

    item: StoredItem
    similarity: float | None


@dataclass(frozen=True)
class Snapshot:
    """Items of a namespace (or subtree) with their vectors, read at one moment.

    `markers[i]` differs whenever item i was written in between (value or vectors). `matrix` is float32 of
    shape (vectors, dimensions), rows as stored; `owner[j]` is the position in `items` that row j belongs to,
    ascending, and `fields[j]` the field it was made from. Vectors of another dimension than the index's are
    left out and counted in `misfits` by position.
    """

    items: Sequence[StoredItem]
    markers: list[Hashable]
    matrix: NDArray[np.float32]
    owner: NDArray[np.int64]
    fields: list[str]
    misfits: Mapping[int, int] = field(default_factory=dict)

    def vectors_by_item(self) -> list[Vectors]:
        """The vectors of each item, by field, in the order of `items`."""
        found: list[dict[str, NDArray[np.float32]]] = [{} for _ in self.items]
        for at, name, row in zip(self.owner.tolist(), self.fields, self.matrix, strict=True):
            found[at][name] = row
        return list(found)


@dataclass(frozen=True)
class Abilities:
    """What an adapter can do; `limits` says the rest in sentences for people, `warnings` what is wrong and its cure.

    `reads_vectors`: `load` gives vectors, so ranking is exact. `sees_changes`: `token` tells of writes by
    any process. `atomic`: a batch is written whole or not at all, even when the process is killed.
    `guards_processes`: guards hold against other processes, not only against this one. `holds` is what values can be
    made of: objects of Python, JSON as Python writes it (numbers of any size, NaN, lone surrogates), or jsonb.
    """

    reads_vectors: bool
    sees_changes: bool
    atomic: bool
    guards_processes: bool
    limits: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    holds: Literal["objects", "json", "jsonb"] = "json"


class StoreAdapter(Protocol):
    """One store as the engine uses it. Every method raises `StoreError` where the store fails.

    Reading methods change nothing: no write, no counter, no refreshed time-to-live.
    """

    name: str
    store: BaseStore

    @property
    def abilities(self) -> Abilities:
        """What can be done here, as far as it is known by now."""

    @property
    def embeddings(self) -> Embeddings | None:
        """The store's embedder, or None where it does not show it."""

    @property
    def dimensions(self) -> int | None:
        """Dimensions of the store's vectors, or None where it does not say."""

    def counts(self, prefix: Namespace = ()) -> dict[Namespace, int]:
        """Items of every namespace that is or lies below the prefix, empty ones left out, sorted."""

    def get(self, refs: Sequence[Ref]) -> list[StoredItem | None]:
        """The items at these places, in order, None where there is none. One round trip where it can be."""

    def load(self, namespace: Namespace, *, subtree: bool = False, keys: Sequence[Ref] | None = None) -> Snapshot:
        """All items of a namespace, or those at `keys` alone, wherever they are; by namespace and key, with vectors
        where read.
        """

    def latest(
        self,
        namespace: Namespace,
        *,
        subtree: bool = False,
        limit: int | None = None,
        before: str | None = None,
        where: Mapping[str, str] | None = None,
    ) -> list[StoredItem]:
        """Items by key, greatest first: at most `limit`, only keys below `before`, only those whose value
        has the texts of `where` at its top level. For books whose keys begin with a time.
        """

    def markers(self, namespace: Namespace, *, subtree: bool = False) -> dict[Ref, Hashable]:
        """The marker of every item, as `load` would give it, without the values and vectors."""

    def token(self, namespace: Namespace, *, subtree: bool = False) -> Hashable | None:
        """Equal to an earlier one only if nothing there changed since; None where the store cannot tell."""

    def search(self, namespace: Namespace, query: str, limit: int, *, subtree: bool = False) -> list[Hit]:
        """The store's own nearest items, best first: for stores whose vectors cannot be read.

        At most `limit`; fewer only if there are no more (an adapter whose store may return short rows
        without reason says so in `abilities.limits`).
        """

    def search_each(
        self, namespace: Namespace, queries: Sequence[str], limit: int, *, subtree: bool = False
    ) -> list[list[Hit]]:
        """`search` for several queries at once, in their order; one round trip where the store batches."""

    def write(self, writes: Sequence[Write], guards: Sequence[Guard] = ()) -> None:
        """Check every guard, then do all writes, in one batch. The last write to a place wins.

        Raises:
            ConflictError: a guard does not hold; nothing was written.
            InputError: a value cannot be stored; nothing was written.
        """

    def close(self) -> None:
        """Release what the adapter itself opened."""


class Known(Protocol):
    """What is known of a scope already: where each item stands in it, and its marker there."""

    @property
    def position(self) -> Mapping[Ref, int]: ...
    @property
    def markers(self) -> Sequence[Hashable]: ...


@runtime_checkable
class TracksChanges(Protocol):
    """An adapter that can often tell what changed since a token without giving every marker."""

    def changed(
        self, namespace: Namespace, since: Hashable, *, subtree: bool = False, known: Known | None = None
    ) -> list[Ref] | None:
        """Every place of the scope that changed since it gave the token `since`, perhaps others too.

        `known` is what the scope held then. None where it cannot tell; `markers` do then.
        """
