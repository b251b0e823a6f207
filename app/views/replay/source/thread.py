"""A thread of a LangGraph checkpointer as the conversation to replay: read, and never written."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace

import streamlit as st
from mnemoscope import ConfigurationError, MnemoscopeError
from mnemoscope.connections import connection_to, may
from mnemoscope.conversations import Conversation, Thread, Transcript, list_threads, open_checkpointer, read_thread

from app.components import actions, states, url_choices
from app.session.session import Session
from app.text.display import counted, one_line, safe, timestamp
from app.views.replay.source.conversation import ReplayConversation

PLACE_KEY = "p_place"


THREAD_KEY = "p_thread"


FIND_KEY = "p_find"


OPEN_KEY, MORE_KEY = "replay.open_place", "replay.more_threads"


THREADS = 100


_PASSWORD = re.compile(r"://[^/@]*:(?!\$\{\w+\}@)[^/]*@|password=", re.IGNORECASE)


_READ = "replay.kept_thread"


_PLACES = "replay.opened_places"


@dataclass(frozen=True)
class _Read:
    """What was read of one place: its threads (those that hold what was looked for), and the one opened last.

    `has_more` says that there are older ones.
    """

    place: str
    find: str
    threads: tuple[Thread, ...]
    has_more: bool
    conversation: Conversation | None = None


def choose_thread(working: Session) -> ReplayConversation | None:
    """Draw where the checkpoints are and the choice of a thread; None while there is none.

    Place, search and thread are in the URL. A database that a URL names is opened only once somebody says so: a link
    must not send a password to an address of its own.
    """
    if not may(working.role, "editor"):
        st.caption("Your role is viewer, and checkpoints are opened by an editor.")
        return None
    url_choices.keep(PLACE_KEY)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        place = st.text_input(
            "Checkpoints",
            key=PLACE_KEY,
            placeholder="checkpoints.sqlite, or postgresql://user:${PGPASSWORD}@host/database",
            help="They are opened for reading alone. A password is taken from an environment variable.",
            on_change=_take_typed,
            persist_state="session",
        ).strip()
        if st.button("Read again", key="replay.read_threads", icon=":material/refresh:", disabled=not place):
            st.session_state.pop(_READ, None)
    if not place:
        return None
    if "://" in place and place not in st.session_state.get(_PLACES, ()):
        st.button("Open this database", key=OPEN_KEY, icon=":material/database:", on_click=_open, args=(place,))
        return None
    try:
        return _choose_at(place)
    except MnemoscopeError as error:
        states.draw_failed(error)
        return None


def _take_typed() -> None:
    place = st.session_state[PLACE_KEY].strip()
    _open(place)
    # A password that was typed in all the same must not stand in the address of the page.
    if _PASSWORD.search(place):
        st.query_params.pop(PLACE_KEY, None)
    else:
        url_choices.write(PLACE_KEY, "")


def _open(place: str) -> None:
    st.session_state[_PLACES] = (*st.session_state.get(_PLACES, ()), place)


def _choose_at(place: str) -> ReplayConversation | None:
    url_choices.keep(FIND_KEY)
    find = st.text_input(
        "Find",
        key=FIND_KEY,
        type="search",
        persist_state="session",
        placeholder="Words that were said, or the name of a thread",
        on_change=url_choices.write,
        args=(FIND_KEY, ""),
    ).strip()
    kept = st.session_state.get(_READ)
    if not isinstance(kept, _Read) or (kept.place, kept.find) != (place, find):
        kept = st.session_state[_READ] = _page(place, find)
    asked = st.query_params.get(THREAD_KEY)
    threads = {each.id: each for each in kept.threads}
    if not threads and not (asked and not find):
        st.caption("No thread holds these words." if find else "No thread is in these checkpoints.")
        return None
    # One that a URL names may be older than those listed.
    offered = [*threads, *([asked] if asked and asked not in threads and not find else [])]
    url_choices.follow(THREAD_KEY, offered, offered[0])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(
            "Thread",
            offered,
            format_func=lambda id: _label(threads[id]) if id in threads else one_line(id, 60),
            key=THREAD_KEY,
            on_change=url_choices.write,
            args=(THREAD_KEY, offered[0]),
        )
        if kept.has_more:
            st.button(f"{THREADS} older", key=MORE_KEY, icon=":material/expand_more:", on_click=_read_more)
    if kept.has_more:
        st.caption(f"These are the {counted(len(threads), 'thread')} that were used last.")
    return _as_conversation(place, _conversation(kept, name))


def _page(place: str, find: str, before: Thread | None = None) -> _Read:
    with st.spinner("Looking for threads …"), open_checkpointer(_address(place)) as saver:
        found = list_threads(saver, limit=THREADS + 1, before=before, contains=find)
    return _Read(place, find, tuple(found[:THREADS]), len(found) > THREADS)


def _read_more() -> None:
    kept: _Read = st.session_state[_READ]
    try:
        older = _page(kept.place, kept.find, kept.threads[-1])
    except MnemoscopeError as error:
        actions.refuse(error)
    else:
        st.session_state[_READ] = replace(older, threads=kept.threads + older.threads, conversation=kept.conversation)


def _conversation(kept: _Read, name: str) -> Conversation:
    if kept.conversation is not None and kept.conversation.id == name:
        return kept.conversation
    with open_checkpointer(_address(kept.place)) as saver:
        read = read_thread(saver, name)
    st.session_state[_READ] = replace(kept, conversation=read)
    return read


def _as_conversation(place: str, conversation: Conversation) -> ReplayConversation:
    for note in conversation.notes:
        st.text(safe(note, 500))
    shown = "os.environ['CHECKPOINTS']" if "://" in place else repr(place)
    return ReplayConversation(
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


def _label(thread: Thread) -> str:
    messages = counted(thread.message_count, "message")
    opening = f"\u2068{one_line(thread.opening, 60)}\u2069" if thread.opening else "(nothing said)"
    return f"{one_line(thread.id, 40)}  ·  {opening}  ·  {messages}  ·  {timestamp(thread.last_at)}"
