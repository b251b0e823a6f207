"""Locks of one process: fair queues by key, for sync and async callers alike, and one plain lock a store object."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary, WeakSet

from ..errors import ConfigurationError
from .execution import Step, Steps

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

__all__ = ["ForkSafeLock", "Locks", "lock_of", "locks_of"]

Result = TypeVar("Result")

# Counting by bucket bounds the memory, whatever the number of namespaces; a neighbour's write costs a look-up more.
_BUCKETS = 4_096


class ForkSafeLock:
    """A lock that a forked process finds free: whoever held it there lives in the parent alone.

    `make` is `threading.Lock` or `threading.RLock`.
    """

    def __init__(self, make: Callable[[], AbstractContextManager[Any]] = threading.Lock) -> None:
        self._make = make
        self._held = make()
        _FORK_SAFE.add(self)

    def free(self) -> None:
        """Let go of it, whoever holds it."""
        self._held = self._make()

    def __enter__(self) -> None:
        self._held.__enter__()

    def __exit__(self, *_: object) -> None:
        self._held.__exit__(None, None, None)


_FORK_SAFE: WeakSet[ForkSafeLock] = WeakSet()


class _Place(Future[None]):
    """A place in a queue, done when its holder is through; `loop` is that of an asynchronous caller."""

    def __init__(self, key: Hashable, before: _Place | None, loop: asyncio.AbstractEventLoop | None) -> None:
        super().__init__()
        self.key = key
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


class Locks:
    """One queue a key. It serves in the order of arrival; nobody waits for another key."""

    def __init__(self) -> None:
        self.free()

    def free(self) -> None:
        """Forget who holds and waits: for a forked process, in which none of them lives."""
        self._last: dict[Hashable, _Place] = {}
        self._writes = [0] * _BUCKETS
        self._lock = threading.Lock()

    def writes(self, key: Hashable) -> int:
        """How often `note_write` was called for this key, or for another one of its bucket."""
        return self._writes[hash(key) % _BUCKETS]

    def note_write(self, key: Hashable) -> None:
        """Count a write, so that what was planned before it is known to be old."""
        with self._lock:
            self._writes[hash(key) % _BUCKETS] += 1

    def while_held(self, keys: Iterable[Hashable], steps: Steps[Result]) -> Steps[Result]:
        """The procedure, run while all these keys are held.

        The keys are taken in one order for everybody, so that two callers cannot wait for each other.

        Raises:
            ConfigurationError: see `hold`.
        """
        places: list[_Place] = []
        try:
            for key in sorted(set(keys), key=repr):
                places.append((yield Step(self._enter, (key,), self._aenter)))
            return (yield from steps)
        finally:
            steps.close()
            for place in reversed(places):
                self._leave(place)

    @contextmanager
    def hold(self, key: Hashable) -> Iterator[None]:
        """Wait for this key and hold it.

        Raises:
            ConfigurationError: an event loop runs in this thread and one of its own tasks holds the key, which could
                never end while this call waits.
        """
        place = self._enter(key)
        try:
            yield
        finally:
            self._leave(place)

    @asynccontextmanager
    async def ahold(self, key: Hashable) -> AsyncIterator[None]:
        """The same without blocking the event loop; a cancelled wait leaves the queue in order."""
        place = await self._aenter(key)
        try:
            yield
        finally:
            self._leave(place)

    def _enter(self, key: Hashable) -> _Place:
        place = self._join(key, None)
        try:
            if place.before is not None:
                _check_no_deadlock(place)
                place.before.result()
        except BaseException:
            self._leave(place)
            raise
        return place

    async def _aenter(self, key: Hashable) -> _Place:
        place = self._join(key, asyncio.get_running_loop())
        try:
            if place.before is not None:
                await asyncio.shield(asyncio.wrap_future(place.before))
        except BaseException:
            self._leave(place)
            raise
        return place

    def _join(self, key: Hashable, loop: asyncio.AbstractEventLoop | None) -> _Place:
        with self._lock:
            place = _Place(key, self._last.get(key), loop)
            self._last[key] = place
        return place

    def _leave(self, place: _Place) -> None:
        before = place.before
        with self._lock:
            if self._last.get(place.key) is place and (before is None or before.done()):
                del self._last[place.key]
        if before is None or before.done():
            place.leave()
        else:
            # Who gives up its place early hands it on only when the one before is through.
            before.add_done_callback(lambda _: place.leave())


def _check_no_deadlock(place: _Place) -> None:
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return
    if place.waits_for(loop):
        raise ConfigurationError(
            f"A synchronous call on {_shown(place.key)} would wait for ever for a task of the event loop that it "
            "blocks; await the asynchronous form instead, such as aremember()."
        )


def _shown(key: Hashable) -> str:
    return repr("/".join(key)) if isinstance(key, tuple) and all(isinstance(each, str) for each in key) else repr(key)


_LOCKS: WeakKeyDictionary[BaseStore, Locks] = WeakKeyDictionary()
_STORE_LOCKS: WeakKeyDictionary[BaseStore, threading.RLock] = WeakKeyDictionary()
_GUARD = threading.Lock()


def locks_of(store: BaseStore) -> Locks:
    """The queues of this store: the same ones for every engine of this process."""
    with _GUARD:
        return _LOCKS.setdefault(store, Locks())


def lock_of(store: BaseStore) -> threading.RLock:
    """The lock of this store object: the same one for every caller, for as long as the store lives."""
    with _GUARD:
        return _STORE_LOCKS.setdefault(store, threading.RLock())


def _free_all() -> None:
    """In a forked process nobody holds anything any more: the threads that held it live in the parent alone."""
    global _GUARD
    _GUARD = threading.Lock()
    for locks in list(_LOCKS.values()):
        locks.free()
    for lock in list(_FORK_SAFE):
        lock.free()
    for store in list(_STORE_LOCKS):
        _STORE_LOCKS[store] = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_all)
