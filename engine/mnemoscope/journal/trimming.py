"""Trimming what grows: old changes, and old marks of jobs and turns, are dropped when somebody confirms their count."""

from __future__ import annotations

from datetime import datetime, timedelta

from ..core.text import shown
from ..core.times import aware, read_time, to_iso
from ..core.validation import check_moment
from ..embedding.active import seen_alone
from ..errors import InputError, PermissionDeniedError
from ..stores.base import Ref, StoreAdapter, StoredItem, Write
from .changes import book
from .entries import required_entry

__all__ = ["MARKS_KEPT", "Trimmed", "horizon", "moment_before", "trim", "trim_marks"]


MARKS_KEPT = timedelta(days=1)
"""How long marks are kept in any case: a job that nobody noted as done may come again for as long."""

_HORIZON: Ref = (book("horizon"), "history")
_BATCH = 5_000


class Trimmed(int):
    """How many changes, or marks, were dropped or, without confirmation, would be; `before` is up to when."""

    before: datetime
    is_done: bool

    def __new__(cls, count: int, before: datetime, is_done: bool) -> Trimmed:
        made = super().__new__(cls, count)
        made.before = before
        made.is_done = is_done
        return made


def moment_before(older_than: datetime | timedelta, now: datetime) -> datetime:
    """The time that is meant by a time, or by an age counted back from now.

    Raises:
        InputError: it is neither.
    """
    check_moment("older_than", older_than, or_age=True)
    if older_than is None:
        raise InputError(f"older_than must be a datetime, or a timedelta counted back from now, got {shown(None)}.")
    if not isinstance(older_than, timedelta):
        return aware(older_than)
    try:
        return now - older_than
    except OverflowError:
        # Nothing is older than time itself.
        return aware(datetime.min)


def horizon(adapter: StoreAdapter) -> datetime | None:
    """Up to when changes have been dropped; the history is whole from there on. None where nothing ever was."""
    item = adapter.get([_HORIZON])[0]
    return None if item is None else required_entry(item, lambda each: read_time(each.value["before"]))


def trim(adapter: StoreAdapter, before: datetime, *, confirm: int | None, actor: str, at: datetime) -> Trimmed:
    """Count the changes made before that time in the whole store, or drop them where `confirm` is that count.

    Groups go whole, because their changes share one time. What was dropped cannot be undone any more; tombstones
    and memories stay as they are.

    Raises:
        InputError: `confirm` is another number than there are.
        PermissionDeniedError: the connection shows a part of the store alone.
    """
    if part := seen_alone(adapter):
        raise PermissionDeniedError(
            f"This connection is limited to {part}, and the history is trimmed for the whole store at once. "
            "Trim it through a connection that shows all of it."
        )
    moment = aware(before)
    items = adapter.latest(book("journal"), subtree=True, before=f"{moment:%Y%m%dT%H%M%S%f}")
    if confirm is None:
        return Trimmed(len(items), moment, False)
    _check_confirmed("changes", len(items), moment, confirm)
    known = horizon(adapter)
    note = {"kind": "horizon", "before": to_iso(max(moment, known or moment)), "actor": actor, "at": to_iso(at)}
    # The note first, then the oldest: wherever this stops, what is left is whole from the noted time on.
    writes = [Write(*_HORIZON, note), *(Write(item.namespace, item.key, None) for item in reversed(items))]
    for start in range(0, len(writes) if items else 0, _BATCH):
        adapter.write(writes[start : start + _BATCH])
    return Trimmed(len(items), moment, True)


def trim_marks(adapter: StoreAdapter, before: datetime, *, confirm: int | None) -> Trimmed:
    """Count the marks of jobs and of turns made before that time, or drop them where `confirm` is that count.

    A turn without its mark is read anew where it comes again, and what it says is known by then.

    Raises:
        InputError: `confirm` is another number than there are.
    """
    moment = aware(before)
    items = [item for name in ("jobs", "read") for item in adapter.load(book(name), subtree=True).items]
    old = [item for item in items if _made_before(item, moment)]
    if confirm is None:
        return Trimmed(len(old), moment, False)
    _check_confirmed("marks", len(old), moment, confirm)
    writes = [Write(item.namespace, item.key, None) for item in old]
    for start in range(0, len(writes), _BATCH):
        adapter.write(writes[start : start + _BATCH])
    return Trimmed(len(old), moment, True)


def _made_before(item: StoredItem, moment: datetime) -> bool:
    at = read_time(item.value.get("at")) if isinstance(item.value, dict) else None
    return (at or item.updated_at) < moment


def _check_confirmed(what: str, count: int, moment: datetime, confirm: int) -> None:
    if confirm != count:
        raise InputError(
            f"{count} {what} were made before {to_iso(moment)}, but {confirm} were confirmed; "
            f"look at them again and pass confirm={count}."
        )
