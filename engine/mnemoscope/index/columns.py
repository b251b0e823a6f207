"""`Columns`: what filters and orders look at, as arrays over all memories of an index, each made at first use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property
from types import NoneType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.filters import Condition, Predicate, value_at
from ..core.records import MemoryRecord
from ..core.text import normalise

__all__ = ["Codes", "Columns"]


_MOST_PATHS = 32
_PLAIN = (str, int, float, datetime, NoneType)


class Codes(NamedTuple):
    """Names by number, and which memory has which: memory `owner[i]` has the name `names[code[i]]`, once each."""

    names: list[str | None]
    code: NDArray[np.int64]
    owner: NDArray[np.int64]

    def having(self, wanted: Iterable[str | None], length: int) -> NDArray[np.bool_]:
        """Which of the `length` memories have at least one of the wanted names."""
        chosen = set(wanted)
        is_wanted = np.fromiter((name in chosen for name in self.names), np.bool_, len(self.names))
        found = np.zeros(length, np.bool_)
        found[self.owner[is_wanted[self.code]]] = True
        return found

    def counted(self, mask: NDArray[np.bool_]) -> dict[str | None, int]:
        """How many of the memories under the mask have each name, the most frequent first; none left out."""
        counts = np.bincount(self.code[mask[self.owner]], minlength=len(self.names)).tolist()
        pairs = zip(self.names, counts, strict=True)
        return dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0] or "")))


class Columns:
    """Columns over these records, in their order."""

    def __init__(self, records: Sequence[MemoryRecord]) -> None:
        self._records = records
        self._at_path: dict[tuple[str, ...], tuple[list[object], NDArray[np.int32]]] = {}

    def __len__(self) -> int:
        return len(self._records)

    def matching(self, predicate: Predicate) -> NDArray[np.bool_]:
        """Which memories pass a filter. Each condition is tested once on each value that there is."""

        def holds(condition: Condition) -> NDArray[np.bool_]:
            values, codes = self._values(condition.path)
            return np.fromiter((condition.test(value) for value in values), np.bool_, len(values))[codes]

        found: NDArray[np.bool_] = predicate.evaluate(holds)
        return found

    def _values(self, path: tuple[str, ...]) -> tuple[list[object], NDArray[np.int32]]:
        """The values that memories have at a path, and by number which memory has which."""
        known = self._at_path.get(path)
        if known is None:
            if len(self._at_path) >= _MOST_PATHS:
                self._at_path.pop(next(iter(self._at_path)), None)
            known = self._at_path[path] = _numbered([value_at(record, path) for record in self._records])
        return known

    @cached_property
    def folded(self) -> list[str]:
        """Every text in the form in which texts are compared."""
        return [_folded(record.content) for record in self._records]

    @cached_property
    def created(self) -> NDArray[np.float64]:
        """When each memory was made, in seconds since 1970."""
        return np.fromiter((record.created_at.timestamp() for record in self._records), np.float64, len(self))

    @cached_property
    def categories(self) -> Codes:
        """The categories of each memory."""
        return _codes([dict.fromkeys(record.categories) for record in self._records])

    @cached_property
    def sources(self) -> Codes:
        """The source of each memory; None for those without one."""
        return _codes([(record.source,) for record in self._records])

    @cached_property
    def pinned(self) -> NDArray[np.bool_]:
        """Which memories are pinned."""
        return np.fromiter((record.pinned for record in self._records), np.bool_, len(self))

    @cached_property
    def malformed(self) -> NDArray[np.bool_]:
        """Which items could not be read as they should."""
        return np.fromiter((bool(record.problems) for record in self._records), np.bool_, len(self))

    @cached_property
    def content_rank(self) -> NDArray[np.int64]:
        """The place of each text in alphabetical order; equal texts share one."""
        ranks: NDArray[np.int64] = np.unique(np.array(self.folded, dtype=object), return_inverse=True)[1]
        return ranks

    @cached_property
    def place_rank(self) -> NDArray[np.int64]:
        """The place of each memory in the order of namespaces and keys: what breaks ties."""
        refs = [(record.namespace, record.key) for record in self._records]
        ranks = np.empty(len(self), np.int64)
        ranks[sorted(range(len(self)), key=refs.__getitem__)] = np.arange(len(self))
        return ranks


def _numbered(values: Sequence[object]) -> tuple[list[object], NDArray[np.int32]]:
    number: dict[object, int] = {}
    distinct: list[object] = []
    codes = np.empty(len(values), np.int32)
    for at, value in enumerate(values):
        # In Python True == 1, and lists are no keys: what is not plain stands for itself.
        key = (type(value), value if isinstance(value, _PLAIN) else at)
        code = number.setdefault(key, len(distinct))
        if code == len(distinct):
            distinct.append(value)
        codes[at] = code
    return distinct, codes


def _folded(text: str) -> str:
    # What `normalise` gives, without its work where that changes nothing.
    return " ".join(text.lower().split()) if text.isascii() else normalise(text)


def _codes(lists: Sequence[Iterable[str | None]]) -> Codes:
    number: dict[str | None, int] = {}
    code, owner = [], []
    for at, names in enumerate(lists):
        for name in names:
            code.append(number.setdefault(name, len(number)))
            owner.append(at)
    return Codes(list(number), np.array(code, np.int64), np.array(owner, np.int64))
