"""Adoption: a plan that brings items which other programs wrote to our envelope, shown before it is carried out."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from ..consolidation.remember import vectors_for
from ..core.namespaces import Namespace
from ..core.payloads import CONTENT, KIND, MADE_OF_FIELDS, as_object, is_ours, place_of_text
from ..core.records import MemoryRecord
from ..journal.changes import Edit
from ..stores.base import CONTENT_FIELD, KEEP, Keep, Ref, StoredItem, Vectors

__all__ = [
    "ADOPTED",
    "WRITERS",
    "Adoption",
    "AdoptionPlan",
    "TextHint",
    "Unadoptable",
    "Writer",
    "adoption_edits",
    "adoption_plan",
    "text_hints",
    "writer_of",
]


ADOPTED = "adopted"
"""The name in `metadata` under which an adopted memory keeps what our envelope has no place for."""

Writer: TypeAlias = Literal["langmem_tool", "langmem_manager", "other"]
WRITERS: tuple[Writer, ...] = get_args(Writer)


@dataclass(frozen=True)
class Adoption:
    """One item to be adopted: by whom it seems written, its value before and after, and the text of both.

    `keeps_vectors` says that its vector is of this text already, so that it is not embedded anew.
    """

    namespace: Namespace
    key: str
    writer: Writer
    text: str
    before: Any
    after: dict[str, Any]
    keeps_vectors: bool

    @property
    def ref(self) -> Ref:
        """Where the item is."""
        return self.namespace, self.key


@dataclass(frozen=True)
class Unadoptable:
    """An item that cannot be adopted, and why."""

    namespace: Namespace
    key: str
    reason: str


@dataclass(frozen=True)
class AdoptionPlan:
    """What adopting would do in a scope; nothing is written yet. `ours` items have our envelope already.

    `hints` say which field may be the text of items where none was found, or where it was put together of fields.
    """

    namespace: Namespace
    subtree: bool
    adoptions: tuple[Adoption, ...]
    unadoptable: tuple[Unadoptable, ...]
    ours: int
    hints: tuple[TextHint, ...] = ()

    @property
    def counts(self) -> dict[Writer, int]:
        """How many items would be adopted, by who seems to have written them; none left out."""
        found = Counter(adoption.writer for adoption in self.adoptions)
        return {writer: found[writer] for writer in WRITERS}

    @property
    def texts(self) -> list[str]:
        """The texts that would be embedded, each once."""
        return list(dict.fromkeys(each.text for each in self.adoptions if not each.keeps_vectors))

    def __len__(self) -> int:
        return len(self.adoptions)

    def only(self, refs: Iterable[Ref]) -> AdoptionPlan:
        """The same plan for these items alone."""
        chosen = frozenset(refs)
        return replace(self, adoptions=tuple(each for each in self.adoptions if each.ref in chosen))


def adoption_plan(
    namespace: Namespace, items: Sequence[StoredItem], fields: Sequence[Iterable[str]], *, subtree: bool
) -> AdoptionPlan:
    """The plan for these items; `fields` are those that each has vectors of."""
    adoptions: list[Adoption] = []
    unadoptable: list[Unadoptable] = []
    unclear: list[StoredItem] = []
    ours = 0
    for item, vectored in zip(items, fields, strict=True):
        if isinstance(item.value, Mapping) and is_ours(item.value):
            ours += 1
            continue
        found = _adoption(item, frozenset(vectored))
        if isinstance(found, Adoption):
            adoptions.append(found)
        else:
            unadoptable.append(found)
        if _is_unclear(item, found):
            unclear.append(item)
    return AdoptionPlan(namespace, subtree, tuple(adoptions), tuple(unadoptable), ours, text_hints(unclear))


def adoption_edits(plan: AdoptionPlan, vectors: Mapping[str, NDArray[np.float32]], *, reason: str = "") -> list[Edit]:
    """The edits that carry out the plan, given the vectors of its texts."""
    return [_edit(adoption, vectors, reason) for adoption in plan.adoptions]


def writer_of(value: Mapping[str, Any]) -> Writer:
    """Who seems to have written a value that is not of our envelope."""
    if isinstance(value.get("kind"), str) and isinstance(value.get(CONTENT), Mapping | str):
        return "langmem_manager"
    return "langmem_tool" if value.keys() == {CONTENT} else "other"


def _adoption(item: StoredItem, vectored: frozenset[str]) -> Adoption | Unadoptable:
    if not isinstance(item.value, Mapping):
        return Unadoptable(item.namespace, item.key, "its value is not an object")
    stored = as_object(item.value)
    record = MemoryRecord.from_item(replace(item, value=stored))
    if not record.content.strip():
        told = f"there is no text at {item.text_field!r} or under 'content'" if item.text_field else record.problems[0]
        return Unadoptable(item.namespace, item.key, told)
    keeps = vectored == {CONTENT_FIELD} and record.text_at == CONTENT
    return Adoption(
        item.namespace, item.key, writer_of(stored), record.content, item.value, _adopted(stored, record), keeps
    )


def _is_unclear(item: StoredItem, found: Adoption | Unadoptable) -> bool:
    """Whether it has no text, or a stranger's text that had to be put together of what stands under `content`."""
    if isinstance(found, Unadoptable):
        return True
    return found.writer == "other" and place_of_text(found.before, item.text_field) == MADE_OF_FIELDS


def _adopted(stored: dict[str, Any], record: MemoryRecord) -> dict[str, Any]:
    """The value in our envelope. What it says otherwise, or has no place for, is kept under `metadata`."""
    ours = replace(record, kind=KIND, revision=record.revision + 1).to_value()
    kept = {name: part for name, part in stored.items() if name in ours and _is_lost(name, part, record, ours)}
    kept.pop("revision", None)
    top = record.text_at.partition(".")[0]
    if top in record.extra:
        # The text has one place from now on, or the two would come to differ.
        kept[top] = ours.pop(top)
    if not kept:
        return ours
    told = {**ours["metadata"], ADOPTED: {"text_at": record.text_at, "fields": kept}}
    return {**ours, "metadata": told}


def _is_lost(name: str, part: object, record: MemoryRecord, ours: Mapping[str, Any]) -> bool:
    if name in record.extra or part is None or part == ours[name]:
        return False
    is_time = name in ("created_at", "updated_at", "last_accessed", "expires_at")
    return not is_time or any(problem.partition(" ")[0] == name for problem in record.problems)


def _edit(adoption: Adoption, vectors: Mapping[str, NDArray[np.float32]], reason: str) -> Edit:
    written: Vectors | Keep = KEEP if adoption.keeps_vectors else vectors_for(adoption.text, vectors)
    return Edit(*adoption.ref, "adopt", adoption.before, adoption.after, written, reason)


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
