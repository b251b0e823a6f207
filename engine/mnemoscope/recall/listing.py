"""Memories as a list, without a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..context import Context
from ..core.execution import Step, Steps
from ..core.namespaces import Scope
from ..core.records import MemoryRecord
from ..index.visibility import Drop, Visibility

__all__ = ["Listing", "list_memories"]


class Listing(list[MemoryRecord]):
    """Memories, the latest changed first; `total` counts all that may be seen, `withheld` those that may not.

    A copy and what is pickled keep both; a slice is a plain list.
    """

    def __init__(self, records: Sequence[MemoryRecord], total: int, withheld: Mapping[Drop, int]) -> None:
        super().__init__(records)
        self.total = total
        self.withheld = dict(withheld)


def list_memories(context: Context, scope: Scope, limit: int | None, visibility: Visibility) -> Steps[Listing]:
    """The memories of a scope that may be seen, `limit` of them at most.

    Raises:
        StoreError: the store failed.
    """
    index = yield Step(context.index, (scope,))
    withheld = visibility.withheld(index, context.now())
    open_ = np.flatnonzero(withheld == Drop.NONE).tolist()
    ordered = sorted(open_, key=lambda at: (-index.changed[at], index.records[at].key))
    codes, counts = np.unique(withheld[withheld != Drop.NONE], return_counts=True)
    hidden = {Drop(code): count for code, count in zip(codes.tolist(), counts.tolist(), strict=True)}
    return Listing([index.records[at] for at in ordered[:limit]], len(ordered), hidden)
