"""Opening what the settings name: the store, its embedder, and the engine over both."""

from __future__ import annotations

from pathlib import Path

from langgraph.store.sqlite import SqliteStore
from mnemoscope import PRESETS, MemoryEngine, RuleConsolidator, RuleExtractor
from mnemoscope.embedding import BundledEmbeddings
from mnemoscope.errors import StoreUnavailableError
from mnemoscope.stores.sqlite_file import open_sqlite

__all__ = ["close_engine", "connection_name", "open_engine"]


def connection_name(store: str) -> str:
    """The name under which the dashboard shows a store: no folder, no secret."""
    return Path(store).name


def open_engine(store: str, model: str | None) -> MemoryEngine:
    """The engine over the SQLite file, which is made if it is not there.

    Without a model, the rule extractor and the rule consolidator stand in.

    Raises:
        StoreUnavailableError: the file cannot be opened or made.
    """
    _make_folder(Path(store).parent)
    opened = open_sqlite(store, embeddings=BundledEmbeddings())
    if model:
        return MemoryEngine(opened, model)
    return MemoryEngine(opened, extractor=RuleExtractor(), consolidator=RuleConsolidator(), config=PRESETS["rules"])


def close_engine(engine: MemoryEngine) -> None:
    """Close what `open_engine` opened."""
    engine.close()
    if isinstance(engine.store, SqliteStore):
        engine.store.conn.close()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailableError(f"The folder {folder} cannot be made: {error}. Name another file.") from error
