"""What a plan comes to: who read the conversation, what becomes of its facts, and what gave none."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
from mnemoscope import ModelError, Plan
from mnemoscope.errors import ModelCall

from app.text.display import counted, one_line, safe
from app.views.replay.plan import diff
from app.views.replay.plan.decision import OUTCOMES

__all__ = ["draw", "draw_changes", "draw_failure", "draw_reading"]

CHANGES_SHOWN = 100


def draw(plan: Plan, now: int, *, is_committed: bool) -> None:
    """Draw the figures; `now` is how many memories the namespace holds."""
    found = diff.counts(plan)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="replay-figures"):
        for outcome, look in OUTCOMES.items():
            if found.get(outcome):
                st.badge(f"{found[outcome]} {look.noun}", icon=look.icon, color=look.colour, help=look.help)
        if found.get("left out"):
            st.badge(f"{found['left out']} left out", icon=":material/remove_circle:", color="gray")
        then = "" if is_committed else f" → {diff.size_after(plan, now):,} after"
        st.caption(f"{counted(now, 'memory', 'memories')} now{then}", width="content")
    st.caption(_reader(plan))


def draw_reading(plan: Plan) -> None:
    """Draw what was read and gave no fact, by reason, and the model calls."""
    held, left = sum(plan.held_back.values()), sum(plan.left_out.values())
    title = f"What gave no fact: {counted(held + left, 'part')}"
    with st.expander(title, icon=":material/filter_alt:", expanded=not plan.facts):
        kept_back, left_out = st.columns(2)
        with kept_back:
            _draw_counts("Held back, by reason", plan.held_back, "Every sentence gave a fact.")
        with left_out:
            _draw_counts("Not read as said by people", plan.left_out, "Everything was read.")
        if plan.remarks:
            _draw_counts("Put right in the answers", plan.remarks, "")
    if plan.calls:
        _draw_calls(plan)


def draw_changes(plan: Plan) -> None:
    """Draw the namespace before and after, as one difference."""
    if not plan.changes:
        st.caption("Nothing changes.")
        return
    st.code(diff.diff_of_all(plan.changes[:CHANGES_SHOWN]), language="diff", wrap_lines=True)
    if len(plan.changes) > CHANGES_SHOWN:
        st.caption(f"These are the first {CHANGES_SHOWN} of {counted(len(plan.changes), 'change')}.")


def draw_failure(plan: Plan, failure: ModelError) -> None:
    """Say that extraction failed, with what the model answered."""
    st.error(
        "**No facts could be extracted**  \nNothing was written and the conversation is still here. Plan again, or "
        "name another model.",
        icon=":material/error:",
    )
    st.code(safe(f"{failure.failure}: {failure}", 2_000), language=None, wrap_lines=True)
    if failure.raw:
        with st.expander("What the model answered", icon=":material/data_object:"):
            st.code(safe(failure.raw, 20_000), language=None, wrap_lines=True)
    if plan.calls:
        _draw_calls(plan)


def _reader(plan: Plan) -> str:
    how = f"{len(plan.calls)} model calls" if plan.calls else "no model call"
    by_rules = "Rules extract facts here, not a model. " if plan.extractor == "RuleExtractor" else ""
    read = f"{counted(len(plan.messages), 'message')} read in {plan.seconds:.2f} s, {how}."
    return f":material/rule: {by_rules}{read}" if by_rules else f":material/smart_toy: {read}"


def _draw_counts(title: str, counts: Mapping[str, int], none: str) -> None:
    st.caption(title)
    if not counts:
        st.text(none)
    for reason, number in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        st.text(f"{number:,} × {one_line(reason, 120)}")


def _draw_calls(plan: Plan) -> None:
    with st.expander(counted(len(plan.calls), "model call"), icon=":material/smart_toy:"):
        for call in plan.calls:
            st.text(_call_line(call))
            if call.raw:
                st.code(safe(call.raw, 20_000), language=None, wrap_lines=True)


def _call_line(call: ModelCall) -> str:
    tokens = [
        f"{number:,} tokens {way}"
        for number, way in ((call.input_tokens, "in"), (call.output_tokens, "out"))
        if number is not None
    ]
    parts = [call.purpose, call.model, f"{call.seconds:.1f} s", *tokens, call.failure or "answered"]
    return one_line(" · ".join(parts), 300)
