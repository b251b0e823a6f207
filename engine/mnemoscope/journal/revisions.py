"""Revision numbers that name one text for ever: after an undo, an edit takes none that was given before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..stores.base import Ref, Write
from .changes import Edit, book

__all__ = ["revision_notes", "revision_ref", "with_new_revisions"]


# The others put back, or take over, what stood somewhere under its own number.
_NUMBERED_ANEW = ("update", "merge", "adopt")


def revision_ref(namespace: tuple[str, ...], key: str) -> Ref:
    """Where the highest revision is noted that a memory ever had, once it had to go back to a lower one."""
    return book("revisions", namespace), key


def with_new_revisions(edits: Sequence[Edit], present: Mapping[Ref, Any]) -> list[Edit]:
    """The edits, each new text with a revision above the highest noted; `present` are the values at their places."""
    return [_renumbered(edit, present) for edit in edits]


def revision_notes(edits: Sequence[Edit], present: Mapping[Ref, Any]) -> list[Write]:
    """Notes of the revisions that these edits go back from."""
    notes = []
    for edit in edits:
        now = present.get(edit.ref)
        if edit.after is None or now is None or _revision(now) <= _revision(edit.after):
            continue
        place = revision_ref(*edit.ref)
        highest = max(_revision(now), _revision(present.get(place)))
        notes.append(Write(*place, {"kind": "revision", "revision": highest}))
    return notes


def _renumbered(edit: Edit, present: Mapping[Ref, Any]) -> Edit:
    noted = present.get(revision_ref(*edit.ref))
    if noted is None or edit.after is None or edit.action not in _NUMBERED_ANEW:
        return edit
    if edit.expected is not None and _revision(edit.after) <= _revision(edit.expected):
        return edit
    number = max(_revision(edit.after), _revision(noted) + 1)
    return replace(edit, after={**edit.after, "revision": number})


def _revision(value: object) -> int:
    found = value.get("revision") if isinstance(value, Mapping) else None
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 1 else 1
