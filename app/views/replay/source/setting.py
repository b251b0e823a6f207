"""The top of Replay: which conversation, into which namespace, and the button that plans."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st
from mnemoscope.core import Namespace
from mnemoscope.errors import MnemoscopeError

from app.components import states
from app.session.session import Session
from app.views.replay.plan import run as replay_run
from app.views.replay.plan import work
from app.views.replay.plan.run import Run
from app.views.replay.plan.work import Work
from app.views.replay.source import conversation, target
from app.views.replay.source import thread as replay_thread
from app.views.replay.source import upload as replay_upload
from app.views.replay.source.chosen import Chosen
from app.views.replay.source.upload import Reading, Upload

__all__ = ["PLAN_KEY", "Setting", "draw"]

PLAN_KEY = "replay.plan"


class Setting(NamedTuple):
    """What was chosen, the plan for it, and the namespace: each None while there is none."""

    chosen: Chosen | None
    run: Run | None
    namespace: Namespace | None = None


def draw(working: Session, *, plans: bool = True) -> Setting:
    """Draw the choices; what was chosen. Without `plans` there is no button that makes a plan."""
    ended, failure = _collected()
    with st.container(border=True, key="replay-setting"):
        origin = conversation.choose_origin()
        upload, reading = _choose_file() if origin == "upload" else (None, None)
        thread = replay_thread.choose(working) if origin == "thread" else None
        which, where, *start = st.columns([6, 5, 2] if plans else [6, 5], vertical_alignment="bottom")
        with which:
            chosen = thread or _choose(origin, upload, reading)
        with where:
            namespace = target.choose(chosen, working.engine.counts())
        run = replay_run.current(working, chosen, namespace) if chosen and namespace else None
        for column in start:
            with column:
                _draw_plan_button(working, chosen, namespace, run)
        if chosen is not None and chosen.description:
            st.caption(chosen.description)
    work.draw(replay_run.WORK, ended)
    if failure is not None:
        states.failed(failure)
    return Setting(chosen, run, namespace)


def _choose_file() -> tuple[Upload | None, Reading | None]:
    upload = replay_upload.choose_file()
    return upload, replay_upload.choose_format(upload) if upload else None


def _choose(origin: str, upload: Upload | None, reading: Reading | None) -> Chosen | None:
    if origin == "sample":
        return conversation.choose_sample()
    if upload is not None and reading is not None and reading.conversations:
        return conversation.choose_uploaded(upload, reading)
    st.selectbox("Conversation", [], disabled=True, placeholder="Choose above first", key="replay.no_conversation")
    return None


def _draw_plan_button(working: Session, chosen: Chosen | None, namespace: Namespace | None, run: Run | None) -> None:
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


def _collected() -> tuple[Work | None, MnemoscopeError | None]:
    try:
        return replay_run.collect(), None
    except MnemoscopeError as error:
        return None, error


def _why_not(chosen: Chosen | None, namespace: Namespace | None) -> str:
    if chosen is None:
        return "Choose a conversation first."
    if not chosen.transcript.messages:
        return "This conversation holds no message."
    if work.is_running(replay_run.WORK):
        return "A plan is being made."
    return "" if namespace else "Choose a namespace first."
