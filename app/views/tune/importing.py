"""Cases out of a file: read, shown as what they are, and kept by one click."""

from __future__ import annotations

import streamlit as st
from mnemoscope import MnemoscopeError
from mnemoscope.recall import Case, read_cases

from app.components import feedback
from app.session import session
from app.session.scope import Scope
from app.text.display import counted, safe

__all__ = ["FILE_KEY", "IMPORT_KEY", "draw", "read"]

FILE_KEY, IMPORT_KEY = "tune.file", "tune.import"


def draw(here: Scope) -> None:
    """Draw the upload, and what it holds."""
    with st.expander("Import cases", icon=":material/upload:"):
        file = st.file_uploader("A file with one JSON object a line", ["jsonl", "json", "txt"], key=FILE_KEY)
        if file is None:
            return
        try:
            cases = read(file.getvalue(), here)
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


def read(data: bytes, here: Scope) -> list[Case]:
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
        feedback.refused(error)
        return
    feedback.done(f"Imported {counted(len(cases), 'case')}.", undo=changes[0].group if changes else None)
