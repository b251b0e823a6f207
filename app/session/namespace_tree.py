"""`NamespaceTree`: the namespaces of a store with their counts, made once for each state of the store.

However many there are, what the header shows of them at every run of a page is one level.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from mnemoscope import MemoryEngine
from mnemoscope.core import Namespace

from app.session.session import Session

__all__ = ["MOST_OFFERED", "NamespaceTree", "namespace_tree", "tree_of"]

MOST_OFFERED = 500
"""Namespaces up to which all are offered at once; from there on, one level at a time."""


@dataclass(frozen=True, eq=False)
class NamespaceTree:
    """`counts` are the memories of each namespace, `totals` those at or below every prefix, and `below` what lies
    directly below one."""

    counts: Mapping[Namespace, int]
    totals: Mapping[Namespace, int]
    below: Mapping[Namespace, list[Namespace]]

    @property
    def is_large(self) -> bool:
        """Whether there are too many to be offered at once."""
        return len(self.counts) > MOST_OFFERED

    def total(self, namespace: Namespace, *, subtree: bool) -> int:
        """How many memories lie in a namespace, or also below it."""
        return (self.totals if subtree else self.counts).get(namespace, 0)

    def choices(self, at: Namespace) -> list[Namespace]:
        """What can be chosen: the whole store, every namespace, every prefix of one, and where one is, in order."""
        return sorted({(), at, *self.totals})

    def level(self, at: Namespace) -> tuple[list[Namespace], int]:
        """What can be chosen from here where there are too many: the way up, and what lies directly below.

        At most `MOST_OFFERED` of the latter; the number is how many more there are.
        """
        below = self.below.get(at, [])
        way = [at[:depth] for depth in range(len(at) + 1)]
        return [*way, *heapq.nsmallest(MOST_OFFERED, below)], max(len(below) - MOST_OFFERED, 0)


def tree_of(counts: Mapping[Namespace, int]) -> NamespaceTree:
    """The tree of these counts."""
    totals: Counter[Namespace] = Counter()
    for namespace, number in counts.items():
        for depth in range(len(namespace) + 1):
            totals[namespace[:depth]] += number
    below: defaultdict[Namespace, list[Namespace]] = defaultdict(list)
    for prefix in totals:
        if prefix:
            below[prefix[:-1]].append(prefix)
    return NamespaceTree(counts, dict(totals), dict(below))


def namespace_tree(working: Session) -> NamespaceTree:
    """The tree of the store as it is now; counted again only where something changed.

    Raises:
        StoreError: the store does not answer.
    """
    token = working.adapter.token((), subtree=True)
    before = _trees.get(working.engine)
    if before is not None and token is not None and before[0] == token:
        return before[1]
    tree = tree_of(working.engine.counts())
    _trees[working.engine] = (token, tree)
    return tree


# One for each open store, for all browser sessions together: that of a million namespaces takes half a gigabyte.
_trees: WeakKeyDictionary[MemoryEngine, tuple[Hashable | None, NamespaceTree]] = WeakKeyDictionary()
