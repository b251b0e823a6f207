"""Whose vectors a store holds: written down at our first change, and compared with the embedder in use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .embedding import identity_of
from .namespaces import RESERVED_ROOT
from .stores.base import Ref, StoreAdapter
from .times import read_time, to_iso

__all__ = ["IDENTITY_AT", "EmbedderIdentity", "mismatch", "present_identity", "stored_identity"]

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
