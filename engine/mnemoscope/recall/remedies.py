"""The smallest change of one setting that brings a memory into a recall's result, checked by ranking again.

A score is linear in each weight, so every point at which a rival falls behind has a closed form; against the
half-life two scores cross at most twice, and each crossing is found by bisection. Walking the crossings in
order gives the nearest value at which fewer than `limit` rivals are ahead.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..config import KNOBS, MemoryConfig
from ..index.visibility import Drop
from .ranking import Candidates, rank
from .result import RecallResult
from .scoring import SECONDS_PER_DAY
from .token_budget import prompt_line, tokens_of

__all__ = ["Remedy", "place_of", "remedies_for"]


_WEIGHTS = ("semantic_weight", "recency_weight", "importance_weight")

# Rounding may leave two scores equal where they cross, so a crossing is passed by the least that shows.
_NUDGES = (0.0, 1e-12, 1e-10, 1e-8, 1e-6)
_TRIED_STRETCHES = 8


@dataclass(frozen=True)
class Remedy:
    """A value of one setting with which the memory is returned; any smaller change does not do it.

    `setting` is a field of `MemoryConfig`, "limit" or "max_tokens". `after` is None where
    the setting must be dropped; `readable` is a value of few digits, a little beyond `after`, that does it
    too. `effort` compares changes of different settings: 1 is the whole range of a weight, ten doublings of
    the half-life, or ten times the limit.
    """

    setting: str
    before: float | None
    after: float | None
    readable: float | None
    effort: float

    @property
    def sentence(self) -> str:
        """The change in words: "raise recency_weight from 0.3 to 0.42"."""
        if self.after is None or self.before is None or self.readable is None:
            return f"drop {self.setting}"
        verb = "raise" if self.after > self.before else "lower"
        return f"{verb} {self.setting} from {_short(self.before)} to {_short(self.readable)}"


@dataclass(frozen=True, eq=False)
class _Case:
    """A memory that is not returned, and the rivals it is ranked with; `ahead` are those before it now."""

    result: RecallResult
    at: int
    rivals: NDArray[np.int64]
    ahead: NDArray[np.bool_]
    lead: NDArray[np.float64]

    @property
    def candidates(self) -> Candidates:
        return self.result.ranking.candidates

    @property
    def config(self) -> MemoryConfig:
        return self.result.ranking.config

    @property
    def score(self) -> float:
        return float(self.result.ranking.scores[self.at])


@dataclass(frozen=True, eq=False)
class _Walk:
    """What happens on the way from the present value: at each distance a rival falls behind or comes ahead.

    The score of the memory itself reaches the minimum between `floor` and `ceiling`.
    """

    distances: NDArray[np.float64]
    deltas: NDArray[np.int64]
    floor: float = 0.0
    ceiling: float = math.inf

    def openings(self, ahead: int, limit: int) -> Iterator[float]:
        """Where stretches with fewer than `limit` ahead begin, nearest first."""
        order = np.argsort(self.distances, kind="stable")
        starts = np.concatenate([[0.0], self.distances[order]])
        ends = np.concatenate([self.distances[order], [np.inf]])
        counts = ahead + np.concatenate([[0], np.cumsum(self.deltas[order])])
        begins = np.maximum(starts, self.floor)
        is_open = (counts < limit) & (ends > starts) & (begins <= np.minimum(ends, self.ceiling))
        yield from begins[is_open].tolist()


def place_of(result: RecallResult, at: int) -> int:
    """The place, from 1, of the candidate at this position by score, among all that pass every filter.

    A candidate that was filtered out has the place it would have if it alone were let through.
    """
    return 1 + int(_case(result, at).ahead.sum())


def remedies_for(result: RecallResult, at: int) -> list[Remedy]:
    """Changes of one setting each that bring the candidate at this position in, the least effort first.

    Empty where it is returned, and where a filter withholds it: no number of these could change that.
    """
    is_returned = result.ranking.reasons[at] == Drop.NONE
    if is_returned or result.ranking.candidates.withheld[at] != Drop.NONE:
        return []
    case = _case(result, at)
    found = [*_of_thresholds(case), *_of_weights(case), *_of_lexical(case), *_of_half_life(case)]
    return sorted(found, key=lambda remedy: remedy.effort)


def _case(result: RecallResult, at: int) -> _Case:
    ranking, candidates = result.ranking, result.ranking.candidates
    is_rival = candidates.withheld == Drop.NONE
    if result.min_similarity is not None:
        is_rival &= ranking.raw[0] >= result.min_similarity
    is_rival[at] = False
    rivals = np.flatnonzero(is_rival)
    lead = ranking.scores[rivals] - ranking.scores[at]
    ahead = lead > 0
    for tied in np.flatnonzero(lead == 0).tolist():
        ahead[tied] = _tie_key(candidates, int(rivals[tied])) < _tie_key(candidates, at)
    return _Case(result, at, rivals, ahead, lead)


def _tie_key(candidates: Candidates, at: int) -> tuple[float, tuple[str, ...], str]:
    record = candidates.records[at]
    return float(candidates.age_seconds[at]), record.namespace, record.key


def _of_thresholds(case: _Case) -> Iterator[Remedy]:
    result, similarity = case.result, float(case.result.ranking.raw[0, case.at])
    if case.score < result.min_score:
        yield from _checked(case, "min_score", result.min_score, [case.score], result.min_score - case.score)
    if result.min_similarity is not None and not similarity >= result.min_similarity:
        known = None if math.isnan(similarity) else similarity
        effort = 1.0 if known is None else result.min_similarity - known
        yield from _checked(case, "min_similarity", result.min_similarity, [known], effort)
    place = 1 + int(case.ahead.sum())
    if place > result.limit:
        yield from _checked(case, "limit", result.limit, [place], (place - result.limit) / max(1, 9 * result.limit))
    elif result.max_tokens is not None and result.ranking.reasons[case.at] == Drop.BEYOND_TOKENS:
        needed = _tokens_needed(case, result.max_tokens)
        effort = (needed - result.max_tokens) / max(1, 9 * result.max_tokens)
        yield from _checked(case, "max_tokens", result.max_tokens, [needed], effort)


def _tokens_needed(case: _Case, max_tokens: int) -> int:
    """The least budget above this one into which the memory fits after those ahead of it that fit."""
    scores, records = case.result.ranking.scores, case.candidates.records
    ahead = sorted(case.rivals[case.ahead].tolist(), key=lambda at: (-scores[at], *_tie_key(case.candidates, at)))
    costs = [tokens_of(prompt_line(records[at], float(scores[at])) + "\n") for at in (*ahead, case.at)]
    budgets = np.arange(max_tokens + 1, sum(costs) + 1)
    left = budgets.copy()
    for cost in costs[:-1]:
        left -= np.where(left >= cost, cost, 0)
    return int(budgets[np.argmax(left >= costs[-1])])


def _of_weights(case: _Case) -> Iterator[Remedy]:
    raw = np.nan_to_num(case.result.ranking.raw, nan=0.0)
    for row, setting in enumerate(_WEIGHTS):
        others = sum(getattr(case.config, name) for name in _WEIGHTS if name != setting)
        yield from _of_linear(case, setting, raw[row], low=0.0 if others else 1e-9)


def _of_lexical(case: _Case) -> Iterator[Remedy]:
    lexical, config = case.candidates.lexical, case.config
    # A minimum similarity would let rivals in and out along the way, and at 0 the similarity changes its kind.
    if lexical is None or not config.lexical_weight or case.result.min_similarity is not None:
        return
    cosine = np.maximum(np.nan_to_num(case.candidates.cosine, nan=0.0), 0.0)
    yield from _of_linear(case, "lexical_weight", config.semantic_weight * (lexical - cosine), low=1e-9)


def _of_linear(case: _Case, setting: str, slopes: NDArray[np.float64], *, low: float) -> Iterator[Remedy]:
    """The remedy by a setting in which every score is linear, with these slopes."""
    before = float(getattr(case.config, setting))
    ways: list[tuple[float, float]] = []
    for sign, room in ((1.0, KNOBS[setting].high - before), (-1.0, before - low)):
        walk = _linear_walk(case, sign * slopes)
        ways += [(step, before + sign * step) for step in _passable(case, walk, setting, before, sign, room)]
    for step, value in sorted(ways)[:1]:
        yield Remedy(setting, before, value, _readable(case, setting, before, value), step)


def _linear_walk(case: _Case, slopes: NDArray[np.float64]) -> _Walk:
    gains = slopes[case.rivals] - slopes[case.at]
    crosses = (case.ahead & (gains < 0)) | (~case.ahead & (gains > 0))
    distances = -case.lead[crosses] / gains[crosses]
    deltas = np.where(case.ahead[crosses], -1, 1)
    missing, slope = case.result.min_score - case.score, float(slopes[case.at])
    if slope > 0:
        return _Walk(distances, deltas, floor=max(0.0, missing / slope))
    if slope < 0:
        return _Walk(distances, deltas, ceiling=missing / slope)
    return _Walk(distances, deltas, ceiling=math.inf if missing <= 0 else -1.0)


def _of_half_life(case: _Case) -> Iterator[Remedy]:
    """The remedy by the half-life, walked in its logarithm."""
    setting, config = "recency_half_life_days", case.config
    if not config.recency_weight:
        return
    before = math.log(config.recency_half_life_days)
    knob, ways = KNOBS[setting], list[tuple[float, float]]()
    for sign, end in ((1.0, math.log(knob.high)), (-1.0, math.log(knob.low))):
        walk = _half_life_walk(case, before, end)
        room = abs(end - before)
        steps = _passable(case, walk, setting, before, sign, room, value_of=math.exp)
        ways += [(step, math.exp(before + sign * step)) for step in steps]
    for step, value in sorted(ways)[:1]:
        shown = _readable(case, setting, config.recency_half_life_days, value)
        yield Remedy(setting, config.recency_half_life_days, value, shown, step / math.log(2) / 10)


def _half_life_walk(case: _Case, begin: float, end: float) -> _Walk:
    days = np.maximum(case.candidates.age_seconds, 0.0) / SECONDS_PER_DAY
    own, others, weight = float(days[case.at]), days[case.rivals], case.config.recency_weight
    parts = case.result.ranking.parts
    fixed = parts[0] + parts[2]
    lead = fixed[case.rivals] - fixed[case.at]

    def leads(logs: NDArray[np.float64], which: NDArray[np.int64]) -> NDArray[np.bool_]:
        lives = np.exp(logs)
        ahead = lead[which] + weight * (np.power(0.5, others[which] / lives) - np.power(0.5, own / lives)) > 0
        return np.asarray(ahead, np.bool_)

    # Between two ages the difference of the decays has one extreme, so each side of it holds one crossing.
    every, far = np.arange(len(others)), np.full(len(others), end)
    turn = np.clip(_extremes(others, own, end), min(begin, end), max(begin, end))
    halfway = leads(turn, every)
    distances, deltas = list[NDArray[np.float64]](), list[NDArray[np.int64]]()
    for left, right, was, now in (
        (np.full(len(others), begin), turn, case.ahead, halfway),
        (turn, far, halfway, leads(far, every)),
    ):
        crosses = np.flatnonzero(was != now)
        crossing = _bisect(functools.partial(leads, which=crosses), left[crosses], right[crosses], was[crosses])
        distances.append(np.abs(crossing - begin))
        deltas.append(np.where(was[crosses], -1, 1))
    floor, ceiling = _half_life_bounds(case, own, float(fixed[case.at]), begin, end)
    return _Walk(np.concatenate(distances), np.concatenate(deltas), floor, ceiling)


def _extremes(others: NDArray[np.float64], own: float, default: float) -> NDArray[np.float64]:
    """Logarithms of the half-lives at which the decays of two ages differ most; `default` where they never turn."""
    found = np.full(len(others), default)
    turns = (others > 0) & (own > 0) & (others != own)
    ages = others[turns]
    if len(ages):
        found[turns] = np.log((ages - own) * math.log(2) / np.log(ages / own))
    return found


def _bisect(
    leads: Callable[[NDArray[np.float64]], NDArray[np.bool_]],
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    was: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Where each rival stops being as it `was` on the left."""
    for _halving in range(52):
        middle = (left + right) / 2
        same = leads(middle) == was
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    return right


