"""The conversation that Replay works on: samples, or conversations of an uploaded file, one or all in sequence."""

from __future__ import annotations

import streamlit as st
from mnemoscope.conversations import SampleConversation, Transcript, load_samples, read_messages
from mnemoscope.core import show_namespace, utc_now

from app.text.display import counted
from app.views.replay.source import upload as replay_upload
from app.views.replay.source import url
from app.views.replay.source.chosen import Chosen, joined
from app.views.replay.source.upload import Reading, Upload

__all__ = ["ALL_KEY", "ORIGIN_KEY", "SAMPLE_KEY", "choose_origin", "choose_sample", "choose_uploaded"]

ORIGIN_KEY = "p_from"
SAMPLE_KEY = "p_sample"
ALL_KEY = "replay.all_in_sequence"

_ORIGINS = {
    "sample": ":material/forum: A sample",
    "upload": ":material/upload_file: A file",
    "thread": ":material/database: A thread",
}


def choose_origin() -> str:
    """Draw what is replayed: "sample", "upload" or "thread"."""
    url.follow(ORIGIN_KEY, _ORIGINS, "sample")
    origin = st.segmented_control(
        "Replay",
        list(_ORIGINS),
        format_func=lambda name: _ORIGINS[name],
        required=True,
        key=ORIGIN_KEY,
        on_change=url.write,
        args=(ORIGIN_KEY, "sample"),
        persist_state="session",
        label_visibility="collapsed",
    )
    return origin or "sample"


def choose_sample() -> Chosen:
    """Draw the choice of a sample."""
    samples = {sample.id: sample for sample in load_samples(utc_now())}
    default = next(iter(samples))
    url.follow(SAMPLE_KEY, samples, default)
    chosen = st.selectbox(
        "Conversation",
        list(samples),
        format_func=lambda name: _labelled(samples[name]),
        key=SAMPLE_KEY,
        on_change=url.write,
        args=(SAMPLE_KEY, default),
        persist_state="session",
    )
    sample = samples[chosen]
    alike = [each for each in samples.values() if each.namespace == sample.namespace]
    if _wants_all(len(alike), f"samples for {show_namespace(sample.namespace)}"):
        return _all_samples(alike)
    return Chosen(
        source=sample.id,
        transcript=read_messages(sample.messages),
        python=f"{{each.id: each for each in load_samples(utc_now())}}[{sample.id!r}].messages",
        meant_for=sample.namespace,
        description=sample.description,
    )


def choose_uploaded(upload: Upload, reading: Reading) -> Chosen:
    """Draw the choice of one of the file's conversations, or of all."""
    conversation = replay_upload.choose_conversation(reading)
    if _wants_all(len(reading.conversations), "conversations of the file"):
        return _all_uploaded(upload, reading)
    return Chosen(
        source=f"{upload.name}/{conversation.id}",
        transcript=Transcript(conversation.messages, conversation.left_out, conversation.notes),
        python=_read_in_python(upload, conversation.id),
        file=upload.name if len(reading.conversations) == 1 else None,
    )


def _wants_all(number: int, noun: str) -> bool:
    return number > 1 and st.checkbox(f"All {number:,} {noun}, one after the other", key=ALL_KEY)


def _all_samples(samples: list[SampleConversation]) -> Chosen:
    where = samples[0].namespace
    return Chosen(
        source=f"samples/{show_namespace(where)}",
        transcript=joined([(each.id, read_messages(each.messages)) for each in samples]),
        python=f"[said for each in load_samples(utc_now()) if each.namespace == {where!r} for said in each.messages]",
        meant_for=where,
    )


def _all_uploaded(upload: Upload, reading: Reading) -> Chosen:
    read = f"read_conversations(open({upload.name!r}, 'rb'), name={upload.name!r})"
    found = reading.conversations
    return Chosen(
        source=upload.name,
        transcript=joined([(each.id, Transcript(each.messages, each.left_out, each.notes)) for each in found]),
        python=f"[said for each in {read} if isinstance(each, Conversation) for said in each.messages]",
    )


def _labelled(sample: SampleConversation) -> str:
    # Isolated, so that a title written from right to left does not turn the rest around.
    return f"\u2068{sample.title}\u2069  ·  {counted(len(sample.messages), 'message')}"


def _read_in_python(upload: Upload, conversation: str) -> str:
    read = f"read_conversations(open({upload.name!r}, 'rb'), name={upload.name!r})"
    return f"{{each.id: each for each in {read} if isinstance(each, Conversation)}}[{conversation!r}].messages"
