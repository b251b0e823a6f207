"""Taking turns: work on one namespace waits for the work before it, sync and async callers in one queue."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from weakref import WeakKeyDictionary

from langgraph.store.base import BaseStore

from .namespaces import Namespace

__all__ = ["Turns", "turns_of"]


class Turns:
    """One queue a namespace. It serves in the order of arrival; another namespace's work is not waited for."""

    def __init__(self) -> None:
        self._last: dict[Namespace, Future[None]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def of(self, namespace: Namespace) -> Iterator[None]:
        """Wait for the turn of this namespace and hold it."""
        before, mine = self._join(namespace)
        try:
            if before is not None:
                before.result()
            yield
        finally:
            self._leave(namespace, before, mine)

    @asynccontextmanager
    async def aof(self, namespace: Namespace) -> AsyncIterator[None]:
        """The same without blocking the event loop; a cancelled wait leaves the queue in order."""
        before, mine = self._join(namespace)
        try:
            if before is not None:
                await asyncio.shield(asyncio.wrap_future(before))
            yield
        finally:
            self._leave(namespace, before, mine)

    def _join(self, namespace: Namespace) -> tuple[Future[None] | None, Future[None]]:
        mine: Future[None] = Future()
        with self._lock:
            before = self._last.get(namespace)
            self._last[namespace] = mine
        return before, mine

    def _leave(self, namespace: Namespace, before: Future[None] | None, mine: Future[None]) -> None:
        with self._lock:
            if self._last.get(namespace) is mine and (before is None or before.done()):
                del self._last[namespace]
        if before is None or before.done():
            mine.set_result(None)
        else:
            # Whoever gives up its place early hands it on only when the one before is through.
            before.add_done_callback(lambda _: mine.set_result(None))


_TURNS: WeakKeyDictionary[BaseStore, Turns] = WeakKeyDictionary()
_TURNS_LOCK = threading.Lock()


def turns_of(store: BaseStore) -> Turns:
    """The queues of this store: the same ones for every engine of this process."""
    with _TURNS_LOCK:
        return _TURNS.setdefault(store, Turns())
