"""The journal: every change with its before and after, written in the same batch as the change itself.

A change is undone by putting back what was before, as a new change. Changes made by one call share a group
and are undone together. Forgotten memories are kept as tombstones beside the journal.
"""

from __future__ import annotations

import base64
import secrets
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from .errors import Conflict, ConflictError, NotFoundError
from .namespaces import RESERVED_ROOT, Namespace
from .records import MemoryRecord, text_of
from .stores.base import EMBED_AGAIN, KEEP, Guard, Keep, Ref, StoreAdapter, StoredItem, Vectors, Write
from .times import Clock, from_iso, read_time, to_iso

__all__ = ["ACTIONS", "Action", "Change", "Edit", "Journal", "Tombstone", "book"]

Action: TypeAlias = Literal[
    "insert", "update", "forget", "restore", "merge", "move", "adopt", "import", "erase", "undo"
]
ACTIONS: tuple[Action, ...] = get_args(Action)


def book(name: str, namespace: Namespace = ()) -> Namespace:
    """Where this library keeps one of its books ("journal", "tombstones", "access", "runs") for a namespace."""
    return (RESERVED_ROOT, name, *namespace)


@dataclass(frozen=True)
class Edit:
    """What is to become of one item. `after` is None where it is to go.

    `vectors` as in `Write`. `expected` is the value it must still have, None for "must not exist". With
    `buries` what goes is kept as a tombstone; `revives` says that it was one until now. An item that lives
    has no tombstone.
    """

    namespace: Namespace
    key: str
    action: Action
    expected: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    vectors: Vectors | Keep = KEEP
    reason: str = ""
    buries: bool = False
    revives: bool = False
    undoes: str | None = None
    created_at: datetime | None = None

    @property
    def ref(self) -> Ref:
        """Where the item is."""
        return self.namespace, self.key


@dataclass(frozen=True)
class Change:
    """One journal entry: what an item was, what it became, who did it, why, and when.

    `before` and `after` are stored values, None where there was (or is) no item. `group` is shared by the
    changes of one call; `run` names the plan it came from; `undoes` the change it took back; `buries` and
    `revives` say that a tombstone was made of the memory, or the memory of one. `erased` says that the texts
    were removed for good. `created_at` and `vectors` are those of the item before.
    """

    id: str
    group: str
    namespace: Namespace
    key: str
    action: Action
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    actor: str
    reason: str
    at: datetime
    run: str | None = None
    undoes: str | None = None
    buries: bool = False
    revives: bool = False
    erased: bool = False
    created_at: datetime | None = None
    vectors: Vectors = field(default_factory=dict, repr=False)

    @property
    def text_before(self) -> str | None:
        """The memory's text before the change."""
        return None if self.before is None else text_of(self.before)

    @property
    def text_after(self) -> str | None:
        """The memory's text after the change."""
        return None if self.after is None else text_of(self.after)

    def to_value(self) -> dict[str, Any]:
        """The stored form."""
        return {
            "kind": "change",
            "group": self.group,
            "namespace": list(self.namespace),
            "key": self.key,
            "action": self.action,
            "before": self.before,
            "after": self.after,
            "actor": self.actor,
            "reason": self.reason,
            "at": to_iso(self.at),
            "run": self.run,
            "undoes": self.undoes,
            "buries": self.buries,
            "revives": self.revives,
            "erased": self.erased,
            "created_at": to_iso(self.created_at) if self.created_at else None,
            "vectors": {name: _packed(vector) for name, vector in self.vectors.items()},
        }

    @classmethod
    def from_item(cls, item: StoredItem) -> Change:
        """Read a journal entry."""
        value = item.value
        return cls(
            id=item.key,
            group=value["group"],
            namespace=tuple(value["namespace"]),
            key=value["key"],
            action=value["action"],
            before=value["before"],
            after=value["after"],
            actor=value["actor"],
            reason=value["reason"],
            at=from_iso(value["at"]),
            run=value.get("run"),
            undoes=value["undoes"],
            buries=value["buries"],
            revives=value["revives"],
            erased=value["erased"],
            created_at=read_time(value.get("created_at")),
            vectors={name: _unpacked(text) for name, text in value.get("vectors", {}).items()},
        )


