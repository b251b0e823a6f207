"""Two processes hand conversations over and remember them out of one queue, and one is killed again and again.

Run as `python killed_background.py FOLDER KILLS SEED`. Every turn gives one fact with a mark of its own each time it
is extracted, so that a turn that is planned twice gives two memories. It prints one JSON object: how many kills,
turns that were taken over, jobs, those that were recognised as done before, and every fault.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "engine"))

from mnemoscope import Background, ExtractedFact, MemoryConfig, MemoryEngine, RuleConsolidator
from mnemoscope.background import JobQueue
from mnemoscope.embedding import HashingEmbeddings
from mnemoscope.stores.sqlite import open_sqlite

USERS, THREADS = 4, 3


def marked(text: str) -> list[ExtractedFact]:
    lines = [line.rpartition(": ")[2] for line in text.splitlines()]
    return [ExtractedFact(content=f"{line} as extracted in {uuid.uuid4()}") for line in lines]


def opened(folder: Path) -> MemoryEngine:
    store = open_sqlite(folder / "memories.sqlite", embeddings=HashingEmbeddings(32))
    config = MemoryConfig(consolidation_threshold=1.0)
    return MemoryEngine(store, extractor=marked, consolidator=RuleConsolidator(), config=config)


def background(engine: MemoryEngine, folder: Path) -> Background:
    return engine.background(folder / "queue.sqlite", debounce=0.02, lease=0.4, attempts=1_000_000)


def work_without_end(folder: Path, seed: int, progress: int) -> None:
    """Hand turns over, some with ids and some without, and tell of each one that it was taken over."""
    rng = random.Random(seed)
    work = background(opened(folder), folder)
    die_sometimes_before_done_is_noted(work, seed)
    for number in range(sys.maxsize):
        text = f"Fact {seed} {number}"
        user, thread = rng.randrange(USERS), rng.randrange(THREADS)
        turn: Any = {"role": "user", "content": text} | ({"id": text} if rng.random() < 0.5 else {})
        work.submit([turn], ("memories", f"user{user}"), f"thread{thread}")
        os.write(progress, f"{text}\n".encode())
        time.sleep(rng.uniform(0.0, 0.05))


def die_sometimes_before_done_is_noted(work: Background, seed: int) -> None:
    """Be killed in the narrow gap in which a job is remembered already and not yet marked as done."""
    rng, finish = random.Random(seed + 1), work._queue.finish

    def finish_or_die(*arguments: Any, **options: Any) -> bool:
        if rng.random() < 0.1:
            os.kill(os.getpid(), signal.SIGKILL)
        return finish(*arguments, **options)

    work._queue.finish = finish_or_die  # type: ignore[method-assign]


class Child:
    """A forked process at work, and what it has told."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.reader, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.reader)
            work_without_end(folder, seed, writer)
            os._exit(1)
        os.close(writer)

    def killed(self) -> list[str]:
        """Kill it; every turn that it said was taken over."""
        os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        told = b""
        while piece := os.read(self.reader, 65536):
            told += piece
        os.close(self.reader)
        if not os.WIFSIGNALED(status):
            raise RuntimeError("the process ended by itself")
        return told.decode().splitlines()


def drained(engine: MemoryEngine, folder: Path) -> list[str]:
    """Do what is left, once the leases of the dead are over; what could not be done."""
    with background(engine, folder) as work:
        deadline = time.monotonic() + 120
        while (left := work.drain(10)) and time.monotonic() < deadline:
            pass
        failed = [f"{job.id} has failed: {job.error}" for job in work.jobs(state="failed")]
    return failed + ([f"{left} jobs are left"] if left else [])


def faults_of(engine: MemoryEngine, taken_over: list[str]) -> list[str]:
    inserts = [change for change in engine.history() if change.action == "insert"]
    planned = Counter((change.text_after or "").partition(" as extracted")[0] for change in inserts)
    present = sum(engine.counts().values())
    faults = [f"{text} was taken over and not planned" for text in taken_over if not planned[text]]
    faults += [f"{text} was planned {count} times" for text, count in planned.items() if count > 1]
    return faults + ([f"{present} memories of {len(inserts)}"] if present != len(inserts) else [])


def main(folder: Path, kills: int, seed: int) -> None:
    rng = random.Random(seed)
    opened(folder).close()
    JobQueue(folder / "queue.sqlite").close()
    children = [Child(folder, seed * 1_000_000 + each) for each in range(2)]
    taken_over: list[str] = []
    for number in range(kills):
        time.sleep(rng.uniform(0.02, 0.5))
        at = rng.randrange(2)
        taken_over += children[at].killed()
        children[at] = Child(folder, seed * 1_000_000 + number + 2)
    for child in children:
        taken_over += child.killed()
    engine = opened(folder)
    faults = drained(engine, folder) + faults_of(engine, taken_over)
    queue = JobQueue(folder / "queue.sqlite")
    jobs = queue.jobs()
    queue.close()
    told = {"kills": kills, "turns": len(taken_over), "jobs": len(jobs)}
    begun_again = sum(job.attempts > 1 for job in jobs)
    recognised = sum("done before" in job.outcome for job in jobs)
    print(json.dumps({**told, "begun_again": begun_again, "recognised": recognised, "faults": faults}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
