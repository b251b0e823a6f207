"""A namespace as it was at a moment, compared with now: what came, what went, and what says something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any, Literal, TypeAlias

import pandas as pd
import streamlit as st
from mnemoscope import MemoryRecord, MnemoscopeError
from mnemoscope.core import Namespace, show_namespace, utc_now

from app.components import code, differences, states, tables
from app.session import links
from app.session.cache import kept, stamp
from app.session.scope import Scope
from app.session.session import Session
from app.text.display import one_line, timestamp
from app.views.history import filters

WHAT_KEY = "history.what"


ROW_HEIGHT, ROWS = 35, 14


What: TypeAlias = Literal["came", "went", "reworded", "relabelled", "same"]


_LABELS: dict[What, str] = {
    "came": "Came", "went": "Went", "reworded": "Reworded", "relabelled": "Relabelled", "same": "Same",
}  # fmt: skip


_NAMESPACE = "history.namespace"


_COLUMNS: dict[str, Any] = {
    "what": st.column_config.TextColumn("What", width=90),
    "then": st.column_config.TextColumn("Then", width=330),
    "now": st.column_config.TextColumn("Now", width=330),
}


@dataclass(frozen=True)
class Difference:
    """One memory then and now; None where it was not, or is not, there."""

    then: MemoryRecord | None
    now: MemoryRecord | None

    @property
    def record(self) -> MemoryRecord:
        """The memory as it was last known."""
        record = self.now or self.then
        assert record is not None
        return record

    @property
    def what(self) -> What:
        """What became of it."""
        if self.then is None or self.now is None:
            return "came" if self.then is None else "went"
        if self.then.content != self.now.content:
            return "reworded"
        return "same" if self.then.revision == self.now.revision and self.then == self.now else "relabelled"

    @property
    def is_private(self) -> bool:
        """Whether it was or is private."""
        return any(record is not None and record.private for record in (self.then, self.now))


def compare_records(then: Sequence[MemoryRecord], now: Sequence[MemoryRecord]) -> list[Difference]:
    """Every memory of either time, by what became of it and then by key."""
    before = {record.key: record for record in then}
    after = {record.key: record for record in now}
    found = [Difference(before.get(key), after.get(key)) for key in sorted(before.keys() | after.keys())]
    order = list(_LABELS)
    return sorted(found, key=lambda each: order.index(each.what))


def draw_then_and_now(working: Session, here: Scope) -> None:
    """Draw the choice of namespace and moment, and the comparison."""
    counts = working.engine.counts(here.namespace)
    offered = list(counts) if here.subtree else [here.namespace]
    if not offered:
        states.draw_empty("Nothing is remembered here yet", "Choose another namespace above.")
        return
    namespace, moment = _draw_choice(offered)
    exact = Scope(namespace, subtree=False)
    stamped = stamp(working, exact, "journal")
    try:
        with st.spinner("Reading the history …"):
            found = kept(
                "compare",
                None if stamped is None else (stamped, moment),
                lambda: compare_records(
                    working.engine.as_of(namespace, moment), working.engine.index(namespace).records
                ),
            )
    except MnemoscopeError as error:
        states.draw_failed(error)
        return
    _draw_differences(found)
    code.draw_code(code.write_python("as_of", namespace, moment))


def table_key(found: Sequence[Difference]) -> str:
    """The key of the table that shows these."""
    return tables.key_of("history.compare", [(each.record.namespace, each.record.key) for each in found])


def _draw_choice(offered: list[Namespace]) -> tuple[Namespace, datetime]:
    if st.session_state.get(_NAMESPACE) not in offered:
        st.session_state[_NAMESPACE] = offered[0]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="history-moment"):
        namespace: Namespace = st.selectbox(
            "Exactly this namespace", offered, key=_NAMESPACE, width=300,
            format_func=lambda each: one_line(show_namespace(each), 80),
        )  # fmt: skip
        yesterday = (utc_now() - timedelta(days=1)).date()
        day = st.date_input("As of (UTC)", yesterday, key="h_day", format="YYYY-MM-DD", width=150, bind="query-params")
        at = st.time_input("At", time(12), key="h_at", width=110, bind="query-params")
    return namespace, filters.moment_of(day, at or time.min)


def _draw_differences(found: list[Difference]) -> None:
    shown = [each for each in found if st.session_state.get(filters.PRIVATE_KEY) or not each.is_private]
    counts = Counter(each.what for each in shown)
    what = st.segmented_control(
        "What", list(_LABELS), default=None, key=WHAT_KEY, label_visibility="collapsed",
        format_func=lambda each: f"{_LABELS[each]} · {counts[each]:,}",
    )  # fmt: skip
    if len(shown) < len(found):
        st.caption(f":material/lock: {len(found) - len(shown):,} private hidden")
    rows = [each for each in shown if (each.what == what if what else each.what != "same")]
    if not rows:
        states.draw_empty("Nothing is different", "It was then what it is now.", icon=":material/equal:")
        return
    window = tables.draw_pager(len(rows), key="h_rows")
    page = rows[window.start : window.stop]
    event = st.dataframe(
        pd.DataFrame(
            {
                "what": [_LABELS[each.what] for each in page],
                "then": [_text(each.then) for each in page],
                "now": [_text(each.now) for each in page],
            }
        ),
        column_config=_COLUMNS,
        hide_index=True,
        key=table_key(page),
        on_select="rerun",
        selection_mode="single-cell",
        row_height=ROW_HEIGHT,
        height=min(len(page), ROWS) * ROW_HEIGHT + ROW_HEIGHT + 3,
        placeholder="",
        alt="What is different",
    )
    cells = event["selection"]["cells"]
    if cells and 0 <= cells[0][0] < len(page):
        _draw_one(page[cells[0][0]])
    else:
        st.caption("Click a row to see the difference word by word.")


def _draw_one(difference: Difference) -> None:
    record = difference.record
    with st.container(border=True, key="history-difference"):
        then, now = (each.content if each else "" for each in (difference.then, difference.now))
        differences.draw_difference(then, now, key=f"history.compared-{record.key}")
        st.caption(f"Made {timestamp(record.created_at)}, last changed {timestamp(record.changed_at)}")
        query = {"ns": list(record.namespace), **links.query_of_memory((record.namespace, record.key))}
        links.link_to("browse", "The memory in Browse", **query)


def _text(record: MemoryRecord | None) -> str:
    if record is None:
        return "(not there)"
    return one_line(record.content, tables.TEXT_LIMIT) or "(no text)"
