"""The conversation that Replay works on: one of the samples, or one of an uploaded file."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from mnemoscope.messages import Transcript, read_messages
from mnemoscope.namespaces import Namespace
from mnemoscope.samples import SampleConversation, load_samples
from mnemoscope.times import utc_now

from app import replay_upload, replay_url
from app.display import counted
from app.replay_upload import Reading, Upload

__all__ = ["ORIGIN_KEY", "SAMPLE_KEY", "Chosen", "choose_origin", "choose_sample", "choose_uploaded"]

ORIGIN_KEY = "replay.origin"
SAMPLE_KEY = "p_sample"

_ORIGINS = {"sample": ":material/forum: A sample", "upload": ":material/upload_file: A file"}


@dataclass(frozen=True)
class Chosen:
    """A conversation to replay.

    `source` names it in the evidence of what is remembered, and `python` is an expression for its messages. Samples
    are `meant_for` a namespace, and their `description` is fixed text.
    """

    source: str
    transcript: Transcript
    python: str
    meant_for: Namespace | None = None
    description: str = ""


def choose_origin() -> str:
    """Draw whether a sample or a file is replayed: "sample" or "upload"."""
    origin: str = st.segmented_control(
        "Replay",
        list(_ORIGINS),
        default="sample",
        format_func=lambda name: _ORIGINS[name],
        required=True,
        key=ORIGIN_KEY,
        persist_state="session",
        label_visibility="collapsed",
    )
    return origin


def choose_sample() -> Chosen:
    """Draw the choice of a sample."""
    samples = {sample.id: sample for sample in load_samples(utc_now())}
    default = next(iter(samples))
    replay_url.follow(SAMPLE_KEY, samples, default)
    chosen = st.selectbox(
        "Conversation",
        list(samples),
        format_func=lambda name: _labelled(samples[name]),
        key=SAMPLE_KEY,
        on_change=replay_url.write,
        args=(SAMPLE_KEY, default),
        persist_state="session",
    )
    sample = samples[chosen]
    return Chosen(
        source=sample.id,
        transcript=read_messages(sample.messages),
        python=f"{{each.id: each for each in load_samples(utc_now())}}[{sample.id!r}].messages",
        meant_for=sample.namespace,
        description=sample.description,
    )


def choose_uploaded(upload: Upload, reading: Reading) -> Chosen:
    """Draw the choice of one of the file's conversations."""
    conversation = replay_upload.choose_conversation(reading)
    return Chosen(
        source=f"{upload.name}/{conversation.id}",
        transcript=Transcript(conversation.messages, conversation.left_out, conversation.notes),
        python=_read_in_python(upload, conversation.id),
    )


def _labelled(sample: SampleConversation) -> str:
    # Isolated, so that a title written from right to left does not turn the rest around.
    return f"\u2068{sample.title}\u2069  ·  {counted(len(sample.messages), 'message')}"


def _read_in_python(upload: Upload, conversation: str) -> str:
    read = f"read_conversations(open({upload.name!r}, 'rb'), name={upload.name!r})"
    return f"{{each.id: each for each in {read} if isinstance(each, Conversation)}}[{conversation!r}].messages"
