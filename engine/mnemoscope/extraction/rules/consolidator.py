"""The offline judge: what to do with a fact beside the memories it resembles, decided by rules.

It compares words, not meanings: the same words in the same sense are skipped, another value of something a
person has one of (where they live, whom they work for) and the opposite of what was said are updates, and
everything else is inserted. Nothing is ever forgotten by rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from ...core.records import MemoryRecord
from ...core.text import normalise
from ..facts import ConsolidationDecision, ExtractedFact, Similar
from .attributes import Attribute
from .statements import Statement, read_statement

__all__ = ["Comparison", "Relation", "RuleConsolidator", "compare", "compare_statements"]


Relation: TypeAlias = "Literal['same', 'detail', 'correction', 'unrelated']"


@dataclass(frozen=True)
class Comparison:
    """How a later statement relates to an earlier one, and why, in a sentence for people."""

    relation: Relation
    reason: str


class RuleConsolidator:
    """Decides insert, update or skip by rules; deterministic, offline, and never more than one memory a fact.

    A corrected fact is often less similar to what it corrects than `MemoryConfig.consolidation_threshold` asks
    by default, and rules read words, so a loose net costs nothing: use it with `PRESETS["rules"]`.
    """

    def __call__(self, fact: ExtractedFact, similar: Similar) -> ConsolidationDecision:
        """The decision for one fact; `similar` are the memories to compare it with, most similar first."""
        compared = [(record, compare(fact.content, record.content)) for record, _ in similar]
        for record, comparison in compared:
            if comparison.relation == "same":
                return _decision("skip", record, comparison.reason)
            if _rests_on(record, fact):
                return _decision("skip", record, "The memory already rests on this very sentence.")
        for wanted in ("detail", "correction"):
            for record, comparison in compared:
                if comparison.relation == wanted:
                    return _changed(fact, record, comparison)
        return ConsolidationDecision(action="insert", reason=_why_new(len(similar)))


def compare(later: str, earlier: str) -> Comparison:
    """How `later` relates to `earlier`: the same, the same with more detail, a correction, or unrelated."""
    return compare_statements(read_statement(later), read_statement(earlier))


def compare_statements(new: Statement, old: Statement) -> Comparison:
    """`compare` for statements that are already read."""
    if normalise(new.text) == normalise(old.text):
        return Comparison("same", "It says the same, word for word.")
    for find in (_same_words, _opposite, _other_value, _extended):
        if found := find(new, old):
            return found
    return Comparison("unrelated", "It says something else.")


def _same_words(new: Statement, old: Statement) -> Comparison | None:
    if new.denies != old.denies:
        return None
    if new.says_as(old):
        return Comparison("same", "It says the same in other words.")
    if new.is_nearly(old):
        return Comparison("same", "It says nearly the same, letter for letter.")
    return None


def _opposite(new: Statement, old: Statement) -> Comparison | None:
    if new.denies == old.denies or new.subject != old.subject or not new.words:
        return None
    if new.word_set == old.word_set or new.is_nearly(old) or (new.core and new.core == old.core):
        return Comparison("correction", f"It says the opposite: “{old.text}” is no longer so.")
    return None


def _other_value(new: Statement, old: Statement) -> Comparison | None:
    mine, theirs = new.attribute, old.attribute
    if mine is None or theirs is None or mine.name != theirs.name or not _same_person(mine, theirs):
        return None
    if mine.is_same_value(theirs):
        if new.denies != old.denies:
            return Comparison("correction", f"It takes back the {mine.label} “{theirs.value}”.")
        more = new.word_set > old.word_set
        relation: Relation = "detail" if more else "same"
        return Comparison(relation, f"The {mine.label} “{theirs.value}” is already known.")
    if new.denies or old.denies or (mine.is_weak and theirs.is_weak):
        return None
    return Comparison("correction", f"The {mine.label} was “{theirs.value}” and is now “{mine.value}”.")


def _extended(new: Statement, old: Statement) -> Comparison | None:
    if new.denies != old.denies:
        return None
    if old.begins_with(new):
        return Comparison("same", "The memory says this and more.")
    if new.begins_with(old):
        return Comparison("detail", "It says the same in more detail.")
    return None


def _same_person(mine: Attribute, theirs: Attribute) -> bool:
    # A sentence kept in its own language names nobody: it is the person who is talking.
    return mine.subject == theirs.subject or "" in (mine.subject, theirs.subject)


def _changed(fact: ExtractedFact, record: MemoryRecord, comparison: Comparison) -> ConsolidationDecision:
    said = _last_said(record)
    if fact.said_at and said and fact.said_at < said:
        return _decision("skip", record, f"It was said before the memory was ({said:%Y-%m-%d}), so the memory stands.")
    return _decision("update", record, comparison.reason)


def _rests_on(record: MemoryRecord, fact: ExtractedFact) -> bool:
    # Without a time the same words may have been said anew, in another conversation.
    if not (fact.quote and fact.said_at and fact.message_ids):
        return False
    return any(
        each.quote == fact.quote and each.said_at == fact.said_at and set(fact.message_ids) <= set(each.message_ids)
        for each in record.evidence
    )


def _last_said(record: MemoryRecord) -> datetime | None:
    times: Iterator[datetime] = (each.said_at for each in record.evidence if each.said_at)
    return max(times, default=None)


def _decision(action: str, record: MemoryRecord, reason: str) -> ConsolidationDecision:
    return ConsolidationDecision(action=action, target_key=record.key, reason=reason)


def _why_new(offered: int) -> str:
    if not offered:
        return "No memory resembles it."
    return "None of the memories that resemble it says the same or is corrected by it."
