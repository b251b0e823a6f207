"""The controls above Browse's table, each in the URL: what to search for, which memories to show, in which order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

import streamlit as st
from mnemoscope.index import Filters, ScopeIndex

from app.session.links import BROWSE_STATES
from app.text.display import one_line

PAGE_KEY = "b_page"


WORDS, MEANING = "Words", "Meaning"


NO_SOURCE = "(none)"


SORTS: dict[str, tuple[str, bool]] = {
    "Latest change": ("changed", True),
    "Oldest change": ("changed", False),
    "Newest": ("created", True),
    "Oldest": ("created", False),
    "Most important": ("importance", True),
    "Least important": ("importance", False),
    "Most recalled": ("recalled", True),
    "Least recalled": ("recalled", False),
    "A to Z": ("content", False),
}


"""Every order by its label: the column, and whether it goes down."""


_UNSET: dict[str, Any] = {
    "b_q": "",
    "b_cat": [],
    "b_src": [],
    "b_is": [],
    "b_imp": (0.0, 1.0),
    "b_since": None,
    "b_until": None,
}


_FURTHER = ("b_src", "b_is", "b_imp", "b_since", "b_until")


@dataclass(frozen=True)
class BrowseQuery:
    """What the controls say. `meaning` is the text whose sense is looked for, None where its words are."""

    filters: Filters
    sort: str
    descending: bool
    meaning: str | None


def draw_filters(index: ScopeIndex, *, finds_meaning: bool, include_private: bool) -> BrowseQuery:
    """Draw the controls over this scope. `finds_meaning` says that texts can be embedded and compared."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="browse-filters"):
        text, by = _draw_search(finds_meaning)
        categories = _draw_names("Category", "b_cat", index.columns.categories.names, is_in_row=True)
        is_meaning = by == MEANING and bool(text)
        order = _draw_order(is_meaning)
        further = _draw_further(index)
    filters = Filters(
        text="" if is_meaning else text,
        categories=[name for name in categories if name is not None],
        include_private=include_private,
        **further,
    )
    sort, descending = ("similarity", True) if is_meaning else SORTS[order]
    return BrowseQuery(filters, sort, descending, text if is_meaning else None)


def clear_filters() -> None:
    """Set every filter back; the order stays. For callbacks."""
    st.session_state.update(_UNSET)
    go_to_first_page()


def _draw_search(finds_meaning: bool) -> tuple[str, str]:
    text = st.text_input(
        "Search",
        key="b_q",
        bind="query-params",
        type="search",
        live="300ms",
        placeholder="Search memories",
        icon=":material/search:",
        label_visibility="collapsed",
        max_chars=2_000,
        width="stretch",
        on_change=go_to_first_page,
    )
    by = st.segmented_control(
        "Search by",
        [WORDS, MEANING],
        key="b_by",
        bind="query-params",
        default=WORDS,
        required=True,
        label_visibility="collapsed",
        disabled=not finds_meaning,
        on_change=go_to_first_page,
    )
    return (text or "").strip(), by if finds_meaning else WORDS


def _draw_order(is_meaning: bool) -> str:
    if is_meaning:
        st.selectbox(
            "Order",
            ["Closest in meaning"],
            disabled=True,
            label_visibility="collapsed",
            width=180,
            key="browse.closest",
        )
        return next(iter(SORTS))
    return st.selectbox(
        "Order",
        list(SORTS),
        key="b_sort",
        bind="query-params",
        label_visibility="collapsed",
        width=180,
        on_change=go_to_first_page,
    )


def _draw_further(index: ScopeIndex) -> dict[str, Any]:
    number = sum(_is_set(name) for name in _FURTHER)
    label = f"Filters · {number}" if number else "Filters"
    with st.popover(label, icon=":material/tune:", key="browse.further", width="content"):
        sources = _draw_names("Source", "b_src", index.columns.sources.names)
        states = st.pills(
            "Only those that are",
            list(BROWSE_STATES),
            selection_mode="multi",
            key="b_is",
            bind="query-params",
            on_change=go_to_first_page,
        )
        importance = st.slider(
            "Importance", 0.0, 1.0, (0.0, 1.0), 0.05, key="b_imp", bind="query-params", on_change=go_to_first_page
        )
        first, last = st.columns(2)
        since = first.date_input(
            "Changed from", None, key="b_since", bind="query-params", format="YYYY-MM-DD", on_change=go_to_first_page
        )
        until = last.date_input(
            "Changed until", None, key="b_until", bind="query-params", format="YYYY-MM-DD", on_change=go_to_first_page
        )
        st.button("Clear all filters", key="browse.clear", icon=":material/filter_alt_off:", on_click=clear_filters)
    return {
        "sources": sources,
        "states": [BROWSE_STATES[each] for each in states],
        "importance": importance,
        "since": _moment(since, time.min),
        "until": _moment(until, time.max),
    }


def _draw_names(label: str, key: str, names: Iterable[str | None], *, is_in_row: bool = False) -> list[str | None]:
    labelled = {_label(name): name for name in sorted(names, key=lambda name: (name or "").casefold())}
    chosen = st.multiselect(
        label,
        list(labelled),
        key=key,
        bind="query-params",
        placeholder=f"Any {label.lower()}",
        label_visibility="collapsed" if is_in_row else "visible",
        width=200 if is_in_row else "stretch",
        on_change=go_to_first_page,
    )
    return [labelled[each] for each in chosen]


def _is_set(name: str) -> bool:
    # Before its first run a widget has no state yet, while the URL already says what it will hold.
    if name not in st.session_state:
        return name in st.query_params
    return st.session_state[name] not in (_UNSET[name], None, ())


def _label(name: str | None) -> str:
    return NO_SOURCE if name is None else one_line(name, 60)


def _moment(day: date | None, at: time) -> datetime | None:
    return None if day is None else datetime.combine(day, at, tzinfo=UTC)


def go_to_first_page() -> None:
    """Go back to the first page, since another memory may be first now; for callbacks."""
    st.session_state[PAGE_KEY] = 1
