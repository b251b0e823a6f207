"""Quotes: where in a message the words stand that a model says it copied, however it changed their spelling."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property

__all__ = ["Quotable"]


# Models set quotation marks and dashes as they please.
_PLAIN = str.maketrans(
    dict.fromkeys("‘’‚‛′`´＇", "'") | dict.fromkeys("“”„‟«»″＂", '"') | dict.fromkeys("‐‑‒–—―−－", "-")
)
_OMISSION = re.compile(r"\[?(?:\.{3}|…)\]?")
_EDGES = " \"'.,;:-"


@dataclass(frozen=True)
class Quotable:
    """A text in which quotes are looked for; it is prepared once for all of them."""

    text: str

    def find(self, quote: str) -> tuple[int, int] | None:
        """Start and end, in the text, of the words quoted, or None where they are not in it.

        Letter case, width, accents' encoding, white space, and the shape of quotation marks and dashes make no
        difference; "…" stands for words left out. A quote without any letter or digit is found nowhere.
        """
        pieces = [_folded(piece)[0].strip(_EDGES) for piece in _OMISSION.split(quote)]
        pieces = [piece for piece in pieces if piece]
        if not any(letter.isalnum() for piece in pieces for letter in piece):
            return None
        folded, places = self._folded
        spans, after = [], 0
        for piece in pieces:
            at = folded.find(piece, after)
            if at < 0:
                return None
            after = at + len(piece)
            spans.append((at, after))
        return places[spans[0][0]], places[spans[-1][1] - 1] + 1

    @cached_property
    def _folded(self) -> tuple[str, list[int]]:
        return _folded(self.text)


def _folded(text: str) -> tuple[str, list[int]]:
    """The text as quotes are compared, and for each of its characters the position it came from."""
    letters: list[str] = []
    places: list[int] = []
    for at, character in enumerate(text.translate(_PLAIN)):
        # Letter by letter, so that every position can be traced back.
        for letter in unicodedata.normalize("NFKD", character).casefold():
            if not letter.isspace():
                letters.append(letter)
                places.append(at)
            elif letters and letters[-1] != " ":
                letters.append(" ")
                places.append(at)
    return "".join(letters), places
