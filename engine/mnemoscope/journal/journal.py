"""The journal: every change with its before and after, written in the same batch as the change itself.

A change is undone by putting back what was before, as a new change. Changes made by one call share a group
and are undone together. Forgotten memories are kept as tombstones beside the journal.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ..core.locks import ForkSafeLock
from ..core.namespaces import Namespace, is_reserved
from ..core.payloads import as_object, text_of
from ..core.records import MemoryRecord
from ..core.times import Clock, aware
from ..core.validation import check_key
from ..embedding.active import Embedders
from ..errors import Conflict, ConflictError, InputError, NotFoundError
from ..stores.base import EMBED_AGAIN, KEEP, Guard, Ref, StoreAdapter, StoredItem, Vectors, Write
from ..stores.values import check_new, same_json
from .changes import BOUND, Change, Edit, Tombstone, book
from .entries import read_entries
from .groups import check_whole_group
from .revisions import revision_notes, revision_ref, with_new_revisions
from .shelf_texts import SHELVES
from .time_travel import put_back, renewed
from .trimming import horizon

__all__ = ["Journal", "group_name"]


_PAGE = 500

# What these write comes out of a store, a history or an export, and goes in again as it is.
_AS_STORED = frozenset({"undo", "restore", "move", "adopt", "import", "allow"})


@dataclass(frozen=True)
class _Before:
    """An item as it stood before a change."""

    item: StoredItem
    vectors: Vectors

    @property
    def kept(self) -> dict[str, Any]:
        """Its value as it can be kept and put back."""
        return as_object(self.item.value)


class Journal:
    """Writes edits together with their journal entries, reads the history, and undoes it."""

    def __init__(self, adapter: StoreAdapter, clock: Clock, embedders: Embedders | None = None) -> None:
        self.embedders = embedders or Embedders(adapter, clock)
        self._adapter = adapter
        self._clock = clock
        # Within one process writes take turns, so that stores which cannot guard still see no lost update.
        self._turn = ForkSafeLock()

    def commit(
        self,
        edits: Sequence[Edit],
        *,
        actor: str,
        run: str | None = None,
        also: Iterable[Write] = (),
        guards: Sequence[Guard] = (),
    ) -> list[Change]:
        """Do all edits as one group, or none of them. `also` is written in the same batch, or where there is no edit.

        Raises:
            ConflictError: an item is not what its edit expected, or one of the guards does not hold.
            EmbedderMismatchError: an edit brings or moves a vector, and the embedder in use is not the store's.
            InputError: two edits are of the same item, or a value cannot be stored.
        """
        also = list(also)
        if not edits:
            if also:
                self._adapter.write(also, guards)
            return []
        _check_once_each(edits)
        with self._turn:
            self.embedders.look()
            at = self._clock()
            group = group_name(at)
            before = self._before(edits)
            _check(edits, before)
            present = {ref: each.item.value for ref, each in before.items()}
            for edit in edits:
                if edit.after is not None and edit.action not in _AS_STORED:
                    check_new(edit.after, present.get(edit.ref), edit.ref)
            edits = with_new_revisions(edits, present)
            changes = [
                _change(edit, before, f"{group}-{number:06d}", group, actor=actor, run=run, at=at)
                for number, edit in enumerate(edits)
            ]
            writes = [write for pair in zip(edits, changes, strict=True) for write in _writes(*pair)]
            expected = [Guard(edit.namespace, edit.key, edit.expected) for edit in edits]
            notes = revision_notes(edits, present)
            moves = any(map(_moves_vectors, edits))
            self._write([*writes, *notes, *also], [*expected, *guards], moves=moves)
        return changes

    def _write(self, writes: Sequence[Write], guards: Sequence[Guard], *, moves: bool) -> None:
        """Write, as long as the vectors are by the embedder of all the others in the store."""
        while True:
            notes, held = self.embedders.conditions((write.vectors for write in writes), moves=moves)
            try:
                return self._adapter.write([*writes, *notes], [*guards, *held])
            except ConflictError as error:
                if not self.embedders.settled(error):
                    raise

    def history(
        self,
        namespace: Namespace = (),
        key: str | None = None,
        *,
        subtree: bool = False,
        before: str | None = None,
        limit: int | None = None,
        **texts: str | None,
    ) -> list[Change]:
        """Changes of a namespace or one of its memories, latest first; `before` is the id to go on from.

        `texts` are those that `group`, `actor`, `action` or `run` of a change must be; None leaves one open.
        """
        where = {name: text for name, text in {"key": key, **texts}.items() if text is not None}
        found: list[Change] = []
        while True:
            # What cannot be read is made up for, so that only the last page is short.
            wanted = None if limit is None else limit - len(found)
            items = self._adapter.latest(
                book("journal", namespace), subtree=subtree, limit=wanted, before=before, where=where or None
            )
            found += read_entries(items, Change.from_item)
            if wanted is None or not items or len(items) < wanted or len(found) == limit:
                return found
            before = items[-1].key

    def since(self, namespace: Namespace, first: str, *, subtree: bool = False) -> Iterator[Change]:
        """Changes from this id on, latest first, read page by page."""
        before = None
        while True:
            page = self.history(namespace, subtree=subtree, before=before, limit=_PAGE)
            yield from (change for change in page if change.id >= first)
            if len(page) < _PAGE or page[-1].id < first:
                return
            before = page[-1].id

    def changes_of(self, change_or_group: str) -> list[Change]:
        """The change of this id, or all changes of this group, in the order in which they were made.

        Raises:
            NotFoundError: the journal has no such change or group.
        """
        check_key("change_or_group", change_or_group)
        changes = self._of_group("-".join(change_or_group.split("-")[:2]))
        found = [change for change in changes[::-1] if change_or_group in (change.id, change.group)]
        if not found:
            raise NotFoundError(f"The journal has no change or group {change_or_group!r}; see history().")
        return found

    def _of_group(self, group: str) -> list[Change]:
        # The ids of a group begin with its name, so that they stand together; "." comes right after "-".
        found: list[Change] = []
        before = f"{group}."
        while True:
            page = self.history(subtree=True, before=before, limit=_PAGE)
            found += (change for change in page if change.group == group)
            if len(page) < _PAGE or page[-1].group != group:
                return found
            before = page[-1].id

    def undo(self, change_or_group: str, *, actor: str, reason: str = "") -> list[Change]:
        """Take back a change, or all changes of a group, as one new group.

        Raises:
            NotFoundError: there is no such change, or it was erased.
            ConflictError: a memory has changed since; nothing is undone.
            PermissionDeniedError: the connection does not show all of the group; nothing is undone.
        """
        edits = self.undo_edits(change_or_group, reason=reason)
        try:
            return self.commit(edits, actor=actor)
        except ConflictError as error:
            raise ConflictError([self._told(conflict, edits) for conflict in error.conflicts]) from None

    def _told(self, conflict: Conflict, edits: Sequence[Edit]) -> Conflict:
        """The conflict, in plain words where its change was taken back already."""
        meant = {edit.ref: edit.undoes for edit in edits}.get((conflict.namespace, conflict.key))
        last = self.history(conflict.namespace, conflict.key, limit=1)
        if meant is None or not last or last[0].undoes != meant:
            return conflict
        said = f"this change is already undone, by {last[0].actor} on {last[0].at:%Y-%m-%d %H:%M} UTC"
        return replace(conflict, said=said)

    def undo_edits(self, change_or_group: str, *, reason: str = "") -> list[Edit]:
        """The edits that take back a change, or all changes of a group.

        Raises:
            NotFoundError: there is no such change, or it was erased.
            PermissionDeniedError: the connection does not show all of the group.
        """
        changes = self.changes_of(change_or_group)
        if change_or_group == changes[0].group or changes[0].action in BOUND:
            check_whole_group(self._adapter, changes[0].group)
        erased = [change for change in changes if change.erased or change.action == "erase"]
        if erased:
            raise NotFoundError(f"The change {erased[0].id!r} was erased for good and cannot be undone.")
        if any(change.action == "reembed" for change in changes):
            raise InputError(
                "A change of embedder concerns every vector, so it is not undone but gone back on: "
                "reembed(back=True), `mnemoscope reembed --back`, or the Health page."
            )
        changes.reverse()
        return self.renewed([_inverse(change, reason) for change in changes], [change.at for change in changes])

    def renewed(self, edits: Sequence[Edit], made_at: Sequence[datetime]) -> list[Edit]:
        """The edits, their vectors out of the history made anew where they are by a former embedder."""
        return renewed(self._adapter, self.embedders, edits, made_at)

    def as_of(self, namespace: Namespace, moment: datetime) -> list[MemoryRecord]:
        """The memories of a namespace as they were at that time, by key; see `then`."""
        return [MemoryRecord.from_item(item) for item, _ in self.then(namespace, moment)]

    def then(
        self, namespace: Namespace, moment: datetime, *, subtree: bool = False
    ) -> list[tuple[StoredItem, Vectors]]:
        """The items of a scope with their vectors as they were at that time, by namespace and key.

        Raises:
            InputError: changes since then were dropped by `trim_history`, so nobody knows.
        """
        begins = horizon(self._adapter)
        if begins is not None and aware(moment) < begins:
            raise InputError(
                f"The history begins at {begins.isoformat()}, because older changes were trimmed; "
                f"how things were at {moment.isoformat()} is not known any more."
            )
        present = self._adapter.load(namespace, subtree=subtree)
        changes = self.since(namespace, f"{aware(moment):%Y%m%dT%H%M%S%f}", subtree=subtree)
        stored = self.embedders.stored
        return list(put_back(present, changes, moment, former=stored.switched_at if stored else None).values())

    def tombstones(self, namespace: Namespace, *, subtree: bool = False) -> list[Tombstone]:
        """What was forgotten in a namespace, latest first."""
        items = self._adapter.latest(book("tombstones", namespace), subtree=subtree)
        stones = read_entries(items, Tombstone.from_item)
        return sorted(stones, key=lambda stone: stone.forgotten_at, reverse=True)

    def _before(self, edits: Sequence[Edit]) -> dict[Ref, _Before]:
        """What is at the places of the edits that expect something, with its highest revision, and all tombstones."""
        refs = [ref for edit in edits if edit.expected is not None for ref in (edit.ref, revision_ref(*edit.ref))]
        stones = [edit.stone_ref for edit in edits if not is_reserved(edit.namespace)]
        snapshot = self._adapter.load(edits[0].namespace, keys=[*refs, *stones])
        vectors = snapshot.vectors_by_item() if self._adapter.abilities.reads_vectors else None
        return {
            item.ref: _Before(item, vectors[at] if vectors is not None else EMBED_AGAIN)
            for at, item in enumerate(snapshot.items)
        }


def group_name(at: datetime) -> str:
    """A new name for a group of changes made at that time; names sort as the groups were made."""
    # Two groups of one simulated time are told apart, and kept in order, by the real one.
    return f"{at:%Y%m%dT%H%M%S%f}-{time.time_ns():016x}{secrets.token_hex(2)}"


def _check_once_each(edits: Sequence[Edit]) -> None:
    seen: set[Ref] = set()
    for edit in edits:
        if edit.ref in seen:
            raise InputError(
                f"The memory {edit.key!r} in {'/'.join(edit.namespace)} is to be changed twice at once; "
                "a group changes each memory once: put the two changes into one."
            )
        seen.add(edit.ref)


def _check(edits: Sequence[Edit], before: Mapping[Ref, _Before]) -> None:
    conflicts = [
        Conflict(edit.namespace, edit.key, _text(edit.expected), _text(now.item.value) if now else None)
        for edit in edits
        if edit.expected is not None
        and ((now := before.get(edit.ref)) is None or not same_json(now.item.guarded, edit.expected))
    ]
    if conflicts:
        raise ConflictError(conflicts)


def _text(value: object) -> str | None:
    return text_of(value) if isinstance(value, Mapping) else None


def _change(
    edit: Edit, before: Mapping[Ref, _Before], id: str, group: str, *, actor: str, run: str | None, at: datetime
) -> Change:
    present, stone = before.get(edit.ref), before.get(edit.stone_ref)
    # An entry of our own books is noted with what it is about.
    shelf = edit.namespace[1] if is_reserved(edit.namespace) and edit.namespace[1] in SHELVES else None
    return Change(
        id=id,
        group=group,
        namespace=edit.namespace[2:] if shelf else edit.namespace,
        key=edit.key,
        action=edit.action,
        before=present.kept if present else None,
        after=None if edit.after is None else dict(edit.after),
        actor=actor,
        reason=edit.reason,
        at=at,
        run=run,
        undoes=edit.undoes,
        buries=edit.buries and present is not None,
        created_at=present.item.created_at if present else None,
        vectors=present.vectors if present and not shelf else {},
        stone=stone.kept if stone else None,
        stone_vectors=stone.vectors if stone else {},
        text_field=present.item.text_field if present else None,
        shelf=shelf,
    )


def _writes(edit: Edit, change: Change) -> list[Write]:
    # What is new was checked; the rest goes on as it was stored, in the item and in its history.
    item = Write(edit.namespace, edit.key, edit.after, edit.vectors, edit.created_at, as_stored=True)
    entry = Write(book("journal", change.namespace), change.id, change.to_value(), as_stored=True)
    if change.buries:
        return [item, entry, Write(*edit.stone_ref, _tombstone(change).to_value(), change.vectors, as_stored=True)]
    if edit.stone is not None or change.stone is not None:
        return [item, entry, Write(*edit.stone_ref, edit.stone, edit.stone_vectors, as_stored=True)]
    return [item, entry]


def _moves_vectors(edit: Edit) -> bool:
    """Whether vectors may come, go, or be taken to another place; an entry of our own books has none."""
    if is_reserved(edit.namespace) and not edit.buries and edit.stone is None:
        return edit.vectors is not KEEP and bool(edit.vectors)
    return edit.after is None or edit.vectors is not KEEP or edit.stone is not None


def _tombstone(change: Change) -> Tombstone:
    born = change.created_at or change.at
    value = change.before or {}
    item = StoredItem(change.namespace, change.key, value, born, born, change.text_field)
    return Tombstone(
        record=MemoryRecord.from_item(item),
        value=value,
        actor=change.actor,
        reason=change.reason,
        forgotten_at=change.at,
        group=change.group,
        created_at=change.created_at,
    )


def _inverse(change: Change, reason: str) -> Edit:
    """The edit that takes the change back."""
    return Edit(
        *change.place,
        action="undo",
        expected=change.after,
        after=change.before,
        vectors=change.vectors,
        reason=reason or f"undo of {change.action}",
        undoes=change.id,
        created_at=change.created_at,
        stone=change.stone,
        stone_vectors=change.stone_vectors,
    )
