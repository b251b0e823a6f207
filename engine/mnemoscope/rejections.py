"""`Rejections`: which proposals of worklists a curator turned down, kept beside the memories, for everybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from .changes import book
from .findings import Finding
from .namespaces import Namespace
from .own_books import read_entries
from .stores.base import StoreAdapter, StoredItem, Write
from .text import storable
from .times import from_iso, to_iso

__all__ = ["Rejection", "Rejections"]


@dataclass(frozen=True)
class Rejection:
    """One proposal that was turned down: of which worklist, by whom, when and why."""

    id: str
    worklist: str
    actor: str
    at: datetime
    reason: str = ""


class Rejections:
    """Reads and writes the rejections of a store."""

    def __init__(self, adapter: StoreAdapter) -> None:
        self._adapter = adapter

    def of(self, namespace: Namespace, *, subtree: bool = False) -> dict[str, Rejection]:
        """What was rejected in a namespace, by the finding's id, in one call."""
        items = self._adapter.load(book("worklists", namespace), subtree=subtree).items
        return {each.id: each for each in read_entries(items, _read)}

    def add(self, findings: Sequence[Finding], *, actor: str, at: datetime, reason: str = "") -> None:
        """Turn these proposals down, in one batch; they stay so until one of their memories changes."""
        self._adapter.write(
            [
                Write(
                    book("worklists", finding.namespace),
                    finding.id,
                    {
                        "kind": "rejection",
                        "worklist": finding.worklist,
                        "actor": storable(actor)[0],
                        "at": to_iso(at),
                        "reason": storable(reason)[0],
                    },
                )
                for finding in findings
            ]
        )

    def remove(self, findings: Sequence[Finding]) -> None:
        """Take rejections back, in one batch."""
        self._adapter.write([Write(book("worklists", finding.namespace), finding.id, None) for finding in findings])


def _read(item: StoredItem) -> Rejection:
    value = item.value
    return Rejection(item.key, value["worklist"], value["actor"], from_iso(value["at"]), value["reason"])
