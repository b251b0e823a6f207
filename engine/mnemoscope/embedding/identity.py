"""Whose vectors a store holds: written down at our first change, and compared with the embedder in use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from langgraph.store.base import get_text_at_path
from numpy.typing import NDArray

from ..core.namespaces import RESERVED_ROOT
from ..core.payloads import text_of
from ..core.times import read_time, to_iso
from ..stores.base import CONTENT_FIELD, Ref, StoreAdapter
from .named import identity_of

__all__ = [
    "IDENTITY_AT",
    "EmbedderIdentity",
    "indexed_text",
    "made_by",
    "maker_of",
    "mismatch",
    "present_identity",
    "stored_identity",
]


IDENTITY_AT: Ref = ((RESERVED_ROOT, "meta"), "embedder")
"""Where the identity is kept."""


@dataclass(frozen=True)
class EmbedderIdentity:
    """An embedder as a store remembers it: its name, and the dimensions of its vectors.

    `since` is when that was noted, `switched_at` when the store went over to it from another one, if it did.
    """

    name: str
    dimensions: int | None
    since: datetime | None = None
    switched_at: datetime | None = None

    def __str__(self) -> str:
        return self.name if self.dimensions is None else f"{self.name}, {self.dimensions} dimensions"

    def to_value(self) -> dict[str, Any]:
        """The stored form."""
        since = to_iso(self.since) if self.since else None
        value = {"kind": "embedder", "name": self.name, "dimensions": self.dimensions, "since": since}
        return value | ({"switched_at": to_iso(self.switched_at)} if self.switched_at else {})

    @classmethod
    def from_value(cls, value: object) -> EmbedderIdentity | None:
        """Read the stored form; None where it is not of it."""
        if not isinstance(value, Mapping) or not isinstance(value.get("name"), str):
            return None
        dimensions = value.get("dimensions")
        size = dimensions if isinstance(dimensions, int) else None
        return cls(value["name"], size, read_time(value.get("since")), read_time(value.get("switched_at")))


def stored_identity(adapter: StoreAdapter) -> EmbedderIdentity | None:
    """Whose vectors the store says that it holds; None where it does not say."""
    item = adapter.get([IDENTITY_AT])[0]
    return None if item is None else EmbedderIdentity.from_value(item.value)


def present_identity(adapter: StoreAdapter) -> EmbedderIdentity | None:
    """The embedder that is in use; None where the store embeds by itself and does not show it."""
    if adapter.embeddings is None:
        return None
    return EmbedderIdentity(identity_of(adapter.embeddings), adapter.dimensions)


def mismatch(stored: EmbedderIdentity | None, present: EmbedderIdentity | None) -> str:
    """What differs, for people; empty where nothing does or one of them is not known."""
    if stored is None or present is None:
        return ""
    if stored.name != present.name:
        return f"The vectors in this store are by {stored}, but {present} is in use, so similarities mean nothing."
    if None not in (stored.dimensions, present.dimensions) and stored.dimensions != present.dimensions:
        return f"The vectors in this store have {stored.dimensions} dimensions, but {present} is in use."
    return ""


def indexed_text(value: Any, field: str) -> str:
    """The text of a value for a vector of this field; empty where there is none any more.

    Under `content` it is what recall takes for the text of the memory, whoever wrote it. Elsewhere it is what the
    official stores embed: the part at that path, or "path.2" for the third of several parts.
    """
    if not isinstance(value, Mapping):
        return ""
    if field == CONTENT_FIELD and (text := text_of(value)):
        return text.strip() and text
    parts = get_text_at_path(dict(value), field)
    if not parts and field.rpartition(".")[2].isdigit():
        path, _, number = field.rpartition(".")
        parts = get_text_at_path(dict(value), path)[int(number) :][:1]
    return parts[0] if parts and parts[0].strip() else ""


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
