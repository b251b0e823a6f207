"""`Message`: one turn of a conversation, whatever shape it came in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

__all__ = ["Message", "Role"]

Role: TypeAlias = Literal["user", "assistant", "system", "tool"]


@dataclass(frozen=True)
class Message:
    """One turn: who said what, when.

    `text` is its text blocks alone (images and tool calls are left out and counted by the reader), `name`
    the speaker where known, `id` unique within the conversation.
    """

    id: str
    role: Role
    text: str
    name: str | None = None
    said_at: datetime | None = None
