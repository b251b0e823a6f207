"""`IndexBudget`: how much memory the indexes of a process may take together, whichever engines they belong to.

What was used longest ago goes first. One index alone may be larger than all that is allowed: it is kept until another
is wanted, since nothing could be recalled without it, and `IndexMemory` says so.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections import OrderedDict, deque
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from ..core.locks import ForkSafeLock

__all__ = ["DEFAULT_INDEX_BYTES", "IndexBudget", "IndexMemory", "give_back", "process_budget", "without_collecting"]


DEFAULT_INDEX_BYTES = 1_500_000_000
"""What the indexes of a process may take together, unless it is told otherwise."""

_REMEMBERED = 10_000


class _Sized(Protocol):
    @property
    def nbytes(self) -> int: ...


Index = TypeVar("Index", bound=_Sized)


@dataclass(frozen=True, kw_only=True)
class IndexMemory:
    """What indexes take, in bytes.

    `used` is of all engines of the process, `limit` what they may take together, and `own` what those of one engine
    take. `largest` is the largest of its indexes so far, and `rebuilt` how many of them had to be built again because
    they had been dropped to make room.
    """

    used: int
    limit: int
    own: int
    largest: int
    rebuilt: int

    @property
    def is_short(self) -> bool:
        """Whether one index alone is larger than the limit, or indexes keep pushing each other out."""
        return self.largest > self.limit or self.rebuilt > 0


class IndexBudget(Generic[Index]):
    """The indexes of several owners by name, least recently used first out, within `limit_bytes`. For all threads."""

    def __init__(self, limit_bytes: int = DEFAULT_INDEX_BYTES) -> None:
        self._limit = limit_bytes
        self._kept: OrderedDict[tuple[int, Hashable], Index] = OrderedDict()
        self._dropped: OrderedDict[tuple[int, Hashable], None] = OrderedDict()
        self._rebuilt: dict[int, int] = {}
        self._largest: dict[int, int] = {}
        self._ended: deque[int] = deque()
        self._lock = ForkSafeLock()

    @property
    def limit_bytes(self) -> int:
        """What all indexes may take together; a lower limit takes effect at once."""
        return self._limit

    @limit_bytes.setter
    def limit_bytes(self, limit: int) -> None:
        with self._locked():
            self._limit = limit
            self._make_room()

    def find(self, owner: int, name: Hashable) -> Index | None:
        """The index of this owner, where it was not dropped; from now on the one that was used last."""
        place = (owner, name)
        with self._locked():
            if place in self._kept:
                self._kept.move_to_end(place)
            return self._kept.get(place)

    def keep(self, owner: int, name: Hashable, index: Index) -> None:
        """Keep an index as the one that was used last, and drop what there is no room for beside it."""
        place = (owner, name)
        with self._locked():
            if place in self._dropped:
                del self._dropped[place]
                self._rebuilt[owner] = self._rebuilt.get(owner, 0) + 1
            self._largest[owner] = max(self._largest.get(owner, 0), index.nbytes)
            self._kept[place] = index
            self._kept.move_to_end(place)
            self._make_room()

    def drop(self, owner: int) -> None:
        """Drop every index of an owner, and forget what is known of it."""
        self.end(owner)
        with self._locked():
            pass

    def end(self, owner: int) -> None:
        """Drop the indexes of an owner at the next call; takes no lock, so that a finaliser may call it."""
        self._ended.append(owner)

    def memory_of(self, owner: int) -> IndexMemory:
        """What the indexes of an owner take, and all of them together."""
        with self._locked():
            return IndexMemory(
                used=self._used(),
                limit=self._limit,
                own=sum(index.nbytes for place, index in self._kept.items() if place[0] == owner),
                largest=self._largest.get(owner, 0),
                rebuilt=self._rebuilt.get(owner, 0),
            )

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._lock:
            while self._ended:
                self._forget(self._ended.popleft())
            yield

    def _forget(self, owner: int) -> None:
        for kept in (self._kept, self._dropped):
            for place in [place for place in kept if place[0] == owner]:
                del kept[place]
        self._rebuilt.pop(owner, None)
        self._largest.pop(owner, None)

    def _used(self) -> int:
        return sum(index.nbytes for index in self._kept.values())

    def _make_room(self) -> None:
        while len(self._kept) > 1 and self._used() > self._limit:
            place, _ = self._kept.popitem(last=False)
            self._dropped[place] = None
            if len(self._dropped) > _REMEMBERED:
                self._dropped.popitem(last=False)


_PROCESS: IndexBudget[_Sized] = IndexBudget()


def process_budget() -> IndexBudget[_Sized]:
    """The budget that every engine of this process shares."""
    return _PROCESS


_lock = ForkSafeLock()
_pauses: list[bool] = []


@contextmanager
def without_collecting() -> Iterator[None]:
    """Pause the collector of this process; pauses of several threads end with the last of them.

    Where it was off before, it stays off. Objects that no cycle holds are freed as ever.
    """
    with _lock:
        _pauses.append(gc.isenabled() or any(_pauses))
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            was_on = any(_pauses)
            _pauses.pop()
            if not _pauses and was_on:
                gc.enable()


def give_back() -> None:
    """Give the system the memory that is free again, such as after a large reading.

    Only the allocator of Linux keeps it and can be asked to; elsewhere nothing is done.
    """
    if sys.platform == "linux" and hasattr(ctypes.CDLL(None), "malloc_trim"):
        ctypes.CDLL(None).malloc_trim(0)
