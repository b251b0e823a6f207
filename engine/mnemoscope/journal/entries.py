"""Reading this library's own books, into which others may have written what it cannot read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TypeVar

from ..core.namespaces import show_namespace
from ..errors import StoreError
from ..stores.base import StoredItem

__all__ = ["read_entries", "read_entry", "required_entry"]


_log = logging.getLogger(__name__)

Entry = TypeVar("Entry")

_FAULTS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def read_entries(items: Iterable[StoredItem], read: Callable[[StoredItem], Entry]) -> list[Entry]:
    """The entries that can be read, in order; each other is logged and passed over."""
    found = (read_entry(item, read) for item in items)
    return [entry for entry in found if entry is not None]


def read_entry(item: StoredItem, read: Callable[[StoredItem], Entry]) -> Entry | None:
    """The entry, or None where it cannot be read, which is logged."""
    try:
        return read(item)
    except _FAULTS as error:
        where = show_namespace(item.namespace)
        _log.warning("Passed over %r in %r, which is not of this library: %s", item.key, where, type(error).__name__)
        return None


def required_entry(item: StoredItem, read: Callable[[StoredItem], Entry]) -> Entry:
    """The entry, for what cannot go on without it.

    Raises:
        StoreError: it is not as this library writes it.
    """
    try:
        return read(item)
    except _FAULTS as error:
        raise StoreError(
            f"The entry {item.key!r} in {show_namespace(item.namespace)!r} is not as this library writes it "
            f"({type(error).__name__}: {error}). Nothing was changed. Put it right or delete it: "
            f"store.delete({item.namespace!r}, {item.key!r})."
        ) from error
