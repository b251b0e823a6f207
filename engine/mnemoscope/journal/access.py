"""Access history: which memories were recalled, when and for what; kept beside them, never inside.

Notes are taken in memory and written from a thread of their own, so a recall makes no write on its caller's
path and never touches a memory.
"""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from ..core.locks import ForkSafeLock
from ..core.namespaces import Namespace
from ..core.records import MemoryRecord
from ..core.text import storable
from ..core.times import from_iso, to_iso
from ..errors import ConflictError, PermissionDeniedError, StoreError, describe_error
from ..stores.base import Guard, Ref, StoreAdapter, StoredItem, Write
from .changes import book
from .entries import read_entry

__all__ = ["Access", "AccessLog", "AskedQuery", "Recalled"]


RECENT = 20
"""How many of its last recalls are kept for each memory."""

_DELAY_SECONDS = 1.0
_MOST_WAITING = 10_000
_ATTEMPTS = 5

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Recalled:
    """One recall of a memory: when, for which query, at which rank (from 1), and in which recall and thread."""

    at: datetime
    query: str
    rank: int
    recall: str | None = None
    thread: str | None = None

    def to_value(self) -> dict[str, Any]:
        """The stored form."""
        value = {"at": to_iso(self.at), "query": storable(self.query[:500])[0], "rank": self.rank}
        about = {"recall": self.recall, "thread": self.thread and storable(self.thread[:200])[0]}
        return {**value, **{name: part for name, part in about.items() if part is not None}}

    @classmethod
    def from_value(cls, value: dict[str, Any]) -> Recalled:
        """Read the stored form."""
        return cls(from_iso(value["at"]), value["query"], value["rank"], value.get("recall"), value.get("thread"))


@dataclass(frozen=True)
class Access:
    """How often a memory was recalled, and its last recalls, latest first."""

    count: int = 0
    recent: list[Recalled] = field(default_factory=list)

    @property
    def last(self) -> datetime | None:
        """When it was last recalled."""
        return self.recent[0].at if self.recent else None

    def to_value(self) -> dict[str, Any]:
        """The stored form."""
        return {"kind": "access", "count": self.count, "recent": [each.to_value() for each in self.recent]}

    @classmethod
    def from_value(cls, value: dict[str, Any]) -> Access:
        """Read the stored form."""
        return cls(value["count"], [Recalled.from_value(each) for each in value["recent"]])


@dataclass(frozen=True)
class AskedQuery:
    """A query that memories were recalled for: in how many recalls, when last, and what came back then, best first.

    Only each memory's last recalls are known, so the count is at least this.
    """

    query: str
    count: int
    last: datetime
    recalled: tuple[Ref, ...]


class AccessLog:
    """Notes recalls and writes them a little later; `flush` writes at once."""

    _finalizer: weakref.finalize[..., AccessLog] | None = None

    def __init__(self, adapter: StoreAdapter) -> None:
        self._adapter = adapter
        self.begin()
        _LOGS.add(self)

    def begin(self) -> None:
        """Begin with no notes: when made, and in a forked process, where the parent writes those that wait."""
        self._waiting: dict[Ref, list[Recalled]] = {}
        self._lock = ForkSafeLock()
        self._writing = ForkSafeLock()
        self._timer: threading.Timer | None = None
        if self._finalizer is not None:
            self._finalizer.detach()
        self._finalizer = weakref.finalize(
            self, _flush_at_the_end, self._adapter, self._waiting, self._lock, self._writing
        )

    def note(
        self,
        records: Sequence[MemoryRecord],
        query: str,
        at: datetime,
        *,
        recall: str | None = None,
        thread: str | None = None,
    ) -> None:
        """Note that these memories, in this order, were recalled for the query."""
        if not records:
            return
        with self._lock:
            for rank, record in enumerate(records, start=1):
                if not storable(record.key)[1]:
                    self._waiting.setdefault((record.namespace, record.key), []).append(
                        Recalled(at, query, rank, recall, thread)
                    )
            if len(self._waiting) > _MOST_WAITING:
                _log.warning("Access notes wait for a store that does not take them; the oldest are let go.")
            while len(self._waiting) > _MOST_WAITING:
                del self._waiting[next(iter(self._waiting))]
            if self._timer is None:
                self._timer = threading.Timer(_DELAY_SECONDS, self._in_time)
                self._timer.daemon = True
                self._timer.start()

    def of(self, namespace: Namespace) -> dict[str, Access]:
        """The access history of a namespace's memories, by key, notes that wait included."""
        # While notes are being written they are neither waiting nor there.
        with self._writing:
            items = self._adapter.load(book("access", namespace)).items
            with self._lock:
                waiting = {key: list(notes) for (where, key), notes in self._waiting.items() if where == namespace}
        found = {item.key: _access_of(item) for item in items}
        for key, notes in waiting.items():
            found[key] = _with(found.get(key, Access()), notes)
        return found

    def queries(self, namespace: Namespace, *, subtree: bool = False) -> list[AskedQuery]:
        """What the memories of a scope were recalled for, the latest first."""
        self.flush()
        asked: dict[str, dict[str, list[tuple[Recalled, Ref]]]] = {}
        for item in self._adapter.load(book("access", namespace), subtree=subtree).items:
            for note in _access_of(item).recent:
                recalls = asked.setdefault(note.query, {})
                recalls.setdefault(note.recall or to_iso(note.at), []).append((note, (item.namespace[2:], item.key)))
        found = [_asked(query, list(recalls.values())) for query, recalls in asked.items()]
        return sorted(found, key=lambda each: (each.last, each.query), reverse=True)

    def find(self, recall: str, key: str, namespace: Namespace | None = None) -> tuple[Namespace, Recalled] | None:
        """Where, and under which note, this recall gave a memory of this key; without a namespace all are looked at."""
        if namespace is not None:
            found = {namespace: self.of(namespace).get(key, Access())}
        else:
            self.flush()
            items = self._adapter.load(book("access"), subtree=True).items
            found = {item.namespace[2:]: _access_of(item) for item in items if item.key == key}
        notes = ((where, note) for where, access in found.items() for note in access.recent)
        return next(((where, note) for where, note in notes if note.recall == recall), None)

    def flush(self) -> None:
        """Write every note that waits; where the store is read-only they are let go.

        Raises:
            StoreError: the store failed; the notes wait on.
        """
        _flush(self._adapter, self._waiting, self._lock, self._writing)

    def _in_time(self) -> None:
        with self._lock:
            self._timer = None
        try:
            self.flush()
        except (ConflictError, StoreError) as error:
            _log.warning("Access notes were not written; they are tried again later.\n%s", describe_error(error))


