"""One lock a store object, so that adapters of the same store in one process keep out of each other's way."""

from __future__ import annotations

import threading
from weakref import WeakKeyDictionary

from langgraph.store.base import BaseStore

__all__ = ["lock_of"]

_LOCKS: WeakKeyDictionary[BaseStore, threading.RLock] = WeakKeyDictionary()
_LOCKS_LOCK = threading.Lock()


def lock_of(store: BaseStore) -> threading.RLock:
    """The lock of this store object: the same one for every caller, for as long as the store lives."""
    with _LOCKS_LOCK:
        return _LOCKS.setdefault(store, threading.RLock())
