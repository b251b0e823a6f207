"""What the engine's tests share: a tiny embedder, engines over every kind of store, and scripted judges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from mnemoscope import ConsolidationDecision, ExtractedFact, MemoryEngine
from mnemoscope.embedding import HashingEmbeddings
from mnemoscope.extraction import Similar
from mnemoscope.stores import GenericAdapter, StoreAdapter
from mnemoscope.stores.sqlite import open_sqlite

ANA = ("memories", "ana")
BEN = ("memories", "ben")
DIMENSIONS = 32
START = datetime(2025, 1, 1, tzinfo=UTC)


@dataclass
class Ticking:
    """A clock that moves on by a minute at every look."""

    now: datetime = START

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now


def swap(engine: MemoryEngine, **parts: Any) -> None:
    """Put other parts into the context of an engine, such as another extractor or clock, as no caller could."""
    for name, part in parts.items():
        object.__setattr__(engine.context, name, part)


class CountingEmbeddings(HashingEmbeddings):
    """Counts its calls; `fails` is raised, and `answers` given instead of vectors, where set."""

    def __init__(self, dimensions: int = DIMENSIONS) -> None:
        super().__init__(dimensions)
        self.calls: list[list[str]] = []
        self.fails: Exception | None = None
        self.answers: Any = None

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.calls.append(list(texts))
        if self.fails:
            raise self.fails
        return super().embed_documents(texts) if self.answers is None else self.answers

    def embed_query(self, text: str) -> list[float]:
        if self.fails:
            raise self.fails
        return super().embed_query(text) if self.answers is None else self.answers[0]


class Vectors(Embeddings):
    """Looks up the vector of a text; unknown texts get one of their own, far from all others."""

    def __init__(self, known: dict[str, Sequence[float]], dimensions: int = DIMENSIONS) -> None:
        self.known = known
        self.dimensions = dimensions

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        if text in self.known:
            return [float(part) for part in self.known[text]]
        return HashingEmbeddings(self.dimensions).embed_query(text)


@dataclass
class Judge:
    """A consolidator that answers as scripted, and keeps what it was asked."""

    answer: Callable[[ExtractedFact, Similar], Any] = lambda _fact, _similar: ConsolidationDecision(action="insert")
    asked: list[tuple[ExtractedFact, Similar]] = field(default_factory=list)

    def __call__(self, fact: ExtractedFact, similar: Similar) -> Any:
        self.asked.append((fact, list(similar)))
        return self.answer(fact, similar)


def decide(action: str, content: str | None = None, reason: str = "") -> Callable[[ExtractedFact, Similar], Any]:
    """A judge that does this to the most similar memory."""
    return lambda _fact, similar: ConsolidationDecision(
        action=action, target_key=similar[0][0].key, content=content, reason=reason
    )


def facts(*contents: str, **fields: Any) -> list[ExtractedFact]:
    return [ExtractedFact(content=content, **fields) for content in contents]


def lines_of(text: str) -> list[ExtractedFact]:
    """An extractor: every line is a fact."""
    return facts(*(line.partition(": ")[2] or line for line in text.splitlines() if line.strip()))


def memory_store(embeddings: Embeddings | None = None, dimensions: int = DIMENSIONS) -> InMemoryStore:
    embedder = embeddings or CountingEmbeddings(dimensions)
    return InMemoryStore(index={"dims": dimensions, "embed": embedder, "fields": ["content"]})


def engine_over(store: BaseStore | StoreAdapter | None = None, **options: Any) -> MemoryEngine:
    """An engine without a model, under a ticking clock; every line is a fact, and facts alike are both kept."""
    chosen = {"extractor": lines_of, "consolidator": Judge(), "clock": Ticking(), **options}
    return MemoryEngine(memory_store() if store is None else store, **chosen)


@contextmanager
def opened(kind: str, folder: Path, embeddings: Embeddings | None = None) -> Iterator[BaseStore | StoreAdapter]:
    """A store of this kind, empty: "memory", "sqlite", or "generic", whose vectors cannot be read."""
    embedder = embeddings or CountingEmbeddings()
    if kind == "sqlite":
        store = open_sqlite(folder / "memories.sqlite", embeddings=embedder)
        try:
            yield store
        finally:
            store.conn.close()
    else:
        memory = memory_store(embedder, getattr(embedder, "dimensions", DIMENSIONS))
        yield GenericAdapter(memory) if kind == "generic" else memory


KINDS = ("memory", "sqlite", "generic")


def contents(engine: MemoryEngine, namespace: Any = ANA) -> list[str]:
    """The texts of a namespace, sorted."""
    return sorted(record.content for record in engine.list(namespace, None, include_private=True))


def dump(engine: MemoryEngine, namespace: Any = ANA) -> dict[str, Any]:
    """Everything a namespace holds, vectors included, in a form that can be compared."""
    snapshot = engine.adapter.load(namespace)
    rows = snapshot.vectors_by_item()
    return {
        item.key: (item.value, item.created_at, {name: np.round(row, 5).tolist() for name, row in rows[at].items()})
        for at, item in enumerate(snapshot.items)
    }
