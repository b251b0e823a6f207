"""Reading this library's own books, into which others may have written what it cannot read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TypeVar

from .namespaces import show_namespace
from .stores.base import StoredItem

__all__ = ["read_entries", "read_entry"]

_log = logging.getLogger(__name__)

Entry = TypeVar("Entry")


def read_entries(items: Iterable[StoredItem], read: Callable[[StoredItem], Entry]) -> list[Entry]:
    """The entries that can be read, in order; each other is logged and passed over."""
    found = (read_entry(item, read) for item in items)
    return [entry for entry in found if entry is not None]


def read_entry(item: StoredItem, read: Callable[[StoredItem], Entry]) -> Entry | None:
    """The entry, or None where it cannot be read, which is logged."""
    try:
        return read(item)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        where = show_namespace(item.namespace)
        _log.warning("Passed over %r in %r, which is not of this library: %r", item.key, where, error)
        return None
