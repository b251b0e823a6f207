"""Near-duplicates: clusters of memories that say the same, each with a proposed merge."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from ..core.records import MemoryRecord
from ..extraction.rules.consolidator import compare_statements
from .findings import Finding, Proposal, found
from .survey import Survey

__all__ = ["duplicates", "say_the_same"]


_NUMBER = re.compile(r"\d+")


def duplicates(survey: Survey) -> list[Finding]:
    """Clusters of memories of one sphere that say the same, the largest first.

    Similar vectors alone do not make a duplicate: memories that name other numbers, or of which one corrects
    the other, stay apart. Every member is that similar to the one which is to be kept, not just to a neighbour.
    """
    forest = _Forest()
    for one, other in _equal_texts(survey):
        forest.join(one, other)
    for one, other, _ in survey.pairs.above(survey.criteria.duplicate_similarity):
        if forest.root(one) != forest.root(other) and say_the_same(survey, one, other):
            forest.join(one, other)
    survey.watch.at(0.9)
    stars = (star for cluster in forest.clusters() for star in _stars(survey, cluster))
    return sorted((_finding(survey, star) for star in stars), key=lambda each: (-each.weight, each.refs))


def say_the_same(survey: Survey, one: int, other: int) -> bool:
    """Whether two similar memories name the same numbers and neither corrects the other."""
    mine, theirs = survey.records[one].content, survey.records[other].content
    if sorted(_NUMBER.findall(mine)) != sorted(_NUMBER.findall(theirs)):
        return False
    folded = survey.index.columns.folded
    if folded[one] == folded[other]:
        return True
    return compare_statements(survey.statement(one), survey.statement(other)).relation != "correction"


class _Forest:
    """Which memories belong together: a union-find over positions."""

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}

    def root(self, at: int) -> int:
        path = []
        while (parent := self._parent.get(at, at)) != at:
            path.append(at)
            at = parent
        for each in path:
            self._parent[each] = at
        return at

    def join(self, one: int, other: int) -> None:
        first, second = sorted((self.root(one), self.root(other)))
        self._parent[second] = first
        self._parent.setdefault(first, first)

    def clusters(self) -> Iterator[list[int]]:
        members = defaultdict(list)
        for at in sorted(self._parent):
            members[self.root(at)].append(at)
        yield from members.values()


def _equal_texts(survey: Survey) -> Iterator[tuple[int, int]]:
    first: dict[tuple[int, str], int] = {}
    folded = survey.index.columns.folded
    for at in np.flatnonzero(survey.is_open).tolist():
        before = first.setdefault((int(survey.sphere[at]), folded[at]), at)
        if before != at:
            yield before, at


def _stars(survey: Survey, cluster: Iterable[int]) -> Iterator[list[tuple[int, float]]]:
    """The cluster cut up so that each part is similar to its first member, with the similarities."""
    left = sorted(cluster, key=lambda at: _worth(survey.records[at]), reverse=True)
    while len(left) > 1:
        centre = left[0]
        similarities = _similarities(survey, centre, left)
        near = [
            similarity >= survey.criteria.duplicate_similarity - 1e-6 and say_the_same(survey, centre, at)
            for at, similarity in zip(left, similarities, strict=True)
        ]
        star = [(at, each) for at, each, is_near in zip(left, similarities, near, strict=True) if is_near]
        if len(star) > 1:
            yield star
        left = [at for at, is_near in zip(left, near, strict=True) if not is_near and at != centre]


def _similarities(survey: Survey, centre: int, members: list[int]) -> list[float]:
    folded, index = survey.index.columns.folded, survey.index
    bounds = np.searchsorted(index.owner, [centre, centre + 1])
    mine = index.matrix[bounds[0] : bounds[1]]
    found = []
    for at in members:
        start, end = np.searchsorted(index.owner, [at, at + 1])
        if folded[at] == folded[centre]:
            found.append(1.0)
        else:
            found.append(float((mine @ index.matrix[start:end].T).max(initial=-1.0)))
    return found


def _worth(record: MemoryRecord) -> tuple[object, ...]:
    """What is kept of a cluster: the pinned, the fullest, the best founded, the latest; a total order."""
    return record.pinned, len(record.content.split()), len(record.evidence), record.changed_at, record.key


def _finding(survey: Survey, star: list[tuple[int, float]]) -> Finding:
    records = [survey.records[at] for at, _ in star]
    kept, refs = records[0], tuple((record.namespace, record.key) for record in records)
    least = min(similarity for _, similarity in star[1:])
    same = "the same" if least == 1.0 else f"nearly the same (similarity {least:.2f} and more)"
    return found(
        "duplicates",
        records,
        f"{len(records)} memories say {same}.",
        Proposal("merge", refs, keep=refs[0], content=kept.content),
        weight=len(records) + least,
    )
