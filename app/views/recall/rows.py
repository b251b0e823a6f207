"""The rows of the Recall page: what is returned, and under it what is not and why, in one form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import streamlit as st
from mnemoscope import MemoryRecord, RecallResult, ScorePart
from mnemoscope.core import show_namespace
from mnemoscope.index import Drop
from mnemoscope.recall import locate, place_of
from mnemoscope.stores import Ref

from app.components.tables import key_of
from app.session import links
from app.text.display import age, counted, one_line
from app.views.recall import bars
from app.views.recall.sliders import CUTS

REASON_KEY = "recall.reason"


MORE_KEY = "recall.more"


_TEXT_LIMIT = 320


_DROPPED_AT_FIRST = 5


_DROPPED_MORE = 25


_REASONS: dict[Drop, str] = {
    Drop.BEYOND_LIMIT: "Beyond the limit",
    Drop.BEYOND_TOKENS: "Beyond the token budget",
    Drop.BELOW_SCORE: "Below minimum score",
    Drop.BELOW_SIMILARITY: "Below minimum similarity",
    Drop.CATEGORY: "Other category",
    Drop.FILTERED: "Filtered out",
    Drop.OUTSIDE_TIME: "Outside the time window",
    Drop.PRIVATE: "Private",
    Drop.EXPIRED: "Expired",
    Drop.UNREADABLE: "Unreadable",
}


@dataclass(frozen=True)
class Row:
    """One memory as a row: its place (None where it was never ranked), what it scored, and why it is not above."""

    record: MemoryRecord
    parts: Sequence[ScorePart]
    score: float
    place: int | None
    before: int | None = None
    detail: str = ""

    @property
    def ref(self) -> Ref:
        """Where the memory is."""
        return self.record.namespace, self.record.key


def list_returned(result: RecallResult, stored: RecallResult | None) -> list[Row]:
    """The returned memories; with `stored`, the same candidates under the stored profile, their moves too."""
    return [
        Row(match.record, match.parts, match.score, place, before=None if stored is None else place_of(stored, int(at)))
        for place, (at, match) in enumerate(zip(result.ranking.order, result, strict=True), start=1)
    ]


def list_dropped(result: RecallResult, reason: Drop | None, limit: int) -> list[Row]:
    """The best of what was not returned, for this reason or for any, near misses first; private ones count only."""
    order = result.ranking.dropped_order
    reasons = result.ranking.reasons[order]
    wanted = reasons == reason if reason is not None else reasons != Drop.PRIVATE
    is_cut = np.isin(reasons, CUTS)
    chosen = [*order[wanted & is_cut][:limit].tolist(), *order[wanted & ~is_cut][:limit].tolist()]
    return [_dropped_row(result, at, Drop(int(result.ranking.reasons[at]))) for at in chosen[:limit]]


def draw_returned(rows: Sequence[Row], *, scale: float, now: datetime, explain: Callable[[Ref], None]) -> None:
    """Draw what is returned; `explain` draws the explanation below the row that is chosen."""
    names_namespace = len({row.record.namespace for row in rows}) > 1
    for row in rows:
        _draw(row, scale=scale, needed=None, now=now, names_namespace=names_namespace, explain=explain)


def draw_dropped(result: RecallResult, *, scale: float, now: datetime, explain: Callable[[Ref], None]) -> None:
    """Draw what is not returned: counts by reason, to choose one, and the nearest misses."""
    counts = result.dropped_counts
    total = sum(counts.values())
    if not total:
        return
    st.subheader(f"Not returned: {counted(total, 'memory', 'memories')}", anchor=False)
    offered = [drop for drop in _REASONS if drop in counts and drop is not Drop.PRIVATE]
    reason = st.pills(
        "Reason",
        offered,
        key=REASON_KEY,
        format_func=lambda drop: f"{_REASONS[drop]} · {counts[drop]:,}",
        label_visibility="collapsed",
    )
    if counts.get(Drop.PRIVATE):
        hidden = counted(counts[Drop.PRIVATE], "private memory is", "private memories are")
        st.caption(f":material/lock: {hidden} not shown. Filters can show private memories.")
    more = st.session_state.get(MORE_KEY, False)
    rows = list_dropped(result, reason, _DROPPED_MORE if more else _DROPPED_AT_FIRST)
    rows = [*_chosen_row(result, rows), *rows]
    needed = float(result.ranking.scores[result.ranking.order[-1]]) if len(result) else result.min_score or None
    for row in rows:
        _draw(row, scale=scale, needed=needed, now=now, names_namespace=False, explain=explain)
    possible = counts[reason] if reason is not None else total - counts.get(Drop.PRIVATE, 0)
    if possible > len(rows):
        st.caption(f"Showing the best {len(rows)} of {possible:,}.")
    if possible > _DROPPED_AT_FIRST:
        st.toggle(f"Show up to {_DROPPED_MORE}", key=MORE_KEY)


def _chosen_row(result: RecallResult, rows: Sequence[Row]) -> list[Row]:
    """The chosen memory, where it is left out and too far down to be among these rows."""
    chosen = links.read_explained_memory()
    at = None if chosen is None else locate(result, *chosen)
    if at is None or any(row.ref == chosen for row in rows):
        return []
    drop = Drop(int(result.ranking.reasons[at]))
    if drop is Drop.PRIVATE:
        st.caption(":material/lock: The memory in this link is private. Filters can show private memories.")
        return []
    return [] if drop is Drop.NONE else [_dropped_row(result, at, drop)]


def _dropped_row(result: RecallResult, at: int, drop: Drop) -> Row:
    position = int((result.ranking.dropped_order == at).argmax())
    dropped = result.dropped[position]
    is_ranked = drop in (Drop.BEYOND_LIMIT, Drop.BEYOND_TOKENS, Drop.BELOW_SCORE)
    return Row(
        dropped.record,
        dropped.parts,
        dropped.score,
        place_of(result, at) if is_ranked else None,
        detail=dropped.detail,
    )


def _draw(
    row: Row,
    *,
    scale: float,
    needed: float | None,
    now: datetime,
    names_namespace: bool,
    explain: Callable[[Ref], None],
) -> None:
    is_chosen = links.read_explained_memory() == row.ref
    key = key_of("recall-row", [row.ref])
    if not is_chosen:
        _draw_line(row, key, is_chosen, scale=scale, needed=needed, now=now, names_namespace=names_namespace)
        return
    with st.container(border=True, key=key, gap="small"):
        _draw_line(row, None, is_chosen, scale=scale, needed=needed, now=now, names_namespace=names_namespace)
        explain(row.ref)


def _draw_line(
    row: Row,
    key: str | None,
    is_chosen: bool,
    *,
    scale: float,
    needed: float | None,
    now: datetime,
    names_namespace: bool,
) -> None:
    """Draw the row itself, in as few elements as can be: each is sent anew at every move of a slider."""
    with st.container(border=key is not None, key=key, horizontal=True, vertical_alignment="center", gap="small"):
        st.html(bars.write_move(row.place, row.before) if row.place else bars.write_note("–"), width=34)
        told = _describe_beside(row.record, names_namespace)
        with st.container(width="stretch", gap=None) if told else nullcontext():
            st.text(one_line(row.record.content, _TEXT_LIMIT) or "(no text)", width="stretch")
            if told:
                st.text(told, width="content")
        bar = bars.write_bar(row.parts, row.score, scale=scale, needed=needed)
        st.html(
            bar + bars.write_note(_describe_row(row, now)) + (bars.write_note(row.detail) if row.detail else ""),
            width=270,
        )
        st.button(
            "Close" if is_chosen else "Explain",
            key=key_of("recall.explain", [row.ref]),
            type="tertiary",
            on_click=links.explain_memory,
            args=(None if is_chosen else row.ref,),
        )


def _describe_beside(record: MemoryRecord, names_namespace: bool) -> str:
    """What is stored of it beside its text."""
    told = [one_line(", ".join(record.categories), 80)] if record.categories else []
    return " · ".join([*told, *([one_line(show_namespace(record.namespace), 60)] if names_namespace else [])])


def _describe_row(row: Row, now: datetime) -> str:
    """What can be said of it in our own words and numbers."""
    record = row.record
    importance = "–" if record.importance is None else f"{record.importance:.2f}"
    notes = [age(record.changed_at, now), f"importance {importance}"]
    notes += [word for word, applies in (("private", record.private), ("pinned", record.pinned)) if applies]
    return " · ".join([*notes, *(["no vector"] if row.parts[0].raw is None else [])])
