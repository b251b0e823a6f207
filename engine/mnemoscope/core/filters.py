"""The filter form: one small language over a memory's fields, evaluated the same on every store.

A filter is an object whose keys are paths ("source", "metadata.team", "categories") and whose values are
what must hold there; all of them must. A plain value means equality. An object of operators means each:
`$eq $ne $gt $gte $lt $lte` (numbers with numbers, texts with texts, times with ISO-8601 texts; anything else is
no match), `$in`,
`$nin` (a list), `$exists` (true or false), `$contains` (an element of a list, or a part of a text).
`$and` and `$or` take a list of filters, `$not` takes one; they stand wherever a path or an operator does:
{"$or": [{"source": "chat"}, {"importance": {"$not": {"$lt": 0.8}}}]}. Any other name that begins with "$" is refused.
An object without operators goes one level deeper: {"metadata": {"team": "red"}}. A path that is not there is
equal only to None. Values are those of JSON, or a datetime; numbers and arrays of other libraries are refused.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from ..errors import FilterError
from .records import MemoryRecord
from .text import shown
from .times import read_time

__all__ = ["OPERATORS", "Condition", "Filter", "Predicate", "compile_filter", "value_at"]


Filter: TypeAlias = Mapping[str, Any]

_Test: TypeAlias = Callable[[Any], bool]
_MISSING = object()

_DEEPEST = 50
"""Levels of objects and lists in a filter; a deeper one is refused."""


Holds: TypeAlias = Callable[["Condition"], Any]
"""Says of a condition whether it holds: a truth value of one memory, or an array of those of many."""


@dataclass(frozen=True)
class Condition:
    """What must hold of the value at a path of fields."""

    path: tuple[str, ...]
    test: _Test

    def evaluate(self, holds: Holds) -> Any:
        """Whether it holds."""
        return holds(self)


@dataclass(frozen=True)
class _Joined:
    """Filters of which each must hold, or one; or, with `is_negated`, must not."""

    join: Callable[[Any, Any], Any]
    parts: tuple[Condition | _Joined, ...]
    is_negated: bool = False

    def evaluate(self, holds: Holds) -> Any:
        """Whether they hold. What says so of a condition may be an array, so nothing here branches on it."""
        found = functools.reduce(self.join, (part.evaluate(holds) for part in self.parts))
        return found ^ True if self.is_negated else found


@dataclass(frozen=True)
class Predicate:
    """A filter as a test of one memory, or of many at once."""

    root: _Joined

    def __call__(self, record: MemoryRecord) -> bool:
        """Whether the memory passes."""
        return bool(self.evaluate(lambda condition: condition.test(value_at(record, condition.path))))

    def evaluate(self, holds: Holds) -> Any:
        """The same, with what says of a condition whether it holds."""
        return self.root.evaluate(holds)


def compile_filter(filter: Filter | None) -> Predicate | None:
    """The filter as a test of one memory, or None where there is nothing to test.

    Raises:
        FilterError: the filter is not of the form this module describes.
    """
    if filter is None:
        return None
    if not isinstance(filter, Mapping):
        raise FilterError(f"A filter is an object of paths and conditions, got {shown(filter)}.")
    if not filter:
        return None
    for path, condition in filter.items():
        _check_value(condition, str(path)[:80])
    return Predicate(_read_fields((), filter))


def value_at(record: MemoryRecord, path: tuple[str, ...]) -> object:
    """What a memory has at a path of fields; a value that equals nothing but itself where there is none."""
    name, *rest = path
    value = getattr(record, name) if name in MemoryRecord.__slots__ else record.extra.get(name, _MISSING)
    for name in rest:
        if not isinstance(value, Mapping) or name not in value:
            return _MISSING
        value = value[name]
    return value


def _check_value(value: object, path: str, level: int = 1) -> None:
    if level > _DEEPEST:
        raise FilterError(f"The filter at {path!r} is more than {_DEEPEST} levels deep; write it as a path of fields.")
    if isinstance(value, Mapping):
        for part in value.values():
            _check_value(part, path, level + 1)
    elif isinstance(value, list | tuple | set | frozenset):
        for part in value:
            _check_value(part, path, level + 1)
    elif value is not None and not isinstance(value, str | int | float | datetime):
        raise FilterError(
            f"The filter at {path!r} has {shown(value)}; allowed are texts, numbers, True, False, None, times, and "
            "lists and objects of these."
        )


def _split(path: str) -> tuple[str, ...]:
    names = tuple(path.split("."))
    if not all(names):
        raise FilterError(f"The filter path {path!r} has an empty part; write it like 'metadata.team'.")
    return names


def _read_fields(path: tuple[str, ...], fields: Filter) -> _Joined:
    """What must hold of the fields of an object: each of the memory's own where the path is empty."""
    parts: list[Condition | _Joined] = []
    for name, condition in fields.items():
        if str(name) in _JOINS:
            parts.append(_read_joined(path, str(name), condition))
        elif str(name).startswith("$"):
            raise _unknown(str(name), path)
        else:
            parts.append(_read_at((*path, *(_split(str(name)) if not path else (str(name),))), condition))
    return _Joined(operator.and_, tuple(parts))


