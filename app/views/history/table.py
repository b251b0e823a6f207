"""The changes of the scope as a table, latest first, a page at a time; a click opens one beside it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from mnemoscope import Change
from mnemoscope.core import show_namespace

from app.components import code, downloads, states, tables
from app.session import links
from app.session.scope import Scope
from app.session.session import Session
from app.text.display import one_line
from app.views.history import change as history_change
from app.views.history import filters
from app.views.history.filters import BEFORE, HistoryFilters, Page

OLDER_KEY, NEWEST_KEY = "history.older", "history.newest"


ROW_HEIGHT, MOST_ROWS_SHOWN = 35, 17


_COLUMNS: dict[str, Any] = {
    "when": st.column_config.DatetimeColumn("When", format="distance", timezone="UTC", width=110),
    "what": st.column_config.TextColumn("What", width=75),
    "who": st.column_config.TextColumn("Who", width=95),
    "text": st.column_config.TextColumn("Memory", width=330),
    "why": st.column_config.TextColumn("Why", width=230),
    "namespace": st.column_config.TextColumn("Namespace", width=140),
}


def draw_changes(working: Session, here: Scope) -> None:
    """Draw the filters, the table, and the change that is open."""
    chosen = filters.draw_filters(working, here)
    page = filters.read_page(working, here, chosen)
    opened = links.read_open_change()
    if not page.changes and not opened:
        _draw_nothing(chosen)
        return
    listing, detail = st.columns([11, 9], gap="medium") if opened else (st.container(), None)
    with listing:
        _draw_table(page.changes, here, is_narrow=opened is not None)
        _draw_pages(page)
    if opened and detail is not None:
        with detail:
            history_change.draw_change(working, opened)
    _draw_export(working, here, chosen)


def table_key(changes: Sequence[Change]) -> str:
    """The key of the table that shows these changes now."""
    openings = st.session_state.get(links.CHANGE_OPENINGS_KEY, 0)
    return tables.key_of(f"history.table-{openings}", [(change.namespace, change.id) for change in changes])


def _draw_nothing(chosen: HistoryFilters) -> None:
    if chosen.is_set or BEFORE in st.query_params:
        with st.container(border=True, horizontal=True, vertical_alignment="center", key="history-none"):
            st.markdown(":material/filter_alt_off: No change of this scope is so.")
            st.button("Clear filters", key="history.clear", on_click=filters.clear_filters)
    else:
        states.draw_empty("Nothing has changed here yet", "What Mnemoscope writes is noted here, with who and why.")


def _draw_table(changes: Sequence[Change], here: Scope, *, is_narrow: bool) -> None:
    if not changes:
        st.caption("No change of this scope is so.")
        return
    # A line of its own, since the table's own tools float over its right end.
    st.caption("Click a change to see what it did and to undo it.")
    wide = ["when", "what", "who", "text", "why", *(["namespace"] if here.subtree else [])]
    key = table_key(changes)
    st.dataframe(
        pd.DataFrame(
            {
                "when": pd.to_datetime([change.at for change in changes], utc=True),
                "what": [change.action for change in changes],
                "who": [one_line(change.actor, 60) for change in changes],
                "text": [_text_of(change) for change in changes],
                "why": [one_line(change.reason, 200) for change in changes],
                "namespace": [one_line(show_namespace(change.namespace), 80) for change in changes],
            }
        ),
        column_order=["when", "what", "who", "text"] if is_narrow else wide,
        column_config=_COLUMNS,
        hide_index=True,
        key=key,
        on_select=functools.partial(_open_clicked, key, [change.id for change in changes]),
        selection_mode="single-cell",
        row_height=ROW_HEIGHT,
        height=min(len(changes), MOST_ROWS_SHOWN) * ROW_HEIGHT + ROW_HEIGHT + 3,
        placeholder="",
        alt="Changes",
    )


def _text_of(change: Change) -> str:
    if change.erased:
        return "(erased)"
    return filters.show_text(change, change.text_after or change.text_before) or "(no text)"


def _draw_pages(page: Page) -> None:
    is_first = BEFORE not in st.query_params
    if is_first and not page.has_more:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="history-pages"):
        st.button(
            "Newest", key=NEWEST_KEY, icon=":material/first_page:", disabled=is_first,
            on_click=filters.go_to_first_page,
        )  # fmt: skip
        last = page.changes[-1].id if page.changes else ""
        st.button(
            "Older", key=OLDER_KEY, icon=":material/chevron_right:", disabled=not page.has_more,
            on_click=_go_on, args=(last,),
        )  # fmt: skip
        st.caption(f"{filters.ROWS} a page, read as you go", width="content")


def _draw_export(working: Session, here: Scope, chosen: HistoryFilters) -> None:
    given = {name: value for name, value in (("actor", chosen.by), ("action", chosen.action), ("run", chosen.run))}
    make = partial(working.engine.transfer.export_history, here.namespace, chosen.key, subtree=here.subtree, **given)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.download_button(
            "Export these changes", downloads.make_later(make),
            file_name=downloads.name_file(here, "jsonl", "history"), mime="application/jsonl",
            icon=":material/download:", on_click="ignore", key="history.export",
            help="JSON lines with both texts of every change that matches by who, kind, key and run; private ones too.",
        )  # fmt: skip
    lines = code.write_python(
        "history", here.namespace, chosen.key, subtree=here.subtree or None, **chosen.texts, limit=filters.ROWS
    )
    command = code.write_command(
        "history", namespace=here.namespace, subtree=here.subtree, key=chosen.key, **chosen.texts,
        limit=filters.ROWS,
    )  # fmt: skip
    code.draw_code(lines.replace("None, ", ""), command)


def _go_on(last: str) -> None:
    st.query_params[BEFORE] = last


def _open_clicked(key: str, ids: Sequence[str]) -> None:
    cells = st.session_state[key]["selection"]["cells"]
    if cells and 0 <= cells[0][0] < len(ids):
        links.open_change(ids[cells[0][0]])
