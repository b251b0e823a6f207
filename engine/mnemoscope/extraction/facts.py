"""What extraction and consolidation hand over: facts, and the decision for each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import BaseModel, Field, ValidationError

from ..conversations.messages import Message
from ..core.payloads import cleaned
from ..core.text import shown
from ..errors import ModelCall, ModelError

if TYPE_CHECKING:
    from ..core.records import MemoryRecord

__all__ = [
    "ACTIONS",
    "ConsolidationDecision",
    "Consolidator",
    "ExtractedFact",
    "ExtractedFacts",
    "Extraction",
    "Extractor",
    "Judgement",
    "Similar",
    "Withheld",
    "as_text",
    "extraction_of",
    "readable",
]


def readable(fact: object) -> ExtractedFact | None:
    """The fact with text that any store takes and an importance within its range; None where it is no fact.

    Facts made by `model_construct`, or changed after they were made, come unchecked.
    """
    if not isinstance(fact, ExtractedFact):
        return None
    fields = fact.model_dump(warnings="none", exclude={"said_at", "importance"})
    try:
        clean = ExtractedFact(**cleaned(fields), said_at=fact.said_at, importance=_importance(fact.importance))
    except ValidationError:
        return None
    return clean.model_copy(update={"content": clean.content.strip()})


def _importance(value: float | None) -> float | None:
    if not isinstance(value, int | float):
        return value
    return None if math.isnan(value) else min(max(value, 0.0), 1.0)


ACTIONS = ("insert", "update", "skip", "forget")
"""What consolidation may decide for a fact."""


class ExtractedFact(BaseModel):
    """A fact taken out of a conversation, before it is a memory.

    `importance` is 0 to 1, or None for the configured default. `quote` is the verbatim text it rests on and
    `message_ids` the messages that hold it; `said_at` is when it was said, `subject` whom it is about, and `date`
    the day it speaks of, ISO-8601 as precisely as it was said ("2025", "2025-03", "2025-03-14", …). `metadata` is
    stored with its memory.
    """

    content: str
    categories: list[str] = Field(default_factory=list)
    importance: float | None = Field(default=None, ge=0.0, le=1.0)
    quote: str | None = None
    message_ids: list[str] = Field(default_factory=list)
    subject: str | None = None
    said_at: datetime | None = None
    date: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)


class ExtractedFacts(BaseModel):
    """A list of facts, as a model returns it."""

    facts: list[ExtractedFact] = Field(default_factory=list)


@dataclass(frozen=True)
class Withheld:
    """A fact that was proposed and held back, and why; it stays visible, so that a person may let it in."""

    fact: ExtractedFact
    reason: str


@dataclass(frozen=True)
class Extraction:
    """What one reading of a conversation gave.

    `held_back` counts the sentences, or proposals of a model, that were not kept, by reason in plain words
    ("secret", "question", ...); it never holds their text. `withheld` are those among them that may be shown, and
    `remarks` counts what was put right in the others.
    """

    facts: list[ExtractedFact]
    held_back: Mapping[str, int] = field(default_factory=dict)
    calls: tuple[ModelCall, ...] = ()
    withheld: tuple[Withheld, ...] = ()
    remarks: Mapping[str, int] = field(default_factory=dict)


class ConsolidationDecision(BaseModel):
    """What to do with one fact: one of `ACTIONS`.

    "insert" stores it; "update" replaces the memory `target_key` by `content` (or the fact's own text);
    "skip" keeps the memory `target_key`, which already says it; "forget" withdraws `target_key`, which the
    fact contradicts, and stores the fact only if `content` is given. `also_forget` are further memories that are no
    longer true because of the fact, withdrawn whatever the action. Anything else is shown as a rejected proposal and
    the fact is inserted as it is.
    """

    action: str
    target_key: str | None = None
    content: str | None = None
    reason: str = ""
    also_forget: list[str] = Field(default_factory=list)


@dataclass(frozen=True)
class Judgement:
    """The decisions for several facts, in their order, and the model calls they took.

    A decision is None where the judge gave none that can be read; `notes` says why, by position. `remarks`
    counts what was put right in, or left out of, the judge's answer.
    """

    decisions: list[ConsolidationDecision | None]
    calls: tuple[ModelCall, ...] = ()
    notes: Mapping[int, str] = field(default_factory=dict)
    remarks: Mapping[str, int] = field(default_factory=dict)


Similar: TypeAlias = "list[tuple[MemoryRecord, float]]"
"""Memories with their cosine similarity to a fact, highest first."""

Extractor: TypeAlias = Callable[[str], Sequence[ExtractedFact] | Awaitable[Sequence[ExtractedFact]]]
Consolidator: TypeAlias = Callable[[ExtractedFact, Similar], ConsolidationDecision | Awaitable[ConsolidationDecision]]


def as_text(messages: Sequence[Message]) -> str:
    """A transcript for extractors that take text: what people and the assistant said, a line each."""
    said = [message for message in messages if message.role in ("user", "assistant") and message.text.strip()]
    if len(said) == 1 and said[0].role == "user":
        return said[0].text
    return "\n".join(f"{message.name or message.role}: {message.text}" for message in said)


def extraction_of(answer: object, name: str) -> Extraction:
    """The answer of an extractor as an `Extraction`; what in it is no fact is counted, and loses no other.

    Raises:
        ModelError: it is neither an `Extraction` nor a list of facts.
    """
    if answer is None:
        return Extraction([], {"no answer from the extractor": 1})
    if isinstance(answer, ExtractedFacts):
        answer = answer.facts
    if isinstance(answer, list | tuple):
        answer = Extraction(list(answer))
    if not isinstance(answer, Extraction):
        raise ModelError(
            f"{name} returned {shown(answer)}; a list of ExtractedFact is expected.",
            failure="schema_violation",
            raw=shown(answer),
        )
    facts = [fact for fact in answer.facts if readable(fact) is not None]
    unreadable = Counter({"not a fact": len(answer.facts) - len(facts)})
    return replace(answer, facts=facts, held_back=Counter(answer.held_back) + unreadable)
