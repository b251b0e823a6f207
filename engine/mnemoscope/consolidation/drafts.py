"""Drafts: facts made fit to be stored, equal ones of a batch collapsed into one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ..core.text import normalise, shown, storable
from ..errors import InputError
from ..extraction.facts import ExtractedFact, readable
from .decisions import merged_names

__all__ = ["Draft", "Drafted", "drafted"]


@dataclass(frozen=True)
class Draft:
    """A fact on its way: its text is clean, `collapsed` equal ones went into it."""

    fact: ExtractedFact
    collapsed: int = 0


@dataclass
class Drafted:
    """The drafts of a batch; `dropped` counts the facts left out, by reason, `remarks` what was put right."""

    drafts: list[Draft] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    remarks: Counter[str] = field(default_factory=Counter)


def drafted(facts: Sequence[ExtractedFact]) -> Drafted:
    """The facts made fit to be stored.

    Raises:
        InputError: one of them is no fact.
    """
    if not isinstance(facts, list | tuple):
        raise InputError(f"facts must be a list of ExtractedFact, got {shown(facts)}.")
    found = Drafted()
    drafts: dict[str, Draft] = {}
    for position, fact in enumerate(facts):
        clean = readable(fact)
        if clean is None:
            raise InputError(f"facts[{position}] must be an ExtractedFact with text, got {shown(fact)}.")
        if not clean.content:
            found.dropped["empty fact"] += 1
            continue
        found.remarks["unreadable character replaced"] += storable(fact.content)[1]
        found.remarks["importance brought into 0 to 1"] += clean.importance != fact.importance
        same = drafts.get(normalise(clean.content))
        drafts[normalise(clean.content)] = _collapsed(same, clean) if same else Draft(clean)
    found.drafts = list(drafts.values())
    found.remarks = +found.remarks
    return found


def _collapsed(draft: Draft, twin: ExtractedFact) -> Draft:
    kept = draft.fact
    importances = [each for each in (kept.importance, twin.importance) if each is not None]
    merged = {
        "categories": merged_names(kept.categories, twin.categories),
        "message_ids": merged_names(kept.message_ids, twin.message_ids),
        "importance": max(importances, default=None),
    }
    return replace(draft, fact=kept.model_copy(update=merged), collapsed=draft.collapsed + 1)
