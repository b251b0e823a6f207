from __future__ import annotations

from collections.abc import Callable

from mnemoscope import MemoryEngine
from streamlit.testing.v1 import AppTest

from app.session.scope import MOST_OFFERED, NAMESPACE_KEY, Scope, build_tree, parse_namespace

COUNTS = {("memories", "ana"): 3, ("memories", "ana", "work"): 2, ("other",): 1}


def test_every_prefix_of_a_namespace_can_be_chosen() -> None:
    assert build_tree(COUNTS).choices(()) == [
        (),
        ("memories",),
        ("memories", "ana"),
        ("memories", "ana", "work"),
        ("other",),
    ]


def test_a_scope_counts_what_it_holds() -> None:
    assert Scope().total(COUNTS) == 6
    assert Scope(("memories", "ana"), subtree=False).total(COUNTS) == 3
    assert Scope(("memories", "ana"), subtree=True).total(COUNTS) == 5


def test_the_url_holds_one_parameter_a_label() -> None:
    assert Scope(("memories", "ana"), subtree=True).to_query() == {"ns": ["memories", "ana"], "below": ["1"]}
    assert Scope(("other",), subtree=False).to_query() == {"ns": ["other"]}
    assert Scope().to_query() == {}


def test_totals_are_those_of_every_prefix() -> None:
    assert build_tree(COUNTS).totals == {
        (): 6, ("memories",): 5, ("memories", "ana"): 5, ("memories", "ana", "work"): 2, ("other",): 1
    }  # fmt: skip


def test_a_level_is_the_way_up_and_what_lies_directly_below() -> None:
    assert build_tree(COUNTS).level(()) == ([(), ("memories",), ("other",)], 0)
    assert build_tree(COUNTS).level(("memories", "ana")) == (
        [(), ("memories",), ("memories", "ana"), ("memories", "ana", "work")], 0
    )  # fmt: skip
    many = [("users", f"u{at:04}") for at in range(MOST_OFFERED + 7)]
    offered, more = build_tree(dict.fromkeys(many, 1)).level(("users",))
    assert (len(offered), more) == (MOST_OFFERED + 2, 7)


def test_of_very_many_namespaces_one_level_is_offered_at_a_time(
    dashboard: Callable[..., AppTest], seeded_engine: MemoryEngine
) -> None:
    for at in range(MOST_OFFERED + 1):
        seeded_engine.store.put(("tenants", f"t{at % 9}", f"u{at:04}"), "k", {"content": "x"}, index=False)
    test = dashboard(seeded_engine, "browse")
    picker = test.selectbox(key=NAMESPACE_KEY)
    assert len(picker.options) == 3
    assert any("tenants" in option and f"{MOST_OFFERED + 1:,} memories" in option for option in picker.options)
    picker.set_value(("tenants",)).run()
    assert not test.exception
    assert len(test.selectbox(key=NAMESPACE_KEY).options) == 2 + 9
    assert test.query_params["ns"] == "tenants"
    assert "or type a namespace" in "\n".join(each.value for each in test.caption)


def test_what_is_typed_is_read_as_a_namespace() -> None:
    assert parse_namespace(" tenants/t1/u1 ") == ("tenants", "t1", "u1")
    assert parse_namespace("/tenants/") == ("tenants",)
    assert parse_namespace("a//b") is None
    assert parse_namespace("") == ()
    assert parse_namespace(("a", "b")) == ("a", "b")
