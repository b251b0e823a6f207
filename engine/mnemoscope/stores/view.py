"""What one connection lets be seen and changed of a store: some of its namespaces, reading alone, each call noted."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore

from ..core.namespaces import Namespace, is_reserved, is_within, show_namespace
from ..core.payloads import is_ours, place_of_text
from ..errors import PermissionDeniedError
from .base import (
    CONTENT_FIELD,
    Abilities,
    Guard,
    Hit,
    Keep,
    Known,
    Ref,
    Snapshot,
    StoreAdapter,
    StoredItem,
    TracksChanges,
    Write,
)

__all__ = ["TextFields", "View", "Watcher"]


_PAGE = 500

Watcher: TypeAlias = Callable[[str, float, Exception | None], None]
"""Told of every call: its name, how many seconds it took, and how it failed."""


class View:
    """An adapter over another one.

    Args:
        adapter: the whole store.
        prefixes: the namespaces that are there, each with all below it; all where there is none.
        closed: why nothing may be written; empty where everything may.
        notices: what people should know of how the store was opened.
        limits: sentences that are added to the adapter's own limits.
        watcher: is told of every call.
        on_close: releases the store itself.
        text_fields: by prefix of the namespace, which field of an item of others is its text: "body", "data.text".
    """

    def __init__(
        self,
        adapter: StoreAdapter,
        *,
        prefixes: Sequence[Namespace] = (),
        closed: str = "",
        notices: Sequence[str] = (),
        limits: Sequence[str] = (),
        watcher: Watcher | None = None,
        on_close: Callable[[], None] | None = None,
        text_fields: Mapping[Namespace, str] | None = None,
    ) -> None:
        self.name = adapter.name
        self.store: BaseStore = adapter.store
        self.prefixes = _outermost(prefixes)
        self.closed = closed
        self.notices = tuple(notices)
        self._adapter = adapter
        self._limits = tuple(limits)
        self._watcher = watcher
        self._on_close = on_close
        self._fields = TextFields(text_fields or {})

    @property
    def abilities(self) -> Abilities:
        """What the adapter can do as far as it knows by now, with the limits of this connection."""
        abilities = self._adapter.abilities
        return replace(abilities, limits=(*abilities.limits, *self._limits))

    @property
    def embeddings(self) -> Embeddings | None:
        """The store's embedder."""
        return self._adapter.embeddings

    @property
    def dimensions(self) -> int | None:
        """Dimensions of the store's vectors."""
        return self._adapter.dimensions

    @property
    def whole(self) -> StoreAdapter:
        """The adapter of the whole store."""
        return self._adapter

    def counts(self, prefix: Namespace = ()) -> dict[Namespace, int]:
        """Items of every namespace within the prefix that is seen."""
        with self._watched("counts"):
            found: dict[Namespace, int] = {}
            for part, subtree in self._parts(prefix, subtree=True):
                counts = self._adapter.counts(part)
                found |= counts if subtree else {part: counts[part]} if part in counts else {}
            return found

    def get(self, refs: Sequence[Ref]) -> list[StoredItem | None]:
        """The items at these places; what is not seen is not there."""
        with self._watched("get"):
            seen = [ref for ref in refs if self._sees(ref[0])]
            found = dict(zip(seen, self._adapter.get(seen) if seen else [], strict=True))
            return [self._fields.told(item) if (item := found.get(ref)) else None for ref in refs]

    def load(self, namespace: Namespace, *, subtree: bool = False, keys: Sequence[Ref] | None = None) -> Snapshot:
        """The items of a namespace, or those at `keys`, with vectors where read."""
        with self._watched("load"):
            if keys is not None:
                seen = [ref for ref in keys if self._sees(ref[0])]
                return self._fields.snapshot(self._adapter.load(namespace, subtree=subtree, keys=seen))
            parts = self._parts(namespace, subtree=subtree)
            joined = _joined([self._adapter.load(part, subtree=below) for part, below in parts], self.dimensions)
            return self._fields.snapshot(joined)

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
        with self._watched("latest"):
            found = [
                self._fields.told(item)
                for part, below in self._parts(namespace, subtree=subtree)
                for item in self._adapter.latest(part, subtree=below, limit=limit, before=before, where=where)
            ]
            return sorted(found, key=lambda item: item.key, reverse=True)[:limit]

    def unseen_keys(self, namespace: Namespace, *, first: str, before: str) -> list[str]:
        """The keys from `first` to `before`, greatest first, of what lies within the namespace and is not shown.

        Nothing else of it is told.
        """
        if not self.prefixes:
            return []
        found: list[str] = []
        with self._watched("latest"):
            while True:
                page = self._adapter.latest(namespace, subtree=True, limit=_PAGE, before=before)
                found += [item.key for item in page if item.key >= first and not self._sees(item.namespace)]
                if len(page) < _PAGE or page[-1].key < first:
                    return found
                before = page[-1].key

    def markers(self, namespace: Namespace, *, subtree: bool = False) -> dict[Ref, Hashable]:
        """The marker of every item."""
        with self._watched("markers"):
            found: dict[Ref, Hashable] = {}
            for part, below in self._parts(namespace, subtree=subtree):
                found |= self._adapter.markers(part, subtree=below)
            return found

    def token(self, namespace: Namespace, *, subtree: bool = False) -> Hashable | None:
        """Equal to an earlier one only if nothing there changed since."""
        with self._watched("token"):
            parts = self._parts(namespace, subtree=subtree)
            tokens = tuple(self._adapter.token(part, subtree=below) for part, below in parts)
            return None if None in tokens else tokens

    def changed(
        self, namespace: Namespace, since: Hashable, *, subtree: bool = False, known: Known | None = None
    ) -> list[Ref] | None:
        """Every place that changed there since, or None where the store cannot tell."""
        parts = self._parts(namespace, subtree=subtree)
        if not isinstance(since, tuple) or len(since) != len(parts) or not isinstance(self._adapter, TracksChanges):
            return None
        with self._watched("changed"):
            found: list[Ref] = []
            for (part, below), token in zip(parts, since, strict=True):
                # What is known is of the whole scope, and no adapter can compare a part with it.
                changed = self._adapter.changed(part, token, subtree=below, known=known if len(parts) == 1 else None)
                if changed is None:
                    return None
                found += changed
            return found

    def search(self, namespace: Namespace, query: str, limit: int, *, subtree: bool = False) -> list[Hit]:
        """The store's own nearest items, best first."""
        return self.search_each(namespace, [query], limit, subtree=subtree)[0]

    def search_each(
        self, namespace: Namespace, queries: Sequence[str], limit: int, *, subtree: bool = False
    ) -> list[list[Hit]]:
        """`search` for several queries at once."""
        with self._watched("search"):
            parts = self._parts(namespace, subtree=subtree)
            found = [self._adapter.search_each(part, queries, limit, subtree=below) for part, below in parts]
            best = [_best([part[at] for part in found], limit) for at in range(len(queries))]
            return [[replace(hit, item=self._fields.told(hit.item)) for hit in hits] for hits in best]

    def write(self, writes: Sequence[Write], guards: Sequence[Guard] = ()) -> None:
        """Write, if the connection allows it.

        Raises:
            PermissionDeniedError: it is for reading alone, or shows other namespaces; nothing was written.
        """
        with self._watched("write"):
            if self.closed:
                raise PermissionDeniedError(self.closed)
            for each in writes:
                if not self._sees(each.namespace):
                    raise PermissionDeniedError(
                        f"This connection is limited to {', '.join(map(show_namespace, self.prefixes))}, so nothing "
                        f"may be written in {show_namespace(each.namespace)!r}. Use another connection, or namespace."
                    )
            self._adapter.write([self._fields.embedded(each) for each in writes], guards)

    def close(self) -> None:
        """Release the adapter and the store."""
        self._adapter.close()
        if self._on_close is not None:
            self._on_close()

    def _sees(self, namespace: Namespace) -> bool:
        own = _split(namespace)[1]
        is_book_of_all = is_reserved(namespace) and not own
        return not self.prefixes or is_book_of_all or any(is_within(own, each, subtree=True) for each in self.prefixes)

    def _parts(self, namespace: Namespace, *, subtree: bool) -> list[tuple[Namespace, bool]]:
        """The parts of a scope that are seen, in order."""
        if self._sees(namespace):
            book, own = _split(namespace)
            if not (self.prefixes and subtree and book and not own):
                return [(namespace, subtree)]
        if not subtree:
            return []
        book, own = _split(namespace)
        below = [((*book, *each), True) for each in self.prefixes if is_within(each, own, subtree=True)]
        # What a book holds of the whole store, such as profiles, is there for all.
        return [(namespace, False), *below] if book and not own else below

    @contextmanager
    def _watched(self, name: str) -> Iterator[None]:
        if self._watcher is None:
            yield
            return
        started, failure = time.perf_counter(), None
        try:
            yield
        except Exception as error:
            failure = error
            raise
        finally:
            self._watcher(name, time.perf_counter() - started, failure)


