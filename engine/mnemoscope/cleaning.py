"""What of a stranger's value or of a model's fact can be kept: in a form that every store takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from .facts import ExtractedFact
from .text import shown, storable

__all__ = ["cleaned", "cleaned_object", "readable"]

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


def readable(fact: object) -> ExtractedFact | None:
    """The fact with text that any store takes and an importance within its range; None where it is no fact.

    Facts made by `model_construct`, or changed after they were made, come unchecked.
    """
    if not isinstance(fact, ExtractedFact):
        return None
    fields = fact.model_dump(warnings="none", exclude={"said_at", "importance"})
    try:
        clean = ExtractedFact(**cleaned(fields), said_at=fact.said_at, importance=_importance(fact.importance))
    except ValidationError:
        return None
    return clean.model_copy(update={"content": clean.content.strip()})


def _importance(value: float | None) -> float | None:
    if not isinstance(value, int | float):
        return value
    return None if math.isnan(value) else min(max(value, 0.0), 1.0)
