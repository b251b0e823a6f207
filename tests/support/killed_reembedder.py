"""Takes a store over to another embedder, and is killed while it does.

Run as `python killed_reembedder.py STORE LOG`: STORE is an SQLite file or a postgresql:// address, opened with hashing
vectors of 64 dimensions and to be taken over to 384. Every text that is embedded is a line of LOG. Before every call of
the embedder and after every step it prints a line, and waits for one on the standard input.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "engine"))

from mnemoscope import MemoryEngine, RuleConsolidator, RuleExtractor
from mnemoscope.embedding import HashingEmbeddings


class Logging(HashingEmbeddings):
    """Writes down every text before it is embedded."""

    def __init__(self, dimensions: int, log: Path) -> None:
        super().__init__(dimensions)
        self._log = log

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        with self._log.open("a", encoding="utf-8") as file:
            file.write("".join(f"{text}\n" for text in texts))
        wait()
        return super().embed_documents(texts)


def wait() -> None:
    print("waiting", flush=True)
    sys.stdin.readline()


def opened(store: str, target: HashingEmbeddings) -> MemoryEngine:
    if store.startswith("postgresql"):
        from mnemoscope.stores.postgres import open_postgres

        below = open_postgres(store, embeddings=HashingEmbeddings(64))
    else:
        from mnemoscope.stores.sqlite import open_sqlite

        below = open_sqlite(store, embeddings=HashingEmbeddings(64))  # type: ignore[assignment]
    return MemoryEngine(below, extractor=RuleExtractor(), consolidator=RuleConsolidator(), next_embeddings=target)


def main(store: str, log: Path) -> None:
    engine = opened(store, Logging(384, log))
    engine.reembedding.start(batch=10, progress=lambda _state: wait())
    print("done", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
