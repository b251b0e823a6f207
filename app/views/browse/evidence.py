"""What a memory rests on: each quote, its turn, what else that gave; and forgetting the whole conversation."""

from __future__ import annotations

import streamlit as st
from mnemoscope import Evidence, MemoryRecord, Message, MnemoscopeError, NotFoundError
from mnemoscope.consolidation import Run
from mnemoscope.core import Namespace
from mnemoscope.curation import ForgottenConversation
from mnemoscope.models import PURPOSES

from app.components import actions
from app.session import links, session
from app.session.session import Session
from app.text.display import counted, one_line, safe, timestamp

TURNS_BESIDE = 2

TURN_LIMIT, QUOTE_LIMIT, OTHERS = 1_500, 2_000, 5

_NAMES = {"user": "User", "assistant": "Assistant", "system": "System prompt", "tool": "Tool"}

OFFER_SHOWN, OFFER_LIMIT = 8, 120


def draw_evidence(working: Session, record: MemoryRecord) -> None:
    """Draw all evidence of the memory."""
    if not record.evidence:
        st.caption("No conversation is known for this memory: it was written directly.")
    runs: dict[str, Run | None] = {}
    for at, each in enumerate(record.evidence):
        if each.run and each.run not in runs:
            runs[each.run] = _read_run(working, each.run)
        with st.container(border=True, gap="xsmall"):
            _draw_one(working, record, each, runs.get(each.run or ""), at)


def turns_around(run: Run, message_ids: list[str]) -> list[Message]:
    """The turns of these ids, each with a few before and after it, in order."""
    cited = [at for at, message in enumerate(run.messages) if message.id in message_ids]
    near = {at for place in cited for at in range(place - TURNS_BESIDE, place + TURNS_BESIDE + 1)}
    return [message for at, message in enumerate(run.messages) if at in near]


def _read_run(working: Session, name: str) -> Run | None:
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
    draw_forgetting(working, run, at)


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
            links.HISTORY_VIEW_KEY: links.HISTORY_UNDO,
            "h_run": run.id,
        }
        links.link_to("history", "Take back the whole run", **where)
        for purpose, version in run.prompt_versions.items():
            if purpose in PURPOSES:
                asked: dict[str, str | list[str]] = {"p_mode": "prompt", "p_purpose": purpose, "p_prompt": version}
                links.link_to("replay", f"The prompt it followed to {purpose}", **asked)


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
                on_click=links.open_memory,
                args=((run.namespace, str(key)),),
            )
    if len(others) > OTHERS:
        st.caption(f"and {counted(len(others) - OTHERS, 'further memory', 'further memories')}.")


def draw_forgetting(working: Session, run: Run, at: int) -> None:
    """Draw the popover beside the evidence at this position; what would go is looked up once it is opened."""
    popover = st.popover(
        "Forget this conversation",
        icon=":material/delete_sweep:",
        type="tertiary",
        disabled=not working.is_writing,
        help=None if working.is_writing else "Reading only. Switch writing on at the top of the page.",
        key=f"browse.conversation-{at}",
        on_change="rerun",
    )
    if not popover.open:
        return
    with popover:
        offered = working.engine.runs.forget(run.namespace, run=run.id)
        _draw_offer(offered)
        st.button(
            f"Forget {counted(len(offered.memories), 'memory', 'memories')} and the turns",
            key=forget_key(at),
            type="primary",
            on_click=_forget_conversation,
            args=(run.namespace, run.id),
        )


def forget_key(at: int) -> str:
    """The key of the button that forgets."""
    return f"browse.forget_conversation-{at}"


def _draw_offer(offered: ForgottenConversation) -> None:
    st.markdown(f"**{counted(len(offered.memories), 'memory rests', 'memories rest')} on this conversation alone**")
    _draw_texts(offered.memories)
    if offered.shared:
        st.caption("These rest on other conversations too, and stay:")
        _draw_texts(offered.shared)
    st.caption("The memories go to the trash, and one undo brings them back. The kept turns are dropped for good.")


def _draw_texts(records: tuple[MemoryRecord, ...]) -> None:
    for record in records[:OFFER_SHOWN]:
        st.text(one_line(record.content, OFFER_LIMIT))
    if len(records) > OFFER_SHOWN:
        st.caption(f"and {len(records) - OFFER_SHOWN:,} more")


def _forget_conversation(namespace: Namespace, run: str) -> None:
    try:
        working = session.require_writing()
        done = working.engine.runs.forget(
            namespace, run=run, dry_run=False, actor=working.operator, reason="Its conversation was forgotten."
        )
    except MnemoscopeError as error:
        actions.refuse(error)
    else:
        actions.report(f"Forgot {counted(len(done.memories), 'memory', 'memories')}.", undo=done.group)
