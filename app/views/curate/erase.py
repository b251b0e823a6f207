"""Erasing for good and emptying a namespace: for admins, with the namespace typed in, and a receipt to keep."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from mnemoscope import MnemoscopeError
from mnemoscope.connections import may
from mnemoscope.core import Namespace, show_namespace
from mnemoscope.curation import ErasureReceipt
from mnemoscope.stores import Ref

from app.components import feedback
from app.session import session
from app.session.session import Session
from app.text.display import counted, one_line, timestamp

__all__ = ["CLEAR_KEY", "CONFIRM_CLEAR_KEY", "CONFIRM_ERASE_KEY", "ERASE_KEY", "draw", "draw_clear", "draw_receipt"]

ERASE_KEY, CONFIRM_ERASE_KEY = "curate.erase", "curate.erase.confirm"
CLEAR_KEY, CONFIRM_CLEAR_KEY = "curate.clear", "curate.clear.confirm"

_WHY, _CLEAR_WHY = "curate.erase.reason", "curate.clear.reason"
_RECEIPT = "curate.erase.receipt"
_ADMINS_ONLY = "This takes the role admin."


def draw(working: Session, refs: Sequence[Ref], help: str | None) -> None:
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
        st.text_input("Why, without quoting", key=_WHY, max_chars=300, placeholder="Kept in the history")
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
        st.caption("Deleted bytes stay in a database's file until it reuses or compacts them.")
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
    confirm, reason = st.session_state.get(CONFIRM_ERASE_KEY) or "", st.session_state.get(_WHY) or ""
    try:
        working = session.require_role("admin")
        receipt = working.engine.curation.erase(
            refs[0][0], [key for _, key in refs], confirm=confirm.strip(), actor=working.operator, reason=reason
        )
    except MnemoscopeError as error:
        feedback.refused(error)
        return
    st.session_state[_RECEIPT] = receipt
    st.session_state[CONFIRM_ERASE_KEY] = ""
    feedback.done(f"Erased {counted(len(refs), 'memory', 'memories')}.")


def _clear(namespace: Namespace) -> None:
    confirm, reason = st.session_state.get(CONFIRM_CLEAR_KEY) or "", st.session_state.get(_CLEAR_WHY) or ""
    try:
        working = session.require_role("admin")
        forgotten = working.engine.curation.clear(
            namespace, confirm=confirm.strip(), actor=working.operator, reason=reason
        )
    except MnemoscopeError as error:
        feedback.refused(error)
        return
    st.session_state[CONFIRM_CLEAR_KEY] = ""
    feedback.done(f"Forgot {counted(forgotten, 'memory', 'memories')}.", undo=forgotten.group)


def _dismiss() -> None:
    st.session_state.pop(_RECEIPT, None)
