from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from mnemoscope import InputError, MemoryRecord
from mnemoscope.index import STATES, Filters, ScopeIndex, browse

NOW = datetime(2026, 6, 1, tzinfo=UTC)
ANA = ("memories", "ana")


def record(key: str, content: str = "Ana likes tea.", days: float = 0, **fields: Any) -> MemoryRecord:
    return MemoryRecord(key=key, namespace=ANA, content=content, created_at=NOW - timedelta(days=days), **fields)


def index_of(*records: MemoryRecord, vectored: bool = True) -> ScopeIndex:
    count = len(records) if vectored else 0
    matrix = np.tile(np.array([1.0, 0.0], np.float32), (count, 1))
    return ScopeIndex(ANA, False, None, list(records), [None] * len(records), matrix, np.arange(count))


def keys(index: ScopeIndex, filters: Filters | None = None, **options: Any) -> list[str]:
    return [each.key for each in browse(index, filters or Filters(), now=NOW, **options).page()]


def test_every_word_must_occur_whatever_its_case_and_width() -> None:
    index = index_of(record("a", "Green\nTEA, please"), record("b", "green coffee"), record("c", "STRASSE"))
    assert keys(index, Filters(text=" tea green ")) == ["a"]
    assert keys(index, Filters(text="ｇｒｅｅｎ")) == ["a", "b"]
    assert keys(index, Filters(text="straße")) == ["c"]
    assert keys(index, Filters(text="g.*n")) == []


def test_a_memory_is_found_by_its_key() -> None:
    assert keys(index_of(record("4711-ab"), record("b")), Filters(text="4711-ab")) == ["4711-ab"]


def test_any_wanted_category_and_any_wanted_source_will_do() -> None:
    index = index_of(
        record("a", categories=["food", "home"], source="chat"),
        record("b", categories=["work"]),
        record("c", categories=["home"], source="mail"),
    )
    assert keys(index, Filters(categories={"food", "work"})) == ["a", "b"]
    assert keys(index, Filters(sources=[None, "mail"])) == ["b", "c"]
    assert keys(index, Filters(categories=["home"], sources=["chat"])) == ["a"]
    assert keys(index, Filters(categories=["nothing of that name"])) == []
    assert keys(index, Filters(categories=set(), sources=())) == ["a", "b", "c"]


def test_importance_is_bounded_on_both_sides_and_the_unknown_is_shown_only_without_bounds() -> None:
    index = index_of(record("a", importance=0.2), record("b", importance=0.6), record("c", importance=None))
    assert keys(index, Filters(importance=(0.2, 0.6))) == ["a", "b"]
    assert keys(index, Filters(importance=(0.5, 1.0))) == ["b"]
    assert keys(index) == ["a", "b", "c"]


def test_the_last_change_is_bounded() -> None:
    index = index_of(record("a", days=1), record("b", days=10), record("c", days=30, updated_at=NOW))
    assert keys(index, Filters(since=NOW - timedelta(days=10))) == ["c", "a", "b"]
    assert keys(index, Filters(until=NOW - timedelta(days=2))) == ["b"]


def test_private_memories_are_hidden_and_counted_even_if_they_cannot_be_read() -> None:
    index = index_of(record("a"), record("b", private=True), record("c", "", private=True))
    page = browse(index, Filters(states=["unreadable"]), now=NOW)
    assert (page.page(), len(page), page.total, page.hidden) == ([], 0, 1, 2)
    assert page.facets.states["unreadable"] == 0
    assert keys(index, Filters(include_private=True)) == ["a", "b", "c"]


def test_states_tell_what_is_special_about_a_memory() -> None:
    index = index_of(
        record("pinned", pinned=True),
        record("expired", expires_at=NOW - timedelta(seconds=1)),
        record("malformed", problems=("importance is not a number: 'x'",)),
        record("unreadable", "", problems=("there is no text under 'content'",)),
        record("private", private=True),
    )
    shown = {state: keys(index, Filters(states=[state], include_private=True)) for state in STATES}
    assert shown == {
        "private": ["private"],
        "pinned": ["pinned"],
        "expired": ["expired"],
        "unvectored": [],
        "malformed": ["malformed", "unreadable"],
        "unreadable": ["unreadable"],
    }
    without = index_of(record("a"), record("b", ""), vectored=False)
    assert keys(without, Filters(states=["unvectored"])) == ["a"]


