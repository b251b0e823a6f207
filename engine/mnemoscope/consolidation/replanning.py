"""A plan made again: for the store as it is now, and with facts let in that were held back at first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..core.execution import Steps
from ..core.text import normalise, one_line
from ..errors import InputError
from ..extraction.facts import ConsolidationDecision, ExtractedFact, Withheld
from ..extraction.proposals import REASONS
from .decisions import choose, edit_decision
from .plan import Plan, PlannedFact
from .planner import Planner

__all__ = ["replan"]


def replan(planner: Planner, plan: Plan, let_in: Sequence[int], by: str) -> Steps[Plan]:
    """The plan for the same facts in the store as it is now, and for these of `plan.withheld`.

    What a person changed in the plan stays: texts, decisions, and what was left out. A fact that is let in says by
    whom and why it had been held back, and rests on no quote that nobody said.

    Raises:
        InputError: nothing was withheld at one of the positions, or the plan holds that fact already.
    """
    plan = _distinct(plan)
    chosen = [_withheld(plan, at) for at in dict.fromkeys(let_in)]
    added = [_freed(each, plan) for each in chosen]
    _check_new(added, plan)
    made = yield from planner.again(plan, added)
    made = _as_before(made, plan)
    for at, each in enumerate(chosen, start=len(plan.facts)):
        made = _explained(made, at, f"Let in by {one_line(by)}, though held back: {each.reason}")
    rest = tuple(each for each in plan.withheld if each not in chosen)
    return replace(made, withheld=rest, held_back=_without(plan.held_back, chosen))


def _distinct(plan: Plan) -> Plan:
    """The plan in which facts that a person made equal are one."""
    found: dict[str, PlannedFact] = {}
    for planned in plan.facts:
        text = normalise(planned.fact.content)
        twin = found.get(text)
        both = 0 if twin is None else 1 + twin.collapsed
        found[text] = replace(twin or planned, collapsed=planned.collapsed + both)
    return replace(plan, facts=tuple(found.values()))


def _withheld(plan: Plan, at: int) -> Withheld:
    if not 0 <= at < len(plan.withheld):
        raise InputError(f"The plan withholds {len(plan.withheld)} facts, counted from 0; there is none at {at}.")
    return plan.withheld[at]


def _freed(withheld: Withheld, plan: Plan) -> ExtractedFact:
    """The fact as a person lets it in: a quote that stands nowhere is not kept as if it had been said."""
    fact = withheld.fact
    known = {message.id for message in plan.messages}
    is_said = withheld.reason not in (REASONS["unsupported"], REASONS["recalled memory"])
    ids = [each for each in fact.message_ids if each in known]
    return fact.model_copy(update={"message_ids": ids, "quote": fact.quote if is_said else None})


def _check_new(added: Sequence[ExtractedFact], plan: Plan) -> None:
    known = Counter(normalise(fact.content) for fact in [*(planned.fact for planned in plan.facts), *added])
    for fact in added:
        if known[normalise(fact.content)] > 1:
            raise InputError(f"The plan already holds the fact {one_line(fact.content)!r}.")


def _as_before(made: Plan, plan: Plan) -> Plan:
    """The new plan with what a person had decided and left out in the old one."""
    for at, old in enumerate(plan.facts):
        new = made.facts[at]
        is_overruled = new.outcome == "suppressed" and old.outcome != "suppressed" and old.decision is not None
        is_forgotten = new.decision is None and new.outcome == "insert" and _is_insert(old)
        if old.decision is not None and (is_overruled or is_forgotten):
            made = edit_decision(made, at, old.decision)
    left_out = {at for at, old in enumerate(plan.facts) if not old.chosen}
    return choose(made, [at for at in range(len(made.facts)) if at not in left_out]) if left_out else made


def _is_insert(planned: PlannedFact) -> bool:
    return planned.decision is not None and planned.decision.action == "insert"


def _explained(plan: Plan, at: int, why: str) -> Plan:
    """The plan in which the reason of this fact begins with why it is there; a suppressed one stays as it is."""
    planned = plan.facts[at]
    if planned.outcome == "suppressed":
        return plan
    decision = planned.decision
    if decision is None or planned.rejected:
        return edit_decision(plan, at, ConsolidationDecision(action="insert", reason=why))
    return edit_decision(plan, at, decision.model_copy(update={"reason": f"{why} {decision.reason}".strip()}))


def _without(held_back: Mapping[str, int], chosen: Sequence[Withheld]) -> dict[str, int]:
    names = {text: name for name, text in REASONS.items()}
    return dict(Counter(held_back) - Counter(names.get(each.reason, each.reason) for each in chosen))
