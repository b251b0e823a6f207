"""Import: a dry run that says of every row what would become of it, and then one group of edits."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, BinaryIO, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from ..consolidation.decisions import memory_key
from ..consolidation.plan import Terms
from ..consolidation.remember import vectors_for
from ..consolidation.runs import Run
from ..core.namespaces import Namespace
from ..core.payloads import as_object, text_of
from ..core.records import MemoryRecord, rewritten
from ..core.text import one_line
from ..core.times import read_time
from ..embedding.identity import made_by
from ..embedding.named import identity_of
from ..errors import InputError, MnemoscopeError
from ..journal.changes import Change, Edit, Tombstone, book
from ..journal.entries import read_entries as read_journal
from ..stores.base import KEEP, Keep, Ref, StoreAdapter, StoredItem, Vectors, Write
from ..stores.packing import unpacked
from ..stores.values import prepare, same_json
from .formats import Entry, Fault, Header, read_entries
from .rows import SHELF_OF, is_newer, merged, rebased_change, shelved, told

__all__ = ["CONFLICT_RULES", "ConflictRule", "ImportPlan", "ImportRow", "ImportStatus", "import_edits", "import_plan"]


ConflictRule: TypeAlias = Literal["skip", "overwrite", "newer"]
CONFLICT_RULES: tuple[ConflictRule, ...] = get_args(ConflictRule)
"""What becomes of a row whose place is taken: keep what is there, take the file's, or whichever changed last."""

ImportStatus: TypeAlias = Literal["new", "same", "conflicting", "erased", "invalid"]

_BATCH = 5_000

# What is added to the history as it is, and never merged with what is there.
_RECORDS: Mapping[str, Callable[[StoredItem], object]] = {"change": Change.from_item, "run": Run.from_item}
_BOOKS = {"change": "journal", "run": "runs", **SHELF_OF}


@dataclass(frozen=True)
class ImportRow:
    """One row of the file: where it stands, what it meets in the store, and whether it would be written.

    `remarks` say what of it could not be read as it stands, and what became of that.
    """

    where: str
    kind: str
    status: ImportStatus
    ref: Ref | None
    reason: str
    is_written: bool = False
    text: str | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Draft:
    """A row that would be written; `vectors` None: its text is to be embedded."""

    ref: Ref
    kind: str
    value: dict[str, Any]
    before: StoredItem | None = None
    created_at: datetime | None = None
    vectors: Vectors | Keep | None = None

    @property
    def text(self) -> str | None:
        """The text to embed, if any."""
        return text_of(self.value) if self.vectors is None else None


@dataclass(frozen=True, eq=False)
class ImportPlan:
    """What an import would do; nothing is written until it is applied.

    `rows` are those of the file in its order, `to_embed` how many texts have no vector that this store can use.
    """

    name: str
    rule: ConflictRule
    rows: tuple[ImportRow, ...]
    drafts: tuple[_Draft, ...] = field(repr=False)
    to_embed: int

    @property
    def counts(self) -> dict[str, int]:
        """Rows of each status."""
        return dict(Counter(row.status for row in self.rows))

    @property
    def remarked(self) -> tuple[ImportRow, ...]:
        """The rows that come with remarks."""
        return tuple(row for row in self.rows if row.remarks)

    @property
    def written(self) -> int:
        """How many rows would be written."""
        return len(self.drafts)


def import_plan(
    adapter: StoreAdapter,
    data: bytes | str | BinaryIO,
    *,
    namespace: Namespace | None = None,
    rule: ConflictRule = "skip",
    erased: Collection[Ref] = (),
    name: str = "",
    now: datetime,
) -> ImportPlan:
    """Read the file and compare each row with the store.

    Args:
        adapter: the store.
        data: JSON lines, JSON or CSV, as bytes, text or a binary file.
        namespace: where to; None: where the file says. Of our own exports, the scope is moved there as a whole.
        rule: for rows whose place is taken by something else, or that were forgotten here.
        erased: the places of memories that come back though they were erased here for good; no rule brings one back.
        name: of the file, for messages.
        now: what is taken as the time of rows that name none.

    Raises:
        InputError: the file as a whole cannot be read, or there is no such rule.
    """
    if rule not in CONFLICT_RULES:
        raise InputError(f"A conflict rule is one of {', '.join(CONFLICT_RULES)}; got {rule!r}.")
    reading = _Reading(adapter, namespace, rule, frozenset(erased), now)
    batch: list[Entry] = []
    for row in read_entries(data, name=name):
        if isinstance(row, Header):
            reading.begin(row)
        elif isinstance(row, Fault):
            reading.refuse(row.where, row.reason)
        else:
            batch.append(row)
        if len(batch) >= _BATCH:
            reading.take(batch)
            batch = []
    reading.take(batch)
    rows = tuple(sorted(reading.rows, key=lambda row: _line_of(row.where)))
    embedded = sum(draft.text is not None for draft in reading.drafts)
    return ImportPlan(name, rule, rows, tuple(reading.drafts), embedded)


