"""Evaluation: how well profiles bring back what the cases expect.

Candidates are gathered once a case; every profile then ranks them with no store, embedding or model call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..config import MemoryConfig
from ..context import Context
from ..core.execution import run
from ..core.namespaces import Scope
from ..core.records import MemoryRecord
from ..core.text import normalise
from ..embedding.encode import embed_query
from ..errors import InputError
from ..index.visibility import Drop, Visibility
from ..recall.cases import Case
from ..recall.pipeline import read_request, recall
from ..recall.profiles import Profile
from ..recall.ranking import Candidates
from ..recall.result import gather
from ..recall.scoring import contributions
from .metrics import DEFAULT_METRICS, Interval, Places, interval, measure

__all__ = ["CaseChange", "Comparison", "Evaluation", "Judged", "collect", "compare", "evaluate"]


_SEARCHED = 200
_WORDS = 0.5


@dataclass(frozen=True, eq=False)
class Judged:
    """A case with the candidates of its query that may be seen, ready to be ranked by any profile.

    `expected[i]` and `unwanted[i]` are the positions of the memories that the entry names; none where there is
    none such. `tie` is what orders candidates of equal score. `exact` says whether all memories are candidates.
    """

    case: Case
    candidates: Candidates
    tie: NDArray[np.int64]
    expected: tuple[NDArray[np.int64], ...]
    unwanted: tuple[NDArray[np.int64], ...]

    @property
    def missing(self) -> list[str]:
        """Entries of `expected` that name no memory which may be seen; they count as not recalled."""
        return [entry for entry, found in zip(self.case.expected, self.expected, strict=True) if not len(found)]

    def places(self, config: MemoryConfig) -> Places:
        """Where the memories of the case stand by the full ranking of `recall`, which is not cut by a limit."""
        scores = self._scores(config)
        expected = tuple(self._place(scores, found, config.min_score) for found in self.expected)
        return Places(expected, tuple(self._place(scores, found, config.min_score) for found in self.unwanted))

    def reaching(self, config: MemoryConfig) -> int:
        """How many candidates reach the minimums of this configuration."""
        return int(np.count_nonzero(self._scores(config) >= config.min_score))

    def _scores(self, config: MemoryConfig) -> NDArray[np.float64]:
        raw = self.candidates.raw(config)
        scores: NDArray[np.float64] = contributions(raw[0], raw[1], raw[2], config).sum(axis=0)
        if config.min_similarity:
            scores[~(raw[0] >= config.min_similarity)] = -np.inf
        return scores

    def _place(self, scores: NDArray[np.float64], found: NDArray[np.int64], min_score: float) -> int | None:
        if not len(found):
            return None
        at = found[np.lexsort((self.tie[found], -scores[found]))[0]]
        if scores[at] < min_score:
            return None
        ahead = (scores > scores[at]) | ((scores == scores[at]) & (self.tie < self.tie[at]))
        return 1 + int(np.count_nonzero(ahead))


@dataclass(frozen=True)
class Evaluation:
    """The metrics of every profile, one value a case, in the order of `cases`; None where a case says nothing."""

    cases: tuple[Case, ...]
    values: Mapping[str, Mapping[str, tuple[float | None, ...]]]

    def summary(self, profile: str) -> dict[str, Interval | None]:
        """The mean and interval of each metric of one profile."""
        return {name: interval(values) for name, values in self.values[profile].items()}


class CaseChange(NamedTuple):
    """What a case has by the one profile and by the other."""

    case: Case
    one: float
    other: float


@dataclass(frozen=True)
class Comparison:
    """Case by case, how much the other profile does better than the one; the largest changes first."""

    wins: tuple[CaseChange, ...]
    losses: tuple[CaseChange, ...]
    ties: int
    difference: Interval | None


def collect(
    context: Context,
    cases: Sequence[Case],
    *,
    source: str | None = None,
    include_private: bool = False,
    now: datetime | None = None,
) -> list[Judged]:
    """The cases with their candidates: one embedding a distinct query, and one look at each namespace.

    Raises:
        StoreError: the store failed.
        EmbeddingError: the embedder failed, or is not the one whose vectors the store holds.
    """
    context.embedders.require()
    moment = now or context.now()
    # With words among the candidates, profiles that weigh them can be compared with those that do not.
    config = replace(context.config, lexical_weight=context.config.lexical_weight or _WORDS)
    visibility = Visibility(source, include_private)
    if context.adapter.abilities.reads_vectors and context.adapter.embeddings is not None:
        return _from_indexes(context, cases, visibility, config, moment)
    return [_from_search(context, each, source, include_private, config) for each in cases]


def evaluate(
    judged: Sequence[Judged], profiles: Sequence[Profile], metrics: Sequence[str] = DEFAULT_METRICS
) -> Evaluation:
    """Every metric of every profile on every case; no store, embedding or model call.

    Raises:
        InputError: there is no such metric, or two profiles have one name.
    """
    if len({profile.name for profile in profiles}) < len(profiles):
        raise InputError("Two of the profiles have the same name; rename one.")
    values = {}
    for profile in profiles:
        places = [each.places(profile.config) for each in judged]
        values[profile.name] = {name: tuple(measure(each, name) for each in places) for name in metrics}
    return Evaluation(tuple(each.case for each in judged), values)


def compare(evaluation: Evaluation, one: str, other: str, metric: str) -> Comparison:
    """How the profile `other` does against `one` by a metric, case by case."""
    pairs = zip(evaluation.cases, evaluation.values[one][metric], evaluation.values[other][metric], strict=True)
    known = [CaseChange(each, mine, theirs) for each, mine, theirs in pairs if mine is not None and theirs is not None]
    sign = -1 if metric.startswith("unwanted") else 1
    ordered = sorted(known, key=lambda each: abs(each.other - each.one), reverse=True)
    wins = tuple(each for each in ordered if sign * (each.other - each.one) > 0)
    losses = tuple(each for each in ordered if sign * (each.other - each.one) < 0)
    difference = interval([each.other - each.one for each in known])
    return Comparison(wins, losses, len(known) - len(wins) - len(losses), difference)


def _from_indexes(
    context: Context, cases: Sequence[Case], visibility: Visibility, config: MemoryConfig, now: datetime
) -> list[Judged]:
    vectors = {query: run(embed_query(context.adapter, query)) for query in {each.query for each in cases}}
    indexes = {namespace: context.index(Scope(namespace)) for namespace in {each.namespace for each in cases}}
    found = []
    for each in cases:
        index = indexes[each.namespace]
        candidates = gather(index, vectors[each.query], each.query, visibility, config, now)
        found.append(_judged(each, candidates, index.columns.place_rank, index.columns.folded))
    return found


def _from_search(
    context: Context, case: Case, source: str | None, include_private: bool, config: MemoryConfig
) -> Judged:
    asked = read_request(
        case.query,
        case.namespace,
        config,
        limit=_SEARCHED,
        source=source,
        include_private=include_private,
        touch=False,
    )
    result = run(recall(context, asked))
    records = result.ranking.candidates.records
    by_place = sorted(range(len(records)), key=lambda at: (records[at].namespace, records[at].key))
    place_rank = np.empty(len(records), np.int64)
    place_rank[by_place] = np.arange(len(records))
    return _judged(case, result.ranking.candidates, place_rank, [normalise(record.content) for record in records])


def _judged(case: Case, candidates: Candidates, place_rank: NDArray[np.int64], folded: Sequence[str]) -> Judged:
    seen = np.flatnonzero(candidates.withheld == Drop.NONE)
    records = [candidates.records[at] for at in seen.tolist()]
    texts = [folded[at] for at in seen.tolist()] if _names_texts(case, records) else None
    ages = candidates.age_seconds[seen]
    tie = np.empty(len(seen), np.int64)
    tie[np.lexsort((place_rank[seen], ages))] = np.arange(len(seen))
    visible = replace(
        candidates,
        records=records,
        cosine=candidates.cosine[seen],
        lexical=None if candidates.lexical is None else candidates.lexical[seen],
        age_seconds=ages,
        importance=candidates.importance[seen],
        withheld=candidates.withheld[seen],
    )
    expected = tuple(_named(entry, records, texts) for entry in case.expected)
    return Judged(case, visible, tie, expected, tuple(_named(entry, records, texts) for entry in case.unwanted))


def _names_texts(case: Case, records: Sequence[MemoryRecord]) -> bool:
    keys = {record.key for record in records}
    return any(entry not in keys for entry in (*case.expected, *case.unwanted))


def _named(entry: str, records: Sequence[MemoryRecord], texts: Sequence[str] | None) -> NDArray[np.int64]:
    """The positions of the memories that have this key, or else this text."""
    found = [at for at, record in enumerate(records) if record.key == entry]
    if not found and texts is not None:
        wanted = normalise(entry)
        found = [at for at, text in enumerate(texts) if text == wanted]
    return np.array(found, np.int64)
