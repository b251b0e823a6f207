"""`Survey`: everything that worklists look at, read once; no worklist calls the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.progress import Watch
from ..core.records import MemoryRecord
from ..errors import InputError
from ..extraction.rules.statements import Statement, read_statement
from ..index.pairs import Pairs, similar_pairs
from ..index.scope import ScopeIndex
from ..journal.access import Access
from ..journal.changes import Change
from ..stores.base import Ref

__all__ = ["Criteria", "Survey"]


@dataclass(frozen=True)
class Criteria:
    """From where on a worklist takes a memory in.

    Similarities are cosines: at `duplicate_similarity` two memories may be one, at `contradiction_similarity`
    they are compared by what they say.
    """

    duplicate_similarity: float = 0.92
    contradiction_similarity: float = 0.75
    changed_within: timedelta = timedelta(days=7)
    unrecalled_after: timedelta = timedelta(days=30)
    stale_after: timedelta = timedelta(days=180)
    low_importance: float = 0.3

    def __post_init__(self) -> None:
        for name in ("duplicate_similarity", "contradiction_similarity", "low_importance"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise InputError(f"{name} must be a number from 0 to 1, got {getattr(self, name)!r}.")


@dataclass(frozen=True, eq=False)
class Survey:
    """What worklists look at. `changes` are journal entries, latest first; `misfits` counts vectors of another
    dimension by memory; `judge` is a consolidator that is asked about contradictions, or None for rules alone.
    """

    index: ScopeIndex
    now: datetime
    access: Mapping[Ref, Access] = field(default_factory=dict)
    changes: Sequence[Change] = ()
    misfits: Mapping[Ref, int] = field(default_factory=dict)
    criteria: Criteria = field(default_factory=Criteria)
    judge: Any = None
    watch: Watch = field(default_factory=Watch)

    @cached_property
    def is_open(self) -> NDArray[np.bool_]:
        """Which memories have a text and have not expired."""
        is_open: NDArray[np.bool_] = ~self.index.unreadable & (self.index.expires > self.now.timestamp())
        return is_open

    @cached_property
    def sphere(self) -> NDArray[np.int64]:
        """A number for each memory; only those of one namespace that the same people may see share it."""
        known: dict[tuple[object, ...], int] = {}
        spheres = (
            (record.namespace, record.private, record.source if record.private else None)
            for record in self.index.records
        )
        return np.fromiter((known.setdefault(each, len(known)) for each in spheres), np.int64, len(self.index))

    @cached_property
    def pairs(self) -> Pairs:
        """Memories of one sphere that are similar enough to be looked at together."""
        least = min(self.criteria.duplicate_similarity, self.criteria.contradiction_similarity)
        return similar_pairs(self.index, self.sphere, self.is_open, least, watch=self.watch.part(0.0, 0.8))

    @cached_property
    def records(self) -> list[MemoryRecord]:
        """The memories, those included that are not open."""
        return self.index.records

    def statement(self, at: int) -> Statement:
        """What the memory at this position says, read once."""
        if at not in self._statements:
            self._statements[at] = read_statement(self.records[at].content)
        return self._statements[at]

    @cached_property
    def _statements(self) -> dict[int, Statement]:
        return {}

    def recalled_at(self, record: MemoryRecord) -> datetime | None:
        """When the memory was last recalled, as far as anybody noted it."""
        noted = self.access.get((record.namespace, record.key), Access()).last
        if noted is None and record.last_accessed and record.last_accessed > record.created_at:
            return record.last_accessed
        return noted
