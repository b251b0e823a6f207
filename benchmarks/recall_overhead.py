"""What a recall adds to the store's own search, and what a recall node adds to a recall.

    pip install -e .
    python benchmarks/recall_overhead.py [--memories 1000,10000]

Two stores: one whose vectors are read, so that a recall has no use for its search, and the same one seen as any other
store, whose search a recall has to use. Every vector is known beforehand. Processor time; the notes of accesses are
written by another thread, and are left out.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterable
from typing import Any

from langgraph.store.base import BaseStore, Result, SearchOp
from langgraph.store.memory import InMemoryStore
from made_up import NAMESPACE, Made, made
from mnemoscope import MemoryConfig, MemoryEngine, RuleConsolidator, RuleExtractor
from mnemoscope.stores import GenericAdapter, adapt

DIMENSIONS = 384
LIMIT = 10
ROUNDS = 60


class Timed(BaseStore):
    """Another store, by the official interface alone: what its searches take, and how many there are."""

    def __init__(self, store: InMemoryStore) -> None:
        self.store = store
        self.seconds = 0.0
        self.searches = 0
        self.calls = 0

    def batch(self, ops: Iterable[Any]) -> list[Result]:
        asked = list(ops)
        self.calls += 1
        started = time.process_time()
        found = self.store.batch(asked)
        if any(isinstance(op, SearchOp) and op.query is not None for op in asked):
            self.searches += 1
            self.seconds += time.process_time() - started
        return found

    async def abatch(self, ops: Iterable[Any]) -> list[Result]:
        return self.batch(ops)


def engine_over(store: Any, config: MemoryConfig | None = None) -> MemoryEngine:
    return MemoryEngine(
        store, extractor=RuleExtractor(), consolidator=RuleConsolidator(), config=config or MemoryConfig()
    )


def milliseconds(work: Callable[[], Any], clock: Callable[[], float] = time.thread_time) -> float:
    """The median processor time that one call, warm, takes of the caller's thread."""
    work()
    taken = []
    for _ in range(ROUNDS):
        started = clock()
        work()
        taken.append(clock() - started)
    return statistics.median(taken) * 1e3


def where_vectors_are_read(store: InMemoryStore, data: Made, memories: int) -> None:
    engine = engine_over(store)
    node = engine.recall_node(limit=LIMIT, namespace=("memories", "{user_id}"))
    state, config = {"messages": [{"role": "user", "content": data.queries[0]}]}, {"configurable": {"user_id": "ana"}}
    # The store embeds in a thread of its own.
    search = milliseconds(lambda: store.search(NAMESPACE, query=data.queries[0], limit=LIMIT), time.process_time)
    recall = milliseconds(lambda: engine.recall(data.queries[0], NAMESPACE, limit=LIMIT))
    through = milliseconds(lambda: node.invoke(state, config))
    engine.close()
    print(
        f"{memories:>9,}  vectors read   store's search {search:7.2f} ms   recall {recall:6.2f} ms "
        f"({recall / search:.2f} of it)   recall node {through:6.2f} ms ({through / recall:.2f} of a recall)"
    )


def where_the_search_is_used(store: InMemoryStore, data: Made, memories: int, name: str, config: MemoryConfig) -> None:
    timed = Timed(store)
    engine = engine_over(GenericAdapter(timed), config)
    engine.recall(data.queries[0], NAMESPACE, limit=LIMIT, touch=False)
    timed.seconds, timed.searches, timed.calls = 0.0, 0, 0
    started = time.process_time()
    for query in data.queries:
        engine.recall(query, NAMESPACE, limit=LIMIT, touch=False)
    whole, asked = time.process_time() - started, len(data.queries)
    print(
        f"{memories:>9,}  {name:13}  searches {timed.seconds / asked * 1e3:7.2f} ms in {timed.searches / asked:.1f} of "
        f"{timed.calls / asked:.1f} calls   recall {whole / asked * 1e3:6.2f} ms "
        f"({whole / timed.seconds:.2f} of them)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what a recall adds to the store's own search.")
    parser.add_argument("--memories", default="1000,10000", help="how many, by commas")
    for memories in map(int, parser.parse_args().memories.split(",")):
        data = made(memories, DIMENSIONS, clusters=20)
        store = InMemoryStore(index={"dims": DIMENSIONS, "embed": data.embedder(), "fields": ["content"]})
        adapt(store).write(data.writes())
        where_vectors_are_read(store, data, memories)
        where_the_search_is_used(store, data, memories, "search, classic", MemoryConfig())
        by_meaning = MemoryConfig(semantic_weight=1.0, recency_weight=0.0, importance_weight=0.0)
        where_the_search_is_used(store, data, memories, "search, meaning", by_meaning)


if __name__ == "__main__":
    main()
