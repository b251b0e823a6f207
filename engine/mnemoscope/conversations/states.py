"""A conversation out of the successive states of a graph: the newest one's messages, and since when each is there.

Checkpoints and a history of states hold every message again in each state. Messages that were summarised or removed
are in the older states only.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from langchain_core.messages import BaseMessage

from .conversation import Conversation, build_conversation, count_of
from .messages import own_id, read_messages

__all__ = ["OLDER", "State", "Trace", "date_last_exchange", "merge_traces", "trace_states", "way_to"]

OLDER = "message in older checkpoints"
"""What the spoken messages are counted as that the newest state no longer holds."""


@dataclass(frozen=True)
class State:
    """One state of a thread: its id, that of the state before it, when it was made, and its messages."""

    id: str
    parent: str | None
    made_at: datetime | None
    messages: Sequence[object]


@dataclass(frozen=True)
class Trace:
    """The messages of a thread by what they are known by: all that were ever in it, and those that still are.

    `first_seen` is in the order in which the messages were said, `present` in the newest state's.
    """

    messages: Mapping[str, object]
    first_seen: Mapping[str, datetime | None]
    present: Sequence[str]

    def conversation(self, *, earlier: bool = False, id: str = "", title: str = "") -> Conversation:
        """The newest state's messages, each with the time of the first state that holds it.

        With `earlier`, those that it no longer holds are read too, in the order in which they were said.
        """
        chosen = list(self.first_seen) if earlier else self.present
        gone = [self.messages[key] for key in self.first_seen.keys() - set(chosen)]
        read = read_messages(gone, skip_unreadable=True).messages
        older = sum(each.role in ("user", "assistant") for each in read)
        words = count_of(
            older,
            "older message was summarised or removed; an older checkpoint holds it",
            "older messages were summarised or removed; older checkpoints hold them",
        )
        return build_conversation(
            [self.messages[key] for key in chosen],
            id=id,
            title=title,
            left_out={OLDER: older},
            notes=[f"{words}."] if older else [],
            times=[self.first_seen.get(key) for key in chosen],
        )


def trace_states(states: Iterable[State], newest: str) -> Trace:
    """Follow the state `newest` back to the first one it comes from; a fork left the others behind."""
    parents: dict[str, str | None] = {}
    made: dict[str, tuple[datetime | None, tuple[str, ...]]] = {}
    messages: dict[str, object] = {}
    for state in states:
        # A message is held once, however many states hold it; the newest state has its last wording.
        keyed = dict(zip(_keys(state.messages), state.messages, strict=True))
        for key, message in keyed.items():
            if state.id == newest or key not in messages:
                messages[key] = message
        parents[state.id] = state.parent
        made[state.id] = state.made_at, tuple(keyed)
    first_seen: dict[str, datetime | None] = {}
    for state_id in way_to(newest, parents):
        made_at, keys = made[state_id]
        times = [made_at] * len(keys)
        if not first_seen:
            # What the first state was begun with, or holds of states that were deleted, may be much older.
            times = date_last_exchange([messages[key] for key in keys], made_at)
        for key, time in zip(keys, times, strict=True):
            first_seen.setdefault(key, time)
    return Trace(messages, first_seen, made[newest][1] if newest in made else ())


def merge_traces(traces: Sequence[Trace]) -> Trace:
    """One trace of several calls, one after the other; a message that a later one was handed is the same message."""
    messages: dict[str, object] = {}
    first_seen: dict[str, datetime | None] = {}
    present: dict[str, None] = {}
    for trace in traces:
        messages |= trace.messages
        for key, time in trace.first_seen.items():
            first_seen.setdefault(key, time)
        present |= dict.fromkeys(trace.present)
    return Trace(messages, first_seen, tuple(present))


def date_last_exchange(turns: Sequence[object], time: datetime | None) -> list[datetime | None]:
    """The time at which a request was made or a state, for what was said then; None for what was said before.

    That is the person's last message and what follows it.
    """
    read = [next(iter(read_messages([turn], skip_unreadable=True).messages), None) for turn in turns]
    asked = (number for number, message in reversed(list(enumerate(read))) if message and message.role == "user")
    first = next(asked, 0)
    return [time if number >= first else None for number in range(len(turns))]


def way_to(newest: str, parents: Mapping[str, str | None]) -> list[str]:
    """The states that the newest one comes from and itself, oldest first."""
    way: dict[str, None] = {}
    state_id: str | None = newest
    while state_id is not None and state_id in parents and state_id not in way:
        way[state_id] = None
        state_id = parents[state_id]
    return list(way)[::-1]


def _keys(messages: Sequence[object]) -> list[str]:
    """What a message is known by in every state: its id, or else its words and which of equal ones it is."""
    times: Counter[str] = Counter()
    keys = []
    for message in messages:
        own = own_id(message)
        key = f"id {own}" if own else f"words {_words(message)}"
        times[key] += 1
        keys.append(key if times[key] == 1 else f"{key} {times[key]}")
    return keys


def _words(message: object) -> str:
    if isinstance(message, BaseMessage):
        return json.dumps([message.type, message.content], default=str)
    return json.dumps(message, default=str)
