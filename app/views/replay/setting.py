"""The top of Replay: what to do, with which conversation, into which namespace, and the button that plans."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st
from mnemoscope import MnemoscopeError
from mnemoscope.core import Namespace

from app.components import states, url_choices, work
from app.components.work import Work
from app.session.session import Session
from app.views.replay.plan import run as replay_run
from app.views.replay.plan.run import Run
from app.views.replay.source import conversation
from app.views.replay.source import thread as replay_thread
from app.views.replay.source import upload as replay_upload
from app.views.replay.source.conversation import ReplayConversation
from app.views.replay.source.upload import Reading, Upload

MODE_KEY = "p_mode"

_MODES = {
    "plan": ":material/fact_check: One plan",
    "compare": ":material/compare_arrows: Two setups",
    "prompt": ":material/edit_note: Prompt",
}

PLAN_KEY = "replay.plan"


def choose_mode() -> str:
    """Draw the choice: "plan", "compare" or "prompt"."""
    url_choices.follow(MODE_KEY, _MODES, "plan")
    mode = st.segmented_control(
        "Do",
        list(_MODES),
        format_func=lambda name: _MODES[name],
        required=True,
        key=MODE_KEY,
        on_change=url_choices.write,
        args=(MODE_KEY, "plan"),
        persist_state="session",
        label_visibility="collapsed",
    )
    return mode or "plan"


def go_to_mode(mode: str) -> None:
    """Show this part of the page; for callbacks."""
    st.session_state[MODE_KEY] = mode
    url_choices.write(MODE_KEY, "plan")


class Setting(NamedTuple):
    """What was chosen, the plan for it, and the namespace: each None while there is none."""

    chosen: ReplayConversation | None
    run: Run | None
    namespace: Namespace | None = None


def draw_setting(working: Session, *, plans: bool = True) -> Setting:
    """Draw the choices; what was chosen. Without `plans` there is no button that makes a plan."""
    ended, failure = _collect()
    with st.container(border=True, key="replay-setting"):
        origin = conversation.choose_origin()
        upload, reading = _choose_file() if origin == "upload" else (None, None)
        thread = replay_thread.choose_thread(working) if origin == "thread" else None
        which, where, *start = st.columns([6, 5, 2] if plans else [6, 5], vertical_alignment="bottom")
        with which:
            chosen = thread or _choose(origin, upload, reading)
        with where:
            namespace = conversation.choose_target(chosen, working.engine.counts())
        run = replay_run.find_run(working, chosen, namespace) if chosen and namespace else None
        for column in start:
            with column:
                _draw_plan_button(working, chosen, namespace, run)
        if chosen is not None and chosen.description:
            st.caption(chosen.description)
    work.draw_progress(replay_run.WORK, ended)
    if failure is not None:
        states.draw_failed(failure)
    return Setting(chosen, run, namespace)


def _choose_file() -> tuple[Upload | None, Reading | None]:
    upload = replay_upload.choose_file()
    return upload, replay_upload.choose_format(upload) if upload else None


def _choose(origin: str, upload: Upload | None, reading: Reading | None) -> ReplayConversation | None:
    if origin == "sample":
        return conversation.choose_sample()
    if upload is not None and reading is not None and reading.conversations:
        return conversation.choose_uploaded(upload, reading)
    st.selectbox("Conversation", [], disabled=True, placeholder="Choose above first", key="replay.no_conversation")
    return None


def _draw_plan_button(
    working: Session, chosen: ReplayConversation | None, namespace: Namespace | None, run: Run | None
) -> None:
    reason = _why_not(chosen, namespace)
    st.button(
        "Plan again" if run else "Plan",
        key=PLAN_KEY,
        type="secondary" if run else "primary",
        icon=":material/replay:" if run else ":material/play_arrow:",
        disabled=bool(reason),
        help=reason or "Reads the conversation and decides for each fact. Nothing is written.",
        width="stretch",
        on_click=replay_run.begin,
        args=(working, chosen, namespace),
    )


def _collect() -> tuple[Work | None, MnemoscopeError | None]:
    try:
        return replay_run.collect_plan(), None
    except MnemoscopeError as error:
        return None, error


def _why_not(chosen: ReplayConversation | None, namespace: Namespace | None) -> str:
    if chosen is None:
        return "Choose a conversation first."
    if not chosen.transcript.messages:
        return "This conversation holds no message."
    if work.is_running(replay_run.WORK):
        return "A plan is being made."
    return "" if namespace else "Choose a namespace first."
