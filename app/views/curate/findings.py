"""What the worklists find: worked out once for all sessions of a scope, then what of it still holds and is open."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import streamlit as st
from mnemoscope import Change, MemoryEngine, MemoryRecord, MnemoscopeError
from mnemoscope.core import Watch
from mnemoscope.index import ScopeIndex
from mnemoscope.stores import Ref, StoredItem
from mnemoscope.worklists import WORKLISTS, Criteria, Finding, Rejection, Survey

from app.session.scope import Scope

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
def open_shelf(connection: str, version: str, scope: Scope, criteria: Criteria, judged: bool) -> Shelf:
    """The shelf of a scope of a connection, shared by all sessions. The arguments are its name alone."""
    del connection, version, scope, criteria, judged
    return Shelf()


def find_moved(before: ScopeIndex, now: ScopeIndex) -> Collection[Ref]:
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


@dataclass(frozen=True)
class Rows:
    """The rows of one worklist: open ones, rejected ones, and how many are hidden since they are private."""

    open: list[Finding] = field(default_factory=list)
    rejected: list[Finding] = field(default_factory=list)
    hidden: int = 0


@dataclass(frozen=True)
class Review:
    """Every worklist as it is now, with the memories and changes that its rows are about.

    `changed` counts the memories that are not what they were when the worklists were worked out.
    """

    rows: Mapping[str, Rows]
    index: ScopeIndex
    changes: Mapping[str, Change]
    survey: Survey
    changed: int = 0

    def record(self, ref: Ref) -> MemoryRecord | None:
        """The memory at this place as it is now."""
        at = self.index.position.get(ref)
        return None if at is None else self.index.records[at]

    def change(self, finding: Finding) -> Change | None:
        """The change that the finding is about, if it is about one."""
        id = finding.proposal.change if finding.proposal else None
        return self.changes.get(id) if id else None


def review(
    work: Work,
    survey: Survey,
    index: ScopeIndex,
    rejected: Mapping[str, Rejection],
    *,
    include_private: bool,
) -> Review:
    """What the work found, as far as it still holds of this index."""
    gone = find_moved(survey.index, index)
    looked = Review({}, index, {change.id: change for change in survey.changes}, survey)
    rows = {}
    for name in WORKLISTS:
        holding = [finding for finding in work.found[name] if not any(ref in gone for ref in finding.refs)]
        seen = [finding for finding in holding if include_private or not _is_private(finding, looked)]
        opened = [finding for finding in seen if finding.id not in rejected]
        offered = sum(finding.id not in rejected for finding in holding)
        turned_down = [finding for finding in seen if finding.id in rejected]
        rows[name] = Rows(opened, turned_down, hidden=offered - len(opened))
    return replace(looked, rows=rows, changed=len(gone))


def _is_private(finding: Finding, looked: Review) -> bool:
    records = [looked.record(ref) for ref in finding.refs]
    change = looked.change(finding)
    values = (change.before, change.after) if change else ()
    return any(record is not None and record.private for record in records) or any(
        MemoryRecord.from_item(StoredItem(change.namespace, change.key, value, change.at, change.at)).private
        for value in values
        if change is not None and value is not None
    )
