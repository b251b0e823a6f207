"""One change beside the table: who, when and why, what it did word by word, and what it takes to undo it."""

from __future__ import annotations

import streamlit as st
from mnemoscope import Change, MnemoscopeError, NotFoundError
from mnemoscope.core import show_namespace, utc_now

from app.components import actions, code, differences, states
from app.session import links, session
from app.session.links import close_change
from app.session.scope import Scope
from app.session.session import Session
from app.text.display import age, counted, one_line, safe, timestamp
from app.views.history import filters

UNDO_KEY, GROUP_KEY, RUN_KEY, CLOSE_KEY = "history.undo", "history.undo-group", "history.run", "history.close"


TEXT_LIMIT = 20_000


def draw_change(working: Session, id: str) -> None:
    """Draw the change of this id, or say that there is none."""
    with st.container(border=True, key="history-change"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.subheader("Change", anchor=False, width="stretch")
            st.button(
                "Close", key=CLOSE_KEY, icon=":material/close:", type="tertiary", on_click=close_change, width="content"
            )
        try:
            group = working.engine.curation.changes_of("-".join(id.split("-")[:2]))
        except NotFoundError:
            group = []
        change = next((each for each in group if each.id == id), None)
        if change is None:
            states.draw_empty("There is no such change", "It was trimmed, or lies in another store.")
            return
        _draw_what(change)
        _draw_undo(working, change, len(group))
        _draw_python(change)


def _draw_what(change: Change) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.badge(change.action, icon=differences.ACTION_ICONS.get(change.action), width="content")
        st.text(f"by {one_line(change.actor, 60)}", width="content")
        st.caption(age(change.at, utc_now()), width="content", help=timestamp(change.at))
    if change.reason:
        st.text(safe(change.reason, 500))
    if change.erased:
        st.caption("The texts were erased for good.")
    elif differences.is_about_private(change) and not st.session_state.get(filters.PRIVATE_KEY):
        st.caption(":material/lock: It is about a private memory. Switch on “Show private” to read it.")
    else:
        _draw_texts(change)
    _draw_facts(change)


def _draw_texts(change: Change) -> None:
    noun = "entry" if change.shelf else "memory"
    if change.before is None and change.after is None:
        st.caption("Nothing became of the memory itself.")
    else:
        key = f"history.difference-{change.id}"
        differences.draw_difference(change.text_before or "", change.text_after or "", key=key)
        if change.before is None:
            st.caption(f"There was no such {noun} before.")
        elif change.after is None:
            st.caption(f"There was no such {noun} after.")
    if change.before is not None and change.after is not None:
        for line in differences.describe_labels(change.before, change.after):
            st.text(one_line(line, 300))


def _draw_facts(change: Change) -> None:
    facts = {
        "When": timestamp(change.at),
        # A profile is of the whole store.
        **({"Namespace": one_line(show_namespace(change.namespace), 160)} if change.namespace else {}),
        "Key": one_line(change.key, 160),
        "Run": one_line(change.run or "–", 80),
    }
    with st.container(gap="xxsmall"):
        for name, value in facts.items():
            label, fact = st.columns([1, 4], gap="small")
            label.caption(name)
            fact.text(value)
    if change.shelf:
        links.link_to("tune", "What Tune keeps", **Scope(change.namespace, False).to_query())
        return
    ref = (change.namespace, change.key)
    query = {"ns": list(change.namespace), **links.query_of_memory(ref)}
    links.link_to("browse", "The memory in Browse", **query)


def _draw_undo(working: Session, change: Change, size: int) -> None:
    help = None if working.is_writing else working.closed or "Reading only. Switch writing on at the top of the page."
    is_off = help is not None or change.erased or change.action == "erase"
    with st.container(horizontal=True, gap="small", key="history-undo"):
        st.button(
            "Undo this change", key=UNDO_KEY, icon=":material/undo:", disabled=is_off, help=help,
            on_click=_undo, args=(change.id,),
        )  # fmt: skip
        if size > 1:
            st.button(
                f"Undo all {size:,} of its group", key=GROUP_KEY, icon=":material/undo:", disabled=is_off,
                help=help or "What was done in one step is undone in one step.", on_click=_undo, args=(change.group,),
            )  # fmt: skip
        if change.run is not None:
            st.button(
                "Take the run back …", key=RUN_KEY, icon=":material/fast_rewind:", on_click=_plan_run,
                args=(change.run,), help="Shows first what would become of each memory of this run.",
            )  # fmt: skip


def _draw_python(change: Change) -> None:
    code.draw_code(
        {
            "Its group": code.write_python("curation.changes_of", change.group),
            "Undo it": code.write_python("undo", change.id),
        },
        {
            "Its group": code.write_command("history", group=change.group),
            "Undo it": code.write_command("undo", change.id),
        },
    )


def _plan_run(run: str) -> None:
    st.session_state[links.HISTORY_VIEW_KEY] = "Take back"
    st.session_state["h_run"] = run
    st.session_state["h_by"] = None
    close_change()


def _undo(change_or_group: str) -> None:
    try:
        working = session.require_writing()
        changes = working.engine.undo(change_or_group, actor=working.operator)
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    actions.report(f"Undone: {counted(len(changes), 'change')}.", undo=changes[0].group)
