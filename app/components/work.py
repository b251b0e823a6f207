"""Work off the page's thread: with progress, and with a cancel that lets go of it at once."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait
from typing import Any

import streamlit as st
from mnemoscope.core import Watch

PATIENCE_SECONDS = 0.8


"""How long a page waits for work that may be done at once, before it draws its progress."""


_EVERY_SECONDS = 0.5


class Loop:
    """One event loop on a thread of its own, for all sessions: clients of models must not change loops."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="mnemoscope-replay", daemon=True)
        self._thread.start()

    def submit(self, job: Callable[[Watch], Awaitable[Any]], watch: Watch) -> Future[Any]:
        """Begin the job; cancelling its future cancels it where it waits."""

        async def done() -> Any:
            return await job(watch)

        return asyncio.run_coroutine_threadsafe(done(), self._loop)

    def close(self) -> None:
        """Stop; what is still under way is cancelled."""
        self._loop.call_soon_threadsafe(self._stop)
        self._thread.join(5)

    def _stop(self) -> None:
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.call_soon(self._loop.stop)

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()


class Work:
    """One job under way or done; `made_of` is what it was asked with, and `says` what people read meanwhile."""

    def __init__(self, job: Callable[[Watch], Awaitable[Any]], *, made_of: Any, says: str, counts: bool) -> None:
        self.made_of, self.says, self.counts = made_of, says, counts
        self.done = 0.0
        self._begun = time.monotonic()
        self._future = _loop().submit(job, Watch(self._tell))

    @property
    def is_running(self) -> bool:
        """Whether it is still under way."""
        return not self._future.done()

    @property
    def is_cancelled(self) -> bool:
        """Whether it was cancelled before it was done."""
        return self._future.cancelled()

    @property
    def seconds(self) -> float:
        """For how long it has been under way."""
        return time.monotonic() - self._begun

    def result(self) -> Any:
        """What came of it; whatever it raised is raised here."""
        return self._future.result(0)

    def cancel(self) -> None:
        """Let go of it at once; it has written nothing."""
        self._future.cancel()

    def wait(self) -> bool:
        """Wait a moment for its end; whether it has ended."""
        wait([self._future], PATIENCE_SECONDS)
        return not self.is_running

    def _tell(self, done: float) -> None:
        self.done = done


def begin(
    name: str, job: Callable[[Watch], Awaitable[Any]], *, made_of: object, says: str, counts: bool = False
) -> None:
    """Begin a job under this name; one that is under way under it is cancelled. For callbacks too.

    With `counts` the job tells its watch how far it is; otherwise the seconds are shown.
    """
    drop(name)
    st.session_state[_key(name)] = Work(job, made_of=made_of, says=says, counts=counts)


def take_ended(name: str) -> Work | None:
    """The work that has ended under this name, once; None while it is under way, or where there is none."""
    work = st.session_state.get(_key(name))
    if not isinstance(work, Work) or not work.wait():
        return None
    del st.session_state[_key(name)]
    return work


def is_running(name: str) -> bool:
    """Whether something is under way under this name."""
    work = st.session_state.get(_key(name))
    return isinstance(work, Work) and work.is_running


def draw_progress(name: str, ended: Work | None = None) -> None:
    """Draw how far the work under this name is, or that the one that has `ended` was cancelled."""
    work = st.session_state.get(_key(name))
    if isinstance(work, Work):
        _draw_running(name, work)
    elif ended is not None and ended.is_cancelled:
        st.caption(":material/cancel: Cancelled before it was done. Nothing was written.")


def drop(name: str) -> None:
    """Cancel what is under way under this name, if anything is."""
    work = st.session_state.pop(_key(name), None)
    if isinstance(work, Work):
        work.cancel()


def cancel_key(name: str) -> str:
    """The key of the button that cancels."""
    return f"replay.cancel-{name}"


@st.fragment(run_every=_EVERY_SECONDS)
def _draw_running(name: str, work: Work) -> None:
    if not work.is_running:
        st.rerun()
    with st.container(border=True, key=f"replay-progress-{name}"):
        text = f"{work.says} · {work.seconds:,.0f} s"
        if work.counts:
            st.progress(work.done, text=text)
        else:
            st.markdown(f":material/hourglass_top: {text}")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Cancel", key=cancel_key(name), icon=":material/close:", on_click=work.cancel)
            st.caption("Nothing is written meanwhile, and you can look at other pages.")


def _key(name: str) -> str:
    return f"replay.work-{name}"


@st.cache_resource(show_spinner=False, on_release=Loop.close)
def _loop() -> Loop:
    return Loop()
