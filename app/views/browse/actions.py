"""What can be done with the ticked memories, or with all that match: relabel or forget, as one undoable change."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from mnemoscope import MemoryRecord, MnemoscopeError
from mnemoscope.index import Browsed
from mnemoscope.stores import Ref

from app.components import actions, code
from app.session import session
from app.session.session import Session
from app.text.display import counted, one_line

FORGET_FORM_KEY, RELABEL_FORM_KEY = "browse.forget", "browse.relabel"


CONFIRM_KEY = "browse.forget.confirm"


RELABEL_KEY = "browse.relabel.apply"


SAMPLE, SAMPLE_LIMIT = 5, 120


WRITTEN_OUT = 100


"""How many memories are named one by one in the code that is shown."""


_REASON = "browse.forget.reason"


_ADD, _DROP = "browse.relabel.add", "browse.relabel.drop"


_IMPORTANCE, _PRIVATE = "browse.relabel.importance", "browse.relabel.private"


_WHY = "browse.relabel.reason"


_STAY, _MAKE_PRIVATE, _MAKE_SHARED = "Leave", "Private", "Shared"


@dataclass(frozen=True)
class Selection:
    """The memories that an action is about, and the first of them to be shown."""

    refs: tuple[Ref, ...]
    sample: tuple[MemoryRecord, ...]


def every_key(browsed: Browsed) -> str:
    """The key of the box that takes all that match; another one as soon as others match."""
    return f"browse.every-{hashlib.blake2b(browsed.positions.tobytes(), digest_size=6).hexdigest()}"


def draw_actions(
    working: Session,
    browsed: Browsed,
    shown: Sequence[MemoryRecord],
    ticked: Sequence[Ref],
    *,
    categories: Sequence[str],
    explains: bool = True,
) -> None:
    """Draw the actions on the ticked ones of the memories `shown`, or on all that is `browsed`.

    `categories` are those known in the scope; `explains` says what clicks and ticks do.
    """
    help = _why_not(working, ticked)
    chosen = _select(browsed, shown, ticked) if help is None else Selection((), ())
    number = f" {len(chosen.refs):,}" if chosen.refs else ""
    is_off = help is not None
    # On the left, since the table's own tools float over the right end of this row.
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="browse-actions"):
        # They say whether they are open, so that what was done can close them.
        with st.popover(
            f"Relabel{number}", icon=":material/label:", disabled=is_off, help=help, key=RELABEL_FORM_KEY,
            on_change="rerun",
        ):  # fmt: skip
            _draw_relabel(working, chosen, categories)
        with st.popover(
            f"Forget{number}", icon=":material/delete:", disabled=is_off, help=help, key=FORGET_FORM_KEY,
            on_change="rerun",
        ):  # fmt: skip
            _draw_forget(working, chosen)
        if ticked and len(ticked) < len(browsed):
            st.checkbox(
                f"All {len(browsed):,} that match", key=every_key(browsed), disabled=is_off, width="content",
                help="Not only those that are ticked on this page, but everything that the filters leave.",
            )  # fmt: skip
        if explains and not ticked:
            st.caption("Click a memory to open it, tick several to change them at once.", width="content")


def _why_not(working: Session, ticked: Sequence[Ref]) -> str | None:
    if not working.is_writing:
        return "Reading only. Switch writing on at the top of the page."
    return None if ticked else "Tick rows of the table first."


def _select(browsed: Browsed, shown: Sequence[MemoryRecord], ticked: Sequence[Ref]) -> Selection:
    if st.session_state.get(every_key(browsed)):
        records = browsed.page(0, None)
    else:
        wanted = frozenset(ticked)
        records = [record for record in shown if (record.namespace, record.key) in wanted]
    return Selection(tuple((record.namespace, record.key) for record in records), tuple(records[:SAMPLE]))


def _draw_forget(working: Session, chosen: Selection) -> None:
    if not chosen.refs:
        return
    number = len(chosen.refs)
    st.markdown(f"**Forget {counted(number, 'memory', 'memories')}?**")
    _draw_sample(chosen.sample, number)
    st.caption("They leave every recall at once. They stay in the trash, and one undo brings them all back.")
    st.text_input("Why", key=_REASON, placeholder="For the history", max_chars=300)
    st.button(
        f"Forget {counted(number, 'memory', 'memories')}",
        key=CONFIRM_KEY,
        type="primary",
        on_click=_forget,
        args=(chosen.refs,),
    )
    _draw_code("forget_at", "forget", chosen.refs, operator=working.operator, python={"reason": "…"})


def _draw_relabel(working: Session, chosen: Selection, categories: Sequence[str]) -> None:
    if not chosen.refs:
        return
    st.markdown(f"**Relabel {counted(len(chosen.refs), 'memory', 'memories')}**")
    st.multiselect("Add categories", categories, key=_ADD, accept_new_options=True, format_func=_label)
    st.multiselect("Take off categories", categories, key=_DROP, format_func=_label)
    st.number_input("Importance", 0.0, 1.0, None, 0.05, key=_IMPORTANCE, placeholder="Leave as it is")
    st.segmented_control(
        "Who may recall them", [_STAY, _MAKE_PRIVATE, _MAKE_SHARED], default=_STAY, required=True, key=_PRIVATE,
        help="A private memory is recalled only on behalf of its own source.",
    )  # fmt: skip
    st.text_input("Why", key=_WHY, placeholder="For the history", max_chars=300)
    st.button("Apply", key=RELABEL_KEY, type="primary", on_click=_relabel, args=(chosen.refs,))
    _draw_code("update_at", "update", chosen.refs, operator=working.operator, python=_read_labels())


def _draw_code(method: str, command: str, refs: Sequence[Ref], *, operator: str, python: dict[str, Any]) -> None:
    if len(refs) > WRITTEN_OUT:
        # The page's own code, below the table, finds the same memories.
        named = "refs = [(record.namespace, record.key) for record in found.page(0, None)]\n"
        line = code.write_python(method, "refs", **python, actor=operator)
        code.draw_code(named + line.replace("'refs'", "refs", 1))
        return
    code.draw_code(
        code.write_python(method, list(refs), **python, actor=operator),
        code.write_commands_at(command, refs, **_as_options(python), operator=operator),
    )


def _draw_sample(sample: Sequence[MemoryRecord], total: int) -> None:
    for record in sample[:SAMPLE]:
        st.text(f"• {one_line(record.content, SAMPLE_LIMIT) or '(no text)'}")
    if total > SAMPLE:
        st.caption(f"and {total - min(SAMPLE, len(sample)):,} more")


def _forget(ticked: tuple[Ref, ...]) -> None:
    try:
        working = session.require_writing()
        reason = st.session_state.get(_REASON, "")
        forgotten = working.engine.curation.forget(ticked, actor=working.operator, reason=reason)
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    st.session_state[FORGET_FORM_KEY] = False
    actions.report(f"Forgot {counted(forgotten, 'memory', 'memories')}.", undo=forgotten.group)


def _relabel(ticked: tuple[Ref, ...]) -> None:
    try:
        working = session.require_writing()
        changes = working.engine.curation.relabel(ticked, **_read_labels(), actor=working.operator)
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    st.session_state[RELABEL_FORM_KEY] = False
    if changes:
        actions.report(f"Relabelled {counted(len(changes), 'memory', 'memories')}.", undo=changes[0].group)
    else:
        actions.report("Nothing had to change.")


def _read_labels() -> dict[str, Any]:
    state = st.session_state
    private = {_MAKE_PRIVATE: True, _MAKE_SHARED: False}.get(state.get(_PRIVATE, _STAY))
    chosen = {
        "add_categories": [name.strip() for name in state.get(_ADD, []) if name.strip()],
        "drop_categories": list(state.get(_DROP, [])),
        "importance": state.get(_IMPORTANCE),
        "private": private,
        "reason": state.get(_WHY, ""),
    }
    return {name: value for name, value in chosen.items() if value not in (None, [], "")}


def _as_options(chosen: dict[str, Any]) -> dict[str, Any]:
    """The same as options of the command `update`."""
    given = dict(chosen)
    given["add_category"], given["drop_category"] = (
        given.pop("add_categories", None),
        given.pop("drop_categories", None),
    )
    private = given.pop("private", None)
    return {**given, "private": private is True, "shared": private is False}


def _label(name: str) -> str:
    return one_line(name, 60)
