"""Scripts: memories written in another script than the words they rest on.

Two languages of one script, such as Spanish and English, cannot be told apart this way, and nothing is claimed.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import cache

import numpy as np

from ..core.records import MemoryRecord
from .findings import Finding, found
from .survey import Survey

__all__ = ["other_script", "script_of"]


LETTERS = 4
"""With fewer letters than this nothing is said of a text's script."""

SHARE = 0.7
"""The share of letters that must be of one script; names and loanwords are often of another."""

_ONE = {"HIRAGANA": "Chinese or Japanese", "KATAKANA": "Chinese or Japanese", "CJK": "Chinese or Japanese",
        "HANGUL": "Korean"}  # fmt: skip


def other_script(survey: Survey) -> list[Finding]:
    """Memories in another script than the quotes they rest on."""
    findings = []
    for at in np.flatnonzero(survey.is_open).tolist():
        if (reason := _difference(survey.records[at])) is not None:
            findings.append(found("language", [survey.records[at]], reason))
    return findings


def script_of(text: str) -> str | None:
    """The script that nearly all letters of a text are of, or None where that cannot be said."""
    counts = Counter(script for character in text if (script := _script(character)) is not None)
    if counts.total() < LETTERS:
        return None
    script, count = counts.most_common(1)[0]
    return script if count >= SHARE * counts.total() else None


def _difference(record: MemoryRecord) -> str | None:
    mine = script_of(record.content) if any(each.quote for each in record.evidence) else None
    theirs = {script_of(each.quote) for each in record.evidence if each.quote}
    if mine is None or None in theirs or mine in theirs:
        return None
    return f"It is written in {mine} letters, but rests on words in {' and '.join(sorted(map(str, theirs)))} letters."


@cache
def _script(character: str) -> str | None:
    if not character.isalpha():
        return None
    if character.isascii():
        return "Latin"
    word = unicodedata.name(character, "").partition(" ")[0]
    if word in ("FULLWIDTH", "MATHEMATICAL", "MODIFIER", "FEMININE", "MASCULINE", ""):
        return None
    return _ONE.get(word, word.capitalize())
