"""Correcting one fact of a plan before it is committed: its text, importance, categories and decision."""

from __future__ import annotations

import streamlit as st
from mnemoscope import MnemoscopeError, Plan
from mnemoscope.consolidation import PlannedFact

from app.components import feedback
from app.session import session
from app.text.display import one_line
from app.views.replay.plan import run as replay_run
from app.views.replay.plan.decision import Choice, choice_of, choices, decision_of, labelled, stored_text
from app.views.replay.plan.detail import importance_of
from app.views.replay.plan.run import Run

__all__ = ["draw", "key_of"]

LONGEST_TEXT = 10_000


def draw(run: Run, at: int) -> None:
    """Draw the form for the fact at this position."""
    planned = run.plan.facts[at]
    with st.form(key_of(run, at, "form"), border=False):
        st.text_area(
            "Text", stored_text(planned), max_chars=LONGEST_TEXT, key=key_of(run, at, "text"), height="content"
        )
        st.selectbox(
            "Decision",
            _offered(planned),
            format_func=lambda position: labelled(_offered_choices(planned)[position], planned),
            index=_offered_choices(planned).index(choice_of(planned)),
            key=key_of(run, at, "decision"),
        )
        _draw_fields(run, at, planned)
        st.form_submit_button("Change the plan", icon=":material/check:", on_click=_save, args=(run, at))


def key_of(run: Run, at: int, part: str) -> str:
    """The key of a part of the form; it changes with every correction, so that no stale value is kept."""
    return f"replay.{part}-{at}-{run.stamp}"


def _draw_fields(run: Run, at: int, planned: PlannedFact) -> None:
    names = planned.fact.categories
    left, right = st.columns(2)
    left.slider("Importance", 0.0, 1.0, importance_of(run.plan, planned), 0.05, key=key_of(run, at, "importance"))
    right.multiselect(
        "Categories",
        list(dict.fromkeys([*names, *_categories(run.plan)])),
        default=names,
        format_func=lambda name: one_line(name, 40),
        accept_new_options=True,
        key=key_of(run, at, "categories"),
    )


def _categories(plan: Plan) -> list[str]:
    return sorted({name for planned in plan.facts for name in planned.fact.categories})


def _offered_choices(planned: PlannedFact) -> list[Choice | None]:
    return [None, *choices(planned)] if planned.outcome == "suppressed" else [*choices(planned)]


def _offered(planned: PlannedFact) -> list[int]:
    return list(range(len(_offered_choices(planned))))


def _save(run: Run, at: int) -> None:
    planned = run.plan.facts[at]
    text = st.session_state[key_of(run, at, "text")].strip()
    choice = _offered_choices(planned)[st.session_state[key_of(run, at, "decision")]]
    update = {
        "content": text if text != stored_text(planned) else planned.fact.content,
        "categories": list(st.session_state[key_of(run, at, "categories")]),
        "importance": st.session_state[key_of(run, at, "importance")],
    }
    if update["importance"] == importance_of(run.plan, planned):
        update["importance"] = planned.fact.importance
    decision = decision_of(choice, planned, text, operator=session.current().operator)
    try:
        replay_run.amend(at, planned.fact.model_copy(update=update), decision)
    except MnemoscopeError as error:
        feedback.refused(error)
