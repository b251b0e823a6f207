"""One memory beside the table: its text, what is known of it, where it comes from, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
import streamlit as st
from mnemoscope import MemoryRecord, NamespaceError
from mnemoscope.core import Namespace, read_namespace, show_namespace, utc_now
from mnemoscope.index import ScopeIndex
from mnemoscope.journal import Access
from mnemoscope.stores import Ref

from app.components import code, states, tables
from app.session import links
from app.session.session import Session
from app.text.display import age, counted, one_line, safe, timestamp
from app.views.browse import edit, evidence, history

CLOSE_KEY = "browse.close"


TABS_KEY = "browse.part"


TEXT_LIMIT = 20_000


LONG_TEXT, LONG_LINES, LONG_HEIGHT = 900, 14, 320


NEIGHBOURS = 8


def draw_memory(working: Session, index: ScopeIndex, ref: Ref, *, include_private: bool) -> None:
    """Draw the memory at this place of the scope, or say that it is not there any more."""
    at = index.position.get(ref)
    with st.container(border=True, key="browse-detail"):
        _draw_head()
        if at is None:
            _draw_gone(working, ref)
        elif index.records[at].private and not include_private:
            states.draw_empty("This memory is private", "Switch on “Show private” to read it.", icon=":material/lock:")
        elif edit.is_editing(ref):
            edit.draw_editor(working, index.records[at], _list_names(index.columns.categories.names))
        else:
            _draw_content(working, index, index.records[at], include_private)


def find_neighbours(index: ScopeIndex, ref: Ref, *, include_private: bool) -> list[tuple[MemoryRecord, float]]:
    """The memories of the scope that are nearest in meaning, with their cosine, nearest first."""
    at = index.position[ref]
    rows = np.flatnonzero(index.owner == at)
    if not len(rows):
        return []
    cosines = np.nan_to_num(index.cosine(index.matrix[rows[0]]), nan=-np.inf)
    cosines[at] = -np.inf
    if not include_private:
        cosines[index.private] = -np.inf
    nearest = np.argsort(-cosines, kind="stable")[:NEIGHBOURS]
    return [(index.records[near], float(cosines[near])) for near in nearest.tolist() if np.isfinite(cosines[near])]


def _draw_head() -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader("Memory", anchor=False, width="stretch")
        st.button(
            "Close",
            key=CLOSE_KEY,
            icon=":material/close:",
            type="tertiary",
            on_click=links.close_memory,
            width="content",
        )


def _draw_gone(working: Session, ref: Ref) -> None:
    namespace, key = ref
    states.draw_empty("It is not here any more", "What became of it is written below.", icon=":material/delete:")
    history.draw_history(working, namespace, key)


def _draw_content(working: Session, index: ScopeIndex, record: MemoryRecord, include_private: bool) -> None:
    is_long = len(record.content) > LONG_TEXT or record.content.count("\n") > LONG_LINES
    with st.container(key="browse-text", height=LONG_HEIGHT if is_long else "content", border=is_long):
        if record.content:
            st.text(safe(record.content, TEXT_LIMIT), width="stretch")
        else:
            st.caption("This item has no text that could be recalled.")
    if record.problems:
        st.warning("Parts of this item could not be read as they should.", icon=":material/warning:")
        st.code(safe("\n".join(record.problems), 2_000), language=None, wrap_lines=True)
    out_of_reach = _why_out_of_reach(record.namespace)
    if out_of_reach:
        st.info(f"This item can be read, not changed, and it has no history. {safe(out_of_reach, 500)}")
        _draw_facts(record, Access(), has_vector=bool(index.vectored[index.position[record.namespace, record.key]]))
        _draw_raw(record)
        return
    edit.draw_memory_actions(working, record)
    access = working.engine.usage.recalls(record.namespace).get(record.key, Access())
    _draw_facts(record, access, has_vector=bool(index.vectored[index.position[record.namespace, record.key]]))
    _draw_parts(working, index, record, access, include_private)
    _draw_python(record)


def _why_out_of_reach(namespace: Namespace) -> str:
    """Why nothing here can be changed: another program wrote where this one does not; empty where it can."""
    try:
        read_namespace(namespace)
    except NamespaceError as error:
        return str(error)
    return ""


def _draw_facts(record: MemoryRecord, access: Access, *, has_vector: bool) -> None:
    now = utc_now()
    facts = {
        "Importance": "unknown" if record.importance is None else f"{record.importance:.2f}",
        "Categories": ", ".join(one_line(name, 60) for name in record.categories) or "–",
        "Source": one_line(record.source or "–", 80),
        "May be recalled by": "its source alone" if record.private else "everyone",
        "Changed": age(record.changed_at, now),
        "Made": age(record.created_at, now),
        "Recalled": f"{counted(access.count, 'time')}, last {age(access.last, now)}" if access.count else "never",
        "Revision": str(record.revision),
        "Namespace": one_line(show_namespace(record.namespace), 120),
    }
    facts |= {"Expires": age(record.expires_at, now)} if record.expires_at else {}
    facts |= {"Pinned": "yes"} if record.pinned else {}
    facts |= {"Vector": "none"} if not has_vector else {}
    moments = {"Changed": record.changed_at, "Made": record.created_at, "Expires": record.expires_at}
    grid = st.grid(3, min_column_width=130, gap=("small", "small"), key="browse-facts")
    for label, value in facts.items():
        with grid.container(gap="xxsmall"):
            st.caption(label)
            st.text(value, help=timestamp(moments[label]) if label in moments else None)


def _draw_parts(
    working: Session, index: ScopeIndex, record: MemoryRecord, access: Access, include_private: bool
) -> None:
    parts: dict[str, Callable[[], None]] = {
        "Evidence": lambda: evidence.draw_evidence(working, record),
        "History": lambda: history.draw_history(working, record.namespace, record.key),
        "Alike": lambda: _draw_neighbours(index, record, include_private),
        "Recalls": lambda: history.draw_recalls(working, record, access),
        "Raw": lambda: _draw_raw(record),
    }
    # Only the part that is open is read and computed.
    for tab, draw_part in zip(st.tabs(list(parts), key=TABS_KEY, on_change="rerun"), parts.values(), strict=True):
        if tab.open:
            with tab:
                draw_part()


def _draw_neighbours(index: ScopeIndex, record: MemoryRecord, include_private: bool) -> None:
    found = find_neighbours(index, (record.namespace, record.key), include_private=include_private)
    if not found:
        st.caption("Nothing to compare: this memory has no vector, or it is alone here.")
        return
    refs = [(near.namespace, near.key) for near, _ in found]
    key = tables.key_of("browse.alike", [(record.namespace, record.key), *refs])
    st.dataframe(
        pd.DataFrame(
            {
                "similarity": [cosine for _, cosine in found],
                "content": [one_line(near.content, tables.TEXT_LIMIT) for near, _ in found],
            }
        ),
        column_config={
            "similarity": st.column_config.ProgressColumn(
                "Similarity", min_value=0.0, max_value=1.0, format="%.2f", width="small"
            ),
            "content": st.column_config.TextColumn("Memory"),
        },
        hide_index=True,
        key=key,
        on_select=lambda: _open_neighbour(key, refs),
        selection_mode="single-cell",
        alt="Memories alike",
    )
    st.caption("Click one to open it.")


def _open_neighbour(key: str, refs: list[Ref]) -> None:
    cells = st.session_state[key]["selection"]["cells"]
    if cells and 0 <= cells[0][0] < len(refs):
        links.open_memory(refs[cells[0][0]])


def _draw_raw(record: MemoryRecord) -> None:
    st.caption("Key")
    st.code(one_line(record.key, 500), language=None, wrap_lines=True)
    st.caption("The item as it is read")
    st.json(_make_printable(record.to_value()))


def _draw_python(record: MemoryRecord) -> None:
    code.draw_code(
        {
            "This memory": code.write_python("get", record.namespace, record.key),
            "Its history": code.write_python("history", record.namespace, record.key),
            "A change": code.write_python(
                "update", record.namespace, record.key, importance=0.9, expected_revision=record.revision
            ),
            "Withdraw it": code.write_python("forget", record.namespace, key=record.key, reason="…"),
        },
        {
            "Its history": code.write_command("history", namespace=record.namespace, key=record.key),
            "A change": code.write_command("update", namespace=record.namespace, key=record.key, importance=0.9),
            "Withdraw it": code.write_command("forget", namespace=record.namespace, key=record.key, reason="…"),
        },
    )


def _make_printable(value: object) -> object:
    if isinstance(value, str):
        return safe(value, TEXT_LIMIT)
    if isinstance(value, dict):
        return {safe(str(name), 200): _make_printable(part) for name, part in value.items()}
    return [_make_printable(part) for part in value] if isinstance(value, list) else value


def _list_names(names: Iterable[str | None]) -> list[str]:
    return sorted(name for name in names if name is not None)
