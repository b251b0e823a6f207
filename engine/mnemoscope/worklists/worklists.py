"""Worklists: what in a store deserves a curator's look, one row of the table each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ..core.records import MemoryRecord
from ..journal.changes import Change
from .contradictions import contradictions
from .duplicates import duplicates
from .findings import Finding, Proposal, found, proposed
from .junk import junk
from .scripts import other_script
from .sensitive import sensitive
from .survey import Survey

__all__ = ["WORKLISTS", "Worklist", "changed_lately", "malformed", "never_recalled", "stale", "unvectored"]


@dataclass(frozen=True)
class Worklist:
    """One worklist: its name, how it is called and explained to people, and what finds its rows."""

    name: str
    title: str
    help: str
    find: Callable[[Survey], list[Finding]]


def changed_lately(survey: Survey) -> list[Finding]:
    """The latest change of each memory that a plan, not a person, has reworded or forgotten."""
    since, seen, findings = survey.now - survey.criteria.changed_within, set(), []
    known = {change.id: change for change in survey.changes}
    for latest in survey.changes:
        ref = (latest.namespace, latest.key)
        if ref in seen:
            continue
        seen.add(ref)
        change = _in_force(latest, known)
        if change.at < since:
            continue
        if change.run is None or change.action not in ("update", "forget") or change.erased:
            continue
        at = survey.index.position.get(ref)
        if (at is None) != (change.action == "forget"):
            continue
        record = survey.records[at] if at is not None else MemoryRecord(change.key, change.namespace, "")
        verb = "reworded or relabelled it" if change.action == "update" else "forgot it"
        reason = (
            f"{change.actor} {verb} on {change.at:%Y-%m-%d %H:%M} UTC{f': {change.reason}' if change.reason else ''}"
        )
        proposal = Proposal("undo", (ref,), change=change.id)
        findings.append(found("changed", [record], reason, proposal, weight=change.at.timestamp(), mark=change.id))
    return sorted(findings, key=lambda each: (-each.weight, each.refs))


def never_recalled(survey: Survey) -> list[Finding]:
    """Memories that are old enough and that nobody ever recalled, the oldest first."""
    before, findings = survey.now - survey.criteria.unrecalled_after, []
    for record in _open_records(survey):
        if record.pinned or record.created_at >= before or survey.recalled_at(record) is not None:
            continue
        days = (survey.now - record.created_at).days
        reason = f"Nobody recalled it in the {days} days since it was made."
        findings.append(found("unrecalled", [record], reason, proposed("forget", record), weight=days))
    return sorted(findings, key=lambda each: (-each.weight, each.refs))


def stale(survey: Survey) -> list[Finding]:
    """Memories of low importance that changed long ago and were not recalled lately, the least important first."""
    criteria, findings = survey.criteria, []
    before, recalled_before = survey.now - criteria.stale_after, survey.now - criteria.unrecalled_after
    for record in _open_records(survey):
        recalled = survey.recalled_at(record)
        is_low = record.importance is not None and record.importance < criteria.low_importance
        if record.pinned or not is_low or record.changed_at >= before or (recalled and recalled >= recalled_before):
            continue
        days, importance = (survey.now - record.changed_at).days, record.importance or 0.0
        reason = f"Its importance is {importance:.2f} and it has not changed for {days} days."
        findings.append(found("stale", [record], reason, proposed("forget", record), weight=1.0 - importance))
    return sorted(findings, key=lambda each: (-each.weight, each.refs))


def unvectored(survey: Survey) -> list[Finding]:
    """Memories that no search by meaning can find: without a vector, or with one of another dimension."""
    findings = []
    for at in np.flatnonzero(~survey.index.vectored & ~survey.index.unreadable).tolist():
        record = survey.records[at]
        is_misfit = (record.namespace, record.key) in survey.misfits
        wrong = "has another dimension than the store's: it is of another embedder" if is_misfit else "is missing"
        reason = f"Its vector {wrong}; no search by meaning can find it."
        findings.append(found("unvectored", [record], reason, proposed("embed", record)))
    return findings


def malformed(survey: Survey) -> list[Finding]:
    """Items that could not be read as they should, and what is wrong with each."""
    findings = []
    for at in np.flatnonzero(survey.index.columns.malformed).tolist():
        record = survey.records[at]
        proposal = proposed("repair" if record.content else "forget", record)
        findings.append(found("malformed", [record], f"{'; '.join(record.problems)}.", proposal))
    return findings


WORKLISTS: dict[str, Worklist] = {
    worklist.name: worklist
    for worklist in (
        Worklist(
            "duplicates",
            "Near-duplicates",
            "Memories that say the same. Accepting merges them into the fullest one.",
            duplicates,
        ),
        Worklist(
            "contradictions",
            "Contradictions",
            "Two memories that cannot both hold. Accepting forgets the earlier one.",
            contradictions,
        ),
        Worklist(
            "changed",
            "Changed lately by the engine",
            "What an agent's conversation reworded or withdrew. Accepting takes the change back.",
            changed_lately,
        ),
        Worklist(
            "unrecalled",
            "Never recalled",
            "Memories that no recall ever returned. Accepting forgets them.",
            never_recalled,
        ),
        Worklist(
            "stale",
            "Stale and of low importance",
            "Unimportant memories that have not changed for long. Accepting forgets them.",
            stale,
        ),
        Worklist(
            "junk",
            "Junk and instructions",
            "Text that says nothing, or that tries to steer the agent. Accepting forgets it.",
            junk,
        ),
        Worklist(
            "sensitive",
            "Secrets and personal data",
            "Cards, keys, passwords, e-mail addresses and phone numbers, by their form. Accepting forgets the memory; "
            "its history keeps the text until it is erased.",
            sensitive,
        ),
        Worklist(
            "language",
            "Another script than its source",
            "Memories in another script than the words they rest on. Languages of one script are not told apart.",
            other_script,
        ),
        Worklist(
            "unvectored",
            "Not to be found by meaning",
            "Memories without a usable vector. Accepting embeds them.",
            unvectored,
        ),
        Worklist(
            "malformed",
            "Malformed",
            "Items with fields that cannot be read. Accepting writes them as they are understood.",
            malformed,
        ),
    )
}
"""Every worklist, in the order in which a curator goes through them. To teach one, add a row."""


def _in_force(latest: Change, known: Mapping[str, Change]) -> Change:
    """The change that made the memory what it is: where the undo of a change was undone, that change again."""
    change = latest
    while (undone := known.get(change.undoes or "")) and (first := known.get(undone.undoes or "")):
        change = first
    return change


def _open_records(survey: Survey) -> list[MemoryRecord]:
    return [survey.records[at] for at in np.flatnonzero(survey.is_open).tolist()]
