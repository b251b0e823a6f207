"""The versions of a prompt: listed with who wrote them, kept, put to use, and saved as a file."""

from __future__ import annotations

import pandas as pd
import streamlit as st
from mnemoscope import MnemoscopeError
from mnemoscope.core import utc_now
from mnemoscope.models import PromptBook, PromptVersion, Purpose, prompt_version

from app.components import feedback
from app.session import session
from app.session.session import Session
from app.text.display import age, one_line, timestamp
from app.views.replay.source import url

__all__ = [
    "NAME_KEY",
    "NOTE_KEY",
    "SAVE_KEY",
    "USE_KEY",
    "VERSION_KEY",
    "draw_actions",
    "draw_versions",
    "labelled",
    "text_key",
]

NAME_KEY, NOTE_KEY = "replay.prompt_name", "replay.prompt_note"
SAVE_KEY, USE_KEY = "replay.prompt_save", "replay.prompt_use"
VERSION_KEY = "p_prompt"
_USES_SHOWN = 20


def text_key(version: PromptVersion) -> str:
    """The key of the text in which this version is edited; each keeps its own draft."""
    return f"replay.prompt_text-{version.purpose}-{version.id}"


def labelled(version: PromptVersion, used: PromptVersion) -> str:
    """The version in one line; the one in use says so."""
    name = one_line(version.name, 60) or "(no name)"
    by = f"{one_line(version.actor, 40)}, {age(version.at, utc_now())}" if version.at else "with the library"
    return f"\u2068{name}\u2069  ·  {version.id}  ·  {by}{'  ·  in use' if version.id == used.id else ''}"


def draw_actions(
    working: Session, book: PromptBook, versions: list[PromptVersion], begun: PromptVersion, text: str
) -> None:
    """Draw what can be done with the text that was `begun` with a version: keep it, put it to use, save it."""
    purpose = begun.purpose
    known = next((each for each in versions if each.id == prompt_version(text)), None)
    is_used = known is not None and known.id == book.in_use(purpose).id
    if known is None:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input("Name", key=NAME_KEY, max_chars=60, placeholder="fewer trivial facts")
            st.text_input("Why", key=NOTE_KEY, max_chars=500, placeholder="what it is meant to change")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Keep as a version",
            key=SAVE_KEY,
            type="primary",
            icon=":material/save:",
            disabled=known is not None or not text or not working.is_writing,
            on_click=_save,
            args=(begun, text),
        )
        st.button(
            "Put to use",
            key=USE_KEY,
            icon=":material/publish:",
            disabled=known is None or is_used or not working.is_writing,
            help="This connection, and every agent that follows the store's prompt, reads by it from the next "
            "conversation on.",
            on_click=_use,
            args=(purpose, prompt_version(text)),
        )
        st.download_button(
            "As a file",
            text,
            file_name=f"{purpose}.txt",
            key="replay.prompt_file",
            icon=":material/download:",
            on_click="ignore",
            help="For extract_prompt or consolidate_prompt in a setup of `mnemoscope replay`.",
        )
    st.caption(_standing(known, is_used, working))


def draw_versions(book: PromptBook, versions: list[PromptVersion], used: PromptVersion, purpose: Purpose) -> None:
    """Draw all versions, and which of them was in use since when."""
    st.dataframe(
        pd.DataFrame(
            {
                "name": [one_line(each.name, 60) for each in versions],
                "version": [each.id for each in versions],
                "in use": [each.id == used.id for each in versions],
                "kept": [timestamp(each.at) if each.at else "with the library" for each in versions],
                "by": [one_line(each.actor, 60) for each in versions],
                "why": [one_line(each.note, 300) for each in versions],
                "characters": [len(each.text) for each in versions],
            }
        ),
        hide_index=True,
        alt="The versions of this prompt, the newest first",
    )
    uses = book.uses(purpose)
    if uses:
        names = {each.id: each.name for each in versions}
        with st.expander("Put to use", icon=":material/history:"):
            for use in uses[:_USES_SHOWN]:
                name = names.get(use.version, "") if use.version else "As it ships"
                st.text(f"{timestamp(use.at)} · {one_line(use.actor, 60)} · {one_line(name, 60)} {use.version or ''}")
            if len(uses) > _USES_SHOWN:
                st.caption(f"These are the latest {_USES_SHOWN} of {len(uses):,}.")


def _standing(known: PromptVersion | None, is_used: bool, working: Session) -> str:
    if not working.is_writing:
        return "Writing is off, so a wording can be tried and measured here, and not kept."
    if known is None:
        return "This wording is not kept yet."
    return "This wording is kept, and in use." if is_used else "This wording is kept, and not in use."


def _save(begun: PromptVersion, text: str) -> None:
    try:
        working = session.require_writing()
        made = PromptBook(working.adapter).save(
            text,
            purpose=begun.purpose,
            name=st.session_state.get(NAME_KEY, ""),
            note=st.session_state.get(NOTE_KEY, ""),
            actor=working.operator,
        )
    except MnemoscopeError as error:
        feedback.refused(error)
        return
    # The draft is a version now, and what it was begun with is as it was.
    del st.session_state[text_key(begun)]
    st.session_state[VERSION_KEY] = made.id
    url.write(VERSION_KEY, "")
    feedback.done("Kept the wording as a version.")


def _use(purpose: Purpose, version: str) -> None:
    try:
        working = session.require_writing()
        PromptBook(working.adapter).use(version, purpose=purpose, actor=working.operator)
    except MnemoscopeError as error:
        feedback.refused(error)
    else:
        feedback.done("This wording is in use from the next conversation on.")
