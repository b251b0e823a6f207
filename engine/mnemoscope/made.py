"""Vectors that remember who made them, so that none is written into a store that has gone over to another embedder."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["made_by", "maker_of"]


class _Made(np.ndarray):
    by = ""

    def __array_finalize__(self, source: object) -> None:
        self.by = getattr(source, "by", "")


def made_by(vector: NDArray[np.float32], name: str) -> NDArray[np.float32]:
    """The vector as one that this embedder has just made."""
    made = vector.view(_Made)
    made.by = name
    return made


def maker_of(vector: NDArray[np.float32]) -> str | None:
    """Who has made the vector in this process; None for one that was read somewhere."""
    return getattr(vector, "by", "") or None