def import_edits(
    plan: ImportPlan, vectors: Mapping[str, NDArray[np.float32]], *, reason: str
) -> tuple[list[Edit], list[Write]]:
    """The edits of memories and tombstones, and the entries of journal and runs to be written with them."""
    edits, entries = [], []
    for draft in plan.drafts:
        written = draft.vectors if draft.vectors is not None else vectors_for(text_of(draft.value) or "", vectors)
        if draft.kind in _RECORDS:
            entries.append(Write(*draft.ref, draft.value, as_stored=True))
        elif draft.kind == "tombstone":
            stone_vectors = {} if isinstance(written, Keep) else written
            edits.append(
                Edit(*draft.ref, "import", None, None, reason=reason, stone=draft.value, stone_vectors=stone_vectors)
            )
        else:
            expected = None if draft.before is None else draft.before.guarded
            created = draft.created_at
            edits.append(Edit(*draft.ref, "import", expected, draft.value, written, reason, created_at=created))
    return edits, entries


class _Reading:
    """The rows read so far."""

    def __init__(
        self,
        adapter: StoreAdapter,
        namespace: Namespace | None,
        rule: ConflictRule,
        wanted: frozenset[Ref],
        now: datetime,
    ) -> None:
        self.rows: list[ImportRow] = []
        self.drafts: list[_Draft] = []
        self._adapter = adapter
        self._target = namespace
        self._rule = rule
        self._wanted = wanted
        self._erased: dict[Namespace, dict[str, Change]] = {}
        self._now = now
        self._header: Header | None = None
        self._seen: dict[tuple[str, Ref], str] = {}
        embeddings = adapter.embeddings
        self._embedder = identity_of(embeddings) if embeddings is not None else None

    def begin(self, header: Header) -> None:
        """Go by what the file says of itself."""
        self._header = header

    def refuse(self, where: str, reason: str) -> None:
        """Note a row that cannot be imported."""
        self.rows.append(ImportRow(where, "memory", "invalid", None, reason))

    def take(self, entries: Sequence[Entry]) -> None:
        """Compare these rows with the store, in one round trip."""
        placed = [(entry, ref) for entry in entries if (ref := self._placed(entry)) is not None]
        places = [place for entry, ref in placed for place in (ref, _shelf("tombstone", ref), _shelf(entry.kind, ref))]
        found = {item.ref: item for item in self._adapter.get(list(dict.fromkeys(places))) if item is not None}
        for entry, ref in placed:
            try:
                self._compare(entry, ref, found)
            except MnemoscopeError as error:
                self.refuse(entry.where, str(error))

    def _placed(self, entry: Entry) -> Ref | None:
        try:
            namespace = entry.namespace if entry.namespace == () else self._rebased(entry.namespace)
            if namespace is None:
                raise InputError("the file does not say whose memory it is; name a namespace to import into")
            ref = (namespace, self._key_of(entry, namespace))
        except MnemoscopeError as error:
            self.refuse(entry.where, str(error))
            return None
        # A memory and its tombstone share a place, because what lives has no tombstone.
        shelf = entry.kind if entry.kind in _BOOKS else "memory"
        if (shelf, ref) in self._seen:
            self.refuse(entry.where, f"the same place was named before, on {self._seen[shelf, ref]}")
            return None
        self._seen[shelf, ref] = entry.where
        return ref

    def _rebased(self, namespace: Namespace | None) -> Namespace | None:
        if self._target is None:
            return namespace
        root = self._header.namespace if self._header is not None else None
        if namespace is None or root is None or namespace[: len(root)] != root:
            return self._target
        return (*self._target, *namespace[len(root) :])

    def _key_of(self, entry: Entry, namespace: Namespace) -> str:
        if entry.kind in SHELF_OF:
            source = namespace if entry.namespace is None else entry.namespace
            return shelved(entry.kind, entry.key or "", entry.value or {}, source=source, target=namespace)[0]
        if entry.key is not None:
            return entry.key
        text = text_of(entry.value if entry.value is not None else entry.fields)
        return memory_key(text, Terms()) if text else str(uuid.uuid4())

    def _compare(self, entry: Entry, ref: Ref, found: Mapping[Ref, StoredItem]) -> None:
        if entry.kind in _RECORDS:
            self._compare_record(entry, ref, found)
        elif entry.kind == "tombstone":
            self._compare_stone(entry, ref, found)
        elif entry.kind in SHELF_OF:
            self._compare_shelved(entry, ref, found)
        else:
            stone = found.get(_shelf("tombstone", ref))
            self._compare_memory(entry, ref, found.get(ref), stone)

    def _compare_memory(self, entry: Entry, ref: Ref, item: StoredItem | None, stone: StoredItem | None) -> None:
        value = self._value(entry, ref, item)
        draft = _Draft(ref, "memory", value, item, self._born(entry), self._vectors(entry, value, item))
        _check(self._adapter, draft)
        if item is not None and _is_same(item.value, value):
            self._note(entry, ref, "same", "it is there already", value)
        elif item is not None:
            before = MemoryRecord.from_item(item)
            is_newer = _changed_at(entry, ref, value) > before.changed_at
            self._settle(entry, draft, "there is another memory at its place", is_newer)
        elif stone is not None:
            forgotten = Tombstone.from_value(stone.value)
            is_newer = _changed_at(entry, ref, value) > forgotten.forgotten_at
            self._settle(entry, draft, f"it was forgotten here by {forgotten.actor}", is_newer)
        elif (erasure := self._erasure(ref)) is not None and ref not in self._wanted:
            reason = f"it was {_say_erased(erasure)}; no rule brings it back, only naming it"
            self._note(entry, ref, "erased", reason, value)
        else:
            self._note(entry, ref, "new", "it is not there yet", value, draft)

    def _erasure(self, ref: Ref) -> Change | None:
        """The erasure of what stood at this place, if there was one; a namespace's are read once."""
        namespace, key = ref
        if namespace not in self._erased:
            items = self._adapter.latest(book("journal", namespace), where={"action": "erase"})
            changes = read_journal(items, Change.from_item)
            self._erased[namespace] = {change.key: change for change in reversed(changes)}
        return self._erased[namespace].get(key)

    def _settle(self, entry: Entry, draft: _Draft, reason: str, is_newer: bool) -> None:
        is_written = self._rule == "overwrite" or (self._rule == "newer" and is_newer)
        verb = "the file's is taken" if is_written else "what is here stays"
        self._note(entry, draft.ref, "conflicting", f"{reason}; {verb}", draft.value, draft if is_written else None)

    def _compare_stone(self, entry: Entry, ref: Ref, found: Mapping[Ref, StoredItem]) -> None:
        value = {**(entry.value or {}), "namespace": list(ref[0])}
        _readable(lambda: Tombstone.from_value(value), "tombstone")
        draft = _Draft(ref, "tombstone", value, vectors=self._vectors(entry, value, None))
        _check(self._adapter, draft)
        stone = found.get(_shelf("tombstone", ref))
        if stone is not None and same_json(stone.value, value):
            self._note(entry, ref, "same", "it was forgotten here too", value)
        elif stone is not None:
            self._note(entry, ref, "conflicting", "it was forgotten here as well; what is here stays", value)
        elif ref in found:
            self._note(entry, ref, "conflicting", "the memory lives here; what is here stays", value)
        elif (erasure := self._erasure(ref)) is not None and ref not in self._wanted:
            self._note(entry, ref, "erased", f"it was {_say_erased(erasure)}; its tombstone stays out", value)
        else:
            self._note(entry, ref, "new", "it would be forgotten here too", value, draft)

    def _compare_shelved(self, entry: Entry, ref: Ref, found: Mapping[Ref, StoredItem]) -> None:
        at = _shelf(entry.kind, ref)
        value = shelved(entry.kind, ref[1], entry.value or {}, source=ref[0], target=ref[0])[1]
        present = found.get(at)
        draft = _Draft(at, entry.kind, value, present, vectors={})
        _check(self._adapter, draft)
        if present is None:
            self._note(entry, ref, "new", "it is not there yet", value, draft)
        elif _is_same(present.value, value):
            self._note(entry, ref, "same", "it is there already", value)
        else:
            self._settle(entry, draft, f"there is another {entry.kind} at its place", is_newer(value, present.value))

    def _compare_record(self, entry: Entry, ref: Ref, found: Mapping[Ref, StoredItem]) -> None:
        at = _shelf(entry.kind, ref)
        stated = entry.value or {}
        value = rebased_change(stated, ref[0]) if entry.kind == "change" else {**stated, "namespace": list(ref[0])}
        _readable(lambda: _RECORDS[entry.kind](StoredItem(*at, value, self._now, self._now)), entry.kind)
        draft = _Draft(at, entry.kind, value, vectors={})
        _check(self._adapter, draft)
        present = found.get(at)
        if present is None:
            self._note(entry, ref, "new", "it is added to the history", value, draft)
        elif same_json(present.value, value):
            self._note(entry, ref, "same", "the history has it already", value)
        else:
            reason = f"the history has another {entry.kind} of that name; it stays"
            self._note(entry, ref, "conflicting", reason, value)

    def _note(
        self,
        entry: Entry,
        ref: Ref,
        status: ImportStatus,
        reason: str,
        value: Mapping[str, Any],
        draft: _Draft | None = None,
    ) -> None:
        text = told(entry.kind, ref[1], value) if entry.kind in SHELF_OF else text_of(value)
        is_written = draft is not None
        self.rows.append(ImportRow(entry.where, entry.kind, status, ref, reason, is_written, text, entry.remarks))
        if draft is not None:
            self.drafts.append(draft)

    def _value(self, entry: Entry, ref: Ref, item: StoredItem | None) -> dict[str, Any]:
        if entry.value is not None:
            return dict(entry.value)
        stored = as_object(item.value) if item is not None else {}
        if item is not None:
            before = MemoryRecord.from_item(replace(item, value=stored))
            after = merged(before, entry.fields)
            if after == before:
                return stored
            return rewritten(stored, before, replace(after, revision=before.revision + 1))
        # What a row does not state is not made up; only its time has to be some time.
        fields = {"importance": None, "created_at": self._now, **entry.fields}
        return MemoryRecord(ref[1], ref[0], **fields).to_value()

    def _born(self, entry: Entry) -> datetime | None:
        return read_time(entry.created_at)

    def _vectors(self, entry: Entry, value: Mapping[str, Any], item: StoredItem | None) -> Vectors | Keep | None:
        header = self._header
        usable = header is not None and header.has_vectors and header.embedder == self._embedder
        if usable and entry.vectors is not None and self._adapter.abilities.reads_vectors:
            maker = self._embedder or ""
            return {name: made_by(vector, maker) for name, vector in unpacked(entry.vectors).items()}
        if item is not None and text_of(as_object(item.value)) == text_of(value):
            return KEEP
        return None if text_of(value) else {}


