"""Tune's charts: SVG traces only, labels made safe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from mnemoscope.consolidation import ThresholdPoint
from mnemoscope.evaluation import Floor, Interval, PlateauPoint

from app.components.theme import PART_COLOURS
from app.text.display import plotly_text

CONFIG = {"displayModeBar": False, "scrollZoom": False}


_TEAL, _AMBER, _GREY = PART_COLOURS["similarity"], PART_COLOURS["recency"], "rgba(128, 140, 145, .55)"


def chart_intervals(found: Mapping[str, Interval | None]) -> go.Figure:
    """One metric of each profile with its interval, the first on top."""
    rows = [(name, each) for name, each in found.items() if each is not None][::-1]
    figure = go.Figure(
        go.Scatter(
            x=[each.mean for _, each in rows],
            y=list(range(len(rows))),
            mode="markers+text",
            text=[f"{each.mean:.3f}" for _, each in rows],
            textposition="top center",
            cliponaxis=False,
            marker={"size": 11, "color": _TEAL},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [each.high - each.mean for _, each in rows],
                "arrayminus": [each.mean - each.low for _, each in rows],
                "thickness": 2,
                "width": 5,
                "color": _TEAL,
            },
            customdata=[plotly_text(f"{name}: {each}") for name, each in rows],
            hovertemplate="%{customdata}<extra></extra>",
        )
    )
    figure.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=[plotly_text(name, 24) for name, _ in rows],
        range=[-0.6, len(rows) - 0.3],
        showgrid=False,
    )
    figure.update_xaxes(range=[-0.07, 1.07], tickvals=[0, 0.25, 0.5, 0.75, 1])
    return _lay_out(figure, 70 + 48 * len(rows))


def chart_plateau(curve: Sequence[PlateauPoint], present: float, found: float) -> go.Figure:
    """The best that was reached by each value of a setting: filled where it is as good as the best of all."""
    places = list(range(len(curve)))
    values = [point.value for point in curve]
    figure = go.Figure(
        go.Scatter(
            x=places,
            y=[point.mean for point in curve],
            mode="lines+markers",
            line={"width": 1.5, "color": _GREY},
            marker={
                "size": 10,
                "color": [_TEAL if point.is_on_plateau else "rgba(0,0,0,0)" for point in curve],
                "line": {"width": 1.5, "color": [_TEAL if point.is_on_plateau else _GREY for point in curve]},
            },
            customdata=[
                f"{point.value:g}: {point.mean:.3f}" + (", as good as the best" if point.is_on_plateau else "")
                for point in curve
            ],
            hovertemplate="%{customdata}<extra></extra>",
        )
    )
    marks = [(present, "in use", _AMBER), (found, "found", _TEAL)]
    for value, name, colour in marks if present != found else [(present, "in use, kept", _TEAL)]:
        if value in values:
            figure.add_vline(
                values.index(value),
                line={"width": 1.5, "dash": "dot", "color": colour},
                annotation={"text": name, "font": {"size": 11, "color": colour}, "yanchor": "bottom"},
                annotation_position="top",
            )
    figure.update_xaxes(tickvals=places, ticktext=[f"{value:g}" for value in values], showgrid=False)
    means = [point.mean for point in curve]
    figure.update_yaxes(nticks=4, tickformat=".2f", range=[min(means) - 0.05, max(means) + 0.05])
    return _lay_out(figure, 200, top=24)


def chart_floors(found: Sequence[Floor], chosen: float) -> go.Figure:
    """What each least score keeps of the expected memories, and of everything that is returned."""
    figure = _two_shares(
        [each.min_score for each in found],
        ("of the expected", [each.kept for each in found]),
        ("of all returned", [each.returned for each in found]),
    )
    figure.add_vline(chosen, line={"width": 1.5, "dash": "dot", "color": _GREY})
    figure.update_yaxes(range=[0, 1.03], tickformat=".0%", nticks=5)
    figure.update_xaxes(title={"text": "minimum score"})
    return _add_legend(_lay_out(figure, 240))


def chart_threshold(curve: Sequence[ThresholdPoint], present: float, suggested: float | None) -> go.Figure:
    """What share of the pairs for the judge each threshold finds, and what share of what it finds is for the judge."""
    figure = _two_shares(
        [point.threshold for point in curve],
        ("found", [point.recall for point in curve]),
        ("right", [point.precision for point in curve]),
    )
    for value, text, colour in ((present, "in use", _AMBER), (suggested, "suggested", _TEAL)):
        if value is not None:
            figure.add_vline(
                value,
                line={"width": 1.5, "dash": "dot", "color": colour},
                annotation={"text": text, "font": {"size": 11, "color": colour}, "yanchor": "bottom"},
                annotation_position="top",
            )
    figure.update_yaxes(range=[0, 1.03], tickformat=".0%", nticks=5)
    figure.update_xaxes(title={"text": "similarity from which a fact is judged"})
    return _add_legend(_lay_out(figure, 300, top=24))


def _two_shares(at: Sequence[float], *shares: tuple[str, Sequence[float | None]]) -> go.Figure:
    """Two shares along a bound, each with its fixed name."""
    figure = go.Figure()
    for (name, values), colour in zip(shares, (_TEAL, _AMBER), strict=True):
        figure.add_scatter(
            x=at,
            y=values,
            name=name,
            mode="lines",
            line={"width": 2.5, "color": colour},
            hovertemplate="%{y:.0%} " + name + " from %{x:.2f} on<extra></extra>",
        )
    return figure


def _add_legend(figure: go.Figure) -> go.Figure:
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": -0.35, "x": 0})
    return figure


def _lay_out(figure: go.Figure, height: int, *, top: int = 8) -> go.Figure:
    figure.update_layout(height=height, margin={"l": 8, "r": 8, "t": top, "b": 8}, showlegend=False)
    figure.update_xaxes(fixedrange=True, automargin=True, zeroline=False)
    figure.update_yaxes(fixedrange=True, automargin=True, zeroline=False)
    return figure
