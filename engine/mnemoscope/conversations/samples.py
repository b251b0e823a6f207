"""Sample conversations of our own, with the memories that should result: for the demo, for Replay, for tests.

Each is a JSON file in `samples/`. Times are given as days before now, so that a demo is always fresh. A conversation
of one's own is written and read in the same form, with its messages and their times as they are.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime, time, timedelta
from importlib.resources import files
from typing import Any

from ..core.namespaces import Namespace
from ..core.times import to_iso
from ..errors import ConversationError
from .messages import Message, read_messages

__all__ = ["ExpectedMemory", "SampleConversation", "load_samples", "read_sample", "write_sample"]


_BETWEEN_TURNS = timedelta(seconds=40)


@dataclass(frozen=True)
class ExpectedMemory:
    """A memory that should be there after the conversation alone, and which earlier text it replaced, if any."""

    content: str
    action: str = "insert"
    replaces: str | None = None


@dataclass(frozen=True)
class SampleConversation:
    """A conversation, the namespace it is meant for, and what should be remembered of it.

    `expected` are all memories of an empty namespace after the conversation, in no order; no memory may hold
    any of the `not_expected` phrases.
    """

    id: str
    title: str
    description: str
    namespace: Namespace
    messages: list[Message]
    expected: list[ExpectedMemory]
    not_expected: list[str]

    @property
    def started_at(self) -> datetime | None:
        """When its first message was said."""
        return self.messages[0].said_at if self.messages else None


def load_samples(now: datetime) -> list[SampleConversation]:
    """All samples, as if the present were `now`: oldest first, empty ones last."""
    folder = files("mnemoscope") / "samples"
    texts = [each.read_text(encoding="utf-8") for each in folder.iterdir() if each.name.endswith(".json")]
    samples = [read_sample(text, now) for text in texts]
    return sorted(samples, key=lambda sample: (sample.started_at is None, sample.started_at or now, sample.id))


def read_sample(text: str, now: datetime) -> SampleConversation:
    """A sample from its JSON text.

    Raises:
        ConversationError: a field is missing or of the wrong kind.
    """
    try:
        value = json.loads(text)
        return SampleConversation(
            id=value["id"],
            title=value["title"],
            description=value["description"],
            namespace=tuple(value["namespace"]),
            messages=_own_messages(value["messages"]) if "messages" in value else _messages(value, now),
            expected=[ExpectedMemory(**each) for each in value["expected"]],
            not_expected=list(value["not_expected"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ConversationError(
            f"This is not a sample conversation: {error!r}. See samples/*.json for the form."
        ) from error


def write_sample(sample: SampleConversation) -> str:
    """The sample as JSON text that `read_sample` reads, its messages with their own ids, names and times."""
    value = asdict(sample)
    for message in value["messages"]:
        message["said_at"] = to_iso(message["said_at"]) if message["said_at"] else None
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _own_messages(listed: list[dict[str, Any]]) -> list[Message]:
    messages = read_messages([{**each, "content": each["text"]} for each in listed]).messages
    return list(messages)


def _messages(value: dict[str, Any], now: datetime) -> list[Message]:
    messages: list[Message] = []
    for session in value["sessions"]:
        day = now - timedelta(days=session["days_ago"])
        begun = datetime.combine(day.date(), time.fromisoformat(session["time"]), tzinfo=now.tzinfo)
        for at, turn in enumerate(session["turns"]):
            number = len(messages) + 1
            said_at = begun + at * _BETWEEN_TURNS
            messages.append(
                Message(id=f"{value['id']}:{number}", role=turn["role"], text=turn["text"], said_at=said_at)
            )
    return messages