def _split(namespace: Namespace) -> tuple[Namespace, Namespace]:
    """The label of our own book, if it is one, and the namespace that it is about."""
    return (namespace[:2], namespace[2:]) if is_reserved(namespace) else ((), namespace)


def _outermost(prefixes: Sequence[Namespace]) -> tuple[Namespace, ...]:
    """The prefixes in order, without those that lie below another."""
    kept: list[Namespace] = []
    for prefix in sorted(set(prefixes)):
        if not any(is_within(prefix, other, subtree=True) for other in kept):
            kept.append(prefix)
    return tuple(each for each in kept if each)


def _joined(parts: Sequence[Snapshot], dimensions: int | None) -> Snapshot:
    if len(parts) == 1:
        return parts[0]
    matrices = [part.matrix for part in parts if len(part.matrix)]
    starts = np.cumsum([0, *(len(part.items) for part in parts)]).tolist()
    return Snapshot(
        items=[item for part in parts for item in part.items],
        markers=[marker for part in parts for marker in part.markers],
        matrix=np.concatenate(matrices) if matrices else np.empty((0, dimensions or 0), np.float32),
        owner=np.concatenate(
            [np.empty(0, np.int64), *(part.owner + start for part, start in zip(parts, starts, strict=False))]
        ),
        fields=[name for part in parts for name in part.fields],
        misfits={at + start: n for part, start in zip(parts, starts, strict=False) for at, n in part.misfits.items()},
    )


