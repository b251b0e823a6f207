"""Changing one memory by hand: its text and labels, as long as nobody else changed it; or forgetting it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import streamlit as st
from mnemoscope import MemoryRecord, MnemoscopeError
from mnemoscope.core import storable
from mnemoscope.stores import Ref

from app.components import actions, code, differences, live
from app.session import session
from app.session.session import Session
from app.text.display import one_line

EDIT_KEY, SAVE_KEY, CANCEL_KEY, FORGET_KEY = "browse.edit", "browse.save", "browse.cancel", "browse.forget-one"


FIELDS = ("content", "categories", "importance", "private", "reason")


"""The form's fields; the widget of one has the key "browse.edit.<field>"."""


_EDITING = "browse.editing"


_WHY = "browse.forget-one.reason"


def is_editing(ref: Ref) -> bool:
    """Whether the form for this memory is open."""
    editing = st.session_state.get(_EDITING, {})
    return bool(editing.get("ref") == ref and "saved_as" not in editing)


def draw_memory_actions(working: Session, record: MemoryRecord) -> None:
    """Draw what can be done with the memory."""
    help = None if working.is_writing else "Reading only. Switch writing on at the top of the page."
    ref = (record.namespace, record.key)
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Edit", key=EDIT_KEY, icon=":material/edit:", disabled=help is not None, help=help,
            on_click=_begin, args=(record,),
        )  # fmt: skip
        with st.popover("Forget", icon=":material/delete:", disabled=help is not None, help=help, key="browse-forget"):
            st.markdown("**Forget this memory?**")
            st.caption("It leaves every recall at once. It stays in the trash, and one undo brings it back.")
            st.text_input("Why", key=_WHY, placeholder="For the history", max_chars=300)
            st.button("Forget", key=FORGET_KEY, type="primary", on_click=_forget, args=(ref,))


def draw_editor(working: Session, record: MemoryRecord, categories: Sequence[str]) -> None:
    """Draw the form for the memory; `categories` are those to choose from."""
    ref = (record.namespace, record.key)
    if record != st.session_state[_EDITING]["shown"]:
        _draw_conflict(record)
    with live.hold("edit"), st.form("browse.form", border=False):
        st.text_area("Text", storable(record.content)[0], key=_key("content"), height=160)
        st.multiselect(
            "Categories", [*dict.fromkeys([*record.categories, *categories])], record.categories,
            key=_key("categories"), accept_new_options=True, format_func=_label,
        )  # fmt: skip
        st.slider("Importance", 0.0, 1.0, _importance_of(record), 0.01,
                  key=_key("importance"))  # fmt: skip
        st.toggle(
            "Private to its source", record.private, key=_key("private"), disabled=record.source is None,
            help="Only recalls on behalf of its source bring it back. A memory without a source cannot be private.",
        )  # fmt: skip
        st.text_input("Why", key=_key("reason"), placeholder="For the history", max_chars=300)
        with st.container(horizontal=True):
            st.form_submit_button("Save", key=SAVE_KEY, type="primary", on_click=_save, args=(ref, record))
            st.form_submit_button("Cancel", key=CANCEL_KEY, on_click=_end)
    line = code.write_python(
        "update", record.namespace, record.key, content="…", expected_revision=record.revision,
        actor=working.operator,
    )  # fmt: skip
    command = code.write_command(
        "update", namespace=record.namespace, key=record.key, content="…", revision=record.revision,
        operator=working.operator,
    )  # fmt: skip
    code.draw_code(line, command)


def _draw_conflict(record: MemoryRecord) -> None:
    st.warning(
        "Someone changed this memory while you were editing. Below is what saving would make of their text.",
        icon=":material/warning:",
    )
    draft = str(st.session_state.get(_key("content"), ""))
    differences.draw_difference(record.content, draft, key="browse.edit.difference")


def _begin(record: MemoryRecord) -> None:
    for field in FIELDS:
        st.session_state.pop(_key(field), None)
    st.session_state[_EDITING] = {
        "ref": (record.namespace, record.key),
        "shown": record,
        "before": _fields_of(record),
        "lock": threading.Lock(),
    }


def _end() -> None:
    st.session_state.pop(_EDITING, None)


def _save(ref: Ref, shown: MemoryRecord) -> None:
    """Save what was typed, once: two clicks at once are two runs of the script, side by side."""
    editing = st.session_state.get(_EDITING)
    if editing is None:
        return
    with editing["lock"]:
        if "saved_as" not in editing:
            _save_once(editing, ref, shown)


def _save_once(editing: dict[str, Any], ref: Ref, shown: MemoryRecord) -> None:
    reason = st.session_state.get(_key("reason")) or ""
    try:
        working = session.require_writing()
        changes = _read_changes()
        if not changes:
            _end()
            actions.report("Nothing had to change.")
            return
        change = working.engine.update(*ref, **changes, expected=shown, actor=working.operator, reason=reason)
    except MnemoscopeError as error:
        # The form stays open with what was typed; where the memory changed meanwhile, it shows both texts.
        actions.refuse(error)
        return
    # A click meanwhile ends this run at the next look at the session's state, and so this is noted without one.
    editing["saved_as"] = change.group
    actions.report("Saved.", undo=change.group)


def _read_changes() -> dict[str, Any]:
    """What was changed in the form since it was opened; what others changed meanwhile is left to them."""
    before = st.session_state[_EDITING]["before"]
    given = {field: st.session_state.get(_key(field)) for field in before}
    return {field: value for field, value in given.items() if value is not None and value != before[field]}


def _fields_of(record: MemoryRecord) -> dict[str, Any]:
    return {
        "content": storable(record.content)[0],
        "categories": list(record.categories),
        "importance": _importance_of(record),
        "private": record.private,
    }


def _importance_of(record: MemoryRecord) -> float:
    return 0.5 if record.importance is None else record.importance


def _forget(ref: Ref) -> None:
    try:
        working = session.require_writing()
        reason = st.session_state.get(_WHY, "")
        forgotten = working.engine.forget(ref[0], key=ref[1], actor=working.operator, reason=reason)
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    actions.report("Forgot 1 memory.", undo=forgotten.group)


def _label(name: str) -> str:
    return one_line(name, 60)


def _key(field: str) -> str:
    return f"browse.edit.{field}"
