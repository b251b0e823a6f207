"""Overview's charts: SVG traces only, labels made safe, colours from the theme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

import plotly.graph_objects as go

from app.text.display import counted, plotly_text
from app.views.overview.summary import BINS, Point

__all__ = ["CONFIG", "MOST_CATEGORIES", "categories", "growth", "importance"]

CONFIG = {"displayModeBar": False, "scrollZoom": False}
"""What every chart is drawn with: it is to be read, not to be panned."""

MOST_CATEGORIES = 8
HEIGHT = 250
_TEAL = "#1A8A82"


def growth(points: Sequence[Point]) -> go.Figure:
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
    return _laid_out(figure)


def categories(counts: Mapping[str, int]) -> go.Figure:
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
    return _laid_out(figure)


def importance(bins: Sequence[int]) -> go.Figure:
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
    return _laid_out(figure)


def _laid_out(figure: go.Figure) -> go.Figure:
    figure.update_layout(height=HEIGHT, margin={"l": 8, "r": 8, "t": 8, "b": 8}, showlegend=False, bargap=0.35)
    figure.update_xaxes(fixedrange=True, automargin=True)
    figure.update_yaxes(fixedrange=True, automargin=True)
    return figure
