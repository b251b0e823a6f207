"""Memories as a table: safe text in, the places of the ticked rows out, never their positions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import pandas as pd
import streamlit as st
from mnemoscope import MemoryRecord
from mnemoscope.core import show_namespace
from mnemoscope.stores import Ref

from app.text.display import one_line

ROWS_PER_PAGE = 100


TEXT_LIMIT = 300


COLUMNS: dict[str, Any] = {
    "content": st.column_config.TextColumn("Memory", width="large"),
    "categories": st.column_config.ListColumn("Categories", width="medium"),
    "importance": st.column_config.ProgressColumn("Importance", min_value=0.0, max_value=1.0, format="%.2f"),
    "changed": st.column_config.DatetimeColumn("Changed", format="distance", timezone="UTC"),
    "source": st.column_config.TextColumn("Source"),
    "namespace": st.column_config.TextColumn("Namespace"),
    "private": st.column_config.CheckboxColumn("Private", width="small"),
    "problems": st.column_config.TextColumn("Problems"),
}


class Window(NamedTuple):
    """The rows that one page of a table shows: from `start`, up to but without `stop`."""

    start: int
    stop: int


def make_frame(records: Sequence[MemoryRecord]) -> pd.DataFrame:
    """One row a record, in their order, every text made safe and cut; see `COLUMNS`."""
    return pd.DataFrame(
        {
            "content": [one_line(record.content, TEXT_LIMIT) for record in records],
            "categories": [[one_line(each, 40) for each in record.categories] for record in records],
            "importance": pd.array([record.importance for record in records], dtype="Float64"),
            "changed": pd.to_datetime([record.changed_at for record in records], utc=True),
            "source": [one_line(record.source or "", 60) for record in records],
            "namespace": [one_line(show_namespace(record.namespace), 80) for record in records],
            "private": [record.private for record in records],
            "problems": [one_line("; ".join(record.problems), TEXT_LIMIT) for record in records],
        }
    )


def draw_memories(
    records: Sequence[MemoryRecord],
    *,
    key: str,
    columns: Sequence[str] = ("content", "categories", "importance", "changed"),
    selection: Literal["single-row", "multi-row"] = "multi-row",
    height: int | Literal["auto", "content", "stretch"] = "auto",
    alt: str = "Memories",
) -> list[Ref]:
    """Draw the records (one page of them: see `pager`) and return where the ticked ones are."""
    refs = [(record.namespace, record.key) for record in records]
    event = st.dataframe(
        make_frame(records),
        column_order=list(columns),
        column_config=COLUMNS,
        hide_index=True,
        key=key_of(key, refs),
        on_select="rerun",
        selection_mode=selection,
        height=height,
        alt=alt,
    )
    return read_ticked(event, refs)


def key_of(prefix: str, refs: Sequence[Ref]) -> str:
    """A widget key that changes with the rows, since a selection is kept by position under one key."""
    digest = hashlib.blake2b(repr(list(refs)).encode("utf-8", "backslashreplace"), digest_size=6)
    return f"{prefix}-{digest.hexdigest()}"


def read_ticked(event: Mapping[str, Any], refs: Sequence[Ref]) -> list[Ref]:
    """Where the ticked rows of a table are; positions outside of it are left out."""
    rows = event["selection"]["rows"]
    return [refs[row] for row in rows if 0 <= row < len(refs)]


def draw_pager(total: int, *, key: str, per_page: int = ROWS_PER_PAGE) -> Window:
    """Draw page numbers where `total` rows need more than one page; the rows of the page that is chosen."""
    if total <= per_page:
        return Window(0, total)
    pages = -(-total // per_page)
    with st.container(horizontal=True, vertical_alignment="center"):
        number = st.pagination(pages, key=key, bind="query-params")
        start = (min(number, pages) - 1) * per_page
        window = Window(start, min(start + per_page, total))
        st.caption(f"{window.start + 1:,} to {window.stop:,} of {total:,}", width="content")
    return window
