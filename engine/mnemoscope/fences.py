"""Fences: data written into a prompt so that no text in it can pose as another line or as an instruction's end."""

from __future__ import annotations

import json
import re

from .text import storable

__all__ = ["json_line"]

# JSON leaves these line separators as they are.
_LINE_BREAKS = re.compile("[\x85\u2028\u2029]")


def json_line(value: object) -> str:
    """The value as JSON on exactly one line, letters of every script kept."""
    text = storable(json.dumps(value, ensure_ascii=False))[0]
    return _LINE_BREAKS.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
