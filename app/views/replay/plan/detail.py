"""One fact of a plan in full: what it rests on, what it was compared with, what was decided and why."""

from __future__ import annotations

import streamlit as st
from mnemoscope import MemoryRecord, Plan
from mnemoscope.consolidation import PlannedFact
from mnemoscope.core import normalise

from app.text.display import counted, one_line, safe, score, timestamp
from app.views.replay.plan import diff
from app.views.replay.plan.decision import OUTCOMES, stored_text
from app.views.replay.source.quotes import message_of

__all__ = ["badge", "draw", "importance_of"]

TEXT_LIMIT = 4_000


def draw(plan: Plan, at: int) -> None:
    """Draw the fact at this position of the plan."""
    planned = plan.facts[at]
    st.text(safe(stored_text(planned), TEXT_LIMIT))
    _draw_marks(plan, planned)
    _draw_decision(planned)
    _draw_changes(plan, at)
    _draw_evidence(plan, planned)
    _draw_compared(planned)


def badge(planned: PlannedFact) -> None:
    """The outcome of a fact, or that it is left out."""
    look = OUTCOMES[planned.outcome]
    if planned.chosen:
        st.badge(look.label, icon=look.icon, color=look.colour, help=look.help)
    else:
        st.badge("Left out", icon=":material/remove_circle:", color="gray", help="You took it out of the plan.")
    if planned.rejected:
        st.badge("Proposal put aside", icon=":material/gavel:", color="orange", help="Open the fact to see why.")


def importance_of(plan: Plan, planned: PlannedFact) -> float:
    """The importance that the fact would be stored with."""
    given = planned.fact.importance
    return plan.config.default_importance if given is None else given


def _draw_marks(plan: Plan, planned: PlannedFact) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f":material/priority_high: Importance {importance_of(plan, planned):.2f}", width="content")
        if planned.fact.categories:
            st.caption(":material/sell:", width="content")
            st.text(one_line(", ".join(planned.fact.categories), 200), width="content")
        if planned.fact.date:
            st.caption(":material/event: Speaks of", width="content")
            st.text(one_line(planned.fact.date, 40), width="content")
        if planned.collapsed:
            st.caption(f"{counted(planned.collapsed, 'equal fact')} went into it", width="content")


def _draw_decision(planned: PlannedFact) -> None:
    st.markdown("**Decision**")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        badge(planned)
        st.text(safe(planned.reason, 1_000), width="stretch")
    if planned.rejected:
        st.warning("The judge proposed something that is not allowed, so the proposal was put aside:")
        st.code(safe(planned.rejected, 1_000), language=None, wrap_lines=True)


def _draw_changes(plan: Plan, at: int) -> None:
    changes = [change for change in plan.changes if at in change.facts]
    if changes:
        st.markdown("**Before and after**")
        st.code(diff.diff_of_all(changes), language="diff", wrap_lines=True)


def _draw_evidence(plan: Plan, planned: PlannedFact) -> None:
    fact = planned.fact
    st.markdown("**Rests on**")
    if not fact.quote:
        st.caption("The extractor gave no quote for this fact.")
        return
    st.code(safe(fact.quote, TEXT_LIMIT), language=None, wrap_lines=True)
    at = message_of(planned, plan.messages)
    if at is None:
        st.warning("This quote does not stand in the conversation. Look twice before you commit the fact.")
        return
    message = plan.messages[at]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        said_at = timestamp(message.said_at or fact.said_at)
        st.caption(f"Message {at + 1} · {said_at} · {message.role}", width="content")
        if message.name:
            st.text(one_line(message.name, 60), width="content")


def _draw_compared(planned: PlannedFact) -> None:
    st.markdown("**Compared with**")
    if not planned.compared:
        st.caption("No memory of this namespace is like it.")
    for record, similarity in planned.compared:
        _draw_one_compared(record, similarity, planned)


def _draw_one_compared(record: MemoryRecord, similarity: float, planned: PlannedFact) -> None:
    # A memory that rests on the very turn is offered as 1.0, whatever its text has become.
    is_same_turn = similarity == 1.0 and normalise(record.content) != normalise(planned.fact.content)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.progress(min(max(similarity, 0.0), 1.0), text="same turn" if is_same_turn else score(similarity), width=90)
        st.text(safe(record.content, 500), width="stretch")
        if record.key == planned.target:
            st.badge("decided on", color="gray")
