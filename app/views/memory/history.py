"""What became of one memory: every change with who, when, why, and the difference it made."""

from __future__ import annotations

from typing import Any

import streamlit as st
from mnemoscope import Change, MnemoscopeError
from mnemoscope.core import Namespace, utc_now

from app.components import feedback, word_difference
from app.session import session
from app.session.session import Session
from app.text.display import age, one_line, safe, timestamp

__all__ = ["ICONS", "LATEST", "UNDO_KEY", "draw", "labels_changed"]

LATEST = 30
UNDO_KEY = "browse.history.undo"

ICONS = {
    "insert": ":material/add_circle:", "update": ":material/edit:", "forget": ":material/delete:",
    "restore": ":material/restore_from_trash:", "undo": ":material/undo:", "merge": ":material/merge:",
    "move": ":material/drive_file_move:", "import": ":material/upload:", "erase": ":material/ink_eraser:",
    "delete": ":material/delete:", "adopt": ":material/input:", "allow": ":material/lock_open:",
}  # fmt: skip
_LABELS = ("categories", "importance", "private", "source", "metadata", "pinned", "expires_at")


def draw(working: Session, namespace: Namespace, key: str) -> None:
    """Draw the history of the memory at this place, latest change first."""
    changes = working.engine.history(namespace, key, limit=LATEST + 1)
    if not changes:
        st.caption("No change is on record: it was written before Mnemoscope, or by plain store calls.")
    for at, change in enumerate(changes[:LATEST]):
        with st.container(border=True, gap="xsmall"):
            _draw_change(change)
            if at == 0:
                _draw_undo(working, change)
    if len(changes) > LATEST:
        st.caption(f"The latest {LATEST} changes.")


def labels_changed(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What else than the text changed, one line a field."""
    changed = [name for name in _LABELS if before.get(name) != after.get(name)]
    return [f"{name}: {_shown(before.get(name))} → {_shown(after.get(name))}" for name in changed]


def _draw_change(change: Change) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.markdown(f"{ICONS[change.action]} **{change.action.capitalize()}**", width="content")
        st.text(f"by {one_line(change.actor, 40)}", width="content")
        st.caption(age(change.at, utc_now()), width="content", help=timestamp(change.at))
    if change.reason:
        st.text(safe(change.reason, 500))
    if change.erased:
        st.caption("The texts were erased for good.")
    elif change.before is not None and change.after is not None:
        _draw_difference(change, change.before, change.after)


def _draw_difference(change: Change, before: dict[str, Any], after: dict[str, Any]) -> None:
    old, new = change.text_before or "", change.text_after or ""
    if old != new:
        word_difference.draw(old, new, key=f"browse.difference-{change.id}")
    for line in labels_changed(before, after):
        st.text(one_line(line, 300))


def _draw_undo(working: Session, change: Change) -> None:
    st.button(
        "Undo this change",
        key=UNDO_KEY,
        icon=":material/undo:",
        disabled=not working.is_writing or change.erased,
        help=None if working.is_writing else "Reading only. Switch writing on at the top of the page.",
        on_click=_undo,
        args=(change.id,),
    )


def _undo(change: str) -> None:
    try:
        working = session.require_writing()
        changes = working.engine.undo(change, actor=working.operator)
    except MnemoscopeError as error:
        feedback.refused(error)
        return
    feedback.done("Undone.", undo=changes[0].group)


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)
