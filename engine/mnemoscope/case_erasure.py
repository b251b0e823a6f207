"""Erasing memories from the cases that were made about them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from .cases import Case, CaseBook
from .changes import book
from .namespaces import Namespace
from .stores.base import StoreAdapter, Write
from .text import normalise

__all__ = ["case_writes"]


def case_writes(
    adapter: StoreAdapter,
    namespaces: Iterable[Namespace],
    keys: Collection[str],
    texts: Collection[str],
    quotes: Callable[[str], bool],
) -> list[Write]:
    """What rids the cases of these namespaces of the memories with these keys and texts.

    A case whose query quotes one is deleted, and so is one that expects nothing else.
    """
    wordings = {normalise(text) for text in texts}

    def is_about(entry: str) -> bool:
        return entry in keys or normalise(entry) in wordings or quotes(entry)

    writes = []
    for namespace in namespaces:
        for each in CaseBook(adapter).all(namespace, subtree=False):
            left = replace(
                each,
                expected=tuple(entry for entry in each.expected if not is_about(entry)),
                unwanted=tuple(entry for entry in each.unwanted if not is_about(entry)),
                note="" if quotes(each.note) else each.note,
            )
            if left != each or is_about(each.query):
                writes.append(Write(book("cases", namespace), each.id, _kept(left, is_about(each.query))))
    return writes


def _kept(left: Case, is_about: bool) -> dict[str, object] | None:
    has_entries = bool(left.expected or left.unwanted)
    return None if is_about or not has_entries else {"kind": "case", **left.to_value()}
