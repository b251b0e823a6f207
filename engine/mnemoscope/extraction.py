"""`LLMExtractor`: facts out of a conversation by a chat model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from .facts import ExtractedFact, Extraction
from .messages import Message, read_messages
from .models import Answer, Asker, prompt_text
from .text import normalise
from .times import read_time, to_iso

__all__ = ["LLMExtractor"]


class _Proposal(BaseModel):
    """One fact as a model proposes it; taken leniently, so that one bad field does not lose the fact."""

    content: str = Field(description="One fact, understandable alone.")
    categories: list[str] = Field(default_factory=list, description="Short lower-case words.")
    importance: float = Field(default=0.5, description="0 = trivia, 1 = must never be forgotten.")
    quote: str = Field(default="", description="The words it rests on, copied letter by letter from one message.")
    message_ids: list[str] = Field(default_factory=list, description="Ids of the messages that hold the quote.")
    subject: str = Field(default="", description="Whom the fact is about.")
    date: str = Field(default="", description="The date the fact speaks of, ISO-8601, if one was said.")


class _Proposals(BaseModel):
    """The facts found in a conversation."""

    facts: list[_Proposal] = Field(default_factory=list)


class LLMExtractor:
    """Extracts facts with a chat model; `prompt` replaces the instructions that ship with the library."""

    def __init__(self, model: Any, *, prompt: str | None = None) -> None:
        self._asker = Asker(model, _Proposals, "extract")
        self._prompt = prompt or prompt_text("extract")

    @property
    def label(self) -> str:
        """The name under which it is shown."""
        return self._asker.model_name

    def __call__(self, text: str) -> list[ExtractedFact]:
        """The facts in a text."""
        return self.extract(read_messages(text).messages).facts

    def extract(self, messages: Sequence[Message]) -> Extraction:
        """The facts in a conversation.

        Raises:
            ModelError: the model failed or could not be understood.
        """
        read = _readable(messages)
        return _extraction(self._asker.ask(self._asked(read)), read) if read else Extraction([])

    async def aextract(self, messages: Sequence[Message]) -> Extraction:
        """The asynchronous form of `extract`."""
        read = _readable(messages)
        return _extraction(await self._asker.aask(self._asked(read)), read) if read else Extraction([])

    def _asked(self, messages: Sequence[Message]) -> list[BaseMessage]:
        # JSON, a line a message: no text inside can pose as another message or as the end of the transcript.
        lines = [json.dumps(_shown(message), ensure_ascii=False) for message in messages]
        transcript = "\n".join(["The conversation, one JSON object a line:", *lines])
        return [SystemMessage(self._prompt), HumanMessage(transcript)]


def _readable(messages: Sequence[Message]) -> list[Message]:
    return [message for message in messages if message.role in ("user", "assistant") and message.text.strip()]


def _shown(message: Message) -> dict[str, str]:
    shown = {"id": message.id, "role": message.role, "text": message.text}
    if message.name:
        shown["name"] = message.name
    if message.said_at:
        shown["said_at"] = to_iso(message.said_at)
    return shown


def _extraction(answer: Answer[_Proposals], messages: Sequence[Message]) -> Extraction:
    facts: list[ExtractedFact] = []
    held_back: dict[str, int] = {}
    for proposal in answer.value.facts:
        resting = [message for message in messages if _holds(message, proposal.quote)]
        if not proposal.content.strip():
            _count(held_back, "empty fact")
        elif not resting:
            _count(held_back, "unsupported: its quote is not in the conversation")
        else:
            facts.append(_fact(proposal, resting, held_back))
    return Extraction(facts, held_back, answer.calls)


def _holds(message: Message, quote: str) -> bool:
    return bool(quote.strip()) and normalise(quote) in normalise(message.text)


def _fact(proposal: _Proposal, resting: Sequence[Message], notes: dict[str, int]) -> ExtractedFact:
    importance = min(max(proposal.importance, 0.0), 1.0)
    if importance != proposal.importance:
        _count(notes, "importance brought into 0 to 1")
    named = [message.id for message in resting if message.id in proposal.message_ids]
    first = resting[0]
    return ExtractedFact(
        content=proposal.content.strip(),
        categories=[each.strip() for each in proposal.categories if each.strip()],
        importance=importance,
        quote=proposal.quote.strip(),
        message_ids=named or [first.id],
        subject=proposal.subject.strip() or None,
        said_at=first.said_at or read_time(proposal.date or None),
    )


def _count(counts: dict[str, int], what: str) -> None:
    counts[what] = counts.get(what, 0) + 1
