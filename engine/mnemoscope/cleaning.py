"""What of a stranger's value can be kept: the journal and tombstones hold it in a form every store takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .text import shown, storable

__all__ = ["cleaned", "cleaned_object"]

_DEEPEST = 150
"""Levels of nesting that are kept; our own writes may have a few more around them."""


def cleaned_object(value: object) -> dict[str, Any]:
    """The stored value as an object that can be written again: equal to it unless no store of ours took it.

    NUL and lone surrogates become U+FFFD, numbers that are none null, and what is no JSON its description.
    """
    return cleaned(value) if isinstance(value, Mapping) else {"value": cleaned(value)}


def cleaned(value: object, depth: int = 1) -> Any:
    """Like `cleaned_object`, for any part of a value."""
    if isinstance(value, str):
        return storable(value)[0]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return value
    if depth < _DEEPEST and isinstance(value, Mapping):
        return {storable(str(name))[0]: cleaned(part, depth + 1) for name, part in value.items()}
    if depth < _DEEPEST and isinstance(value, list | tuple):
        return [cleaned(part, depth + 1) for part in value]
    return storable(shown(value))[0]
