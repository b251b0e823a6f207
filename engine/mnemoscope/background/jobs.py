"""`Job`: one piece of remembering that waits in a queue, runs, has failed or is done; and the forms its turns keep."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias, get_args

from ..conversations.messages import Message
from ..core.namespaces import Namespace
from ..core.times import read_time, to_iso

__all__ = ["STATES", "Claim", "Job", "JobState", "read_turn", "turn_value"]


JobState: TypeAlias = Literal["waiting", "running", "failed", "done"]
STATES: tuple[JobState, ...] = get_args(JobState)
"""Every state of a job, in the order in which it passes through them."""


@dataclass(frozen=True)
class Job:
    """One job as people see it.

    `turns` counts the messages that it holds; once it is done they are gone from the queue. `due_at` is when it may
    begin, `attempts` how often it was begun, `worker` who works on it and `lease_until` how long that holds. `error`
    is what the last attempt failed with, `outcome` what came of it.
    """

    id: str
    namespace: Namespace
    thread: str | None
    state: JobState
    turns: int
    submitted_at: datetime
    due_at: datetime
    attempts: int = 0
    worker: str | None = None
    lease_until: datetime | None = None
    finished_at: datetime | None = None
    error: str = ""
    outcome: str = ""


@dataclass(frozen=True)
class Claim:
    """A job that a worker has taken, with everything that it takes to do it. `attempt` counts from 1."""

    id: str
    namespace: Namespace
    thread: str | None
    messages: tuple[Message, ...]
    terms: dict[str, Any]
    attempt: int


def turn_value(message: Message) -> str:
    """A turn as the queue keeps it; an id that only tells the position is left out."""
    return json.dumps(
        {
            "id": message.id if message.has_own_id else "",
            "role": message.role,
            "text": message.text,
            "name": message.name,
            "said_at": to_iso(message.said_at) if message.said_at else None,
        },
        ensure_ascii=False,
    )


def read_turn(value: str) -> Message:
    """A turn out of the queue."""
    fields = json.loads(value)
    said_at, own = read_time(fields["said_at"]), bool(fields["id"])
    return Message(fields["id"], fields["role"], fields["text"], fields["name"], said_at, has_own_id=own)
