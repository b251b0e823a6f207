"""What Overview counts of an index: how much there is, where, since when, and what is worth a look."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate

import numpy as np
from mnemoscope.core import Namespace
from mnemoscope.index import STATES, Filters, ScopeIndex, State, browse

BINS = 10


"""Equal parts of the range of importance."""


WEEK = timedelta(days=7)


_MOST_POINTS = 120


@dataclass(frozen=True)
class NamespaceRow:
    """One namespace: how many memories it holds, and when one last changed."""

    namespace: Namespace
    count: int
    changed_at: datetime


@dataclass(frozen=True)
class Point:
    """The memories made in the days from `day` to the next point, and all made until then."""

    day: date
    made: int
    total: int


@dataclass(frozen=True)
class Summary:
    """The numbers of one scope. `categories` counts what is not private; `importance` is by `BINS`."""

    total: int
    namespaces: list[NamespaceRow]
    growth: list[Point]
    categories: dict[str, int]
    importance: list[int]
    unknown_importance: int
    states: dict[State, int]
    made_lately: int


def summarise(index: ScopeIndex, now: datetime) -> Summary:
    """Count the memories of the index."""
    week_ago = (now - WEEK).timestamp()
    known = index.importance[~np.isnan(index.importance)]
    everything = browse(index, Filters(include_private=True), now=now).facets
    shared = browse(index, Filters(), now=now).facets
    return Summary(
        total=len(index),
        namespaces=_namespaces(index),
        growth=_growth(index, now.date()),
        categories={name: count for name, count in shared.categories.items() if count},
        importance=np.histogram(known, bins=BINS, range=(0.0, 1.0))[0].tolist(),
        unknown_importance=len(index) - len(known),
        states={state: everything.states[state] for state in STATES},
        made_lately=int((index.columns.created >= week_ago).sum()),
    )


def _namespaces(index: ScopeIndex) -> list[NamespaceRow]:
    counts = Counter(record.namespace for record in index.records)
    latest: dict[Namespace, float] = {}
    for record, changed in zip(index.records, index.changed.tolist(), strict=True):
        latest[record.namespace] = max(changed, latest.get(record.namespace, -np.inf))
    rows = [NamespaceRow(where, count, datetime.fromtimestamp(latest[where], UTC)) for where, count in counts.items()]
    return sorted(rows, key=lambda row: (-row.count, row.namespace))


def _growth(index: ScopeIndex, today: date) -> list[Point]:
    """Points from the first memory until today, in steps of days that leave at most `_MOST_POINTS`."""
    if not len(index):
        return []
    days = np.floor(index.columns.created / 86_400).astype(np.int64)
    first, last = int(days.min()), max(int(days.max()), (today - date(1970, 1, 1)).days)
    step = -(-(last - first + 1) // _MOST_POINTS)
    made = np.bincount((days - first) // step, minlength=(last - first) // step + 1).tolist()
    starts = [date(1970, 1, 1) + timedelta(days=first + step * at) for at in range(len(made))]
    return [Point(day, new, total) for day, new, total in zip(starts, made, accumulate(made), strict=True)]
