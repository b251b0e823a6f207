"""Live: a page follows what agents write elsewhere, as long as the operator is not in the middle of something.

The browser asks every few seconds, while its tab is in sight and nobody edits there (`assets/live.js`). One mark of
what the page shows is compared then, and only where it is another one does the page run again. Whatever an operator
must not lose or see change under the pointer stands in `hold`, which makes the browser wait.
"""

from __future__ import annotations

import os
from collections.abc import Hashable
from pathlib import Path
from typing import Literal

import streamlit as st
from mnemoscope import MnemoscopeError
from streamlit.delta_generator import DeltaGenerator

from app.components.theme import ASSETS
from app.session import scope, session
from app.session.cache import stamp
from app.session.scope import Scope
from app.session.session import Session

KEY = "live"


EVERY_SECONDS = 2.5


WATCHED: dict[str, tuple[str, ...]] = {
    "overview": ("journal",),
    "browse": ("journal", "access"),
    "history": ("journal",),
    "health": ("journal", "access"),
}


"""The pages that follow, and which of our books they show beside the memories."""


State = Literal["live", "off", "away", "blind"]


"""Following; switched off; the store did not answer the last time; the store cannot tell of changes."""


_PAGE, _MARK, _STATE, _OFF = "live.page", "live.mark", "live.state", "live.is_off"


_HAS_MOVED, _REFRESHED = "live.has_moved", "live.refreshed"


_indicator = st.components.v2.component(
    "mnemoscope_live",
    html='<button type="button"><span class="dot"></span><span class="said"></span></button>',
    css=(ASSETS / "live.css").read_text(encoding="utf-8"),
    js=(ASSETS / "live.js").read_text(encoding="utf-8"),
)


def draw_indicator(page: str) -> None:
    """Draw the indicator of a page that follows, and note what it shows now. Called before the page is drawn.

    Raises:
        StoreError: the store does not answer.
    """
    if page not in WATCHED:
        return
    found = mark(session.current(), page)
    st.session_state[_PAGE], st.session_state[_MARK] = page, found
    st.session_state[_STATE] = "blind" if found is None else "live"
    st.session_state.pop(_HAS_MOVED, None)
    with st.container(key="live-place"):
        _follow()


def hold(name: str) -> DeltaGenerator:
    """A container for what must not change by itself: while it is in sight, the page waits. `name` is unique on it."""
    return st.container(key=f"live-hold-{name}")


def mark(working: Session, page: str) -> Hashable | None:
    """What stays the same as long as nothing changes that the page shows; None where the store cannot tell.

    Raises:
        StoreError: the store does not answer.
    """
    is_health = page == "health"
    stamped = stamp(working, Scope() if is_health else scope.current(), *WATCHED[page])
    queue = session.choice().connection.queue_file() if is_health else None
    found = (stamped, _marks_of_file(queue) if queue else None)
    return None if found == (None, None) else found


def look() -> None:
    """Compare what the page shows with the store; a callback of the indicator."""
    if st.session_state.get(_OFF):
        return
    try:
        found = mark(session.current(), st.session_state[_PAGE])
    except MnemoscopeError:
        # The page stays as it is, so that it can be read on; the indicator says that it is not followed.
        st.session_state[_STATE] = "away"
        return
    st.session_state[_STATE] = "blind" if found is None else "live"
    if found != st.session_state.get(_MARK):
        st.session_state[_HAS_MOVED] = True
        st.session_state[_REFRESHED] = st.session_state.get(_REFRESHED, 0) + 1


@st.fragment
def _follow() -> None:
    state: State = "off" if st.session_state.get(_OFF) else st.session_state[_STATE]
    _indicator(
        key=KEY,
        data={"state": state, "every": EVERY_SECONDS * 1000, "refreshed": st.session_state.get(_REFRESHED, 0)},
        on_asked_change=look,
        on_switched_change=_switch,
        width="content",
        height="content",
    )
    if st.session_state.pop(_HAS_MOVED, False):
        st.rerun(scope="app")


def _switch() -> None:
    st.session_state[_OFF] = not st.session_state.get(_OFF, False)


def _marks_of_file(path: Path) -> tuple[tuple[int, int] | None, ...]:
    return tuple(_mark_of(Path(f"{path}{ending}")) for ending in ("", "-wal"))


def _mark_of(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
