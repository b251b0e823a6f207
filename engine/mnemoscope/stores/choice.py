"""Which adapter a store gets."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from langgraph.store.base import BaseStore

from ..errors import ConfigurationError
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

    Raises:
        ConfigurationError: it is on a PostgreSQL connection that commits nothing by itself.
    """
    store = _unwrapped(store)
    _check_commits(store)
    for known in type(store).__mro__:
        for (module, name), adapter in _ADAPTERS.items():
            is_known = known.__name__ == name and f"{known.__module__}.".startswith(f"{module}.")
            if is_known and getattr(type(store), "batch", None) is known.__dict__.get("batch"):
                chosen = getattr(import_module(f".{adapter[0]}", __package__), adapter[1])
                return cast(StoreAdapter, chosen(store))
    return GenericAdapter(store)


def _check_commits(store: BaseStore) -> None:
    """Refuse a store whose writes would be gone when its connection closes, and whose looks hold a transaction open.

    A pool is taken as it is: it commits when it gets a connection back.
    """
    connection = getattr(store, "conn", None)
    if type(connection).__module__.partition(".")[0] == "psycopg" and getattr(connection, "autocommit", None) is False:
        raise ConfigurationError(
            f"The connection of this {type(store).__name__} is not in autocommit mode, so nothing would be committed. "
            "Open it by psycopg.connect(…, autocommit=True, row_factory=dict_row), as from_conn_string does, or hand "
            "over a pool."
        )


def _unwrapped(store: BaseStore) -> BaseStore:
    while type(store).__name__ == "BatchedStore":
        inner = getattr(store, "_store", None)
        if not isinstance(inner, BaseStore):
            break
        store = inner
    return store
