"""Trimming the journal: old changes are dropped when somebody asks for it, counts them and confirms the count."""

from __future__ import annotations

from datetime import datetime

from .changes import book
from .errors import InputError
from .stores.base import Ref, StoreAdapter, Write
from .times import aware, read_time, to_iso

__all__ = ["Trimmed", "horizon", "trim"]

_HORIZON: Ref = (book("horizon"), "history")
_BATCH = 5_000


class Trimmed(int):
    """How many changes were dropped or, without confirmation, would be; `before` is up to when."""

    before: datetime
    is_done: bool

    def __new__(cls, count: int, before: datetime, is_done: bool) -> Trimmed:
        made = super().__new__(cls, count)
        made.before = before
        made.is_done = is_done
        return made


def horizon(adapter: StoreAdapter) -> datetime | None:
    """Up to when changes have been dropped; the history is whole from there on. None where nothing ever was."""
    item = adapter.get([_HORIZON])[0]
    return None if item is None else read_time(item.value["before"])


def trim(adapter: StoreAdapter, before: datetime, *, confirm: int | None, actor: str, at: datetime) -> Trimmed:
    """Count the changes made before that time in the whole store, or drop them where `confirm` is that count.

    Groups go whole, because their changes share one time. What was dropped cannot be undone any more; tombstones
    and memories stay as they are.

    Raises:
        InputError: `confirm` is another number than there are.
    """
    moment = aware(before)
    items = adapter.latest(book("journal"), subtree=True, before=f"{moment:%Y%m%dT%H%M%S%f}")
    if confirm is None:
        return Trimmed(len(items), moment, False)
    if confirm != len(items):
        raise InputError(
            f"{len(items)} changes were made before {to_iso(moment)}, but {confirm} were confirmed; "
            f"look at them again and pass confirm={len(items)}."
        )
    known = horizon(adapter)
    note = {"kind": "horizon", "before": to_iso(max(moment, known or moment)), "actor": actor, "at": to_iso(at)}
    # The note first, then the oldest: wherever this stops, what is left is whole from the noted time on.
    writes = [Write(*_HORIZON, note), *(Write(item.namespace, item.key, None) for item in reversed(items))]
    for start in range(0, len(writes) if items else 0, _BATCH):
        adapter.write(writes[start : start + _BATCH])
    return Trimmed(len(items), moment, True)
