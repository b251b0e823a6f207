"""Erasure for legal deletion: an item, its tombstone, its history and its access notes, without a trace of the text."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

import orjson

from ..consolidation.runs import Run, RunFact, run_write, without_transcript
from ..core.frozen import KeepsTuples
from ..core.namespaces import Namespace, show_namespace
from ..core.payloads import text_of
from ..core.text import normalise
from ..embedding.active import changer_of
from ..errors import InputError, NotFoundError
from ..journal.changes import Change, book
from ..journal.entries import read_entries, required_entry
from ..journal.journal import Journal, group_name
from ..journal.shelf_texts import SHELVES
from ..recall.cases import Case, CaseBook, read_case
from ..stores.base import Guard, Hit, Ref, StoreAdapter, StoredItem, Write

__all__ = ["Erased", "ErasedFromCases", "ErasureReceipt", "erase", "kept_runs", "without_memories"]


NOT_REACHED = (
    "Checkpoints of conversations still hold what was said: delete the threads by checkpointer.delete_thread(id).",
    "Exports and backups made before still hold it: delete or replace those files.",
    "Data may remain in the database's file until it is compacted (VACUUM).",
)
"""Where an erased memory's words may still be: outside of the store."""

_SHORTEST_TEXT = 8
_LONGEST_QUERY = 2_000


