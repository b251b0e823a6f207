"""What reading a file of conversations gives, and what a format of such files consists of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ..core.text import one_line, storable
from .messages import Message, read_messages

__all__ = ["Conversation", "Format", "JsonFormat", "Outcome", "TextFormat", "Unreadable", "build_conversation"]


_LONGEST_TITLE = 200


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """One conversation of a file.

    `id` is its own or "conversation-<n>", unique within the file; `format` names a row of `FORMATS`; `source`
    is the file it came from. `left_out` counts what no fact is taken from (see `Transcript`), with what only
    exports have, such as "attachment" or "message of another branch". `notes` says what an operator should know.
    """

    id: str
    title: str
    messages: tuple[Message, ...]
    format: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)
    source: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unreadable:
    """A stretch of a file that holds no conversation that can be read; the others are not lost by it."""

    where: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


Outcome: TypeAlias = Conversation | Unreadable


@dataclass(frozen=True)
class Format:
    """A kind of conversation file: its `name` for code, a `label` and a `description` for people."""

    name: str
    label: str
    description: str


@dataclass(frozen=True)
class JsonFormat(Format):
    """A format whose every conversation is one JSON value.

    `accepts` says what it can read when asked for by name, where that is more than it recognises by itself.
    """

    recognises: Callable[[object], bool]
    read: Callable[[object], Iterator[Conversation]]
    accepts: Callable[[object], bool] | None = None


@dataclass(frozen=True)
class TextFormat(Format):
    """A format of text files; `recognises` is given their beginning, `read` all of them in pieces."""

    recognises: Callable[[str], bool]
    read: Callable[[Iterator[str]], Iterator[Conversation]]


def build_conversation(
    turns: Sequence[object],
    *,
    id: object = None,
    title: object = None,
    left_out: Mapping[str, int] | None = None,
    notes: Sequence[str] = (),
) -> Conversation:
    """A conversation out of turns as `read_messages` takes them; unreadable ones are counted, not refused."""
    transcript = read_messages(list(turns), skip_unreadable=True)
    return Conversation(
        id=_label(id),
        title=_label(title),
        messages=transcript.messages,
        left_out=dict(Counter(transcript.left_out) + Counter(left_out or {})),
        notes=(*notes, *transcript.notes),
    )


def _label(value: object) -> str:
    return one_line(storable(value)[0])[:_LONGEST_TITLE] if isinstance(value, str) else ""
