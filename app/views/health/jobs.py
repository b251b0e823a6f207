"""Health: the jobs of the background that remembers for this connection's agents."""

from __future__ import annotations

import time
from pathlib import Path

import streamlit as st
from mnemoscope import MnemoscopeError
from mnemoscope.background import STATES, Job, JobQueue, count_jobs, read_jobs
from mnemoscope.connections import Connection
from mnemoscope.core import show_namespace

from app.components import actions, states
from app.session import connections, session
from app.text.display import one_line, timestamp

LISTED = 100


RETRY_KEY = "health.jobs.retry"


_LONGEST = 300


def draw_jobs(connection: Connection) -> None:
    """Draw the jobs of the queue that the connection names, if it names one."""
    file = connection.queue_file()
    if file is None:
        return
    st.subheader("Background jobs", anchor=False)
    _draw_queue(file)


def retry_failed() -> None:
    """Try every job again that has failed; an action for who may write."""
    try:
        session.require_writing()
        file = session.choice().connection.queue_file()
        if file is None:
            return
        failed = read_jobs(file, state="failed")
        queue = JobQueue(file)
        try:
            for job in failed:
                queue.retry(job.id, now=time.time())
        finally:
            queue.close()
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    actions.report(f"{len(failed):,} jobs wait again; the agents' workers take them.")


def _draw_queue(file: Path) -> None:
    try:
        counts, jobs = count_jobs(file), read_jobs(file, limit=LISTED)
    except MnemoscopeError as error:
        states.draw_failed(error)
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="health-jobs"):
        for state in STATES:
            st.metric(state.capitalize(), f"{counts[state]:,}", border=True)
        if counts["failed"]:
            st.button("Retry what has failed", icon=":material/replay:", key=RETRY_KEY, on_click=retry_failed)
    if jobs:
        st.dataframe(
            [_row(job) for job in jobs],
            hide_index=True,
            key="health.jobs",
            alt="Jobs of the background, the latest submitted first",
        )
    total = sum(counts.values())
    st.caption(f"The latest {len(jobs):,} of {total:,} jobs." if total > len(jobs) else f"{total:,} jobs.")


def _row(job: Job) -> dict[str, object]:
    said = job.error or job.outcome
    return {
        "State": job.state,
        "Namespace": one_line(show_namespace(job.namespace), 100),
        "Thread": one_line(job.thread or "–", 60),
        "Turns": job.turns,
        "Attempts": job.attempts,
        "Submitted": timestamp(job.submitted_at),
        "Due": timestamp(job.due_at) if job.state == "waiting" else "–",
        "What came of it": one_line(connections.scrub_secrets(said), _LONGEST),
    }
