"""The trash: what was forgotten, to bring back, to let be remembered anew, or to erase for good."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from mnemoscope import Change, MnemoscopeError
from mnemoscope.core import show_namespace
from mnemoscope.journal import Tombstone
from mnemoscope.stores import Ref

from app.components import command_lines, feedback, python_lines, states, tables
from app.session import session
from app.session.cache import kept, stamp
from app.session.scope import Scope
from app.session.session import Session
from app.text.display import counted, one_line
from app.views.curate import erase
from app.views.curate.worklists import PRIVATE_KEY

__all__ = ["ALLOW_KEY", "RESTORE_KEY", "SUPPRESS_KEY", "draw", "table_key"]

RESTORE_KEY, ALLOW_KEY, SUPPRESS_KEY = "curate.restore", "curate.allow", "curate.suppress"
PAGE_KEY = "w_trash"
ROWS, ROW_HEIGHT = 15, 35

_COLUMNS: dict[str, Any] = {
    "memory": st.column_config.TextColumn("Memory", width=420),
    "when": st.column_config.DatetimeColumn("Forgotten", format="distance", timezone="UTC", width=115),
    "who": st.column_config.TextColumn("By", width=110),
    "why": st.column_config.TextColumn("Why", width=220),
    "namespace": st.column_config.TextColumn("Namespace", width=150),
    "facts": st.column_config.TextColumn("Facts like it", width=120),
}


def draw(working: Session, here: Scope) -> None:
    """Draw the trash of the scope."""
    erase.draw_receipt()
    stones = kept(
        "trash",
        stamp(working, here, "tombstones"),
        lambda: working.engine.curation.trash(here.namespace, subtree=here.subtree),
    )
    shown = [stone for stone in stones if st.session_state.get(PRIVATE_KEY) or not stone.record.private]
    if len(shown) < len(stones):
        st.caption(f":material/lock: {len(stones) - len(shown):,} private hidden")
    if not shown:
        states.empty("The trash is empty", "What is forgotten in this scope waits here.", icon=":material/delete:")
        return
    actions, table = st.container(), st.container()
    window = tables.pager(len(shown), key=PAGE_KEY)
    with table:
        ticked = _draw_table(shown[window.start : window.stop], here)
    with actions:
        _draw_actions(working, ticked)
    _draw_python(ticked, here)


def table_key(stones: Sequence[Tombstone]) -> str:
    """The key of the table that shows these."""
    return tables.key_of("curate.trash", [(stone.record.namespace, stone.record.key) for stone in stones])


def _draw_table(stones: Sequence[Tombstone], here: Scope) -> list[Tombstone]:
    event = st.dataframe(
        pd.DataFrame(
            {
                "memory": [one_line(stone.record.content, tables.TEXT_LIMIT) or "(no text)" for stone in stones],
                "when": pd.to_datetime([stone.forgotten_at for stone in stones], utc=True),
                "who": [one_line(stone.actor, 60) for stone in stones],
                "why": [one_line(stone.reason, 200) for stone in stones],
                "namespace": [one_line(show_namespace(stone.record.namespace), 80) for stone in stones],
                "facts": ["allowed" if stone.allowed else "suppressed" for stone in stones],
            }
        ),
        column_order=[name for name in _COLUMNS if name != "namespace" or here.subtree],
        column_config=_COLUMNS,
        hide_index=True,
        key=table_key(stones),
        on_select="rerun",
        selection_mode="multi-row",
        row_height=ROW_HEIGHT,
        height=min(len(stones), ROWS) * ROW_HEIGHT + ROW_HEIGHT + 3,
        placeholder="",
        alt="Forgotten memories",
    )
    refs = [(stone.record.namespace, stone.record.key) for stone in stones]
    chosen = set(tables.ticked(event, refs))
    return [stone for stone, ref in zip(stones, refs, strict=True) if ref in chosen]


def _draw_actions(working: Session, ticked: Sequence[Tombstone]) -> None:
    refs = tuple((stone.record.namespace, stone.record.key) for stone in ticked)
    help = _why_not(working, ticked)
    number = f" {len(ticked):,}" if ticked else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="curate-trash-actions"):
        for label, icon, key, act in (
            (f"Restore{number}", ":material/restore_from_trash:", RESTORE_KEY, _restore),
            ("Allow again", ":material/lock_open:", ALLOW_KEY, _allow),
            ("Suppress", ":material/block:", SUPPRESS_KEY, _suppress),
        ):
            st.button(label, key=key, icon=icon, disabled=help is not None, help=help, on_click=act, args=(refs,))
        erase.draw(working, refs, help)
        if not ticked:
            st.caption(
                "Tick rows. Facts like a forgotten memory stay out until they are allowed again.", width="content"
            )


def _why_not(working: Session, ticked: Sequence[Tombstone]) -> str | None:
    if not working.is_writing:
        return working.closed or "Reading only. Switch writing on at the top of the page."
    return None if ticked else "Tick rows of the table first."


def _restore(refs: tuple[Ref, ...]) -> None:
    _carry_out(lambda working: working.engine.curation.restore(refs, actor=working.operator), "Restored")


def _allow(refs: tuple[Ref, ...]) -> None:
    _carry_out(lambda working: working.engine.curation.allow(refs, actor=working.operator), "Allowed again")


def _suppress(refs: tuple[Ref, ...]) -> None:
    _carry_out(lambda working: working.engine.curation.allow(refs, allowed=False, actor=working.operator), "Suppressed")


def _carry_out(act: Callable[[Session], list[Change]], verb: str) -> None:
    try:
        changes = act(session.require_writing())
    except MnemoscopeError as error:
        feedback.refused(error)
        return
    said = f"{verb}: {counted(len(changes), 'memory', 'memories')}."
    feedback.done(said, undo=changes[0].group if changes else None)


def _draw_python(ticked: Sequence[Tombstone], here: Scope) -> None:
    refs = [(stone.record.namespace, stone.record.key) for stone in ticked[:20]]
    python_lines.draw(
        {
            "The trash": python_lines.call("curation.trash", here.namespace, subtree=here.subtree or None),
            "Bring back": python_lines.call("curation.restore", refs or "refs"),
            "Let facts like it be remembered again": python_lines.call("curation.allow", refs or "refs"),
        },
        {
            "The trash": command_lines.call("trash", namespace=here.namespace, subtree=here.subtree),
            "Bring back": command_lines.at_places("restore", refs),
            "Let facts like it be remembered again": command_lines.at_places("allow", refs),
        },
    )