def _flush(
    adapter: StoreAdapter, waiting: dict[Ref, list[Recalled]], lock: ForkSafeLock, writing: ForkSafeLock
) -> None:
    with writing:
        with lock:
            taken = {ref: list(notes) for ref, notes in waiting.items()}
            waiting.clear()
        try:
            _write(adapter, taken)
        except PermissionDeniedError:
            _log.debug("Access notes are not kept, because the store is read-only.")
        except (ConflictError, StoreError):
            with lock:
                for ref, notes in taken.items():
                    waiting[ref] = notes + waiting.get(ref, [])
            raise


def _flush_at_the_end(
    adapter: StoreAdapter, waiting: dict[Ref, list[Recalled]], lock: ForkSafeLock, writing: ForkSafeLock
) -> None:
    try:
        _flush(adapter, waiting, lock, writing)
    except (ConflictError, StoreError) as error:
        _log.warning("The last access notes were lost.\n%s", describe_error(error))


def _write(adapter: StoreAdapter, taken: dict[Ref, list[Recalled]]) -> None:
    # Where another process writes the same note at the same moment, the sum is made anew.
    for attempt in range(_ATTEMPTS):
        writes, guards = _noted(adapter, taken)
        try:
            if writes:
                adapter.write(writes, guards)
            return
        except ConflictError:
            if attempt == _ATTEMPTS - 1:
                raise


def _noted(adapter: StoreAdapter, taken: dict[Ref, list[Recalled]]) -> tuple[list[Write], list[Guard]]:
    """The writes of these notes; none for a memory that has gone, so that nothing of it comes back."""
    if not taken:
        return [], []
    places = [(book("access", namespace), key) for namespace, key in taken]
    found = adapter.get([*places, *taken])
    writes, guards = [], []
    for place, item, memory, notes in zip(places, found, found[len(places) :], taken.values(), strict=False):
        if memory is not None:
            access = _with(_access_of(item) if item else Access(), notes)
            writes.append(Write(*place, access.to_value()))
            guards.append(Guard(*place, item.value if item else None))
    return writes, guards


def _asked(query: str, recalls: Sequence[list[tuple[Recalled, Ref]]]) -> AskedQuery:
    latest = max(recalls, key=lambda notes: notes[0][0].at)
    ordered = sorted(latest, key=lambda pair: pair[0].rank)
    return AskedQuery(query, len(recalls), ordered[0][0].at, tuple(ref for _, ref in ordered))


def _with(access: Access, notes: Sequence[Recalled]) -> Access:
    recent = sorted([*notes, *access.recent], key=lambda each: each.at, reverse=True)[:RECENT]
    return replace(access, count=access.count + len(notes), recent=recent)


def _access_of(item: StoredItem) -> Access:
    return read_entry(item, lambda each: Access.from_value(each.value)) or Access()


_LOGS: weakref.WeakSet[AccessLog] = weakref.WeakSet()


def _begin_all() -> None:
    """A forked process has none of its parent's timers, and perhaps a lock that one of its threads held."""
    for log in list(_LOGS):
        log.begin()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_all)
