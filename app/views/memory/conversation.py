"""Forgetting a whole conversation from one of its memories: what would go, what stays, and the button."""

from __future__ import annotations

import streamlit as st
from mnemoscope import MemoryRecord, MnemoscopeError
from mnemoscope.consolidation import Run
from mnemoscope.core import Namespace
from mnemoscope.curation import ForgottenConversation

from app.components import feedback
from app.session import session
from app.session.session import Session
from app.text.display import counted, one_line

__all__ = ["draw", "forget_key"]

SHOWN, TEXT_LIMIT = 8, 120


def draw(working: Session, run: Run, at: int) -> None:
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
            on_click=_forget,
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
    for record in records[:SHOWN]:
        st.text(one_line(record.content, TEXT_LIMIT))
    if len(records) > SHOWN:
        st.caption(f"and {len(records) - SHOWN:,} more")


def _forget(namespace: Namespace, run: str) -> None:
    try:
        working = session.require_writing()
        done = working.engine.runs.forget(
            namespace, run=run, dry_run=False, actor=working.operator, reason="Its conversation was forgotten."
        )
    except MnemoscopeError as error:
        feedback.refused(error)
    else:
        feedback.done(f"Forgot {counted(len(done.memories), 'memory', 'memories')}.", undo=done.group)
