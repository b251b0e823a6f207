"""Feedback: whether a memory that was recalled was of use, kept beside the memory for tuning and for curators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..core.namespaces import Namespace
from ..core.text import shown
from ..core.times import from_iso, to_iso
from ..errors import ConflictError, NotFoundError
from ..journal.access import AccessLog, Recalled
from ..journal.changes import book
from ..journal.entries import read_entry
from ..stores.base import Guard, StoreAdapter, Write
from .cases import Case, case

__all__ = ["Feedback", "FeedbackBook", "cases_of", "recall_of"]


KEPT = 200
"""How many words of feedback are kept for each memory; the oldest go first."""

_ATTEMPTS = 5


@dataclass(frozen=True)
class Feedback:
    """What somebody said of one memory in one recall: of use or not, for which query and at which rank."""

    recall: str
    query: str
    rank: int
    useful: bool
    actor: str
    at: datetime
    thread: str | None = None

    def to_value(self) -> dict[str, Any]:
        """The stored form."""
        fields = {name: getattr(self, name) for name in ("recall", "query", "rank", "useful", "actor", "thread")}
        return {**fields, "at": to_iso(self.at)}

    @classmethod
    def from_value(cls, value: Mapping[str, Any]) -> Feedback:
        """Read the stored form."""
        return cls(**{**value, "at": from_iso(value["at"])})


class FeedbackBook:
    """Feedback of a store: one item for each memory, in a book of its own."""

    def __init__(self, adapter: StoreAdapter) -> None:
        self._adapter = adapter

    def of(self, namespace: Namespace) -> dict[str, list[Feedback]]:
        """The feedback on the memories of a namespace by key, the latest first."""
        items = self._adapter.load(book("feedback", namespace)).items
        return {item.key: read_entry(item, lambda each: _read(each.value)) or [] for item in items}

    def namespaces(self, prefix: Namespace) -> list[Namespace]:
        """The namespaces within the prefix that have feedback, in order."""
        return sorted(found[2:] for found in self._adapter.counts(book("feedback", prefix)))

    def add(self, namespace: Namespace, key: str, given: Feedback) -> None:
        """Keep feedback; a second word on the same recall takes the place of the first.

        Raises:
            ConflictError: others wrote about the same memory all the while.
        """
        place = (book("feedback", namespace), key)
        for attempt in range(_ATTEMPTS):
            (item,) = self._adapter.get([place])
            earlier = [] if item is None else read_entry(item, lambda each: _read(each.value)) or []
            kept = [given, *(each for each in earlier if each.recall != given.recall)][:KEPT]
            value = {"kind": "feedback", "given": [each.to_value() for each in kept]}
            try:
                self._adapter.write([Write(*place, value)], [Guard(*place, None if item is None else item.value)])
            except ConflictError:
                if attempt == _ATTEMPTS - 1:
                    raise
            else:
                return


def cases_of(namespace: Namespace, feedback: Mapping[str, Sequence[Feedback]]) -> list[Case]:
    """The feedback on a namespace as cases to measure a ranking by: the latest word on a memory and query counts."""
    said = sorted(((each, key) for key, words in feedback.items() for each in words), key=lambda pair: pair[0].at)
    latest = {(each.query, key): each.useful for each, key in said if each.query.strip()}
    queries = dict.fromkeys(query for query, _ in latest)
    return [
        case(
            query,
            namespace,
            expected=[key for (asked, key), useful in latest.items() if asked == query and useful],
            unwanted=[key for (asked, key), useful in latest.items() if asked == query and not useful],
            note="from feedback",
        )
        for query in queries
    ]


def recall_of(
    access: AccessLog, recall: str, key: str, namespace: Namespace | None = None
) -> tuple[Namespace, Recalled]:
    """Where the memory is, and the note of this recall in its access history.

    Raises:
        NotFoundError: the history has none.
    """
    found = access.find(recall, key, namespace)
    if found is None:
        raise NotFoundError(
            f"No recall {shown(recall)} of the memory {shown(key)} is noted. Notes are kept of each memory's last "
            "recalls, where touch_on_recall is on."
        )
    return found


def _read(value: Mapping[str, Any]) -> list[Feedback]:
    return [Feedback.from_value(each) for each in value["given"]]
