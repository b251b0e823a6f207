"""One odd item costs that item: every page over a store with one of each kind of oddness shows all the others."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.store.base import PutOp
from mnemoscope import MemoryEngine
from mnemoscope.worklists import WORKLISTS
from streamlit.testing.v1 import AppTest

from app.views.curate.parts import PARTS

Dashboard = Callable[..., AppTest]
ANA = ("memories", "ana")
GOOD = "Ana lives in Lisbon."


def deep(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = {"deeper": [value]}
    return value


ODD: dict[str, Any] = {
    "late": {"kind": "memory", "content": "late", "updated_at": "9999-12-31T23:59:59.999999+00:00"},
    "late made": {"kind": "memory", "content": "late made", "created_at": "9999-12-31T23:59:59.999999+00:00"},
    "early": {"kind": "memory", "content": "early", "created_at": "0001-01-01T00:00:00+00:00"},
    "early change": {"kind": "memory", "content": "early change", "updated_at": "0001-01-01T00:00:00+14:00"},
    "no time": {"kind": "memory", "content": "no time", "created_at": "yesterday", "expires_at": 7},
    "surrogate": {"kind": "memory", "content": "broken \ud800 text"},
    "nul": {"kind": "memory", "content": "a\x00b", "categories": ["c\x00"], "source": "s\ud800"},
    "": {"kind": "memory", "content": "an empty key"},
    "a\x00key\u202e": {"kind": "memory", "content": "an odd key"},
    "numbers": {"kind": "memory", "content": "numbers", "importance": math.nan, "metadata": {"big": 10**400}},
    "infinite": {"kind": "memory", "content": "infinite", "importance": math.inf, "revision": -(2**70)},
    "deep": {"kind": "memory", "content": "deep", "metadata": {"nested": deep(100)}},
    "empty": {},
    "list": {"content": ["a", {"b": 1}]},
    "objects": {"content": "objects", "metadata": {"set": {1, 2}, "bytes": b"x"}},
    "types": {"kind": 7, "content": "types", "categories": "one", "evidence": "said", "private": "no", "pinned": 1},
}
PLACES: list[tuple[Any, ...]] = [("memories", None), ("memories", 7), (), ("langgraph", "x"), ("a\x00b",), ("\ud800",)]


@pytest.fixture
def odd_engine(seeded_engine: MemoryEngine) -> MemoryEngine:
    items = [PutOp(ANA, key, value, False) for key, value in ODD.items()]
    others = [PutOp(place, "k", {"kind": "memory", "content": f"at {place!a}"}, False) for place in PLACES]
    seeded_engine.store.batch([*items, *others])
    return seeded_engine


def shown(test: AppTest) -> str:
    elements = (*test.text, *test.markdown, *test.caption, *test.code, *test.error, *test.subheader)
    tables = [str(each.value.to_dict()) for each in test.dataframe]
    return "\n".join([*(str(element.value) for element in elements), *tables])


@pytest.mark.parametrize("scope", [{"ns": ["memories", "ana"]}, {}], ids=["namespace", "store"])
@pytest.mark.parametrize(
    "page", ["overview", "browse", "recall", "tune", "replay", "curate", "history", "health", "connect"]
)
def test_every_page_is_drawn(dashboard: Dashboard, odd_engine: MemoryEngine, page: str, scope: dict[str, Any]) -> None:
    query = {**scope, **({"r_q": "Where does Ana live?", "r_k": "50"} if page == "recall" else {})}
    test = dashboard(odd_engine, page, query=query)
    assert not test.exception
    assert not [each.value for each in test.error]
    if page in ("browse", "recall"):
        assert GOOD in shown(test)


@pytest.mark.parametrize("key", ODD, ids=ascii)
def test_every_odd_item_opens(dashboard: Dashboard, odd_engine: MemoryEngine, key: str) -> None:
    test = dashboard(odd_engine, "browse", query={"ns": ["memories", "ana"], "b_key": key})
    assert not test.exception
    assert not [each.value for each in test.error]


@pytest.mark.parametrize("part", PARTS)
def test_every_part_of_curate_is_drawn(dashboard: Dashboard, odd_engine: MemoryEngine, part: str) -> None:
    test = dashboard(odd_engine, "curate", query={"ns": ["memories", "ana"], "w_part": part})
    assert not test.exception
    assert not [each.value for each in test.error]


@pytest.mark.parametrize("name", WORKLISTS)
def test_every_worklist_is_worked_out(odd_engine: MemoryEngine, name: str) -> None:
    odd_engine.curation.worklist(name, (), subtree=True)
    odd_engine.curation.worklist(name, ANA)


def test_a_namespace_that_cannot_be_named_is_said_to_be_there(dashboard: Dashboard, odd_engine: MemoryEngine) -> None:
    assert "2 namespaces have labels that are not text" in shown(dashboard(odd_engine, "health"))


def test_a_time_at_the_end_of_what_there_is_makes_no_needle_of_the_chart(
    dashboard: Dashboard, odd_engine: MemoryEngine
) -> None:
    assert "Without 2 memories dated before 1990 or years ahead" in shown(dashboard(odd_engine, "overview"))


def test_an_item_where_nothing_may_be_written_opens(dashboard: Dashboard, odd_engine: MemoryEngine) -> None:
    test = dashboard(odd_engine, "browse", query={"b_in": ["langgraph", "x"], "b_key": "k"})
    assert not test.exception
    assert not [each.value for each in test.error]
    assert "at ('langgraph', 'x')" in shown(test)
    assert "can be read, not changed" in test.info[0].value
    assert "The root label 'langgraph'" in test.info[0].value
