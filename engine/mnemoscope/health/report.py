"""The health of what a store holds: each thing that can be wrong, how often it is, and what to do about it.

Everything is looked at through the engine, so it is what recall sees; nothing is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from ..core.namespaces import show_namespace
from ..core.payloads import KIND
from ..core.records import MemoryRecord
from ..engine.facade import MemoryEngine
from ..errors import MnemoscopeError
from ..index.scope import ScopeIndex
from .contents import check_identity, check_itself
from .leaks import check_leaks
from .leftovers import check_expired_rows, check_orphans, check_phantoms
from .lookalikes import check_lookalikes
from .sampling import check_vectors
from .steps import Check

__all__ = ["LARGEST", "Kinds", "health_checks", "kinds_of"]


LARGEST = 200_000
"""Memories of a store that are read at once to be looked at; in a larger one only counts are checked."""

_AHEAD = timedelta(minutes=5)
_NAMED = 3


@dataclass(frozen=True)
class Kinds:
    """How many items there are of each kind, by who wrote them."""

    ours: int = 0
    langmem_tool: int = 0
    langmem_manager: int = 0
    other: int = 0
    unreadable: int = 0


def kinds_of(index: ScopeIndex) -> Kinds:
    """Count the items of a scope by kind."""
    return Kinds(**Counter(_kind(record) for record in index.records))


def health_checks(engine: MemoryEngine, now: datetime) -> Iterator[Check]:
    """Look at everything, one check after another; a check that fails says so and the others go on."""
    total = sum(engine.counts().values())
    if total > LARGEST:
        yield Check("Contents", "skipped", f"{total:,} memories are more than the {LARGEST:,} that are read at once")
    looks: list[tuple[str, Callable[[], Check]]] = [
        ("Embedder identity", lambda: check_identity(engine)),
        ("Self-check", lambda: check_itself(engine)),
        ("Look-alike labels", lambda: check_lookalikes(engine.counts())),
        ("Leaks", lambda: check_leaks(engine)),
        ("Orphan vectors", lambda: check_orphans(engine)),
        ("Past their time-to-live", lambda: check_expired_rows(engine)),
        ("Phantom namespaces", lambda: check_phantoms(engine)),
    ]
    if total <= LARGEST:
        looks += _content_looks(engine, now)
    for name, look in looks:
        try:
            yield look()
        except MnemoscopeError as error:
            yield Check(name, "bad", f"could not be checked: {error}")


def _content_looks(engine: MemoryEngine, now: datetime) -> list[tuple[str, Callable[[], Check]]]:
    def whole() -> ScopeIndex:
        return engine.index((), subtree=True)

    return [
        ("Vectors by this embedder", lambda: check_vectors(engine, whole())),
        ("Without a vector", lambda: _check_unvectored(engine, whole())),
        ("Quarantined", lambda: _check_quarantined(whole())),
        ("Expired", lambda: _check_expired(whole(), now)),
        ("Dated ahead", lambda: _check_ahead(whole(), now)),
    ]


def _kind(record: MemoryRecord) -> str:
    if not record.content.strip():
        return "unreadable"
    if record.kind == KIND:
        return "ours"
    if record.kind:
        return "langmem_manager"
    return "other" if record.extra or record.categories or record.metadata else "langmem_tool"


def _check_unvectored(engine: MemoryEngine, index: ScopeIndex) -> Check:
    if not engine.adapter.abilities.reads_vectors:
        return Check("Without a vector", "skipped", "the vectors of this store cannot be read")
    without = [record for at, record in enumerate(index.records) if record.content and not index.vectored[at]]
    if index.misfits:
        remedy = "Name the embedder that made the vectors; or go over to this one, which makes every vector anew."
        number = sum(index.misfits.values())
        said = f"{number:,} of the vectors are of another dimension"
        return Check("Without a vector", "bad", said, remedy, "mnemoscope reembed")
    if not without:
        return Check("Without a vector", "good", "every memory with a text has one")
    remedy = (
        "No search by meaning finds them; words, recency and importance still rank them. "
        "Accept them in Curate, worklist 'Not to be found by meaning', and they are embedded."
    )
    return Check("Without a vector", "warning", f"{_number(without)}: {_examples(without)}", remedy)


def _check_quarantined(index: ScopeIndex) -> Check:
    malformed = [record for record in index.records if record.problems]
    if not malformed:
        return Check("Quarantined", "good", "every item could be read as it should")
    reasons = Counter(_reason(problem) for record in malformed for problem in record.problems)
    listed = "; ".join(f"{count:,} × {reason}" for reason, count in reasons.most_common(6))
    remedy = "They are shown and ranked on what is known of them. Correct them in Browse, state 'malformed'."
    return Check("Quarantined", "warning", f"{_number(malformed)}: {listed}. {_examples(malformed)}", remedy)


def _check_expired(index: ScopeIndex, now: datetime) -> Check:
    expired = [index.records[at] for at in np.flatnonzero(index.expires <= now.timestamp()).tolist()]
    if not expired:
        return Check("Expired", "good", "none has passed its expires_at")
    remedy = "They are never recalled. Forget them in Browse, state 'expired'."
    return Check("Expired", "warning", f"{_number(expired)} but still there: {_examples(expired)}", remedy)


def _check_ahead(index: ScopeIndex, now: datetime) -> Check:
    ahead = [record for record in index.records if record.changed_at > now + _AHEAD]
    if not ahead:
        return Check("Dated ahead", "good", "no memory is dated after now")
    remedy = "A clock was wrong where they were written: let that machine follow a time server. They count as new."
    return Check("Dated ahead", "warning", f"{_number(ahead)}: {_examples(ahead)}", remedy)


def _number(records: list[MemoryRecord]) -> str:
    return f"{len(records):,} {'memory' if len(records) == 1 else 'memories'}"


def _examples(records: list[MemoryRecord]) -> str:
    named = ", ".join(f"{show_namespace(record.namespace)} · {record.key[:60]}" for record in records[:_NAMED])
    return named if len(records) <= _NAMED else f"{named}, …"


def _reason(problem: str) -> str:
    return problem.partition(":")[0]
