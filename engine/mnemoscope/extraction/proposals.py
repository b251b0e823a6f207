"""From what a model proposes to facts: every item is read leniently and checked against the conversation.

A field that is wrong is put right and counted; a fact that the conversation does not bear out is withheld. One bad
item never costs another.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import NamedTuple

from ..conversations.messages import Message
from ..core.text import normalise, one_line, storable
from ..errors import ModelCall
from .echoes import Recalled
from .facts import ExtractedFact, Extraction, Withheld
from .quotes import Quotable
from .screening import looks_like_instruction, screen

__all__ = ["MOST_FACTS", "REASONS", "Sieve"]


MOST_FACTS = 100
"""Facts that are kept of one call; what a model proposes beyond is withheld."""

_LONGEST_FACT = 1_000
_LONGEST_NAME = 100
_MOST_CATEGORIES = 10

REASONS: Mapping[str, str] = {
    "unsupported": "Its quote is not in the conversation.",
    "not said by a person": "Its quote was not said by a person: it is the assistant's, a tool's or the system's.",
    "recalled memory": "It is a memory that was put into the prompt, not something that was said.",
    "about the assistant": "It is about the assistant.",
    "instruction": "Its quote is, or follows, an attempt to give orders to the memory.",
    "too long": f"It is longer than {_LONGEST_FACT} characters.",
    "too many": f"The model proposed more than {MOST_FACTS} facts at once.",
}
"""Why a proposed fact is withheld: the name under which it is counted, and the sentence that is shown."""

_ASSISTANT = frozenset(
    {"assistant", "the assistant", "ai", "the ai", "ai assistant", "the ai assistant", "bot", "chatbot", "the chatbot"}
)
_ABOUT_ASSISTANT = re.compile(r"(?:the )?(?:ai |virtual )?(?:assistant|chatbot)\b(?!['’]s)", re.IGNORECASE)
_SENTENCE = re.compile(r"[^.!?。！？\n]+")
_DATE = re.compile(r"\d{4}(?:-\d{2})?")


class _Place(NamedTuple):
    """Where a quote was found: in which message, and its verbatim words."""

    message: Message
    start: int
    words: str


@dataclass(frozen=True)
class _Heard:
    """A message with its text as quotes are looked for in it: `own` is what is left without recalled memories."""

    message: Message
    own: str

    @cached_property
    def _searched(self) -> Quotable:
        return Quotable(self.own)

    @cached_property
    def _whole(self) -> Quotable:
        return Quotable(self.message.text)

    def place(self, quote: str, *, whole: bool = False) -> _Place | None:
        """Where the quote stands in it, if it does."""
        span = (self._whole if whole else self._searched).find(quote)
        return _Place(self.message, span[0], self.message.text[slice(*span)]) if span else None

    @cached_property
    def orders_from(self) -> int | None:
        """Where the first sentence begins that tries to steer the memory: nothing after it is trusted."""
        sentences = _SENTENCE.finditer(self.message.text)
        return next((each.start() for each in sentences if looks_like_instruction(each.group())), None)


class Sieve:
    """Takes a model's proposals about one conversation, and gives the facts that hold.

    `own` are the texts of the messages with recalled memories blanked out, by message id.
    """

    def __init__(self, messages: Sequence[Message], own: Mapping[str, str], recalled: Recalled) -> None:
        self._heard = [_Heard(message, own.get(message.id, message.text)) for message in messages]
        self._recalled = recalled
        self._facts: list[ExtractedFact] = []
        self._withheld: list[Withheld] = []
        self.held_back: Counter[str] = Counter()
        self.remarks: Counter[str] = Counter()

    def take(self, items: Sequence[object], *, read_before: frozenset[str] = frozenset()) -> None:
        """Take the proposals of one call; the call before it took what rests on messages `read_before` alone."""
        earlier = {(normalise(fact.content), fact.quote) for fact in self._facts}
        kept = len(self._facts)
        for item in items:
            fact = self._read(item)
            if fact is None:
                continue
            places = self._places(fact)
            reason = self._reason(fact, places, is_full=len(self._facts) - kept >= MOST_FACTS)
            if reason is not None:
                self._withhold(fact, reason)
                continue
            supported = _supported(fact, places)
            if (normalise(fact.content), supported.quote) in earlier or read_before.issuperset(supported.message_ids):
                self.held_back["said before"] += 1
            else:
                self._facts.append(supported)

    def extraction(self, calls: tuple[ModelCall, ...]) -> Extraction:
        """All that was taken so far."""
        return Extraction(
            list(self._facts), dict(self.held_back), calls, withheld=tuple(self._withheld), remarks=dict(self.remarks)
        )

    def _read(self, item: object) -> ExtractedFact | None:
        """The item as a fact, or None where there is nothing to show: no text, or a secret."""
        if not isinstance(item, Mapping):
            self.held_back["not a fact"] += 1
            return None
        content = _text(item.get("content"))
        if not content:
            self.held_back["empty fact"] += 1
            return None
        quote = _text(item.get("quote"))
        if "secret" in (screen(content), screen(quote)):
            self.held_back["secret"] += 1
            return None
        return ExtractedFact(
            content=content,
            categories=self._categories(item.get("categories")),
            importance=self._importance(item.get("importance")),
            quote=quote or None,
            message_ids=[str(each) for each in _listed(item.get("message_ids")) if isinstance(each, str | int)],
            subject=one_line(_text(item.get("subject")))[:_LONGEST_NAME] or None,
            date=self._date(item.get("date")),
        )

    def _categories(self, value: object) -> list[str]:
        names = [one_line(_text(each)).lower()[:_LONGEST_NAME] for each in _listed(value)]
        return list(dict.fromkeys(name for name in names if name))[:_MOST_CATEGORIES]

    def _importance(self, value: object) -> float | None:
        if value is None:
            return None
        try:
            number = float(value) if isinstance(value, int | float | str) else math.nan
        except (ValueError, OverflowError):
            number = math.nan
        if math.isnan(number):
            self.remarks["importance that is no number left out"] += 1
            return None
        clamped = min(max(number, 0.0), 1.0)
        if clamped != number:
            self.remarks["importance brought into 0 to 1"] += 1
        return clamped

    def _date(self, value: object) -> str | None:
        text = _text(value)
        if not text or text.casefold() in ("null", "none", "unknown"):
            return None
        if _is_date(text):
            return text
        self.remarks["date that is not ISO-8601 left out"] += 1
        return None

    def _places(self, fact: ExtractedFact) -> list[_Place]:
        return [place for heard in self._heard if (place := heard.place(fact.quote or "")) is not None]

    def _reason(self, fact: ExtractedFact, places: Sequence[_Place], *, is_full: bool) -> str | None:
        """The key in `REASONS` under which the fact is withheld, if it is."""
        checks: tuple[tuple[str, Callable[[], bool]], ...] = (
            ("unsupported", lambda: not places and not self._is_in_recalled_line(fact)),
            ("recalled memory", lambda: not places or self._is_recalled(fact)),
            ("not said by a person", lambda: not any(place.message.role == "user" for place in places)),
            ("about the assistant", lambda: _is_about_assistant(fact)),
            ("instruction", lambda: screen(fact.content) == "instruction" or not self._is_trusted(places)),
            ("too long", lambda: len(fact.content) > _LONGEST_FACT),
            ("too many", lambda: is_full),
        )
        return next((reason for reason, applies in checks if applies()), None)

    def _is_in_recalled_line(self, fact: ExtractedFact) -> bool:
        return any(heard.place(fact.quote or "", whole=True) is not None for heard in self._heard)

    def _is_recalled(self, fact: ExtractedFact) -> bool:
        return fact.content in self._recalled or (fact.quote or "") in self._recalled

    def _is_trusted(self, places: Sequence[_Place]) -> bool:
        orders = {heard.message.id: heard.orders_from for heard in self._heard}
        own = (place for place in places if place.message.role == "user")
        return any((start := orders[place.message.id]) is None or place.start < start for place in own)

    def _withhold(self, fact: ExtractedFact, reason: str) -> None:
        self.held_back[reason] += 1
        self._withheld.append(Withheld(fact, REASONS[reason]))


def _supported(fact: ExtractedFact, places: Sequence[_Place]) -> ExtractedFact:
    """The fact with the verbatim words it rests on, the messages that really hold them, and their time."""
    own = [place for place in places if place.message.role == "user"]
    named = [place for place in own if place.message.id in fact.message_ids] or own[:1]
    return fact.model_copy(
        update={
            "quote": named[0].words,
            "message_ids": [place.message.id for place in named],
            "said_at": named[0].message.said_at,
        }
    )


def _is_about_assistant(fact: ExtractedFact) -> bool:
    return normalise(fact.subject or "") in _ASSISTANT or _ABOUT_ASSISTANT.match(fact.content) is not None


def _is_date(text: str) -> bool:
    try:
        if _DATE.fullmatch(text):
            date.fromisoformat(f"{text}-01-01"[:10])
        else:
            datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _text(value: object) -> str:
    return storable(value)[0].strip() if isinstance(value, str) else ""


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else [value]
