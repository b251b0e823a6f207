"""Which changes the History page is about: by actor, kind, run, key and time, all in the URL; and a page of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

import streamlit as st
from mnemoscope import Change
from mnemoscope.journal import ACTIONS

from app.components.differences import is_about_private
from app.session.cache import kept, stamp
from app.session.scope import Scope
from app.session.session import Session
from app.text.display import one_line

PRIVATE_KEY = "h_private"


BEFORE = "h_before"


"""The URL parameter with the id of the change that the page of the table goes on from."""


ROWS = 50


_SEEN = 500


_UNSET: dict[str, Any] = {"h_by": None, "h_kind": None, "h_key": "", "h_run": "", "h_from": None, "h_until": None}


@dataclass(frozen=True)
class HistoryFilters:
    """What the controls say; None where anything goes."""

    by: str | None = None
    action: str | None = None
    key: str | None = None
    run: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def texts(self) -> Mapping[str, str | None]:
        """The options of `engine.history` beside key and time."""
        return {"by": self.by, "action": self.action, "run": self.run}

    @property
    def is_set(self) -> bool:
        """Whether anything is left out."""
        return self != HistoryFilters()


@dataclass(frozen=True)
class Page:
    """Some changes, latest first, and whether older ones follow."""

    changes: list[Change]
    has_more: bool


def draw_filters(working: Session, here: Scope) -> HistoryFilters:
    """Draw the controls."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="history-filters"):
        by = st.selectbox(
            "Who", list_actors(working, here), None, key="h_by", bind="query-params", placeholder="Anybody",
            label_visibility="collapsed", accept_new_options=True, width=180, on_change=go_to_first_page,
            format_func=lambda name: one_line(name, 60),
        )  # fmt: skip
        action = st.selectbox(
            "Kind", ACTIONS, None, key="h_kind", bind="query-params", placeholder="Any kind",
            label_visibility="collapsed", width=140, on_change=go_to_first_page,
        )  # fmt: skip
        key = _draw_text("Key", "h_key", "Key of a memory", 240)
        run = _draw_text("Run", "h_run", "Run", 200)
        with st.popover("When", icon=":material/calendar_month:", width="content"):
            first, last = st.columns(2)
            since = first.date_input(
                "From (UTC)", None, key="h_from", bind="query-params", format="YYYY-MM-DD", on_change=go_to_first_page
            )
            until = last.date_input(
                "Until (UTC)", None, key="h_until", bind="query-params", format="YYYY-MM-DD", on_change=go_to_first_page
            )
    return HistoryFilters(by, action, key or None, run or None, _at(since, time.min), _at(until, time.max))


def read_page(working: Session, here: Scope, chosen: HistoryFilters) -> Page:
    """The page of changes that the URL asks for, read anew only when the history has grown."""
    before = st.query_params.get(BEFORE)
    stamped = stamp(working, here, "journal")
    return kept(
        "history",
        None if stamped is None else (stamped, chosen, before),
        lambda: _read(working, here, chosen, before),
    )


def clear_filters() -> None:
    """Set every filter back; for callbacks."""
    st.session_state.update(_UNSET)
    go_to_first_page()


def go_to_first_page() -> None:
    """Go back to the latest changes; for callbacks."""
    st.query_params.pop(BEFORE, None)


def list_actors(working: Session, here: Scope) -> list[str]:
    """Who made the latest changes of the scope; others can be typed in."""
    seen = kept(
        "history.actors",
        stamp(working, here, "journal"),
        lambda: sorted(
            {change.actor for change in working.engine.history(here.namespace, subtree=here.subtree, limit=_SEEN)}
        ),
    )
    chosen = st.session_state.get("h_by") or st.query_params.get("h_by")
    return seen if chosen is None or chosen in seen else [*seen, chosen]


def show_text(change: Change, text: str | None) -> str:
    """A text of the change as it may be shown in a row."""
    if is_about_private(change) and not st.session_state.get(PRIVATE_KEY):
        return "(private)"
    return one_line(text or "", 300)


def moment_of(day: date, at: time) -> datetime:
    """The moment of a day and a time of it, in UTC."""
    return datetime.combine(day, at, tzinfo=UTC)


def _draw_text(label: str, key: str, placeholder: str, width: int) -> str:
    text = st.text_input(
        label, key=key, bind="query-params", placeholder=placeholder, label_visibility="collapsed", width=width,
        max_chars=500, on_change=go_to_first_page,
    )  # fmt: skip
    return (text or "").strip()


def _read(working: Session, here: Scope, chosen: HistoryFilters, before: str | None) -> Page:
    # Ids begin with the time of the change.
    bounds = [before, f"{chosen.until:%Y%m%dT%H%M%S%f}~" if chosen.until else None]
    found = working.engine.history(
        here.namespace,
        chosen.key,
        subtree=here.subtree,
        before=min((bound for bound in bounds if bound), default=None),
        limit=ROWS + 1,
        **chosen.texts,
    )
    recent = [change for change in found if chosen.since is None or change.at >= chosen.since]
    return Page(recent[:ROWS], len(recent) > ROWS)


def _at(day: date | None, at: time) -> datetime | None:
    return None if day is None else moment_of(day, at)
