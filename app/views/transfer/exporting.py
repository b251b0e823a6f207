"""Export: the scope as a file, for machines with everything in it or for people as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import streamlit as st
from mnemoscope import MemoryEngine
from mnemoscope.core import show_namespace, utc_now

from app.components import command_lines, python_lines
from app.session.scope import Scope
from app.session.session import Session
from app.text.display import one_line

__all__ = ["FORMAT_KEY", "as_file", "draw", "file_name", "pieces"]

FORMAT_KEY = "transfer.format"
LINES, TABLE = "Everything (JSON lines)", "A table (CSV)"

_VECTORS, _HISTORY = "transfer.vectors", "transfer.history"


def draw(working: Session, here: Scope) -> None:
    """Draw the choice of form and the download of the scope."""
    st.subheader("Export", anchor=False)
    name = one_line(show_namespace(here.namespace), 80) if here.namespace else "the whole store"
    st.text(f"{name}{' with all below' if here.subtree and here.namespace else ''}, private memories too")
    form = st.segmented_control("Form", [LINES, TABLE], default=LINES, required=True, key=FORMAT_KEY)
    is_lines = form == LINES
    with st.container(horizontal=True):
        has_vectors = st.checkbox("Vectors", True, key=_VECTORS, disabled=not is_lines)
        has_history = st.checkbox("History and trash", True, key=_HISTORY, disabled=not is_lines)
    make = partial(pieces, working.engine, here, form, has_vectors, has_history)
    st.download_button(
        "Download", as_file(make), file_name=file_name(here, "jsonl" if is_lines else "csv"),
        mime="application/jsonl" if is_lines else "text/csv", icon=":material/download:", on_click="ignore",
        key="transfer.download", help="The file is made when you click, one namespace at a time.",
    )  # fmt: skip
    st.caption(
        "Importing it elsewhere gives the very same memories."
        if is_lines
        else "Cells that a spreadsheet would run as a formula begin with an apostrophe."
    )
    options = {} if is_lines and has_vectors and has_history else {"vectors": has_vectors, "history": has_history}
    method = "export" if is_lines else "export_table"
    left_out = {"no_vectors": not has_vectors, "no_history": not has_history} if is_lines else {"format": "csv"}
    python_lines.draw(
        python_lines.call(method, here.namespace, subtree=here.subtree or None, **options if is_lines else {}),
        command_lines.call(
            "export",
            namespace=here.namespace,
            subtree=here.subtree,
            **left_out,
            output=file_name(here, "jsonl" if is_lines else "csv"),
        ),
    )


def pieces(engine: MemoryEngine, here: Scope, form: str, vectors: bool, history: bool) -> Iterator[bytes]:
    """The file in pieces."""
    if form == LINES:
        return engine.transfer.export(here.namespace, subtree=here.subtree, vectors=vectors, history=history)
    return engine.transfer.export_table(here.namespace, subtree=here.subtree)


def as_file(make: Callable[[], Iterator[bytes]]) -> Callable[[], bytes]:
    """What makes the file when it is asked for; Streamlit holds it in memory until it is fetched."""
    return lambda: b"".join(make())


def file_name(here: Scope, ending: str, what: str = "memories") -> str:
    """A name that says what, of which scope, and of which day."""
    letters = "-".join([what, *here.namespace[:4]])
    plain = "".join(each if each.isascii() and (each.isalnum() or each in "-_") else "-" for each in letters)
    return f"{plain[:80]}-{utc_now():%Y-%m-%d}.{ending}"
