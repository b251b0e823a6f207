"""The leak check: searches that are really run, each looked through for what belongs to somebody else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..core.namespaces import Namespace, is_reserved, show_namespace
from ..core.records import MemoryRecord
from ..engine.facade import MemoryEngine
from .steps import Check

__all__ = ["Leak", "check_leaks", "find_leaks"]


MOST_NAMESPACES = 12
"""How many namespaces are tried: the first and the last in order, and those next to each other."""

_LARGEST_NAMESPACE = 20_000
_LONGEST_QUERY = 10_000
_LIMIT = 50


@dataclass(frozen=True)
class Leak:
    """A search in one namespace that brought something it must not: a memory of another, or a private one."""

    asked: Namespace
    found: MemoryRecord

    def __str__(self) -> str:
        where = show_namespace(self.found.namespace)
        what = "a private memory" if self.found.namespace == self.asked else "a memory"
        return f"a search in {show_namespace(self.asked)} brings {what} of {where} · {self.found.key[:60]}"


def check_leaks(engine: MemoryEngine) -> Check:
    """Search every tried namespace for the texts of the next, and for private ones on nobody's behalf."""
    spaces = _tried(engine)
    if not spaces:
        return Check("Leaks", "skipped", "there is no memory to look for")
    searches = 0
    leaks: list[Leak] = []
    for number, found in find_leaks(engine, spaces):
        searches, leaks = searches + number, leaks + found
    tried = (
        f"{searches} {'search' if searches == 1 else 'searches'} in {len(spaces)} of {len(engine.counts())} namespaces"
    )
    if leaks:
        shown = "; ".join(map(str, leaks[:3]))
        remedy = "Do not let agents search this store until that is understood: is its search by prefix, not by label?"
        return Check("Leaks", "bad", f"{tried}: {len(leaks)} leaks. {shown}", remedy)
    return Check("Leaks", "good", f"{tried}: nothing of another namespace, and nothing private")


def find_leaks(engine: MemoryEngine, spaces: list[Namespace]) -> Iterator[tuple[int, list[Leak]]]:
    """For each namespace: how many searches were run in it, and what leaked."""
    for at, space in enumerate(spaces):
        other = spaces[(at + 1) % len(spaces)]
        queries = [*_texts(engine, other, private=False), *_texts(engine, space, private=True)]
        leaks = [leak for query in queries for leak in _leaks(engine, space, query)]
        yield len(queries), leaks


def _leaks(engine: MemoryEngine, space: Namespace, query: str) -> Iterable[Leak]:
    recalled = [match.record for match in engine.recall(query, space, limit=_LIMIT, touch=False)]
    hits = engine.adapter.search(space, query, _LIMIT)
    yield from (Leak(space, record) for record in recalled if record.namespace != space or record.private)
    yield from (
        Leak(space, MemoryRecord.from_item(hit.item))
        for hit in hits
        if hit.item.namespace != space or is_reserved(hit.item.namespace)
    )


def _texts(engine: MemoryEngine, space: Namespace, *, private: bool) -> list[str]:
    records = engine.index(space).records
    fitting = (
        record.content
        for record in records
        if record.private == private and record.content.strip() and len(record.content) <= _LONGEST_QUERY
    )
    return [text for text, _ in zip(fitting, range(2), strict=False)]


def _tried(engine: MemoryEngine) -> list[Namespace]:
    counts = engine.counts()
    fitting = sorted(space for space, count in counts.items() if count <= _LARGEST_NAMESPACE)
    half = MOST_NAMESPACES // 2
    return fitting if len(fitting) <= MOST_NAMESPACES else [*fitting[:half], *fitting[-half:]]
