"""The parts of Overview, each a card: numbers, charts, namespaces, and what changed lately."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st
from mnemoscope import Change
from mnemoscope.core import show_namespace
from mnemoscope.index import State

from app.components import tables
from app.session import navigation
from app.session.scope import Scope
from app.text.display import one_line
from app.views.browse import opened as browse_opened
from app.views.browse.filters import STATES
from app.views.overview import charts
from app.views.overview.summary import NamespaceRow, Summary

__all__ = [
    "CHANGES_KEY",
    "NAMESPACES_KEY",
    "draw_changes",
    "draw_charts",
    "draw_links",
    "draw_metrics",
    "draw_namespaces",
]

NAMESPACES_KEY, CHANGES_KEY = "overview.namespaces", "overview.changes"
ROWS, ROW_HEIGHT = 8, 35

_HELP = {
    "Categories": "Those of memories that are not private.",
    "Need a look": "Without a vector, or with fields that could not be read.",
}
_LINKS: dict[State, tuple[str, str]] = {
    "private": ("private", ":material/lock:"),
    "pinned": ("pinned", ":material/keep:"),
    "expired": ("expired", ":material/timer_off:"),
    "unvectored": ("without a vector", ":material/blur_off:"),
    "malformed": ("with fields that cannot be read", ":material/warning:"),
    "unreadable": ("without any text", ":material/format_clear:"),
}
_LABELS = {state: label for label, state in STATES.items()}


def draw_metrics(summary: Summary) -> None:
    """The numbers at a glance."""
    numbers = {
        "Memories": summary.total,
        "New this week": summary.made_lately,
        "Namespaces": len(summary.namespaces),
        "Categories": len(summary.categories),
        "Private": summary.states["private"],
        "Need a look": summary.states["unvectored"] + summary.states["malformed"],
    }
    grid = st.grid(6, min_column_width=130, gap="small", key="overview-metrics")
    for label, number in numbers.items():
        grid.metric(label, f"{number:,}", border=True, height="stretch", help=_HELP.get(label))


def draw_charts(summary: Summary) -> None:
    """Growth, categories and importance."""
    with st.grid("auto", min_column_width=300, gap="small", key="overview-charts"):
        with st.container(border=True, height="stretch"):
            st.markdown("**Growth**  \n:gray[:small[Today's memories by the day they were made]]")
            st.plotly_chart(charts.growth(summary.growth), config=charts.CONFIG, alt="Growth over time")
        with st.container(border=True, height="stretch"):
            _draw_categories(summary)
        with st.container(border=True, height="stretch"):
            unknown = f", {summary.unknown_importance:,} without any" if summary.unknown_importance else ""
            st.markdown(f"**Importance**  \n:gray[:small[Memories by their weight{unknown}]]")
            st.plotly_chart(charts.importance(summary.importance), config=charts.CONFIG, alt="Importance")


def draw_namespaces(rows: Sequence[NamespaceRow]) -> None:
    """The namespaces of the scope; a click on one opens it in Browse."""
    with st.container(border=True, height="stretch"):
        st.markdown("**Namespaces**  \n:gray[:small[Click one to browse it]]")
        most = max((row.count for row in rows), default=1)
        event = st.dataframe(
            pd.DataFrame(
                {
                    "namespace": [one_line(show_namespace(row.namespace), 80) for row in rows],
                    "count": [row.count for row in rows],
                    "changed": pd.to_datetime([row.changed_at for row in rows], utc=True),
                }
            ),
            column_config={
                "namespace": st.column_config.TextColumn("Namespace"),
                "count": st.column_config.ProgressColumn(
                    "Memories", min_value=0, max_value=most, format="%d", width=115
                ),
                "changed": st.column_config.DatetimeColumn("Changed", format="distance", timezone="UTC", width=110),
            },
            hide_index=True,
            key=tables.key_of(NAMESPACES_KEY, [(row.namespace, "") for row in rows]),
            on_select="rerun",
            selection_mode="single-cell",
            row_height=ROW_HEIGHT,
            height=ROW_HEIGHT * (min(len(rows), ROWS) + 1) + 3,
            alt="Namespaces",
        )
    at = _clicked(event, len(rows))
    if at is not None:
        st.switch_page(navigation.path_of("browse"), query_params=Scope(rows[at].namespace, subtree=False).to_query())


def draw_changes(changes: Sequence[Change], scope: Scope) -> None:
    """The latest changes; a click on one opens its memory in Browse."""
    with st.container(border=True, height="stretch"):
        st.markdown("**Changed lately**  \n:gray[:small[Click a change to open its memory]]")
        if not changes:
            st.caption("Nothing has changed through Mnemoscope yet.")
            return
        event = st.dataframe(
            _frame_of(changes),
            column_config={
                "when": st.column_config.DatetimeColumn("When", format="distance", timezone="UTC", width=110),
                "what": st.column_config.TextColumn("What", width=75),
                "text": st.column_config.TextColumn("Memory"),
                "who": st.column_config.TextColumn("Who", width=90),
            },
            hide_index=True,
            key=tables.key_of(CHANGES_KEY, [(change.namespace, change.id) for change in changes]),
            on_select="rerun",
            selection_mode="single-cell",
            row_height=ROW_HEIGHT,
            height=ROW_HEIGHT * (min(len(changes), ROWS) + 1) + 3,
            alt="Latest changes",
        )
    at = _clicked(event, len(changes))
    if at is not None and changes[at].shelf:
        # What Tune keeps is no memory, and stands in the history alone.
        st.switch_page(navigation.path_of("history"), query_params={**scope.to_query(), "h_id": changes[at].id})
    elif at is not None:
        opened = browse_opened.query_of((changes[at].namespace, changes[at].key))
        st.switch_page(navigation.path_of("browse"), query_params={**scope.to_query(), **opened})


def draw_links(summary: Summary, scope: Scope) -> None:
    """Links onward: to all memories, and to what is out of the ordinary."""
    browse, query = navigation.path_of("browse"), scope.to_query()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="overview-links"):
        st.page_link(browse, label="Browse all", icon=":material/arrow_forward:", width="content", query_params=query)
        for state, count in summary.states.items():
            label, icon = _LINKS[state]
            if count:
                st.page_link(
                    browse,
                    label=f"{count:,} {label}",
                    icon=icon,
                    width="content",
                    query_params={**query, "b_is": _LABELS[state], "b_private": "true"},
                )


def _draw_categories(summary: Summary) -> None:
    left_out = len(summary.categories) - charts.MOST_CATEGORIES
    note = (
        f"The {charts.MOST_CATEGORIES} most frequent of {len(summary.categories):,}" if left_out > 0 else "All of them"
    )
    st.markdown(f"**Categories**  \n:gray[:small[{note}, private memories aside]]")
    if summary.categories:
        figure = charts.categories(summary.categories)
        st.plotly_chart(figure, config=charts.CONFIG, alt="Most frequent categories")
    else:
        st.caption("No memory has a category yet.")


def _frame_of(changes: Sequence[Change]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "when": pd.to_datetime([change.at for change in changes], utc=True),
            "what": [change.action for change in changes],
            "who": [one_line(change.actor, 40) for change in changes],
            "text": [_text_of(change) for change in changes],
        }
    )


def _text_of(change: Change) -> str:
    if any(value is not None and value.get("private") for value in (change.before, change.after)):
        return "(private)"
    return one_line(change.text_after or change.text_before or "(no text)", tables.TEXT_LIMIT)


def _clicked(event: object, rows: int) -> int | None:
    cells = event["selection"]["cells"] if isinstance(event, dict) else []
    return cells[0][0] if cells and 0 <= cells[0][0] < rows else None
