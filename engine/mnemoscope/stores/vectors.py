"""Vectors as the adapters read them: from rows of bytes to one matrix, and exact nearest items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from ..errors import EmbeddingError, StoreError
from .base import Hit, Snapshot, StoredItem

__all__ = ["VectorRow", "embed_queries", "embed_query", "markers_of", "nearest", "snapshot_of"]


class VectorRow(NamedTuple):
    """A stored vector: the position of its item, its field, its bytes, and what differs when it was written again."""

    owner: int
    field: str
    vector: object
    mark: Hashable = None


def snapshot_of(
    items: list[StoredItem],
    markers: Sequence[Hashable],
    rows: Sequence[VectorRow],
    *,
    dimensions: int | None,
    kind: str = "<f4",
) -> Snapshot:
    """A snapshot from the rows of vectors, given as bytes of `kind`, by ascending owner.

    Rows of another size, or with parts that are not finite, are counted as misfits of their owner. Where the
    store does not say its dimensions, the most common size is taken.
    """
    width = np.dtype(kind).itemsize
    size = dimensions * width if dimensions else _common_size(rows, width)
    fitting = [row for row in rows if isinstance(row.vector, bytes) and len(row.vector) == size]
    joined = b"".join(row.vector for row in fitting if isinstance(row.vector, bytes))
    matrix = np.frombuffer(joined, kind).reshape(-1, size // width).astype("<f4", copy=False)
    finite = np.isfinite(matrix).all(axis=1)
    if not finite.all():
        matrix = matrix[finite]
        fitting = [row for row, fits in zip(fitting, finite, strict=True) if fits]
    misfits = Counter(row.owner for row in rows) - Counter(row.owner for row in fitting)
    owner = np.fromiter((row.owner for row in fitting), np.int64, len(fitting))
    return Snapshot(items, list(markers), matrix, owner, [row.field for row in fitting], dict(misfits))


def markers_of(marks: Sequence[Hashable], rows: Sequence[VectorRow]) -> list[Hashable]:
    """The markers of items from their own marks, by position, and those of their vectors."""
    markers = list(marks)
    for row in rows:
        markers[row.owner] = hash((markers[row.owner], row.field, row.mark))
    return markers


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
