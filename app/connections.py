"""Opening what the settings name: the store, its embedder, and the engine over both."""

from __future__ import annotations

from pathlib import Path

from mnemoscope import MemoryEngine
from mnemoscope.embedding import BundledEmbeddings
from mnemoscope.rules import RuleConsolidator, RuleExtractor
from mnemoscope.stores.sqlite import open_sqlite

__all__ = ["connection_name", "open_engine"]


def connection_name(store: str) -> str:
    """The name under which the dashboard shows a store: no folder, no secret."""
    return Path(store).name


def open_engine(store: str, model: str | None) -> MemoryEngine:
    """The engine over the SQLite file, which is made if it is not there.

    Without a model, the rule extractor and the rule consolidator stand in.

    Raises:
        StoreUnavailableError: the file cannot be opened or made.
    """
    Path(store).parent.mkdir(parents=True, exist_ok=True)
    adapter = open_sqlite(store, embeddings=BundledEmbeddings())
    if model:
        return MemoryEngine(adapter, model)
    return MemoryEngine(adapter, extractor=RuleExtractor(), consolidator=RuleConsolidator())
