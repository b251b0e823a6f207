"""A conversation as a model is shown it: fenced line by line, and in parts where it is too long for one call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..conversations.messages import Message
from ..core.text import json_line
from ..core.times import to_iso

__all__ = ["Part", "fenced", "parts_of"]


_OVERLAP_TURNS = 2
_OVERLAP_SHARE = 4
_LINE_OVERHEAD = 80
_CUTS = ("\n\n", "\n", "。", ". ", " ")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True)
class Part:
    """A stretch of a conversation for one call; `context` are the last turns of the part before."""

    messages: tuple[Message, ...]
    context: tuple[Message, ...] = ()

    @property
    def read_before(self) -> frozenset[str]:
        """Ids of the messages that are its context alone."""
        return frozenset(each.id for each in self.context) - {each.id for each in self.messages}


def parts_of(messages: Sequence[Message], longest: int) -> list[Part]:
    """The conversation in parts of at most about `longest` characters, split between turns.

    A turn that is longer by itself is split between its paragraphs or sentences.
    """
    groups: list[list[Message]] = []
    room = 0
    for piece in (piece for message in messages for piece in _pieces(message, longest)):
        if not groups or _size(piece) > room:
            groups.append([])
            room = longest
        groups[-1].append(piece)
        room -= _size(piece)
    befores = [(), *(_overlap(group, longest) for group in groups)]
    return [Part(tuple(group), before) for group, before in zip(groups, befores, strict=False)]


def fenced(part: Part) -> str:
    """The part as data for a prompt: JSON, a line a message, so that no text can pose as another message."""
    lines = [*(_line(message, is_context=True) for message in part.context), *map(_line, part.messages)]
    return "\n".join(["The conversation, one JSON object a line:", *lines, "End of the conversation."])


def _line(message: Message, *, is_context: bool = False) -> str:
    shown: dict[str, object] = {"id": message.id, "role": message.role}
    if message.name:
        shown["name"] = message.name
    if message.said_at:
        shown["said_at"] = f"{to_iso(message.said_at)} ({_DAYS[message.said_at.weekday()]})"
    if is_context:
        shown["context"] = True
    shown["text"] = message.text
    return json_line(shown)


def _size(message: Message) -> int:
    return len(message.text) + _LINE_OVERHEAD


def _overlap(group: Sequence[Message], longest: int) -> tuple[Message, ...]:
    kept: list[Message] = []
    room = longest // _OVERLAP_SHARE
    for message in reversed(group[-_OVERLAP_TURNS:]):
        room -= _size(message)
        if room < 0:
            break
        kept.insert(0, message)
    return tuple(kept)


def _pieces(message: Message, longest: int) -> Iterator[Message]:
    text = message.text
    most = max(longest - _LINE_OVERHEAD, 1)
    while len(text) > most:
        at = next((found + len(cut) for cut in _CUTS if (found := text.rfind(cut, most // 2, most)) >= 0), most)
        yield replace(message, text=text[:at])
        text = text[at:]
    yield replace(message, text=text)
