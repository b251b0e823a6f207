"""`Context`: what all parts of one engine share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .config import MemoryConfig
from .core.locks import Locks, locks_of
from .core.namespaces import NamespaceLike, Scope
from .core.times import Clock
from .embedding.active import Embedders
from .index.scope import IndexCache, ScopeIndex
from .journal.access import AccessLog
from .journal.changes import Change, Edit
from .journal.journal import Journal
from .stores.base import StoreAdapter, Write

__all__ = ["Context"]


@dataclass(frozen=True)
class Context:
    """The store of one engine with everything that stands around it.

    Every service of an engine is built on its context, and knows the other services through nothing else. `actor`
    is whom changes are journalled for where a call names nobody; `clock` gives aware UTC times.
    """

    adapter: StoreAdapter
    config: MemoryConfig
    extractor: Any
    consolidator: Any
    clock: Clock
    actor: str
    indexes: IndexCache
    embedders: Embedders
    journal: Journal
    access: AccessLog
    locks: Locks

    @classmethod
    def over(
        cls,
        adapter: StoreAdapter,
        *,
        config: MemoryConfig,
        extractor: Any,
        consolidator: Any,
        clock: Clock,
        actor: str,
        next_embeddings: Any = None,
    ) -> Context:
        """A context with an index cache, a journal and an access log of its own; the locks are the store's."""
        indexes = IndexCache(adapter)
        embedders = Embedders(adapter, clock, next_embeddings, indexes.drop)
        return cls(
            adapter=adapter,
            config=config,
            extractor=extractor,
            consolidator=consolidator,
            clock=clock,
            actor=actor,
            indexes=indexes,
            embedders=embedders,
            journal=Journal(adapter, clock, embedders),
            access=AccessLog(adapter),
            locks=locks_of(adapter.store),
        )

    def now(self) -> datetime:
        """The present, as this engine knows it."""
        return self.clock()

    def index(self, scope: Scope) -> ScopeIndex:
        """The cached index of a scope as the store is now.

        Raises:
            StoreError: the store does not answer.
        """
        return self.indexes.get(scope.namespace, subtree=scope.subtree)

    def index_of(self, namespace: NamespaceLike, *, subtree: bool = False) -> ScopeIndex:
        """The same for a namespace as callers name it."""
        return self.index(Scope.of(namespace, subtree=subtree))

    def commit(self, edits: Sequence[Edit], actor: str | None = None, *, also: Sequence[Write] = ()) -> list[Change]:
        """Write these edits as one journalled group, with these writes beside them: all or nothing."""
        return self.journal.commit(edits, actor=actor or self.actor, also=also)