@dataclass(frozen=True)
class ErasureReceipt(KeepsTuples):
    """What was erased and how that was verified; it holds no content, so it can be kept and shown.

    `refs` are the places concerned: the memories named, where they were moved from, and what was merged into them.
    `elsewhere` counts living memories and journal entries of other memories that hold the same words, and cases of
    other namespaces with the changes of cases, labels and profiles there. `failures` says what the verification
    still found, and `runs` how many kept runs lost texts. A file or database keeps deleted bytes until it reuses or
    compacts them.
    """

    id: str
    namespace: Namespace
    refs: tuple[Ref, ...]
    actor: str
    at: datetime
    items: int
    tombstones: int
    changes: int
    access_notes: int
    elsewhere: int
    verified: tuple[str, ...]
    failures: tuple[str, ...] = ()
    runs: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether nothing was found any more."""
        return not self.failures

    @property
    def not_reached(self) -> tuple[str, ...]:
        """What no store can erase, and how to."""
        return NOT_REACHED


@dataclass(frozen=True)
class _Traces:
    """Everything a store holds of some memories."""

    refs: tuple[Ref, ...]
    items: tuple[StoredItem, ...]
    tombstones: tuple[StoredItem, ...]
    notes: tuple[StoredItem, ...]
    changes: tuple[Change, ...]

    @cached_property
    def texts(self) -> set[str]:
        """Every wording that they ever had, as far as anything still knows it."""
        values = [item.value for item in self.items]
        values += [item.value.get("value") for item in self.tombstones]
        values += [value for change in self.changes for value in (change.before, change.after, change.stone)]
        texts = {text_of(value) for value in values if isinstance(value, dict)}
        return {text for text in texts if text}

    @cached_property
    def runs(self) -> set[str]:
        """The runs that they came from."""
        values = [item.value for item in self.items]
        values += [value for change in self.changes for value in (change.before, change.after)]
        evidence = [each.get("evidence") for each in values if isinstance(each, dict)]
        entries = [entry for each in evidence if isinstance(each, list) for entry in each if isinstance(entry, dict)]
        named = [entry.get("run") for entry in entries] + [change.run for change in self.changes]
        return {name for name in named if isinstance(name, str)}


def erase(
    adapter: StoreAdapter, journal: Journal, places: Sequence[Ref], *, actor: str, at: datetime, reason: str = ""
) -> ErasureReceipt:
    """Remove everything the store holds of these memories, in one batch, and look whether it is gone.

    The history keeps that there were changes, when and by whom, but neither their texts nor their reasons. They
    cannot be undone, nor can a group that they are part of.

    Raises:
        InputError: none is named, or they are of several namespaces.
        NotFoundError: of one of them nothing is known.
        ConflictError: one was changed at the same moment; nothing was erased.
    """
    _check_places(places)
    journal.embedders.check()
    traces = _traces(adapter, journal, _lineage(adapter, journal, places))
    _check_known(places, traces)
    others = _others_with(adapter, traces)
    runs = _runs_to_clean(adapter, traces)
    group = group_name(at)
    writes = [*_removing(traces, others), *map(run_write, runs)]
    writes += [
        Write(book("journal", namespace), f"{group}-{number:06d}", entry.to_value())
        for number, (namespace, key) in enumerate(traces.refs)
        for entry in [_entry(namespace, key, group, number, actor=actor, reason=reason, at=at)]
    ]
    from_cases, namespaces = _from_cases(traces), {namespace for namespace, _ in traces.refs}
    writes += from_cases.writes(adapter, namespaces)
    writes += [_rewritten(change, _blanked(change)) for change in from_cases.changes(adapter, namespaces)]
    guards = [
        Guard(*ref, next((item.guarded for item in traces.items if item.ref == ref), None)) for ref in traces.refs
    ]
    adapter.write(writes, guards)
    verified, failures = _verified(adapter, journal, traces)
    holders = sum(_quotes(_json(each.before) + _json(each.after), traces) for each in others)
    return ErasureReceipt(
        id=group,
        namespace=places[0][0],
        refs=traces.refs,
        actor=actor,
        at=at,
        items=len(traces.items),
        tombstones=len(traces.tombstones),
        changes=len(traces.changes),
        access_notes=len(traces.notes),
        elsewhere=holders + _living_with(adapter, traces) + from_cases.elsewhere(adapter, namespaces),
        verified=verified,
        failures=failures,
        runs=len(runs),
    )


def _removing(traces: _Traces, others: Iterable[Change]) -> list[Write]:
    """What removes the memories, and their words from their own history and from the reasons of other changes."""
    writes = [Write(namespace, key, None) for ref in traces.refs for namespace, key in _shelves(ref)]
    writes += [_rewritten(change, _blanked(change)) for change in traces.changes]
    writes += [_rewritten(change, replace(change, reason="")) for change in others if _quotes(change.reason, traces)]
    return writes


def _check_places(places: Sequence[Ref]) -> None:
    if not places:
        raise InputError("Name at least one memory to erase.")
    if len({namespace for namespace, _ in places}) > 1:
        raise InputError("The memories to erase are of several namespaces; erase them one namespace at a time.")


def _check_known(places: Sequence[Ref], traces: _Traces) -> None:
    known = {item.ref for item in traces.items} | {(change.namespace, change.key) for change in traces.changes}
    known |= {(tuple(item.value["namespace"]), item.key) for item in traces.tombstones}
    for namespace, key in places:
        if (namespace, key) not in known:
            raise NotFoundError(f"Nothing is known of a memory {key!r} in {show_namespace(namespace)}.")


def _lineage(adapter: StoreAdapter, journal: Journal, places: Sequence[Ref]) -> list[Ref]:
    """The places themselves, where these memories were moved from or to, and what was merged into them.

    A place where something lives now is left alone, unless it was named.
    """
    refs = list(dict.fromkeys(places))
    for ref in refs:
        for change in journal.history(ref[0], ref[1]):
            if change.action not in ("merge", "move"):
                continue
            for other in journal.changes_of(change.group):
                beside = (other.namespace, other.key)
                belongs = change.action == "move" and other.key == ref[1]
                belongs = belongs or (change.action == "merge" and change.after is not None and other.after is None)
                if belongs and beside not in refs and adapter.get([beside])[0] is None:
                    refs.append(beside)
    return refs


def _traces(adapter: StoreAdapter, journal: Journal, refs: Sequence[Ref]) -> _Traces:
    shelves = [[shelf for ref in refs for shelf in [_shelves(ref)[at]]] for at in range(3)]
    items, tombstones, notes = (tuple(item for item in adapter.get(part) if item is not None) for part in shelves)
    changes = tuple(change for namespace, key in refs for change in journal.history(namespace, key))
    return _Traces(tuple(refs), items, tombstones, notes, changes)


def _shelves(ref: Ref) -> list[Ref]:
    namespace, key = ref
    beside = [(book(shelf, namespace), key) for shelf in ("tombstones", "access", "feedback", "revisions")]
    return [ref, *beside]


def _blanked(change: Change) -> Change:
    return replace(change, before=None, after=None, reason="", vectors={}, stone=None, stone_vectors={}, erased=True)


def _rewritten(before: Change, after: Change) -> Write:
    return Write(book("journal", before.namespace), before.id, after.to_value())


def _entry(namespace: Namespace, key: str, group: str, number: int, *, actor: str, reason: str, at: datetime) -> Change:
    return Change(f"{group}-{number:06d}", group, namespace, key, "erase", None, None, actor, reason, at, erased=True)


def _others_with(adapter: StoreAdapter, traces: _Traces) -> list[Change]:
    """Journal entries of other memories, and of labels, that hold the same words."""
    mine = {change.id for change in traces.changes}
    namespaces = dict.fromkeys(namespace for namespace, _ in traces.refs)
    entries = (item for namespace in namespaces for item in adapter.latest(book("journal", namespace)))
    # As stored: a journal may hold a hundred thousand entries, and few of them are about these words.
    others = (item for item in entries if item.key not in mine and item.value.get("shelf") != "cases")
    return [Change.from_item(item) for item in others if _quotes(_json(_texts_in(item)), traces)]


def _texts_in(item: StoredItem) -> list[object]:
    return [item.value.get(name) for name in ("before", "after", "stone", "reason")]


def _living_with(adapter: StoreAdapter, traces: _Traces) -> int:
    namespaces = dict.fromkeys(namespace for namespace, _ in traces.refs)
    items = (item for namespace in namespaces for item in adapter.load(namespace).items)
    return sum(_quotes(_json(item.value), traces) for item in items)


def _quotes(text: str, traces: _Traces) -> bool:
    wordings = (wording for wording in traces.texts if len(wording) >= _SHORTEST_TEXT)
    return any(wording in text or _json(wording)[1:-1] in text for wording in wordings)


def _runs_to_clean(adapter: StoreAdapter, traces: _Traces) -> list[Run]:
    """The runs that hold anything of these memories, without it."""
    erased = Erased(
        frozenset(key for _, key in traces.refs), frozenset(traces.runs), lambda text: _quotes(text, traces)
    )
    kept = kept_runs(adapter, dict.fromkeys(namespace for namespace, _ in traces.refs), traces.runs)
    clean = [without_memories(run, erased) for run in kept]
    return [after for before, after in zip(kept, clean, strict=True) if after is not before]


def _from_cases(traces: _Traces) -> ErasedFromCases:
    keys = {key for _, key in traces.refs}
    return ErasedFromCases(keys, traces.texts, lambda text: _quotes(text, traces))


def _is_in_cases(adapter: StoreAdapter, traces: _Traces) -> bool:
    erased, namespaces = _from_cases(traces), dict.fromkeys(namespace for namespace, _ in traces.refs)
    return bool(erased.writes(adapter, namespaces) or erased.changes(adapter, namespaces))


def _json(value: object) -> str:
    try:
        return orjson.dumps(value, default=repr).decode(errors="replace")
    except TypeError:
        return json.dumps(value, default=repr, ensure_ascii=False)


def _verified(adapter: StoreAdapter, journal: Journal, traces: _Traces) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What was looked for and not found, and what was found all the same."""
    present = adapter.get([shelf for ref in traces.refs for shelf in _shelves(ref)])
    entries = [change for namespace, key in traces.refs for change in journal.history(namespace, key)]
    checks = {
        "item, tombstone and access notes are not there": any(present),
        "no journal entry holds a text, reason or vector": any(map(_holds_text, entries)),
        "no reason of another change there quotes it": any(
            _quotes(change.reason, traces) for change in _others_with(adapter, traces)
        ),
        "no run that is kept holds its words or turns": bool(_runs_to_clean(adapter, traces)),
        "no case of its namespace, now or in the history, names it or holds its words": _is_in_cases(adapter, traces),
    }
    if not journal.embedders.difference:
        # A search by another embedder finds nothing for sure, and some stores refuse it.
        checks["no search for any of its wordings returns it"] = _is_found(adapter, traces)
    if (changer := changer_of(adapter)) is not None:
        places = [shelf for ref in traces.refs for shelf in _shelves(ref)]
        checks["no vector in waiting, made or former, is of it"] = changer.staging.holds(places)
    good = tuple(name for name, is_found in checks.items() if not is_found)
    return good, tuple(name for name, is_found in checks.items() if is_found)


