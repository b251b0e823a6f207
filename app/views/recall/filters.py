"""The filters of the Recall page that need the store: a popover with the number of those set, all in the URL."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time
from typing import Any

import streamlit as st
from mnemoscope import MemoryRecord
from mnemoscope.core import compile_filter, utc_now
from mnemoscope.errors import FilterError
from mnemoscope.index import ScopeIndex

from app.text.display import one_line

KEYS: dict[str, str] = {
    "categories": "r_cat",
    "source": "r_src",
    "include_private": "r_private",
    "since": "r_since",
    "until": "r_until",
    "as_of": "r_asof",
    "at": "r_asof_at",
    "filter": "r_filter",
}


"""The URL parameter of each filter, which is its widget's key too."""


_UNSET: dict[str, Any] = {
    "categories": [],
    "source": None,
    "include_private": False,
    "since": None,
    "until": None,
    "as_of": None,
    "filter": "",
}


_AGAIN = "recall.again"


_PATHS, _LOOKED_AT = 8, 2_000


_LONGEST_FILTER = 2_000


_LAST_MINUTE = time(23, 59)


@dataclass(frozen=True)
class RecallFilters:
    """What decides which memories are candidates; `filter` is the JSON as typed, `problem` what is wrong with it."""

    categories: tuple[str, ...] = ()
    include_private: bool = False
    source: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    filter: str = ""
    problem: str = ""

    @property
    def options(self) -> dict[str, Any]:
        """Those that are set, as arguments of `engine.recall`."""
        given = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "problem"}
        given |= {"categories": list(self.categories), "filter": json.loads(self.filter) if self.filter else None}
        return {name: value for name, value in given.items() if value}


def draw_filters(index: ScopeIndex, names: Sequence[str]) -> RecallFilters:
    """Draw the popover over this scope, whose categories are `names`, the most frequent first."""
    count = sum(map(_number_set, _UNSET))
    label = f"Filters · {count}" if count else "Filters"
    with st.popover(label, icon=":material/filter_list:", width="content", key="recall.filters"):
        categories = _draw_categories(names)
        source, include_private = _draw_sight(index)
        since, until = _draw_days()
        as_of = _draw_moment()
        text, problem = _draw_form(index)
        st.button(
            "Clear all filters", key="recall.clear-all", icon=":material/filter_alt_off:", disabled=not count,
            on_click=clear_filters,
        )  # fmt: skip
    return RecallFilters(tuple(categories), include_private, source, since, until, as_of, text, problem)


def clear_filters() -> None:
    """Take every filter back, from a callback."""
    for name, value in _UNSET.items():
        st.session_state[KEYS[name]] = value
    st.session_state[_AGAIN] = True


def set_filters(*names: str, **values: object) -> None:
    """Take these filters back and set those to their value, from a callback."""
    for name, value in {**{name: _UNSET[name] for name in names}, **values}.items():
        st.session_state[KEYS[name]] = value
    st.session_state[_AGAIN] = True


def ask_again() -> None:
    """Run the whole page again where a part of it has changed a filter, which stands outside of that part."""
    if st.session_state.pop(_AGAIN, False):
        st.rerun()


def _draw_categories(names: Sequence[str]) -> list[str]:
    # Before the widgets are first drawn, what the URL says is not in the session yet.
    key = KEYS["categories"]
    chosen = list(st.session_state.get(key, st.query_params.get_all(key)))
    return st.multiselect(
        "Categories",
        [*names, *(name for name in chosen if name not in names)],
        key=key,
        bind="query-params",
        format_func=lambda name: one_line(name, 60),
        placeholder="Any category",
    )


def _draw_sight(index: ScopeIndex) -> tuple[str | None, bool]:
    key = KEYS["source"]
    known = sorted({name for name in index.columns.sources.names if name}, key=str.casefold)
    chosen = st.session_state.get(key) or st.query_params.get(key)
    source = st.selectbox(
        "On behalf of the source",
        known if chosen in (None, *known) else [*known, chosen],
        None,
        key=key,
        bind="query-params",
        format_func=lambda name: one_line(name, 60),
        placeholder="Nobody",
        help="Its private memories are seen too, as an agent that asks for it would.",
    )
    include_private = st.toggle(
        "Show private memories",
        key=KEYS["include_private"],
        bind="query-params",
        help="Everybody's. An agent sees a private memory only on behalf of its own source.",
    )
    return source, include_private


def _draw_days() -> tuple[datetime | None, datetime | None]:
    first, last = st.columns(2)
    since = first.date_input("Changed from (UTC)", None, key=KEYS["since"], bind="query-params", format="YYYY-MM-DD")
    until = last.date_input("Changed until (UTC)", None, key=KEYS["until"], bind="query-params", format="YYYY-MM-DD")
    return _at(since, time.min), _at(until, time.max)


def _draw_moment() -> datetime | None:
    first, last = st.columns(2)
    day = first.date_input(
        "As of (UTC)", None, key=KEYS["as_of"], bind="query-params", format="YYYY-MM-DD",
        help="The memories as they were at that moment, with their ages then. Known as far as the history goes back.",
    )  # fmt: skip
    at = last.time_input("At", _LAST_MINUTE, key=KEYS["at"], bind="query-params", disabled=day is None)
    moment = _at(day, at or _LAST_MINUTE)
    if moment is not None and moment > utc_now():
        st.caption("That has not come yet, so the store is shown as it is now.")
        return None
    return moment


def _draw_form(index: ScopeIndex) -> tuple[str, str]:
    text = st.text_input(
        "Filter on fields",
        key=KEYS["filter"],
        bind="query-params",
        max_chars=_LONGEST_FILTER,
        placeholder='{"metadata.team": "red"}',
        help="A JSON object of paths and conditions: a value, or operators such as `$in`, `$gte`, `$lt`, `$exists`, "
        "`$contains` and `$ne`. All of them must hold.",
    )
    text = (text or "").strip()
    problem = _problem(text)
    if problem:
        st.text(one_line(problem, 300))
    paths = [f"metadata.{name}" for name in _metadata_names(index.records)]
    if paths:
        left = f" and {len(paths) - _PATHS:,} more" if len(paths) > _PATHS else ""
        st.caption(f"Fields in the metadata of the first {_LOOKED_AT:,} memories here:")
        st.text(one_line(", ".join(paths[:_PATHS]), 300) + left)
    return text, problem


def _problem(text: str) -> str:
    if not text:
        return ""
    try:
        compile_filter(json.loads(text))
    except FilterError as error:
        return str(error)
    except (ValueError, RecursionError) as error:
        return f"This is no JSON: {error}"
    return ""


def _metadata_names(records: Sequence[MemoryRecord]) -> list[str]:
    found = (name for record in records[:_LOOKED_AT] if not record.private for name in _names(record.metadata))
    return list(dict.fromkeys(found))


def _names(metadata: Mapping[str, Any]) -> Iterator[str]:
    return (name for name in metadata if isinstance(name, str))


def _number_set(name: str) -> int:
    key = KEYS[name]
    given = st.session_state[key] if key in st.session_state else st.query_params.get_all(key)
    return len(given) if name == "categories" else int(given not in (_UNSET[name], [], ["false"]))


def _at(day: date | None, at: time) -> datetime | None:
    return None if day is None else datetime.combine(day, at, tzinfo=UTC)
