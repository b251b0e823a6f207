"""What a memory rests on: each quote, and where its run is kept the turn in its conversation and what else it gave."""

from __future__ import annotations

import streamlit as st
from mnemoscope import Evidence, MemoryRecord, Message, NotFoundError
from mnemoscope.consolidation import Run
from mnemoscope.models import PURPOSES

from app.session import navigation
from app.session.session import Session
from app.text.display import counted, one_line, safe, timestamp
from app.views.browse import opened
from app.views.history import filters, undo
from app.views.memory import conversation

__all__ = ["draw", "turns_around"]

TURNS_BESIDE = 2
TURN_LIMIT, QUOTE_LIMIT, OTHERS = 1_500, 2_000, 5
_NAMES = {"user": "User", "assistant": "Assistant", "system": "System prompt", "tool": "Tool"}


def draw(working: Session, record: MemoryRecord) -> None:
    """Draw all evidence of the memory."""
    if not record.evidence:
        st.caption("No conversation is known for this memory: it was written directly.")
    runs: dict[str, Run | None] = {}
    for at, each in enumerate(record.evidence):
        if each.run and each.run not in runs:
            runs[each.run] = _run(working, each.run)
        with st.container(border=True, gap="xsmall"):
            _draw_one(working, record, each, runs.get(each.run or ""), at)


def turns_around(run: Run, message_ids: list[str]) -> list[Message]:
    """The turns of these ids, each with a few before and after it, in order."""
    cited = [at for at, message in enumerate(run.messages) if message.id in message_ids]
    near = {at for place in cited for at in range(place - TURNS_BESIDE, place + TURNS_BESIDE + 1)}
    return [message for at, message in enumerate(run.messages) if at in near]


def _run(working: Session, name: str) -> Run | None:
    try:
        return working.engine.runs.get(name)
    except NotFoundError:
        return None


def _draw_one(working: Session, record: MemoryRecord, evidence: Evidence, run: Run | None, at: int) -> None:
    if evidence.quote:
        st.text(f"“{safe(evidence.quote, QUOTE_LIMIT)}”")
    known = {
        "said": timestamp(evidence.said_at) if evidence.said_at else "",
        "speaks of": evidence.date or "",
        "source": evidence.source or "",
        "messages": ", ".join(evidence.message_ids),
        "run": evidence.run or "",
    }
    st.text(" · ".join(f"{name} {one_line(value, 120)}" for name, value in known.items() if value))
    if run is None:
        return
    _draw_turns(run, evidence.message_ids)
    _draw_making(run)
    _draw_others(record, run, evidence.message_ids, at)
    conversation.draw(working, run, at)


def _draw_turns(run: Run, message_ids: list[str]) -> None:
    turns = turns_around(run, message_ids)
    if not turns and run.not_kept:
        st.caption("The turns of this conversation are not kept.")
    for message in turns:
        is_cited = message.id in message_ids
        name = one_line(message.name, 60) if message.name else _NAMES[message.role]
        with st.container(border=is_cited, gap="xxsmall"):
            st.caption(f"{':material/format_quote: ' if is_cited else ''}{timestamp(message.said_at)}")
            st.text(f"{name}: {safe(message.text, TURN_LIMIT)}")


def _draw_making(run: Run) -> None:
    by = f"Taken out by {one_line(run.extractor, 60)}, judged by {one_line(run.consolidator, 60)}"
    versions = ", ".join(f"prompt {one_line(name, 40)}" for name in run.prompt_versions.values())
    calls = f", {counted(len(run.calls), 'model call')}" if run.calls else ""
    st.text(f"{by}{f' with {versions}' if versions else ''}{calls} · {timestamp(run.at)}")
    with st.container(horizontal=True, gap="small"):
        where: dict[str, str | list[str]] = {
            "ns": list(run.namespace),
            filters.VIEW_KEY: undo.LABEL,
            "h_run": run.id,
        }
        navigation.link_to("history", "Take back the whole run", **where)
        for purpose, version in run.prompt_versions.items():
            if purpose in PURPOSES:
                asked: dict[str, str | list[str]] = {"p_mode": "prompt", "p_purpose": purpose, "p_prompt": version}
                navigation.link_to("replay", f"The prompt it followed to {purpose}", **asked)


def _draw_others(record: MemoryRecord, run: Run, message_ids: list[str], at: int) -> None:
    facts = {
        fact.target: fact for name in message_ids for fact in run.facts_of_turn(name) if fact.chosen and not fact.erased
    }
    others = [(key, fact) for key, fact in facts.items() if key not in (None, record.key)]
    if others:
        st.caption("The same turn also led to")
    for number, (key, fact) in enumerate(others[:OTHERS]):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.text(one_line(fact.content, 160), width="stretch")
            st.button(
                "Open",
                key=f"browse.same_turn-{at}-{number}",
                type="tertiary",
                on_click=opened.open_memory,
                args=((run.namespace, str(key)),),
            )
    if len(others) > OTHERS:
        st.caption(f"and {counted(len(others) - OTHERS, 'further memory', 'further memories')}.")
