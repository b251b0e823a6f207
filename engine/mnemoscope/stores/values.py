"""What may be written, the same on every store, and when two stored values are equal.

Stores differ in what they accept, alter or lose (NaN, NUL, lone surrogates, large integers, dates), so a write
is checked here before any store sees it: what passes comes back from every store as it was.
"""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
import orjson
from numpy.typing import NDArray

from ..core.namespaces import Namespace, show_namespace
from ..core.payloads import text_of
from ..core.text import storable
from ..errors import Conflict, ConflictError, InputError, NamespaceError
from .base import KEEP, NULL, Guard, Keep, Ref, Vectors, Write

__all__ = [
    "Holds",
    "PreparedWrite",
    "check_guards",
    "check_new",
    "copy_json",
    "has_texts",
    "json_text",
    "latest_of",
    "prepare",
    "read_json",
    "same_json",
]


MAX_DEPTH = 200
"""Levels of nesting a written value may have; the JSON writers of the stores stop at 254."""


@dataclass(frozen=True)
class PreparedWrite:
    """A write that was checked: plain JSON (None deletes) and float32 vectors of the right shape."""

    write: Write
    value: dict[str, Any] | None
    vectors: dict[str, NDArray[np.float32]] | Keep

    @property
    def namespace(self) -> Namespace:
        """Where the item is."""
        return self.write.namespace

    @property
    def key(self) -> str:
        """The item's key."""
        return self.write.key

    @property
    def ref(self) -> Ref:
        """Where the item is, with its key."""
        return self.write.ref

    def to_json(self) -> str:
        """The value as JSON text."""
        return json_text(self.value) if self.write.as_stored else orjson.dumps(self.value).decode()


Holds: TypeAlias = Literal["objects", "json", "jsonb"]
"""What a store's values can be made of; see `Abilities`."""


def prepare(
    writes: Iterable[Write], dimensions: int | None, *, embeds: bool = False, holds: Holds = "json"
) -> list[PreparedWrite]:
    """The writes checked and copied; of several to one place, the last.

    A value is checked for what every store takes, and one that comes `as_stored` for what this one `holds`.

    A vector of zeros alone has no direction and is left out (PostgreSQL would rank it first). For a store that
    embeds by itself the vectors are not looked at: their fields alone count.

    Raises:
        NamespaceError: a label that some store refuses or reads as two labels.
        InputError: a key, value or vector that some store refuses or alters; the message names the field.
    """
    last = {write.ref: write for write in writes}
    return [_prepare(write, dimensions, embeds, holds) for write in last.values()]


def check_guards(guards: Sequence[Guard], found: Mapping[Ref, Any]) -> None:
    """Compare the guards with what is stored now.

    Raises:
        ConflictError: one or more do not hold.
    """
    conflicts = [
        Conflict(guard.namespace, guard.key, _shown(guard.value), _shown(found.get((guard.namespace, guard.key))))
        for guard in guards
        if not _holds(guard, found)
    ]
    if conflicts:
        raise ConflictError(conflicts)


def json_text(value: object) -> str:
    """A value as JSON text that `read_json` reads as the very same.

    It holds what the fast writer refuses (whole numbers beyond 64 bits, lone surrogates, nesting beyond 254 levels) or
    alters (infinity and NaN).

    Raises:
        TypeError: a part of it is nothing that JSON has.
        RecursionError: it is nested too deep for this program.
    """
    if not _has_no_number(value):
        try:
            return orjson.dumps(value).decode()
        except TypeError:
            pass
    return json.dumps(value, separators=(",", ":"))


def _has_no_number(value: object) -> bool:
    """Whether a float stands in it that is no number."""
    if isinstance(value, dict):
        return any(map(_has_no_number, value.values()))
    if isinstance(value, list):
        return any(map(_has_no_number, value))
    return isinstance(value, float) and not math.isfinite(value)


def read_json(stored: str | bytes) -> Any:
    """A stored value: JSON, or else the text that a stranger put there."""
    try:
        if not _may_be_too_long(stored):
            return orjson.loads(stored)
    except orjson.JSONDecodeError:
        pass
    text = stored.decode(errors="replace") if isinstance(stored, bytes) else stored
    try:
        # It reads numbers of any size, and NaN.
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


_LONG_NUMBER, _LONG_NUMBER_BYTES = re.compile(r"\d{19}"), re.compile(rb"\d{19}")


def _may_be_too_long(stored: str | bytes) -> bool:
    """Whether a number may be longer than orjson reads exactly: it makes a float of a whole number beyond 64 bits."""
    pattern: Any = _LONG_NUMBER_BYTES if isinstance(stored, bytes) else _LONG_NUMBER
    return pattern.search(stored) is not None


