"""The store as it was: what is there now, put back by the changes since."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np

from .changes import Change
from .namespaces import is_reserved
from .ordering import SKEW, in_order
from .stores.base import EMBED_AGAIN, Ref, Snapshot, StoredItem, Vectors

__all__ = ["put_back", "with_vectors"]


def put_back(
    present: Snapshot, changes: Iterable[Change], moment: datetime, *, former: datetime | None = None
) -> dict[Ref, tuple[StoredItem, Vectors]]:
    """The items with their vectors at that moment, by place; `changes` are those since, the latest first.

    What changed before `former` has vectors by a former embedder, and is to be embedded again.
    """
    pairs = zip(present.items, present.vectors_by_item(), strict=True)
    found: dict[Ref, tuple[StoredItem, Vectors]] = {item.ref: (item, vectors) for item, vectors in pairs}
    since: dict[Ref, list[Change]] = {}
    for change in changes:
        if change.at <= moment:
            break
        if not change.shelf and not is_reserved(change.namespace):
            # Later ones cannot have come before it, however the clocks differ.
            close = [later for later in since.get(change.place, ()) if later.at - change.at <= SKEW]
            since[change.place] = [change, *close]
    for place, known in since.items():
        change = _first(known)
        if change.before is None:
            found.pop(place, None)
        else:
            born = change.created_at or change.at
            vectors = EMBED_AGAIN if former and change.at < former and change.vectors else change.vectors
            found[place] = (StoredItem(*place, change.before, born, born, change.text_field), vectors)
    return dict(sorted(found.items()))


def _first(changes: Sequence[Change]) -> Change:
    """Which of these came first: the earliest, unless another one made the memory."""
    first = in_order(changes)[0]
    return first if first.before is None else changes[0]


def with_vectors(items: Sequence[StoredItem], vectors: Sequence[Vectors], dimensions: int) -> Snapshot:
    """These items as a snapshot; vectors of other dimensions count as misfits."""
    rows, owner, fields, misfits = [], [], [], dict[int, int]()
    for at, each in enumerate(vectors):
        for name, row in each.items():
            if len(row) == dimensions:
                rows.append(row)
                owner.append(at)
                fields.append(name)
            elif len(row):
                misfits[at] = misfits.get(at, 0) + 1
    matrix = np.array(rows, np.float32) if rows else np.empty((0, dimensions), np.float32)
    return Snapshot(list(items), [None] * len(items), matrix, np.array(owner, np.int64), fields, misfits)
