"""What Overview counts of an index: how much there is, where, since when, and what is worth a look."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate

import numpy as np
from mnemoscope.core import Namespace
from mnemoscope.index import STATES, Filters, ScopeIndex, State, browse
from numpy.typing import NDArray

BINS = 10


"""Equal parts of the range of importance."""


WEEK = timedelta(days=7)


_MOST_POINTS = 120

# No agent remembered anything before; a clock may be ahead by a time zone, or a test's by a year and more.
_EARLIEST, _AHEAD = datetime(1990, 1, 1, tzinfo=UTC), timedelta(days=3 * 366)


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
    """The numbers of one scope. `categories` counts what is not private; `importance` is by `BINS`.

    `misdated` memories are left out of `growth`: one of the year 1 would make a needle of all the others.
    """

    total: int
    namespaces: list[NamespaceRow]
    growth: list[Point]
    misdated: int
    categories: dict[str, int]
    importance: list[int]
    unknown_importance: int
    states: dict[State, int]
    made_lately: int


def summarise(index: ScopeIndex, now: datetime) -> Summary:
    """Count the memories of the index."""
    week_ago = (now - WEEK).timestamp()
    created = index.columns.created
    dated = created[(created >= _EARLIEST.timestamp()) & (created <= (now + _AHEAD).timestamp())]
    known = index.importance[~np.isnan(index.importance)]
    everything = browse(index, Filters(include_private=True), now=now).facets
    shared = browse(index, Filters(), now=now).facets
    return Summary(
        total=len(index),
        namespaces=_namespaces(index),
        growth=_growth(dated, now.date()),
        misdated=len(created) - len(dated),
        categories={name: count for name, count in shared.categories.items() if count},
        importance=np.histogram(known, bins=BINS, range=(0.0, 1.0))[0].tolist(),
        unknown_importance=len(index) - len(known),
        states={state: everything.states[state] for state in STATES},
        made_lately=int((dated >= week_ago).sum()),
    )


def _namespaces(index: ScopeIndex) -> list[NamespaceRow]:
    counts = Counter(record.namespace for record in index.records)
    # In the order of change, so that the last of each namespace stays; as the record has it, for seconds since 1970 are
    # not exact enough at the ends of what a time can be.
    latest = {index.records[at].namespace: index.records[at].changed_at for at in np.argsort(index.changed).tolist()}
    rows = [NamespaceRow(where, count, latest[where]) for where, count in counts.items()]
    return sorted(rows, key=lambda row: (-row.count, row.namespace))


def _growth(created: NDArray[np.float64], today: date) -> list[Point]:
    """Points from the first memory until today, in steps of days that leave at most `_MOST_POINTS`."""
    if not len(created):
        return []
    days = np.floor(created / 86_400).astype(np.int64)
    first, last = int(days.min()), max(int(days.max()), (today - date(1970, 1, 1)).days)
    step = -(-(last - first + 1) // _MOST_POINTS)
    made = np.bincount((days - first) // step, minlength=(last - first) // step + 1).tolist()
    starts = [date(1970, 1, 1) + timedelta(days=first + step * at) for at in range(len(made))]
    return [Point(day, new, total) for day, new, total in zip(starts, made, accumulate(made), strict=True)]
