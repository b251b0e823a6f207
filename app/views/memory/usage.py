"""How one memory was used: its last recalls with query, rank and thread, and what was said of its use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st
from mnemoscope import MemoryRecord
from mnemoscope.journal import Access, Recalled
from mnemoscope.recall import Feedback

from app.session.session import Session
from app.text.display import counted, one_line

__all__ = ["draw"]

_COLUMNS: dict[str, Any] = {
    "when": st.column_config.DatetimeColumn("When", format="distance", timezone="UTC", width="small"),
    "query": st.column_config.TextColumn("Query"),
    "rank": st.column_config.NumberColumn("Rank", width="small"),
    "thread": st.column_config.TextColumn("Thread", width="small"),
    "use": st.column_config.TextColumn("Of use", width="small"),
}


def draw(working: Session, record: MemoryRecord, access: Access) -> None:
    """Draw the recalls of the memory, latest first, each with the feedback on it."""
    given = working.engine.usage.feedback(record.namespace).get(record.key, [])
    if not access.count and not given:
        st.caption("It was never recalled. Reading it here does not count.")
        return
    st.dataframe(
        pd.DataFrame(_rows(access, given)),
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


def _rows(access: Access, given: Sequence[Feedback]) -> dict[str, Any]:
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
        "use": [_use(feedback) for _, feedback in rows],
    }


def _use(feedback: Feedback | None) -> str:
    if feedback is None:
        return "–"
    return f"{'yes' if feedback.useful else 'no'}, says {one_line(feedback.actor, 40)}"
