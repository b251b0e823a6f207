"""Why a memory was or was not returned by a recall: its place, its parts, what removed it, what would bring it in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

import numpy as np

from ..core.frozen import KeepsTuples
from ..core.namespaces import Namespace
from ..core.records import MemoryRecord
from ..core.text import one_line
from ..index.visibility import Drop
from ..journal.changes import Tombstone
from .remedies import Remedy, place_of, remedies_for
from .result import Dropped, MemoryMatch, RecallResult

__all__ = ["Explanation", "PartStanding", "Standing", "explain", "locate"]


class Standing(Enum):
    """What became of a memory in a recall."""

    RETURNED = "returned"
    DROPPED = "dropped"
    NOT_EXAMINED = "not examined"
    FORGOTTEN = "forgotten"
    MISSING = "missing"


@dataclass(frozen=True)
class PartStanding:
    """One part of a memory's score beside the same part of the last memory returned.

    `place` counts, from 1, by this part alone among all that pass every filter. `last` is None where nothing
    was returned.
    """

    name: str
    raw: float | None
    weight: float
    contribution: float
    place: int
    last: float | None

    @property
    def gap(self) -> float | None:
        """By how much it is ahead of the last one returned in this part; negative if behind."""
        return None if self.last is None else self.contribution - self.last


@dataclass(frozen=True)
class Explanation(KeepsTuples):
    """What became of one memory in one recall, in numbers and, by `sentences`, in words.

    `place` counts, from 1, by score among the `visible` memories that pass every filter; `needed` is the score
    of the last one returned. What needs the memory as a candidate is empty where it was none.
    """

    query: str
    namespace: Namespace
    key: str
    standing: Standing
    record: MemoryRecord | None = None
    drop: Drop = Drop.NONE
    detail: str = ""
    score: float | None = None
    needed: float | None = None
    place: int | None = None
    visible: int = 0
    parts: tuple[PartStanding, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    tombstone: Tombstone | None = None
    examined: int = 0
    total: int = 0
    as_of: datetime | None = None

    @property
    def sentences(self) -> list[str]:
        """The explanation in sentences, the answer first."""
        if self.standing in (Standing.RETURNED, Standing.DROPPED):
            return [*_verdict(self), *_comparison(self), *_faults(self), *_ways_in(self)]
        return [_absence(self)]


def explain(
    result: RecallResult,
    namespace: Namespace,
    key: str,
    *,
    stored: MemoryRecord | None = None,
    tombstone: Tombstone | None = None,
) -> Explanation:
    """What became of the memory at this place in this result; no store, embedding or model call.

    `stored` and `tombstone` are what the store holds for a key that was not among the candidates.
    """
    at = locate(result, namespace, key)
    if at is not None:
        return _of_candidate(result, at)
    standing = Standing.MISSING
    if stored is not None:
        standing = Standing.NOT_EXAMINED
    elif tombstone is not None:
        standing = Standing.FORGOTTEN
    return Explanation(
        result.query,
        namespace,
        key,
        standing,
        stored,
        tombstone=tombstone,
        examined=result.examined,
        total=result.total,
        as_of=result.as_of,
    )


def locate(result: RecallResult, namespace: Namespace, key: str) -> int | None:
    """The position of a memory among the candidates of a result, or None if it was none."""
    records = result.ranking.candidates.records
    return next((at for at, each in enumerate(records) if each.key == key and each.namespace == namespace), None)


def _of_candidate(result: RecallResult, at: int) -> Explanation:
    ranking = result.ranking
    match = _described(result, at)
    is_visible = ranking.candidates.withheld == Drop.NONE
    if result.min_similarity is not None:
        is_visible &= ranking.raw[0] >= result.min_similarity
    last = ranking.parts[:, ranking.order[-1]] if len(ranking.order) else None
    parts = tuple(
        PartStanding(
            part.name,
            part.raw,
            part.weight,
            part.contribution,
            place=1 + int((ranking.parts[row, is_visible] > ranking.parts[row, at]).sum()),
            last=None if last is None else float(last[row]),
        )
        for row, part in enumerate(match.parts)
    )
    return Explanation(
        query=result.query,
        namespace=match.record.namespace,
        key=match.record.key,
        standing=Standing.DROPPED if isinstance(match, Dropped) else Standing.RETURNED,
        record=match.record,
        drop=match.reason if isinstance(match, Dropped) else Drop.NONE,
        detail=match.detail if isinstance(match, Dropped) else "",
        score=match.score,
        needed=None if last is None else float(ranking.scores[ranking.order[-1]]),
        place=place_of(result, at),
        visible=int(is_visible.sum()),
        parts=parts,
        remedies=tuple(remedies_for(result, at)),
        examined=result.examined,
        total=result.total,
        as_of=result.as_of,
    )


def _described(result: RecallResult, at: int) -> MemoryMatch | Dropped:
    returned = np.flatnonzero(result.ranking.order == at)
    if len(returned):
        return result[int(returned[0])]
    return result.dropped[int(np.flatnonzero(result.ranking.dropped_order == at)[0])]


def _verdict(self: Explanation) -> Iterator[str]:
    if self.standing is Standing.RETURNED:
        yield f"It is returned, at place {self.place:,} of {self.visible:,}, with a score of {self.score:.3f}."
        return
    yield f"It is not returned: {self.detail}."
    if self.drop in (Drop.BELOW_SCORE, Drop.BEYOND_LIMIT, Drop.BEYOND_TOKENS):
        yield f"By its score it stands at place {self.place:,} of the {self.visible:,} that pass every filter."
    elif self.drop is not Drop.UNREADABLE:
        yield f"Without that it would stand at place {self.place:,} by its score of {self.score:.3f}."


def _comparison(self: Explanation) -> Iterator[str]:
    gaps = [(part.name, part.gap) for part in self.parts if part.gap is not None and abs(part.gap) >= 0.0005]
    if self.standing is Standing.RETURNED or self.needed is None or not gaps:
        return
    gains = " and ".join(f"{gap:.3f} by {name}" for name, gap in gaps if gap > 0)
    losses = " and ".join(f"{-gap:.3f} by {name}" for name, gap in gaps if gap < 0)
    told = " and ".join(filter(None, (gains and f"gains {gains}", losses and f"loses {losses}")))
    yield f"Against the last one returned (score {self.needed:.3f}) it {told}."


def _faults(self: Explanation) -> Iterator[str]:
    if self.parts and self.parts[0].raw is None:
        yield "It has no vector, so its similarity is not known and counts as nothing."
    if self.record is not None and self.record.problems:
        yield f"Not all of it could be read: {one_line('; '.join(self.record.problems))}."


def _ways_in(self: Explanation) -> Iterator[str]:
    if self.standing is Standing.RETURNED:
        return
    if self.remedies:
        best, *rest = (remedy.sentence for remedy in self.remedies)
        yield f"The smallest change that brings it in: {best}."
        if rest:
            yield f"Others: {'; '.join(rest)}."
    elif self.drop in (Drop.BELOW_SCORE, Drop.BEYOND_LIMIT, Drop.BEYOND_TOKENS, Drop.BELOW_SIMILARITY):
        yield "No change of a single weight, half-life, minimum or limit brings it in."
    else:
        yield "No weight or minimum brings it in; only another filter does."


def _absence(self: Explanation) -> str:
    if self.as_of is not None:
        return f"There was no memory with this key here on {self.as_of:%Y-%m-%d %H:%M} UTC."
    if self.standing is Standing.NOT_EXAMINED and self.examined >= self.total:
        return "It exists, but lies outside the part of the store that was searched."
    if self.standing is Standing.NOT_EXAMINED:
        return f"It exists, but the store's own search ended after {self.examined:,} of {self.total:,} memories."
    if self.tombstone is not None:
        why = f": {one_line(self.tombstone.reason)}" if self.tombstone.reason else ""
        when = f"{self.tombstone.forgotten_at:%Y-%m-%d %H:%M} UTC"
        return (
            f"It was forgotten by {one_line(self.tombstone.actor)} on {when}{why}. It can be restored from the trash."
        )
    return "There is no memory with this key here, and none was forgotten."
