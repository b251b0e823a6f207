"""Groups of changes that reach outside of what a limited connection shows: they are undone whole or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from .changes import book
from .errors import PermissionDeniedError
from .stores.base import StoreAdapter
from .stores.view import View

__all__ = ["changes_outside", "check_whole_group", "told_outside"]


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
