"""What extraction and consolidation hand over: facts, and the decision for each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import BaseModel, Field

if TYPE_CHECKING:
    from .records import MemoryRecord

__all__ = [
    "ACTIONS",
    "ConsolidationDecision",
    "Consolidator",
    "ExtractedFact",
    "ExtractedFacts",
    "Extraction",
    "Extractor",
    "Judgement",
    "ModelCall",
    "Similar",
    "Withheld",
]

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
class ModelCall:
    """One call of a chat model: for what, how long, how many tokens (None where not told), and how it went.

    `failure` is None, or a class of `ModelError`; `raw` is what the model answered. `way` is how a structured
    answer was asked for, and `cost` what the provider itself reported, in its own currency.
    """

    purpose: str
    model: str
    seconds: float
    input_tokens: int | None = None
    output_tokens: int | None = None
    failure: str | None = None
    raw: str | None = None
    way: str | None = None
    cost: float | None = None


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
