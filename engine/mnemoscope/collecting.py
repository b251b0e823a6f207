"""Python's garbage collector, kept still while very many objects are made that are all to stay.

It would walk over all of them again and again meanwhile: half the time of building an index of 100,000 memories.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["give_back", "without_collecting"]

_lock = threading.Lock()
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
