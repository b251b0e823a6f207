"""An uploaded file of conversations: kept while the session lasts, read once a format, never lost by a bad part."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from mnemoscope import MnemoscopeError
from mnemoscope.conversations import FORMATS, Conversation, Unreadable, read_conversations

from app.text.display import counted, one_line, safe

UPLOAD_KEY = "replay.upload"


FORMAT_KEY = "replay.format"


CONVERSATION_KEY = "replay.conversation"


AS_RECOGNISED = ""


UNREADABLE_SHOWN = 20


_KEPT = "replay.kept_upload"


_READ = "replay.kept_reading"


_LABELS = {row.name: row.label for row in FORMATS}


@dataclass(frozen=True)
class Upload:
    """A file as it was uploaded."""

    name: str
    data: bytes


@dataclass(frozen=True)
class Reading:
    """What a file holds, read in one format; `error` says why it holds nothing."""

    conversations: tuple[Conversation, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    error: MnemoscopeError | None = None

    @property
    def formats(self) -> list[str]:
        """The names of the formats in which conversations were found."""
        return list(dict.fromkeys(each.format for each in self.conversations))


def read_upload(upload: Upload, format: str | None = None) -> Reading:
    """Every conversation of the file, and every stretch that is none."""
    try:
        found = list(read_conversations(upload.data, name=upload.name, format=format))
    except MnemoscopeError as error:
        return Reading(error=error)
    return Reading(
        tuple(each for each in found if isinstance(each, Conversation)),
        tuple(each for each in found if isinstance(each, Unreadable)),
    )


def choose_file() -> Upload | None:
    """Draw the uploader; the file, also after a visit to another page."""
    st.file_uploader(
        "File with one or more conversations",
        key=UPLOAD_KEY,
        on_change=_keep,
        help="It is read on this machine and kept in this session's memory only.",
    )
    upload = st.session_state.get(_KEPT)
    if isinstance(upload, Upload):
        return upload
    st.caption("Can be read: " + ", ".join(row.label for row in FORMATS) + ".")
    return None


def choose_format(upload: Upload) -> Reading:
    """Draw how the file is read, with what was found in it and what could not be read."""
    st.session_state.setdefault(FORMAT_KEY, AS_RECOGNISED)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        format = st.selectbox(
            "Read as",
            [AS_RECOGNISED, *_LABELS],
            format_func=lambda name: _LABELS.get(name, "What it is recognised as"),
            key=FORMAT_KEY,
            width=280,
        )
        reading = _read_once(upload, format or None)
        _draw_found(upload, reading)
    if reading.error is not None:
        st.error("**This file cannot be read as conversations**  \nNothing else is affected.", icon=":material/error:")
        st.code(safe(str(reading.error), 2_000), language=None, wrap_lines=True)
    if reading.unreadable:
        _draw_unreadable(reading)
    return reading


def choose_conversation(reading: Reading) -> Conversation:
    """Draw the choice among the file's conversations."""
    conversations = {each.id: each for each in reading.conversations}
    if st.session_state.get(CONVERSATION_KEY) not in conversations:
        st.session_state[CONVERSATION_KEY] = next(iter(conversations))
    chosen = st.selectbox(
        "Conversation",
        list(conversations),
        format_func=lambda id: _label(conversations[id]),
        key=CONVERSATION_KEY,
        disabled=len(conversations) == 1,
    )
    conversation = conversations[chosen]
    for note in conversation.notes:
        st.text(safe(note, 500))
    return conversation


def _keep() -> None:
    uploaded = st.session_state[UPLOAD_KEY]
    st.session_state[FORMAT_KEY] = AS_RECOGNISED
    st.session_state.pop(_READ, None)
    if uploaded is None:
        st.session_state.pop(_KEPT, None)
    else:
        st.session_state[_KEPT] = Upload(uploaded.name, uploaded.getvalue())


def _read_once(upload: Upload, format: str | None) -> Reading:
    kept = st.session_state.get(_READ)
    if kept is not None and kept[0] is upload and kept[1] == format:
        reading: Reading = kept[2]
        return reading
    with st.spinner("Reading the file …"):
        reading = read_upload(upload, format)
    st.session_state[_READ] = (upload, format, reading)
    return reading


def _draw_found(upload: Upload, reading: Reading) -> None:
    with st.container(gap="xxsmall", width="stretch"):
        if st.session_state.get(UPLOAD_KEY) is None:
            # After a visit to another page the uploader is empty, and the file still here.
            st.text(one_line(upload.name, 80))
        formats = ", ".join(_LABELS[name] for name in reading.formats)
        # Where nothing was found, what is shown below says why.
        if formats:
            st.caption(f"Read as {formats}: {counted(len(reading.conversations), 'conversation')}.")


def _draw_unreadable(reading: Reading) -> None:
    number = len(reading.unreadable)
    with st.expander(f"{counted(number, 'part')} of the file could not be read", icon=":material/warning:"):
        shown = [safe(str(each), 500) for each in reading.unreadable[:UNREADABLE_SHOWN]]
        st.code("\n".join(shown), language=None, wrap_lines=True)
        if number > UNREADABLE_SHOWN:
            st.caption(f"These are the first {UNREADABLE_SHOWN} of {number:,}.")


def _label(conversation: Conversation) -> str:
    # Isolated, so that a title written from right to left does not turn the rest around.
    return f"\u2068{one_line(conversation.title, 80)}\u2069  ·  {counted(len(conversation.messages), 'message')}"
