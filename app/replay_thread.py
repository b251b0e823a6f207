"""A thread of a LangGraph checkpointer as the conversation to replay: read, and never written."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

import streamlit as st
from mnemoscope import ConfigurationError, MnemoscopeError, Thread, list_threads, open_checkpointer, read_thread
from mnemoscope.connections import connection_to
from mnemoscope.conversations import Conversation
from mnemoscope.messages import Transcript
from mnemoscope.roles import may

from app import states
from app.display import counted, one_line, safe, timestamp
from app.replay_chosen import Chosen
from app.session import Session

__all__ = ["PLACE_KEY", "THREAD_KEY", "choose"]

PLACE_KEY = "replay.checkpoints"
THREAD_KEY = "replay.thread"
THREADS = 100

_READ = "replay.kept_thread"


@dataclass(frozen=True)
class _Read:
    """What was read of one place: its threads, and the one that was opened last."""

    place: str
    threads: tuple[Thread, ...]
    conversation: Conversation | None = None


def choose(working: Session) -> Chosen | None:
    """Draw where the checkpoints are and the choice of a thread; None while there is none."""
    if not may(working.role, "editor"):
        st.caption("Your role is viewer, and checkpoints are opened by an editor.")
        return None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        place = st.text_input(
            "Checkpoints",
            key=PLACE_KEY,
            placeholder="checkpoints.sqlite, or postgresql://user:${PGPASSWORD}@host/database",
            help="They are opened for reading alone. A password is taken from an environment variable.",
        ).strip()
        if st.button("Read again", key="replay.read_threads", icon=":material/refresh:", disabled=not place):
            st.session_state.pop(_READ, None)
    if not place:
        return None
    try:
        return _choose_at(place)
    except MnemoscopeError as error:
        states.failed(error)
        return None


def _choose_at(place: str) -> Chosen | None:
    kept = st.session_state.get(_READ)
    if not isinstance(kept, _Read) or kept.place != place:
        with st.spinner("Looking for threads …"), open_checkpointer(_address(place)) as saver:
            kept = _Read(place, tuple(list_threads(saver, limit=THREADS)))
        st.session_state[_READ] = kept
    threads = {each.id: each for each in kept.threads}
    if not threads:
        st.caption("No thread is in these checkpoints.")
        return None
    if st.session_state.get(THREAD_KEY) not in threads:
        st.session_state[THREAD_KEY] = next(iter(threads))
    name = st.selectbox("Thread", list(threads), format_func=lambda id: _labelled(threads[id]), key=THREAD_KEY)
    if len(threads) == THREADS:
        st.caption(f"These are the {THREADS} threads that were used last.")
    return _chosen(place, _conversation(kept, name))


def _conversation(kept: _Read, name: str) -> Conversation:
    if kept.conversation is not None and kept.conversation.id == name:
        return kept.conversation
    with open_checkpointer(_address(kept.place)) as saver:
        read = read_thread(saver, name)
    st.session_state[_READ] = _Read(kept.place, kept.threads, read)
    return read


def _chosen(place: str, conversation: Conversation) -> Chosen:
    for note in conversation.notes:
        st.text(safe(note, 500))
    shown = "os.environ['CHECKPOINTS']" if "://" in place else repr(place)
    return Chosen(
        source=f"thread/{conversation.id}",
        transcript=Transcript(conversation.messages, conversation.left_out, conversation.notes),
        python=f"read_thread(open_checkpointer({shown}).__enter__(), {conversation.id!r}).messages",
    )


def _address(place: str) -> str:
    """The place as it is opened; of an address, a variable stands in for the password alone."""
    if "://" not in place:
        return os.path.expanduser(place)
    if "${" in re.sub(r"(?<=://)[^@/]*@", "", place):
        raise ConfigurationError("A variable is filled in for a password alone.")
    return connection_to(place).address(os.environ)


def _labelled(thread: Thread) -> str:
    messages = counted(thread.message_count, "message")
    opening = f"\u2068{one_line(thread.opening, 60)}\u2069" if thread.opening else "(nothing said)"
    return f"{one_line(thread.id, 40)}  ·  {opening}  ·  {messages}  ·  {timestamp(thread.last_at)}"