def same_json(one: object, other: object) -> bool:
    """Whether two values are the same JSON: true is not 1, but 1 is 1.0; NaN equals NaN.

    A large float is compared as a float with the whole number that PostgreSQL makes of it.
    """
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same_json(part, other[name]) for name, part in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same_json, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float) and type(one) is not type(other):
        return _as_float(one) == _as_float(other)
    # NaN alone differs from itself.
    return one == other or (one != one and other != other)


def _as_float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


# Copying every item of a search is most of what a recall adds to it; a tuple is looked through faster than a union.
_PLAIN = (str, int, float, type(None))


def copy_json(value: Any) -> Any:
    """The caller's own copy of a value, whatever a stranger put there; None where it is nested without end."""
    try:
        return _copy(value)
    except RecursionError:
        return None


def _copy(value: Any) -> Any:
    if isinstance(value, _PLAIN):
        return value
    if type(value) is dict:
        return {name: part if isinstance(part, _PLAIN) else _copy(part) for name, part in value.items()}
    if type(value) is list:
        return [_copy(part) for part in value]
    return copy.deepcopy(value)


def _holds(guard: Guard, found: Mapping[Ref, Any]) -> bool:
    ref = (guard.namespace, guard.key)
    if guard.value is None:
        return ref not in found
    if guard.value is NULL:
        return ref in found and found[ref] is None
    return ref in found and same_json(guard.value, found[ref])


def _shown(value: object) -> str | None:
    if value is None or value is NULL:
        return None
    text = text_of(value) if isinstance(value, Mapping) else None
    return repr(value) if text is None else text


def check_new(value: Mapping[str, Any], stored: object, ref: Ref) -> None:
    """Refuse what no store takes in a new value, but for the parts that the stored one has too: they stay as they are.

    Raises:
        InputError: a part that differs from the stored one cannot be stored; the message names it.
    """
    _check_changed(value, stored, f"The item {show_namespace(ref[0])} · {ref[1]}", "", 1)


def _check_changed(value: object, stored: object, where: str, path: str, depth: int) -> None:
    if type(value) is type(stored) and same_json(value, stored):
        return
    if not isinstance(value, Mapping) or not isinstance(stored, Mapping):
        _plain(value, where, path, depth)
        return
    _plain_object({name: None for name in value if name not in stored}, where, path, depth)
    for name, part in value.items():
        _check_changed(part, stored.get(name), where, f"{path}.{name}" if path else str(name), depth + 1)


def _prepare(write: Write, dimensions: int | None, embeds: bool, holds: Holds) -> PreparedWrite:
    _check_place(write)
    if write.value is None:
        return PreparedWrite(write, None, {})
    where = f"The item {show_namespace(write.namespace)} · {write.key}"
    if not isinstance(write.value, Mapping):
        raise InputError(f"{where} cannot be stored: its value is {write.value!r}, and only an object can be.")
    value = _as_stored(write.value, where, holds) if write.as_stored else _plain_object(write.value, where, "", 1)
    if isinstance(write.vectors, Keep):
        return PreparedWrite(write, value, KEEP)
    if embeds:
        return PreparedWrite(write, value, {name: np.empty(0, np.float32) for name in write.vectors})
    return PreparedWrite(write, value, _checked_vectors(write.vectors, where, dimensions))


def _as_stored(value: Mapping[str, Any], where: str, holds: Holds) -> dict[str, Any]:
    """A copy of a value that some store held, where a store that holds such values can take all of it."""
    try:
        if holds != "objects":
            _check_held(value, where, "", holds)
        copied: dict[str, Any] = _copy(dict(value))
    except RecursionError:
        raise InputError(f"{where} cannot be stored: it is nested deeper than this program can follow.") from None
    return copied


def _check_held(value: object, where: str, path: str, holds: Holds) -> None:
    parts: Iterable[tuple[str, object]] = ()
    if isinstance(value, dict):
        for name in value:
            _check_name(name, where, path, holds)
        parts = ((f"{path}.{name}" if path else name, part) for name, part in value.items())
    elif isinstance(value, list):
        parts = ((f"{path}[{at}]", part) for at, part in enumerate(value))
    elif fault := None if _is_held(value, holds) else _fault(value):
        raise InputError(f"{where} cannot be stored: the field {path!r} {fault}.")
    for at, part in parts:
        _check_held(part, where, at, holds)


