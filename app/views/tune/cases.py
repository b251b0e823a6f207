"""The cases of the Tune page: a table of them, and files in and out."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st
from mnemoscope import MnemoscopeError
from mnemoscope.core import show_namespace
from mnemoscope.recall import Case, cases_to_jsonl, read_cases

from app.components import actions, states, tables
from app.session import links, session
from app.session.scope import Scope
from app.session.session import Session
from app.text.display import counted, one_line, safe
from app.views.tune import data, new_case

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

FILE_KEY, IMPORT_KEY = "tune.file", "tune.import"


def draw_cases(working: Session, here: Scope) -> None:
    """Draw what there is, and beside it how to make more."""
    found = data.read_cases(working, here)
    table, more = st.columns([2.2, 1], gap="medium")
    with more:
        new_case.draw_new_case(working, here)
        new_case.draw_offers(working, here, found)
        draw_case_import(here)
    with table:
        if not found:
            _draw_empty()
        else:
            _draw_table(working, found, _texts(working, here))


def _draw_empty() -> None:
    states.draw_empty(
        "No cases here yet",
        "A case is a query with the memories that should come back. Make one here, or on Recall with one click.",
        icon=":material/fact_check:",
    )
    links.link_to("recall", "Go to Recall")


def _draw_table(working: Session, cases: Sequence[Case], texts: dict[str, str]) -> None:
    actions, table = st.container(), st.container()
    window = tables.draw_pager(len(cases), key=_PAGE_KEY)
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
    ticked = {ref[1] for ref in tables.read_ticked(event, refs)}
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
        actions.refuse(error)
        return
    actions.report(f"Deleted {counted(len(changes), 'case')}.", undo=changes[0].group if changes else None)


def draw_case_import(here: Scope) -> None:
    """Draw the upload, and what it holds."""
    with st.expander("Import cases", icon=":material/upload:"):
        file = st.file_uploader("A file with one JSON object a line", ["jsonl", "json", "txt"], key=FILE_KEY)
        if file is None:
            return
        try:
            cases = read_case_file(file.getvalue(), here)
        except MnemoscopeError as error:
            st.error("**This file cannot be read**", icon=":material/error:")
            st.code(safe(str(error), 1_000), language=None, wrap_lines=True)
            return
        st.button(
            f"Import {counted(len(cases), 'case')}",
            key=IMPORT_KEY,
            disabled=not cases,
            on_click=_import,
            args=(cases,),
            help="A case with the query and namespace of one that is here takes its place.",
        )


def read_case_file(data: bytes, here: Scope) -> list[Case]:
    """The cases of a file; those that name no namespace are of the scope.

    Raises:
        InputError: a line is no case.
    """
    return read_cases(data.decode("utf-8", "replace"), namespace=here.namespace or None)


def _import(cases: list[Case]) -> None:
    try:
        working = session.require_writing()
        changes = working.engine.tuning.save_cases(cases, actor=working.operator, reason="import of a file of cases")
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    actions.report(f"Imported {counted(len(cases), 'case')}.", undo=changes[0].group if changes else None)
