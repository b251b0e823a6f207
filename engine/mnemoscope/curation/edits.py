"""Changes a person or agent makes by hand: update, forget, restore, clear; each one journalled group."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from ..consolidation.remember import vectors_for
from ..context import Context
from ..core.execution import Step, Steps
from ..core.filters import Filter, compile_filter
from ..core.namespaces import Namespace, Scope, show_namespace
from ..core.payloads import as_object
from ..core.records import MemoryRecord, rewritten
from ..core.text import shown, storable
from ..core.times import aware
from ..core.validation import check_flag, check_moment, check_number, check_object, check_text, check_texts
from ..embedding.encode import embed_texts
from ..errors import Conflict, ConflictError, InputError, NotFoundError
from ..journal.access import Access
from ..journal.changes import Change, Edit, Tombstone, book
from ..journal.entries import required_entry
from ..stores.base import EMBED_AGAIN, KEEP, Keep, Ref, StoredItem, Vectors
from ..stores.values import same_json

__all__ = [
    "Forgotten",
    "Patch",
    "Selection",
    "allow_edit",
    "check_unchanged",
    "forget_edit",
    "forget_memories",
    "load_with_vectors",
    "patched",
    "read_stones",
    "relabel_edit",
    "relabel_memories",
    "restore_edit",
    "restore_memories",
    "select",
    "select_memories",
    "stale",
    "update_edit",
    "update_memory",
]


SAMPLE = 20
"""How many of the memories concerned a dry run shows."""


class Forgotten(int):
    """How many memories were forgotten, or with `dry_run` would be.

    `group` names the change for `undo`, None where nothing changed; `sample` holds the first of them.
    """

    group: str | None
    sample: list[MemoryRecord]

    def __new__(cls, count: int, group: str | None, sample: list[MemoryRecord]) -> Forgotten:
        made = super().__new__(cls, count)
        made.group = group
        made.sample = sample
        return made

    def __getnewargs__(self) -> tuple[int, str | None, list[MemoryRecord]]:  # type: ignore[override]
        # Copies and what is pickled are made by these.
        return int(self), self.group, self.sample


@dataclass(frozen=True)
class Patch:
    """What to change of a memory; None leaves a field as it is. `metadata` replaces the whole object."""

    content: str | None = None
    categories: Sequence[str] | None = None
    importance: float | None = None
    private: bool | None = None
    metadata: Mapping[str, Any] | None = None
    pinned: bool | None = None
    expires_at: datetime | None = None

    def __post_init__(self) -> None:
        if self.content is not None and not isinstance(self.content, str):
            raise InputError(f"content must be a text, got {shown(self.content)}.")
        if self.content is not None and not self.content.strip():
            raise InputError("A memory needs some text; to take it away, forget it.")
        check_texts("categories", self.categories)
        check_number("importance", self.importance)
        check_flag("private", self.private)
        check_object("metadata", self.metadata)
        check_flag("pinned", self.pinned)
        check_moment("expires_at", self.expires_at)

    @property
    def text(self) -> str | None:
        """The content as it is stored."""
        return None if self.content is None else storable(self.content.strip())[0]


@dataclass(frozen=True)
class Selection:
    """Which memories to forget; every criterion that is given must hold. At least one must be given.

    An empty list of keys or categories matches nothing. `older_than` and `not_recalled_since` are times, or
    ages counted back from now.
    """

    keys: Sequence[str] | None = None
    categories: Sequence[str] | None = None
    older_than: datetime | timedelta | None = None
    not_recalled_since: datetime | timedelta | None = None
    importance_below: float | None = None
    source: str | None = None
    filter: Filter | None = field(default=None)

    def __post_init__(self) -> None:
        if isinstance(self.keys, str) or (self.keys is not None and not all(isinstance(key, str) for key in self.keys)):
            raise InputError(f"keys must be a list of texts, got {shown(self.keys)}.")
        check_texts("categories", self.categories)
        check_moment("older_than", self.older_than, or_age=True)
        check_moment("not_recalled_since", self.not_recalled_since, or_age=True)
        check_number("importance_below", self.importance_below)
        check_text("source", self.source)
        if all(getattr(self, name) is None for name in self.__dataclass_fields__):
            raise InputError(
                "forget needs at least one criterion: key, keys, categories, older_than, not_recalled_since, "
                "importance_below, source or filter. To empty a whole namespace, use "
                "curation.clear(namespace, confirm=…)."
            )


def select(
    records: Sequence[MemoryRecord], selection: Selection, access: Mapping[str, Access], now: datetime
) -> list[MemoryRecord]:
    """The memories that meet every criterion, pinned ones only where named by key.

    Raises:
        FilterError: the filter is not of the documented form.
    """
    test = compile_filter(selection.filter)
    if selection.keys is not None:
        named = frozenset(selection.keys)
        records = [record for record in records if record.key in named]
    return [
        record
        for record in records
        if _selected(record, selection, access.get(record.key), now) and (test is None or test(record))
    ]


def _selected(record: MemoryRecord, selection: Selection, access: Access | None, now: datetime) -> bool:
    if record.pinned and selection.keys is None:
        return False
    if selection.categories is not None and not set(selection.categories) & set(record.categories):
        return False
    if selection.older_than is not None and record.created_at >= _moment(selection.older_than, now):
        return False
    if selection.not_recalled_since is not None:
        last = (access.last if access else None) or record.last_accessed or record.created_at
        if last >= _moment(selection.not_recalled_since, now):
            return False
    if selection.importance_below is not None and not (
        record.importance is not None and record.importance < selection.importance_below
    ):
        return False
    return selection.source is None or record.source == selection.source


def update_edit(
    item: StoredItem | None,
    namespace: Namespace,
    key: str,
    patch: Patch,
    vectors: Mapping[str, Any],
    now: datetime,
    *,
    expected_revision: int | None,
    reason: str,
) -> Edit:
    """The edit for a patch of the item as it was read.

    Raises:
        NotFoundError: there is no such memory.
        ConflictError: it is not at the expected revision.
        InputError: it would become private without a source, so that nobody could recall it.
    """
    if item is None:
        raise NotFoundError(f"There is no memory {key!r} in {'/'.join(namespace)}; it may have been forgotten.")
    # What a stranger wrote may hold what no store of ours takes; what the patch holds must be right.
    stored = as_object(item.value)
    record = MemoryRecord.from_item(replace(item, value=stored))
    if expected_revision is not None and record.revision != expected_revision:
        raise ConflictError([stale(record, expected_revision)])
    if patch.private and record.source is None:
        raise InputError(f"The memory {key!r} has no source; private, nobody could ever recall it.")
    after = patched(record, patch, now)
    written: Vectors | Keep = KEEP
    if after.content != record.content:
        written = vectors_for(after.content, vectors)
    return Edit(namespace, key, "update", item.guarded, rewritten(stored, record, after), written, reason)


def stale(record: MemoryRecord, expected: int) -> Conflict:
    """The conflict of a memory that is no longer at the revision that was read."""
    said = f"revision {expected} was read, and it is at revision {record.revision} now: {record.content[:200]!r}"
    return Conflict(record.namespace, record.key, f"revision {expected}", record.content, said)


def check_unchanged(item: StoredItem | None, expected: MemoryRecord | None) -> None:
    """Compare what is there, if anything, with the memory as it was read.

    Raises:
        ConflictError: they differ in anything.
    """
    if expected is not None and not isinstance(expected, MemoryRecord):
        raise InputError(f"expected must be a MemoryRecord as it was read, got {shown(expected)}.")
    if item is None or expected is None:
        return
    present = MemoryRecord.from_item(item)
    if not same_json(present.to_value(), expected.to_value()):
        raise ConflictError([Conflict(item.namespace, item.key, expected.content, present.content)])


def relabel_edit(
    item: StoredItem | None,
    place: Ref,
    patch: Patch,
    add_categories: Sequence[str],
    drop_categories: Sequence[str],
    now: datetime,
    *,
    reason: str,
) -> Edit | None:
    """The edit that puts categories on, takes others off, and patches the rest; None where nothing would change.

    Raises:
        NotFoundError: there is no such memory.
        InputError: it would become private without a source, so that nobody could recall it.
    """
    record = None if item is None else MemoryRecord.from_item(item)
    if record is not None:
        kept = [name for name in [*record.categories, *add_categories] if name not in drop_categories]
        patch = replace(patch, categories=list(dict.fromkeys(kept)))
        if replace(patched(record, patch, now), revision=record.revision) == record:
            return None
    return update_edit(item, *place, patch, {}, now, expected_revision=None, reason=reason)


def patched(record: MemoryRecord, patch: Patch, now: datetime) -> MemoryRecord:
    """The memory with the patch applied, at its next revision; `updated_at` moves only with the content."""
    given = {name: getattr(patch, name) for name in patch.__dataclass_fields__}
    changes = {name: value for name, value in given.items() if value is not None}
    if "content" in changes:
        changes["content"] = patch.text
    for name, kind in (("categories", list), ("metadata", dict)):
        if name in changes:
            changes[name] = kind(changes[name])
    if changes.get("content", record.content) != record.content:
        changes["updated_at"] = now
    return replace(record, revision=record.revision + 1, **changes)


def forget_edit(item: StoredItem, reason: str) -> Edit:
    """The edit that turns the item into a tombstone."""
    return Edit(item.namespace, item.key, "forget", item.guarded, None, {}, reason, buries=True)


def restore_edit(stone: Tombstone, vectors: Vectors, reason: str) -> Edit:
    """The edit that brings a forgotten memory back as it was."""
    record = stone.record
    return Edit(
        record.namespace,
        record.key,
        "restore",
        None,
        stone.value,
        vectors,
        reason,
        created_at=stone.created_at,
    )


def allow_edit(stone: StoredItem, vectors: Vectors, *, allowed: bool, reason: str) -> Edit:
    """The edit that lets facts like a forgotten memory be remembered again, or not any more."""
    forgotten = replace(required_entry(stone, Tombstone.from_item), allowed=allowed)
    record, value = forgotten.record, forgotten.to_value()
    return Edit(record.namespace, record.key, "allow", None, None, reason=reason, stone=value, stone_vectors=vectors)


def _moment(bound: datetime | timedelta, now: datetime) -> datetime:
    if not isinstance(bound, timedelta):
        return aware(bound)
    try:
        return now - bound
    except OverflowError:
        # Nothing is older than time itself.
        return aware(datetime.min)


def update_memory(
    context: Context,
    ref: Ref,
    patch: Patch,
    *,
    expected_revision: int | None = None,
    expected: MemoryRecord | None = None,
    actor: str | None = None,
    reason: str = "",
) -> Steps[Change]:
    """Change fields of the memory at this place; see `MemoryEngine.update`."""
    adapter, (where, key) = context.adapter, ref
    vectors = (yield from embed_texts(adapter, [patch.text])) if patch.text else {}
    (item,) = yield Step(adapter.get, ([ref],))
    check_unchanged(item, expected)
    edit = update_edit(
        item, where, key, patch, vectors, context.now(), expected_revision=expected_revision, reason=reason
    )
    (change,) = yield Step(context.commit, ([edit], actor))
    made: Change = change
    return made


def relabel_memories(
    context: Context,
    refs: Sequence[Ref],
    patch: Patch,
    *,
    add_categories: Sequence[str],
    drop_categories: Sequence[str],
    actor: str | None,
    reason: str,
) -> Steps[list[Change]]:
    """Change the labels of the memories at these places as one group; see `Curation.relabel`."""
    items = yield Step(context.adapter.get, (refs,))
    edits = [
        relabel_edit(item, place, patch, add_categories, drop_categories, context.now(), reason=reason)
        for place, item in zip(refs, items, strict=True)
    ]
    changes: list[Change] = yield Step(context.commit, ([edit for edit in edits if edit is not None], actor))
    return changes


def select_memories(context: Context, namespace: Namespace, selection: Selection) -> Steps[list[Ref]]:
    """The places of the memories of a namespace that meet every criterion."""
    records: Sequence[MemoryRecord]
    if selection.keys is not None:
        places = [(namespace, key) for key in dict.fromkeys(selection.keys)]
        items = (yield Step(context.adapter.get, (places,))) if places else []
        records = [MemoryRecord.from_item(item) for item in items if item is not None]
    else:
        index = yield Step(context.index, (Scope(namespace),))
        records = index.records
    is_asked = selection.not_recalled_since is not None
    access = (yield Step(context.access.of, (namespace,))) if is_asked else {}
    return [(record.namespace, record.key) for record in select(records, selection, access, context.now())]


def forget_memories(
    context: Context,
    refs: Sequence[Ref],
    *,
    dry_run: bool = False,
    actor: str | None = None,
    reason: str = "",
) -> Steps[Forgotten]:
    """Withdraw the memories at these places as one group; those that are not there are passed over."""
    items = [item for item in ((yield Step(context.adapter.get, (refs,))) if refs else []) if item is not None]
    sample = [MemoryRecord.from_item(item) for item in items[:SAMPLE]]
    if dry_run or not items:
        return Forgotten(len(items), None, sample)
    edits = [forget_edit(item, reason) for item in items]
    changes = yield Step(context.commit, (edits, actor))
    return Forgotten(len(changes), changes[0].group if changes else None, sample)


def restore_memories(
    context: Context, refs: Sequence[Ref], *, actor: str | None = None, reason: str = ""
) -> Steps[list[Change]]:
    """Bring the memories that were forgotten at these places back as they were, as one group.

    Raises:
        NotFoundError: one of them was not forgotten.
        ConflictError: at one of the places a memory exists again; nothing is brought back.
    """
    stones = yield from read_stones(context, refs)
    edits = [restore_edit(required_entry(item, Tombstone.from_item), vectors, reason) for item, vectors in stones]
    changes: list[Change] = yield Step(context.commit, (edits, actor))
    return changes


def read_stones(context: Context, refs: Sequence[Ref]) -> Steps[list[tuple[StoredItem, Vectors]]]:
    """The tombstones of these places with their vectors, in order.

    Raises:
        NotFoundError: one of them was not forgotten.
    """
    places = [(book("tombstones", namespace), key) for namespace, key in refs]
    found = yield from load_with_vectors(context, places)
    for (where, key), at in zip(refs, places, strict=True):
        if at not in found:
            raise NotFoundError(
                f"Nothing forgotten has the key {key!r} in {show_namespace(where)}; see curation.trash()."
            )
    return [found[at] for at in places]


def load_with_vectors(context: Context, places: Sequence[Ref]) -> Steps[dict[Ref, tuple[StoredItem, Vectors]]]:
    """The items at these places with their vectors; where vectors cannot be read, the store embeds again."""
    if not places:
        return {}
    adapter = context.adapter
    snapshot = yield Step(functools.partial(adapter.load, places[0][0], keys=places))
    vectors = snapshot.vectors_by_item() if adapter.abilities.reads_vectors else [EMBED_AGAIN] * len(snapshot.items)
    return {item.ref: (item, each) for item, each in zip(snapshot.items, vectors, strict=True)}
