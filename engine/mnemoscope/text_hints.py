"""Hints which field is the text of items whose shape nobody here knows, by what stands in their fields."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from .namespaces import Namespace
from .stores.base import StoredItem

__all__ = ["TextHint", "text_hints"]

_DEPTH = 4
_HINTS_A_ROOT = 3
_LEAST_SHARE = 0.05
_WORDS = 3
_LETTERS_WITHOUT_SPACES = 8
_LEAST_LETTERS = 0.6
_COUNTED = 2_000
"""How much of a text counts: past it, longer is not more likely to be the text."""


@dataclass(frozen=True)
class TextHint:
    """A field that seems to be the text of items within a namespace: `text_fields = { namespace = field }`.

    `items` of the `among` items in question have a text of human language there, of `length` characters (the median);
    `example` is one of these texts.
    """

    namespace: Namespace
    field: str
    items: int
    among: int
    length: int
    example: str

    @property
    def share(self) -> float:
        """The share of the items in question that have it, from 0 to 1."""
        return self.items / self.among


def text_hints(items: Iterable[StoredItem]) -> tuple[TextHint, ...]:
    """The likely field of the text of these items, by root label; several where they are of several shapes.

    It is the field with the most human language over all items: long, and there in many of them.
    """
    roots: dict[str, list[StoredItem]] = defaultdict(list)
    for item in items:
        if isinstance(item.value, Mapping) and item.namespace:
            roots[item.namespace[0]].append(item)
    found = [hint for root in sorted(roots) for hint in _of_root(roots[root])]
    return tuple(sorted(found, key=lambda hint: (-hint.items, hint.namespace, hint.field)))


def _of_root(items: Sequence[StoredItem]) -> Iterator[TextHint]:
    texts = [(item, dict(_texts(item.value))) for item in items]
    for _ in range(_HINTS_A_ROOT):
        weights: dict[str, int] = defaultdict(int)
        for _item, fields in texts:
            for name, text in fields.items():
                weights[name] += min(len(text), _COUNTED)
        if not weights:
            return
        best = min(weights, key=lambda name: (-weights[name], name))
        having = [(item, fields[best]) for item, fields in texts if best in fields]
        if len(having) < _LEAST_SHARE * len(items):
            return
        yield TextHint(
            namespace=_shared([item.namespace for item, _text in having]),
            field=best,
            items=len(having),
            among=len(items),
            length=round(median(len(text) for _item, text in having)),
            example=having[0][1],
        )
        texts = [(item, fields) for item, fields in texts if best not in fields]


def _shared(namespaces: Sequence[Namespace]) -> Namespace:
    first, last = min(namespaces), max(namespaces)
    same = [one == other for one, other in zip(first, last, strict=False)]
    return first[: [*same, False].index(False)]


def _texts(value: Mapping[str, object], path: str = "", depth: int = _DEPTH) -> Iterator[tuple[str, str]]:
    """Every text of human language, by its path; names with a period cannot stand in one."""
    for name, part in value.items():
        if not isinstance(name, str) or not name or "." in name:
            continue
        where = f"{path}.{name}" if path else name
        if isinstance(part, str) and _is_language(part):
            yield where, part
        elif isinstance(part, Mapping) and depth > 1:
            yield from _texts(part, where, depth - 1)


def _is_language(text: str) -> bool:
    """Whether it reads like a sentence: no address, identifier, date, markup or code."""
    head = text[:_COUNTED].strip()
    if not head or head[0] in "<{[":
        return False
    # In some scripts the vowels are marks.
    letters = sum(unicodedata.category(each)[0] in "LM" for each in head)
    if letters + head.count(" ") < _LEAST_LETTERS * len(head):
        return False
    words = len(head.split())
    # Scripts without spaces have long runs of letters that are not ASCII.
    return words >= _WORDS or (letters >= _LETTERS_WITHOUT_SPACES and not head.isascii())
