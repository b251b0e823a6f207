"""Taking turns: work on one namespace waits for the work before it, sync and async callers in one queue."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from weakref import WeakKeyDictionary

from langgraph.store.base import BaseStore

from ..errors import ConfigurationError
from .namespaces import Namespace, show_namespace

__all__ = ["Turns", "lock_of", "turns_of"]


class _Place(Future[None]):
    """A place in a queue, done when its turn is over; `loop` is that of an asynchronous caller."""

    def __init__(self, before: _Place | None, loop: asyncio.AbstractEventLoop | None) -> None:
        super().__init__()
        self.before = before
        self.loop = loop

    def leave(self) -> None:
        """Let the next one in."""
        self.before = None
        self.set_result(None)

    def waits_for(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Whether a caller on this loop has to come first."""
        place = self.before
        while place is not None and not place.done():
            if place.loop is loop:
                return True
            place = place.before
        return False


class Turns:
    """One queue a namespace. It serves in the order of arrival; another namespace's work is not waited for."""

    def __init__(self) -> None:
        self._last: dict[Namespace, _Place] = {}
        self._lock = threading.Lock()

    @contextmanager
    def of(self, namespace: Namespace) -> Iterator[None]:
        """Wait for the turn of this namespace and hold it.

        Raises:
            ConfigurationError: an event loop runs in this thread and the turn is one of its own tasks', which
                could never end while this call waits.
        """
        mine = self._join(namespace, None)
        before = mine.before
        try:
            if before is not None:
                _check_no_deadlock(mine, namespace)
                before.result()
            yield
        finally:
            self._leave(namespace, before, mine)

    @asynccontextmanager
    async def aof(self, namespace: Namespace) -> AsyncIterator[None]:
        """The same without blocking the event loop; a cancelled wait leaves the queue in order."""
        mine = self._join(namespace, asyncio.get_running_loop())
        before = mine.before
        try:
            if before is not None:
                await asyncio.shield(asyncio.wrap_future(before))
            yield
        finally:
            self._leave(namespace, before, mine)

    def _join(self, namespace: Namespace, loop: asyncio.AbstractEventLoop | None) -> _Place:
        with self._lock:
            mine = _Place(self._last.get(namespace), loop)
            self._last[namespace] = mine
        return mine

    def _leave(self, namespace: Namespace, before: _Place | None, mine: _Place) -> None:
        with self._lock:
            if self._last.get(namespace) is mine and (before is None or before.done()):
                del self._last[namespace]
        if before is None or before.done():
            mine.leave()
        else:
            # Whoever gives up its place early hands it on only when the one before is through.
            before.add_done_callback(lambda _: mine.leave())


def _check_no_deadlock(mine: _Place, namespace: Namespace) -> None:
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return
    if mine.waits_for(loop):
        raise ConfigurationError(
            f"A synchronous call on {show_namespace(namespace)!r} would wait for ever for a task of the event loop "
            "that it blocks; await the asynchronous form instead, such as aremember()."
        )


_TURNS: WeakKeyDictionary[BaseStore, Turns] = WeakKeyDictionary()
_TURNS_LOCK = threading.Lock()


def turns_of(store: BaseStore) -> Turns:
    """The queues of this store: the same ones for every engine of this process."""
    with _TURNS_LOCK:
        return _TURNS.setdefault(store, Turns())


_LOCKS: WeakKeyDictionary[BaseStore, threading.RLock] = WeakKeyDictionary()
_LOCKS_LOCK = threading.Lock()


def lock_of(store: BaseStore) -> threading.RLock:
    """The lock of this store object: the same one for every caller, for as long as the store lives."""
    with _LOCKS_LOCK:
        return _LOCKS.setdefault(store, threading.RLock())