@dataclass(frozen=True)
class Tombstone:
    """A forgotten memory: the record as it was, and by whom, when and why it was forgotten.

    `allowed` says that the operator lets the same fact be remembered again.
    """

    record: MemoryRecord
    value: dict[str, Any]
    actor: str
    reason: str
    forgotten_at: datetime
    group: str
    allowed: bool = False
    created_at: datetime | None = None

    def to_value(self) -> dict[str, Any]:
        """The stored form; the text stands under `content`, where a store looks for it."""
        return {
            "kind": "tombstone",
            "content": self.record.content,
            "namespace": list(self.record.namespace),
            "key": self.record.key,
            "value": self.value,
            "actor": self.actor,
            "reason": self.reason,
            "forgotten_at": to_iso(self.forgotten_at),
            "group": self.group,
            "allowed": self.allowed,
            "created_at": to_iso(self.created_at) if self.created_at else None,
        }

    @classmethod
    def from_value(cls, value: Mapping[str, Any]) -> Tombstone:
        """Read the stored form."""
        forgotten_at = from_iso(value["forgotten_at"])
        created_at = read_time(value.get("created_at"))
        born = created_at or forgotten_at
        item = StoredItem(tuple(value["namespace"]), value["key"], value["value"], born, born)
        return cls(
            record=MemoryRecord.from_item(item),
            value=dict(value["value"]),
            actor=value["actor"],
            reason=value["reason"],
            forgotten_at=forgotten_at,
            group=value["group"],
            allowed=value["allowed"],
            created_at=created_at,
        )


@dataclass(frozen=True)
class _Before:
    """An item as it stood before a change."""

    value: dict[str, Any]
    created_at: datetime
    vectors: Vectors


class Journal:
    """Writes edits together with their journal entries, reads the history, and undoes it."""

    def __init__(self, adapter: StoreAdapter, clock: Clock) -> None:
        self._adapter = adapter
        self._clock = clock
        # Within one process writes take turns, so that stores which cannot guard still see no lost update.
        self._turn = threading.Lock()

    def commit(
        self, edits: Sequence[Edit], *, actor: str, run: str | None = None, also: Iterable[Write] = ()
    ) -> list[Change]:
        """Do all edits as one group, or none of them. `also` is written in the same batch.

        Raises:
            ConflictError: an item is not what its edit expected.
        """
        if not edits:
            return []
        with self._turn:
            at = self._clock()
            group = f"{at:%Y%m%dT%H%M%S%f}-{secrets.token_hex(4)}"
            before = self._before([edit.ref for edit in edits if edit.expected is not None])
            _check(edits, before)
            changes = [
                _change(edit, before.get(edit.ref), f"{group}-{number:06d}", group, actor=actor, run=run, at=at)
                for number, edit in enumerate(edits)
            ]
            writes = [write for pair in zip(edits, changes, strict=True) for write in _writes(*pair)]
            guards = [Guard(edit.namespace, edit.key, edit.expected) for edit in edits]
            self._adapter.write([*writes, *also], guards)
        return changes

    def history(
        self,
        namespace: Namespace = (),
        key: str | None = None,
        *,
        subtree: bool = False,
        group: str | None = None,
        before: str | None = None,
        limit: int | None = None,
    ) -> list[Change]:
        """Changes of a namespace or one of its memories, latest first; `before` is the id to go on from."""
        where = {name: text for name, text in (("key", key), ("group", group)) if text is not None}
        items = self._adapter.latest(
            book("journal", namespace), subtree=subtree, limit=limit, before=before, where=where or None
        )
        return [Change.from_item(item) for item in items]

    def changes_of(self, change_or_group: str) -> list[Change]:
        """The change of this id, or all changes of this group, in the order in which they were made.

        Raises:
            NotFoundError: the journal has no such change or group.
        """
        group = "-".join(change_or_group.split("-")[:2])
        changes = self.history(subtree=True, group=group)[::-1]
        found = [change for change in changes if change_or_group in (change.id, change.group)]
        if not found:
            raise NotFoundError(f"The journal has no change or group {change_or_group!r}; see history().")
        return found

    def undo(self, change_or_group: str, *, actor: str, reason: str = "") -> list[Change]:
        """Take back a change, or all changes of a group, as one new group.

        Raises:
            NotFoundError: there is no such change, or it was erased.
            ConflictError: a memory has changed since; nothing is undone.
        """
        changes = self.changes_of(change_or_group)
        erased = [change for change in changes if change.erased or change.action == "erase"]
        if erased:
            raise NotFoundError(f"The change {erased[0].id!r} was erased for good and cannot be undone.")
        edits: dict[Ref, Edit] = {}
        for change in reversed(changes):
            ref = (change.namespace, change.key)
            edits[ref] = _inverse(change, edits.get(ref), reason or f"undo of {change.action}")
        return self.commit(list(edits.values()), actor=actor)

    def as_of(self, namespace: Namespace, moment: datetime) -> list[MemoryRecord]:
        """The memories of a namespace as they were at that time, by key."""
        present = {item.key: item for item in self._adapter.load(namespace).items}
        for change in self.history(namespace):
            if change.at <= moment:
                break
            if change.before is None:
                present.pop(change.key, None)
            else:
                born = change.created_at or change.at
                present[change.key] = StoredItem(namespace, change.key, change.before, born, born)
        return [MemoryRecord.from_item(present[key]) for key in sorted(present)]

    def tombstones(self, namespace: Namespace, *, subtree: bool = False) -> list[Tombstone]:
        """What was forgotten in a namespace, latest first."""
        items = self._adapter.latest(book("tombstones", namespace), subtree=subtree)
        stones = [Tombstone.from_value(item.value) for item in items]
        return sorted(stones, key=lambda stone: stone.forgotten_at, reverse=True)

    def _before(self, refs: Sequence[Ref]) -> dict[Ref, _Before]:
        found: dict[Ref, _Before] = {}
        for namespace in dict.fromkeys(namespace for namespace, _ in refs):
            snapshot = self._adapter.load(namespace, keys=[ref for ref in refs if ref[0] == namespace])
            vectors = snapshot.vectors_by_item() if self._adapter.abilities.reads_vectors else None
            for at, item in enumerate(snapshot.items):
                found[item.ref] = _Before(item.value, item.created_at, vectors[at] if vectors else EMBED_AGAIN)
        return found


