"""Recall and remember beside `langgraph-memory` 0.1.0, on the same data in the same `InMemoryStore`.

    pip install -e . -r benchmarks/requirements.txt
    python benchmarks/against_langgraph_memory.py [--sizes 1000,10000,50000,100000]

Each side runs in a process of its own, one after the other, over a store that is filled by its official `put`. The
vectors of all texts are known beforehand, so embedding costs neither side anything. Times are processor time of one
thread; memory is what the process needs at most beyond the filled store. Every recall asks for 10, and every fact that
is remembered is new.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore
from made_up import NAMESPACE, Lookup, Made, made
from mnemoscope import ExtractedFact, MemoryEngine, RuleConsolidator, RuleExtractor
from mnemoscope.stores import View, adapt

DIMENSIONS = 384
FACTS = 20
QUERIES = 12


class Counting(InMemoryStore):
    """Counts the calls that reach the store."""

    calls = 0

    def batch(self, ops: Any) -> Any:
        Counting.calls += 1
        return super().batch(ops)


def filled(data: Made, embedder: Lookup, kind: type[InMemoryStore]) -> InMemoryStore:
    store = kind(index={"dims": DIMENSIONS, "embed": embedder, "fields": ["content"]})
    for start in range(0, len(data.records), 2_000):
        part = data.records[start : start + 2_000]
        store.batch([PutOp(record.namespace, record.key, record.to_value()) for record in part])
    return store


def peak() -> float:
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(work: Callable[[], Any]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def measured(
    recall: Callable[[str], Any],
    remember: Callable[[list[str]], Any],
    data: Made,
    embedder: Lookup,
    calls: Callable[[], int],
    before: float,
) -> dict[str, float]:
    found: dict[str, float] = {"first recall": timed(lambda: recall(data.queries[0]))}
    embedded, called = embedder.calls, calls()
    times = [timed(lambda query=query: recall(query)) for query in data.queries[1:]]
    found["recall"] = statistics.median(times)
    found["store calls a recall"] = (calls() - called) / len(times)
    found["embedding calls a recall"] = (embedder.calls - embedded) / len(times)
    found["memory beyond the store"] = peak() - before
    embedded, called = embedder.calls, calls()
    texts = [text for text in embedder.known if text.startswith("fact ")]
    found["remember a fact"] = timed(lambda: remember(texts)) / len(texts)
    found[f"store calls for {len(texts)} facts"] = calls() - called
    found[f"embedding calls for {len(texts)} facts"] = embedder.calls - embedded
    return found


def ours(data: Made, store: InMemoryStore, embedder: Lookup, before: float) -> dict[str, float]:
    calls: list[str] = []
    view = View(adapt(store), watcher=lambda name, *_: calls.append(name))
    engine = MemoryEngine(view, extractor=RuleExtractor(), consolidator=RuleConsolidator())
    found = measured(
        lambda query: engine.recall(query, NAMESPACE),
        lambda texts: engine.remember_facts([ExtractedFact(content=text) for text in texts], NAMESPACE),
        data,
        embedder,
        lambda: len(calls),
        before,
    )
    matrix, vector = engine.index(NAMESPACE).matrix, data.query_vectors[0]
    found["bare scan"] = statistics.median(
        timed(lambda: np.argpartition(-(matrix @ vector), 10)[:10]) for _ in range(15)
    )
    engine.close()
    return found


def theirs(data: Made, store: InMemoryStore, embedder: Lookup, before: float) -> dict[str, float]:
    from langgraph_memory import ConsolidationDecision
    from langgraph_memory import ExtractedFact as TheirFact
    from langgraph_memory import MemoryEngine as TheirEngine

    engine = TheirEngine(
        store,
        extractor=lambda _text: [],
        consolidator=lambda _fact, _similar: ConsolidationDecision(action="insert"),
    )
    return measured(
        lambda query: engine.recall(query, NAMESPACE),
        lambda texts: engine.remember_facts([TheirFact(content=text) for text in texts], NAMESPACE),
        data,
        embedder,
        lambda: Counting.calls,
        before,
    )


# Threads of the linear algebra that wait for work count as processor time, so each side has one.
ONE_THREAD = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

SIDES = {"mnemoscope": ours, "langgraph-memory": theirs}


def run_side(side: str, size: int) -> None:
    """Measure one side, in this process, and print it as JSON."""
    data = made(size, DIMENSIONS, queries=QUERIES)
    embedder = data.embedder()
    facts = made(FACTS, DIMENSIONS, queries=1, seed=2).vectors.tolist()
    embedder.known |= {f"fact {number}": vector for number, vector in enumerate(facts)}
    # A subclass with a `batch` of its own would be any store to our adapters; our calls are counted before it.
    store = filled(data, embedder, InMemoryStore if side == "mnemoscope" else Counting)
    gc.collect()
    print(json.dumps(SIDES[side](data, store, embedder, peak())))


def main() -> None:
    parser = argparse.ArgumentParser(description="Mnemoscope beside langgraph-memory.")
    parser.add_argument("--sizes", default="1000,10000,50000,100000")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]
    if arguments.side:
        run_side(arguments.side, sizes[0])
        return
    print("| memories | measured | mnemoscope | langgraph-memory | ratio |")
    print("| --- | --- | --- | --- | --- |")
    for size in sizes:
        sides = {}
        for side in SIDES:
            command = [sys.executable, __file__, "--side", side, "--sizes", str(size)]
            printed = subprocess.run(command, check=True, capture_output=True, text=True, env=ONE_THREAD).stdout
            sides[side] = json.loads(printed)
        for name, value in sides["mnemoscope"].items():
            print(row(size, name, value, sides["langgraph-memory"].get(name)), flush=True)


def row(size: int, name: str, mine: float, other: float | None) -> str:
    ratio = f"{other / mine:.1f}" if other is not None and mine else "–"
    return f"| {size:,} | {name} | {shown(name, mine)} | {'–' if other is None else shown(name, other)} | {ratio} |"


def shown(name: str, value: float) -> str:
    if "calls" in name:
        return f"{value:g}"
    return f"{value:.0f} MB" if "memory" in name else f"{1000 * value:.1f} ms"


if __name__ == "__main__":
    main()
