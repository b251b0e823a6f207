"""Cases, profiles and labels as people read them in the history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["SHELVES", "shelf_text"]


def _case(_key: str, value: Mapping[str, Any]) -> list[str]:
    listed = [f"{name}: {entry}" for name in ("expected", "unwanted") for entry in _texts(value.get(name))]
    note = [f"note: {value['note']}"] if value.get("note") else []
    return [f"Case: {value.get('query', '')}", *listed, *note]


def _profile(key: str, value: Mapping[str, Any]) -> list[str]:
    config = value.get("config")
    settings = config.items() if isinstance(config, Mapping) else ()
    return [f"Profile: {key}", *(f"{name} = {setting}" for name, setting in settings)]


def _label(_key: str, value: Mapping[str, Any]) -> list[str]:
    places = [str(place[1]) for place in _texts(value.get("memories"), list) if len(place) == 2]
    return [f"Label: {value.get('label', '')}", *(f"memory: {key}" for key in places)]


SHELVES: dict[str, Callable[[str, Mapping[str, Any]], list[str]]] = {
    "cases": _case,
    "profiles": _profile,
    "labels": _label,
}
"""The books whose entries people keep, and the lines by which an entry is told."""


def shelf_text(shelf: str, key: str, value: Mapping[str, Any]) -> str:
    """What an entry says, as people read it: its first line names it."""
    return "\n".join(SHELVES[shelf](key, value)) if shelf in SHELVES else ""


def _texts(value: object, kind: type = str) -> list[Any]:
    return [each for each in value if isinstance(each, kind)] if isinstance(value, list) else []