def _half_life_bounds(case: _Case, own: float, fixed: float, begin: float, end: float) -> tuple[float, float]:
    needed = (case.result.min_score - fixed) / case.config.recency_weight
    if needed <= 0 or (own == 0 and needed <= 1):
        return 0.0, math.inf
    if needed >= 1 or own == 0:
        return 0.0, -1.0
    least = math.log(own / -math.log2(needed))
    return (max(0.0, least - begin), math.inf) if end > begin else (0.0, begin - least)


def _passable(
    case: _Case,
    walk: _Walk,
    setting: str,
    begin: float,
    sign: float,
    room: float,
    *,
    value_of: Callable[[float], float] = float,
) -> list[float]:
    """The nearest distance at which ranking again really returns the memory, if there is one within `room`."""
    for tried, opening in enumerate(walk.openings(int(case.ahead.sum()), case.result.limit)):
        if tried == _TRIED_STRETCHES:
            break
        for nudge in _NUDGES:
            step = opening + nudge
            if step <= room and _admits(case, setting, value_of(begin + sign * step)):
                return [step]
    return []


def _checked(
    case: _Case, setting: str, before: float, values: Iterable[float | None], effort: float
) -> Iterator[Remedy]:
    for value in values:
        if _admits(case, setting, value):
            yield Remedy(setting, before, value, _readable(case, setting, before, value), effort)


def _readable(case: _Case, setting: str, before: float, value: float | None) -> float | None:
    if value is None or isinstance(value, int):
        return value
    outward = math.ceil if value > before else math.floor
    least = max(0, 1 - math.floor(math.log10(abs(value)))) if setting == "recency_half_life_days" else 2
    for places in range(least, least + 5):
        rounded: float = outward(value * 10**places) / 10**places
        if rounded != before and _admits(case, setting, rounded):
            return rounded
    return value


def _admits(case: _Case, setting: str, value: float | None) -> bool:
    """Whether ranking again with this value returns the memory."""
    result, config = case.result, case.config
    terms: dict[str, Any] = {
        "limit": result.limit,
        "min_score": result.min_score,
        "min_similarity": result.min_similarity,
        "max_tokens": result.max_tokens,
    }
    if setting in terms:
        terms[setting] = value
    elif value is not None and KNOBS[setting].low <= value <= KNOBS[setting].high:
        changed: dict[str, Any] = {setting: value}
        config = replace(config, **changed)
    else:
        return False
    ranking = rank(case.candidates, config, **terms)
    return case.at in ranking.order


def _short(value: float) -> str:
    return f"{value:.6g}"
