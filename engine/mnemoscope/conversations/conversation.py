"""`Conversation`: one conversation of a file, with who spoke in it and what was left out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from ..core.text import normalise, one_line, storable
from .messages import Message, Role, read_messages, strip_marks

__all__ = [
    "Conversation",
    "Outcome",
    "Speaker",
    "Unreadable",
    "build_conversation",
    "count_of",
    "name_apart",
]


_LONGEST_TITLE = 200


@dataclass(frozen=True)
class Speaker:
    """Somebody who speaks in a conversation: a role, a name where it is known, and how many messages are theirs."""

    role: Role
    name: str | None
    messages: int


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """One conversation of a file.

    `id` is its own or "conversation-<n>", unique within the file; `format` names a row of `FORMATS`; `source`
    is the file it came from. `left_out` counts what no fact is taken from (see `Transcript`), with what only
    exports have, such as "attachment" or "message of another branch". `notes` says what an operator should know:
    what was left out and why, and which names may be one person or two.
    """

    id: str
    title: str
    messages: tuple[Message, ...]
    format: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)
    source: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def speakers(self) -> tuple[Speaker, ...]:
        """Who speaks, in the order of their first words; system prompts and tools are no speakers."""
        heard = Counter((each.role, each.name) for each in self.messages if each.role in ("user", "assistant"))
        return tuple(Speaker(role, name, messages) for (role, name), messages in heard.items())


@dataclass(frozen=True)
class Unreadable:
    """A stretch of a file that holds no conversation that can be read; the others are not lost by it."""

    where: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


Outcome: TypeAlias = Conversation | Unreadable


def build_conversation(
    turns: Sequence[object],
    *,
    id: object = None,
    title: object = None,
    left_out: Mapping[str, int] | None = None,
    notes: Sequence[str] = (),
    times: Sequence[datetime | None] = (),
) -> Conversation:
    """A conversation out of turns as `read_messages` takes them; unreadable ones are counted, not refused."""
    transcript = read_messages(list(turns), skip_unreadable=True, times=times)
    return Conversation(
        id=_label(id),
        title=_label(title),
        messages=transcript.messages,
        left_out=dict(Counter(transcript.left_out) + Counter(left_out or {})),
        notes=(*notes, *transcript.notes, *_spellings(transcript.messages)),
    )


def name_apart(people: Mapping[str, tuple[str, str]]) -> tuple[dict[str, str], list[str]]:
    """A name of their own for each person of an export that knows people by ids, and notes on namesakes.

    `people` gives each id a display name and the handle that tells namesakes apart, where the export has one.
    """
    shared: dict[str, list[str]] = defaultdict(list)
    shown = {id: one_line(strip_marks(name)) or id for id, (name, _) in people.items()}
    for id, name in shown.items():
        shared[normalise(name)].append(id)
    notes = []
    for ids in (ids for ids in shared.values() if len(ids) > 1):
        name = shown[ids[0]]
        handles = [people[id][1] or id for id in ids]
        tellers = handles if len(set(handles)) == len(ids) else ids
        shown.update({id: f"{shown[id]} ({teller})" for id, teller in zip(ids, tellers, strict=True)})
        notes.append(f"{len(ids)} people are called {name}: {', '.join(shown[id] for id in ids)}.")
    return shown, notes


def count_of(number: int, one: str, several: str) -> str:
    """A count in words: "1 message of another branch was", "3 messages of other branches were"."""
    return f"{number:,} {one if number == 1 else several}"


def _spellings(messages: Sequence[Message]) -> list[str]:
    """Notes on names that differ in their spelling alone."""
    spelt: dict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(each.name for each in messages if each.name and each.role == "user"):
        spelt[normalise(name)].append(name)
    return [f"{' and '.join(names)} may be one person." for names in spelt.values() if len(names) > 1]


def _label(value: object) -> str:
    return one_line(storable(value)[0])[:_LONGEST_TITLE] if isinstance(value, str) else ""
