"""Adoption: a plan that brings items which other programs wrote to our envelope, shown before it is carried out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from .applying import vectors_for
from .changes import Edit
from .cleaning import cleaned_object
from .namespaces import Namespace
from .records import KIND, MemoryRecord
from .shapes import CONTENT, MADE_OF_FIELDS, is_ours, place_of_text
from .stores.base import CONTENT_FIELD, KEEP, Keep, Ref, StoredItem, Vectors
from .text_hints import TextHint, text_hints

__all__ = [
    "ADOPTED",
    "WRITERS",
    "Adoption",
    "AdoptionPlan",
    "Unadoptable",
    "Writer",
    "adoption_edits",
    "adoption_plan",
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
    stored = cleaned_object(item.value)
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
