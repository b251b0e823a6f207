"""Vectors in waiting: a second set of a store's vectors, filled beside those in use and put in their place at once.

It is how a store goes over to another embedder. What is staged outlives the process that staged it. After the
change the vectors that were in use stand in waiting themselves, so that it can be taken back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from ..core.namespaces import Namespace
from .base import Guard, Ref, Write

__all__ = ["ChangesEmbedder", "Finish", "Place", "Staged", "Staging", "StagingSize", "Stale", "digest_of", "used_by"]


@dataclass(frozen=True, order=True, slots=True)
class Place:
    """Where a vector is, as the tables have it: the namespace in one text, the key, and the field it was made from."""

    prefix: str
    key: str
    field: str


@dataclass(frozen=True, slots=True)
class Stale:
    """A vector in use whose counterpart in waiting is missing, or was made before its item changed.

    `value` is the item now and `mark` stands for it; `digest` is that of the text the one in waiting was made of.
    """

    place: Place
    namespace: Namespace
    value: Any
    mark: str
    digest: str | None


@dataclass(frozen=True, slots=True)
class Staged:
    """What to put in waiting for a place; `vector` is None where the one there holds, or where there is no text."""

    place: Place
    mark: str
    digest: str
    vector: NDArray[np.float32] | None


@dataclass(frozen=True)
class StagingSize:
    """How many vectors are in use, how many of them have a counterpart in waiting, and the bytes of the latter."""

    total: int
    staged: int
    nbytes: int


Finish: TypeAlias = Callable[[Sequence[Stale]], Sequence[Staged]]
"""Makes what is still missing."""


class Staging(Protocol):
    """The vectors in waiting of one store. Nothing is made in the store before `begin`."""

    def size(self) -> StagingSize:
        """How far it is; nothing is written."""

    def begin(self, dimensions: int, *, afresh: bool) -> None:
        """Make room for vectors of these dimensions; what is there stays unless `afresh`.

        Raises:
            PermissionDeniedError: no table may be made, or put in the place of the one in use.
        """

    def stale(self, after: Place | None, limit: int) -> list[Stale]:
        """The next vectors to make, by place, behind that one."""

    def put(self, staged: Sequence[Staged]) -> None:
        """Put vectors in waiting, in one transaction; an item that is gone by now is passed over."""

    def switch(self, writes: Sequence[Write], guards: Sequence[Guard], *, most: int, finish: Finish | None) -> int:
        """Put the vectors in waiting in use, and those in use in waiting, with these writes, in one transaction.

        Gives how many are still to be made: with any, nothing is done. With `finish` up to `most` of them are made
        while every other writer waits.

        Raises:
            ConflictError: a guard does not hold; nothing was done.
        """

    def drop(self) -> None:
        """Drop the vectors in waiting."""

    def holds(self, refs: Sequence[Ref]) -> bool:
        """Whether any of these places has a vector in waiting, or a note of one, as far as it may be looked at.

        What deletes an item through the adapter deletes these too.
        """


@runtime_checkable
class ChangesEmbedder(Protocol):
    """An adapter whose store can go over to another embedder while it is in use."""

    @property
    def staging(self) -> Staging:
        """The vectors in waiting."""

    def use(self, embeddings: Embeddings, dimensions: int) -> None:
        """Embed with these from now on: the adapter, and the store beneath it."""


def digest_of(text: str) -> str:
    """What stands for a text."""
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def used_by(store: Any, embeddings: Embeddings, dimensions: int) -> None:
    """Have an official store embed with these from now on."""
    store.index_config = {**(store.index_config or {}), "dims": dimensions, "embed": embeddings}
    store.embeddings = embeddings
