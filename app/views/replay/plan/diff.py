"""What a plan changes, as before and after in the lines of a diff."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mnemoscope import MemoryRecord, Plan
from mnemoscope.consolidation import PlannedChange

from app.text.display import safe

__all__ = ["counts", "diff", "diff_of_all", "size_after"]

TEXT_LIMIT = 2_000


def counts(plan: Plan) -> dict[str, int]:
    """How many facts come to each outcome, and under "left out" how many were unticked."""
    found = Counter(planned.outcome if planned.chosen else "left out" for planned in plan.facts)
    return dict(found)


def size_after(plan: Plan, before: int) -> int:
    """How many memories the namespace would hold, if it holds `before` now."""
    actions = Counter(change.action for change in plan.changes)
    return before + actions["insert"] - actions["forget"]


def diff(change: PlannedChange) -> str:
    """One change: the text before, the text after, and what else of the memory changes."""
    before, after = change.before, change.after
    lines = [*_marked("-", before.content if before else None), *_marked("+", after.content if after else None)]
    if before is not None and after is not None:
        lines += _fields(before, after)
    return "\n".join(lines)


def diff_of_all(changes: Sequence[PlannedChange]) -> str:
    """Every change in the order of the plan."""
    return "\n".join(diff(change) for change in changes)


def _marked(mark: str, text: str | None) -> list[str]:
    return [] if text is None else [f"{mark} {line}" for line in safe(text, TEXT_LIMIT).split("\n")]


def _fields(before: MemoryRecord, after: MemoryRecord) -> list[str]:
    found = []
    if before.importance != after.importance:
        found.append(f"  importance {_number(before.importance)} → {_number(after.importance)}")
    added = [name for name in after.categories if name not in before.categories]
    if added:
        found.append(f"  categories + {safe(', '.join(added), 200)}")
    return found


def _number(importance: float | None) -> str:
    return "–" if importance is None else f"{importance:.2f}"
