"""`Editing`: change, forget, restore and undo memories by hand; every call is one journalled group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from ..core.execution import run, twin
from ..core.filters import Filter
from ..core.namespaces import Namespace, NamespaceLike, read_namespace, read_prefix, show_namespace
from ..core.records import MemoryRecord
from ..core.times import aware
from ..core.validation import (
    check_by,
    check_given,
    check_key,
    check_keys,
    check_kind,
    check_text,
    check_texts,
    check_whole,
    read_refs,
)
from ..curation.edits import (
    SAMPLE,
    Forgotten,
    Patch,
    Selection,
    check_unchanged,
    forget_edit,
    relabel_edit,
    restore_edit,
    select,
    update_edit,
)
from ..embedding.encode import embed_texts
from ..errors import InputError, NotFoundError
from ..journal.changes import Change, Tombstone, book
from ..journal.entries import required_entry
from ..journal.journal import Journal
from ..stores.base import EMBED_AGAIN, Ref, StoredItem
from .reading import Reading

__all__ = ["Editing"]


class Editing(Reading):
    """The part of `MemoryEngine` that changes memories by hand."""

    actor: str
    _journal: Journal

    def update(
        self,
        namespace: NamespaceLike,
        key: str,
        *,
        content: str | None = None,
        categories: Sequence[str] | None = None,
        importance: float | None = None,
        private: bool | None = None,
        metadata: Mapping[str, Any] | None = None,
        pinned: bool | None = None,
        expires_at: datetime | None = None,
        expected_revision: int | None = None,
        expected: MemoryRecord | None = None,
        actor: str | None = None,
        reason: str = "",
    ) -> Change:
        """Change fields of one memory; None leaves a field as it is, unknown fields are kept.

        `expected` is the memory as the caller had read it: the change is made only where it is still that.

        Raises:
            NotFoundError: there is no such memory.
            ConflictError: it is no longer at `expected_revision` or as `expected`, or was written at the same moment.
            InputError: a value cannot be used.
        """
        check_by(actor, reason)
        check_key("key", key)
        where = read_namespace(namespace)
        patch = Patch(content, categories, importance, private, metadata, pinned, expires_at)
        vectors = run(embed_texts(self.adapter, [patch.text])) if patch.text else {}
        item = self.adapter.get([(where, key)])[0]
        check_unchanged(item, expected)
        edit = update_edit(
            item, where, key, patch, vectors, self._clock(), expected_revision=expected_revision, reason=reason
        )
        return self._journal.commit([edit], actor=actor or self.actor)[0]

    def forget(
        self,
        namespace: NamespaceLike,
        *,
        key: str | None = None,
        keys: Sequence[str] | None = None,
        categories: Sequence[str] | None = None,
        older_than: datetime | timedelta | None = None,
        not_recalled_since: datetime | timedelta | None = None,
        importance_below: float | None = None,
        source: str | None = None,
        filter: Filter | None = None,
        dry_run: bool = False,
        actor: str | None = None,
        reason: str = "",
    ) -> Forgotten:
        """Withdraw every memory of exactly this namespace that meets all given criteria.

        They become tombstones: out of recall and of plain searches, restorable, and facts like them are not
        remembered again until that is allowed.

        Raises:
            InputError: no criterion is given; see `clear`.
        """
        check_by(actor, reason)
        check_texts("keys", keys)
        chosen = [*(keys or []), key] if key is not None else keys
        selection = Selection(chosen, categories, older_than, not_recalled_since, importance_below, source, filter)
        where = read_namespace(namespace)
        records = self._named(where, selection.keys) if selection.keys is not None else self.index(where).records
        access = self._access.of(where) if selection.not_recalled_since is not None else {}
        return self._forget(select(records, selection, access, self._clock()), dry_run, actor, reason)

    def forget_at(
        self, refs: Sequence[Ref], *, dry_run: bool = False, actor: str | None = None, reason: str = ""
    ) -> Forgotten:
        """Withdraw the memories at these places, in whatever namespaces they are, as one group; see `forget`."""
        check_by(actor, reason)
        items = self.adapter.get(read_refs(refs))
        records = [MemoryRecord.from_item(item) for item in items if item is not None]
        return self._forget(records, dry_run, actor, reason)

    def update_at(
        self,
        refs: Sequence[Ref],
        *,
        add_categories: Sequence[str] = (),
        drop_categories: Sequence[str] = (),
        importance: float | None = None,
        private: bool | None = None,
        actor: str | None = None,
        reason: str = "",
    ) -> list[Change]:
        """Change the labels of many memories, in whatever namespaces they are, as one group; texts stay.

        Memories that would stay as they are have no change.

        Raises:
            NotFoundError: one of them is not there; nothing is written.
        """
        check_by(actor, reason)
        check_keys("add_categories", add_categories)
        check_keys("drop_categories", drop_categories)
        patch = Patch(importance=importance, private=private)
        places = read_refs(refs)
        edits = [
            relabel_edit(item, place, patch, add_categories, drop_categories, self._clock(), reason=reason)
            for place, item in zip(places, self.adapter.get(places), strict=True)
        ]
        return self._journal.commit([edit for edit in edits if edit is not None], actor=actor or self.actor)

    def clear(self, namespace: NamespaceLike, *, confirm: str, actor: str | None = None, reason: str = "") -> Forgotten:
        """Forget every memory of exactly this namespace; `confirm` repeats it, written "a/b"."""
        check_by(actor, reason)
        where = read_namespace(namespace)
        if confirm != show_namespace(where):
            raise InputError(
                f"clear forgets every memory of {show_namespace(where)!r}; confirm it by "
                f"confirm={show_namespace(where)!r}, got {confirm!r}."
            )
        return self._forget(self.index(where).records, False, actor, reason)

    def restore(self, namespace: NamespaceLike, key: str, *, actor: str | None = None, reason: str = "") -> Change:
        """Bring a forgotten memory back as it was.

        Raises:
            NotFoundError: there is no tombstone of that key.
            ConflictError: a memory of that key exists again.
        """
        check_by(actor, reason)
        check_key("key", key)
        where = read_namespace(namespace)
        at = (book("tombstones", where), key)
        snapshot = self.adapter.load(at[0], keys=[at])
        if not snapshot.items:
            raise NotFoundError(f"Nothing forgotten has the key {key!r} in {show_namespace(where)}; see trash().")
        stone = required_entry(snapshot.items[0], Tombstone.from_item)
        vectors = snapshot.vectors_by_item()[0] if self.adapter.abilities.reads_vectors else EMBED_AGAIN
        edit = restore_edit(stone, vectors, reason)
        return self._journal.commit([edit], actor=actor or self.actor)[0]

    def trash(self, namespace: NamespaceLike, *, subtree: bool = False) -> list[Tombstone]:
        """What was forgotten and can be restored, latest first."""
        where = read_prefix(namespace) if subtree else read_namespace(namespace)
        return self._journal.tombstones(where, subtree=subtree)

    # History

    def history(
        self,
        namespace: NamespaceLike = (),
        key: str | None = None,
        *,
        subtree: bool = False,
        group: str | None = None,
        by: str | None = None,
        action: str | None = None,
        run: str | None = None,
        before: str | None = None,
        limit: int | None = None,
    ) -> list[Change]:
        """Changes of a namespace or of one memory, latest first; no namespace means the whole store.

        `group`, `by` (the actor), `action` and `run` keep the changes of one each; `before` is the id of a change
        to go on from.
        """
        check_whole("limit", limit)
        where = read_prefix(namespace)
        whole = subtree or not where
        texts = {"group": group, "actor": by, "action": action, "run": run}
        for name, text in {"key": key, "before": before, **texts}.items():
            check_text("by" if name == "actor" else name, text)
        return self._journal.history(where, key, subtree=whole, before=before, limit=limit, **texts)

    def changes_of(self, change_or_group: str) -> list[Change]:
        """The change of this id, or all changes of this group, in the order in which they were made.

        Raises:
            NotFoundError: the history has no such change or group.
        """
        check_given("change_or_group", change_or_group)
        return self._journal.changes_of(change_or_group)

    def undo(self, change_or_group: str, *, actor: str | None = None, reason: str = "") -> list[Change]:
        """Take back one change, or all changes of a group at once: text, metadata and vector.

        Raises:
            NotFoundError: there is no such change.
            ConflictError: a memory has changed since; nothing is undone.
        """
        check_by(actor, reason)
        check_given("change_or_group", change_or_group)
        return self._journal.undo(change_or_group, actor=actor or self.actor, reason=reason)

    def as_of(self, namespace: NamespaceLike, moment: datetime) -> list[MemoryRecord]:
        """The memories of a namespace as they were at that time, as far as the journal goes back.

        Raises:
            InputError: that time has not come yet, or the history of it was trimmed.
        """
        check_kind("moment", moment, datetime)
        if aware(moment) > self._clock():
            raise InputError(f"moment is {moment.isoformat()}, which has not come yet; see list() for now.")
        return self._journal.as_of(read_namespace(namespace), aware(moment))

    aupdate = twin(update)
    aupdate_at = twin(update_at)
    aforget = twin(forget)
    aforget_at = twin(forget_at)
    aclear = twin(clear)
    arestore = twin(restore)
    atrash = twin(trash)
    ahistory = twin(history)
    aundo = twin(undo)
    aas_of = twin(as_of)

    def _named(self, namespace: Namespace, keys: Sequence[str]) -> list[MemoryRecord]:
        items = self.adapter.get([(namespace, key) for key in dict.fromkeys(keys)]) if keys else []
        return [MemoryRecord.from_item(item) for item in items if item is not None]

    def _forget(self, records: Sequence[MemoryRecord], dry_run: bool, actor: str | None, reason: str) -> Forgotten:
        sample = [*records[:SAMPLE]]
        if dry_run or not records:
            return Forgotten(len(records), None, sample)
        items = self.adapter.get([(record.namespace, record.key) for record in records])
        edits = [forget_edit(item, reason) for item in items if isinstance(item, StoredItem)]
        changes = self._journal.commit(edits, actor=actor or self.actor)
        return Forgotten(len(changes), changes[0].group if changes else None, sample)
