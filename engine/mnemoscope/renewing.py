"""Vectors out of the history that are by a former embedder, made anew by the one in use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .changes import Edit
from .embedded import embed_texts
from .embedders import Embedders
from .indexed import indexed_text
from .steps import run
from .stores.base import Keep, StoreAdapter, Vectors

__all__ = ["renewed"]


def renewed(
    adapter: StoreAdapter, embedders: Embedders, edits: Sequence[Edit], made_at: Sequence[datetime]
) -> list[Edit]:
    """The edits with every vector that is older than the store's embedder made anew; `made_at` is when each was read.

    Raises:
        EmbeddingError: the embedder failed.
    """
    embedders.look()
    since = embedders.stored.switched_at if embedders.stored else None
    if since is None or not adapter.abilities.reads_vectors:
        return list(edits)
    old = [edit for edit, at in zip(edits, made_at, strict=True) if at < since]
    texts = [text for edit in old for value, vectors in _parts(edit) for text in _texts(value, vectors).values()]
    known = run(embed_texts(adapter, texts))
    return [_with(edit, known) if at < since else edit for edit, at in zip(edits, made_at, strict=True)]


def _parts(edit: Edit) -> list[tuple[Mapping[str, Any] | None, Vectors | Keep]]:
    return [(edit.after, edit.vectors), (edit.stone, edit.stone_vectors)]


def _with(edit: Edit, known: Mapping[str, NDArray[np.float32]]) -> Edit:
    vectors, stone = (_again(value, vectors, known) for value, vectors in _parts(edit))
    return replace(edit, vectors=vectors, stone_vectors={} if isinstance(stone, Keep) else stone)


def _again(
    value: Mapping[str, Any] | None, vectors: Vectors | Keep, known: Mapping[str, NDArray[np.float32]]
) -> Vectors | Keep:
    if isinstance(vectors, Keep):
        return vectors
    return {name: known[text] for name, text in _texts(value, vectors).items()}


def _texts(value: Mapping[str, Any] | None, vectors: Vectors | Keep) -> dict[str, str]:
    if isinstance(vectors, Keep):
        return {}
    return {name: text for name in vectors if (text := indexed_text(value, name))}
