"""Two plans drawn side by side: which facts answer to each other, and where they differ."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st
from mnemoscope import Plan
from mnemoscope.consolidation import PlannedFact
from mnemoscope.core import normalise
from mnemoscope.replay import ReplaySetup

from app.components import tables
from app.session.session import Session
from app.text.display import counted, one_line, safe
from app.views.replay import setting
from app.views.replay.plan import facts, run, summary
from app.views.replay.plan.decision import OUTCOMES, find_stored_text
from app.views.replay.source.conversation import ReplayConversation

DIFFERENCES_KEY = "replay.only_differences"

TAKE_KEYS = ("replay.take_left", "replay.take_right")

PAGE_KEY = "p_pairs"

PAIRS_PER_PAGE, TEXT_LIMIT, RAW_LIMIT = 25, 600, 20_000


def draw_columns(
    working: Session, chosen: ReplayConversation, plans: tuple[Plan, Plan], setups: tuple[ReplaySetup, ReplaySetup]
) -> None:
    """Draw what each comes to, with the way to commit from it, and every pair of facts."""
    left, right = plans
    for side, column in enumerate(st.columns(2, gap="medium")):
        with column:
            _draw_head(plans[side])
            with st.container(horizontal=True):
                _draw_take(working, chosen, plans[side], setups[side], side)
                _draw_answers(plans[side])
    found = pair_facts(left, right)
    differing = [pair for pair in found if pair.difference]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{counted(len(differing), 'difference')}** in {counted(len(found), 'fact')}", width="content")
        only = st.toggle("Show the differences alone", key=DIFFERENCES_KEY)
    shown = differing if only else found
    window = tables.draw_pager(len(shown), key=PAGE_KEY, per_page=PAIRS_PER_PAGE)
    for at in range(window.start, window.stop):
        for column, plan, position in zip(
            st.columns(2, gap="medium"), (left, right), (shown[at].left, shown[at].right), strict=True
        ):
            with column:
                _draw_fact(plan, position, shown[at])


def _draw_head(plan: Plan) -> None:
    if plan.failure is not None:
        st.error("**No facts could be extracted**", icon=":material/error:")
        st.code(safe(f"{plan.failure.failure}: {plan.failure}", 2_000), language=None, wrap_lines=True)
    counts = summary.count_outcomes(plan)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        for outcome, look in OUTCOMES.items():
            if counts.get(outcome):
                st.badge(f"{counts[outcome]} {look.noun}", icon=look.icon, color=look.colour, help=look.help)
    st.text(_figures(plan))


def _draw_answers(plan: Plan) -> None:
    answers = [call.raw for call in plan.calls if call.raw]
    if answers:
        with st.popover("What the model answered", icon=":material/data_object:"):
            for answer in answers:
                st.code(safe(answer, RAW_LIMIT), language=None, wrap_lines=True)


def _draw_take(working: Session, chosen: ReplayConversation, plan: Plan, setup: ReplaySetup, side: int) -> None:
    st.button(
        "Correct and commit this one",
        key=TAKE_KEYS[side],
        icon=":material/checklist:",
        disabled=plan.failure is not None or not plan.facts,
        help="Opens it as one plan, decided again where the namespace as it is differs from the copy. Nothing is "
        "written before you commit.",
        on_click=_take,
        args=(working, chosen, plan, setup),
    )


def _take(working: Session, chosen: ReplayConversation, plan: Plan, setup: ReplaySetup) -> None:
    run.take(working, chosen, plan, setup)
    setting.go_to_mode("plan")


def _figures(plan: Plan) -> str:
    tokens = sum((call.input_tokens or 0) + (call.output_tokens or 0) for call in plan.calls)
    parts = [one_line(plan.extractor, 60), f"{plan.seconds:.2f} s", counted(len(plan.calls), "model call")]
    parts += [f"{tokens:,} tokens"] if tokens else []
    held = sum(plan.held_back.values())
    return " · ".join([*parts, f"{held:,} held back"])


def _draw_fact(plan: Plan, position: int | None, pair: Pair) -> None:
    with st.container(border=True, gap="xsmall"):
        if position is None:
            st.caption("Nothing here answers to it.")
            return
        planned = plan.facts[position]
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            facts.draw_badge(planned)
            if pair.difference:
                st.badge(pair.difference, icon=":material/difference:", color="orange")
            nearest = f", nearest {planned.compared[0][1]:.2f}" if planned.compared else ""
            st.caption(f"importance {facts.importance_of(plan, planned):.2f}{nearest}", width="content")
        changes = [change for change in plan.changes if position in change.facts]
        if any(change.before is not None for change in changes):
            st.code(summary.write_diffs(changes), language="diff", wrap_lines=True)
        else:
            st.text(safe(find_stored_text(planned), TEXT_LIMIT))
        st.caption(":material/info: Why")
        st.text(safe(planned.reason, TEXT_LIMIT))


class Pair(NamedTuple):
    """A fact of the left plan and the one of the right that answers to it, by position; None where there is none.

    `difference` says in a word how they differ, and is empty where they do not.
    """

    left: int | None
    right: int | None
    difference: str = ""


def pair_facts(left: Plan, right: Plan) -> list[Pair]:
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
