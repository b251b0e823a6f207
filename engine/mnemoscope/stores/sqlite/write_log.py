"""What one adapter wrote by itself: so that its change token speaks for a scope, not for a whole file."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import takewhile

from ...core.namespaces import Namespace, is_reserved, is_within
from ..base import Ref

__all__ = ["WriteLog"]


_PLACES_KEPT = 20_000
_NAMESPACES_KEPT = 100_000


class WriteLog:
    """The writes of one adapter, numbered. Used under the lock of its store alone.

    `rows` counts the rows that these writes changed; any further change of the connection is another's.
    """

    def __init__(self) -> None:
        self.rows = 0
        self._number = 0
        # Numbers up to this one are known of all namespaces together alone.
        self._floor = 0
        self._last: dict[Namespace, int] = {}
        self._places: deque[tuple[int, Ref]] = deque(maxlen=_PLACES_KEPT)

    def note(self, refs: Iterable[Ref]) -> None:
        """Note a write of these places."""
        self._number += 1
        for namespace, key in refs:
            self._last[namespace] = self._number
            self._places.append((self._number, (namespace, key)))
        if len(self._last) > _NAMESPACES_KEPT:
            self._last.clear()
            self._floor = self._number

    def note_all(self) -> None:
        """Note a write of everything there is."""
        self._number += 1
        self._last.clear()
        self._floor = self._number

    def latest(self, namespace: Namespace, *, subtree: bool) -> int:
        """The number of the last write within a scope."""
        if not subtree:
            return self._last.get(namespace, self._floor)
        return max((n for each, n in self._last.items() if _is_in(each, namespace, subtree=True)), default=self._floor)

    def since(self, number: int, namespace: Namespace, *, subtree: bool) -> list[Ref] | None:
        """The places within a scope that were written after that write, or None where that is not known any more."""
        if number < self._floor:
            return None
        after = list(takewhile(lambda noted: noted[0] > number, reversed(self._places)))
        if len(after) == self._places.maxlen:
            return None
        return list({ref: None for _, ref in after if _is_in(ref[0], namespace, subtree=subtree)})


def _is_in(namespace: Namespace, scope: Namespace, *, subtree: bool) -> bool:
    # The whole store, as a scope, leaves out our own books.
    return is_within(namespace, scope, subtree=subtree) and (bool(scope) or not is_reserved(namespace))
