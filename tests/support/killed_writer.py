"""Writes to an SQLite file without end and is killed at random moments; then says whether the file is whole.

Run as `python killed_writer.py FILE KILLS SEED`. The one process forks a writer per kill, so that importing the
library is paid once; it prints one JSON object: how many kills, how many groups and changes the file holds after
them, how often each kind of work was cut short, and every fault that was found.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import sys
import time
from collections import Counter
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "engine"))

import numpy as np
from mnemoscope import Change, ExtractedFact, MemoryConfig, MemoryEngine, RuleConsolidator, RuleExtractor
from mnemoscope.core import text_of
from mnemoscope.embedding import HashingEmbeddings
from mnemoscope.journal import Tombstone, book
from mnemoscope.stores import Vectors
from mnemoscope.stores.sqlite import open_sqlite

ANA, BEN = ("memories", "ana"), ("memories", "ben")
EMBEDDINGS = HashingEmbeddings(32)
WORK = ("apply", "undo", "merge", "import", "move", "forget")


def opened(path: Path) -> MemoryEngine:
    store = open_sqlite(path, embeddings=EMBEDDINGS)
    config = MemoryConfig(consolidation_threshold=1.0)
    return MemoryEngine(store, extractor=RuleExtractor(), consolidator=RuleConsolidator(), config=config)


def write_without_end(path: Path, seed: int, progress: int) -> None:
    """Do one piece of work after another, each of several memories; say which one begins before it begins."""
    engine, rng = opened(path), random.Random(seed)
    for number in range(sys.maxsize):
        work = rng.choice(WORK)
        os.write(progress, f"{WORK.index(work)}".encode())
        do(engine, work, rng, f"{seed}-{number}")


def do(engine: MemoryEngine, work: str, rng: random.Random, name: str) -> None:
    keys = [record.key for record in engine.list(ANA, limit=None)]
    some = rng.sample(keys, min(len(keys), rng.randint(2, 6)))
    if work == "apply" or len(some) < 2:
        facts = [ExtractedFact(content=f"Fact {name} has the part {part}") for part in range(rng.randint(2, 8))]
        engine.remember_facts(facts, ANA)
    elif work == "undo":
        engine.undo(engine.history(ANA, limit=1)[0].group)
    elif work == "merge":
        engine.curation.merge(ANA, some, content=f"Merged {name} of {len(some)}")
    elif work == "import":
        rows = [{"content": f"Imported {name} row {row}", "key": f"{name}-{row}"} for row in range(rng.randint(2, 8))]
        engine.transfer.apply_import(engine.transfer.plan_import(json.dumps(rows), ANA))
    elif work == "move":
        engine.curation.move([(ANA, key) for key in some], BEN)
    else:
        engine.forget(ANA, keys=some)


def faults_of(path: Path) -> list[str]:
    """What the journal says and the file does not hold, or the other way round."""
    check = sqlite3.connect(path)
    sound = check.execute("PRAGMA integrity_check").fetchone()[0]
    orphans = check.execute(
        "SELECT count(*) FROM store_vectors v WHERE NOT EXISTS "
        "(SELECT 1 FROM store s WHERE s.prefix = v.prefix AND s.key = v.key)"
    ).fetchone()[0]
    check.close()
    faults = ([] if sound == "ok" else [f"SQLite: {sound}"]) + ([f"{orphans} vectors of nothing"] if orphans else [])
    engine = opened(path)
    try:
        for namespace in (ANA, BEN):
            faults += replayed_faults(engine, namespace)
        return faults + group_faults(engine)
    finally:
        engine.close()
        engine.store.conn.close()  # type: ignore[attr-defined]


def replayed_faults(engine: MemoryEngine, namespace: tuple[str, ...]) -> list[str]:
    """Where replaying the whole journal from nothing does not give the items, tombstones and vectors that are there."""
    items: dict[str, object] = {}
    stones: dict[str, object] = {}
    history = engine.history(namespace)[::-1]
    by_id = {change.id: change for change in history}
    for change in history:
        if items.get(change.key) != change.before:
            return [f"{change.id}: it begins from {change.before}, but {items.get(change.key)} was there"]
        items[change.key], stones[change.key] = change.after, stone_after(change, by_id)
    found = engine.adapter.load(namespace)
    buried = engine.adapter.load(book("tombstones", namespace))
    faults = []
    if {key: value for key, value in items.items() if value} != {item.key: item.value for item in found.items}:
        faults.append(f"the items of {namespace} are not those of the journal")
    if {key for key, stone in stones.items() if stone} != {item.key for item in buried.items}:
        faults.append(f"the tombstones of {namespace} are not those of the journal")
    for snapshot in (found, buried):
        pairs = zip(snapshot.items, snapshot.vectors_by_item(), strict=True)
        faults += [f"{item.ref} has a wrong vector" for item, vectors in pairs if not is_right(item.value, vectors)]
    return faults


def stone_after(change: Change, by_id: dict[str, Change]) -> object:
    """The tombstone there is after the change: the one it made, or the one that an undo put back."""
    return change.buries or (change.undoes is not None and by_id[change.undoes].stone)


def is_right(value: dict[str, object], vectors: Vectors) -> bool:
    wanted = np.array(EMBEDDINGS.embed_query(text_of(value) or ""), np.float32)
    return list(vectors) == ["content"] and np.allclose(vectors["content"], wanted, atol=1e-6)


def group_faults(engine: MemoryEngine) -> list[str]:
    """Groups of which a part is missing: their changes are numbered, and each undo has as many as what it undid."""
    groups: dict[str, list[Change]] = {}
    for change in engine.history():
        groups.setdefault(change.group, []).append(change)
    faults = [
        f"the group {group} has a gap"
        for group, changes in groups.items()
        if sorted(int(change.id.rpartition("-")[2]) for change in changes) != list(range(len(changes)))
    ]
    sizes = {change.id: len(changes) for changes in groups.values() for change in changes}
    for group, changes in groups.items():
        undone = changes[0].undoes
        if undone is not None and sizes[undone] != len(changes):
            faults.append(f"the group {group} undid {len(changes)} of {sizes[undone]}")
        merged = [change for change in changes if change.action == "merge" and change.after]
        if merged and merged[0].text_after is not None:
            told = int(merged[0].text_after.rpartition(" ")[2])
            faults += [] if told == len(changes) else [f"the merge {group} is of {len(changes)} of {told}"]
    return faults


def killed_once(path: Path, seed: int, rng: random.Random) -> str | None:
    """Fork a writer, kill it at a random moment of its work, and tell which work was cut short."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        write_without_end(path, seed, writer)
        os._exit(1)
    os.close(writer)
    begun = os.read(reader, 1)
    time.sleep(rng.uniform(0.0, 0.25))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    while rest := os.read(reader, 65536):
        begun = rest
    os.close(reader)
    if not os.WIFSIGNALED(status):
        return None
    return WORK[int(begun[-1:])]


def main(path: Path, kills: int, seed: int) -> None:
    rng, cut, faults = random.Random(seed), Counter[str](), []
    for number in range(kills):
        work = killed_once(path, seed + number, rng)
        cut[work or "the writer failed by itself"] += 1
        faults += [f"after kill {number} during {work}: {fault}" for fault in faults_of(path)]
    engine = opened(path)
    history = engine.history()
    told = {"kills": kills, "groups": len({change.group for change in history}), "changes": len(history)}
    stones = [Tombstone.from_value(item.value) for item in engine.adapter.load(book("tombstones", ANA)).items]
    print(json.dumps({**told, "tombstones": len(stones), "cut": cut, "faults": faults}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
