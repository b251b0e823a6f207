"""Turns are read once: those that were remembered are marked in the store, in the same batch as what they gave.

Hooks and nodes are handed the same turns again and again: at every checkpoint, in a run that is repeated, by a client
that sends the whole conversation each time, by a process that takes over from one that died. A turn is known by its
id and words, or by its words and those said just before it, for many clients give new ids each time. A mark is a
digest; it holds no words.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from langchain_core.messages import BaseMessage

from ..conversations.messages import Message, Transcript, read_messages
from ..core.execution import Step, Steps
from ..core.namespaces import Namespace
from ..core.times import to_iso
from ..journal.changes import book
from ..stores.base import Guard, StoreAdapter, Write

__all__ = ["Thread", "Unread", "spoken", "turns_in", "unread"]


_SUMMARY = "summarization"

# So many turns before one make its place. With fewer, a short exchange that people repeat ("Anything else?", "No.")
# would make a new turn look like an old one; with more, a client that sends its last few turns would never match.
_CONTEXT = 3

# Marks are looked up from the last turn backwards, so many turns at a time, until all of a block bear one.
_BLOCK = 64


@dataclass(frozen=True)
class Thread:
    """A conversation on which several people may speak, as one kind of memory sees it.

    `scope` tells the memory of each user from other memories of the same agent: the template of its namespace.
    `speaker` is the name of the one whose turns belong to the namespace, where the caller says so.
    """

    scope: str | None = None
    id: str | None = None
    speaker: str | None = None

    @property
    def has_owners(self) -> bool:
        """Whether whose turn it is must be noted: the thread is known, and its memory differs from user to user."""
        return self.id is not None and self.scope is not None


@dataclass(frozen=True)
class Unread:
    """The turns of a conversation that were not read before.

    `marks` are to be written once they are remembered, and `claims`, which say in whose namespace they belong, also
    where remembering fails: the next one who speaks on the thread must not be taken for who said them.
    """

    transcript: Transcript
    marks: tuple[Write, ...]
    claims: tuple[Write, ...] = ()

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
    if isinstance(messages, Transcript):
        return messages
    given = messages if isinstance(messages, list | tuple) else [messages] if messages else []
    return read_messages([message for message in given if not _is_summary(message)], skip_unreadable=True)


def spoken(transcript: Transcript) -> list[Message]:
    """What people and the assistant said."""
    return [each for each in transcript.messages if each.role in ("user", "assistant") and each.text.strip()]


def unread(
    adapter: StoreAdapter,
    namespace: Namespace,
    transcript: Transcript,
    now: datetime,
    *,
    reader: str = "",
    thread: Thread | None = None,
    most: int | None = None,
) -> Steps[Unread]:
    """Leave out the turns that bear this reader's mark in the namespace, and those of other people on the thread.

    `most` bounds a conversation of which nothing was read before to its last spoken turns; those before them are
    marked with the others, so that they stay passed over.
    """
    thread = thread or Thread()
    said = spoken(transcript)
    names = _names(said, reader, thread.id)
    known = yield from _find_known(adapter, book("read", namespace), names)
    known |= _begun_before(known)
    others, claims = yield from _sort_owners(adapter, namespace, said, thread, now)
    new = [at for at in range(len(said)) if at not in known and at not in others]
    passed = new[:-most] if most is not None and not known else []
    left_out = {said[at].id for at in known | others | set(passed)}
    kept = tuple(each for each in transcript.messages if each.id not in left_out)
    value = {"kind": "read", "at": to_iso(now)}
    marks = [Write(book("read", namespace), name, value) for at in new for name in names[at]]
    own = tuple(claim for at, claim in claims if at not in others)
    return Unread(replace(transcript, messages=kept), tuple(marks), own)


def _names(said: Sequence[Message], reader: str, thread: str | None) -> list[tuple[str, ...]]:
    """The keys of the marks of each turn; a turn that bears one of them was read.

    The first turn of a conversation without a thread has no place: two conversations may begin alike.
    """
    names = []
    for at, each in enumerate(said):
        by_id = [[reader, each.id, each.role, each.text]] if each.has_own_id else []
        before = [[turn.role, turn.text] for turn in said[max(0, at - _CONTEXT) : at + 1]]
        has_place = thread is not None or at > 0
        by_place = [[reader, thread, before]] if has_place else []
        names.append(tuple(_digest(part) for part in (*by_id, *by_place)))
    return names


def _find_known(adapter: StoreAdapter, where: Namespace, names: Sequence[tuple[str, ...]]) -> Steps[set[int]]:
    known: set[int] = set()
    for end in range(len(names), 0, -_BLOCK):
        block = range(max(0, end - _BLOCK), end)
        found = yield from _get(adapter, where, names[block.start : end])
        here = {at for at in block if found.keys() & set(names[at])}
        known |= here
        if len(here) == len(block):
            return known | set(range(block.start))
    return known


def _begun_before(known: set[int]) -> set[int]:
    """The first turns of a window that moves on over a conversation: what stood before them is gone, and so is their
    place. They were read where a turn after them was.
    """
    return set(range(min(max(known, default=0), _CONTEXT)))


def _sort_owners(
    adapter: StoreAdapter, namespace: Namespace, said: Sequence[Message], thread: Thread, now: datetime
) -> Steps[tuple[set[int], list[tuple[int, Write]]]]:
    """Which turns belong to others who speak on the thread, and the claims that say which are the namespace's own."""
    others = {at for at, each in enumerate(said) if _is_by_another(each, thread)}
    if not thread.has_owners:
        return others, []
    where, owner = book("read", ("{owners}",)), _digest(namespace)
    names = _names(said, f"{thread.scope}\n{thread.id}", thread.id)
    found = yield from _get(adapter, where, names)
    owners = [{found[name].get("owner") for name in each if name in found} for each in names]
    others |= {at for at, known in enumerate(owners) if known and owner not in known}
    value = {"kind": "read", "at": to_iso(now), "owner": owner}
    unclaimed = [at for at, known in enumerate(owners) if not known]
    return others, [(at, Write(where, name, value)) for at in unclaimed for name in names[at]]


def _get(adapter: StoreAdapter, where: Namespace, names: Sequence[tuple[str, ...]]) -> Steps[dict[str, Any]]:
    refs = list(dict.fromkeys((where, name) for each in names for name in each))
    items = (yield Step(adapter.get, (refs,))) if refs else []
    return {item.key: item.value for item in items if item is not None}


def _is_by_another(message: Message, thread: Thread) -> bool:
    return thread.speaker is not None and message.role == "user" and message.name != thread.speaker


def _digest(parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:40]


def _is_summary(message: object) -> bool:
    # LangChain's summarisation puts its summary into the conversation as if a person had said it.
    return isinstance(message, BaseMessage) and message.additional_kwargs.get("lc_source") == _SUMMARY
