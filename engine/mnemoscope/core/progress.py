"""`Watch`: how a long piece of work tells how far it is, and learns that nobody waits for it any more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import CancelledWorkError

__all__ = ["Watch"]


def _untold(done: float) -> None:
    del done


def _never() -> bool:
    return False


@dataclass(frozen=True)
class Watch:
    """`progress` is told the share that is done, 0 to 1; `cancelled` is asked between two steps."""

    progress: Callable[[float], None] = _untold
    cancelled: Callable[[], bool] = _never

    def at(self, done: float) -> None:
        """Tell how far the work is.

        Raises:
            CancelledWorkError: it was cancelled; nothing has been written.
        """
        if self.cancelled():
            raise CancelledWorkError("The work was cancelled before it was done; nothing was changed.")
        self.progress(min(max(done, 0.0), 1.0))

    def part(self, start: float, end: float) -> Watch:
        """The watch over one part of the work, whose own 0 to 1 lies between these two."""
        return Watch(lambda done: self.progress(start + (end - start) * done), self.cancelled)
