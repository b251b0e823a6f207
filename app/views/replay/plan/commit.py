"""The end of a plan: carry it out, in whole or in part, or drop it; and what came of that."""

from __future__ import annotations

from functools import partial
from itertools import count

import streamlit as st
from mnemoscope.core import show_namespace
from mnemoscope.errors import Conflict

from app.session import navigation
from app.session.session import Session
from app.text.display import counted, one_line, safe
from app.views.replay.plan import run as replay_run
from app.views.replay.plan.run import Run
from app.views.replay.source import target
from app.views.replay.source.chosen import Chosen

__all__ = ["AGAIN_KEY", "COMMIT_KEY", "DISCARD_KEY", "EMPTY_KEY", "draw", "draw_committed", "draw_conflicts"]

COMMIT_KEY = "replay.commit"
DISCARD_KEY = "replay.discard"
AGAIN_KEY = "replay.plan_again"
EMPTY_KEY = "replay.plan_into_empty"
ALL_KEY = "replay.tick_all"
NONE_KEY = "replay.tick_none"

CONFLICTS_SHOWN = 10


def draw(run: Run, working: Session, chosen_talk: Chosen) -> None:
    """Draw the row of actions; where there is nothing to commit, the way to an empty namespace."""
    offered = replay_run.open_facts(run.plan)
    chosen = [at for at in offered if run.plan.facts[at].chosen]
    reason = _why_not(len(offered), len(run.plan.changes), working)
    with st.container(horizontal=True, vertical_alignment="center", key="replay-actions"):
        st.button(
            _label(len(chosen), len(offered)),
            key=COMMIT_KEY,
            type="primary",
            icon=":material/save:",
            disabled=bool(reason),
            help="The line below says why not."
            if reason
            else "Writes the ticked facts as one change, which can be undone as one.",
            on_click=replay_run.commit,
        )
        tick, untick = partial(replay_run.tick_all, is_chosen=True), partial(replay_run.tick_all, is_chosen=False)
        st.button("Tick all", key=ALL_KEY, on_click=tick, disabled=len(chosen) == len(offered))
        st.button("Tick none", key=NONE_KEY, on_click=untick, disabled=not chosen)
        st.button("Discard the plan", key=DISCARD_KEY, type="tertiary", on_click=replay_run.discard)
    if reason:
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.caption(":material/info:", width="content")
            # It may name the store's file.
            st.text(safe(reason, 500), width="stretch")
    if not offered:
        st.button(
            "Plan it into an empty namespace",
            key=EMPTY_KEY,
            icon=":material/play_arrow:",
            help="Nothing is written: you see what it would teach an agent that knows nothing yet.",
            on_click=_plan_into_empty,
            args=(working, chosen_talk),
        )


def draw_committed(run: Run, working: Session) -> None:
    """Say that the plan was carried out, and where to look."""
    undone = replay_run.is_undone(working.engine, run)
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="replay-committed"):
        icon = ":material/undo:" if undone else ":material/check_circle:"
        says = "was committed and then undone" if undone else "was committed"
        st.markdown(f"{icon} This plan {says}: {counted(run.written, 'change')} in", width="content")
        st.text(one_line(show_namespace(run.plan.namespace), 60), width="content")
        st.space("stretch")
        if not undone:
            navigation.link_to("browse", "See it in Browse", ns=list(run.plan.namespace))


def draw_conflicts(run: Run, working: Session, chosen: Chosen) -> None:
    """Say that the plan was refused, with the texts that it was made on and those that are there now."""
    st.error(
        "**Nothing was committed**  \nMemories that this plan touches have changed since it was made. Plan again, "
        "which drops your corrections, or leave out the facts that lead to them.",
        icon=":material/error:",
    )
    for conflict in run.conflicts[:CONFLICTS_SHOWN]:
        _draw_conflict(conflict)
    if len(run.conflicts) > CONFLICTS_SHOWN:
        st.caption(f"These are the first {CONFLICTS_SHOWN} of {counted(len(run.conflicts), 'memory', 'memories')}.")
    st.button(
        "Plan again",
        key=AGAIN_KEY,
        type="primary",
        icon=":material/replay:",
        on_click=replay_run.begin,
        args=(working, chosen, run.plan.namespace),
    )


def _draw_conflict(conflict: Conflict) -> None:
    left, right = st.columns(2)
    for column, title, text in ((left, "When planned", conflict.expected), (right, "Now", conflict.actual)):
        with column:
            st.caption(title)
            st.code("(not there)" if text is None else safe(text, 1_000), language=None, wrap_lines=True)


def _plan_into_empty(working: Session, chosen: Chosen) -> None:
    taken = working.engine.counts()
    namespace = next(each for number in count(1) if (each := ("memories", f"trial-{number}")) not in taken)
    st.session_state[target.TARGET_KEY] = show_namespace(namespace)
    replay_run.begin(working, chosen, namespace)


def _label(chosen: int, offered: int) -> str:
    if chosen == offered:
        return {1: "Commit", 2: "Commit both facts"}.get(offered, f"Commit all {counted(offered, 'fact')}")
    return f"Commit {chosen} of {counted(offered, 'fact')}"


def _why_not(offered: int, changes: int, working: Session) -> str:
    if not offered:
        return "There is nothing to commit: everything in it is already known here."
    if not changes:
        return "Tick at least one fact to commit."
    return "" if working.is_writing else working.closed or "Writing is off. Switch it on at the top to commit."
