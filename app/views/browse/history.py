"""What became of one memory: every change with what it did; and every recall, with what was said of its use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st
from mnemoscope import Change, MemoryRecord, MnemoscopeError
from mnemoscope.core import Namespace, utc_now
from mnemoscope.journal import Access, Recalled
from mnemoscope.recall import Feedback

from app.components import actions, differences
from app.components.differences import ACTION_ICONS, describe_labels
from app.session import session
from app.session.session import Session
from app.text.display import age, counted, one_line, safe, timestamp

LATEST = 30

UNDO_KEY = "browse.history.undo"

_COLUMNS: dict[str, Any] = {
    "when": st.column_config.DatetimeColumn("When", format="distance", timezone="UTC", width="small"),
    "query": st.column_config.TextColumn("Query"),
    "rank": st.column_config.NumberColumn("Rank", width="small"),
    "thread": st.column_config.TextColumn("Thread", width="small"),
    "use": st.column_config.TextColumn("Of use", width="small"),
}


def draw_history(working: Session, namespace: Namespace, key: str) -> None:
    """Draw the history of the memory at this place, latest change first."""
    changes = working.engine.history(namespace, key, limit=LATEST + 1)
    if not changes:
        st.caption("No change is on record: it was written before Mnemoscope, or by plain store calls.")
    for at, change in enumerate(changes[:LATEST]):
        with st.container(border=True, gap="xsmall"):
            _draw_change(change)
            if at == 0:
                _draw_undo(working, change)
    if len(changes) > LATEST:
        st.caption(f"The latest {LATEST} changes.")


def _draw_change(change: Change) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.markdown(f"{ACTION_ICONS[change.action]} **{change.action.capitalize()}**", width="content")
        st.text(f"by {one_line(change.actor, 40)}", width="content")
        st.caption(age(change.at, utc_now()), width="content", help=timestamp(change.at))
    if change.reason:
        st.text(safe(change.reason, 500))
    if change.erased:
        st.caption("The texts were erased for good.")
    elif change.before is not None and change.after is not None:
        _draw_difference(change, change.before, change.after)


def _draw_difference(change: Change, before: dict[str, Any], after: dict[str, Any]) -> None:
    old, new = change.text_before or "", change.text_after or ""
    if old != new:
        differences.draw_difference(old, new, key=f"browse.difference-{change.id}")
    for line in describe_labels(before, after):
        st.text(one_line(line, 300))


def _draw_undo(working: Session, change: Change) -> None:
    st.button(
        "Undo this change",
        key=UNDO_KEY,
        icon=":material/undo:",
        disabled=not working.is_writing or change.erased,
        help=None if working.is_writing else "Reading only. Switch writing on at the top of the page.",
        on_click=_undo,
        args=(change.id,),
    )


def _undo(change: str) -> None:
    try:
        working = session.require_writing()
        changes = working.engine.undo(change, actor=working.operator)
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    actions.report("Undone.", undo=changes[0].group)


def draw_recalls(working: Session, record: MemoryRecord, access: Access) -> None:
    """Draw the recalls of the memory, latest first, each with the feedback on it."""
    given = working.engine.usage.feedback(record.namespace).get(record.key, [])
    if not access.count and not given:
        st.caption("It was never recalled. Reading it here does not count.")
        return
    st.dataframe(
        pd.DataFrame(_recall_rows(access, given)),
        column_config=_COLUMNS,
        hide_index=True,
        placeholder="",
        alt="Recalls of this memory",
    )
    if access.count > len(access.recent):
        st.caption(f"The last {len(access.recent)} of {access.count:,} recalls.")
    if given:
        useful = sum(each.useful for each in given)
        st.caption(f"Of use in {useful:,} of {counted(len(given), 'recall')} that somebody judged.")


def _recall_rows(access: Access, given: Sequence[Feedback]) -> dict[str, Any]:
    said = {each.recall: each for each in given}
    rows: list[tuple[Recalled | Feedback, Feedback | None]] = [
        (each, said.pop(each.recall, None) if each.recall else None) for each in access.recent
    ]
    # What was said of recalls that the access history no longer holds.
    rows += [(each, each) for each in said.values()]
    return {
        "when": pd.to_datetime([each.at for each, _ in rows], utc=True),
        "query": [one_line(each.query, 200) for each, _ in rows],
        "rank": [each.rank for each, _ in rows],
        "thread": [one_line(each.thread or "–", 80) for each, _ in rows],
        "use": [_describe_use(feedback) for _, feedback in rows],
    }


def _describe_use(feedback: Feedback | None) -> str:
    if feedback is None:
        return "–"
    return f"{'yes' if feedback.useful else 'no'}, says {one_line(feedback.actor, 40)}"
