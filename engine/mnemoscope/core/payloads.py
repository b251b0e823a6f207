"""Where the text of a stored value is, whoever wrote it, and how another text takes its place."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InputError
from .text import shown, storable

__all__ = [
    "CONTENT",
    "KIND",
    "MADE_OF_FIELDS",
    "as_object",
    "cleaned",
    "cleaned_object",
    "is_ours",
    "place_of_text",
    "text_of",
    "with_text",
]


KIND = "memory"

CONTENT = "content"
"""Where our own envelope, `langgraph-memory` and LangMem's tools put the text."""

MADE_OF_FIELDS = "content.*"
"""The place of a text that is made of the fields of an object under `content`, a line each."""

_SHOWN = 60


def is_ours(value: Mapping[str, Any]) -> bool:
    """Whether the value is of our envelope, which is that of `langgraph-memory` too."""
    return value.get("kind") == KIND and isinstance(value.get(CONTENT), str)


def text_of(value: Mapping[str, Any], field: str | None = None) -> str | None:
    """The text of a stored value, or None where it has none.

    It is what stands at `field`, a path such as "body" or "data.text", where items of others have a text there.
    Else it is `content` where that is text; LangMem's manager nests it, and then its own `content`, or else its
    text fields in order, are the text.
    """
    return _read(value, place_of_text(value, field))


def place_of_text(value: Mapping[str, Any], field: str | None = None) -> str:
    """Where the text of a value stands, or would stand: a path, or `MADE_OF_FIELDS`."""
    if field and not is_ours(value) and _is_text(_at(value, field.split("."))):
        return field
    content = value.get(CONTENT)
    if not isinstance(content, Mapping):
        return CONTENT
    return "content.content" if isinstance(content.get(CONTENT), str) else MADE_OF_FIELDS


def with_text(value: Mapping[str, Any], text: str, place: str = CONTENT) -> dict[str, Any]:
    """The value with another text at its place, everything else as it is.

    Raises:
        InputError: the text is made of fields, and the new one does not say which field is to be what.
    """
    if place == MADE_OF_FIELDS:
        return {**value, CONTENT: _fields_from(value[CONTENT], text)}
    return _put(value, place.split("."), text)


def _read(value: Mapping[str, Any], place: str) -> str | None:
    if place == MADE_OF_FIELDS:
        return "\n".join(f"{name}: {part}" for name, part in _plain_fields(value[CONTENT]).items()) or None
    found = _at(value, place.split("."))
    if not isinstance(found, str):
        return None
    # What LangMem's manager nests counts as it is, even where it is empty.
    return found if found.strip() or place == "content.content" else None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _at(value: object, path: Sequence[str]) -> object:
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def _put(value: Mapping[str, Any], path: Sequence[str], text: str) -> dict[str, Any]:
    name, *rest = path
    inner = value.get(name)
    return {**value, name: _put(inner if isinstance(inner, Mapping) else {}, rest, text) if rest else text}


def _plain_fields(content: Mapping[str, Any]) -> dict[str, str | int | float]:
    return {name: part for name, part in content.items() if _is_plain(part)}


def _is_plain(part: object) -> bool:
    return part.bit_length() < 64 if isinstance(part, int) else isinstance(part, str | float)


def _fields_from(content: Mapping[str, Any], text: str) -> dict[str, Any]:
    fields = _plain_fields(content)
    if not fields:
        return {**content, CONTENT: text}
    pattern = "\n".join(f"{re.escape(name)}: (.*)" for name in fields)
    found = re.fullmatch(pattern, text, re.DOTALL)
    if found is None:
        raise InputError(
            f"This memory is made of the fields {', '.join(map(_quoted, fields))}, and its writer reads them one by "
            f"one: write one line each, such as {_quoted(next(iter(fields)) + ': …')}, in that order. "
            "Adopted, it can be any text."
        )
    parts = zip(fields.items(), found.groups(), strict=True)
    return {**content, **{name: _typed(name, before, part) for (name, before), part in parts}}


def _typed(name: str, before: str | int | float, part: str) -> str | int | float:
    """The part as a value of the type that it had."""
    if part == str(before) or isinstance(before, str):
        return before if part == str(before) else part
    try:
        return {"True": True, "False": False}[part] if isinstance(before, bool) else type(before)(part)
    except (KeyError, ValueError):
        raise InputError(
            f"The field {_quoted(name)} holds {before!r:.60}; {_quoted(part)} is not of that type."
        ) from None


def _quoted(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


_DEEPEST = 150
"""Levels of nesting that are kept; our own writes may have a few more around them."""


def as_object(value: object) -> dict[str, Any]:
    """The stored value as an object, its parts as they are: what nobody edits stays to the byte."""
    return dict(value) if isinstance(value, Mapping) else {"value": value}


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
