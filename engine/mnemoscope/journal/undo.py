"""Undoing much at once: a run, or everything somebody did since a time, planned memory by memory before it is done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from ..core.namespaces import Namespace
from ..core.times import aware
from ..errors import InputError
from ..stores.base import Ref, StoreAdapter, StoredItem
from .changes import BOUND, Change, Edit
from .groups import changes_outside, in_order, same_value, told_outside
from .journal import Journal

__all__ = ["TakenBack", "UndoPlan", "plan_undo", "undo_edits"]


@dataclass(frozen=True)
class TakenBack:
    """The changes of one memory that would be taken back, oldest first; `obstacle` says why they stay, if they do."""

    changes: tuple[Change, ...]
    obstacle: str = ""

    @property
    def ref(self) -> Ref:
        """Where the memory, or the entry of our own books, is."""
        return self.changes[0].place

    @property
    def text_now(self) -> str | None:
        """Its text after the last of these changes; None where there is no memory."""
        return self.changes[-1].text_after

    @property
    def text_then(self) -> str | None:
        """Its text before the first of these changes; None where there was no memory."""
        return self.changes[0].text_before


@dataclass(frozen=True)
class UndoPlan:
    """What undoing would do to each memory concerned, the latest changed first; nothing is written until it is applied.

    `by` is who made the changes, `since` from when on, and `run` the plan that they came from, as it was asked for.
    """

    memories: tuple[TakenBack, ...]
    by: str | None = None
    since: datetime | None = None
    run: str | None = None

    @property
    def open(self) -> tuple[TakenBack, ...]:
        """The memories that would go back to what they were."""
        return tuple(each for each in self.memories if not each.obstacle)

    @property
    def blocked(self) -> tuple[TakenBack, ...]:
        """The memories that stay as they are, each with its obstacle."""
        return tuple(each for each in self.memories if each.obstacle)


def plan_undo(
    adapter: StoreAdapter,
    journal: Journal,
    namespace: Namespace,
    *,
    subtree: bool,
    by: str | None = None,
    since: datetime | None = None,
    run: str | None = None,
) -> UndoPlan:
    """What would become of the memories of a scope if the changes that meet all that is given had never been made.

    A memory stays as it is where somebody else has changed it after them, where it was erased, or where it was
    changed together with memories that the connection does not show.

    Raises:
        InputError: neither somebody nor a run is named.
    """
    if by is None and run is None:
        raise InputError("Say whose changes are to be undone, by=, or those of which run, run=.")
    first = f"{aware(since):%Y%m%dT%H%M%S%f}" if since is not None else ""
    meant = journal.history(namespace, subtree=subtree, actor=by, run=run)
    wanted = {change.id for change in meant if change.id >= first}
    chains = _chains(journal.since(namespace, min(wanted, default="~"), subtree=subtree), wanted)
    steps = [TakenBack(tuple(chain), _obstacle(chain, wanted)) for chain in chains.values() if chain]
    steps = _checked(steps, adapter.get([step.ref for step in steps]) if steps else [])
    steps = _shown_whole(steps, adapter)
    settled = {ref for ref, chain in chains.items() if not chain}
    return UndoPlan(tuple(_bound(steps, settled, journal)), by, since, run)


def undo_edits(plan: UndoPlan, *, reason: str = "") -> list[Edit]:
    """The edits that carry the plan out, one a memory."""
    return [_edit(step, reason) for step in plan.open]


def _chains(latest_first: Iterable[Change], wanted: set[str]) -> dict[Ref, list[Change]]:
    """What is left of the changes of each memory from the first wanted one on; the latest changed memory first."""
    changes: dict[Ref, list[Change]] = {}
    for change in latest_first:
        changes.setdefault(change.place, []).append(change)
    return {ref: _left(in_order(each[::-1]), wanted) for ref, each in changes.items()}


def _left(changes: list[Change], wanted: set[str]) -> list[Change]:
    """The changes from the first wanted one on, without those after which the memory was again as before them."""
    left: list[Change] = []
    at = 0
    while at < len(changes):
        back = [later for later in range(at, len(changes)) if _is_back(changes[later], changes[at])]
        if back:
            at = back[-1]
        elif left or changes[at].id in wanted:
            left.append(changes[at])
        at += 1
    return left


def _is_back(change: Change, first: Change) -> bool:
    return change.buries == (first.stone is not None) and same_value(change.after, first.before)


def _obstacle(chain: Sequence[Change], wanted: set[str]) -> str:
    if any(change.erased or change.action == "erase" for change in chain):
        return "It was erased for good."
    if any(change.action == "reembed" for change in chain):
        return "A change of embedder is gone back on by reembed, not undone."
    others = [change for change in chain if change.id not in wanted]
    if others:
        return f"{others[-1].actor} has changed it since, on {others[-1].at:%Y-%m-%d %H:%M} UTC."
    if any(not same_value(one.after, other.before) for one, other in pairwise(chain)):
        return "Between these changes it was written without a history."
    return ""


def _checked(steps: Sequence[TakenBack], items: Sequence[StoredItem | None]) -> list[TakenBack]:
    """The steps, with those noted whose memory is not what their last change left."""
    checked = []
    for step, item in zip(steps, items, strict=True):
        is_as_left = same_value(step.changes[-1].after, None if item is None else item.value)
        obstacle = step.obstacle or ("" if is_as_left else "It was written since without a history.")
        checked.append(replace(step, obstacle=obstacle))
    return checked


def _shown_whole(steps: Sequence[TakenBack], adapter: StoreAdapter) -> list[TakenBack]:
    """The steps, with those blocked of which a group reaches outside of what the connection shows."""
    outside = changes_outside(adapter, {change.group for step in steps for change in step.changes})
    shown = []
    for step in steps:
        hidden = sum(outside[group] for group in {change.group for change in step.changes})
        obstacle = f"{told_outside(hidden)} of the same group." if hidden else ""
        shown.append(replace(step, obstacle=step.obstacle or obstacle))
    return shown


def _bound(steps: Sequence[TakenBack], settled: set[Ref], journal: Journal) -> list[TakenBack]:
    """The steps, with those blocked that belong to a move or merge of which another part must stay.

    What is `settled` is as it was before already.
    """
    parts = {group: _parts(group, journal) for group in _groups(steps)}
    left = list(steps)
    while True:
        free = settled | {step.ref for step in left if not step.obstacle}
        torn = [
            at
            for at, step in enumerate(left)
            if not step.obstacle and any(not parts[group] <= free for group in _groups([step]))
        ]
        if not torn:
            return left
        for at in torn:
            left[at] = replace(left[at], obstacle="It was merged, moved or undone together with one that must stay.")


def _groups(steps: Iterable[TakenBack]) -> set[str]:
    return {change.group for step in steps for change in step.changes if change.action in BOUND}


def _parts(group: str, journal: Journal) -> set[Ref]:
    return {change.place for change in journal.changes_of(group)}


def _edit(step: TakenBack, reason: str) -> Edit:
    first, last = step.changes[0], step.changes[-1]
    return Edit(
        *step.ref,
        action="undo",
        expected=last.after,
        after=first.before,
        vectors=first.vectors,
        reason=reason or f"undo of {', '.join(dict.fromkeys(change.action for change in step.changes))}",
        undoes=last.id,
        created_at=first.created_at,
        stone=first.stone,
        stone_vectors=first.stone_vectors,
    )
