"""Who may see which memory: one rule for recall, list, consolidation, tools and pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from ..core.filters import Predicate
from ..core.records import MemoryRecord
from ..core.times import aware
from ..core.validation import check_moment, check_text, check_texts
from .scope import ScopeIndex

__all__ = ["Drop", "Visibility"]


class Drop(IntEnum):
    """Why a candidate is not in the result; `NONE` for those that may be."""

    NONE = 0
    UNREADABLE = 1
    EXPIRED = 2
    PRIVATE = 3
    CATEGORY = 4
    FILTERED = 5
    OUTSIDE_TIME = 6
    BELOW_SIMILARITY = 7
    BELOW_SCORE = 8
    BEYOND_LIMIT = 9
    BEYOND_TOKENS = 10

    @property
    def label(self) -> str:
        """The reason in words."""
        return _DROP_LABELS[self]


_DROP_LABELS = {
    Drop.NONE: "returned",
    Drop.UNREADABLE: "has no readable text",
    Drop.EXPIRED: "expired",
    Drop.PRIVATE: "private to another source",
    Drop.CATEGORY: "in another category",
    Drop.FILTERED: "does not match the filter",
    Drop.OUTSIDE_TIME: "outside the time window",
    Drop.BELOW_SIMILARITY: "below the minimum similarity",
    Drop.BELOW_SCORE: "below the minimum score",
    Drop.BEYOND_LIMIT: "beyond the limit",
    Drop.BEYOND_TOKENS: "beyond the token budget",
}


@dataclass(frozen=True)
class Visibility:
    """Who may see what: the one rule for recall, list, consolidation, tools and pages.

    A private memory is seen only on behalf of its own `source`, or with `include_private`. Categories match
    if any is shared; None means any, an empty list means none. `since` and `until` bound the time of the last
    change of the content; a naive time is taken as UTC.

    Raises:
        InputError: a field is of another type.
    """

    source: str | None = None
    include_private: bool = False
    categories: Sequence[str] | None = None
    predicate: Predicate | None = None
    since: datetime | None = None
    until: datetime | None = None

    def __post_init__(self) -> None:
        check_text("source", self.source)
        check_texts("categories", self.categories)
        check_moment("since", self.since)
        check_moment("until", self.until)

    def withheld(self, index: ScopeIndex, now: datetime) -> NDArray[np.int8]:
        """The `Drop` reason for each memory of the index, `Drop.NONE` where it may be seen; shape (n,)."""
        reasons = np.zeros(len(index), np.int8)

        def mark(mask: NDArray[np.bool_], reason: Drop) -> None:
            reasons[mask & (reasons == Drop.NONE)] = reason

        mark(index.unreadable, Drop.UNREADABLE)
        mark(index.expires <= now.timestamp(), Drop.EXPIRED)
        if not self.include_private and index.private.any():
            mark(index.private & ~self._own(index), Drop.PRIVATE)
        if self.since is not None:
            mark(index.changed < aware(self.since).timestamp(), Drop.OUTSIDE_TIME)
        if self.until is not None:
            mark(index.changed > aware(self.until).timestamp(), Drop.OUTSIDE_TIME)
        if self.categories is not None:
            mark(~index.columns.categories.having(self.categories, len(index)), Drop.CATEGORY)
        if self.predicate is not None:
            mark(~index.columns.matching(self.predicate), Drop.FILTERED)
        return reasons

    def sees(self, record: MemoryRecord) -> bool:
        """Whether privacy lets this memory be seen."""
        return not record.private or self.include_private or (self.source is not None and record.source == self.source)

    def shows(self, record: MemoryRecord, now: datetime) -> bool:
        """Whether it can be read, has not expired, and privacy lets it be seen: what a recall may give at all."""
        has_expired = record.expires_at is not None and record.expires_at <= now
        return bool(record.content) and not has_expired and self.sees(record)

    def _own(self, index: ScopeIndex) -> NDArray[np.bool_]:
        if self.source is None:
            return np.zeros(len(index), np.bool_)
        return index.columns.sources.having([self.source], len(index))
