"""Health, first part: everything looked over once, and kept until it is asked for again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

import streamlit as st
from mnemoscope.connections import Connection
from mnemoscope.core import utc_now
from mnemoscope.health import LARGEST, Check, Kinds, check_backend, health_checks, kinds_of

from app.session import index_memory
from app.session.connections import MISSING, read_version
from app.session.session import Session
from app.text.display import safe

AGAIN_KEY = "health.again"


_STATE = "health.report"


_ORDER = {"bad": 0, "warning": 1, "good": 2, "skipped": 3}


@dataclass(frozen=True)
class HealthReport:
    """What was found, the worst first, when, and for which store. `kinds` is None where there are too many items."""

    store: tuple[str, str, bool]
    at: datetime
    checks: list[Check]
    kinds: Kinds | None

    def in_state(self, *states: str) -> list[Check]:
        """The checks that went this way."""
        return [check for check in self.checks if check.state in states]


def read_report(working: Session, connection: Connection) -> HealthReport:
    """The last report of this store; made now where there is none."""
    store = (connection.name, read_version(connection), working.is_writing)
    report = st.session_state.get(_STATE)
    if not isinstance(report, HealthReport) or report.store != store:
        with st.spinner("Looking everything over …"):
            report = examine(working, connection, now=utc_now())
        st.session_state[_STATE] = report
    return report


def forget_report() -> None:
    """Have everything looked over again."""
    st.session_state.pop(_STATE, None)


def examine(working: Session, connection: Connection, *, now: datetime) -> HealthReport:
    """Look everything over; nothing is written."""
    checks = sorted(_list_checks(working, connection, now), key=lambda check: _ORDER[check.state])
    total = sum(working.engine.counts().values())
    kinds = kinds_of(working.engine.index((), subtree=True)) if total <= LARGEST else None
    return HealthReport((connection.name, read_version(connection), working.is_writing), now, checks, kinds)


def _list_checks(working: Session, connection: Connection, now: datetime) -> Iterator[Check]:
    if read_version(connection) != MISSING:
        for check in check_backend(connection):
            yield _make_safe(check)
    for check in health_checks(working.engine, now):
        yield _make_safe(check)
    # What was looked at by now has its index.
    yield index_memory.check(working.engine.context.indexes.memory)


def _make_safe(check: Check) -> Check:
    return replace(
        check, report=safe(check.report, 1_000), remedy=safe(check.remedy, 1_000), command=safe(check.command)
    )
