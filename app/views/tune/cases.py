"""The cases of the Tune page: a table of them, new ones, and files in and out."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st
from mnemoscope import MnemoscopeError
from mnemoscope.core import show_namespace
from mnemoscope.recall import Case, cases_to_jsonl

from app.components import feedback, states, tables
from app.session import navigation, session
from app.session.scope import Scope
from app.session.session import Session
from app.text.display import counted, one_line
from app.views.tune import data, importing, new_case, offers

__all__ = ["DELETE_KEY", "EXPORT_KEY", "draw"]

DELETE_KEY, EXPORT_KEY = "tune.delete", "tune.export"
_PAGE_KEY = "t_page"

_TEXT_LIMIT = 200
_COLUMNS = {
    "query": st.column_config.TextColumn("Query", width="large"),
    "expected": st.column_config.ListColumn("Expected", width="large"),
    "unwanted": st.column_config.ListColumn("Unwanted"),
    "namespace": st.column_config.TextColumn("Namespace"),
    "note": st.column_config.TextColumn("Note"),
}


def draw(working: Session, here: Scope) -> None:
    """Draw what there is, and beside it how to make more."""
    found = data.cases(working, here)
    table, more = st.columns([2.2, 1], gap="medium")
    with more:
        new_case.draw(working, here)
        offers.draw(working, here, found)
        importing.draw(here)
    with table:
        if not found:
            _draw_empty()
        else:
            _draw_table(working, found, _texts(working, here))


def _draw_empty() -> None:
    states.empty(
        "No cases here yet",
        "A case is a query with the memories that should come back. Make one here, or on Recall with one click.",
        icon=":material/fact_check:",
    )
    navigation.link_to("recall", "Go to Recall")


def _draw_table(working: Session, cases: Sequence[Case], texts: dict[str, str]) -> None:
    actions, table = st.container(), st.container()
    window = tables.pager(len(cases), key=_PAGE_KEY)
    shown = cases[window.start : window.stop]
    refs = [(each.namespace, each.id) for each in shown]
    with table:
        event = st.dataframe(
            _frame(shown, texts),
            column_config=_COLUMNS,
            hide_index=True,
            key=tables.key_of("tune.cases", refs),
            on_select="rerun",
            selection_mode="multi-row",
            alt="Cases",
        )
    ticked = {ref[1] for ref in tables.ticked(event, refs)}
    chosen = [each for each in cases if each.id in ticked]
    with actions, st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{counted(len(cases), 'case')}**", width="content")
        help = "Reading only. Switch writing on at the top of the page." if not working.is_writing else None
        st.button(
            f"Delete {len(chosen):,}" if chosen else "Delete",
            key=DELETE_KEY,
            icon=":material/delete:",
            disabled=help is not None or not chosen,
            help=help or (None if chosen else "Tick rows of the table first."),
            on_click=_delete,
            args=(chosen,),
        )
        st.download_button(
            f"Export {len(chosen or cases):,}",
            cases_to_jsonl(chosen or cases),
            "cases.jsonl",
            "application/jsonl",
            key=EXPORT_KEY,
            icon=":material/download:",
            on_click="ignore",
        )


def _frame(cases: Sequence[Case], texts: dict[str, str]) -> pd.DataFrame:
    def shown(entries: Sequence[str]) -> list[str]:
        return [one_line(texts.get(entry, entry), _TEXT_LIMIT) for entry in entries]

    return pd.DataFrame(
        {
            "query": [one_line(each.query, _TEXT_LIMIT) for each in cases],
            "expected": [shown(each.expected) for each in cases],
            "unwanted": [shown(each.unwanted) for each in cases],
            "namespace": [one_line(show_namespace(each.namespace), 80) for each in cases],
            "note": [one_line(each.note, _TEXT_LIMIT) for each in cases],
        }
    )


def _texts(working: Session, here: Scope) -> dict[str, str]:
    """The text of every memory that may be seen, by its key, so that cases read as what they mean."""
    records = working.engine.index(here.namespace, subtree=here.subtree).records
    return {record.key: record.content for record in records if not record.private and record.content}


def _delete(chosen: Sequence[Case]) -> None:
    try:
        working = session.require_writing()
        changes = working.engine.tuning.delete_cases(chosen, actor=working.operator)
    except MnemoscopeError as error:
        feedback.refused(error)
        return
    feedback.done(f"Deleted {counted(len(changes), 'case')}.", undo=changes[0].group if changes else None)
