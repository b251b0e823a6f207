"""Working the worklists out: on a thread of its own, with progress and cancel, once for all sessions of a scope."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection
from dataclasses import dataclass, field

import streamlit as st
from mnemoscope import MemoryEngine, MnemoscopeError
from mnemoscope.core import Watch
from mnemoscope.index import ScopeIndex
from mnemoscope.stores import Ref
from mnemoscope.worklists import WORKLISTS, Criteria, Finding, Survey

from app.session.scope import Scope

__all__ = ["QUICK_SECONDS", "Shelf", "Work", "moved", "shelf"]

QUICK_SECONDS = 1.0
"""Work that took no longer is done again by itself when the memories have changed."""

PATIENCE_SECONDS = 0.8
"""How long a page waits for work that may be done at once, before it draws its progress."""

# Shares of the whole, as measured on 20,000 memories.
_SHARES = {"duplicates": 0.35, "contradictions": 0.45}


class Work:
    """One look at all memories of a scope, and what each worklist finds there.

    It begins when it is made. `found` fills as it goes; `error` says why it ended early, and it may be cancelled.
    """

    def __init__(self, engine: MemoryEngine, scope: Scope, criteria: Criteria, *, judged: bool) -> None:
        self.found: dict[str, list[Finding]] = {}
        self.survey: Survey | None = None
        self.error: MnemoscopeError | None = None
        self.done = 0.0
        self.looks_for = ""
        self.seconds = 0.0
        self._engine, self._scope, self._criteria, self._judged = engine, scope, criteria, judged
        self._cancelled = threading.Event()
        self._start = 0.0
        self._thread = threading.Thread(target=self._run, name="mnemoscope-curate", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether it is still under way."""
        return self._thread.is_alive()

    @property
    def is_complete(self) -> bool:
        """Whether every worklist was worked out."""
        return not self.is_running and len(self.found) == len(WORKLISTS)

    def cancel(self) -> None:
        """Let it end as soon as it can; what it found so far is dropped."""
        self._cancelled.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for its end, no longer than that; whether it has ended."""
        self._thread.join(PATIENCE_SECONDS if seconds is None else seconds)
        return not self.is_running

    def _run(self) -> None:
        started = time.perf_counter()
        watch, scope = Watch(self._tell, self._cancelled.is_set), self._scope
        try:
            self.survey = self._engine.curation.survey(
                scope.namespace, subtree=scope.subtree, criteria=self._criteria, judged=self._judged, watch=watch
            )
            for worklist in WORKLISTS.values():
                self.looks_for = worklist.title
                watch.at(0.0)
                self.found[worklist.name] = worklist.find(self.survey)
                self._start += _share(worklist.name)
        except MnemoscopeError as error:
            self.error = error
        self.seconds = time.perf_counter() - started

    def _tell(self, done: float) -> None:
        name = next((each.name for each in WORKLISTS.values() if each.name not in self.found), "")
        self.done = min(self._start + _share(name) * done, 1.0) if name else 1.0


@dataclass
class Shelf:
    """The work on one scope: the last that was completed, and the one under way."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    complete: Work | None = None
    begun: Work | None = None

    def settle(self) -> Work | None:
        """The work that is under way or failed, if there is any; what was completed is put in its place."""
        with self.lock:
            if self.begun is not None and self.begun.is_complete:
                self.complete, self.begun = self.begun, None
            return self.begun

    def begin(self, engine: MemoryEngine, scope: Scope, criteria: Criteria, *, judged: bool) -> Work:
        """Begin the work, or join it where it is under way."""
        with self.lock:
            if self.begun is None or not self.begun.is_running:
                self.begun = Work(engine, scope, criteria, judged=judged)
            return self.begun

    def drop(self) -> None:
        """Forget work that did not end well."""
        with self.lock:
            self.begun = None


@st.cache_resource(max_entries=8, show_spinner=False)
def shelf(connection: str, version: str, scope: Scope, criteria: Criteria, judged: bool) -> Shelf:
    """The shelf of a scope of a connection, shared by all sessions. The arguments are its name alone."""
    del connection, version, scope, criteria, judged
    return Shelf()


def moved(before: ScopeIndex, now: ScopeIndex) -> Collection[Ref]:
    """Where memories are not what they were: changed, new or gone."""
    if before is now:
        return frozenset()
    changed = {ref for ref, at in now.position.items() if not _is_as_before(before, before.position.get(ref), now, at)}
    return changed | {ref for ref in before.position if ref not in now.position}


def _is_as_before(before: ScopeIndex, was: int | None, now: ScopeIndex, at: int) -> bool:
    if was is None or before.vectored[was] != now.vectored[at]:
        return False
    return before.records[was] is now.records[at] or before.records[was] == now.records[at]


def _share(name: str) -> float:
    others = len(WORKLISTS) - len(_SHARES)
    return _SHARES.get(name, (1.0 - sum(_SHARES.values())) / others)