def _check_name(name: object, where: str, path: str, holds: Holds) -> None:
    if not isinstance(name, str):
        raise InputError(f"{where} cannot be stored: {path or 'the value'} has the key {name!r}; keys are text.")
    if holds == "jsonb" and storable(name)[1]:
        raise InputError(f"{where} cannot be stored: the name {name!r} holds NUL or a lone surrogate.")


def _is_held(value: object, holds: Holds) -> bool:
    """Whether a part that is no list or object is held: whole numbers of any size are, all else outside of jsonb."""
    return isinstance(value, int) or (holds == "json" and isinstance(value, _PLAIN))


def _check_place(write: Write) -> None:
    if not write.namespace:
        raise NamespaceError(f"The item {write.key!r} has no namespace; name one, such as ('memories', 'ana').")
    for label in write.namespace:
        if not isinstance(label, str) or not label or "." in label or storable(label)[1]:
            raise NamespaceError(
                f"The label {label!r} of the namespace {write.namespace!r} cannot be stored: labels are text, "
                "not empty, without a period, NUL or lone surrogate. read_namespace() encodes them."
            )
    if not isinstance(write.key, str) or storable(write.key)[1]:
        raise InputError(
            f"The key {write.key!r} in {show_namespace(write.namespace)} cannot be stored: "
            "keys are text without NUL or lone surrogate."
        )


def _plain_object(value: Mapping[Any, Any], where: str, path: str, depth: int) -> dict[str, Any]:
    for name in value:
        if not isinstance(name, str):
            raise InputError(f"{where} cannot be stored: {path or 'the value'} has the key {name!r}; keys are text.")
        if storable(name)[1]:
            raise InputError(f"{where} cannot be stored: the name {name!r} holds NUL or a lone surrogate.")
    return {
        str(name): _plain(part, where, f"{path}.{name}" if path else name, depth + 1) for name, part in value.items()
    }


def _plain(value: object, where: str, path: str, depth: int) -> Any:
    if type(value) is str and value.isascii() and "\x00" not in value:
        return value
    if depth > MAX_DEPTH:
        raise InputError(f"{where} cannot be stored: it is nested more than {MAX_DEPTH} levels deep.")
    if isinstance(value, Mapping):
        return _plain_object(value, where, path, depth)
    if isinstance(value, list | tuple):
        return [_plain(part, where, f"{path}[{index}]", depth + 1) for index, part in enumerate(value)]
    if fault := _fault(value):
        raise InputError(f"{where} cannot be stored: the field {path!r} {fault}.")
    return value


def _fault(value: object) -> str | None:
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        return "holds NUL or a lone surrogate; clean it with storable()" if storable(value)[1] else None
    if isinstance(value, int):
        return None if -(2**63) <= value < 2**63 else f"is {value:.3g}, beyond 64 bits; store it as text"
    if isinstance(value, float):
        return None if math.isfinite(value) else f"is {value}; only finite numbers can be stored"
    return f"is a {type(value).__name__}; only JSON (text, numbers, true, false, null, lists, objects) can be stored"


def _checked_vectors(vectors: Vectors, where: str, dimensions: int | None) -> dict[str, NDArray[np.float32]]:
    checked = {}
    for name, vector in vectors.items():
        row = np.array(vector, dtype=np.float32)
        if row.ndim != 1 or (dimensions is not None and row.size != dimensions):
            raise InputError(
                f"{where} cannot be stored: its vector for {name!r} has the shape {row.shape}, "
                f"and the store's have {dimensions} dimensions. Use the embedder the store was built with."
            )
        if not np.isfinite(row).all():
            raise InputError(f"{where} cannot be stored: its vector for {name!r} has parts that are not finite.")
        if row.any():
            checked[name] = row
    return checked


class _Kept(Protocol):
    @property
    def namespace(self) -> Namespace: ...
    @property
    def key(self) -> str: ...
    @property
    def value(self) -> Any: ...


KeptItem = TypeVar("KeptItem", bound=_Kept)


def latest_of(
    items: Iterable[KeptItem], *, limit: int | None, before: str | None, where: Mapping[str, str] | None
) -> list[KeptItem]:
    """The items by key, greatest first, equal ones by namespace: those below `before` and with these texts."""
    kept = [item for item in items if (before is None or item.key < before) and has_texts(item.value, where)]
    kept.sort(key=lambda item: tuple(item.namespace))
    kept.sort(key=lambda item: item.key, reverse=True)
    return kept if limit is None else kept[: max(limit, 0)]


def has_texts(value: Any, where: Mapping[str, str] | None) -> bool:
    """Whether a value has these very texts at its top level."""
    if not where:
        return True
    return isinstance(value, Mapping) and all(value.get(name) == text for name, text in where.items())
