"""The check-up of what a store holds: how much, by whose embedder, and whether a known text finds itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass

from ..config import MemoryConfig
from ..connections.config import Connection
from ..connections.opening import open_connection
from ..core.namespaces import Namespace, show_namespace
from ..core.payloads import KIND
from ..core.records import MemoryRecord
from ..embedding.identity import mismatch, present_identity, stored_identity
from ..engine.facade import MemoryEngine
from ..errors import MnemoscopeError
from .steps import Check

__all__ = ["Sample", "check_contents", "check_identity", "check_itself", "sample_of"]


SURE = 0.98
"""The similarity of a text with its own vector, from which both are by one embedder."""

_OTHER_EMBEDDER = "Name the embedder that made the vectors; or go over to this one, which makes every vector anew."
_REEMBED = "mnemoscope reembed"
_LARGEST_SAMPLED, _LONGEST_SAMPLED = 20_000, 10_000


@dataclass(frozen=True)
class Sample:
    """A memory of the store whose own text is looked for, and what came first with which similarity."""

    sought: MemoryRecord
    found: MemoryRecord | None
    similarity: float | None

    @property
    def is_first(self) -> bool:
        """Whether the memory came first, or another with the very same text."""
        return self.found is not None and self.found.content == self.sought.content


def check_contents(connection: Connection, environment: Mapping[str, str]) -> Iterator[Check]:
    """Open the engine for reading, count, compare the embedder, and look for a known text."""
    try:
        engine = open_connection(connection, writing=False, environment=environment)
    except MnemoscopeError as error:
        yield Check("Counts", "bad", str(error), "See the step that failed above.")
        return
    with closing(engine):
        for name, look in (("Counts", _count), ("Embedder identity", check_identity), ("Self-check", check_itself)):
            try:
                yield look(engine)
            except MnemoscopeError as error:
                yield Check(name, "bad", str(error), "Try again; if it stays, see the log of the store.")


def check_identity(engine: MemoryEngine) -> Check:
    """Whether the store names the embedder in use as the maker of its vectors."""
    engine.reembedding.difference()
    stored, present = stored_identity(engine.adapter), present_identity(engine.adapter)
    if present is None:
        return Check("Embedder identity", "skipped", "the store embeds by itself and does not say how")
    if stored is None:
        report = f"the store names none yet; {present} is in use, and is noted with the first change made here"
        return Check("Embedder identity", "good", report)
    if difference := mismatch(stored, present):
        return Check("Embedder identity", "bad", difference, _OTHER_EMBEDDER, _REEMBED)
    return Check("Embedder identity", "good", str(stored))


def check_itself(engine: MemoryEngine) -> Check:
    """Whether a memory's own text finds that memory first; nothing is written for it."""
    if engine.reembedding.difference():
        report = "nothing is found by its meaning: the vectors are by another embedder, so recall goes by words alone"
        return Check("Self-check", "bad", report, _OTHER_EMBEDDER, _REEMBED)
    sample = sample_of(engine)
    if sample is None:
        return Check("Self-check", "skipped", "there is no memory with a vector to look for")
    where = show_namespace(sample.sought.namespace)
    if sample.sought.kind != KIND:
        return _check_foreign(sample, where)
    if not sample.is_first:
        report = f"a memory of {where}, looked for by its own text, does not come first"
        return Check("Self-check", "bad", report, _OTHER_EMBEDDER)
    if sample.similarity is None or sample.similarity >= SURE:
        said = "" if sample.similarity is None else f", with similarity {sample.similarity:.3f}"
        return Check("Self-check", "good", f"a memory of {where} is found first by its own text{said}")
    report = f"a memory of {where} is like its own text by {sample.similarity:.3f} only; by one embedder it is 1"
    return Check("Self-check", "bad", report, _OTHER_EMBEDDER)


def _check_foreign(sample: Sample, where: str) -> Check:
    # Of an item that others wrote it is not known which text was embedded.
    if sample.is_first:
        return Check("Self-check", "good", f"an item of {where} is found first by its own text")
    report = f"an item of {where}, looked for by its own text, does not come first; others wrote it"
    return Check("Self-check", "warning", report, "Check which of its fields the agent's store embeds.")


def sample_of(engine: MemoryEngine) -> Sample | None:
    """A search for some memory by its own text, in the smallest namespaces first; None where there is none."""
    for namespace in _smallest(engine):
        sought = _sampled(engine, namespace)
        if sought is not None:
            return _looked_for(engine, sought)
    return None


def _smallest(engine: MemoryEngine) -> list[Namespace]:
    counts = engine.counts()
    fitting = [namespace for namespace, count in counts.items() if count <= _LARGEST_SAMPLED]
    return sorted(fitting, key=lambda namespace: counts[namespace])[:20]


def _sampled(engine: MemoryEngine, namespace: Namespace) -> MemoryRecord | None:
    index = engine.index(namespace)
    reads = engine.adapter.abilities.reads_vectors
    fitting = [
        record
        for at, record in enumerate(index.records)
        if record.content.strip() and len(record.content) <= _LONGEST_SAMPLED and (not reads or index.vectored[at])
    ]
    return next((record for record in fitting if record.kind == KIND), fitting[0] if fitting else None)


def _looked_for(engine: MemoryEngine, sought: MemoryRecord) -> Sample:
    nearest = MemoryConfig(semantic_weight=1.0, recency_weight=0.0, importance_weight=0.0, touch_on_recall=False)
    result = engine.recall(sought.content, sought.namespace, limit=1, include_private=True, touch=False, config=nearest)
    if not result:
        return Sample(sought, None, None)
    return Sample(sought, result[0].record, result[0].similarity)


def _count(engine: MemoryEngine) -> Check:
    counts = engine.counts()
    total = sum(counts.values())
    if not total:
        return Check("Counts", "good", "0 memories: the store answers, and is empty")
    return Check(
        "Counts",
        "good",
        f"{total:,} {'memory' if total == 1 else 'memories'} in {len(counts):,} namespace{'s'[: len(counts) != 1]}",
    )
