"""The right half of Replay: a plan from its figures to its commit, or why there is none."""

from __future__ import annotations

import streamlit as st
from mnemoscope.core import show_namespace

from app.components import command_lines, python_lines, states
from app.session.session import Session
from app.views.replay.compare import setups
from app.views.replay.plan import commit, expected, facts, summary, withheld
from app.views.replay.plan.facts import VIEW_KEY
from app.views.replay.plan.run import Run
from app.views.replay.source import url
from app.views.replay.source.chosen import Chosen

__all__ = ["command_of", "draw", "python_of"]

_VIEWS = {
    "all": ":material/view_agenda: All facts",
    "one": ":material/looks_one: One by one",
    "changes": ":material/difference: Before and after",
}


def draw(run: Run | None, working: Session, chosen: Chosen) -> None:
    """Draw the plan, or that there is none yet."""
    st.subheader("What was remembered" if run and run.is_committed else "What would be remembered", anchor=False)
    if run is None:
        states.empty(
            "Nothing is planned yet",
            "Choose a namespace and plan, to see which facts would be remembered and why. Nothing is written by that.",
            icon=":material/fact_check:",
        )
        return
    if run.plan.failure is not None:
        summary.draw_failure(run.plan, run.plan.failure)
        return
    _draw_plan(run, working, chosen)
    python_lines.draw(python_of(run, chosen), command_of(run, chosen))


def python_of(run: Run, chosen: Chosen) -> str:
    """The lines that plan and commit the same."""
    plan = run.plan
    kept = [at for at, planned in enumerate(plan.facts) if planned.chosen]
    lines = [
        f"messages = {chosen.python}",
        *([] if run.setup is None else [f"reader = {setups.python_of(run.setup)}"]),
        f"plan = {'engine' if run.setup is None else 'reader'}.plan(messages, {show_namespace(plan.namespace)!r}, "
        f"source={chosen.source!r})",
        *run.edits,
        *([] if len(kept) == len(plan.facts) else [f"plan = choose(plan, {kept})"]),
        "engine.apply(plan)",
    ]
    return "\n".join(lines)


def command_of(run: Run, chosen: Chosen) -> str:
    """The command that remembers the same; empty where it takes a choice or correction that only Python can make."""
    is_whole = all(planned.chosen for planned in run.plan.facts) and not run.edits and run.setup is None
    if chosen.file is None or not is_whole:
        return ""
    return command_lines.call("remember", file=chosen.file, namespace=run.plan.namespace, source=chosen.source)


def _draw_plan(run: Run, working: Session, chosen: Chosen) -> None:
    plan = run.plan
    now = working.engine.counts(plan.namespace).get(plan.namespace, 0)
    if run.is_committed:
        commit.draw_committed(run, working)
    elif run.conflicts:
        commit.draw_conflicts(run, working, chosen)
    summary.draw(plan, now, is_committed=run.is_committed)
    if plan.facts:
        if not run.is_committed and not run.conflicts:
            commit.draw(run, working, chosen)
        _draw_view(run)
    else:
        states.empty(
            "This conversation teaches nothing",
            "It was read to its end, and no lasting fact was found in it. Below is why.",
            icon=":material/sentiment_calm:",
        )
    withheld.draw(run)
    summary.draw_reading(plan)
    expected.draw(plan, chosen)


def _draw_view(run: Run) -> None:
    url.follow(VIEW_KEY, _VIEWS, "all")
    view = st.segmented_control(
        "Show",
        list(_VIEWS),
        format_func=lambda name: _VIEWS[name],
        required=True,
        key=VIEW_KEY,
        on_change=url.write,
        args=(VIEW_KEY, "all"),
        persist_state="session",
        label_visibility="collapsed",
    )
    if view == "one":
        facts.draw_one(run)
    elif view == "changes":
        summary.draw_changes(run.plan)
    else:
        facts.draw_all(run)
