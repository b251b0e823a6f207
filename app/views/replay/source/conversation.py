"""What Replay works on: a sample, or conversations of a file, one or all in sequence; and the namespace they go to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import streamlit as st
from mnemoscope import NamespaceError
from mnemoscope.conversations import SampleConversation, Transcript, load_samples, read_messages
from mnemoscope.core import Namespace, read_namespace, show_namespace, utc_now

from app.components import url_choices
from app.session import scope
from app.text.display import counted, one_line, safe
from app.views.replay.source import upload as replay_upload
from app.views.replay.source.upload import Reading, Upload

ORIGIN_KEY = "p_from"

SAMPLE_KEY = "p_sample"

ALL_KEY = "replay.all_in_sequence"

_ORIGINS = {
    "sample": ":material/forum: A sample",
    "upload": ":material/upload_file: A file",
    "thread": ":material/database: A thread",
}

TARGET_KEY = "replay.target"

_SUGGESTED = "replay.suggested_target"


@dataclass(frozen=True)
class ReplayConversation:
    """A conversation to replay.

    `source` names it in the evidence of what is remembered, and `python` is an expression for its messages. Samples
    are `meant_for` a namespace, and their `description` is fixed text. `file` is the name of the uploaded file that
    holds this and nothing else.
    """

    source: str
    transcript: Transcript
    python: str
    meant_for: Namespace | None = None
    description: str = ""
    file: str | None = None


def join_transcripts(transcripts: Sequence[tuple[str, Transcript]]) -> Transcript:
    """Several conversations, each with its name, one after the other; ids of messages say which each is from."""
    messages = [
        replace(message, id=f"{name}/{message.id}")
        for name, transcript in transcripts
        for message in transcript.messages
    ]
    left_out: Counter[str] = Counter()
    for _, transcript in transcripts:
        left_out.update(transcript.left_out)
    notes = tuple(note for _, transcript in transcripts for note in transcript.notes)
    return Transcript(tuple(messages), dict(left_out), notes)


def choose_origin() -> str:
    """Draw what is replayed: "sample", "upload" or "thread"."""
    url_choices.follow(ORIGIN_KEY, _ORIGINS, "sample")
    origin = st.segmented_control(
        "Replay",
        list(_ORIGINS),
        format_func=lambda name: _ORIGINS[name],
        required=True,
        key=ORIGIN_KEY,
        on_change=url_choices.write,
        args=(ORIGIN_KEY, "sample"),
        persist_state="session",
        label_visibility="collapsed",
    )
    return origin or "sample"


def choose_sample() -> ReplayConversation:
    """Draw the choice of a sample."""
    samples = {sample.id: sample for sample in load_samples(utc_now())}
    default = next(iter(samples))
    url_choices.follow(SAMPLE_KEY, samples, default)
    chosen = st.selectbox(
        "Conversation",
        list(samples),
        format_func=lambda name: _label(samples[name]),
        key=SAMPLE_KEY,
        on_change=url_choices.write,
        args=(SAMPLE_KEY, default),
        persist_state="session",
    )
    sample = samples[chosen]
    alike = [each for each in samples.values() if each.namespace == sample.namespace]
    if _wants_all(len(alike), f"samples for {show_namespace(sample.namespace)}"):
        return _all_samples(alike)
    return ReplayConversation(
        source=sample.id,
        transcript=read_messages(sample.messages),
        python=f"{{each.id: each for each in load_samples(utc_now())}}[{sample.id!r}].messages",
        meant_for=sample.namespace,
        description=sample.description,
    )


def choose_uploaded(upload: Upload, reading: Reading) -> ReplayConversation:
    """Draw the choice of one of the file's conversations, or of all."""
    conversation = replay_upload.choose_conversation(reading)
    if _wants_all(len(reading.conversations), "conversations of the file"):
        return _all_uploaded(upload, reading)
    return ReplayConversation(
        source=f"{upload.name}/{conversation.id}",
        transcript=Transcript(conversation.messages, conversation.left_out, conversation.notes),
        python=_read_in_python(upload, conversation.id),
        file=upload.name if len(reading.conversations) == 1 else None,
    )


def _wants_all(number: int, noun: str) -> bool:
    return number > 1 and st.checkbox(f"All {number:,} {noun}, one after the other", key=ALL_KEY)


def _all_samples(samples: list[SampleConversation]) -> ReplayConversation:
    where = samples[0].namespace
    return ReplayConversation(
        source=f"samples/{show_namespace(where)}",
        transcript=join_transcripts([(each.id, read_messages(each.messages)) for each in samples]),
        python=f"[said for each in load_samples(utc_now()) if each.namespace == {where!r} for said in each.messages]",
        meant_for=where,
    )


def _all_uploaded(upload: Upload, reading: Reading) -> ReplayConversation:
    read = f"read_conversations(open({upload.name!r}, 'rb'), name={upload.name!r})"
    found = reading.conversations
    return ReplayConversation(
        source=upload.name,
        transcript=join_transcripts(
            [(each.id, Transcript(each.messages, each.left_out, each.notes)) for each in found]
        ),
        python=f"[said for each in {read} if isinstance(each, Conversation) for said in each.messages]",
    )


def _label(sample: SampleConversation) -> str:
    # Isolated, so that a title written from right to left does not turn the rest around.
    return f"\u2068{sample.title}\u2069  ·  {counted(len(sample.messages), 'message')}"


def _read_in_python(upload: Upload, conversation: str) -> str:
    read = f"read_conversations(open({upload.name!r}, 'rb'), name={upload.name!r})"
    return f"{{each.id: each for each in {read} if isinstance(each, Conversation)}}[{conversation!r}].messages"


def choose_target(chosen: ReplayConversation | None, counts: Mapping[Namespace, int]) -> Namespace | None:
    """Draw the choice of a namespace; None while what is chosen or typed is none.

    The one at the top of the page is suggested, or else the one that a sample is meant for.
    """
    meant_for = chosen.meant_for if chosen else None
    suggested = _suggest_target(meant_for)
    offered = {show_namespace(each): each for each in sorted({*counts, *filter(None, (suggested, meant_for))})}
    if st.session_state.get(_SUGGESTED, ()) != suggested or TARGET_KEY not in st.session_state:
        st.session_state[_SUGGESTED] = suggested
        st.session_state[TARGET_KEY] = show_namespace(suggested) if suggested else None
    kept = st.session_state[TARGET_KEY]
    typed = st.selectbox(
        "Into the namespace",
        [*offered, *([kept] if kept and kept not in offered else [])],
        index=None,
        key=TARGET_KEY,
        format_func=lambda name: one_line(name, 60),
        accept_new_options=True,
        placeholder="Choose one, or type a new one such as memories/ana",
        help="A namespace that is not there yet comes into being with its first memory.",
    )
    return _read_target(typed, offered) if typed else None


def _read_target(typed: str, offered: Mapping[str, Namespace]) -> Namespace | None:
    try:
        return offered.get(typed) or read_namespace(typed.strip())
    except NamespaceError as error:
        st.warning("**This cannot be a namespace.** Type labels with a slash between them, such as memories/ana.")
        st.code(safe(str(error), 500), language=None, wrap_lines=True)
        return None


def _suggest_target(meant_for: Namespace | None) -> Namespace | None:
    top = scope.current()
    # A mere prefix of namespaces is looked at, not remembered into.
    return (None if top.subtree else top.namespace) or meant_for or top.namespace or None
