from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mnemoscope import InputError, MemoryRecord
from mnemoscope.core import compile_filter
from mnemoscope.index import Drop, ScopeIndex, Visibility

NOW = datetime(2025, 6, 1, tzinfo=UTC)


def memory(number: int = 0, **fields: Any) -> MemoryRecord:
    return MemoryRecord(**{"key": str(number), "namespace": ("m",), "content": "x", "created_at": NOW, **fields})


def index_of(*records: MemoryRecord) -> ScopeIndex:
    nothing = np.zeros((0, 1), np.float32)
    return ScopeIndex(("m",), False, None, list(records), [None] * len(records), nothing, np.zeros(0, np.int64))


def drop(visibility: Visibility, **fields: Any) -> Drop:
    return Drop(int(visibility.withheld(index_of(memory(**fields)), NOW)[0]))


@pytest.mark.parametrize(
    ("visibility", "fields", "reason"),
    [
        (Visibility(), {}, Drop.NONE),
        (Visibility(), {"content": ""}, Drop.UNREADABLE),
        (Visibility(), {"expires_at": NOW}, Drop.EXPIRED),
        (Visibility(), {"expires_at": NOW + timedelta(seconds=1)}, Drop.NONE),
        (Visibility(), {"private": True, "source": "ana"}, Drop.PRIVATE),
        (Visibility(source="ana"), {"private": True, "source": "ana"}, Drop.NONE),
        (Visibility(source="ben"), {"private": True, "source": "ana"}, Drop.PRIVATE),
        (Visibility(), {"private": True, "source": None}, Drop.PRIVATE),
        (Visibility(source="ana"), {"private": True, "source": None}, Drop.PRIVATE),
        (Visibility(include_private=True), {"private": True, "source": None}, Drop.NONE),
        (Visibility(source="ben"), {"source": "ana"}, Drop.NONE),
        (Visibility(categories=["a"]), {"categories": ["b", "a"]}, Drop.NONE),
        (Visibility(categories=["a"]), {"categories": ["b"]}, Drop.CATEGORY),
        (Visibility(categories=[]), {"categories": ["b"]}, Drop.CATEGORY),
        (Visibility(since=NOW), {}, Drop.NONE),
        (Visibility(since=NOW + timedelta(1)), {}, Drop.OUTSIDE_TIME),
        (Visibility(until=NOW - timedelta(1)), {}, Drop.OUTSIDE_TIME),
        (Visibility(since=NOW), {"created_at": NOW - timedelta(9), "updated_at": NOW}, Drop.NONE),
        (Visibility(since=datetime(2025, 6, 1)), {}, Drop.NONE),
        (Visibility(until=datetime(2025, 6, 1)), {}, Drop.NONE),
        (Visibility(predicate=compile_filter({"source": "a"})), {"source": "b"}, Drop.FILTERED),
    ],
)
def test_one_rule_says_who_may_see_what(visibility: Visibility, fields: dict[str, Any], reason: Drop) -> None:
    assert drop(visibility, **fields) is reason
    assert reason.label


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("categories", "food"), ("categories", [1]), ("categories", 5), ("categories", b"x"),
        ("source", 5), ("source", "a\x00"), ("since", "2025-01-01"), ("until", 5),
    ],
)  # fmt: skip
def test_a_bound_of_the_wrong_type_is_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(InputError, match=field):
        Visibility(**{field: value})


bounds = st.none() | st.integers(-3, 3).map(lambda days: NOW + timedelta(days=days))
sources = st.none() | st.sampled_from(["ana", "ben"])
names = st.lists(st.sampled_from("ab"), max_size=2)
memories = st.builds(
    memory,
    content=st.sampled_from(["x", ""]),
    categories=names,
    source=sources,
    private=st.booleans(),
    updated_at=bounds,
    expires_at=bounds,
)


@given(
    records=st.lists(memories, max_size=6),
    source=sources,
    include=st.booleans(),
    categories=st.none() | names,
    since=bounds,
    until=bounds,
    wanted=st.none() | st.just({"source": "ana"}),
)
def test_masks_say_the_same_as_a_look_at_each_memory(
    records: list[MemoryRecord], source: Any, include: bool, categories: Any, since: Any, until: Any, wanted: Any
) -> None:
    visibility = Visibility(source, include, categories, compile_filter(wanted), since, until)
    open_ = visibility.withheld(index_of(*records), NOW) == Drop.NONE
    expected = [
        bool(each.content)
        and (each.expires_at is None or each.expires_at > NOW)
        and (not each.private or include or (source is not None and source == each.source))
        and (since is None or each.changed_at >= since)
        and (until is None or each.changed_at <= until)
        and (categories is None or bool(set(categories) & set(each.categories)))
        and (wanted is None or each.source == "ana")
        for each in records
    ]
    assert open_.tolist() == expected
