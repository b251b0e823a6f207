"""Extraction by whatever callable there is: what it is given, and what of its answer can be used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from .cleaning import readable
from .errors import ModelError
from .facts import ExtractedFacts, Extraction
from .messages import Message
from .text import shown

__all__ = ["as_text", "extraction_of"]


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
