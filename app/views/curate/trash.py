"""The trash: what was forgotten, to bring back, to let be remembered anew, or to erase for good with a receipt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from mnemoscope import Change, MnemoscopeError
from mnemoscope.connections import may
from mnemoscope.core import Namespace, show_namespace
from mnemoscope.curation import ErasureReceipt
from mnemoscope.journal import Tombstone
from mnemoscope.stores import Ref

from app.components import actions, code, states, tables
from app.session import session
from app.session.cache import kept, stamp
from app.session.scope import Scope
from app.session.session import Session
from app.text.display import counted, one_line, timestamp
from app.views.curate.worklists import PRIVATE_KEY

RESTORE_KEY, ALLOW_KEY, SUPPRESS_KEY = "curate.restore", "curate.allow", "curate.suppress"

PAGE_KEY = "w_trash"

ROWS, ROW_HEIGHT = 15, 35

_COLUMNS: dict[str, Any] = {
    "memory": st.column_config.TextColumn("Memory", width=420),
    "when": st.column_config.DatetimeColumn("Forgotten", format="distance", timezone="UTC", width=115),
    "who": st.column_config.TextColumn("By", width=110),
    "why": st.column_config.TextColumn("Why", width=220),
    "namespace": st.column_config.TextColumn("Namespace", width=150),
    "facts": st.column_config.TextColumn("Facts like it", width=120),
}

ERASE_KEY, CONFIRM_ERASE_KEY = "curate.erase", "curate.erase.confirm"

CLEAR_KEY, CONFIRM_CLEAR_KEY = "curate.clear", "curate.clear.confirm"

_ERASE_WHY, _CLEAR_WHY = "curate.erase.reason", "curate.clear.reason"

_RECEIPT = "curate.erase.receipt"

_ADMINS_ONLY = "This takes the role admin."


def draw_trash(working: Session, here: Scope) -> None:
    """Draw the trash of the scope."""
    draw_receipt()
    stones = kept(
        "trash",
        stamp(working, here, "tombstones"),
        lambda: working.engine.curation.trash(here.namespace, subtree=here.subtree),
    )
    shown = [stone for stone in stones if st.session_state.get(PRIVATE_KEY) or not stone.record.private]
    if len(shown) < len(stones):
        st.caption(f":material/lock: {len(stones) - len(shown):,} private hidden")
    if not shown:
        states.draw_empty("The trash is empty", "What is forgotten in this scope waits here.", icon=":material/delete:")
        return
    actions, table = st.container(), st.container()
    window = tables.draw_pager(len(shown), key=PAGE_KEY)
    with table:
        ticked = _draw_table(shown[window.start : window.stop], here)
    with actions:
        _draw_actions(working, ticked)
    _draw_python(ticked, here)


def table_key(stones: Sequence[Tombstone]) -> str:
    """The key of the table that shows these."""
    return tables.key_of("curate.trash", [(stone.record.namespace, stone.record.key) for stone in stones])


def _draw_table(stones: Sequence[Tombstone], here: Scope) -> list[Tombstone]:
    event = st.dataframe(
        pd.DataFrame(
            {
                "memory": [one_line(stone.record.content, tables.TEXT_LIMIT) or "(no text)" for stone in stones],
                "when": pd.to_datetime([stone.forgotten_at for stone in stones], utc=True),
                "who": [one_line(stone.actor, 60) for stone in stones],
                "why": [one_line(stone.reason, 200) for stone in stones],
                "namespace": [one_line(show_namespace(stone.record.namespace), 80) for stone in stones],
                "facts": ["allowed" if stone.allowed else "suppressed" for stone in stones],
            }
        ),
        column_order=[name for name in _COLUMNS if name != "namespace" or here.subtree],
        column_config=_COLUMNS,
        hide_index=True,
        key=table_key(stones),
        on_select="rerun",
        selection_mode="multi-row",
        row_height=ROW_HEIGHT,
        height=min(len(stones), ROWS) * ROW_HEIGHT + ROW_HEIGHT + 3,
        placeholder="",
        alt="Forgotten memories",
    )
    refs = [(stone.record.namespace, stone.record.key) for stone in stones]
    chosen = set(tables.read_ticked(event, refs))
    return [stone for stone, ref in zip(stones, refs, strict=True) if ref in chosen]


def _draw_actions(working: Session, ticked: Sequence[Tombstone]) -> None:
    refs = tuple((stone.record.namespace, stone.record.key) for stone in ticked)
    help = _why_not(working, ticked)
    number = f" {len(ticked):,}" if ticked else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="curate-trash-actions"):
        for label, icon, key, act in (
            (f"Restore{number}", ":material/restore_from_trash:", RESTORE_KEY, _restore),
            ("Allow again", ":material/lock_open:", ALLOW_KEY, _allow),
            ("Suppress", ":material/block:", SUPPRESS_KEY, _suppress),
        ):
            st.button(label, key=key, icon=icon, disabled=help is not None, help=help, on_click=act, args=(refs,))
        draw_erase(working, refs, help)
        if not ticked:
            st.caption(
                "Tick rows. Facts like a forgotten memory stay out until they are allowed again.", width="content"
            )


def _why_not(working: Session, ticked: Sequence[Tombstone]) -> str | None:
    if not working.is_writing:
        return working.closed or "Reading only. Switch writing on at the top of the page."
    return None if ticked else "Tick rows of the table first."


def _restore(refs: tuple[Ref, ...]) -> None:
    _carry_out(lambda working: working.engine.curation.restore(refs, actor=working.operator), "Restored")


def _allow(refs: tuple[Ref, ...]) -> None:
    _carry_out(lambda working: working.engine.curation.allow(refs, actor=working.operator), "Allowed again")


def _suppress(refs: tuple[Ref, ...]) -> None:
    _carry_out(lambda working: working.engine.curation.allow(refs, allowed=False, actor=working.operator), "Suppressed")


def _carry_out(act: Callable[[Session], list[Change]], verb: str) -> None:
    try:
        changes = act(session.require_writing())
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    said = f"{verb}: {counted(len(changes), 'memory', 'memories')}."
    actions.report(said, undo=changes[0].group if changes else None)


def _draw_python(ticked: Sequence[Tombstone], here: Scope) -> None:
    refs = [(stone.record.namespace, stone.record.key) for stone in ticked[:20]]
    code.draw_code(
        {
            "The trash": code.write_python("curation.trash", here.namespace, subtree=here.subtree or None),
            "Bring back": code.write_python("curation.restore", refs or "refs"),
            "Let facts like it be remembered again": code.write_python("curation.allow", refs or "refs"),
        },
        {
            "The trash": code.write_command("trash", namespace=here.namespace, subtree=here.subtree),
            "Bring back": code.write_commands_at("restore", refs),
            "Let facts like it be remembered again": code.write_commands_at("allow", refs),
        },
    )


def draw_erase(working: Session, refs: Sequence[Ref], help: str | None) -> None:
    """Draw what erases the forgotten memories at these places; `help` says why nothing can be done, if so."""
    namespaces = {namespace for namespace, _ in refs}
    if help is None and not may(working.role, "admin"):
        help = _ADMINS_ONLY
    if help is None and len(namespaces) > 1:
        help = "Tick memories of one namespace: it is typed in to confirm."
    with st.popover("Erase", icon=":material/ink_eraser:", disabled=help is not None, help=help, key="curate.erasing"):
        if not refs or help is not None:
            return
        name = one_line(show_namespace(refs[0][0]), 200)
        st.markdown(f"**Erase {counted(len(refs), 'memory', 'memories')} for good?**")
        st.caption("Text, history, tombstone, recalls and vectors go. It cannot be undone, and it is verified.")
        st.caption("To confirm, type the namespace:")
        st.code(name, language=None)
        st.text_input("Namespace", key=CONFIRM_ERASE_KEY, label_visibility="collapsed")
        st.text_input("Why, without quoting", key=_ERASE_WHY, max_chars=300, placeholder="Kept in the history")
        st.button("Erase for good", key=ERASE_KEY, type="primary", on_click=_erase, args=(tuple(refs),))


def draw_receipt() -> None:
    """Draw the receipt of the last erasure until it is dismissed."""
    receipt = st.session_state.get(_RECEIPT)
    if not isinstance(receipt, ErasureReceipt):
        return
    with st.container(border=True, key="curate-receipt"):
        icon = ":material/verified:" if receipt.is_complete else ":material/warning:"
        title = "Erased and verified" if receipt.is_complete else "Erased, but something is left"
        st.markdown(f"{icon} **{title}** · {timestamp(receipt.at)}")
        st.text(f"Receipt {receipt.id} · by {one_line(receipt.actor, 60)} · {show_namespace(receipt.namespace)}")
        st.caption(
            f"{counted(receipt.items, 'item')}, {counted(receipt.tombstones, 'tombstone')}, "
            f"{counted(receipt.changes, 'change')} blanked, {counted(receipt.access_notes, 'access note')}."
        )
        for line in receipt.verified:
            st.markdown(f":material/check: {line}")
        for line in receipt.failures:
            st.markdown(f":material/close: Not so: {line}")
        if receipt.elsewhere:
            st.caption(
                f"The same words stand in {counted(receipt.elsewhere, 'other place')}: erase those too if need be."
            )
        st.caption("Not reached by this: " + " ".join(receipt.not_reached))
        st.button("Dismiss", key="curate.erase.dismiss", on_click=_dismiss)


def draw_clear(working: Session, namespace: Namespace, number: int) -> None:
    """Draw what forgets every memory of a namespace."""
    help = None
    if not may(working.role, "admin"):
        help = _ADMINS_ONLY
    elif not working.is_writing:
        help = working.closed or "Reading only. Switch writing on at the top of the page."
    with st.popover(
        "Empty this namespace", icon=":material/delete_sweep:", disabled=help is not None or not number, help=help,
        key="curate.clearing",
    ):  # fmt: skip
        st.markdown(f"**Forget all {counted(number, 'memory', 'memories')} of it?**")
        st.caption("They go to the trash, and one undo brings them all back. To confirm, type the namespace:")
        st.code(one_line(show_namespace(namespace), 200), language=None)
        st.text_input("Namespace", key=CONFIRM_CLEAR_KEY, label_visibility="collapsed")
        st.text_input("Why", key=_CLEAR_WHY, max_chars=300, placeholder="For the history")
        st.button("Forget all", key=CLEAR_KEY, type="primary", on_click=_clear, args=(namespace,))


def _erase(refs: tuple[Ref, ...]) -> None:
    confirm, reason = st.session_state.get(CONFIRM_ERASE_KEY) or "", st.session_state.get(_ERASE_WHY) or ""
    try:
        working = session.require_role("admin")
        receipt = working.engine.curation.erase(
            refs[0][0], [key for _, key in refs], confirm=confirm.strip(), actor=working.operator, reason=reason
        )
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    st.session_state[_RECEIPT] = receipt
    st.session_state[CONFIRM_ERASE_KEY] = ""
    actions.report(f"Erased {counted(len(refs), 'memory', 'memories')}.")


def _clear(namespace: Namespace) -> None:
    confirm, reason = st.session_state.get(CONFIRM_CLEAR_KEY) or "", st.session_state.get(_CLEAR_WHY) or ""
    try:
        working = session.require_role("admin")
        forgotten = working.engine.curation.clear(
            namespace, confirm=confirm.strip(), actor=working.operator, reason=reason
        )
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    st.session_state[CONFIRM_CLEAR_KEY] = ""
    actions.report(f"Forgot {counted(forgotten, 'memory', 'memories')}.", undo=forgotten.group)


def _dismiss() -> None:
    st.session_state.pop(_RECEIPT, None)
