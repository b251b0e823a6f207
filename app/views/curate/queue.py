"""The queue of a worklist: a table to pick a row from, and ticks to decide about many rows at once."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st
from mnemoscope import MnemoscopeError
from mnemoscope.worklists import Finding, ProposalKind

from app.components import actions, tables
from app.session import session
from app.session.session import Session
from app.text.display import counted, one_line
from app.views.curate.findings import Review

ACCEPT_MANY_KEY, REJECT_MANY_KEY, OFFER_KEY = "curate.accept-many", "curate.reject-many", "curate.offer-again"


ACCEPT_FORM_KEY, REJECT_FORM_KEY = "curate.many", "curate.none"


PAGE_KEY = "w_page"


ROWS, ROW_HEIGHT, SAMPLE = 14, 35, 5


VERBS: dict[ProposalKind, str] = {
    "merge": "merge",
    "forget": "forget",
    "undo": "take back",
    "embed": "embed",
    "repair": "rewrite",
}


"""What accepting does, in a word."""


_PLACE, _CLICKED, _WHY = "curate.place", "curate.clicked", "curate.many.reason"


_COLUMNS: dict[str, Any] = {
    "memory": st.column_config.TextColumn("Memory", width=220),
    "reason": st.column_config.TextColumn("Why", width=200),
}


def place_of(name: str, findings: Sequence[Finding]) -> int:
    """Which row of the worklist is to be decided: the one that was gone to, or what stands in its place now."""
    id, position = st.session_state.get(f"{_PLACE}.{name}", ("", 0))
    ids = [finding.id for finding in findings]
    return ids.index(id) if id in ids else min(position, len(ids) - 1)


def go_to(name: str, position: int, id: str = "") -> None:
    """Go to a row, by its id as long as it is there; for callbacks."""
    st.session_state[f"{_PLACE}.{name}"] = (id, position)


def draw_queue(working: Session, looked: Review, findings: Sequence[Finding], name: str, *, is_rejected: bool) -> int:
    """Draw the queue with what can be done with many rows; the row to decide."""
    actions, table = st.container(), st.container()
    window = tables.draw_pager(len(findings), key=PAGE_KEY)
    shown = findings[window.start : window.stop]
    refs = [(finding.namespace, finding.id) for finding in shown]
    key = table_key(name, shown)
    with table:
        event = st.dataframe(
            _frame(looked, shown),
            column_config=_COLUMNS,
            hide_index=True,
            key=key,
            on_select=functools.partial(_go_to_clicked, key, name, [finding.id for finding in shown], window.start),
            selection_mode=["multi-row", "single-cell"],
            row_height=ROW_HEIGHT,
            height=min(len(shown), ROWS) * ROW_HEIGHT + ROW_HEIGHT + 3,
            placeholder="",
            alt="Rows of this worklist",
        )
    ticked = {ref[1] for ref in tables.read_ticked(event, refs)}
    chosen = [finding for finding in findings if finding.id in ticked]
    with actions:
        _draw_actions(working, looked, chosen, findings, is_rejected=is_rejected)
    return place_of(name, findings)


def table_key(name: str, findings: Sequence[Finding]) -> str:
    """The key of the table that shows these rows."""
    return tables.key_of(f"curate.queue.{name}", [(finding.namespace, finding.id) for finding in findings])


def _frame(looked: Review, findings: Sequence[Finding]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "memory": [_text_of(looked, finding) for finding in findings],
            "reason": [one_line(finding.reason, tables.TEXT_LIMIT) for finding in findings],
        }
    )


def _text_of(looked: Review, finding: Finding) -> str:
    record, change = looked.record(finding.refs[0]), looked.change(finding)
    text = record.content if record else (change.text_before or "") if change else ""
    return one_line(text, tables.TEXT_LIMIT) or "(no text)"


def _go_to_clicked(key: str, name: str, ids: Sequence[str], start: int) -> None:
    cells = st.session_state[key]["selection"]["cells"]
    clicked = (key, *cells[0]) if cells else None
    # A tick is a selection too, and reports the cell that was clicked before it once more.
    if clicked and clicked != st.session_state.get(_CLICKED) and 0 <= cells[0][0] < len(ids):
        go_to(name, start + cells[0][0], ids[cells[0][0]])
    st.session_state[_CLICKED] = clicked


def _draw_actions(
    working: Session, looked: Review, ticked: list[Finding], findings: Sequence[Finding], *, is_rejected: bool
) -> None:
    chosen = ticked or list(findings)
    which = "all " if not ticked and len(findings) > 1 else ""
    help = None if working.is_writing else working.closed or "Reading only. Switch writing on at the top of the page."
    number = f"{which}{len(chosen):,}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="curate-many"):
        if is_rejected:
            st.button(
                f"Offer {number} again", key=OFFER_KEY, icon=":material/undo:", disabled=help is not None, help=help,
                on_click=_offer, args=(tuple(chosen),),
            )  # fmt: skip
            return
        able = [finding for finding in chosen if finding.proposal is not None]
        is_off = help is not None
        label = f"Accept {which}{len(able):,}"
        # They say whether they are open, so that what was done can close them.
        with st.popover(
            label, icon=":material/done_all:", disabled=is_off or not able, help=help, key=ACCEPT_FORM_KEY,
            on_change="rerun",
        ):  # fmt: skip
            _draw_accept(looked, able, left_out=len(chosen) - len(able))
        with st.popover(
            f"Reject {number}", icon=":material/close:", disabled=is_off, help=help, key=REJECT_FORM_KEY,
            on_change="rerun",
        ):  # fmt: skip
            st.markdown(f"**Reject {counted(len(chosen), 'proposal')}?**")
            st.caption("They stay away until one of their memories changes. Nothing else changes.")
            st.button("Reject", key=REJECT_MANY_KEY, type="primary", on_click=_reject, args=(tuple(chosen),))
        if not ticked:
            st.caption("Click a row to decide it, tick several to decide them at once.", width="content")


def _draw_accept(looked: Review, findings: list[Finding], *, left_out: int) -> None:
    kinds = Counter(VERBS[finding.proposal.kind] for finding in findings if finding.proposal)
    touched = len({ref for finding in findings for ref in finding.refs})
    st.markdown(f"**Accept {counted(len(findings), 'proposal')}?**")
    for finding in findings[:SAMPLE]:
        st.text(f"• {_text_of(looked, finding)[:120]}")
    if len(findings) > SAMPLE:
        st.caption(f"and {len(findings) - SAMPLE:,} more")
    done = ", ".join(f"{verb} × {number:,}" for verb, number in kinds.items())
    st.caption(f"{done}; {counted(touched, 'memory', 'memories')} concerned. One undo takes all of it back.")
    if left_out:
        st.caption(f"{counted(left_out, 'row')} without a proposal left out: decide those by hand.")
    st.text_input("Why", key=_WHY, placeholder="For the history; else each row's own reason", max_chars=300)
    st.button("Accept", key=ACCEPT_MANY_KEY, type="primary", on_click=_accept, args=(tuple(findings),))


def _accept(findings: tuple[Finding, ...]) -> None:
    try:
        working = session.require_writing()
        changes = working.engine.curation.accept(
            findings, actor=working.operator, reason=st.session_state.get(_WHY) or ""
        )
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    st.session_state[ACCEPT_FORM_KEY] = False
    actions.report(f"Accepted {counted(len(findings), 'proposal')}.", undo=changes[0].group if changes else None)


def _reject(findings: tuple[Finding, ...]) -> None:
    try:
        working = session.require_writing()
        working.engine.curation.reject(findings, actor=working.operator)
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    st.session_state[REJECT_FORM_KEY] = False
    actions.report(f"Rejected {counted(len(findings), 'proposal')}.")


def _offer(findings: tuple[Finding, ...]) -> None:
    try:
        session.require_writing().engine.curation.unreject(findings)
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    actions.report(f"{counted(len(findings), 'proposal')} offered again.")
