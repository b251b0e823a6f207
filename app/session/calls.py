"""The last calls to the stores that were slow or failed, kept in memory while the dashboard runs."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

import streamlit as st
from mnemoscope import ConflictError
from mnemoscope.core import Clock, scrub, utc_now
from mnemoscope.stores import Watcher

SLOW_SECONDS = 0.5
"""From how many seconds a call counts as slow."""

_KEPT = 200


@dataclass(frozen=True)
class Call:
    """One call to a store: when it began to answer, what it was, how long it took, and how it failed."""

    at: datetime
    connection: str
    name: str
    seconds: float
    error: str = ""


class CallLog:
    """The last slow and failed calls, oldest first out; used by all threads."""

    def __init__(self, clock: Clock = utc_now) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._calls: deque[Call] = deque(maxlen=_KEPT)
        self.total = 0

    def watcher(self, connection: str, secrets: Callable[[], Iterable[str]]) -> Watcher:
        """What notes the calls of one connection; `secrets` are left out of the errors."""

        def note(name: str, seconds: float, error: Exception | None) -> None:
            said = "" if error is None else scrub(f"{type(error).__name__}: {error}", secrets())
            is_worth_keeping = seconds >= SLOW_SECONDS or (error is not None and not isinstance(error, ConflictError))
            with self._lock:
                self.total += 1
                if is_worth_keeping:
                    self._calls.append(Call(self._clock(), connection, name, seconds, said))

        return note

    def of(self, connection: str) -> list[Call]:
        """What is kept of a connection, the latest first."""
        with self._lock:
            return [call for call in reversed(self._calls) if call.connection == connection]


@st.cache_resource(show_spinner=False)
def call_log() -> CallLog:
    """The log of this process."""
    return CallLog()
