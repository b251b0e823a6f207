"""The conversation as chat, with the quotes that facts rest on marked; a click on one shows its fact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import streamlit as st
from mnemoscope import Message
from mnemoscope.consolidation import PlannedFact

from app.components import url_choices
from app.components.theme import ASSETS
from app.text.display import counted, one_line, safe

TRANSCRIPT_KEY = "replay.transcript"

TURNS_KEY = "p_turns"

_FOLLOWED = "replay.followed"

MESSAGES_PER_PAGE = 200

PLAIN_LIMIT, QUOTE_LIMIT = 3_000, 1_000


_NAMES = {"user": "User", "assistant": "Assistant", "system": "System prompt", "tool": "Tool"}

_chat = st.components.v2.component(
    "mnemoscope_transcript",
    html='<ol tabindex="0" aria-label="The conversation"></ol>\n<!-- filled by the script -->',
    css=(ASSETS / "transcript.css").read_text(encoding="utf-8"),
    js=(ASSETS / "transcript.js").read_text(encoding="utf-8"),
)


def draw_transcript(
    messages: Sequence[Message],
    facts: Sequence[PlannedFact] = (),
    *,
    current: int | None = None,
    on_pick: Callable[[int], None] | None = None,
) -> None:
    """Draw the messages, a page of them at a time. `current` is the fact whose quote stands out."""
    start = _page(messages, facts, current) * MESSAGES_PER_PAGE
    shown = messages[start : start + MESSAGES_PER_PAGE]
    before = messages[start - 1] if start else None
    _chat(
        key=TRANSCRIPT_KEY,
        data={"turns": _turns(shown, before, facts, _first_speaker(messages)), "current": current},
        on_picked_change=lambda: _take_pick(on_pick),
    )


def _page(messages: Sequence[Message], facts: Sequence[PlannedFact], current: int | None) -> int:
    """The page that is shown; another fact turns to the page with its quote."""
    if len(messages) <= MESSAGES_PER_PAGE:
        return 0
    if current is not None and current != st.session_state.get(_FOLLOWED):
        at = find_message(facts[current], messages)
        if at is not None:
            url_choices.go_to(TURNS_KEY, at // MESSAGES_PER_PAGE)
    st.session_state[_FOLLOWED] = current
    return url_choices.draw_steps(TURNS_KEY, -(-len(messages) // MESSAGES_PER_PAGE), "Page")


def _take_pick(on_pick: Callable[[int], None] | None) -> None:
    fact = st.session_state[TRANSCRIPT_KEY].get("picked")
    if on_pick is not None and isinstance(fact, int):
        on_pick(fact)


def _first_speaker(messages: Sequence[Message]) -> str | None:
    return next((message.name for message in messages if message.role == "user"), None)


def _turns(
    messages: Sequence[Message], before: Message | None, facts: Sequence[PlannedFact], first: str | None
) -> list[dict[str, Any]]:
    earlier = [before, *messages[:-1]]
    pairs = zip(messages, earlier, strict=True)
    return [{**_turn(message, previous, facts), "side": _side(message, first)} for message, previous in pairs]


def _side(message: Message, first: str | None) -> str:
    """Where the message stands: "own" is the side of the person; two people face each other."""
    return "own" if message.role == "user" and message.name == first else message.role


def _turn(message: Message, previous: Message | None, facts: Sequence[PlannedFact]) -> dict[str, Any]:
    said_at = message.said_at
    return {
        "name": one_line(message.name, 60) if message.name else _NAMES[message.role],
        "time": said_at.strftime("%H:%M") if said_at else "",
        "day": said_at.strftime("%A, %d %B %Y") if said_at and not _is_same_day(message, previous) else "",
        "pieces": [_piece(piece, facts) for piece in cut_pieces(message, facts)],
    }


def _piece(piece: Piece, facts: Sequence[PlannedFact]) -> dict[str, Any]:
    return {
        "text": _shorten(piece.text, QUOTE_LIMIT if piece.facts else PLAIN_LIMIT),
        "facts": list(piece.facts),
        "chosen": any(facts[at].chosen for at in piece.facts),
    }


def _is_same_day(message: Message, previous: Message | None) -> bool:
    if message.said_at is None or previous is None or previous.said_at is None:
        return False
    return message.said_at.date() == previous.said_at.date()


def _shorten(text: str, limit: int) -> str:
    """The text, or the start and the end of a long one and how much lies between them."""
    if len(text) <= limit:
        return safe(text)
    half = limit // 2
    return f"{safe(text[:half])} … (+{counted(len(text) - 2 * half, 'character')}) … {safe(text[-half:])}"


@dataclass(frozen=True)
class Piece:
    """A stretch of one message; `facts` are the positions of those that rest on it, none for plain text."""

    text: str
    facts: tuple[int, ...] = ()


class _Span(NamedTuple):
    start: int
    end: int
    fact: int


def cut_pieces(message: Message, facts: Sequence[PlannedFact]) -> list[Piece]:
    """The message in pieces, in order and complete: joined, their texts are its text."""
    spans = [span for at, planned in enumerate(facts) if (span := _span(message, planned, at)) is not None]
    cuts = sorted({0, len(message.text), *(each.start for each in spans), *(each.end for each in spans)})
    found = []
    for start, end in pairwise(cuts):
        covering = tuple(span.fact for span in spans if span.start <= start and end <= span.end)
        found.append(Piece(message.text[start:end], covering))
    return found


def find_message(planned: PlannedFact, messages: Sequence[Message]) -> int | None:
    """The position of the first message that holds the fact's quote, or None where none does."""
    return next((at for at, message in enumerate(messages) if _span(message, planned, 0) is not None), None)


def _span(message: Message, planned: PlannedFact, at: int) -> _Span | None:
    fact = planned.fact
    # Extractors that are given plain text know no ids: then any message may hold the quote.
    if not fact.quote or (fact.message_ids and message.id not in fact.message_ids):
        return None
    start = message.text.find(fact.quote)
    return None if start < 0 else _Span(start, start + len(fact.quote), at)
