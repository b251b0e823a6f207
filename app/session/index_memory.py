"""What the indexes of all open connections hold in memory, of what they may: shown, and said where it is too little."""

from __future__ import annotations

import threading
from collections import Counter
from weakref import WeakKeyDictionary

from mnemoscope import MemoryEngine
from mnemoscope.health import Check
from mnemoscope.index import IndexMemory, process_budget

from app.session.settings import INDEX_MEMORY, Settings
from app.text.display import megabytes

_OPENED: WeakKeyDictionary[MemoryEngine, str] = WeakKeyDictionary()


_LOCK = threading.Lock()


def limit(settings: Settings) -> None:
    """Let the indexes of this process take what the settings allow."""
    process_budget().limit_bytes = settings.index_bytes


def count_indexes(engine: MemoryEngine, connection: str) -> MemoryEngine:
    """Count the indexes of this engine as those of the connection, for as long as the engine lives."""
    with _LOCK:
        _OPENED[engine] = connection
    return engine


def measure_by_connection() -> dict[str, int]:
    """How many bytes the indexes of each connection take, the largest first."""
    with _LOCK:
        engines = list(_OPENED.items())
    taken: Counter[str] = Counter()
    for engine, name in engines:
        taken[name] += engine.context.indexes.nbytes
    return dict(taken.most_common())


def list_warnings(memory: IndexMemory) -> tuple[str, ...]:
    """What the header says where indexes have too little room; Health says the rest."""
    return ("Too little memory for the indexes: pages wait while they are built again",) if memory.is_short else ()


def check(memory: IndexMemory) -> Check:
    """Whether the indexes of a connection have room."""
    used = f"{megabytes(memory.own)} for this connection, {megabytes(memory.used)} in all, of {megabytes(memory.limit)}"
    if not memory.is_short:
        return Check("Index memory", "good", used)
    if memory.largest > memory.limit:
        report = (
            f"{used}: one index alone takes {megabytes(memory.largest)}. It is kept for as long as no other is "
            "wanted, and read from the store again after that."
        )
    else:
        report = (
            f"{used}: indexes that were dropped to make room for others had to be built again {memory.rebuilt:,} times."
        )
    needed = max(memory.largest * 1.5, memory.limit * 2.0) / 1e6
    remedy = (
        f"Start the dashboard with {INDEX_MEMORY}={needed:.0f} (megabytes), if the machine has that much; or choose a "
        "namespace instead of the whole store, or let the connection show fewer (namespaces = […])."
    )
    return Check("Index memory", "warning", report, remedy)
