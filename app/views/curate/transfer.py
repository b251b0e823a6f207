"""Export and import: the scope as a file; and what a file would do, row by row, before an admin lets it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from mnemoscope import MemoryEngine, MnemoscopeError
from mnemoscope.connections import may
from mnemoscope.core import Namespace, show_namespace
from mnemoscope.transfer import ConflictRule, ImportPlan, ImportRow, ImportStatus

from app.components import actions, code, states, tables
from app.components.downloads import make_later, name_file
from app.session import session
from app.session.cache import kept, stamp
from app.session.scope import Scope
from app.session.session import Session
from app.text.display import counted, one_line

FORMAT_KEY = "transfer.format"

LINES, TABLE = "Everything (JSON lines)", "A table (CSV)"

_VECTORS, _HISTORY = "transfer.vectors", "transfer.history"

UPLOAD_KEY, IMPORT_KEY, TARGET_KEY = "transfer.upload", "transfer.import", "transfer.target"

ROWS, ROW_HEIGHT = 12, 35

RULES: dict[str, ConflictRule] = {
    "keep what is here": "skip",
    "take the file's": "overwrite",
    "take whichever changed last": "newer",
}
"""What becomes of a row whose place is taken, by label."""

STATUSES: dict[str, ImportStatus] = {
    "New": "new", "Same": "same", "Conflicting": "conflicting", "Erased here": "erased",
    "Invalid": "invalid",
}  # fmt: skip

_RULE, _STATUS, _KEPT = "transfer.rule", "transfer.status", "transfer.kept"

_UPLOADS = "transfer.uploads"

_AS_IT_SAYS, _HERE = "where the file says", "this namespace"


def draw_export(working: Session, here: Scope) -> None:
    """Draw the choice of form and the download of the scope."""
    st.subheader("Export", anchor=False)
    name = one_line(show_namespace(here.namespace), 80) if here.namespace else "the whole store"
    st.text(f"{name}{' with all below' if here.subtree and here.namespace else ''}, private memories too")
    form = st.segmented_control("Form", [LINES, TABLE], default=LINES, required=True, key=FORMAT_KEY)
    is_lines = form == LINES
    with st.container(horizontal=True):
        has_vectors = st.checkbox("Vectors", True, key=_VECTORS, disabled=not is_lines)
        has_history = st.checkbox("History and trash", True, key=_HISTORY, disabled=not is_lines)
    make = partial(export_pieces, working.engine, here, form, has_vectors, has_history)
    st.download_button(
        "Download", make_later(make), file_name=name_file(here, "jsonl" if is_lines else "csv"),
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
    code.draw_code(
        code.write_python(method, here.namespace, subtree=here.subtree or None, **options if is_lines else {}),
        code.write_command(
            "export",
            namespace=here.namespace,
            subtree=here.subtree,
            **left_out,
            output=name_file(here, "jsonl" if is_lines else "csv"),
        ),
    )


def export_pieces(engine: MemoryEngine, here: Scope, form: str, vectors: bool, history: bool) -> Iterator[bytes]:
    """The file in pieces."""
    if form == LINES:
        return engine.transfer.export(here.namespace, subtree=here.subtree, vectors=vectors, history=history)
    return engine.transfer.export_table(here.namespace, subtree=here.subtree)


@dataclass(frozen=True)
class Upload:
    """A file as it was uploaded; `id` tells two of one name apart."""

    id: str
    name: str
    data: bytes


def draw_import(working: Session, here: Scope) -> None:
    """Draw the upload and, of a file, what importing it would do."""
    st.subheader("Import", anchor=False)
    # An uploader is emptied by drawing another one.
    key = f"{UPLOAD_KEY}-{st.session_state.get(_UPLOADS, 0)}"
    st.file_uploader(
        "A file of memories", key=key, on_change=_keep, args=(key,),
        help="Our exports, those of mem0, CrewAI and langgraph-memory, and any JSON whose objects have a content.",
    )  # fmt: skip
    upload = st.session_state.get(_KEPT)
    if not isinstance(upload, Upload):
        st.caption("First you see what it would do, row by row; nothing is written before you say so.")
        return
    rule, target = _draw_rules(here)
    exact = Scope(target, subtree=False) if target else Scope()
    stamped = stamp(working, exact, "tombstones", "journal")
    try:
        plan = kept(
            "import",
            None if stamped is None else (upload.id, rule, target, stamped),
            lambda: working.engine.transfer.plan_import(upload.data, target, conflicts=rule, name=upload.name),
        )
    except MnemoscopeError as error:
        states.draw_failed(error)
        return
    _draw_plan(working, plan)
    code.draw_code(
        "plan = engine.transfer.plan_import(open(…, 'rb'), "
        f"{target!r}, conflicts={rule!r}, name={upload.name!r})\nengine.transfer.apply_import(plan)",
        code.write_command("import", upload.name, namespace=target or (), conflicts=rule),
    )


def _keep(key: str) -> None:
    uploaded = st.session_state[key]
    if uploaded is None:
        st.session_state.pop(_KEPT, None)
    else:
        st.session_state[_KEPT] = Upload(uploaded.file_id, uploaded.name, uploaded.getvalue())


def _draw_rules(here: Scope) -> tuple[ConflictRule, Namespace | None]:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        rule = st.selectbox("Where a place is taken", list(RULES), key=_RULE, width=250)
        can_be_here = bool(here.namespace)
        target = st.segmented_control(
            "Into", [_AS_IT_SAYS, _HERE], default=_AS_IT_SAYS, required=True, key=TARGET_KEY, disabled=not can_be_here,
            help="“This namespace” is the one chosen at the top; an export moves there as a whole.",
        )  # fmt: skip
    return RULES[rule], here.namespace if can_be_here and target == _HERE else None


def _draw_plan(working: Session, plan: ImportPlan) -> None:
    st.text(one_line(plan.name, 120))
    status = st.segmented_control(
        "Rows", list(STATUSES), default=None, key=_STATUS, label_visibility="collapsed",
        format_func=lambda label: f"{label} · {plan.counts.get(STATUSES[label], 0):,}",
    )  # fmt: skip
    rows = [row for row in plan.rows if status is None or row.status == STATUSES[status]]
    if rows:
        window = tables.draw_pager(len(rows), key="w_rows")
        _draw_rows(rows[window.start : window.stop])
    else:
        st.caption("No row of the file is so.")
    if plan.remarked:
        come = "comes with a remark" if len(plan.remarked) == 1 else "come with remarks"
        st.caption(f"{counted(len(plan.remarked), 'row')} {come}: what cannot be read as it stands is left out.")
    problem = _why_not(working, plan)
    embedded = f"; {counted(plan.to_embed, 'text')} to embed" if plan.to_embed else ""
    st.button(
        f"Import {counted(plan.written, 'row')}", key=IMPORT_KEY, type="primary", icon=":material/upload:",
        disabled=bool(problem), help=problem or None, on_click=_import, args=(plan,),
    )  # fmt: skip
    st.caption(problem or f"All of it as one group, which one undo takes back{embedded}.")


def _draw_rows(rows: list[ImportRow]) -> None:
    columns: dict[str, Any] = {
        "where": st.column_config.TextColumn("Where", width=70),
        "status": st.column_config.TextColumn("Is", width=85),
        "written": st.column_config.CheckboxColumn("Written", width=65),
        "remarks": st.column_config.TextColumn("Remarks", width=290),
        "text": st.column_config.TextColumn("Text", width=240),
        "reason": st.column_config.TextColumn("Why", width=230),
        "place": st.column_config.TextColumn("Place", width=190),
    }
    with_remarks = any(row.remarks for row in rows)
    shown = [name for name in columns if with_remarks or name != "remarks"]
    st.dataframe(
        pd.DataFrame(
            {
                "where": [one_line(row.where, 60) for row in rows],
                "status": [row.status for row in rows],
                "written": [row.is_written for row in rows],
                "text": [one_line(row.text or "", tables.TEXT_LIMIT) for row in rows],
                "reason": [one_line(row.reason, tables.TEXT_LIMIT) for row in rows],
                "remarks": [one_line("; ".join(row.remarks), tables.TEXT_LIMIT) for row in rows],
                "place": [f"{show_namespace(row.ref[0])} · {row.ref[1]}" if row.ref else "" for row in rows],
            }
        ).map(lambda value: one_line(value, 400) if isinstance(value, str) else value),
        column_config=columns,
        column_order=shown,
        hide_index=True,
        row_height=ROW_HEIGHT,
        height=min(len(rows), ROWS) * ROW_HEIGHT + ROW_HEIGHT + 3,
        alt="Rows of the file",
    )


def _why_not(working: Session, plan: ImportPlan) -> str:
    if not may(working.role, "admin"):
        return "Importing takes the role admin."
    if not working.is_writing:
        return working.closed or "Reading only. Switch writing on at the top of the page."
    return "" if plan.written else "There is nothing to write."


def _import(plan: ImportPlan) -> None:
    try:
        working = session.require_role("admin")
        changes = working.engine.transfer.apply_import(plan, actor=working.operator)
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    st.session_state.pop(_KEPT, None)
    st.session_state[_UPLOADS] = st.session_state.get(_UPLOADS, 0) + 1
    undo = changes[0].group if changes else None
    actions.report(f"Imported {counted(plan.written, 'row')}.", undo=undo)