def _read_at(path: tuple[str, ...], condition: object) -> Condition | _Joined:
    """What must hold of the value at a path."""
    if not isinstance(condition, Mapping):
        return Condition(path, lambda value: _equal(value, condition))
    told = ".".join(path)
    if not condition:
        raise FilterError(f"The filter at {told!r} is an empty object; give a value or an operator.")
    operators = [str(name) for name in condition if str(name).startswith("$") and str(name) not in _JOINS]
    if not operators:
        return _read_fields(path, condition)
    if any(not str(name).startswith("$") for name in condition):
        raise FilterError(f"The filter at {told!r} mixes operators and fields: {shown(dict(condition))}.")
    parts: list[Condition | _Joined] = []
    for name, operand in condition.items():
        if str(name) in _JOINS:
            parts.append(_read_joined(path, str(name), operand))
        elif str(name) in OPERATORS:
            parts.append(Condition(path, OPERATORS[str(name)](operand, told)))
        else:
            raise _unknown(str(name), path)
    return _Joined(operator.and_, tuple(parts))


def _read_joined(path: tuple[str, ...], name: str, operand: object) -> _Joined:
    if name == "$not":
        return _Joined(operator.and_, (_read_part(path, name, operand),), is_negated=True)
    if not isinstance(operand, list | tuple) or not operand:
        raise FilterError(f"{name} in the filter needs a list of filters that is not empty, got {shown(operand)}.")
    return _Joined(_JOINS[name], tuple(_read_part(path, name, part) for part in operand))


def _read_part(path: tuple[str, ...], name: str, part: object) -> Condition | _Joined:
    if path:
        return _read_at(path, part)
    if not isinstance(part, Mapping) or not part:
        raise FilterError(f"{name} in the filter takes filters, objects that are not empty, got {shown(part)}.")
    return _read_fields((), part)


def _unknown(name: str, path: tuple[str, ...]) -> FilterError:
    where = f" at {'.'.join(path)!r}" if path else ""
    return FilterError(f"Unknown operator {name!r} in the filter{where}; known are {', '.join([*OPERATORS, *_JOINS])}.")


def _equal(value: object, expected: object) -> bool:
    if value is _MISSING:
        return expected is None
    if isinstance(value, datetime):
        return value == read_time(expected)
    # In Python True == 1; in JSON they are two things.
    return isinstance(value, bool) == isinstance(expected, bool) and value == expected


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[object, str], _Test]:
    def make(operand: object, path: str) -> _Test:
        if isinstance(operand, bool) or not isinstance(operand, int | float | str):
            raise FilterError(f"The filter at {path!r} compares with {shown(operand)}; allowed is a number or a text.")
        kinds = (str,) if isinstance(operand, str) else (int, float)
        moment = read_time(operand) if isinstance(operand, str) else None

        def test(value: object) -> bool:
            if isinstance(value, datetime):
                return moment is not None and compare(value, moment)
            return isinstance(value, kinds) and not isinstance(value, bool) and compare(value, operand)

        return test

    return make


def _member(wanted: bool) -> Callable[[object, str], _Test]:
    def make(operand: object, path: str) -> _Test:
        if not isinstance(operand, list | tuple | set | frozenset):
            raise FilterError(f"The filter at {path!r} needs a list after $in or $nin, got {shown(operand)}.")
        options = list(operand)
        return lambda value: any(_equal(value, option) for option in options) == wanted

    return make


def _exists(operand: object, path: str) -> _Test:
    if not isinstance(operand, bool):
        raise FilterError(f"The filter at {path!r} needs true or false after $exists, got {shown(operand)}.")
    return lambda value: (value is not _MISSING and value is not None) == operand


def _contains(operand: object, path: str) -> _Test:
    del path

    def test(value: object) -> bool:
        if isinstance(value, str):
            return isinstance(operand, str) and operand in value
        return isinstance(value, list | tuple) and any(_equal(each, operand) for each in value)

    return test


OPERATORS: dict[str, Callable[[object, str], _Test]] = {
    "$eq": lambda operand, _: lambda value: _equal(value, operand),
    "$ne": lambda operand, _: lambda value: not _equal(value, operand),
    "$gt": _ordered(operator.gt),
    "$gte": _ordered(operator.ge),
    "$lt": _ordered(operator.lt),
    "$lte": _ordered(operator.le),
    "$in": _member(True),
    "$nin": _member(False),
    "$exists": _exists,
    "$contains": _contains,
}
"""The operators, by name, each as a maker of tests."""

_JOINS: dict[str, Callable[[Any, Any], Any]] = {"$and": operator.and_, "$or": operator.or_, "$not": operator.and_}
"""The operators that join filters."""
