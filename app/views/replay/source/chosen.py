"""`Chosen`: the conversation that Replay works on, wherever it came from, and several joined into one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mnemoscope.conversations import Transcript
from mnemoscope.core import Namespace

__all__ = ["Chosen", "joined"]


@dataclass(frozen=True)
class Chosen:
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


def joined(transcripts: Sequence[tuple[str, Transcript]]) -> Transcript:
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
