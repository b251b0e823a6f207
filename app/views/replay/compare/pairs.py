"""Two plans for one conversation side by side: which facts answer to each other, and where they differ."""

from __future__ import annotations

from typing import NamedTuple

from mnemoscope import Plan
from mnemoscope.consolidation import PlannedFact
from mnemoscope.core import normalise

__all__ = ["Pair", "pairs"]


class Pair(NamedTuple):
    """A fact of the left plan and the one of the right that answers to it, by position; None where there is none.

    `difference` says in a word how they differ, and is empty where they do not.
    """

    left: int | None
    right: int | None
    difference: str = ""


def pairs(left: Plan, right: Plan) -> list[Pair]:
    """Every fact of both plans, in the order of the left one; then those that only the right one has.

    Facts answer to each other that say the same, or else that rest on the same words.
    """
    partners = _partners(left, right)
    found = [_pair(left, right, at, partners.get(at)) for at in range(len(left.facts))]
    taken = set(partners.values())
    return found + [Pair(None, at, "only here") for at in range(len(right.facts)) if at not in taken]


def _partners(left: Plan, right: Plan) -> dict[int, int]:
    found: dict[int, int] = {}
    for is_same in (_says_the_same, _rests_on_the_same):
        for at, planned in enumerate(left.facts):
            free = (other for other in range(len(right.facts)) if other not in found.values())
            if at not in found:
                partner = next((other for other in free if is_same(planned, right.facts[other])), None)
                found |= {} if partner is None else {at: partner}
    return found


def _pair(left: Plan, right: Plan, at: int, partner: int | None) -> Pair:
    if partner is None:
        return Pair(at, None, "only here")
    one, other = left.facts[at], right.facts[partner]
    differences = {
        "other text": not _says_the_same(one, other),
        "other decision": one.outcome != other.outcome,
        "other importance": one.fact.importance != other.fact.importance,
        "other categories": set(one.fact.categories) != set(other.fact.categories),
    }
    return Pair(at, partner, ", ".join(name for name, differs in differences.items() if differs))


def _says_the_same(one: PlannedFact, other: PlannedFact) -> bool:
    return normalise(one.fact.content) == normalise(other.fact.content)


def _rests_on_the_same(one: PlannedFact, other: PlannedFact) -> bool:
    if not one.fact.quote or not other.fact.quote:
        return False
    if one.fact.message_ids and other.fact.message_ids and not set(one.fact.message_ids) & set(other.fact.message_ids):
        return False
    quotes = normalise(one.fact.quote), normalise(other.fact.quote)
    return quotes[0] in quotes[1] or quotes[1] in quotes[0]
