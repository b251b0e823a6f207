"""Made-up memories with given vectors: clustered or random, of different ages, importance, categories and owners."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from langchain_core.embeddings import Embeddings
from mnemoscope import MemoryRecord
from mnemoscope.stores import Write
from numpy.typing import NDArray

NAMESPACE = ("memories", "ana")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
CATEGORIES = ("food", "home", "people", "plans", "rare")
SHARES = (0.4, 0.3, 0.2, 0.099, 0.001)
SOURCES = ("crm", "mail", "chat")


class Lookup(Embeddings):
    """Knows the vector of every text beforehand, so that embedding takes no time; counts how often it is asked."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.known: dict[str, list[float]] = {}
        self.calls = 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.calls += 1
        return [self.known[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        self.calls += 1
        return self.known[text]


@dataclass(frozen=True, eq=False)
class Made:
    """The memories and their unit vectors, in one order, and queries with theirs."""

    records: list[MemoryRecord]
    vectors: NDArray[np.float32]
    queries: list[str]
    query_vectors: NDArray[np.float32]

    def embedder(self) -> Lookup:
        lookup = Lookup(self.vectors.shape[1])
        texts = [*(record.content for record in self.records), *self.queries]
        lookup.known = dict(zip(texts, [*self.vectors.tolist(), *self.query_vectors.tolist()], strict=True))
        return lookup

    def writes(self) -> list[Write]:
        return [
            Write(record.namespace, record.key, record.to_value(), {"content": vector})
            for record, vector in zip(self.records, self.vectors, strict=True)
        ]


def made(count: int, dimensions: int, *, clusters: int = 0, queries: int = 40, seed: int = 1) -> Made:
    """That many memories; with `clusters`, around that many centres, so that many are nearly equally similar."""
    drawn = np.random.default_rng(seed)
    centres = drawn.standard_normal((clusters or 1, dimensions))
    spread = 0.35 if clusters else 1.0
    around = centres[drawn.integers(0, len(centres), count + queries)] if clusters else 0.0
    vectors = _unit(around + spread * drawn.standard_normal((count + queries, dimensions)))
    return Made(
        [_record(at, drawn) for at in range(count)],
        vectors[:count],
        [f"query {number}" for number in range(queries)],
        vectors[count:],
    )


def _record(at: int, drawn: np.random.Generator) -> MemoryRecord:
    words = " ".join(f"w{number:03d}" for number in drawn.integers(0, 1000, 8))
    return MemoryRecord(
        key=f"k{at:06d}",
        namespace=NAMESPACE,
        content=f"memory {at}: {words}",
        categories=[str(drawn.choice(CATEGORIES, p=SHARES))],
        importance=round(float(drawn.random()), 3),
        created_at=NOW - timedelta(days=float(drawn.exponential(60))),
        source=str(drawn.choice(SOURCES)),
        private=bool(drawn.random() < 0.2),
        metadata={"team": {"number": int(drawn.integers(0, 50))}},
    )


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float32]:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
