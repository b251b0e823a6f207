"""Reading what a model gave as an instance of a Pydantic class: strict in what it means, lenient in how it is put."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, from_json, to_json

from ..core.text import one_line

__all__ = ["read_as", "say_problem"]


Model = TypeVar("Model", bound=BaseModel)

# What is mended inside a list or object shows its own faults only then.
_ROUNDS = 6
_ABSENT = frozenset({"", "null", "none", "n/a"})
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d")
_CHOICE = re.compile(r"'((?:[^'\\]|\\.)*)'")
_FLAGS = {"true": True, "yes": True, "false": False, "no": False}
_LEFT_OUT: Any = object()
"""In place of a value that is left out, so that its default holds."""


def read_as(schema: type[Model], value: object) -> Model:
    """The instance of the class that a model meant by this value, a JSON object or its text.

    What the class takes from JSON is taken as it is, so a class with `strict=True` gets its dates and enums. A part
    that it refuses is put right where that has one meaning:

    - null, an empty text or "none" in place of anything else leaves the field to its default;
    - one item in place of a list is a list of one, and JSON text in place of an object or a list is what it says;
    - digits in place of a number are that number, a number in place of a text is its digits, a moment in place of a
      day is its day;
    - a choice is known whatever its letter case;
    - a field that the class forbids is left out.

    Raises:
        ValidationError: the class refuses the value even so; it says what is wrong with it as it was given.
    """
    # A copy of plain JSON values, which can be mended in place.
    plain = from_json(to_json(_parsed(value), fallback=str, inf_nan_mode="constants"))
    refused: ValidationError | None = None
    for _ in range(_ROUNDS):
        try:
            return schema.model_validate_json(to_json(plain, inf_nan_mode="constants"))
        except ValidationError as error:
            refused = refused or error
            if not _mend_all(plain, error):
                break
    assert refused is not None
    raise refused


def say_problem(error: ValidationError) -> str:
    """What the class refuses first, and in which field."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"]))
    return one_line(f"{where}: {first['msg']}" if where else first["msg"])


def _mend_all(root: Any, error: ValidationError) -> bool:
    """Put right in place what can be; whether anything was."""
    mended: dict[tuple[int, Any], Any] = {}
    for details in error.errors(include_url=False):
        found = _place(root, details["loc"])
        # A value of several allowed types is refused once for each; the first way to mend it counts.
        if found is not None and (id(found[0]), found[1]) not in mended:
            parent, key = found
            better = _mend(details, parent[key])
            if better is not parent[key]:
                mended[id(parent), key] = (parent, key, better)
    # From behind, so that positions in a list hold while items before them are left out.
    for parent, key, better in sorted(mended.values(), key=lambda each: str(each[1]).rjust(9), reverse=True):
        if better is _LEFT_OUT:
            del parent[key]
        else:
            parent[key] = better
    return bool(mended)


def _place(root: Any, path: tuple[int | str, ...]) -> tuple[Any, Any] | None:
    """The container and the key in it that a path leads to; names of types among a path's parts are passed over."""
    at, found = root, None
    for part in path:
        is_inside = (isinstance(at, dict) and part in at) or (isinstance(at, list) and isinstance(part, int))
        if is_inside:
            found = (at, part)
            at = at[part]
    return found


def _mend(details: ErrorDetails, value: Any) -> Any:
    """What was meant by a value that was refused, or the value itself where that cannot be told."""
    kind = details["type"]
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        return _LEFT_OUT
    if kind == "missing":
        return value
    if value is None or (isinstance(value, str) and value.strip().casefold() in _ABSENT):
        return _LEFT_OUT
    mend = next((mend for word, mend in _MENDERS if word in kind), None)
    return value if mend is None else mend(value, details)


def _as_list(value: Any, _: ErrorDetails) -> Any:
    inner = _parsed(value)
    return inner if isinstance(inner, list) else [value]


def _as_object(value: Any, _: ErrorDetails) -> Any:
    inner = _parsed(value)
    if isinstance(inner, list) and len(inner) == 1:
        inner = inner[0]
    return inner if isinstance(inner, Mapping) else value


def _as_text(value: Any, _: ErrorDetails) -> Any:
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return value[0]
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _as_number(value: Any, _: ErrorDetails) -> Any:
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value) if "." in value else int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _as_flag(value: Any, _: ErrorDetails) -> Any:
    return _FLAGS.get(value.strip().casefold(), value) if isinstance(value, str) else value


def _as_choice(value: Any, details: ErrorDetails) -> Any:
    choices = _CHOICE.findall(str(details.get("ctx", {}).get("expected", "")))
    spelt = str(value).strip().casefold()
    return next((choice for choice in choices if choice.casefold() == spelt), value)


def _as_date(value: Any, _: ErrorDetails) -> Any:
    return value[:10] if isinstance(value, str) and _MOMENT.match(value) else value


_Mender = Callable[[Any, ErrorDetails], Any]
_MENDERS: tuple[tuple[str, _Mender], ...] = (
    ("list_type", _as_list),
    ("tuple_type", _as_list),
    ("set_type", _as_list),
    ("model_type", _as_object),
    ("model_attributes_type", _as_object),
    ("dataclass_type", _as_object),
    ("dict_type", _as_object),
    ("string_type", _as_text),
    ("int_", _as_number),
    ("float_", _as_number),
    ("bool_", _as_flag),
    ("literal_error", _as_choice),
    ("enum", _as_choice),
    ("date_from_datetime", _as_date),
    ("date_parsing", _as_date),
)
"""How a value is mended, by what stands in the type of the error."""


def _parsed(value: Any) -> Any:
    """What a text says where it is the JSON of an object or a list, else the value as it is."""
    if not isinstance(value, str) or not value.strip().startswith(("{", "[")):
        return value
    try:
        return from_json(value)
    except ValueError:
        return value
