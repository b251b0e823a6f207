"""Adopt: what other programs wrote in the scope, what it would become in our envelope, and carrying that out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st
from mnemoscope import MnemoscopeError
from mnemoscope.core import show_namespace
from mnemoscope.curation import Adoption, AdoptionPlan, TextHint, Writer
from mnemoscope.health import LARGEST

from app.components import actions, code, states, tables
from app.session import session
from app.session.cache import kept, stamp
from app.session.scope import Scope
from app.session.session import Session
from app.text.display import counted, one_line, safe
from app.text.toml import write_text_fields

APPLY_KEY, TABLE_KEY = "curate.adopt", "curate.adopt.table"


WRITERS: dict[Writer, str] = {
    "langmem_tool": "LangMem tools",
    "langmem_manager": "LangMem managers",
    "other": "Others",
}


"""Who seems to have written an item, as people read it."""


_JSON_LIMIT = 5_000


_REFUSED_SHOWN = 100


_HINTS_SHOWN = 20


def draw_adoption(working: Session, here: Scope) -> None:
    """Draw the plan of the scope."""
    total = here.total(working.engine.counts(here.namespace))
    if total > LARGEST:
        states.draw_empty("There is too much to be read at once", "Choose a namespace at the top of the page.")
        return
    plan = kept(
        "adoption",
        stamp(working, here),
        lambda: working.engine.curation.plan_adoption(here.namespace, subtree=here.subtree),
    )
    _draw_summary(plan)
    _draw_hints(working, plan)
    if len(plan):
        _draw_items(plan)
        _draw_action(working, plan)
    _draw_refused(plan)
    code.draw_code(
        {
            "The plan": code.write_python("curation.plan_adoption", here.namespace, subtree=here.subtree or None),
            "Carry it out, and take it back": (
                "changes = engine.curation.apply_adoption(plan)\nengine.undo(changes[0].group)"
            ),
        },
        {
            "The plan": code.write_command("adopt", namespace=here.namespace, subtree=here.subtree, dry_run=True),
            "Carry it out": code.write_command("adopt", namespace=here.namespace, subtree=here.subtree),
        },
    )


def _draw_summary(plan: AdoptionPlan) -> None:
    st.caption(
        "Items of other programs are read, recalled and edited as they are. Adopted, they get categories, importance "
        "and evidence like memories of Mnemoscope; what has no place there is kept in their metadata."
    )
    with st.container(horizontal=True, gap="small", key="curate-adopt-figures"):
        for writer, number in plan.counts.items():
            st.metric(WRITERS[writer], f"{number:,}", border=True)
        st.metric("Ours already", f"{plan.ours:,}", border=True)
        st.metric("Cannot be adopted", f"{len(plan.unadoptable):,}", border=True)
    if not len(plan):
        states.draw_empty("Nothing to adopt here", "Every item that can be is a memory of Mnemoscope's form already.")


def _draw_hints(working: Session, plan: AdoptionPlan) -> None:
    if not plan.hints:
        return
    shown = plan.hints[:_HINTS_SHOWN]
    with st.expander("Which field is the text?", expanded=len(plan.unadoptable) > len(plan), key="curate-adopt-hints"):
        st.caption(
            "These items have no text where it is looked for. The fields below hold the most human language among "
            "them; named in the configuration, they are read, recalled, edited and adopted as the text."
        )
        rows = [
            {"Namespace": one_line(show_namespace(each.namespace), 80), "Field": one_line(each.field, 80),
             "Items that have it": f"{each.items:,} of {each.among:,} ({each.share:.0%})", "Characters": each.length,
             "Example": one_line(each.example, 200)}
            for each in shown
        ]  # fmt: skip
        st.dataframe(rows, hide_index=True, key="curate.adopt.hints", alt="Fields that may hold the text")
        st.code(
            write_text_fields(working.connection, [(each.namespace, each.field) for each in pick_first_of_each(shown)]),
            language="toml", wrap_lines=True,
        )  # fmt: skip
        if len(shown) < len(plan.hints):
            st.caption(f"These are the first {len(shown):,} of {len(plan.hints):,}.")


def pick_first_of_each(hints: Sequence[TextHint]) -> list[TextHint]:
    """The hint with the most items for each namespace: a configuration names one field for each."""
    return list({each.namespace: each for each in reversed(hints)}.values())[::-1]


def _draw_items(plan: AdoptionPlan) -> None:
    window = tables.draw_pager(len(plan), key="w_adopt")
    shown = plan.adoptions[window.start : window.stop]
    refs = [each.ref for each in shown]
    event = st.dataframe(
        _frame(shown),
        hide_index=True,
        key=tables.key_of(TABLE_KEY, refs),
        on_select="rerun",
        selection_mode="single-row",
        alt="Items that would be adopted",
    )
    chosen = tables.read_ticked(event, refs)
    example = next((each for each in shown if each.ref in chosen), shown[0])
    left, right = st.columns(2, gap="medium")
    for column, title, value in ((left, "Before", example.before), (right, "After", example.after)):
        with column:
            st.caption(title)
            st.code(_json(value), language="json", wrap_lines=True)


def _draw_action(working: Session, plan: AdoptionPlan) -> None:
    st.button(
        f"Adopt {counted(len(plan), 'item')}", key=APPLY_KEY, type="primary", on_click=_apply, args=(plan,),
        disabled=not working.is_writing,
        help="One undo puts all of them back as they are."
        if working.is_writing
        else "Reading only. Switch writing on at the top of the page.",
    )  # fmt: skip
    if plan.texts:
        st.caption(f"{counted(len(plan.texts), 'text')} would be embedded for it.")


def _draw_refused(plan: AdoptionPlan) -> None:
    if not plan.unadoptable:
        return
    shown = plan.unadoptable[:_REFUSED_SHOWN]
    with st.expander(f"Cannot be adopted: {len(plan.unadoptable):,}"):
        rows = [
            {"Namespace": one_line(show_namespace(each.namespace), 80), "Key": one_line(each.key, 80),
             "Why": one_line(each.reason, 200)}
            for each in shown
        ]  # fmt: skip
        st.dataframe(rows, hide_index=True, key="curate.adopt.refused", alt="Items that cannot be adopted")
        if len(shown) < len(plan.unadoptable):
            st.caption(f"These are the first {len(shown):,}.")


def _frame(shown: Sequence[Adoption]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Text": [one_line(each.text, tables.TEXT_LIMIT) for each in shown],
            "Written by": [WRITERS[each.writer] for each in shown],
            "Namespace": [one_line(show_namespace(each.namespace), 80) for each in shown],
            "Key": [one_line(each.key, 80) for each in shown],
        }
    )


def _json(value: Any) -> str:
    return safe(json.dumps(value, ensure_ascii=False, indent=2, default=repr), _JSON_LIMIT)


def _apply(plan: AdoptionPlan) -> None:
    try:
        working = session.require_writing()
        changes = working.engine.curation.apply_adoption(plan, actor=working.operator)
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    actions.report(f"Adopted {counted(len(changes), 'item')}.", undo=changes[0].group)
