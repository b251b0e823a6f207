"""The right half of Replay: a plan from its figures to its commit, or why there is none."""

from __future__ import annotations

from functools import partial
from itertools import count

import streamlit as st
from mnemoscope import Plan
from mnemoscope.conversations import ExpectedMemory, SampleConversation, write_sample
from mnemoscope.core import show_namespace
from mnemoscope.errors import Conflict

from app.components import code, states, url_choices
from app.session import links
from app.session.session import Session
from app.text.display import counted, one_line, safe
from app.views.replay.plan import facts, summary
from app.views.replay.plan import run as replay_run
from app.views.replay.plan.facts import VIEW_KEY
from app.views.replay.plan.run import Run, write_setup
from app.views.replay.source import conversation
from app.views.replay.source.conversation import ReplayConversation

_VIEWS = {
    "all": ":material/view_agenda: All facts",
    "one": ":material/looks_one: One by one",
    "changes": ":material/difference: Before and after",
}

COMMIT_KEY = "replay.commit"

DISCARD_KEY = "replay.discard"

AGAIN_KEY = "replay.plan_again"

EMPTY_KEY = "replay.plan_into_empty"

ALL_KEY = "replay.tick_all"

NONE_KEY = "replay.tick_none"

CONFLICTS_SHOWN = 10

SAVE_KEY = "replay.save_expected"


def draw_plan(run: Run | None, working: Session, chosen: ReplayConversation) -> None:
    """Draw the plan, or that there is none yet."""
    st.subheader("What was remembered" if run and run.is_committed else "What would be remembered", anchor=False)
    if run is None:
        states.draw_empty(
            "Nothing is planned yet",
            "Choose a namespace and plan, to see which facts would be remembered and why. Nothing is written by that.",
            icon=":material/fact_check:",
        )
        return
    if run.plan.failure is not None:
        summary.draw_failure(run.plan, run.plan.failure)
        return
    _draw_whole(run, working, chosen)
    code.draw_code(write_plan(run, chosen), write_plan_command(run, chosen))


def write_plan(run: Run, chosen: ReplayConversation) -> str:
    """The lines that plan and commit the same."""
    plan = run.plan
    kept = [at for at, planned in enumerate(plan.facts) if planned.chosen]
    lines = [
        f"messages = {chosen.python}",
        *([] if run.setup is None else [f"reader = {write_setup(run.setup)}"]),
        f"plan = {'engine' if run.setup is None else 'reader'}.plan(messages, {show_namespace(plan.namespace)!r}, "
        f"source={chosen.source!r})",
        *run.edits,
        *([] if len(kept) == len(plan.facts) else [f"plan = choose(plan, {kept})"]),
        "engine.apply(plan)",
    ]
    return "\n".join(lines)


def write_plan_command(run: Run, chosen: ReplayConversation) -> str:
    """The command that remembers the same; empty where it takes a choice or correction that only Python can make."""
    is_whole = all(planned.chosen for planned in run.plan.facts) and not run.edits and run.setup is None
    if chosen.file is None or not is_whole:
        return ""
    return code.write_command("remember", file=chosen.file, namespace=run.plan.namespace, source=chosen.source)


def _draw_whole(run: Run, working: Session, chosen: ReplayConversation) -> None:
    plan = run.plan
    now = working.engine.counts(plan.namespace).get(plan.namespace, 0)
    if run.is_committed:
        draw_committed(run, working)
    elif run.conflicts:
        draw_conflicts(run, working, chosen)
    summary.draw_summary(plan, now, is_committed=run.is_committed)
    if plan.facts:
        if not run.is_committed and not run.conflicts:
            draw_actions(run, working, chosen)
        _draw_view(run)
    else:
        states.draw_empty(
            "This conversation teaches nothing",
            "It was read to its end, and no lasting fact was found in it. Below is why.",
            icon=":material/sentiment_calm:",
        )
    summary.draw_withheld(run)
    summary.draw_reading(plan)
    draw_expected_download(plan, chosen)


def _draw_view(run: Run) -> None:
    url_choices.follow(VIEW_KEY, _VIEWS, "all")
    view = st.segmented_control(
        "Show",
        list(_VIEWS),
        format_func=lambda name: _VIEWS[name],
        required=True,
        key=VIEW_KEY,
        on_change=url_choices.write,
        args=(VIEW_KEY, "all"),
        persist_state="session",
        label_visibility="collapsed",
    )
    if view == "one":
        facts.draw_fact_alone(run)
    elif view == "changes":
        summary.draw_changes(run.plan)
    else:
        facts.draw_facts(run)


