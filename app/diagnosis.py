"""What `mnemoscope doctor` looks at: the store, the embedder and the model, each really used once."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from mnemoscope.embedding import BundledEmbeddings
from mnemoscope.errors import MnemoscopeError, StoreUnavailableError
from mnemoscope.extraction import LLMExtractor
from mnemoscope.namespaces import is_reserved
from mnemoscope.stores.sqlite import SqliteAdapter
from mnemoscope.stores.sqlite_file import open_sqlite

from app.display import counted, safe
from app.settings import VARIABLES, Settings

__all__ = ["Finding", "examine"]


@dataclass(frozen=True)
class Finding:
    """One thing looked at: what was seen, whether it is good, and otherwise what to do."""

    subject: str
    is_good: bool
    report: str
    remedy: str = ""


def examine(settings: Settings) -> list[Finding]:
    """Look at everything these settings name; nothing is written."""
    return [
        _found("Embedder", _examine_embedder, settings, "Install it: pip install 'mnemoscope[embedder]'"),
        _found("Store", _examine_store, settings, f"Name another file with --store or ${VARIABLES['store'].name}."),
        _found("Model", _examine_model, settings, "Check its name, its package and the key in the environment."),
    ]


def _found(subject: str, look: Callable[[Settings], str], settings: Settings, remedy: str) -> Finding:
    try:
        return Finding(subject, is_good=True, report=look(settings))
    except MnemoscopeError as error:
        return Finding(subject, is_good=False, report=safe(str(error)), remedy=remedy)


def _examine_embedder(_settings: Settings) -> str:
    started = time.perf_counter()
    vector = BundledEmbeddings().embed_query("Ana lives in Lisbon.")
    return f"the bundled MiniLM, {len(vector)} dimensions, first text in {time.perf_counter() - started:.1f} s"


def _examine_store(settings: Settings) -> str:
    path = Path(settings.store)
    if not path.exists():
        return f"{path} is not there yet; {_who_makes(path)}"
    store = open_sqlite(path, embeddings=BundledEmbeddings(), read_only=True)
    with closing(store.conn):
        counts = SqliteAdapter(store).counts()
    numbers = [number for namespace, number in counts.items() if not is_reserved(namespace)]
    memories = counted(sum(numbers), "memory", "memories")
    return f"{path}, {memories} in {counted(len(numbers), 'namespace')}"


def _who_makes(path: Path) -> str:
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if not os.access(folder, os.W_OK):
        raise StoreUnavailableError(f"{path} is not there, and {folder} does not let you make it.")
    return "the first memory makes it"


def _examine_model(settings: Settings) -> str:
    if settings.model is None:
        return f"none, so rules extract facts; name one with --model or ${VARIABLES['model'].name}"
    started = time.perf_counter()
    LLMExtractor(settings.model)("I live in Lisbon.")
    return f"{settings.model} answered in {time.perf_counter() - started:.1f} s"
