"""Entries of our own books that people keep: cases, profiles and labels, written so that each can be undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..stores.base import Ref, StoreAdapter
from ..stores.values import same_json
from .changes import Edit

__all__ = ["shelf_edits"]


def shelf_edits(
    adapter: StoreAdapter, entries: Sequence[tuple[Ref, Mapping[str, Any] | None]], *, reason: str = ""
) -> list[Edit]:
    """The edits that put these values at these places, or take away what is there; what is so already is left out."""
    latest = dict(entries)
    present = dict(zip(latest, adapter.get(list(latest)) if latest else [], strict=True))
    edits = []
    for place, value in latest.items():
        item = present[place]
        before = None if item is None else item.value
        if value is None and before is None:
            continue
        if value is not None and before is not None and same_json(before, value):
            continue
        action: Any = "delete" if value is None else "insert" if before is None else "update"
        edits.append(Edit(*place, action, before, value, vectors={}, reason=reason))
    return edits
