"""What is left to decide: the findings that still hold, without those that were rejected or are private."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from mnemoscope import Change, MemoryRecord
from mnemoscope.index import ScopeIndex
from mnemoscope.stores import Ref, StoredItem
from mnemoscope.worklists import WORKLISTS, Finding, Rejection, Survey

from app.views.curate.work import Work, moved

__all__ = ["Looked", "Rows", "look"]


@dataclass(frozen=True)
class Rows:
    """The rows of one worklist: open ones, rejected ones, and how many are hidden since they are private."""

    open: list[Finding] = field(default_factory=list)
    rejected: list[Finding] = field(default_factory=list)
    hidden: int = 0


@dataclass(frozen=True)
class Looked:
    """Every worklist as it is now, with the memories and changes that its rows are about.

    `changed` counts the memories that are not what they were when the worklists were worked out.
    """

    rows: Mapping[str, Rows]
    index: ScopeIndex
    changes: Mapping[str, Change]
    survey: Survey
    changed: int = 0

    def record(self, ref: Ref) -> MemoryRecord | None:
        """The memory at this place as it is now."""
        at = self.index.position.get(ref)
        return None if at is None else self.index.records[at]

    def change(self, finding: Finding) -> Change | None:
        """The change that the finding is about, if it is about one."""
        id = finding.proposal.change if finding.proposal else None
        return self.changes.get(id) if id else None


def look(
    work: Work,
    survey: Survey,
    index: ScopeIndex,
    rejected: Mapping[str, Rejection],
    *,
    include_private: bool,
) -> Looked:
    """What the work found, as far as it still holds of this index."""
    gone = moved(survey.index, index)
    looked = Looked({}, index, {change.id: change for change in survey.changes}, survey)
    rows = {}
    for name in WORKLISTS:
        holding = [finding for finding in work.found[name] if not any(ref in gone for ref in finding.refs)]
        seen = [finding for finding in holding if include_private or not _is_private(finding, looked)]
        opened = [finding for finding in seen if finding.id not in rejected]
        offered = sum(finding.id not in rejected for finding in holding)
        turned_down = [finding for finding in seen if finding.id in rejected]
        rows[name] = Rows(opened, turned_down, hidden=offered - len(opened))
    return replace(looked, rows=rows, changed=len(gone))


def _is_private(finding: Finding, looked: Looked) -> bool:
    records = [looked.record(ref) for ref in finding.refs]
    change = looked.change(finding)
    values = (change.before, change.after) if change else ()
    return any(record is not None and record.private for record in records) or any(
        MemoryRecord.from_item(StoredItem(change.namespace, change.key, value, change.at, change.at)).private
        for value in values
        if change is not None and value is not None
    )
