"""Merge and move: several memories become one, or one changes its place; nothing is forgotten by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..consolidation.decisions import merged_names
from ..consolidation.remember import vectors_for
from ..core.namespaces import Namespace, show_namespace
from ..core.payloads import as_object
from ..core.records import MemoryRecord, rewritten
from ..errors import ConflictError, InputError, NotFoundError
from ..journal.changes import Edit
from ..stores.base import KEEP, Keep, Ref, StoredItem, Vectors
from .edits import stale

__all__ = ["check_revisions", "merge_edits", "merged", "move_edits", "present"]


def merge_edits(
    items: Sequence[StoredItem],
    content: str | None,
    vectors: Mapping[str, NDArray[np.float32]],
    now: datetime,
    *,
    reason: str,
) -> list[Edit]:
    """The edits that put all memories into the first one. The others go without a tombstone: what they say stays.

    Raises:
        InputError: there are not two of one namespace, or not the same people may see them all.
    """
    records = [MemoryRecord.from_item(replace(item, value=as_object(item.value))) for item in items]
    _check_one_sphere(records)
    before, after = records[0], merged(records, content, now)
    written: Vectors | Keep = KEEP if after.content == before.content else vectors_for(after.content, vectors)
    value = rewritten(as_object(items[0].value), before, after)
    kept = Edit(before.namespace, before.key, "merge", items[0].guarded, value, written, reason)
    return [kept, *(Edit(*item.ref, "merge", item.guarded, None, {}, reason) for item in items[1:])]


def merged(records: Sequence[MemoryRecord], content: str | None, now: datetime) -> MemoryRecord:
    """The first memory with what the others add: categories, evidence, metadata and unknown fields.

    It counts as the most important and the oldest of them, is pinned if one is, and lives as long as the longest.
    """
    kept = records[0]
    text = kept.content if content is None else content
    known = [record.importance for record in records if record.importance is not None]
    expiries = [record.expires_at for record in records]
    lasting = [moment for moment in expiries if moment is not None]
    metadata: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for record in reversed(records):
        metadata |= record.metadata
        extra |= record.extra
    return replace(
        kept,
        content=text,
        categories=merged_names(*(record.categories for record in records)),
        importance=max(known, default=None),
        created_at=min(record.created_at for record in records),
        updated_at=now if text != kept.content else kept.updated_at,
        metadata=metadata,
        evidence=list({str(each): each for record in records for each in record.evidence}.values()),
        expires_at=max(lasting) if len(lasting) == len(expiries) else None,
        pinned=any(record.pinned for record in records),
        extra=extra,
        revision=kept.revision + 1,
    )


def move_edits(item: StoredItem, target: Namespace, vectors: Vectors, *, reason: str) -> list[Edit]:
    """The edits that take the item from where it is to the same key of another namespace, as it is.

    Raises:
        InputError: it is there already.
    """
    if item.namespace == target:
        raise InputError(f"The memory {item.key!r} is in {show_namespace(target)} already; name another namespace.")
    return [
        Edit(item.namespace, item.key, "move", item.guarded, None, {}, reason),
        Edit(
            target,
            item.key,
            "move",
            None,
            as_object(item.value),
            vectors,
            reason,
            created_at=item.created_at,
        ),
    ]


def present(places: Sequence[Ref], items: Sequence[StoredItem | None]) -> list[StoredItem]:
    """The items, all of which must be there.

    Raises:
        NotFoundError: one of them is not.
    """
    for (namespace, key), item in zip(places, items, strict=True):
        if item is None:
            raise NotFoundError(
                f"There is no memory {key!r} in {show_namespace(namespace)}; it may have been forgotten."
            )
    return [item for item in items if item is not None]


def check_revisions(items: Sequence[StoredItem], expected: Mapping[str, int] | None) -> None:
    """Compare the revisions of items with those that were read, by key.

    Raises:
        ConflictError: one is at another revision.
    """
    records = [MemoryRecord.from_item(item) for item in items]
    moved_on = [record for record in records if record.revision != (expected or {}).get(record.key, record.revision)]
    if moved_on and expected:
        raise ConflictError([stale(each, expected[each.key]) for each in moved_on])


def _check_one_sphere(records: Sequence[MemoryRecord]) -> None:
    if len({record.key for record in records}) < 2 or len({record.namespace for record in records}) > 1:
        raise InputError("A merge needs at least two memories, all of one namespace.")
    spheres = {(record.private, record.source if record.private else None) for record in records}
    if len(spheres) > 1:
        raise InputError(
            "These memories are not for the same eyes (one is private, or they are private to different sources); "
            "merged, what is private would be shown or hidden. Change their privacy first."
        )
