"""WeightSearch: a search for weights that serve the cases better, found on one half of them and judged on the other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..config import KNOBS, MemoryConfig
from ..core.progress import Watch
from ..errors import InputError
from ..recall.profiles import Profile
from .metrics import Interval, Places, interval, measure, read_metric
from .recall import Comparison, Evaluation, Judged, compare, evaluate

__all__ = ["GRID", "MIN_SCORES", "Floor", "PlateauPoint", "Trial", "WeightSearch", "floors", "halves", "search"]


GRID: dict[str, tuple[float, ...]] = {
    "lexical_weight": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8),
    "recency_weight": (0.0, 0.02, 0.05, 0.1, 0.2, 0.3),
    "importance_weight": (0.0, 0.05, 0.1, 0.2, 0.3),
    "recency_half_life_days": (7.0, 30.0, 90.0, 365.0, 1095.0),
}
"""What is tried. The weight of similarity is what the other two leave of 1."""

MIN_SCORES = tuple(round(0.05 * step, 2) for step in range(20))
"""Which minimum scores are tried, once the weights are found."""

FEWEST_CASES = 8
"""With fewer cases there are not two halves worth the name."""

# Enough for a plateau to be seen; what a call may cost is bounded, whatever the number of candidates.
_MOST_WORK = 400_000_000


@dataclass(frozen=True)
class Trial:
    """One configuration that was tried, and its mean on the half that was searched."""

    config: MemoryConfig
    mean: float


class PlateauPoint(NamedTuple):
    """The best that was reached with one value of a setting, and whether that is as good as the best of all."""

    value: float
    mean: float
    is_on_plateau: bool


@dataclass(frozen=True)
class WeightSearch:
    """What a search found.

    `chosen` is the trial nearest to the present configuration among all that are as good as the best, as far as
    the cases can tell: within one standard error. `plateau` are those. Its minimum score is then one step below the
    greatest that loses nothing; `floors` are the trials of each. `judged` compares "present" and "found" on the cases
    that were held out, and that comparison alone says whether there is a gain. `skipped` combinations were left out
    to bound the work.
    """

    metric: str
    searched: int
    held_out: int
    trials: tuple[Trial, ...]
    best: Trial
    chosen: Trial
    plateau: tuple[Trial, ...]
    present: Interval | None
    found: Interval | None
    judged: Comparison
    floors: tuple[Trial, ...] = ()
    skipped: int = 0

    def curve(self, setting: str) -> list[PlateauPoint]:
        """For each value of a setting that was tried, the best that was reached with it.

        Minimum scores were tried with the chosen weights alone.
        """
        if setting == "min_score":
            best_floor = max(trial.mean for trial in self.floors)
            return [PlateauPoint(each.config.min_score, each.mean, each.mean >= best_floor) for each in self.floors]
        least = min(trial.mean for trial in self.plateau)
        best: dict[float, float] = {}
        for trial in self.trials:
            value = float(getattr(trial.config, setting))
            best[value] = max(best.get(value, -math.inf), trial.mean)
        return [PlateauPoint(value, mean, mean >= least) for value, mean in sorted(best.items())]


class Floor(NamedTuple):
    """A least score: what share of the expected it keeps, and what share of all that is returned it lets through."""

    min_score: float
    kept: float
    returned: float


def halves(judged: Sequence[Judged]) -> tuple[list[Judged], list[Judged]]:
    """The cases in two halves, the same ones whenever the cases are the same, whatever their order."""
    ordered = sorted(judged, key=lambda each: each.case.id)
    return ordered[::2], ordered[1::2]


def search(
    judged: Sequence[Judged],
    present: MemoryConfig,
    *,
    metric: str = "ndcg@10",
    watch: Watch | None = None,
) -> WeightSearch:
    """Try the grid on one half of the cases, and judge what is found on the other.

    Raises:
        CancelledWorkError: the watch says so.
        InputError: there are fewer than `FEWEST_CASES` cases that expect something, or no such metric.
    """
    if read_metric(metric)[0] == "unwanted":
        raise InputError("A search needs a metric that is better when it is greater, such as ndcg@10.")
    useful = [each for each in judged if each.case.expected]
    if len(useful) < FEWEST_CASES:
        raise InputError(
            f"A search needs at least {FEWEST_CASES} cases that expect something, to judge it on cases it has not "
            f"seen; there are {len(useful)}. Add cases."
        )
    searched, held_out = halves(useful)
    configs = _combinations(present)
    tried = _affordable(configs, searched)
    trials, values, watching = [], [], watch or Watch()
    for number, config in enumerate(tried, start=1):
        values.append([measure(each.places(config), metric) or 0.0 for each in searched])
        trials.append(Trial(config, float(np.mean(values[-1]))))
        watching.at(number / len(tried))
    best = max(range(len(trials)), key=lambda at: trials[at].mean)
    plateau = [trial for trial, each in zip(trials, values, strict=True) if _is_as_good(each, values[best])]
    nearest = min(plateau, key=lambda trial: (_distance(trial.config, present), -trial.mean))
    tried_floors, chosen = _with_minimum(searched, nearest.config, metric)
    evaluation = _judge(held_out, present, chosen.config, metric)
    return WeightSearch(
        metric=metric,
        searched=len(searched),
        held_out=len(held_out),
        trials=tuple(trials),
        best=trials[best],
        chosen=chosen,
        plateau=tuple(plateau),
        present=interval(evaluation.values["present"][metric]),
        found=interval(evaluation.values["found"][metric]),
        judged=compare(evaluation, "present", "found", metric),
        floors=tuple(tried_floors),
        skipped=len(configs) - len(tried),
    )


def floors(judged: Sequence[Judged], config: MemoryConfig, *, limit: int = 10) -> list[Floor]:
    """What each least score, from 0 in steps of .05, keeps of the expected memories and of all among the first `limit`.

    The share that is kept is of what the first `limit` hold without any.
    """
    kept, found = [], []
    for least in MIN_SCORES:
        cut = replace(config, min_score=least)
        kept.append(sum(_within(each.places(cut), limit) for each in judged))
        found.append(Floor(least, kept[-1] / max(kept[0], 1), _returned(judged, cut, limit)))
    return found


def _within(places: Places, limit: int) -> int:
    return sum(place is not None and place <= limit for place in places.expected)


def _returned(judged: Sequence[Judged], config: MemoryConfig, limit: int) -> float:
    shares = []
    for each in judged:
        most = min(limit, len(each.candidates))
        shares.append(min(each.reaching(config), limit) / most if most else 0.0)
    return float(np.mean(shares)) if shares else 0.0


def _with_minimum(judged: Sequence[Judged], config: MemoryConfig, metric: str) -> tuple[list[Trial], Trial]:
    """A trial of every minimum score, and the one step below the greatest that loses nothing."""
    trials = []
    for least in MIN_SCORES:
        cut = replace(config, min_score=least)
        values = [measure(each.places(cut), metric) or 0.0 for each in judged]
        trials.append(Trial(cut, float(np.mean(values))))
    lossless = [at for at, trial in enumerate(trials) if trial.mean >= trials[0].mean - 1e-12]
    # The cases that were not seen are not quite the same.
    return trials, trials[max(lossless[-1] - 1, 0)]


def _combinations(present: MemoryConfig) -> list[MemoryConfig]:
    """The present configuration, and every combination of the grid; a half-life matters only where recency does."""
    found = [present]
    for lexical, recency, importance, half_life in itertools.product(*GRID.values()):
        if recency or half_life == GRID["recency_half_life_days"][0]:
            found.append(
                replace(
                    present,
                    semantic_weight=round(1 - recency - importance, 6),
                    lexical_weight=lexical,
                    recency_weight=recency,
                    importance_weight=importance,
                    recency_half_life_days=half_life if recency else present.recency_half_life_days,
                    min_score=0.0,
                )
            )
    return list(dict.fromkeys(found))


def _affordable(configs: Sequence[MemoryConfig], judged: Sequence[Judged]) -> list[MemoryConfig]:
    work = sum(len(each.candidates) + 2_000 for each in judged)
    most = max(_MOST_WORK // work, 20)
    if len(configs) <= most:
        return list(configs)
    drawn = np.random.default_rng(len(configs)).permutation(len(configs) - 1)[: most - 1] + 1
    return [configs[0], *(configs[at] for at in sorted(drawn.tolist()))]


def _is_as_good(values: Sequence[float], best: Sequence[float]) -> bool:
    """Whether the mean falls short of the best by no more than the standard error of their difference."""
    short = np.array(best) - np.array(values)
    error = float(short.std(ddof=1)) / math.sqrt(len(short)) if len(short) > 1 else 0.0
    return bool(short.mean() <= error + 1e-12)


def _distance(one: MemoryConfig, other: MemoryConfig) -> float:
    weights: float = sum(abs(getattr(one, name) - getattr(other, name)) for name in _SHARES)
    if not one.recency_weight or not other.recency_weight:
        return weights
    return weights + 0.1 * abs(math.log2(one.recency_half_life_days / other.recency_half_life_days))


_SHARES = tuple(name for name in GRID if KNOBS[name].high == 1.0)


def _judge(held_out: Sequence[Judged], present: MemoryConfig, found: MemoryConfig, metric: str) -> Evaluation:
    return evaluate(held_out, [Profile("present", present), Profile("found", found)], [metric])
