"""Embedding as a step: texts to unit vectors, with every fault of the embedder named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.execution import Step, Steps, run
from ..errors import EmbeddingError, MnemoscopeError
from ..stores.base import StoreAdapter
from .identity import made_by
from .named import identity_of

__all__ = ["embed_in_batches", "embed_query", "embed_texts", "unit_vectors"]

EMBEDDED_AT_ONCE = 1_000
"""Texts of one call where many are embedded: enough to keep an embedder busy, few enough to hold in memory."""


def embed_texts(adapter: StoreAdapter, texts: Sequence[str]) -> Steps[dict[str, NDArray[np.float32]]]:
    """Unit vectors of these texts, in one batch; empty where the store keeps its embedder to itself.

    Raises:
        EmbeddingError: the embedder failed, or gave something else than vectors of the store's dimensions.
    """
    embeddings = adapter.embeddings
    wanted = list(dict.fromkeys(texts))
    if embeddings is None or not wanted:
        return {}
    maker, dimensions = identity_of(embeddings), adapter.dimensions
    found = yield from _called(Step(embeddings.embed_documents, (wanted,), embeddings.aembed_documents))
    matrix = unit_vectors(found, len(wanted), dimensions)
    return {text: made_by(row, maker) for text, row in zip(wanted, matrix, strict=True)}


def embed_in_batches(adapter: StoreAdapter, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
    """The same for any number of texts, in this thread, `EMBEDDED_AT_ONCE` in one call."""
    vectors: dict[str, NDArray[np.float32]] = {}
    for start in range(0, len(texts), EMBEDDED_AT_ONCE):
        vectors |= run(embed_texts(adapter, texts[start : start + EMBEDDED_AT_ONCE]))
    return vectors


def embed_query(adapter: StoreAdapter, query: str) -> Steps[NDArray[np.float32]]:
    """The unit vector of a query, by the embedder that the store must have.

    Raises:
        EmbeddingError: the embedder failed, or gave something else than a vector of the store's dimensions.
    """
    embeddings, dimensions = adapter.embeddings, adapter.dimensions
    assert embeddings is not None, "only asked where the store shows its embedder"
    found = yield from _called(Step(embeddings.embed_query, (query,), embeddings.aembed_query))
    unit: NDArray[np.float32] = unit_vectors([found], 1, dimensions)[0]
    return unit


def unit_vectors(vectors: object, count: int, dimensions: int | None) -> NDArray[np.float32]:
    """What an embedder returned as an array of unit vectors, shape (count, dimensions).

    Raises:
        EmbeddingError: it is not that many vectors of that dimension, or a value is not finite.
    """
    try:
        matrix = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise EmbeddingError(f"The embedder returned something else than equally long vectors: {error}") from error
    if matrix.ndim != 2 or len(matrix) != count or (dimensions and matrix.shape[1] != dimensions):
        expected = f"{count} vectors of {dimensions or 'equal'} dimensions"
        raise EmbeddingError(
            f"The embedder returned an array of shape {matrix.shape}, but the store needs {expected}. "
            "Use the embedder that the store was filled with."
        )
    if not np.isfinite(matrix).all():
        raise EmbeddingError("The embedder returned a vector with a value that is not a finite number.")
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    return (matrix / np.where(norms > 0, norms, 1)).astype(np.float32)


def _called(step: Step) -> Steps[Any]:
    try:
        return (yield step)
    except MnemoscopeError:
        raise
    except Exception as error:
        # The embedder may be anybody's, and so may its errors be.
        raise EmbeddingError(f"The embedder failed: {type(error).__name__}: {error}") from error
