"""The parts of Overview, each a card: numbers, charts, namespaces, and what changed lately."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from mnemoscope import Change
from mnemoscope.core import show_namespace
from mnemoscope.index import State

from app.components import tables
from app.session import links, navigation
from app.session.links import BROWSE_STATES
from app.session.scope import Scope
from app.text.display import counted, one_line, plotly_text
from app.views.overview.summary import BINS, NamespaceRow, Point, Summary

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

_LABELS = {state: label for label, state in BROWSE_STATES.items()}

CONFIG = {"displayModeBar": False, "scrollZoom": False}
"""What every chart is drawn with: it is to be read, not to be panned."""

MOST_CATEGORIES = 8

HEIGHT = 250

_TEAL = "#1A8A82"


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
            st.plotly_chart(chart_growth(summary.growth), config=CONFIG, alt="Growth over time")
            if summary.misdated:
                left_out = counted(summary.misdated, "memory", "memories")
                st.caption(f"Without {left_out} dated before 1990 or years ahead; Health lists wrong clocks.")
        with st.container(border=True, height="stretch"):
            _draw_categories(summary)
        with st.container(border=True, height="stretch"):
            unknown = f", {summary.unknown_importance:,} without any" if summary.unknown_importance else ""
            st.markdown(f"**Importance**  \n:gray[:small[Memories by their weight{unknown}]]")
            st.plotly_chart(chart_importance(summary.importance), config=CONFIG, alt="Importance")


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
    at = _read_clicked(event, len(rows))
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
            _make_frame(changes),
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
    at = _read_clicked(event, len(changes))
    if at is not None and changes[at].shelf:
        # What Tune keeps is no memory, and stands in the history alone.
        st.switch_page(navigation.path_of("history"), query_params={**scope.to_query(), "h_id": changes[at].id})
    elif at is not None:
        opened = links.query_of_memory((changes[at].namespace, changes[at].key))
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
    left_out = len(summary.categories) - MOST_CATEGORIES
    note = f"The {MOST_CATEGORIES} most frequent of {len(summary.categories):,}" if left_out > 0 else "All of them"
    st.markdown(f"**Categories**  \n:gray[:small[{note}, private memories aside]]")
    if summary.categories:
        figure = chart_categories(summary.categories)
        st.plotly_chart(figure, config=CONFIG, alt="Most frequent categories")
    else:
        st.caption("No memory has a category yet.")


def _make_frame(changes: Sequence[Change]) -> pd.DataFrame:
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


def _read_clicked(event: object, rows: int) -> int | None:
    cells = event["selection"]["cells"] if isinstance(event, dict) else []
    return cells[0][0] if cells and 0 <= cells[0][0] < rows else None


def chart_growth(points: Sequence[Point]) -> go.Figure:
    """How many memories there are by the day on which they were made."""
    figure = go.Figure(
        go.Scatter(
            x=[point.day for point in points],
            y=[point.total for point in points],
            customdata=[
                f"{counted(point.total, 'memory', 'memories')}, {counted(point.made, 'new memory', 'new memories')}"
                for point in points
            ],
            # A line through one point is not seen.
            mode="lines" if len(points) > 1 else "lines+markers",
            marker={"size": 10, "color": _TEAL},
            line={"width": 2.5, "color": _TEAL, "shape": "hv"},
            fill="tozeroy",
            fillcolor="rgba(26, 138, 130, 0.14)",
            hovertemplate="%{customdata}<extra></extra>",
        )
    )
    figure.update_yaxes(rangemode="tozero", tickformat=",d", nticks=5)
    if len(points) == 1:
        day = points[0].day
        around = [day - timedelta(days=1), day + timedelta(days=1)]
        figure.update_xaxes(range=around, tickvals=[day], tickformat="%-d %b %Y")
        # Nor does a mark on the edge say how much there is.
        figure.update_yaxes(range=[0, 1.25 * max(points[0].total, 1)])
    return _lay_out(figure)


def chart_categories(counts: Mapping[str, int]) -> go.Figure:
    """The most frequent categories, the most frequent on top."""
    top = list(counts.items())[:MOST_CATEGORIES][::-1]
    # The position stands for the name, since two names may look the same once they are made safe.
    figure = go.Figure(
        go.Bar(
            x=[count for _, count in top],
            y=list(range(len(top))),
            orientation="h",
            marker={"color": _TEAL, "cornerradius": 4},
            text=[f"{count:,}" for _, count in top],
            textposition="auto",
            textangle=0,
            insidetextanchor="end",
            customdata=[plotly_text(name) for name, _ in top],
            hovertemplate="%{customdata}: %{x:,}<extra></extra>",
        )
    )
    labels = [plotly_text(name, 18) for name, _ in top]
    figure.update_yaxes(tickvals=list(range(len(top))), ticktext=labels, showgrid=False)
    figure.update_xaxes(visible=False)
    return _lay_out(figure)


def chart_importance(bins: Sequence[int]) -> go.Figure:
    """How many memories there are of each importance."""
    edges = [f"{at / BINS:.1f} to {(at + 1) / BINS:.1f}" for at in range(BINS)]
    figure = go.Figure(
        go.Bar(
            x=[(at + 0.5) / BINS for at in range(BINS)],
            y=list(bins),
            width=0.9 / BINS,
            marker={"color": "#7B61D1", "cornerradius": 4},
            customdata=edges,
            hovertemplate="%{y:,} from %{customdata}<extra></extra>",
        )
    )
    figure.update_xaxes(tickvals=[0, 0.25, 0.5, 0.75, 1], range=[-0.02, 1.02], showgrid=False)
    figure.update_yaxes(tickformat=",d", nticks=5)
    return _lay_out(figure)


def _lay_out(figure: go.Figure) -> go.Figure:
    figure.update_layout(height=HEIGHT, margin={"l": 8, "r": 8, "t": 8, "b": 8}, showlegend=False, bargap=0.35)
    figure.update_xaxes(fixedrange=True, automargin=True)
    figure.update_yaxes(fixedrange=True, automargin=True)
    return figure
