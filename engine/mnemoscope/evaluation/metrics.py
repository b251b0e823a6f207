"""How good a ranking is: by where the expected memories stand in it. Pure, of places alone."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.text import shown
from ..errors import InputError

__all__ = ["DEFAULT_METRICS", "METRICS", "Interval", "Places", "interval", "measure", "metric_help", "read_metric"]

DEFAULT_METRICS = ("recall@5", "recall@10", "precision@5", "mrr", "ndcg@10")
"""What is measured where nobody says what."""


METRICS: dict[str, str] = {
    "recall": "Share of the expected memories among the first k.",
    "precision": "Share of the first k that are expected.",
    "mrr": "1 over the place of the first expected memory.",
    "ndcg": "Like recall, but an earlier place counts more; 1 is the best order possible.",
    "unwanted": "Share of the unwanted memories among the first k; less is better.",
}
"""What can be measured. All but "mrr" take a depth: "recall@5", "ndcg@10"."""

RESAMPLES = 2_000
_SEED = 20_240_229
_NAME = re.compile(r"(?P<kind>[a-z]+)(?:@(?P<depth>[1-9]\d{0,3}))?")


@dataclass(frozen=True)
class Places:
    """Where a ranking has the memories of a case; places count from 1, None is not returned.

    `expected` and `unwanted` hold one place for each entry of the case.
    """

    expected: tuple[int | None, ...]
    unwanted: tuple[int | None, ...] = ()


class Interval(NamedTuple):
    """A mean, and between which bounds it lies with 95 % confidence."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


def read_metric(name: str) -> tuple[str, int]:
    """The kind and the depth of a metric's name; the depth of "mrr" is 0.

    Raises:
        InputError: there is no such metric.
    """
    found = _NAME.fullmatch(name.strip().casefold()) if isinstance(name, str) else None
    if found is None or found["kind"] not in METRICS or (found["kind"] == "mrr") == bool(found["depth"]):
        known = ", ".join(f"{kind}@k" if kind != "mrr" else kind for kind in METRICS)
        raise InputError(f"There is no metric {shown(name)}; known are {known}, with k from 1.")
    return found["kind"], int(found["depth"] or 0)


def metric_help(name: str) -> str:
    """What a metric says, in one sentence."""
    return METRICS[read_metric(name)[0]]


def measure(places: Places, name: str) -> float | None:
    """One metric of one case; None where the case says nothing about it, which is not the same as 0."""
    kind, depth = read_metric(name)
    entries = places.unwanted if kind == "unwanted" else places.expected
    if not entries:
        return None
    found = sorted(place for place in entries if place is not None)
    if kind == "mrr":
        return 1 / found[0] if found else 0.0
    within = [place for place in found if place <= depth]
    if kind == "precision":
        return len(within) / depth
    if kind == "ndcg":
        best = sum(_gain(place) for place in range(1, min(len(entries), depth) + 1))
        return sum(map(_gain, within)) / best
    return len(within) / len(entries)


def interval(values: Sequence[float | None]) -> Interval | None:
    """The mean over the cases that have a value, with its bootstrap interval; None where none has."""
    known = np.array([value for value in values if value is not None], np.float64)
    if not len(known):
        return None
    low, high = np.quantile(_resampled(known), [0.025, 0.975]).tolist()
    return Interval(float(known.mean()), low, high)


def _gain(place: int) -> float:
    return 1 / math.log2(place + 1)


def _resampled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means of as many samples as `RESAMPLES`, drawn with a fixed seed, so that a figure can be had again."""
    drawn = np.random.default_rng(_SEED)
    means = [values[drawn.integers(0, len(values), len(values))].mean() for _ in range(RESAMPLES)]
    return np.array(means)
