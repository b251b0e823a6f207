"""Vectors as the adapters read them: from rows of bytes to one matrix, and exact nearest items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple, cast

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from ..errors import EmbeddingError, StoreError
from .base import Hit, Snapshot, StoredItem

__all__ = ["VectorRow", "embed_queries", "embed_query", "nearest", "snapshot_of"]


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