def _check(edits: Sequence[Edit], before: Mapping[Ref, _Before]) -> None:
    conflicts = [
        Conflict(edit.namespace, edit.key, text_of(edit.expected), text_of(now.value) if now else None)
        for edit in edits
        if edit.expected is not None and ((now := before.get(edit.ref)) is None or now.value != edit.expected)
    ]
    if conflicts:
        raise ConflictError(conflicts)


def _change(
    edit: Edit, before: _Before | None, id: str, group: str, *, actor: str, run: str | None, at: datetime
) -> Change:
    return Change(
        id=id,
        group=group,
        namespace=edit.namespace,
        key=edit.key,
        action=edit.action,
        before=before.value if before else None,
        after=None if edit.after is None else dict(edit.after),
        actor=actor,
        reason=edit.reason,
        at=at,
        run=run,
        undoes=edit.undoes,
        buries=edit.buries and before is not None,
        revives=edit.revives,
        created_at=before.created_at if before else None,
        vectors=before.vectors if before else {},
    )


def _writes(edit: Edit, change: Change) -> list[Write]:
    item = Write(edit.namespace, edit.key, edit.after, edit.vectors, edit.created_at)
    entry = Write(book("journal", edit.namespace), change.id, change.to_value())
    stone_at = (book("tombstones", edit.namespace), edit.key)
    if change.buries:
        stone = _tombstone(change)
        return [item, entry, Write(*stone_at, stone.to_value(), change.vectors)]
    # An item that lives again has no tombstone; one that never had any is deleted in vain, at no cost.
    return [item, entry, Write(*stone_at, None)]


def _tombstone(change: Change) -> Tombstone:
    born = change.created_at or change.at
    value = change.before or {}
    item = StoredItem(change.namespace, change.key, value, born, born)
    return Tombstone(
        record=MemoryRecord.from_item(item),
        value=value,
        actor=change.actor,
        reason=change.reason,
        forgotten_at=change.at,
        group=change.group,
        created_at=change.created_at,
    )


def _inverse(change: Change, later: Edit | None, reason: str) -> Edit:
    """The edit that takes the change back; `later` takes back a later change of the same item."""
    return Edit(
        namespace=change.namespace,
        key=change.key,
        action="undo",
        expected=later.expected if later else change.after,
        after=change.before,
        vectors=change.vectors,
        reason=reason,
        buries=change.revives,
        revives=change.buries,
        undoes=change.id,
        created_at=change.created_at,
    )


def _packed(vector: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(vector, "<f4").tobytes()).decode("ascii")


def _unpacked(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), "<f4").astype(np.float32)
