"""Text hygiene: what may be stored, and when two texts say the same thing letter by letter."""

from __future__ import annotations

import json
import re
import reprlib
import unicodedata

__all__ = ["json_line", "normalise", "one_line", "shown", "storable"]


# PostgreSQL refuses NUL, and no UTF-8 encoder takes a lone surrogate.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> tuple[str, int]:
    """The text with every character that no store can hold replaced by U+FFFD, and how many were."""
    if text.isascii() and "\x00" not in text:
        return text, 0
    return _UNSTORABLE.subn("\ufffd", text)


def normalise(text: str) -> str:
    """The form in which two texts are compared: NFKC, case-folded, white space collapsed.

    Letters of every script, digits and symbols are kept, so "C++" and "C" stay different.
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def one_line(text: str) -> str:
    """The text on one line, so that stored text cannot pose as a new line of a prompt or a list."""
    return " ".join(text.split())


def shown(value: object) -> str:
    """A value as an error message names it: its type and its start, short whatever its size."""
    short = _Short()
    short.maxstring = short.maxother = 80
    head = value[:80] if isinstance(value, bytes | bytearray) else value
    return f"{type(value).__name__} {short.repr(head)}"


class _Short(reprlib.Repr):
    def repr_int(self, number: int, level: int) -> str:
        # Python refuses to write out a very long number.
        return super().repr_int(number, level) if number.bit_length() < 1000 else f"of {number.bit_length()} bits"


# JSON leaves these line separators as they are.
_LINE_BREAKS = re.compile("[\x85\u2028\u2029]")


def json_line(value: object) -> str:
    """The value as JSON on exactly one line, letters of every script kept."""
    text = storable(json.dumps(value, ensure_ascii=False))[0]
    return _LINE_BREAKS.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
