"""The explanation of one memory on the Recall page: in sentences, in numbers, and what would bring it in."""

from __future__ import annotations

import streamlit as st
from mnemoscope import Explanation, MemoryConfig, RecallResult
from mnemoscope.recall import Standing, explain
from mnemoscope.stores import Ref

from app.components.tables import key_of
from app.session import links
from app.text.display import safe, score, timestamp
from app.views.recall.sliders import RankingSettings, describe_change, find_step, set_slider

_TEXT_LIMIT = 5_000


_MOST_REMEDIES = 4


def draw_explanation(result: RecallResult, ref: Ref, chosen: RankingSettings, stored: MemoryConfig) -> None:
    """Draw why this candidate is returned or not."""
    explanation = explain(result, *ref)
    answer, numbers = st.columns([1, 1.2], gap="medium")
    with answer:
        st.text(safe("\n".join(_answers(explanation))))
        _draw_remedies(explanation, result, chosen, stored)
    with numbers:
        st.markdown(_table(explanation))
    if explanation.record is not None:
        st.code(safe(explanation.record.content, _TEXT_LIMIT), language=None, wrap_lines=True)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"Changed {timestamp(explanation.record.changed_at)}", width="content")
            links.link_to("browse", "Open in Browse", ns=list(ref[0]), **links.query_of_memory(ref))


def draw_absent(explanation: Explanation) -> None:
    """Draw why a memory is not even a candidate."""
    with st.container(border=True, key="recall-absent"):
        st.markdown(":material/help: **The memory in this link**")
        for sentence in explanation.sentences:
            st.text(safe(sentence))
        if explanation.standing is Standing.FORGOTTEN:
            st.caption("Forgotten memories are kept and can be brought back.")


def _answers(explanation: Explanation) -> list[str]:
    ways_in = ("The smallest", "Others: ", "No ")
    return [sentence for sentence in explanation.sentences if not sentence.startswith(ways_in)]


def _draw_remedies(
    explanation: Explanation, result: RecallResult, chosen: RankingSettings, stored: MemoryConfig
) -> None:
    changes = [
        (remedy, value)
        for remedy in explanation.remedies
        if (value := find_step(remedy, stored)) is not None
        and _works(explanation, result, chosen, remedy.setting, value)
    ]
    if not changes:
        if explanation.standing is Standing.DROPPED:
            st.text(safe(explanation.sentences[-1]))
        return
    st.markdown("**What would bring it in**, one change each, the smallest first")
    for remedy, value in changes[:_MOST_REMEDIES]:
        st.button(
            describe_change(remedy, value),
            key=key_of(f"recall.try-{remedy.setting}", [(explanation.namespace, explanation.key)]),
            icon=":material/play_arrow:",
            on_click=set_slider,
            args=(remedy.setting, value),
        )


def _works(explanation: Explanation, result: RecallResult, chosen: RankingSettings, setting: str, value: float) -> bool:
    """Whether the step of the widget, a little beyond the remedy, still brings the memory in."""
    changed = explain(chosen.having(setting, value).rank(result), explanation.namespace, explanation.key)
    return changed.standing is Standing.RETURNED


def _table(explanation: Explanation) -> str:
    lines = ["| part | value × weight | place | gap |", "|:--|--:|--:|--:|"]
    for part in explanation.parts:
        product = f"{score(part.raw)} × {part.weight:g} = {part.contribution:.3f}"
        product = "unknown" if part.raw is None else product
        lines.append(f"| {part.name} | {product} | {part.place:,} | {_gap(part.gap)} |")
    gap = None if explanation.needed is None or explanation.score is None else explanation.score - explanation.needed
    lines.append(f"| **score** | **{score(explanation.score)}** | **{explanation.place:,}** | **{_gap(gap)}** |")
    return "\n".join(lines)


def _gap(gap: float | None) -> str:
    return "–" if gap is None else f"{gap:+.3f}"