def _say_erased(erasure: Change) -> str:
    return f"erased for good here on {erasure.at:%Y-%m-%d} by {one_line(erasure.actor)}"


def _changed_at(entry: Entry, ref: Ref, value: Mapping[str, Any]) -> datetime:
    """When the row says that it changed: long ago, where it does not say."""
    epoch = datetime.fromtimestamp(0).astimezone()
    if entry.value is None and not {"created_at", "updated_at"} & entry.fields.keys():
        return epoch
    return MemoryRecord.from_item(StoredItem(ref[0], ref[1], value, epoch, epoch)).changed_at


def _is_same(stored: object, value: Mapping[str, Any]) -> bool:
    return same_json(as_object(stored), value)


def _shelf(kind: str, ref: Ref) -> Ref:
    return book(_BOOKS.get(kind, "tombstones"), ref[0]), ref[1]


def _check(adapter: StoreAdapter, draft: _Draft) -> None:
    vectors = {} if draft.vectors is None else draft.vectors
    prepare(
        [Write(*draft.ref, draft.value, vectors, as_stored=True)], adapter.dimensions, holds=adapter.abilities.holds
    )


def _readable(read: Any, what: str) -> None:
    try:
        read()
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"it is no {what} of this program: {type(error).__name__}: {error}") from error


def _line_of(where: str) -> int:
    digits = "".join(each for each in where.partition(",")[0] if each.isdigit())
    return int(digits or 0)
