"""Memories that an agent put into its prompt: recognised in a conversation, so that they are not learned again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..conversations.messages import Message
from ..core.text import normalise

__all__ = ["Recalled", "find_recalled", "without_blanks"]


_QUOTED = r'(?P<quoted>"(?:[^"\\]|\\.)*")(?: \(.*\))?(?: {2}\[.*\])?\s*'
# As the recall node and `search_memory` write a memory for an agent, as `MemoryMatch.format` does, and as
# `search_memory` once did.
_FORMATS = (
    re.compile(r"\s*- \(score=-?\d+\.\d+, \d{4}-\d{2}-\d{2}\) " + _QUOTED),
    re.compile(r"\s*- \[.+?\] " + _QUOTED),
    re.compile(r"\s*- \(score=-?\d+\.\d+\) (?P<text>.+?)(?: {2}\[[^\]]*\])?\s*"),
    re.compile(r"\s*- \[[^\]\s]+\] (?P<text>.+?) \(\d{4}-\d{2}-\d{2}, score -?\d+\.\d+\)\s*"),
)
_BULLET = re.compile(r"\s*(?:[-*•·–]|\d+[.)])\s+(?P<text>.+?)\s*")
_BLANK = "\x00"


@dataclass(frozen=True)
class Recalled:
    """The memories that stand in a conversation, and the lines of people's messages in which they do."""

    texts: frozenset[str]

    def __contains__(self, text: str) -> bool:
        return _comparable(text) in self.texts

    def blanked(self, message: Message) -> tuple[str, int]:
        """The message's text with every line that holds a memory blanked out, and how many did.

        Its length is kept, so that positions in it are positions in the message.
        """
        kept, count = [], 0
        for line in message.text.splitlines(keepends=True):
            bullet = _BULLET.fullmatch(line)
            is_memory = _memory_in(line) is not None or (bullet is not None and bullet["text"] in self)
            kept.append(_BLANK * len(line) if is_memory else line)
            count += is_memory
        return "".join(kept), count


def find_recalled(messages: Sequence[Message]) -> Recalled:
    """The memories in a conversation: lines as this library formats them, and whatever a system prompt lists."""
    return Recalled(frozenset(_comparable(text) for message in messages for text in _memories_in(message)))


def without_blanks(text: str) -> str:
    """A text as `Recalled.blanked` gives it, without the blanks."""
    return text.replace(_BLANK, "")


def _memories_in(message: Message) -> Iterator[str]:
    for line in message.text.splitlines():
        memory = _memory_in(line)
        listed = _BULLET.fullmatch(line) if message.role == "system" else None
        if memory is not None:
            yield memory
        elif listed is not None:
            yield listed["text"]


def _memory_in(line: str) -> str | None:
    found = next((found for pattern in _FORMATS if (found := pattern.fullmatch(line))), None)
    if found is None:
        return None
    return _unquoted(found["quoted"]) if "quoted" in found.re.groupindex else found["text"]


def _unquoted(quoted: str) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted[1:-1]


def _comparable(text: str) -> str:
    return normalise(text).rstrip(".!。！ ")
