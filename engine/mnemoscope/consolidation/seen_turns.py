"""Turns are read once: those that were remembered are marked in the store, in the same batch as what they gave.

Hooks and nodes are handed the same turns again and again: at every checkpoint, in a run that is repeated, by a
process that takes over from one that died. The mark of a turn is a digest of its id and text; it holds neither.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from datetime import datetime

from langchain_core.messages import BaseMessage

from ..conversations.messages import Message, Transcript, read_messages
from ..core.execution import Step, Steps
from ..core.namespaces import Namespace
from ..core.times import to_iso
from ..journal.changes import book
from ..stores.base import Guard, StoreAdapter, Write

__all__ = ["Unread", "has_own_id", "spoken", "turns_in", "unread"]


_GIVEN_BY_POSITION = re.compile(r"m\d+'*")
_SUMMARY = "summarization"


@dataclass(frozen=True)
class Unread:
    """The turns of a conversation that were not read before, with the marks to write once they are remembered."""

    transcript: Transcript
    marks: tuple[Write, ...]

    @property
    def guards(self) -> tuple[Guard, ...]:
        """What must hold when the marks are written: that nobody else wrote them meanwhile."""
        return tuple(Guard(mark.namespace, mark.key, None) for mark in self.marks)

    @property
    def is_empty(self) -> bool:
        """Whether nobody said anything new."""
        return not spoken(self.transcript)


def turns_in(messages: object) -> Transcript:
    """The turns of a graph's messages: what cannot be read is counted, and summaries of earlier turns are no turns."""
    given = messages if isinstance(messages, list | tuple) else [messages] if messages else []
    return read_messages([message for message in given if not _is_summary(message)], skip_unreadable=True)


def spoken(transcript: Transcript) -> list[Message]:
    """What people and the assistant said."""
    return [each for each in transcript.messages if each.role in ("user", "assistant") and each.text.strip()]


def has_own_id(message: Message) -> bool:
    """Whether its id is its own, rather than given by its position."""
    return not _GIVEN_BY_POSITION.fullmatch(message.id)


def unread(
    adapter: StoreAdapter, namespace: Namespace, transcript: Transcript, at: datetime, *, reader: str = ""
) -> Steps[Unread]:
    """Leave out the turns that bear this reader's mark in the namespace; those without an id are always new."""
    where = book("read", namespace)
    names = {each.id: _mark(each, reader) for each in spoken(transcript) if has_own_id(each)}
    found = (yield Step(adapter.get, ([(where, name) for name in names.values()],))) if names else []
    known = {item.key for item in found if item is not None}
    kept = tuple(each for each in transcript.messages if names.get(each.id) not in known)
    new = [name for name in dict.fromkeys(names.values()) if name not in known]
    value = {"kind": "read", "at": to_iso(at)}
    return Unread(replace(transcript, messages=kept), tuple(Write(where, name, value) for name in new))


def _mark(message: Message, reader: str) -> str:
    return hashlib.sha256(f"{reader}\n{message.id}\n{message.role}\n{message.text}".encode()).hexdigest()[:40]


def _is_summary(message: object) -> bool:
    # LangChain's summarisation puts its summary into the conversation as if a person had said it.
    return isinstance(message, BaseMessage) and message.additional_kwargs.get("lc_source") == _SUMMARY
