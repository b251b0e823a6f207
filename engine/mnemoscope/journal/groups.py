"""Groups of changes that reach outside of what a limited connection shows: they are undone whole or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from ..errors import PermissionDeniedError
from ..stores.base import StoreAdapter
from ..stores.values import same_json
from ..stores.view import View
from .changes import Change, book

__all__ = ["SKEW", "changes_outside", "check_whole_group", "in_order", "same_value", "told_outside"]


def changes_outside(adapter: StoreAdapter, groups: Collection[str]) -> Counter[str]:
    """How many changes of each of these groups are where the connection shows nothing."""
    if not groups or not isinstance(adapter, View):
        return Counter()
    # The ids of a group begin with its name; "." comes right after "-".
    keys = adapter.unseen_keys(book("journal"), first=min(groups), before=f"{max(groups)}.")
    names = ("-".join(key.split("-")[:2]) for key in keys)
    return Counter(name for name in names if name in groups)


def check_whole_group(adapter: StoreAdapter, group: str) -> None:
    """Refuse a group that the connection does not show whole.

    Raises:
        PermissionDeniedError: some of its changes are elsewhere; the message says how many.
    """
    if outside := changes_outside(adapter, {group})[group]:
        raise PermissionDeniedError(
            f"{told_outside(outside)} of the group {group!r}, so it is not undone in part. "
            "Undo it through a connection that shows all of it."
        )


def told_outside(count: int) -> str:
    """That so many changes are not shown, as the beginning of a sentence."""
    return f"This connection does not show {count} {'change' if count == 1 else 'changes'}"


SKEW = timedelta(minutes=10)
"""By how much the clocks of two writers may differ."""


def in_order(changes: Iterable[Change]) -> list[Change]:
    """The changes of a memory, given by their times, as one followed on the other."""
    ordered: list[Change] = []
    for change in changes:
        is_next = not ordered or same_value(ordered[-1].after, change.before)
        earlier = () if is_next else (at for at in range(len(ordered)) if _belongs_at(at, change, ordered))
        ordered.insert(next(iter(earlier), len(ordered)), change)
    return ordered


def same_value(one: Mapping[str, Any] | None, other: Any) -> bool:
    """Whether two stored values are the same, or there is nothing twice."""
    if one is None or other is None:
        return one is None and other is None
    return same_json(one, other)


def _belongs_at(at: int, change: Change, ordered: Sequence[Change]) -> bool:
    """Whether the change leads from what stands before that position to what stands there."""
    leads_on = same_value(change.after, ordered[at].before) and change.at - ordered[at].at <= SKEW
    return leads_on and (at == 0 or same_value(ordered[at - 1].after, change.before))
