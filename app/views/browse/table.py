"""Browse's table: ticks choose memories for an action, a click on a cell opens one; both by place, never by row."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import streamlit as st
from mnemoscope import MemoryRecord
from mnemoscope.stores import Ref

from app.components import tables
from app.views.browse import opened

__all__ = ["draw", "table_key"]

_TICKED = "browse.ticked"
_CLICKED = "browse.clicked"

NO_TEXT = "(no text)"
ROW_HEIGHT, MOST_ROWS_SHOWN = 35, 17

_COLUMNS: dict[str, Any] = tables.COLUMNS | {
    "similarity": st.column_config.ProgressColumn("Similarity", min_value=0.0, max_value=1.0, format="%.2f", width=105),
    "source": st.column_config.TextColumn("Source", width=125),
    "content": st.column_config.TextColumn("Memory", width=370),
    "categories": st.column_config.ListColumn("Categories", width=170),
    "namespace": st.column_config.TextColumn("Namespace", width=150),
    "importance": st.column_config.ProgressColumn("Importance", min_value=0.0, max_value=1.0, format="%.2f", width=105),
    "changed": st.column_config.DatetimeColumn("Changed", format="distance", timezone="UTC", width=115),
}
_NARROW: dict[str, Any] = {"content": st.column_config.TextColumn("Memory", width=300)}


def draw(
    records: Sequence[MemoryRecord],
    *,
    columns: Sequence[str],
    similarities: Sequence[float] | None,
    is_narrow: bool,
) -> list[Ref]:
    """Draw one page of memories; where the ticked ones are. What was ticked stays ticked while it is shown."""
    refs = [(record.namespace, record.key) for record in records]
    key = table_key(refs)
    frame = tables.frame(records)
    frame.loc[frame["content"] == "", "content"] = NO_TEXT
    if similarities is not None:
        frame["similarity"] = similarities
    kept = set(st.session_state.get(_TICKED, []))
    event = st.dataframe(
        frame,
        column_order=list(columns),
        column_config=_COLUMNS | (_NARROW if is_narrow else {}),
        hide_index=True,
        key=key,
        on_select=functools.partial(_open_clicked, key, refs),
        selection_mode=["multi-row", "single-cell"],
        selection_default={"selection": {"rows": [at for at, ref in enumerate(refs) if ref in kept]}},
        row_height=ROW_HEIGHT,
        height=min(len(refs), MOST_ROWS_SHOWN) * ROW_HEIGHT + ROW_HEIGHT + 3,
        placeholder="",
        alt="Memories",
    )
    st.session_state[_TICKED] = tables.ticked(event, refs)
    return tables.ticked(event, refs)


def table_key(refs: Sequence[Ref]) -> str:
    """The key of the table that shows these rows now."""
    return tables.key_of(f"browse.table-{st.session_state.get(opened.OPENINGS_KEY, 0)}", refs)


def _open_clicked(key: str, refs: Sequence[Ref]) -> None:
    cells = st.session_state[key]["selection"]["cells"]
    clicked = (key, *cells[0]) if cells else None
    # A tick is a selection too, and reports the cell that was clicked before it once more.
    if clicked and clicked != st.session_state.get(_CLICKED) and 0 <= cells[0][0] < len(refs):
        opened.open_memory(refs[cells[0][0]])
    st.session_state[_CLICKED] = clicked
