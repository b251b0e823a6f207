"""What a plan leaves, saved as the expected outcome of its conversation, for `mnemoscope replay`."""

from __future__ import annotations

import streamlit as st
from mnemoscope import Plan
from mnemoscope.conversations import ExpectedMemory, SampleConversation, write_sample

from app.text.display import one_line
from app.views.replay.source.chosen import Chosen

__all__ = ["SAVE_KEY", "draw", "expected_of"]

SAVE_KEY = "replay.save_expected"


def draw(plan: Plan, chosen: Chosen) -> None:
    """Draw the button that saves it."""
    st.download_button(
        "Save as the expected outcome",
        lambda: write_sample(_sample(plan, chosen)),
        file_name="expected.json",
        mime="application/json",
        key=SAVE_KEY,
        icon=":material/rule:",
        on_click="ignore",
        help="The conversation and what this plan leaves, as corrected, for `mnemoscope replay` to measure by.",
    )


def expected_of(plan: Plan) -> list[ExpectedMemory]:
    """The memories that say what the conversation says, after the plan: those it writes, and those it keeps."""
    written = {
        change.after.content: ExpectedMemory(
            change.after.content, change.action, change.before.content if change.before else None
        )
        for change in plan.changes
        if change.after is not None
    }
    changed = {change.key for change in plan.changes}
    kept = {
        record.content: ExpectedMemory(record.content)
        for planned in plan.facts
        if planned.outcome == "skip" and planned.target not in changed
        for record, _ in planned.compared
        if record.key == planned.target
    }
    return list({**kept, **written}.values())


def _sample(plan: Plan, chosen: Chosen) -> SampleConversation:
    name = one_line(chosen.source, 120)
    return SampleConversation(
        id=name,
        title=name,
        description=chosen.description,
        namespace=plan.namespace,
        messages=list(chosen.transcript.messages),
        expected=expected_of(plan),
        not_expected=[],
    )
