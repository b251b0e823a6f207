"""Stored text and numbers as people see them. Stored text is hostile: everything shown goes through here."""

from __future__ import annotations

import html
import re
from datetime import datetime

# Control, bidirectional, zero-width and blank-looking characters, and lone surrogates (which end a page).
# Newline and tab stay; so do the emoji variation selectors U+FE0E and U+FE0F.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_JOINERS = "\u200c\u200d"

_UNITS = (("year", 31_557_600), ("month", 2_629_800), ("day", 86_400), ("hour", 3_600), ("minute", 60))


def safe(text: str, limit: int | None = None) -> str:
    """The text with what cannot be seen made visible, as in "<U+202E>", cut to `limit` characters.

    Joiners stay where a script or an emoji needs them: between two characters that are not ASCII.
    """
    return cut(_HIDDEN.sub(_visible, text.replace("\r\n", "\n")), limit)


def one_line(text: str, limit: int | None = None) -> str:
    """`safe`, with white space collapsed, so that the text stays in its row."""
    return cut(" ".join(safe(text).split()), limit)


def cut(text: str, limit: int | None) -> str:
    """At most `limit` characters of the text, and then how many were left out."""
    if limit is None or len(text) <= limit:
        return text
    return f"{text[:limit].rstrip()} … (+{len(text) - limit:,} characters)"


def megabytes(size: int) -> str:
    """So many bytes, in megabytes or kilobytes."""
    return f"{size / 1e6:,.0f} MB" if size >= 1e6 else f"{size / 1e3:,.0f} kB"


def plotly_text(text: str, limit: int = 60) -> str:
    """One line for a Plotly label, tick or hover text, which would read `<a href>` as markup."""
    return html.escape(one_line(text, limit), quote=False)


def timestamp(moment: datetime | None) -> str:
    """A UTC time to the minute; a dash where there is none."""
    return "–" if moment is None else moment.strftime("%Y-%m-%d %H:%M UTC")


def age(moment: datetime | None, now: datetime) -> str:
    """How long ago, in the largest unit that fits: "3 days ago", "just now", "in 2 hours"."""
    if moment is None:
        return "–"
    seconds = (now - moment).total_seconds()
    for unit, length in _UNITS:
        number = int(abs(seconds) // length)
        if number:
            return f"{counted(number, unit)} ago" if seconds > 0 else f"in {counted(number, unit)}"
    return "just now"


def score(value: float | None) -> str:
    """A score, similarity or part to three decimals; a dash where it is not known."""
    return "–" if value is None else f"{value:.3f}"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """ "1 memory", "1,340 memories": the number with its noun."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def _visible(match: re.Match[str]) -> str:
    character, text = match.group(), match.string
    if character in _JOINERS:
        before, after = text[: match.start()][-1:], text[match.end() :][:1]
        if before > "\x7f" and after > "\x7f":
            return character
    return f"<U+{ord(character):04X}>"
