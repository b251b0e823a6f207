"""Profiles compared on the cases: every metric with its interval, and case by case who wins."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st
from mnemoscope.evaluation import (
    DEFAULT_METRICS,
    CaseChange,
    Comparison,
    Evaluation,
    Interval,
    Judged,
    compare,
    evaluate,
    metric_help,
)

from app.components import code, keep, states
from app.session.profile_names import PRESENT
from app.session.scope import Scope
from app.session.session import Session
from app.text.display import counted, one_line
from app.views.tune import charts, data

PROFILES_KEY, METRIC_KEY, ONE_KEY, OTHER_KEY = "tune.profiles", "t_metric", "tune.one", "tune.other"


METRICS = (*DEFAULT_METRICS, "unwanted@10")


_SHOWN = 12


def draw_comparison(working: Session, here: Scope) -> None:
    """Draw the comparison."""
    found, known = data.read_judged(working, here), keep.read_profiles(working)
    if not found:
        draw_no_cases()
        return
    names = st.multiselect(
        "Profiles",
        list(known),
        [name for name in known if name != "rules"][:5],
        key=PROFILES_KEY,
        format_func=data.label_profile,
        label_visibility="collapsed",
        placeholder="Choose profiles",
    )
    if not names:
        st.caption("Choose profiles to compare.")
        return
    evaluation = evaluate(found, [known[name] for name in names], METRICS)
    _draw_remarks(found)
    _draw_table(evaluation)
    metric = _draw_metric(evaluation)
    chart, changes = st.columns([1, 1.35], gap="medium")
    with chart:
        values = {data.label_profile(name): evaluation.summary(name)[metric] for name in names}
        st.plotly_chart(charts.chart_intervals(values), config=charts.CONFIG, key="tune-intervals")
    if len(names) > 1:
        with changes:
            _draw_changes(evaluation, names, metric)
    code.draw_code(_write_python(here, names), _write_command(here, names))


def _write_python(here: Scope, names: Sequence[str]) -> str:
    cases = code.write_python("tuning.cases", here.namespace, subtree=here.subtree or None)
    return (
        "from mnemoscope.recall.profiles import Profile\n"
        "from mnemoscope.connections.config import load_connections\n"
        "from mnemoscope.evaluation.recall import collect, evaluate\n\n"
        "known = {name: Profile(name, config) for name, config in load_connections().profiles.items()}\n"
        f"known |= engine.tuning.profiles() | {{{PRESENT!r}: Profile({PRESENT!r}, engine.config)}}\n"
        f"judged = engine.tuning.judge({cases})\n"
        f"evaluation = evaluate(judged, [known[name] for name in {list(names)!r}], {METRICS!r})"
    )


def _write_command(here: Scope, names: Sequence[str]) -> str:
    # Without --profile the one in use comes first.
    chosen = [name for name in names if name != PRESENT]
    first = None if PRESENT in names or not chosen else chosen.pop(0)
    return code.write_command("evaluate", namespace=here.namespace, profile=first, against=chosen)


def draw_no_cases() -> None:
    """Draw that there is nothing to measure on."""
    states.draw_empty(
        "No cases to measure on",
        "Save a query on Recall as a case, make one under Cases, or import some there.",
        icon=":material/fact_check:",
    )


def describe_difference(difference: Interval | None, metric: str) -> str:
    """What a difference proves, in a sentence."""
    if difference is None:
        return "No case says anything about this."
    sign = -1 if metric.startswith("unwanted") else 1
    low, high = sorted((sign * difference.low, sign * difference.high))
    told = f"{difference.mean:+.3f}, 95 % between {difference.low:+.3f} and {difference.high:+.3f}"
    if low > 0:
        return f"Better: {told}."
    if high < 0:
        return f"Worse: {told}."
    return f"No difference that these cases prove: {told}."


def _draw_remarks(found: Sequence[Judged]) -> None:
    missing = sum(len(each.missing) for each in found)
    if missing:
        told = counted(missing, "expected memory is", "expected memories are")
        st.warning(f"{told} not there, or not to be seen, and so not recalled.", icon=":material/help:")
    if not data.is_exact(found):
        st.caption(":material/info: The store's own search may leave memories out, for every profile alike.")


def _draw_table(evaluation: Evaluation) -> None:
    summaries = {name: evaluation.summary(name) for name in evaluation.values}
    known = _list_measured(evaluation)
    st.dataframe(
        pd.DataFrame(
            [[_describe_interval(each[metric]) for metric in known] for each in summaries.values()],
            index=[data.label_profile(name) for name in summaries],
            columns=known,
        ),
        alt="Metrics of every profile",
    )
    st.caption(f"Means over {counted(len(evaluation.cases), 'case')}; in brackets their 95 % bootstrap intervals.")


def _draw_metric(evaluation: Evaluation) -> str:
    known = _list_measured(evaluation)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        metric: str = st.segmented_control(
            "Metric",
            known,
            default="ndcg@10" if "ndcg@10" in known else known[0],
            required=True,
            key=METRIC_KEY,
            bind="query-params",
            label_visibility="collapsed",
            wrap=True,
        )
        st.caption(metric_help(metric), width="content")
    return metric


def _list_measured(evaluation: Evaluation) -> list[str]:
    """The metrics that some case says something about."""
    columns = next(iter(evaluation.values.values()))
    return [metric for metric in METRICS if any(value is not None for value in columns[metric])]


def _draw_changes(evaluation: Evaluation, names: Sequence[str], metric: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        one = st.selectbox("From", names, key=ONE_KEY, format_func=data.label_profile)
        others = [name for name in names if name != one]
        other = st.selectbox("To", others, len(others) - 1, key=OTHER_KEY, format_func=data.label_profile)
    comparison = compare(evaluation, one, other, metric)
    st.markdown(f"**{describe_difference(comparison.difference, metric)}**")
    _draw_columns(comparison)


def _draw_columns(comparison: Comparison) -> None:
    wins, losses = st.columns(2, gap="medium")
    for column, title, icon, changes in (
        (wins, "Gains", ":material/trending_up:", comparison.wins),
        (losses, "Losses", ":material/trending_down:", comparison.losses),
    ):
        with column:
            st.markdown(f"{icon} **{title}: {len(changes)}**")
            for change in changes[:_SHOWN]:
                _draw_change(change)
            if len(changes) > _SHOWN:
                st.caption(f"and {len(changes) - _SHOWN:,} more")
    st.caption(f"{counted(comparison.ties, 'case')} without a change.")


def _draw_change(change: CaseChange) -> None:
    st.text(f"{change.one:.2f} → {change.other:.2f}   {one_line(change.case.query, 120)}")


def _describe_interval(found: Interval | None) -> str:
    return "–" if found is None else f"{found.mean:.3f} [{found.low:.2f}–{found.high:.2f}]"
