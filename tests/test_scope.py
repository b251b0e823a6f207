from __future__ import annotations

from app.scope import Scope, choices

COUNTS = {("memories", "ana"): 3, ("memories", "ana", "work"): 2, ("other",): 1}


def test_every_prefix_of_a_namespace_can_be_chosen() -> None:
    assert choices(COUNTS) == [(), ("memories",), ("memories", "ana"), ("memories", "ana", "work"), ("other",)]


def test_a_scope_counts_what_it_holds() -> None:
    assert Scope().total(COUNTS) == 6
    assert Scope(("memories", "ana"), subtree=False).total(COUNTS) == 3
    assert Scope(("memories", "ana"), subtree=True).total(COUNTS) == 5


def test_the_url_holds_one_parameter_a_label() -> None:
    assert Scope(("memories", "ana"), subtree=True).to_query() == {"ns": ["memories", "ana"], "below": ["1"]}
    assert Scope(("other",), subtree=False).to_query() == {"ns": ["other"]}
    assert Scope().to_query() == {}
