"""The keys of `mnemoscope.toml` as a table: their types, what they mean, and the check of a value."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ..core.secrets import masked
from ..core.text import shown
from ..errors import ConfigurationError

__all__ = ["CONNECTION_KEYS", "TOP_KEYS", "Key", "check_keys", "read_key"]


TOP_KEYS = ("default", "connections", "profiles", "roles")
"""What a file may hold at its top."""


@dataclass(frozen=True)
class Key:
    """One key of a connection: what type of value it takes, and what it is for."""

    name: str
    kind: str
    help: str
    is_secret: bool = False


CONNECTION_KEYS: dict[str, Key] = {
    key.name: key
    for key in (
        Key("url", "text", "Where the store is.", is_secret=True),
        Key("embedder", "text", 'What embeds: "bundled", "hashing", "provider:model" or "python:module:factory".'),
        Key("next_embedder", "text", "The embedder to go over to; it is used as soon as the store has gone over."),
        Key("dimensions", "whole number", "Dimensions of the vectors; asked of the embedder where not given."),
        Key("fields", "texts", 'The fields of an item that the store itself embeds; ["content"] by default.'),
        Key("namespaces", "texts", 'The namespaces that are shown, each with all below it, such as ["memories/ana"].'),
        Key("read_only", "flag", "true refuses every change, whoever asks."),
        Key("model", "text", "The chat model for extraction and consolidation; without one, rules do it."),
        Key("profile", "text", 'The weights and thresholds: a [profiles.<name>] table, "classic" or "rules".'),
        Key("text_fields", "table of texts", 'The text of items that others wrote, by namespace: { "docs" = "body" }.'),
        Key("queue", "text", "The file of the background's queue, whose jobs Health shows."),
        Key("headers", "table of texts", "Headers sent to a LangGraph server.", is_secret=True),
    )
}
"""Every key of a [connections.<name>] table."""


def check_keys(table: Mapping[str, Any], known: Collection[str], *, where: str) -> None:
    """Refuse keys that are not known.

    Raises:
        ConfigurationError: names the key, what is allowed, and the nearest known one.
    """
    for key in table:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else "Remove it."
            raise ConfigurationError(f"{where}: the key {key!r} is not known; allowed is {', '.join(known)}. {hint}")


def read_key(key: Key, value: object, *, where: str) -> Any:
    """The value of a key as `Connection` holds it.

    Raises:
        ConfigurationError: it is of another type.
    """
    allowed, read = _KINDS[key.kind]
    found = read(value)
    if found is None:
        seen = _hidden(value) if key.is_secret else shown(value)
        raise ConfigurationError(f"{where}, {key.name} = {seen}: allowed is {allowed}. Correct the value.")
    return found


def _hidden(value: object) -> str:
    return repr(masked(value)) if isinstance(value, str) else f"a {type(value).__name__}"


def _text(value: object) -> str | None:
    return value.strip() if isinstance(value, str) and value.strip() and "\x00" not in value else None


def _whole(value: object) -> int | None:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and 1 <= value <= 65_536 else None  # type: ignore[operator, return-value]


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not value:
        return None
    return _all(_text(each) for each in value)


def _headers(value: object) -> tuple[tuple[str, str], ...] | None:
    if not isinstance(value, dict) or _all(_text(each) for each in value.values()) is None:
        return None
    return tuple(value.items())


def _all(values: Iterable[str | None]) -> tuple[str, ...] | None:
    read = list(values)
    return None if None in read else tuple(each for each in read if each is not None)


_KINDS: dict[str, tuple[str, Callable[[object], Any]]] = {
    "text": ("some text in quotes", _text),
    "whole number": ("a whole number from 1 to 65536", _whole),
    "flag": ("true or false", _flag),
    "texts": ('a list of texts with at least one, such as ["a", "b"]', _texts),
    "table of texts": ('a table of texts, such as { x-api-key = "${NAME}" }', _headers),
}
