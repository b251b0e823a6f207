"""Pairs of similar memories, by blocks of matrix products over unit vectors."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.progress import Watch
from .scope import ScopeIndex

__all__ = ["Pairs", "similar_pairs"]


NEAREST = 20
"""How many pairs of one memory are kept, the nearest; a store full of one text would have millions."""

_BLOCK = 512


class Pairs(NamedTuple):
    """Positions `one` < `other` in an index and their cosine, the most similar first; `cut` were left out."""

    one: NDArray[np.int64]
    other: NDArray[np.int64]
    similarity: NDArray[np.float32]
    cut: int

    def above(self, least: float) -> Iterator[tuple[int, int, float]]:
        """The pairs from this similarity on."""
        count = int(np.searchsorted(-self.similarity, -least, side="right"))
        parts = (part[:count].tolist() for part in (self.one, self.other, self.similarity))
        return zip(*parts, strict=True)


def similar_pairs(
    index: ScopeIndex, sphere: NDArray[np.int64], mask: NDArray[np.bool_], least: float, *, watch: Watch
) -> Pairs:
    """Every pair under the mask whose two share their sphere and are at least that similar.

    Of one memory's pairs with later ones, only the `NEAREST` are kept.
    """
    rows = np.flatnonzero(mask[index.owner])
    rows = rows[np.argsort(sphere[index.owner[rows]], kind="stable")]
    bounds = np.flatnonzero(np.diff(sphere[index.owner[rows]], prepend=-1, append=-1))
    work, done, cut = float(sum((end - start) ** 2 for start, end in pairwise(bounds.tolist()))), 0.0, 0
    parts: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]] = []
    for start, end in pairwise(bounds.tolist()):
        group = rows[start:end]
        for block, left_out in _blocks(index.matrix[group], least):
            parts.append((group[block[0]], group[block[1]], block[2]))
            cut += left_out
            done += 2.0 * _BLOCK * len(group)
            watch.at(done / work)
    return _paired(index.owner, parts, cut)


def _blocks(
    matrix: NDArray[np.float32], least: float
) -> Iterator[tuple[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]], int]]:
    for start in range(0, len(matrix), _BLOCK):
        products = matrix[start : start + _BLOCK] @ matrix[start:].T
        # Float32 products of equal vectors may fall short of 1 by a few units of the last place.
        near = np.triu(products >= least - 1e-6, k=1)
        crowded = np.flatnonzero(near.sum(axis=1) > NEAREST)
        left_out = int(near[crowded].sum()) - NEAREST * len(crowded)
        if len(crowded):
            _keep_nearest(near, products, crowded)
        one, other = np.nonzero(near)
        yield (one + start, other + start, products[one, other]), left_out


def _keep_nearest(near: NDArray[np.bool_], products: NDArray[np.float32], crowded: NDArray[np.int64]) -> None:
    values = np.where(near[crowded], products[crowded], np.float32(-2.0))
    nearest = np.argpartition(values, -NEAREST, axis=1)[:, -NEAREST:]
    near[crowded] = False
    near[crowded[:, np.newaxis], nearest] = True


def _paired(
    owner: NDArray[np.int64], parts: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]], cut: int
) -> Pairs:
    if not any(len(part[0]) for part in parts):
        nothing = np.empty(0, np.int64)
        return Pairs(nothing, nothing, np.empty(0, np.float32), cut)
    ones, others, similarity = (np.concatenate([part[at] for part in parts]) for at in range(3))
    pair = np.sort(np.stack([owner[ones], owner[others]]), axis=0)
    similarity = np.clip(similarity, -1.0, 1.0).astype(np.float32)
    order = np.lexsort((pair[1], pair[0], -similarity))
    pair, similarity = pair[:, order], similarity[order]
    # A memory with several vectors counts by its nearest, and never as its own neighbour.
    _, first = np.unique(pair[0] * (len(owner) + int(pair.max()) + 1) + pair[1], return_index=True)
    kept = np.sort(first)
    kept = kept[pair[0, kept] != pair[1, kept]]
    return Pairs(pair[0, kept], pair[1, kept], similarity[kept], cut)
