"""Erasing memories from the cases that were made about them, and from the history of these cases."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from .cases import Case, CaseBook, read_case
from .changes import Change, book
from .namespaces import Namespace
from .own_books import read_entries
from .shelf_texts import SHELVES
from .stores.base import StoreAdapter, Write
from .text import normalise

__all__ = ["ErasedFromCases"]


@dataclass(frozen=True)
class ErasedFromCases:
    """Memories, by keys and wordings, as cases name them; `quotes` says whether a text holds such a wording."""

    keys: Collection[str]
    texts: Collection[str]
    quotes: Callable[[str], bool]

    def writes(self, adapter: StoreAdapter, namespaces: Iterable[Namespace]) -> list[Write]:
        """What rids the cases of these namespaces of the memories.

        A case whose query quotes one is deleted, and so is one that expects nothing else.
        """
        writes = []
        for namespace in namespaces:
            for ref, each in CaseBook(adapter).placed(namespace, subtree=False).items():
                left = replace(
                    each,
                    expected=tuple(entry for entry in each.expected if not self._is_about(entry)),
                    unwanted=tuple(entry for entry in each.unwanted if not self._is_about(entry)),
                    note="" if self.quotes(each.note) else each.note,
                )
                if left != each or self._is_about(each.query):
                    kept = None if self._is_about(each.query) else _kept(left)
                    writes.append(Write(*ref, kept))
        return writes

    def elsewhere(self, adapter: StoreAdapter, namespaces: Collection[Namespace]) -> int:
        """How many cases of other namespaces, and changes of entries of our own books there, hold the wordings."""
        # A key is of its own namespace alone.
        words = replace(self, keys=())
        others = [each[2:] for each in adapter.counts(book("cases")) if each[2:] not in namespaces]
        journals = (adapter.latest(book("journal"), subtree=True, where={"shelf": name}) for name in SHELVES)
        found = read_entries((item for items in journals for item in items), Change.from_item)
        changes = sum(words._is_named(change) for change in found if change.namespace not in namespaces)
        return len(words.writes(adapter, others)) + changes

    def changes(self, adapter: StoreAdapter, namespaces: Iterable[Namespace]) -> list[Change]:
        """The changes of cases of these namespaces that name or quote one of the memories."""
        journals = (adapter.latest(book("journal", namespace), where={"shelf": "cases"}) for namespace in namespaces)
        found = read_entries((item for items in journals for item in items), Change.from_item)
        return [change for change in found if self._is_named(change)]

    def _is_named(self, change: Change) -> bool:
        cases = [read_case(value) for value in (change.before, change.after) if value is not None]
        entries = (entry for each in cases if each for entry in (*each.expected, *each.unwanted, each.query, each.note))
        return any(self._is_about(entry) for entry in entries) or self.quotes(change.reason)

    def _is_about(self, entry: str) -> bool:
        return entry in self.keys or normalise(entry) in self._wordings or self.quotes(entry)

    @cached_property
    def _wordings(self) -> set[str]:
        return {normalise(text) for text in self.texts}


def _kept(left: Case) -> dict[str, object] | None:
    return {"kind": "case", **left.to_value()} if left.expected or left.unwanted else None