def test_facets_count_what_each_choice_would_show_under_the_other_filters() -> None:
    index = index_of(
        record("a", "tea", categories=["food", "food"], source="chat"),
        record("b", "tea", categories=["home"], pinned=True),
        record("c", "coffee", categories=["food"]),
    )
    facets = browse(index, Filters(text="tea", categories=["food"]), now=NOW).facets
    assert facets.categories == {"food": 1, "home": 1}
    assert facets.sources == {"chat": 1, None: 0}
    assert facets.states["pinned"] == 0
    assert list(browse(index, Filters(), now=NOW).facets.categories) == ["food", "home"]


def test_sorting_goes_either_way_with_the_unknown_last() -> None:
    index = index_of(
        record("a", "pear", 3, importance=0.2),
        record("b", "Apple", 2, importance=None),
        record("c", "zebra", 1, importance=0.9, updated_at=NOW - timedelta(days=9)),
    )
    assert keys(index, sort="importance") == ["c", "a", "b"]
    assert keys(index, sort="importance", descending=False) == ["a", "c", "b"]
    assert keys(index, sort="content", descending=False) == ["b", "a", "c"]
    assert keys(index, sort="created") == ["c", "b", "a"]
    assert keys(index, sort="changed") == ["b", "a", "c"]
    recalled = np.array([np.nan, 5.0, 7.0])
    assert keys(index, sort="recalled", also={"recalled": recalled}) == ["c", "b", "a"]


def test_ties_are_broken_by_the_latest_change_and_then_by_key() -> None:
    index = index_of(record("b", days=1), record("a", days=1), record("c"))
    assert keys(index, sort="importance") == ["c", "a", "b"]
    assert keys(index, sort="importance", descending=False) == ["c", "a", "b"]


def test_a_wrong_order_or_page_is_refused() -> None:
    with pytest.raises(InputError, match="'size'"):
        browse(index_of(record("a")), Filters(), now=NOW, sort="size")
    for offset, limit in ((-1, 1), (0, -1)):
        with pytest.raises(InputError):
            browse(index_of(record("a")), Filters(), now=NOW).page(offset, limit)


def test_an_empty_index_has_an_empty_page() -> None:
    filters = Filters(text="x", categories=["a"], states=list(STATES))
    page = browse(index_of(), filters, now=NOW)
    assert (page.page(), len(page), page.total, page.hidden) == ([], 0, 0, 0)


@given(
    importances=some.lists(some.none() | some.sampled_from([0.0, 0.5, 1.0]), max_size=30),
    size=some.integers(1, 7),
    descending=some.booleans(),
)
def test_pages_put_together_are_everything_once(importances: list[float | None], size: int, descending: bool) -> None:
    index = index_of(*(record(f"{at:02}", importance=value) for at, value in enumerate(importances)))
    found = browse(index, Filters(), now=NOW, sort="importance", descending=descending)
    paged = [each.key for offset in range(0, len(index) + size, size) for each in found.page(offset, size)]
    assert paged == [each.key for each in found.page(limit=None)]
    assert sorted(paged) == [each.key for each in index.records]


def test_a_page_of_100_000_memories_takes_less_than_100_ms_once_warm() -> None:
    first = record("0", categories=["food"])
    names = ["food", "home", "work"]
    records = [
        replace(first, key=str(at), content=f"Memory {at} about tea", categories=[names[at % 3]], source=str(at % 5))
        for at in range(100_000)
    ]
    index = index_of(*records)
    filters = Filters(text="7 tea", categories=["food"], sources=["1", "2"], importance=(0.1, 0.9))
    took = []
    for sort in ("content", "content", "content", "content"):
        started = time.process_time()
        page = browse(index, filters, now=NOW, sort=sort)
        page.page(500)
        took.append(time.process_time() - started)
    assert len(page) > 1_000
    assert min(took[1:]) < 0.1
