"""Calibration: from which similarity on new facts should be judged, learned from pairs that an operator labelled."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.namespaces import Namespace
from ..core.progress import Watch
from ..core.records import MemoryRecord
from ..core.text import shown
from ..core.times import Clock, to_iso, utc_now
from ..core.validation import check_kind
from ..errors import InputError
from ..index.pairs import similar_pairs
from ..index.scope import ScopeIndex
from ..journal.changes import Edit, book
from ..journal.shelves import shelf_edits
from ..stores.base import Ref, StoreAdapter

__all__ = ["LABELS", "LabelBook", "Pair", "ThresholdPoint", "sample_pairs", "suggested", "threshold_curve"]


LABELS: dict[str, str] = {
    "duplicate": "Both say the same.",
    "changed": "One corrects or outdates the other.",
    "different": "They say different things.",
}
"""What a pair of memories can be. The first two are for the judge; a threshold is to find them."""

LOWEST = 0.3
"""Pairs that are less similar are not offered: hardly any of them is for the judge."""

_BIN = 0.05
_SEED = 7


@dataclass(frozen=True)
class Pair:
    """Two memories of one namespace, how similar they are, and how many pairs of the store stand behind this one."""

    one: MemoryRecord
    other: MemoryRecord
    similarity: float
    weight: float = 1.0

    @property
    def id(self) -> str:
        """What tells it from other pairs: both places and both texts, so that a label ends with its texts."""
        both = [[list(each.namespace), each.key, each.content] for each in (self.one, self.other)]
        return hashlib.blake2b(json.dumps(sorted(both)).encode(), digest_size=10).hexdigest()

    @property
    def refs(self) -> tuple[Ref, Ref]:
        """Where the two are."""
        return (self.one.namespace, self.one.key), (self.other.namespace, self.other.key)


class ThresholdPoint(NamedTuple):
    """A threshold: what share of the pairs for the judge it finds, and what share of all it finds is for the judge.

    `found` is about how many pairs of the store it lets through. A share is None where there is nothing to count.
    """

    threshold: float
    recall: float | None
    precision: float | None
    found: float


def sample_pairs(index: ScopeIndex, *, each: int = 8, lowest: float = LOWEST) -> list[Pair]:
    """Pairs of all degrees of similarity, the most similar first: at most `each` from every step of .05.

    Pairs of one step stand for all of it, by their weight; so a few labels speak for the whole store.
    """
    seen = ~index.unreadable & ~index.private
    spheres = {namespace: at for at, namespace in enumerate(sorted({record.namespace for record in index.records}))}
    sphere = np.fromiter((spheres[record.namespace] for record in index.records), np.int64, len(index))
    pairs = similar_pairs(index, sphere, seen, lowest, watch=Watch())
    steps = np.minimum((pairs.similarity / _BIN).astype(np.int64), round(1 / _BIN) - 1)
    chosen = _from_each(steps, each)
    counts = dict(zip(*(part.tolist() for part in np.unique(steps, return_counts=True)), strict=True))
    taken = dict(zip(*(part.tolist() for part in np.unique(steps[chosen], return_counts=True)), strict=True))
    return [
        Pair(
            index.records[int(pairs.one[at])],
            index.records[int(pairs.other[at])],
            float(pairs.similarity[at]),
            counts[int(steps[at])] / taken[int(steps[at])],
        )
        for at in chosen.tolist()
    ]


def threshold_curve(pairs: Sequence[Pair], labels: Mapping[str, str]) -> list[ThresholdPoint]:
    """What every threshold finds, by the pairs that have a label; empty where none has."""
    known = [(pair, labels[pair.id] != "different") for pair in pairs if pair.id in labels]
    if not known:
        return []
    similarity = np.array([pair.similarity for pair, _ in known])
    weight = _reweighted(pairs, [pair for pair, _ in known])
    is_wanted = np.array([wanted for _, wanted in known])
    all_wanted = float(weight[is_wanted].sum())
    points = []
    for step in range(round(LOWEST / 0.01), 101):
        passes = similarity >= step / 100 - 1e-9
        found, right = float(weight[passes].sum()), float(weight[passes & is_wanted].sum())
        recall = right / all_wanted if all_wanted else None
        points.append(ThresholdPoint(step / 100, recall, right / found if found else None, found))
    return points


def suggested(curve: Sequence[ThresholdPoint], *, least_recall: float = 0.95) -> ThresholdPoint | None:
    """The greatest threshold that still finds this share of the pairs for the judge; None where no label says."""
    good = [point for point in curve if point.recall is not None and point.recall >= least_recall]
    return max(good, key=lambda point: point.threshold, default=None)


class LabelBook:
    """The labels of pairs, kept in a store under our own root, without the texts of the memories."""

    def __init__(self, adapter: StoreAdapter, clock: Clock = utc_now) -> None:
        self._adapter = adapter
        self._clock = clock

    def all(self, namespace: Namespace = (), *, subtree: bool = True) -> dict[str, str]:
        """The label of every pair by its id."""
        items = self._adapter.load(book("labels", namespace), subtree=subtree).items
        read = ((item.key, item.value) for item in items if isinstance(item.value, Mapping))
        return {key: value["label"] for key, value in read if value.get("label") in LABELS}

    def saving(self, pair: Pair, label: str, *, reason: str = "") -> list[Edit]:
        """The edits that keep the label of a pair in the place of an earlier one.

        Raises:
            InputError: there is no such label.
        """
        check_kind("pair", pair, Pair)
        if not isinstance(label, str) or label not in LABELS:
            raise InputError(f"There is no label {shown(label)}; known are {', '.join(LABELS)}.")
        value: dict[str, Any] = {"kind": "label", "label": label, "saved_at": to_iso(self._clock())}
        value |= {"memories": [[list(namespace), key] for namespace, key in pair.refs]}
        return shelf_edits(self._adapter, [((book("labels", pair.one.namespace), pair.id), value)], reason=reason)


def _from_each(steps: NDArray[np.int64], each: int) -> NDArray[np.int64]:
    drawn = np.random.default_rng(_SEED)
    chosen: list[int] = []
    for step in sorted(set(steps.tolist()), reverse=True):
        members = np.flatnonzero(steps == step)
        taken = members if len(members) <= each else np.sort(drawn.choice(members, each, replace=False))
        chosen += taken.tolist()
    return np.array(chosen, np.int64)


def _reweighted(pairs: Sequence[Pair], known: Sequence[Pair]) -> NDArray[np.float64]:
    """For each known pair, how many of the store it stands for: all of its step, shared with the known of that step."""
    whole: defaultdict[int, float] = defaultdict(float)
    for pair in pairs:
        whole[_step(pair)] += pair.weight
    count = Counter(map(_step, known))
    return np.array([whole[_step(pair)] / count[_step(pair)] for pair in known])


def _step(pair: Pair) -> int:
    return min(int(pair.similarity / _BIN), round(1 / _BIN) - 1)
