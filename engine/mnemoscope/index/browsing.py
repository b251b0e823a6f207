"""One page of an index for people to read: searched, filtered, sorted, cut and counted, without the store.

Everything is looked at, private and unreadable memories too, as an operator sees them; recall goes by
`mnemoscope.visibility`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from ..core.records import MemoryRecord
from ..core.text import normalise
from ..errors import InputError
from .scope import ScopeIndex

__all__ = ["SORTS", "STATES", "Browsed", "Facets", "Filters", "Sort", "State", "browse"]


Sort: TypeAlias = Literal["changed", "created", "importance", "content"]
SORTS: tuple[Sort, ...] = get_args(Sort)

State: TypeAlias = Literal["private", "pinned", "expired", "unvectored", "malformed", "unreadable"]
STATES: tuple[State, ...] = get_args(State)
"""What can be said of a memory beside its content: `unvectored` has text but no usable vector, `malformed` has
fields that could not be read, `unreadable` has no text at all."""

Mask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Filters:
    """Which memories to show; all that is given must hold.

    Every word of `text` must occur, whatever its case, or it is the memory's key. `categories`, `sources` (None
    stands for no source) and `states` match any of their own; empty means that they do not matter. A memory
    whose importance is unknown is shown only while `importance` is the whole range. `since` and `until` bound
    the last change of the content.
    """

    text: str = ""
    categories: Collection[str] = ()
    sources: Collection[str | None] = ()
    states: Collection[State] = ()
    importance: tuple[float, float] = (0.0, 1.0)
    since: datetime | None = None
    until: datetime | None = None
    include_private: bool = False


@dataclass(frozen=True)
class Facets:
    """How many memories each choice would show under the other filters, the most frequent first."""

    categories: dict[str, int] = field(default_factory=dict)
    sources: dict[str | None, int] = field(default_factory=dict)
    states: dict[State, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Browsed:
    """What the filters leave, in order; `total` counts all that may be shown, `hidden` the private ones that may not.

    `positions` are those in the index's records.
    """

    index: ScopeIndex
    positions: NDArray[np.int64]
    total: int
    hidden: int
    facets: Facets

    def __len__(self) -> int:
        return len(self.positions)

    def page(self, offset: int = 0, limit: int | None = 100) -> list[MemoryRecord]:
        """The memories from `offset`, at most `limit`; None for all.

        Raises:
            InputError: one of them is negative.
        """
        if offset < 0 or (limit is not None and limit < 0):
            raise InputError(f"offset and limit must be whole numbers from 0, got {offset!r} and {limit!r}.")
        stop = None if limit is None else offset + limit
        return [self.index.records[at] for at in self.positions[offset:stop].tolist()]


def browse(
    index: ScopeIndex,
    filters: Filters,
    *,
    now: datetime,
    sort: str = "changed",
    descending: bool = True,
    also: Mapping[str, NDArray[np.float64]] | None = None,
) -> Browsed:
    """The memories that the filters leave of the index, sorted, to be read page by page.

    Args:
        index: the scope to look at.
        filters: which memories to show.
        now: what "expired" is measured against.
        sort: one of `SORTS`, or a name in `also`. Unknown values come last either way; ties are broken by the
            latest change, then by namespace and key.
        descending: greatest first.
        also: further columns to sort by, such as similarities; NaN where unknown.

    Raises:
        InputError: there is no such column.
    """
    masks = _masks(index, filters, now)
    visible = np.ones(len(index), np.bool_) if filters.include_private else ~index.private
    matching = np.flatnonzero(_all(masks, visible))
    return Browsed(
        index=index,
        positions=_ordered(index, matching, _column(index, sort, also or {}), descending),
        total=int(visible.sum()),
        hidden=len(index) - int(visible.sum()),
        facets=_facets(index, masks, visible, now),
    )


def _masks(index: ScopeIndex, filters: Filters, now: datetime) -> dict[str, Mask]:
    """What each filter that is set lets through, by the filter's name."""
    masks: dict[str, Mask] = {}
    if filters.text.strip():
        masks["text"] = _with_words(index, filters.text)
    if filters.categories:
        masks["categories"] = index.columns.categories.having(filters.categories, len(index))
    if filters.sources:
        masks["sources"] = index.columns.sources.having(filters.sources, len(index))
    if filters.states:
        masks["states"] = np.logical_or.reduce([_in_state(index, state, now) for state in filters.states])
    if tuple(filters.importance) != (0.0, 1.0):
        masks["importance"] = _between(index.importance, *filters.importance)
    if filters.since or filters.until:
        earliest = filters.since.timestamp() if filters.since else -np.inf
        latest = filters.until.timestamp() if filters.until else np.inf
        masks["changed"] = _between(index.changed, earliest, latest)
    return masks


def _all(masks: Mapping[str, Mask], visible: Mask, *, but: str = "") -> Mask:
    kept = visible.copy()
    for name, mask in masks.items():
        if name != but:
            kept &= mask
    return kept


def _with_words(index: ScopeIndex, text: str) -> Mask:
    found = np.ones(len(index), np.bool_)
    for word in normalise(text).split():
        found &= np.fromiter((word in folded for folded in index.columns.folded), np.bool_, len(index))
    key = text.strip()
    return found | np.fromiter((record.key == key for record in index.records), np.bool_, len(index))


def _between(values: NDArray[np.float64], least: float, most: float) -> Mask:
    inside: Mask = (values >= least) & (values <= most)
    return inside


def _in_state(index: ScopeIndex, state: State, now: datetime) -> Mask:
    masks: dict[State, Callable[[], Mask]] = {
        "private": lambda: index.private,
        "pinned": lambda: index.columns.pinned,
        "expired": lambda: index.expires <= now.timestamp(),
        "unvectored": lambda: ~index.vectored & ~index.unreadable,
        "malformed": lambda: index.columns.malformed,
        "unreadable": lambda: index.unreadable,
    }
    return masks[state]()


def _facets(index: ScopeIndex, masks: Mapping[str, Mask], visible: Mask, now: datetime) -> Facets:
    beside_states = _all(masks, visible, but="states")
    categories = index.columns.categories.counted(_all(masks, visible, but="categories"))
    return Facets(
        categories={name: count for name, count in categories.items() if name is not None},
        sources=index.columns.sources.counted(_all(masks, visible, but="sources")),
        states={state: int((beside_states & _in_state(index, state, now)).sum()) for state in STATES},
    )


def _column(index: ScopeIndex, sort: str, also: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    columns: dict[str, Callable[[], NDArray[np.float64]]] = {
        "changed": lambda: index.changed,
        "created": lambda: index.columns.created,
        "importance": lambda: index.importance,
        "content": lambda: index.columns.content_rank.astype(np.float64),
    }
    if sort in also:
        return also[sort]
    if sort not in columns:
        raise InputError(f"Memories can be sorted by {', '.join([*columns, *also])}; got {sort!r}.")
    return columns[sort]()


def _ordered(
    index: ScopeIndex, positions: NDArray[np.int64], column: NDArray[np.float64], descending: bool
) -> NDArray[np.int64]:
    values = column[positions]
    primary = np.where(np.isnan(values), np.inf, -values if descending else values)
    order = np.lexsort((index.columns.place_rank[positions], -index.changed[positions], primary))
    ordered: NDArray[np.int64] = positions[order]
    return ordered
