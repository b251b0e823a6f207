"""Which adapter a store gets."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from langgraph.store.base import BaseStore

from .base import StoreAdapter
from .generic import GenericAdapter

__all__ = ["adapt"]


_ADAPTERS = {
    ("langgraph.store.memory", "InMemoryStore"): ("memory", "MemoryAdapter"),
    ("langgraph.store.postgres", "PostgresStore"): ("postgres.adapter", "PostgresAdapter"),
    ("langgraph.store.sqlite", "SqliteStore"): ("sqlite.adapter", "SqliteAdapter"),
}
"""The official stores by module and class, and our modules for them, imported for their stores alone."""


def adapt(store: BaseStore) -> StoreAdapter:
    """The adapter of this store: its own, or else the generic one.

    The store that a LangGraph server hands to a graph is taken out of its wrapper. A subclass with a `batch`
    of its own gets the generic adapter, so that what it adds is not passed by.
    """
    store = _unwrapped(store)
    for known in type(store).__mro__:
        for (module, name), adapter in _ADAPTERS.items():
            is_known = known.__name__ == name and f"{known.__module__}.".startswith(f"{module}.")
            if is_known and getattr(type(store), "batch", None) is known.__dict__.get("batch"):
                chosen = getattr(import_module(f".{adapter[0]}", __package__), adapter[1])
                return cast(StoreAdapter, chosen(store))
    return GenericAdapter(store)


def _unwrapped(store: BaseStore) -> BaseStore:
    while type(store).__name__ == "BatchedStore":
        inner = getattr(store, "_store", None)
        if not isinstance(inner, BaseStore):
            break
        store = inner
    return store
