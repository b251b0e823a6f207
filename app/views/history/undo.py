"""Taking back a run, or all that somebody did since a time: shown memory by memory, then done as one group."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import time, timedelta
from typing import Any

import pandas as pd
import streamlit as st
from mnemoscope import MnemoscopeError
from mnemoscope.core import utc_now
from mnemoscope.journal import TakenBack, UndoPlan

from app.components import actions, code, differences, live, states, tables
from app.session import session
from app.session.cache import kept, stamp
from app.session.scope import Scope
from app.session.session import Session
from app.text.display import counted, one_line
from app.views.history import filters

APPLY_KEY = "history.take-back"


ROWS, ROW_HEIGHT, DAYS = 12, 35, 7


_WHY = "history.take-back.reason"


_COLUMNS: dict[str, Any] = {
    "now": st.column_config.TextColumn("Now", width=310),
    "then": st.column_config.TextColumn("Becomes", width=310),
    "changes": st.column_config.NumberColumn("Changes", width=75),
    "obstacle": st.column_config.TextColumn("Why it stays", width=360),
}


def draw_undo(working: Session, here: Scope) -> None:
    """Draw whose changes are meant, the plan, and what carries it out."""
    st.caption("What one actor did since a time, or one run, as if it had never been. You see first what would change.")
    by, run, options = _draw_choice(working, here)
    if by is None and run is None:
        states.draw_empty("Choose whose changes to take back", "Or paste a run.", icon=":material/fast_rewind:")
        return
    stamped = stamp(working, here, "journal")
    try:
        with st.spinner("Reading the history …"):
            plan = kept(
                "undo",
                None if stamped is None else (stamped, by, run, options.get("since")),
                lambda: working.engine.curation.plan_undo(
                    here.namespace, subtree=here.subtree, by=by, run=run, **options
                ),
            )
    except MnemoscopeError as error:
        states.draw_failed(error)
        return
    with live.hold("plan"):
        _draw_plan(working, plan)
    line = code.write_python(
        "curation.plan_undo", here.namespace, subtree=here.subtree or None, by=by, run=run, **options
    )
    command = code.write_command(
        "undo", namespace=here.namespace, subtree=here.subtree, by=by, run=run, **options, reason="…"
    )
    code.draw_code(f"plan = {line}\nengine.curation.apply_undo(plan, reason='…')", command)


def _draw_choice(working: Session, here: Scope) -> tuple[str | None, str | None, dict[str, Any]]:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="history-whose"):
        by = st.selectbox(
            "Who", filters.list_actors(working, here), None, key="h_by", bind="query-params",
            placeholder="Anybody", accept_new_options=True, width=200, format_func=lambda name: one_line(name, 60),
        )  # fmt: skip
        run = st.text_input("Run", key="h_run", bind="query-params", placeholder="Any run", width=260, max_chars=500)
        first = (utc_now() - timedelta(days=DAYS)).date()
        day = st.date_input("Since (UTC)", first, key="h_since", format="YYYY-MM-DD", width=150, bind="query-params")
        at = st.time_input("At", time.min, key="h_time", width=110, bind="query-params")
    asked = (run or "").strip() or None
    # A run is a moment; a time beside it would only hide parts of it.
    return by, asked, {} if asked else {"since": filters.moment_of(day, at or time.min)}


def _draw_plan(working: Session, plan: UndoPlan) -> None:
    if not plan.memories:
        states.draw_empty("There is nothing to take back", "All of it was taken back, or there is none.")
        return
    if plan.open:
        st.subheader(f"Goes back: {counted(len(plan.open), 'memory', 'memories')}", anchor=False)
        _draw_table(plan.open, ["now", "then", "changes"], key="h_open")
        help = None if working.is_writing else working.closed or "Reading only. Switch writing on at the top."
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input("Why", key=_WHY, placeholder="For the history", max_chars=300, width=340)
            st.button(
                f"Take back {counted(len(plan.open), 'memory', 'memories')}", key=APPLY_KEY, type="primary",
                icon=":material/fast_rewind:", disabled=help is not None, help=help, on_click=_apply, args=(plan,),
            )  # fmt: skip
    if plan.blocked:
        st.subheader(f"Stays as it is: {counted(len(plan.blocked), 'memory', 'memories')}", anchor=False)
        _draw_table(plan.blocked, ["now", "obstacle", "changes"], key="h_blocked")


def _draw_table(memories: Sequence[TakenBack], columns: list[str], *, key: str) -> None:
    window = tables.draw_pager(len(memories), key=key)
    shown = memories[window.start : window.stop]
    st.dataframe(
        pd.DataFrame(
            {
                "now": [_text(each, each.text_now) for each in shown],
                "then": [_text(each, each.text_then) for each in shown],
                "changes": [len(each.changes) for each in shown],
                "obstacle": [one_line(each.obstacle, 200) for each in shown],
            }
        ),
        column_order=columns,
        column_config=_COLUMNS,
        hide_index=True,
        row_height=ROW_HEIGHT,
        height=min(len(shown), ROWS) * ROW_HEIGHT + ROW_HEIGHT + 3,
        alt="Memories concerned",
    )


def _text(memory: TakenBack, text: str | None) -> str:
    if text is None:
        return "(not there)"
    hidden = any(differences.is_about_private(change) for change in memory.changes)
    if hidden and not st.session_state.get(filters.PRIVATE_KEY):
        return "(private)"
    return one_line(text, tables.TEXT_LIMIT) or "(no text)"


def _apply(plan: UndoPlan) -> None:
    try:
        working = session.require_writing()
        reason = st.session_state.get(_WHY) or ""
        changes = working.engine.curation.apply_undo(plan, actor=working.operator, reason=reason)
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    said = f"Took back {counted(len(changes), 'memory', 'memories')}."
    actions.report(said, undo=changes[0].group if changes else None)
