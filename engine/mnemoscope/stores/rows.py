"""What the rows of both SQL stores are read into: items by namespace and key, and the vectors that belong to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple, overload

from ..namespaces import Namespace
from ..times import read_time
from .base import Ref, StoredItem
from .prefixes import from_prefix
from .values import read_json
from .vectors import VectorRow

__all__ = ["Items", "Read", "item_reader", "owned", "read_items"]

_EPOCH = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class _Unread:
    """An item whose value is still as it is stored."""

    namespace: Namespace
    key: str
    value: Any
    created_at: datetime
    updated_at: datetime

    def read(self) -> StoredItem:
        value = read_json(self.value) if isinstance(self.value, str | bytes) else self.value
        return StoredItem(self.namespace, self.key, value, self.created_at, self.updated_at)


class Items(Sequence[StoredItem]):
    """Items whose values are parsed one by one, when each is asked for: as objects they take thrice the memory."""

    def __init__(self, unread: Sequence[_Unread]) -> None:
        self._unread = unread

    def __len__(self) -> int:
        return len(self._unread)

    @overload
    def __getitem__(self, at: int) -> StoredItem: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[StoredItem]: ...
    def __getitem__(self, at: int | slice) -> StoredItem | Sequence[StoredItem]:
        return Items(self._unread[at]) if isinstance(at, slice) else self._unread[at].read()

    def __iter__(self) -> Iterator[StoredItem]:
        return (item.read() for item in self._unread)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def drained(self) -> Iterator[StoredItem]:
        """Each item, forgotten as soon as it is given: for whoever makes something else of all of them."""
        unread, self._unread = list(reversed(self._unread)), ()
        while unread:
            yield unread.pop().read()

    @property
    def refs(self) -> list[Ref]:
        """Where the items are."""
        return [(item.namespace, item.key) for item in self._unread]


class Read(NamedTuple):
    """Items by namespace and key, with what differs when each was written again, their vectors apart."""

    items: Items
    marks: list[int]


def read_items(rows: Iterable[Sequence[Any]], mark: Callable[[Sequence[Any]], int]) -> Read:
    """The items of rows that begin with prefix, key, value and the two times."""
    unread = _unread_reader()
    found = [(item.namespace, item.key, mark(row), item) for row in rows for item in (unread(row),)]
    found.sort(key=itemgetter(0, 1))
    return Read(Items([row[3] for row in found]), [row[2] for row in found])


def item_reader() -> Callable[[Sequence[Any]], StoredItem]:
    """What makes an item of such a row."""
    unread = _unread_reader()
    return lambda row: unread(row).read()


def owned(refs: Sequence[Ref], vectors: Iterable[Sequence[Any]]) -> Iterator[VectorRow]:
    """Rows of prefix, key, field, vector and mark, with the positions of their items.

    Orphans, whose item is gone, are left out.
    """
    places: dict[str, dict[str, int]] = {}
    for position, (namespace, key) in enumerate(refs):
        places.setdefault(".".join(namespace), {})[key] = position
    nowhere: dict[str, int] = {}
    for prefix, key, name, vector, mark in vectors:
        if (owner := places.get(prefix, nowhere).get(key)) is not None:
            yield VectorRow(owner, name, vector, mark)


def _unread_reader() -> Callable[[Sequence[Any]], _Unread]:
    # Rows of one batch share their times and namespaces; each is read once.
    moment, space = cache(_moment), cache(from_prefix)

    def unread(row: Sequence[Any]) -> _Unread:
        return _Unread(space(row[0]), row[1], row[2], moment(row[3]), moment(row[4]))

    return unread


def _moment(stored: object) -> datetime:
    return read_time(stored) or _EPOCH
