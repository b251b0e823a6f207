"""Health: the change of embedder: begun, paused, taken up and gone back on, from here or from elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st
from mnemoscope import MnemoscopeError
from mnemoscope.connections import Connection, engine_over, open_store
from mnemoscope.embedding import present_identity
from mnemoscope.reembedding import ReembedState

from app.components import actions, states
from app.session import connections, session
from app.session.calls import call_log
from app.session.session import Session
from app.text.display import megabytes, one_line, safe
from app.text.reembedding import describe_state
from app.views.health import report

START_KEY, PAUSE_KEY, DROP_KEY = "health.reembed.start", "health.reembed.pause", "health.reembed.drop"


BACK_KEY, RATE_KEY = "health.reembed.back", "health.reembed.rate"


_EVERY_SECONDS = 1.0


_BEGUN = "health.reembed.begun"


@dataclass
class Worker:
    """The thread of this process that is at a connection's change of embedder, and why it ended early."""

    thread: threading.Thread | None = None
    error: str = ""

    @property
    def is_alive(self) -> bool:
        """Whether it is at it."""
        return self.thread is not None and self.thread.is_alive()

    def begin(self, work: Callable[[], Any]) -> None:
        """Have it work on a thread that ends with this process; what is made outlives it."""
        self.error = ""

        def run() -> None:
            try:
                work()
            except MnemoscopeError as error:
                self.error = str(error)

        self.thread = threading.Thread(target=run, name="mnemoscope-reembed", daemon=True)
        self.thread.start()


@st.cache_resource(max_entries=64, show_spinner=False)
def open_worker(connection: str) -> Worker:
    """The worker of a connection, one for all sessions of this process."""
    del connection
    return Worker()


def draw_reembedding(working: Session, connection: Connection) -> None:
    """Draw how it stands and what can be done, where there is anything to go over to, or to go back on."""
    difference = session.foreign_vectors(working)
    if working.engine.reembedding.status() is None and not difference and connection.next_embedder is None:
        return
    st.subheader("Change of embedder", anchor=False)
    polls = _is_running(working.engine.reembedding.status(), connection)
    # Only while somebody is at it does this part run by itself.
    fragment = st.fragment(_draw_state, run_every=_EVERY_SECONDS if polls else None)
    fragment(working, connection, difference, polls=polls)


def _draw_state(working: Session, connection: Connection, difference: str, *, polls: bool) -> None:
    try:
        state = working.engine.reembedding.status()
    except MnemoscopeError as error:
        states.draw_failed(error)
        return
    here, is_running = open_worker(connection.name), _is_running(state, connection)
    if st.session_state.pop(_BEGUN, False) or is_running != polls:
        # What was looked over before is not what there is now, and the page must ask, or stop asking.
        report.forget_report()
        st.rerun()
    if difference and not is_running:
        st.text(safe(difference, 500))
    if state is not None:
        st.text(describe_state(state))
        if state.state != "done":
            st.progress(state.share)
    elif connection.next_embedder is not None and not difference:
        present = one_line(str(present_identity(working.adapter)), 100)
        st.text(f"The vectors in use are by {present}. Next is {one_line(connection.next_embedder, 100)}.")
    if here.error:
        st.warning(one_line(connections.scrub_secrets(here.error), 500), icon=":material/error:")
    _draw_actions(working, connection, state, is_running=is_running)


def _draw_actions(working: Session, connection: Connection, state: ReembedState | None, *, is_running: bool) -> None:
    names_next, is_done = connection.next_embedder is not None, state is not None and state.state == "done"
    with st.container(horizontal=True, vertical_alignment="bottom", key="health-reembed"):
        if is_running:
            st.button("Pause", key=PAUSE_KEY, icon=":material/pause:", on_click=_pause)
        elif not is_done or working.engine.reembedding.difference():
            resumes = state is not None and not is_done
            st.number_input(
                "Texts a second at most",
                min_value=0.1,
                value=None,
                key=RATE_KEY,
                width=190,
                placeholder="no limit",
                help="A service may charge for every text, and limit how many it takes.",
            )
            label, icon = ("Go on", ":material/play_arrow:") if resumes else ("Begin", ":material/sync:")
            st.button(label, key=START_KEY, icon=icon, type="primary", on_click=_begin)
        elif names_next:
            st.button("Go back", key=BACK_KEY, icon=":material/undo:", on_click=_begin, kwargs={"back": True})
        if state is not None and not is_running and (not is_done or state.kept_bytes):
            label = f"Drop the former vectors ({megabytes(state.kept_bytes)})" if is_done else "Cancel"
            st.button(label, key=DROP_KEY, icon=":material/delete:", on_click=_drop)
    if is_done:
        st.caption("Going back embeds only what has changed since, as long as the former vectors are kept.")
    elif state is None:
        st.caption(
            "Recall goes on with the vectors in use until all are made; then they are put in use at once. What is made "
            "outlives this page and this process. It takes the role admin, with writing switched on."
        )


def _is_running(state: ReembedState | None, connection: Connection) -> bool:
    return open_worker(connection.name).is_alive or (state is not None and state.state == "running")


def _begin(*, back: bool = False) -> None:
    try:
        working = session.require_role("admin")
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    connection, operator = session.choice().connection, working.operator
    rate = st.session_state.get(RATE_KEY)
    here = open_worker(connection.name)
    if here.is_alive:
        return

    def work() -> None:
        watcher = call_log().watcher(connection.name, connection.secrets)
        engine = engine_over(open_store(connection), connection, touch=False, watcher=watcher)
        try:
            engine.reembedding.start(rate=rate, back=back, actor=operator)
        finally:
            engine.close()

    here.begin(work)
    st.session_state[_BEGUN] = True


def _pause() -> None:
    try:
        session.require_role("admin").engine.reembedding.pause()
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    actions.report("It stops after the call that is under way; what is made stays.")


def _drop() -> None:
    try:
        session.require_role("admin").engine.reembedding.drop_waiting()
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    report.forget_report()
    actions.report("The vectors that are not in use were dropped.")
