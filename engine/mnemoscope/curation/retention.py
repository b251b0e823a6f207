"""Retention rules: what a namespace is not meant to keep for ever; they make a plan to look at, never a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ..core.namespaces import Namespace
from ..core.records import MemoryRecord
from ..core.validation import check_given, check_kind
from ..errors import Conflict, ConflictError, InputError
from ..journal.access import Access
from ..journal.changes import Edit, book
from ..journal.entries import required_entry
from ..stores.base import StoreAdapter, StoredItem, Write
from .edits import Selection, forget_edit, select

__all__ = [
    "Outlived",
    "RetentionPlan",
    "RetentionRule",
    "read_rules",
    "retention_edits",
    "retention_plan",
    "write_rules",
]


_KEY = "rules"


@dataclass(frozen=True)
class RetentionRule:
    """Which memories have outlived their use; all that is given must hold, and something must be given.

    Ages are counted back from when the plan is made. Pinned memories are never touched by a rule.

    Raises:
        InputError: no name or no criterion is given, or an age is negative.
    """

    name: str
    older_than: timedelta | None = None
    not_recalled_for: timedelta | None = None
    importance_below: float | None = None
    categories: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        check_given("name", self.name)
        if not self.name.strip():
            raise InputError("A retention rule needs a name, which is the reason that people will read.")
        for name in ("older_than", "not_recalled_for"):
            if (age := getattr(self, name)) is None:
                continue
            check_kind(name, age, timedelta)
            if age < timedelta():
                raise InputError(f"The ages of the retention rule {self.name!r} must not be negative, got {age}.")
        self.selection()

    def selection(self) -> Selection:
        """The rule as what `forget` takes."""
        return Selection(
            categories=self.categories,
            older_than=self.older_than,
            not_recalled_since=self.not_recalled_for,
            importance_below=self.importance_below,
        )

    def to_value(self) -> dict[str, Any]:
        """The stored form; ages in seconds."""
        return {
            "name": self.name,
            "older_than": self.older_than.total_seconds() if self.older_than is not None else None,
            "not_recalled_for": self.not_recalled_for.total_seconds() if self.not_recalled_for is not None else None,
            "importance_below": self.importance_below,
            "categories": list(self.categories) if self.categories is not None else None,
        }

    @classmethod
    def from_value(cls, value: Mapping[str, Any]) -> RetentionRule:
        """Read the stored form."""
        ages = {
            name: None if value[name] is None else timedelta(seconds=value[name])
            for name in ("older_than", "not_recalled_for")
        }
        categories = None if value["categories"] is None else tuple(value["categories"])
        return cls(value["name"], importance_below=value["importance_below"], categories=categories, **ages)


@dataclass(frozen=True)
class Outlived:
    """A memory that rules would let go, and the names of those rules."""

    record: MemoryRecord
    rules: tuple[str, ...]

    @property
    def reason(self) -> str:
        """Why, for the journal."""
        return f"Retention: {', '.join(self.rules)}"


@dataclass(frozen=True)
class RetentionPlan:
    """What the rules of a namespace would forget, the longest unchanged first."""

    namespace: Namespace
    rules: tuple[RetentionRule, ...]
    outlived: tuple[Outlived, ...]
    made_at: datetime

    def __len__(self) -> int:
        return len(self.outlived)

    @property
    def counts(self) -> dict[str, int]:
        """How many memories each rule is about."""
        return {rule.name: sum(rule.name in each.rules for each in self.outlived) for rule in self.rules}


def read_rules(adapter: StoreAdapter, namespace: Namespace) -> list[RetentionRule]:
    """The rules of exactly this namespace."""
    item = adapter.get([(book("retention", namespace), _KEY)])[0]
    return [] if item is None else required_entry(item, _rules_in)


def _rules_in(item: StoredItem) -> list[RetentionRule]:
    return [RetentionRule.from_value(each) for each in item.value["rules"]]


def write_rules(adapter: StoreAdapter, namespace: Namespace, rules: Sequence[RetentionRule]) -> None:
    """Set the rules of exactly this namespace; none takes them away.

    Raises:
        InputError: two have the same name.
    """
    if len({rule.name for rule in rules}) < len(rules):
        raise InputError("Two retention rules have the same name; the name is the reason that people will read.")
    value = {"kind": "retention", "rules": [rule.to_value() for rule in rules]} if rules else None
    adapter.write([Write(book("retention", namespace), _KEY, value)])


def retention_plan(
    namespace: Namespace,
    records: Sequence[MemoryRecord],
    rules: Sequence[RetentionRule],
    access: Mapping[str, Access],
    now: datetime,
) -> RetentionPlan:
    """What the rules would forget of these memories."""
    reasons: dict[str, list[str]] = {}
    for rule in rules:
        for record in select(records, rule.selection(), access, now):
            reasons.setdefault(record.key, []).append(rule.name)
    outlived = [Outlived(record, tuple(reasons[record.key])) for record in records if record.key in reasons]
    outlived.sort(key=lambda each: (each.record.changed_at, each.record.key))
    return RetentionPlan(namespace, tuple(rules), tuple(outlived), now)


def retention_edits(plan: RetentionPlan, items: Sequence[StoredItem | None]) -> list[Edit]:
    """The edits that carry out the plan, given its items as they are now, in its order.

    Raises:
        ConflictError: a memory has changed since the plan was made, or is gone.
    """
    conflicts, edits = [], []
    for each, item in zip(plan.outlived, items, strict=True):
        present = None if item is None else MemoryRecord.from_item(item)
        if item is None or present != each.record:
            text = None if present is None else present.content
            conflicts.append(Conflict(plan.namespace, each.record.key, each.record.content, text))
        else:
            edits.append(forget_edit(item, each.reason))
    if conflicts:
        raise ConflictError(conflicts)
    return edits