def draw_actions(run: Run, working: Session, chosen_talk: ReplayConversation) -> None:
    """Draw the row of actions; where there is nothing to commit, the way to an empty namespace."""
    offered = replay_run.open_facts(run.plan)
    chosen = [at for at in offered if run.plan.facts[at].chosen]
    reason = _why_not(len(offered), len(run.plan.changes), working)
    with st.container(horizontal=True, vertical_alignment="center", key="replay-actions"):
        st.button(
            _label_commit(len(chosen), len(offered)),
            key=COMMIT_KEY,
            type="primary",
            icon=":material/save:",
            disabled=bool(reason),
            help="The line below says why not."
            if reason
            else "Writes the ticked facts as one change, which can be undone as one.",
            on_click=replay_run.commit,
        )
        tick, untick = partial(replay_run.tick_all, is_chosen=True), partial(replay_run.tick_all, is_chosen=False)
        st.button("Tick all", key=ALL_KEY, on_click=tick, disabled=len(chosen) == len(offered))
        st.button("Tick none", key=NONE_KEY, on_click=untick, disabled=not chosen)
        st.button("Discard the plan", key=DISCARD_KEY, type="tertiary", on_click=replay_run.discard)
    if reason:
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.caption(":material/info:", width="content")
            # It may name the store's file.
            st.text(safe(reason, 500), width="stretch")
    if not offered:
        st.button(
            "Plan it into an empty namespace",
            key=EMPTY_KEY,
            icon=":material/play_arrow:",
            help="Nothing is written: you see what it would teach an agent that knows nothing yet.",
            on_click=_plan_into_empty,
            args=(working, chosen_talk),
        )


def draw_committed(run: Run, working: Session) -> None:
    """Say that the plan was carried out, and where to look."""
    undone = replay_run.is_undone(working.engine, run)
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="replay-committed"):
        icon = ":material/undo:" if undone else ":material/check_circle:"
        says = "was committed and then undone" if undone else "was committed"
        st.markdown(f"{icon} This plan {says}: {counted(run.written, 'change')} in", width="content")
        st.text(one_line(show_namespace(run.plan.namespace), 60), width="content")
        st.space("stretch")
        if not undone:
            links.link_to("browse", "See it in Browse", ns=list(run.plan.namespace))


def draw_conflicts(run: Run, working: Session, chosen: ReplayConversation) -> None:
    """Say that the plan was refused, with the texts that it was made on and those that are there now."""
    st.error(
        "**Nothing was committed**  \nMemories that this plan touches have changed since it was made. Plan again, "
        "which drops your corrections, or leave out the facts that lead to them.",
        icon=":material/error:",
    )
    for conflict in run.conflicts[:CONFLICTS_SHOWN]:
        _draw_conflict(conflict)
    if len(run.conflicts) > CONFLICTS_SHOWN:
        st.caption(f"These are the first {CONFLICTS_SHOWN} of {counted(len(run.conflicts), 'memory', 'memories')}.")
    st.button(
        "Plan again",
        key=AGAIN_KEY,
        type="primary",
        icon=":material/replay:",
        on_click=replay_run.begin,
        args=(working, chosen, run.plan.namespace),
    )


def _draw_conflict(conflict: Conflict) -> None:
    left, right = st.columns(2)
    for column, title, text in ((left, "When planned", conflict.expected), (right, "Now", conflict.actual)):
        with column:
            st.caption(title)
            st.code("(not there)" if text is None else safe(text, 1_000), language=None, wrap_lines=True)


def _plan_into_empty(working: Session, chosen: ReplayConversation) -> None:
    taken = working.engine.counts()
    namespace = next(each for number in count(1) if (each := ("memories", f"trial-{number}")) not in taken)
    st.session_state[conversation.TARGET_KEY] = show_namespace(namespace)
    replay_run.begin(working, chosen, namespace)


def _label_commit(chosen: int, offered: int) -> str:
    if chosen == offered:
        return {1: "Commit", 2: "Commit both facts"}.get(offered, f"Commit all {counted(offered, 'fact')}")
    return f"Commit {chosen} of {counted(offered, 'fact')}"


def _why_not(offered: int, changes: int, working: Session) -> str:
    if not offered:
        return "There is nothing to commit: everything in it is already known here."
    if not changes:
        return "Tick at least one fact to commit."
    return "" if working.is_writing else working.closed or "Writing is off. Switch it on at the top to commit."


def draw_expected_download(plan: Plan, chosen: ReplayConversation) -> None:
    """Draw the button that saves it."""
    st.download_button(
        "Save as the expected outcome",
        lambda: write_sample(_as_sample(plan, chosen)),
        file_name="expected.json",
        mime="application/json",
        key=SAVE_KEY,
        icon=":material/rule:",
        on_click="ignore",
        help="The conversation and what this plan leaves, as corrected, for `mnemoscope replay` to measure by.",
    )


def list_expected(plan: Plan) -> list[ExpectedMemory]:
    """The memories that say what the conversation says, after the plan: those it writes, and those it keeps."""
    written = {
        change.after.content: ExpectedMemory(
            change.after.content, change.action, change.before.content if change.before else None
        )
        for change in plan.changes
        if change.after is not None
    }
    changed = {change.key for change in plan.changes}
    kept = {
        record.content: ExpectedMemory(record.content)
        for planned in plan.facts
        if planned.outcome == "skip" and planned.target not in changed
        for record, _ in planned.compared
        if record.key == planned.target
    }
    return list({**kept, **written}.values())


def _as_sample(plan: Plan, chosen: ReplayConversation) -> SampleConversation:
    name = one_line(chosen.source, 120)
    return SampleConversation(
        id=name,
        title=name,
        description=chosen.description,
        namespace=plan.namespace,
        messages=list(chosen.transcript.messages),
        expected=list_expected(plan),
        not_expected=[],
    )
