"""What a row of the table of formats consists of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ..conversation import Outcome

__all__ = ["Fields", "Format", "JsonFormat", "RecordFormat", "TextFormat", "fields_of", "list_of", "text_in"]

Fields: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Format:
    """A kind of conversation file.

    `name` is for code, `label` and `description` (which file it is) for people. `speakers` says whose words are
    read and under which names, `order` which messages in which order, `times` where their times come from.
    """

    name: str
    label: str
    description: str
    speakers: str
    order: str
    times: str


@dataclass(frozen=True, kw_only=True)
class JsonFormat(Format):
    """A format of which one JSON value is one conversation, or several.

    `accepts` says what it can read when asked for by name, where that is more than it recognises by itself.
    """

    recognises: Callable[[object], bool]
    read: Callable[[object], Iterator[Outcome]]
    accepts: Callable[[object], bool] | None = None


@dataclass(frozen=True, kw_only=True)
class RecordFormat(Format):
    """A format of which many JSON values, one after another, make one conversation or several.

    `continues` says which values belong to a run that has begun, where that is more than it recognises.
    """

    recognises: Callable[[object], bool]
    read: Callable[[Iterator[object]], Iterator[Outcome]]
    continues: Callable[[object], bool] | None = None


@dataclass(frozen=True, kw_only=True)
class TextFormat(Format):
    """A format of text files; `recognises` is given their beginning, `read` all of them in pieces."""

    recognises: Callable[[str], bool]
    read: Callable[[Iterator[str]], Iterator[Outcome]]


def fields_of(value: object) -> Fields:
    """The value's fields, none where it is no JSON object."""
    return value if isinstance(value, Mapping) else {}


def list_of(value: object) -> list[object]:
    """The value's items, none where it is no JSON list."""
    return value if isinstance(value, list) else []


def text_in(fields: Fields, *names: str) -> str:
    """The first of these fields that holds a text with words, or nothing."""
    return next((found for name in names if isinstance(found := fields.get(name), str) and found.strip()), "")
