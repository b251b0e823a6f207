"""Where in a conversation the facts of a plan rest: messages cut into quoted and other pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from mnemoscope import Message
from mnemoscope.consolidation import PlannedFact

__all__ = ["Piece", "message_of", "pieces"]


@dataclass(frozen=True)
class Piece:
    """A stretch of one message; `facts` are the positions of those that rest on it, none for plain text."""

    text: str
    facts: tuple[int, ...] = ()


class _Span(NamedTuple):
    start: int
    end: int
    fact: int


def pieces(message: Message, facts: Sequence[PlannedFact]) -> list[Piece]:
    """The message in pieces, in order and complete: joined, their texts are its text."""
    spans = [span for at, planned in enumerate(facts) if (span := _span(message, planned, at)) is not None]
    cuts = sorted({0, len(message.text), *(each.start for each in spans), *(each.end for each in spans)})
    found = []
    for start, end in pairwise(cuts):
        covering = tuple(span.fact for span in spans if span.start <= start and end <= span.end)
        found.append(Piece(message.text[start:end], covering))
    return found


def message_of(planned: PlannedFact, messages: Sequence[Message]) -> int | None:
    """The position of the first message that holds the fact's quote, or None where none does."""
    return next((at for at, message in enumerate(messages) if _span(message, planned, 0) is not None), None)


def _span(message: Message, planned: PlannedFact, at: int) -> _Span | None:
    fact = planned.fact
    # Extractors that are given plain text know no ids: then any message may hold the quote.
    if not fact.quote or (fact.message_ids and message.id not in fact.message_ids):
        return None
    start = message.text.find(fact.quote)
    return None if start < 0 else _Span(start, start + len(fact.quote), at)