def _best(parts: Sequence[Sequence[Hit]], limit: int) -> list[Hit]:
    hits = [hit for part in parts for hit in part]
    return sorted(hits, key=lambda hit: (hit.similarity is None, -(hit.similarity or 0.0)))[: max(limit, 0)]


class TextFields:
    """Tells items which of their fields is the text; of several prefixes that fit, the longest counts."""

    def __init__(self, fields: Mapping[Namespace, str]) -> None:
        self._fields = sorted(fields.items(), key=lambda each: -len(each[0]))

    def of(self, namespace: Namespace) -> str | None:
        """The field for this namespace, and for what our books keep about it; None where none is named."""
        if not self._fields:
            return None
        about = namespace[2:] if is_reserved(namespace) else namespace
        return next((field for prefix, field in self._fields if is_within(about, prefix, subtree=True)), None)

    def told(self, item: StoredItem) -> StoredItem:
        """The item with its text field."""
        field = self.of(item.namespace)
        return item if field is None else replace(item, text_field=field)

    def snapshot(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with the text field of each item."""
        return replace(snapshot, items=[self.told(item) for item in snapshot.items]) if self._fields else snapshot

    def embedded(self, write: Write) -> Write:
        """The write with its vector under the field that it is of, where a store that embeds by itself looks."""
        field, vectors = self.of(write.namespace), write.vectors
        if field is None or is_reserved(write.namespace) or write.value is None or isinstance(vectors, Keep):
            return write
        if is_ours(write.value) or CONTENT_FIELD not in vectors or place_of_text(write.value, field) != field:
            return write
        others = {name: vector for name, vector in vectors.items() if name != CONTENT_FIELD}
        return replace(write, vectors={**others, field: vectors[CONTENT_FIELD]})
