"""The facts of a plan, all at once or one after the other, each to be ticked, opened and corrected."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from app.components import tables
from app.text.display import safe
from app.views.replay.plan import detail, diff, form
from app.views.replay.plan import run as replay_run
from app.views.replay.plan.decision import stored_text
from app.views.replay.plan.run import Run
from app.views.replay.source import steps, url

__all__ = ["FACT_KEY", "VIEW_KEY", "draw_all", "draw_one", "opener", "shown_fact", "tick_key"]

FACT_KEY = "p_fact"
VIEW_KEY = "p_view"
CARDS_KEY = "p_cards"

CARDS_PER_PAGE = 25
CARD_TEXT = 600


def draw_all(run: Run) -> None:
    """Draw every fact as a card."""
    window = tables.pager(len(run.plan.facts), key=CARDS_KEY, per_page=CARDS_PER_PAGE)
    for at in range(window.start, window.stop):
        _draw_card(run, at)


def draw_one(run: Run) -> None:
    """Draw one fact in full, with steps to the one before and the one after."""
    with st.container(horizontal=True, vertical_alignment="center"):
        at = steps.draw(FACT_KEY, len(run.plan.facts), "Fact")
        st.space("stretch")
        _draw_tick(run, at, label="Commit this fact")
    with st.container(border=True, key="replay-fact"):
        detail.draw(run.plan, at)
    if not run.is_committed:
        with st.expander("Correct this fact", icon=":material/edit:", key=f"replay.correct-{at}"):
            form.draw(run, at)


def shown_fact(run: Run) -> int | None:
    """The fact that is shown alone, or None where all are."""
    if st.session_state.get(VIEW_KEY) != "one" or not run.plan.facts:
        return None
    return min(steps.position(FACT_KEY), len(run.plan.facts) - 1)


def opener(run: Run) -> Callable[[int], None]:
    """A function that shows the fact at a position alone; for callbacks."""
    return partial(_open, run)


def tick_key(run: Run, at: int) -> str:
    """The key of the box that takes a fact into the plan."""
    return f"replay.tick-{at}-{run.plan.id[-8:]}"


def _open(run: Run, at: int) -> None:
    if 0 <= at < len(run.plan.facts):
        st.session_state[VIEW_KEY] = "one"
        url.write(VIEW_KEY, "all")
        steps.go(FACT_KEY, at)


def _draw_card(run: Run, at: int) -> None:
    planned = run.plan.facts[at]
    with st.container(border=True, gap="xsmall", key=f"replay-card-{at}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            _draw_tick(run, at)
            detail.badge(planned)
            st.caption(_figures(run, at), width="stretch")
            st.button("Open", key=f"replay.open-{at}", type="tertiary", on_click=_open, args=(run, at))
        changes = [change for change in run.plan.changes if at in change.facts]
        if any(change.before is not None for change in changes):
            st.code(diff.diff_of_all(changes), language="diff", wrap_lines=True)
        else:
            st.text(safe(stored_text(planned), CARD_TEXT))


def _figures(run: Run, at: int) -> str:
    planned = run.plan.facts[at]
    nearest = f" · nearest {planned.compared[0][1]:.2f}" if planned.compared else ""
    return f"importance {detail.importance_of(run.plan, planned):.2f}{nearest}"


def _draw_tick(run: Run, at: int, label: str = "") -> None:
    if at not in replay_run.open_facts(run.plan):
        return
    key = tick_key(run, at)
    # Setting it in every run would overwrite a click that comes in the midst of one.
    if st.session_state.get(key) != run.plan.facts[at].chosen:
        st.session_state[key] = run.plan.facts[at].chosen
    st.checkbox(
        label or f"Commit fact {at + 1}",
        key=key,
        on_change=_ticked,
        args=(run, at),
        disabled=run.is_committed,
        label_visibility="visible" if label else "collapsed",
    )


def _ticked(run: Run, at: int) -> None:
    replay_run.tick(at, is_chosen=st.session_state[tick_key(run, at)])