def _holds_text(change: Change) -> bool:
    kept = (change.before, change.after, change.stone, change.vectors, change.stone_vectors)
    return any(kept) or bool(change.reason and change.action != "erase")


def _is_found(adapter: StoreAdapter, traces: _Traces) -> bool:
    refs = {shelf for ref in traces.refs for shelf in _shelves(ref)}
    return any(hit.item.ref in refs for hit in _hits(adapter, traces))


def _hits(adapter: StoreAdapter, traces: _Traces) -> Iterable[Hit]:
    queries = [text[:_LONGEST_QUERY] for text in sorted(traces.texts)]
    places = dict.fromkeys(
        shelf for namespace, _ in traces.refs for shelf in (namespace, book("tombstones", namespace))
    )
    for namespace in places:
        for hits in adapter.search_each(namespace, queries, 20) if queries else ():
            yield from hits


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


@dataclass(frozen=True)
class Erased:
    """The memories to be erased as runs know them: their keys, the runs they came from, and a test for their words."""

    keys: frozenset[str]
    runs: frozenset[str]
    is_quoted: Callable[[str], bool]

    def is_about(self, fact: RunFact) -> bool:
        """Whether the fact led to one of them, or holds its words."""
        texts = (fact.content, fact.quote or "", fact.reason, fact.rejected or "")
        return fact.target in self.keys or any(map(self.is_quoted, texts))


