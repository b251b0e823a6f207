"""The facts of a plan, all at once or one after the other, each to be ticked, opened in full and corrected."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st
from mnemoscope import MemoryRecord, MnemoscopeError, Plan
from mnemoscope.consolidation import PlannedFact
from mnemoscope.core import normalise

from app.components import actions, tables, url_choices
from app.session import session
from app.text.display import counted, one_line, safe, score, timestamp
from app.views.replay.plan import run as replay_run
from app.views.replay.plan import summary
from app.views.replay.plan.decision import (
    OUTCOMES,
    Choice,
    find_choice,
    find_stored_text,
    label_choice,
    list_choices,
    make_decision,
)
from app.views.replay.plan.run import Run
from app.views.replay.source.transcript import find_message

FACT_KEY = "p_fact"

VIEW_KEY = "p_view"

CARDS_KEY = "p_cards"

CARDS_PER_PAGE = 25

CARD_TEXT = 600

TEXT_LIMIT = 4_000

LONGEST_TEXT = 10_000


def draw_facts(run: Run) -> None:
    """Draw every fact as a card."""
    window = tables.draw_pager(len(run.plan.facts), key=CARDS_KEY, per_page=CARDS_PER_PAGE)
    for at in range(window.start, window.stop):
        _draw_card(run, at)


def draw_fact_alone(run: Run) -> None:
    """Draw one fact in full, with steps to the one before and the one after."""
    with st.container(horizontal=True, vertical_alignment="center"):
        at = url_choices.draw_steps(FACT_KEY, len(run.plan.facts), "Fact")
        st.space("stretch")
        _draw_tick(run, at, label="Commit this fact")
    with st.container(border=True, key="replay-fact"):
        draw_detail(run.plan, at)
    if not run.is_committed:
        with st.expander("Correct this fact", icon=":material/edit:", key=f"replay.correct-{at}"):
            draw_form(run, at)


def find_shown_fact(run: Run) -> int | None:
    """The fact that is shown alone, or None where all are."""
    if st.session_state.get(VIEW_KEY) != "one" or not run.plan.facts:
        return None
    return min(url_choices.read_position(FACT_KEY), len(run.plan.facts) - 1)


def make_opener(run: Run) -> Callable[[int], None]:
    """A function that shows the fact at a position alone; for callbacks."""
    return partial(_open, run)


def tick_key(run: Run, at: int) -> str:
    """The key of the box that takes a fact into the plan."""
    return f"replay.tick-{at}-{run.plan.id[-8:]}"


def _open(run: Run, at: int) -> None:
    if 0 <= at < len(run.plan.facts):
        st.session_state[VIEW_KEY] = "one"
        url_choices.write(VIEW_KEY, "all")
        url_choices.go_to(FACT_KEY, at)


def _draw_card(run: Run, at: int) -> None:
    planned = run.plan.facts[at]
    with st.container(border=True, gap="xsmall", key=f"replay-card-{at}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            _draw_tick(run, at)
            draw_badge(planned)
            st.caption(_figures(run, at), width="stretch")
            st.button("Open", key=f"replay.open-{at}", type="tertiary", on_click=_open, args=(run, at))
        changes = [change for change in run.plan.changes if at in change.facts]
        if any(change.before is not None for change in changes):
            st.code(summary.write_diffs(changes), language="diff", wrap_lines=True)
        else:
            st.text(safe(find_stored_text(planned), CARD_TEXT))


def _figures(run: Run, at: int) -> str:
    planned = run.plan.facts[at]
    nearest = f" · nearest {planned.compared[0][1]:.2f}" if planned.compared else ""
    return f"importance {importance_of(run.plan, planned):.2f}{nearest}"


def _draw_tick(run: Run, at: int, label: str = "") -> None:
    if at not in replay_run.open_facts(run.plan):
        return
    key = tick_key(run, at)
    # Setting it in every run would overwrite a click that comes in the midst of one.
    if st.session_state.get(key) != run.plan.facts[at].chosen:
        st.session_state[key] = run.plan.facts[at].chosen
    st.checkbox(
        label or f"Commit fact {at + 1}",
        key=key,
        on_change=_take_tick,
        args=(run, at),
        disabled=run.is_committed,
        label_visibility="visible" if label else "collapsed",
    )


def _take_tick(run: Run, at: int) -> None:
    replay_run.tick(at, is_chosen=st.session_state[tick_key(run, at)])


def draw_detail(plan: Plan, at: int) -> None:
    """Draw the fact at this position of the plan."""
    planned = plan.facts[at]
    st.text(safe(find_stored_text(planned), TEXT_LIMIT))
    _draw_marks(plan, planned)
    _draw_decision(planned)
    _draw_changes(plan, at)
    _draw_evidence(plan, planned)
    _draw_compared(planned)


def draw_badge(planned: PlannedFact) -> None:
    """The outcome of a fact, or that it is left out."""
    look = OUTCOMES[planned.outcome]
    if planned.chosen:
        st.badge(look.label, icon=look.icon, color=look.colour, help=look.help)
    else:
        st.badge("Left out", icon=":material/remove_circle:", color="gray", help="You took it out of the plan.")
    if planned.rejected:
        st.badge("Proposal put aside", icon=":material/gavel:", color="orange", help="Open the fact to see why.")


def importance_of(plan: Plan, planned: PlannedFact) -> float:
    """The importance that the fact would be stored with."""
    given = planned.fact.importance
    return plan.config.default_importance if given is None else given


def _draw_marks(plan: Plan, planned: PlannedFact) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f":material/priority_high: Importance {importance_of(plan, planned):.2f}", width="content")
        if planned.fact.categories:
            st.caption(":material/sell:", width="content")
            st.text(one_line(", ".join(planned.fact.categories), 200), width="content")
        if planned.fact.date:
            st.caption(":material/event: Speaks of", width="content")
            st.text(one_line(planned.fact.date, 40), width="content")
        if planned.collapsed:
            st.caption(f"{counted(planned.collapsed, 'equal fact')} went into it", width="content")


def _draw_decision(planned: PlannedFact) -> None:
    st.markdown("**Decision**")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        draw_badge(planned)
        st.text(safe(planned.reason, 1_000), width="stretch")
    if planned.rejected:
        st.warning("The judge proposed something that is not allowed, so the proposal was put aside:")
        st.code(safe(planned.rejected, 1_000), language=None, wrap_lines=True)


def _draw_changes(plan: Plan, at: int) -> None:
    changes = [change for change in plan.changes if at in change.facts]
    if changes:
        st.markdown("**Before and after**")
        st.code(summary.write_diffs(changes), language="diff", wrap_lines=True)


def _draw_evidence(plan: Plan, planned: PlannedFact) -> None:
    fact = planned.fact
    st.markdown("**Rests on**")
    if not fact.quote:
        st.caption("The extractor gave no quote for this fact.")
        return
    st.code(safe(fact.quote, TEXT_LIMIT), language=None, wrap_lines=True)
    at = find_message(planned, plan.messages)
    if at is None:
        st.warning("This quote does not stand in the conversation. Look twice before you commit the fact.")
        return
    message = plan.messages[at]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        said_at = timestamp(message.said_at or fact.said_at)
        st.caption(f"Message {at + 1} · {said_at} · {message.role}", width="content")
        if message.name:
            st.text(one_line(message.name, 60), width="content")


def _draw_compared(planned: PlannedFact) -> None:
    st.markdown("**Compared with**")
    if not planned.compared:
        st.caption("No memory of this namespace is like it.")
    for record, similarity in planned.compared:
        _draw_one_compared(record, similarity, planned)


def _draw_one_compared(record: MemoryRecord, similarity: float, planned: PlannedFact) -> None:
    # A memory that rests on the very turn is offered as 1.0, whatever its text has become.
    is_same_turn = similarity == 1.0 and normalise(record.content) != normalise(planned.fact.content)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.progress(min(max(similarity, 0.0), 1.0), text="same turn" if is_same_turn else score(similarity), width=90)
        st.text(safe(record.content, 500), width="stretch")
        if record.key == planned.target:
            st.badge("decided on", color="gray")


def draw_form(run: Run, at: int) -> None:
    """Draw the form for the fact at this position."""
    planned = run.plan.facts[at]
    with st.form(form_key(run, at, "form"), border=False):
        st.text_area(
            "Text", find_stored_text(planned), max_chars=LONGEST_TEXT, key=form_key(run, at, "text"), height="content"
        )
        st.selectbox(
            "Decision",
            _offer_positions(planned),
            format_func=lambda position: label_choice(_offer_choices(planned)[position], planned),
            index=_offer_choices(planned).index(find_choice(planned)),
            key=form_key(run, at, "decision"),
        )
        _draw_fields(run, at, planned)
        st.form_submit_button("Change the plan", icon=":material/check:", on_click=_save, args=(run, at))


def form_key(run: Run, at: int, part: str) -> str:
    """The key of a part of the form; it changes with every correction, so that no stale value is kept."""
    return f"replay.{part}-{at}-{run.stamp}"


def _draw_fields(run: Run, at: int, planned: PlannedFact) -> None:
    names = planned.fact.categories
    left, right = st.columns(2)
    left.slider("Importance", 0.0, 1.0, importance_of(run.plan, planned), 0.05, key=form_key(run, at, "importance"))
    right.multiselect(
        "Categories",
        list(dict.fromkeys([*names, *_list_categories(run.plan)])),
        default=names,
        format_func=lambda name: one_line(name, 40),
        accept_new_options=True,
        key=form_key(run, at, "categories"),
    )


def _list_categories(plan: Plan) -> list[str]:
    return sorted({name for planned in plan.facts for name in planned.fact.categories})


def _offer_choices(planned: PlannedFact) -> list[Choice | None]:
    return [None, *list_choices(planned)] if planned.outcome == "suppressed" else [*list_choices(planned)]


def _offer_positions(planned: PlannedFact) -> list[int]:
    return list(range(len(_offer_choices(planned))))


def _save(run: Run, at: int) -> None:
    planned = run.plan.facts[at]
    text = st.session_state[form_key(run, at, "text")].strip()
    choice = _offer_choices(planned)[st.session_state[form_key(run, at, "decision")]]
    update = {
        "content": text if text != find_stored_text(planned) else planned.fact.content,
        "categories": list(st.session_state[form_key(run, at, "categories")]),
        "importance": st.session_state[form_key(run, at, "importance")],
    }
    if update["importance"] == importance_of(run.plan, planned):
        update["importance"] = planned.fact.importance
    decision = make_decision(choice, planned, text, operator=session.current().operator)
    try:
        replay_run.amend(at, planned.fact.model_copy(update=update), decision)
    except MnemoscopeError as error:
        actions.refuse(error)
