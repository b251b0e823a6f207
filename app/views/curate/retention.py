"""Retention: the rules of a namespace, what they would forget now, and carrying that out; never a silent sweep."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pandas as pd
import streamlit as st
from mnemoscope import MemoryRecord, MnemoscopeError
from mnemoscope.core import Namespace, show_namespace
from mnemoscope.curation import RetentionPlan, RetentionRule

from app.components import actions, code, states, tables
from app.session import session
from app.session.cache import kept, stamp
from app.session.scope import Scope
from app.session.session import Session
from app.text.display import counted, one_line
from app.views.curate import trash
from app.views.curate.worklists import PRIVATE_KEY

ADD_KEY, APPLY_KEY = "curate.rule.add", "curate.retain"


FIELDS = ("name", "older", "recalled", "importance", "categories")


"""Of the form for a rule; the widget of one has the key "curate.rule.<field>"."""


ROWS, ROW_HEIGHT = 10, 35


_NAMESPACE = "curate.retention.namespace"


def draw_retention(working: Session, here: Scope) -> None:
    """Draw the rules of one namespace of the scope, and their plan."""
    namespace = _choose(working, here)
    if namespace is None:
        states.draw_empty("Nothing is remembered here yet", "Rules are made for namespaces that hold memories.")
        return
    rules = working.engine.curation.retention(namespace)
    left, right = st.columns([8, 11], gap="medium")
    with left:
        _draw_rules(working, namespace, rules)
    with right:
        exact = Scope(namespace, subtree=False)
        plan = kept(
            "retention",
            _add_rules(stamp(working, exact, "access", "retention"), rules),
            lambda: working.engine.curation.plan_retention(namespace, rules),
        )
        _draw_plan(working, plan)
    code.draw_code(
        {
            "The plan": code.write_python("curation.plan_retention", namespace),
            "Carry it out": "engine.curation.apply_retention(plan)",
        },
        {
            "The plan": code.write_command("retain", namespace=namespace, dry_run=True),
            "Carry it out": code.write_command("retain", namespace=namespace),
        },
    )


def drop_key(rule: str) -> str:
    """The button that takes a rule away."""
    return f"curate.rule.drop.{rule}"


def _choose(working: Session, here: Scope) -> Namespace | None:
    counts = working.engine.counts(here.namespace)
    offered = list(counts) if here.subtree else [here.namespace]
    if not offered:
        return None
    if st.session_state.get(_NAMESPACE) not in offered:
        st.session_state[_NAMESPACE] = offered[0]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen: Namespace = st.selectbox(
            "Rules hold for exactly this namespace", offered, key=_NAMESPACE, width=340,
            format_func=lambda each: one_line(show_namespace(each), 80),
        )  # fmt: skip
        trash.draw_clear(working, chosen, counts.get(chosen, 0))
    return chosen


def _draw_rules(working: Session, namespace: Namespace, rules: list[RetentionRule]) -> None:
    st.subheader("Rules", anchor=False)
    if not rules:
        st.caption("None yet. A rule says what this namespace is not meant to keep for ever.")
    for rule in rules:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            with st.container(gap="xxsmall"):
                st.text(one_line(rule.name, 120))
                st.text(_describe_rule(rule))
            st.button(
                "Remove", key=drop_key(rule.name), type="tertiary", icon=":material/close:", width="content",
                disabled=not working.is_writing, on_click=_drop, args=(namespace, rule.name),
            )  # fmt: skip
    with st.form("curate.rule", clear_on_submit=False):
        st.text_input("Name of a new rule", key="curate.rule.name", max_chars=120, placeholder="The reason people read")
        first, second = st.columns(2)
        first.number_input("Older than, days", 0, 36_500, None, key="curate.rule.older")
        second.number_input("Not recalled for, days", 0, 36_500, None, key="curate.rule.recalled")
        first.number_input("Importance below", 0.0, 1.0, None, 0.05, key="curate.rule.importance")
        second.text_input("Categories, by commas", key="curate.rule.categories")
        st.form_submit_button(
            "Add the rule", key=ADD_KEY, on_click=_add, args=(namespace,), disabled=not working.is_writing,
            help=None if working.is_writing else "Reading only. Switch writing on at the top of the page.",
        )  # fmt: skip
        st.caption("All that is given must hold. Pinned memories are never touched. A rule alone does nothing.")


def _draw_plan(working: Session, plan: RetentionPlan) -> None:
    st.subheader("What they would forget now", anchor=False)
    if not plan.rules:
        st.caption("Nothing, since there is no rule.")
        return
    for name, number in plan.counts.items():
        st.text(f"{one_line(name, 120)}: {counted(number, 'memory', 'memories')}")
    if not len(plan):
        st.caption("Nothing has outlived its use.")
        return
    window = tables.draw_pager(len(plan), key="w_outlived")
    shown = plan.outlived[window.start : window.stop]
    st.dataframe(
        pd.DataFrame(
            {
                "memory": [_text(each.record) for each in shown],
                "importance": pd.array([each.record.importance for each in shown], dtype="Float64"),
                "changed": pd.to_datetime([each.record.changed_at for each in shown], utc=True),
                "rules": [one_line(", ".join(each.rules), 120) for each in shown],
            }
        ),
        column_config={
            "memory": st.column_config.TextColumn("Memory", width=300),
            "importance": st.column_config.NumberColumn("Importance", width=85, format="%.2f"),
            "changed": st.column_config.DatetimeColumn("Changed", format="distance", timezone="UTC", width=110),
            "rules": st.column_config.TextColumn("Because of", width=150),
        },
        column_order=["memory", "importance", "changed", *(["rules"] if len(plan.rules) > 1 else [])],
        hide_index=True,
        row_height=ROW_HEIGHT,
        height=min(len(shown), ROWS) * ROW_HEIGHT + ROW_HEIGHT + 3,
        alt="What the rules would forget",
    )
    st.button(
        f"Forget these {counted(len(plan), 'memory', 'memories')}", key=APPLY_KEY, type="primary",
        disabled=not working.is_writing, on_click=_apply, args=(plan,),
        help="They go to the trash. One undo brings them all back.",
    )  # fmt: skip


def _text(record: MemoryRecord) -> str:
    if record.private and not st.session_state.get(PRIVATE_KEY):
        return "(private)"
    return one_line(record.content, tables.TEXT_LIMIT) or "(no text)"


def _add_rules(stamped: Any, rules: list[RetentionRule]) -> Any:
    return None if stamped is None else (stamped, tuple(rules))


def _describe_rule(rule: RetentionRule) -> str:
    parts = [
        f"older than {counted(rule.older_than.days, 'day')}" if rule.older_than is not None else "",
        f"not recalled for {counted(rule.not_recalled_for.days, 'day')}" if rule.not_recalled_for is not None else "",
        f"importance below {rule.importance_below:.2f}" if rule.importance_below is not None else "",
        f"in {', '.join(rule.categories)}" if rule.categories is not None else "",
    ]
    return one_line(" and ".join(part for part in parts if part), 200)


def _read_rule() -> RetentionRule:
    state = st.session_state
    older, recalled = state.get("curate.rule.older"), state.get("curate.rule.recalled")
    names = [name.strip() for name in (state.get("curate.rule.categories") or "").split(",") if name.strip()]
    return RetentionRule(
        (state.get("curate.rule.name") or "").strip(),
        older_than=None if older is None else timedelta(days=older),
        not_recalled_for=None if recalled is None else timedelta(days=recalled),
        importance_below=state.get("curate.rule.importance"),
        categories=tuple(names) or None,
    )


def _add(namespace: Namespace) -> None:
    try:
        working = session.require_writing()
        working.engine.curation.set_retention(namespace, [*working.engine.curation.retention(namespace), _read_rule()])
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    for field in FIELDS:
        st.session_state[f"curate.rule.{field}"] = "" if field in ("name", "categories") else None
    actions.report("Added the rule. It does nothing until its plan is carried out.")


def _drop(namespace: Namespace, name: str) -> None:
    try:
        working = session.require_writing()
        left = [rule for rule in working.engine.curation.retention(namespace) if rule.name != name]
        working.engine.curation.set_retention(namespace, left)
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    actions.report("Removed the rule.")


def _apply(plan: RetentionPlan) -> None:
    try:
        working = session.require_writing()
        forgotten = working.engine.curation.apply_retention(plan, actor=working.operator)
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    actions.report(f"Forgot {counted(forgotten, 'memory', 'memories')}.", undo=forgotten.group)
