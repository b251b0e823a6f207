"""The order in which the changes of one memory followed on one another, whatever the clocks of its writers say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from .changes import Change
from .stores.values import same_json

__all__ = ["SKEW", "in_order", "same_value"]

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
