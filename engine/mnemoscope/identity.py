"""Whose vectors a store holds: written down at our first change, and compared with the embedder in use."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .embedding import identity_of
from .namespaces import RESERVED_ROOT
from .stores.base import Ref, StoreAdapter, Write
from .times import Clock, read_time, to_iso

__all__ = ["IDENTITY_AT", "EmbedderIdentity", "IdentityNote", "mismatch", "present_identity", "stored_identity"]

IDENTITY_AT: Ref = ((RESERVED_ROOT, "meta"), "embedder")
"""Where the identity is kept."""


@dataclass(frozen=True)
class EmbedderIdentity:
    """An embedder as a store remembers it: its name, and the dimensions of its vectors."""

    name: str
    dimensions: int | None
    since: datetime | None = None

    def __str__(self) -> str:
        return self.name if self.dimensions is None else f"{self.name}, {self.dimensions} dimensions"

    def to_value(self) -> dict[str, Any]:
        """The stored form."""
        since = to_iso(self.since) if self.since else None
        return {"kind": "embedder", "name": self.name, "dimensions": self.dimensions, "since": since}

    @classmethod
    def from_value(cls, value: object) -> EmbedderIdentity | None:
        """Read the stored form; None where it is not of it."""
        if not isinstance(value, Mapping) or not isinstance(value.get("name"), str):
            return None
        dimensions = value.get("dimensions")
        return cls(value["name"], dimensions if isinstance(dimensions, int) else None, read_time(value.get("since")))


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


class IdentityNote:
    """Notes the embedder with the first change that this process makes, where the store names none yet."""

    def __init__(self, adapter: StoreAdapter, clock: Clock) -> None:
        self._adapter = adapter
        self._clock = clock
        self._lock = threading.Lock()
        self._is_known = False

    def writes(self) -> list[Write]:
        """What to write along with a change; nothing once the store names its embedder."""
        with self._lock:
            present = present_identity(self._adapter)
            if self._is_known or present is None:
                return []
            if self._adapter.get([IDENTITY_AT])[0] is not None:
                self._is_known = True
                return []
        noted = EmbedderIdentity(present.name, present.dimensions, self._clock())
        return [Write(*IDENTITY_AT, noted.to_value())]
