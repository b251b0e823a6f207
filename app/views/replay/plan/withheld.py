"""The facts that a plan holds back, with why: to be seen, and let in by a person who knows better."""

from __future__ import annotations

import streamlit as st
from mnemoscope.extraction import Withheld

from app.components import tables
from app.text.display import counted, one_line, safe
from app.views.replay.plan import run as replay_run
from app.views.replay.plan import work
from app.views.replay.plan.run import Run

__all__ = ["PAGE_KEY", "draw", "let_in_key"]

PAGE_KEY = "p_withheld"
PER_PAGE = 10
TEXT_LIMIT = 500


def draw(run: Run) -> None:
    """Draw what is held back, if anything is."""
    withheld = run.plan.withheld
    if not withheld:
        return
    with st.expander(
        f"Proposed and held back: {counted(len(withheld), 'fact')}", icon=":material/front_hand:", key="replay-withheld"
    ):
        if not run.is_committed:
            st.caption(
                "The conversation does not bear these out, or they look like orders. Let one in if you know that it is "
                "true: it joins the plan, and the history says that it was your choice."
            )
        window = tables.pager(len(withheld), key=PAGE_KEY, per_page=PER_PAGE)
        for at in range(window.start, window.stop):
            _draw_one(run, withheld[at], at)


def let_in_key(at: int) -> str:
    """The key of the button that lets the fact at this position in."""
    return f"replay.let_in-{at}"


def _draw_one(run: Run, withheld: Withheld, at: int) -> None:
    fact = withheld.fact
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.text(safe(fact.content, TEXT_LIMIT), width="stretch")
            if not run.is_committed:
                st.button(
                    "Let it in",
                    key=let_in_key(at),
                    icon=":material/add:",
                    disabled=work.is_running(replay_run.WORK),
                    on_click=replay_run.let_in,
                    args=(at,),
                )
        st.text(safe(withheld.reason, TEXT_LIMIT))
        if fact.quote:
            st.text(f"“{one_line(fact.quote, TEXT_LIMIT)}”")
