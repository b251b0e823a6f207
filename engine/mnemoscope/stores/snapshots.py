"""Vectors as the adapters read them: from rows of bytes to one matrix, and exact nearest items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple, cast, overload

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from ..core.namespaces import Namespace
from ..core.times import read_time
from ..errors import EmbeddingError, StoreError
from .base import Hit, Ref, Snapshot, StoredItem
from .prefixes import from_prefix
from .values import read_json

__all__ = [
    "Items",
    "Read",
    "VectorRow",
    "embed_queries",
    "embed_query",
    "item_reader",
    "nearest",
    "owned",
    "read_items",
    "snapshot_of",
]


class VectorRow(NamedTuple):
    """A stored vector: the position of its item, its field, its bytes, and what differs when it was written again.

    Marks are mixed by an exclusive or, so that the order in which vectors are read does not matter.
    """

    owner: int
    field: str
    vector: object
    mark: int = 0


def snapshot_of(
    items: Sequence[StoredItem],
    marks: Sequence[Hashable],
    rows: Iterable[VectorRow],
    *,
    dimensions: int | None,
    kind: str = "<f4",
) -> Snapshot:
    """A snapshot from items with their own marks, and the rows of their vectors, given as bytes of `kind`.

    Rows are taken one by one in any order, so that no second copy of all vectors is ever held. Those of another
    size, or with parts that are not finite, are counted as misfits of their owner. Where the store does not say
    its dimensions, the most common size is taken.
    """
    width = np.dtype(kind).itemsize
    if not dimensions:
        rows = list(rows)
        dimensions = _common_size(rows, width) // width
    taken = _Taken(items, marks, dimensions, kind)
    for row in rows:
        taken.take(row)
    return taken.snapshot()


class _Taken:
    """The vectors taken so far: the first of each item in its own row of one matrix, any further ones aside."""

    def __init__(self, items: Sequence[StoredItem], marks: Sequence[Hashable], dimensions: int, kind: str) -> None:
        self._items = items
        self._markers = list(marks)
        self._dimensions = dimensions
        self._kind = kind
        self._size = dimensions * np.dtype(kind).itemsize
        self._first = np.zeros((len(items), dimensions), "<f4")
        self._fields: list[str | None] = [None] * len(items)
        self._further: list[VectorRow] = []
        self._misfits: Counter[int] = Counter()

    def take(self, row: VectorRow) -> None:
        """Take one row."""
        if row.mark:
            self._markers[row.owner] = cast(int, self._markers[row.owner]) ^ row.mark
        if not isinstance(row.vector, bytes) or len(row.vector) != self._size:
            self._misfits[row.owner] += 1
        elif self._fields[row.owner] is None:
            self._fields[row.owner] = row.field
            self._first[row.owner] = np.frombuffer(row.vector, self._kind)
        else:
            self._further.append(row)

    def snapshot(self) -> Snapshot:
        """What was taken, by item and field."""
        owner = np.array([at for at, field in enumerate(self._fields) if field is not None], np.int64)
        matrix = self._first
        fields = [field for field in self._fields if field is not None]
        if len(owner) < len(matrix):
            matrix = matrix[owner]
        if self._further:
            matrix, owner, fields = self._with_further(matrix, owner, fields)
        finite = _finite(matrix)
        if not finite.all():
            self._misfits.update(owner[~finite].tolist())
            matrix, owner = matrix[finite], owner[finite]
            fields = [field for field, fits in zip(fields, finite, strict=True) if fits]
        return Snapshot(self._items, self._markers, matrix, owner, fields, dict(self._misfits))

    def _with_further(
        self, matrix: NDArray[np.float32], owner: NDArray[np.int64], fields: list[str]
    ) -> tuple[NDArray[np.float32], NDArray[np.int64], list[str]]:
        joined = b"".join(row.vector for row in self._further if isinstance(row.vector, bytes))
        places = [*zip(owner.tolist(), fields, strict=True), *((row.owner, row.field) for row in self._further)]
        order = sorted(range(len(places)), key=places.__getitem__)
        further = np.frombuffer(joined, self._kind).reshape(len(self._further), self._dimensions).astype("<f4")
        rows = np.concatenate([matrix, further])[order]
        return rows, np.array([places[at][0] for at in order], np.int64), [places[at][1] for at in order]


def _finite(matrix: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which rows hold finite numbers alone, without a temporary of the size of the matrix."""
    finite: NDArray[np.bool_] = np.isfinite(np.einsum("ij,ij->i", matrix, matrix))
    suspects = np.flatnonzero(~finite)
    # The square of a large number may overflow though the number is finite.
    finite[suspects] = np.isfinite(matrix[suspects]).all(axis=1)
    return finite


def nearest(snapshot: Snapshot, query: NDArray[np.float32], limit: int) -> list[Hit]:
    """The items by the cosine of their best vector, then those without one, equal ones by namespace and key."""
    best = np.full(len(snapshot.items), -np.inf)
    if len(snapshot.owner):
        lengths = np.linalg.norm(snapshot.matrix, axis=1) * np.linalg.norm(query)
        with np.errstate(divide="ignore", invalid="ignore"):
            cosine = np.where(lengths > 0, snapshot.matrix @ query / lengths, -np.inf)
        np.maximum.at(best, snapshot.owner, cosine)
    order = np.argsort(-best, kind="stable")[: max(limit, 0)]
    return [Hit(snapshot.items[i], float(best[i]) if np.isfinite(best[i]) else None) for i in order]


def embed_query(embeddings: Embeddings | None, query: str, dimensions: int | None) -> NDArray[np.float32]:
    """The vector of a query.

    Raises:
        StoreError: the store was built without an index.
        EmbeddingError: the vector is not of the store's dimensions, or not finite.
    """
    vector: NDArray[np.float32] = _checked([_there(embeddings).embed_query(query)], dimensions)[0]
    return vector


def embed_queries(embeddings: Embeddings | None, queries: Sequence[str], dimensions: int | None) -> NDArray[np.float32]:
    """The vectors of several queries, embedded in one batch, as the SQL stores embed theirs.

    Raises:
        StoreError: the store was built without an index.
        EmbeddingError: a vector is missing, not of the store's dimensions, or not finite.
    """
    vectors = _there(embeddings).embed_documents(list(queries))
    if len(vectors) != len(queries):
        raise EmbeddingError(
            f"The embedder gave {len(vectors)} vectors for {len(queries)} texts; it must give as many."
        )
    return _checked(vectors, dimensions)


def _there(embeddings: Embeddings | None) -> Embeddings:
    if embeddings is None:
        raise StoreError("The store was built without an index, so it cannot search by meaning; give it index={...}.")
    return embeddings


def _checked(vectors: Sequence[Sequence[float]], dimensions: int | None) -> NDArray[np.float32]:
    sizes = {len(vector) for vector in vectors}
    matrix = np.array(vectors, dtype=np.float32) if len(sizes) == 1 else np.empty((0, 0), np.float32)
    if (dimensions and sizes != {dimensions}) or len(sizes) != 1 or not np.isfinite(matrix).all():
        raise EmbeddingError(
            f"The embedder gave vectors of {sorted(sizes)} dimensions, or with parts that are not finite, where the "
            f"store needs {dimensions} finite numbers. Use the embedder the store was built with."
        )
    return matrix


def _common_size(rows: Sequence[VectorRow], width: int) -> int:
    sizes = Counter(len(row.vector) for row in rows if isinstance(row.vector, bytes))
    sizes = Counter({size: count for size, count in sizes.items() if size and size % width == 0})
    return sizes.most_common(1)[0][0] if sizes else width


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