def kept_runs(adapter: StoreAdapter, namespaces: Iterable[Namespace], ids: Iterable[str]) -> list[Run]:
    """The runs of these namespaces, and those of these ids wherever they are."""
    items = [item for namespace in namespaces for item in adapter.latest(book("runs", namespace))]
    found = {item.key: required_entry(item, Run.from_item) for item in items}
    for name in set(ids) - set(found):
        for item in adapter.latest(book("runs"), subtree=True, where={"id": name}):
            found[name] = required_entry(item, Run.from_item)
    return list(found.values())


def without_memories(run: Run, erased: Erased) -> Run:
    """The run without anything of these memories; the very same where it holds nothing.

    Of a run that one of them came from no turn and no quote stays, because others may repeat what was said.
    """
    about = [fact for fact in run.facts if erased.is_about(fact)]
    reason = "" if erased.is_quoted(run.reason) else run.reason
    if run.id in erased.runs or any(fact.target in erased.keys for fact in about):
        bare = without_transcript(run)
    else:
        messages = tuple(each for each in run.messages if not erased.is_quoted(each.text))
        bare = replace(run, messages=messages, not_kept=run.not_kept + len(run.messages) - len(messages))
    facts = tuple(_emptied(fact) if fact in about else kept for fact, kept in zip(run.facts, bare.facts, strict=True))
    clean = replace(bare, facts=facts, reason=reason)
    return run if clean == run else clean


def _emptied(fact: RunFact) -> RunFact:
    return replace(
        fact, content="", reason="", quote=None, categories=(), said_at=None, rejected=None, erased=True, date=None
    )
