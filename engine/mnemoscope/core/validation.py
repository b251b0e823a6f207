"""Checks of what callers pass in: each names the argument, what is allowed, and the value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from ..errors import InputError
from .namespaces import Namespace, read_namespace
from .text import shown, storable

__all__ = [
    "check_all",
    "check_by",
    "check_flag",
    "check_given",
    "check_key",
    "check_keys",
    "check_kind",
    "check_moment",
    "check_number",
    "check_object",
    "check_text",
    "check_texts",
    "check_whole",
    "read_refs",
]


def check_text(name: str, value: object) -> None:
    """A text that every store takes, or None."""
    if value is not None and not _is_text(value):
        raise InputError(f"{name} must be a text without NUL or lone surrogates, got {shown(value)}.")


def check_given(name: str, value: object) -> None:
    """A text that every store takes."""
    if not _is_text(value):
        raise InputError(f"{name} must be a text without NUL or lone surrogates, got {shown(value)}.")


def check_by(actor: object, reason: object = "") -> None:
    """Who changes something, and why: texts, or None."""
    check_text("actor", actor)
    check_text("reason", reason)


def check_kind(name: str, value: object, kind: type) -> None:
    """An object of this class, as another call of this library gives it."""
    if not isinstance(value, kind):
        raise InputError(f"{name} must be {_a(kind)}, got {shown(value)}.")


def check_all(name: str, value: object, kind: type) -> None:
    """A list or tuple of objects of this class."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise InputError(f"{name} must be a list of {kind.__name__}, got {shown(value)}.")
    for each in value:
        if not isinstance(each, kind) or (kind is int and isinstance(each, bool)):
            raise InputError(f"{name} must be a list of {kind.__name__}, and holds {shown(each)}.")


def check_texts(name: str, value: object) -> None:
    """A list, tuple or set of texts, or None."""
    if value is None:
        return
    names = value if isinstance(value, Sequence | set | frozenset) and not isinstance(value, str | bytes) else [None]
    if not all(_is_text(name) for name in names):
        raise InputError(f"{name} must be a list of texts without NUL or lone surrogates, got {shown(value)}.")


def check_key(name: str, value: object) -> None:
    """A text that names one thing: a key or an id."""
    if not isinstance(value, str):
        raise InputError(f"{name} must be a text, got {shown(value)}.")


def check_keys(name: str, value: object) -> None:
    """A list, tuple or set of keys."""
    if value is None:
        raise InputError(f"{name} must be a list of texts, got None.")
    check_texts(name, value)


def read_refs(value: object) -> list[tuple[Namespace, str]]:
    """Pairs of a namespace and a key, each once, in order."""
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
        raise InputError(f"refs must be a list of (namespace, key), got {shown(value)}.")
    refs = []
    for each in value:
        if not isinstance(each, list | tuple) or len(each) != 2:
            raise InputError(f"refs must be a list of (namespace, key), and one of them is {shown(each)}.")
        check_key("The key of a ref", each[1])
        refs.append((read_namespace(each[0]), each[1]))
    return list(dict.fromkeys(refs))


def check_number(name: str, value: object) -> None:
    """A number from 0 to 1, or None."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (number and 0 <= value <= 1):  # type: ignore[operator]
        raise InputError(f"{name} must be a number from 0 to 1, got {shown(value)}.")


def check_whole(name: str, value: object) -> None:
    """A whole number from 0, or None."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if value is not None and not (whole and value >= 0):  # type: ignore[operator]
        raise InputError(f"{name} must be a whole number from 0, got {shown(value)}.")


def check_flag(name: str, value: object) -> None:
    """True, False or None."""
    if value is not None and not isinstance(value, bool):
        raise InputError(f"{name} must be True or False, got {shown(value)}.")


def check_object(name: str, value: object) -> None:
    """A mapping, or None; what is in it is checked when it is written."""
    if value is not None and not isinstance(value, Mapping):
        raise InputError(f"{name} must be an object (a dict), got {shown(value)}.")


def check_moment(name: str, value: object, *, or_age: bool = False) -> None:
    """A datetime or None; with `or_age` a timedelta too."""
    if value is not None and not isinstance(value, (datetime, timedelta) if or_age else datetime):
        allowed = "a datetime, or a timedelta counted back from now" if or_age else "a datetime"
        raise InputError(f"{name} must be {allowed}, got {shown(value)}.")
    if isinstance(value, timedelta) and value < timedelta():
        raise InputError(f"{name} must not be negative, got {value}: it is an age, counted back from now.")


def _a(kind: type) -> str:
    return f"{'an' if kind.__name__[0] in 'AEIOU' else 'a'} {kind.__name__}"


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not storable(value)[1]
