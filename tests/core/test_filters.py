from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mnemoscope import MemoryRecord
from mnemoscope.core import OPERATORS, compile_filter
from mnemoscope.errors import FilterError
from mnemoscope.index import Columns


def memory(**fields: Any) -> MemoryRecord:
    return MemoryRecord("k", ("m",), "likes green tea", **fields)


def holds(filter: dict[str, Any], **fields: Any) -> bool:
    predicate = compile_filter(filter)
    assert predicate is not None
    return predicate(memory(**fields))


@pytest.mark.parametrize(
    ("filter", "fields", "expected"),
    [
        ({"source": "chat"}, {"source": "chat"}, True),
        ({"source": "chat"}, {"source": "mail"}, False),
        ({"source": None}, {}, True),
        ({"metadata.team": "red"}, {"metadata": {"team": "red"}}, True),
        ({"metadata": {"team": "red"}}, {"metadata": {"team": "red", "n": 1}}, True),
        ({"metadata": {"a.b": 1}}, {"metadata": {"a.b": 1}}, True),
        ({"metadata.team": {"name": "red"}}, {"metadata": {"team": {"name": "red"}}}, True),
        ({"metadata.team": "red"}, {"metadata": {}}, False),
        ({"metadata.team": None}, {"metadata": {}}, True),
        ({"metadata.n": 1}, {"metadata": {"n": True}}, False),
        ({"metadata.n": 1}, {"metadata": {"n": 1.0}}, True),
        ({"metadata.n": {"$ne": 1}}, {"metadata": {}}, True),
        ({"importance": {"$gte": 0.5, "$lt": 0.8}}, {"importance": 0.5}, True),
        ({"importance": {"$gt": 0.5}}, {"importance": None}, False),
        ({"metadata.n": {"$gt": 5}}, {"metadata": {"n": "9"}}, False),
        ({"metadata.n": {"$gt": 5}}, {"metadata": {"n": True}}, False),
        ({"metadata.n": {"$gt": 9}}, {"metadata": {"n": 10}}, True),
        ({"metadata.n": {"$in": [1, "a"]}}, {"metadata": {"n": "a"}}, True),
        ({"metadata.n": {"$in": []}}, {"metadata": {"n": "a"}}, False),
        ({"metadata.n": {"$nin": ["a"]}}, {"metadata": {}}, True),
        ({"metadata.n": {"$exists": True}}, {"metadata": {"n": None}}, False),
        ({"metadata.n": {"$exists": False}}, {}, True),
        ({"categories": {"$contains": "food"}}, {"categories": ["food", "home"]}, True),
        ({"categories": {"$contains": "foo"}}, {"categories": ["food"]}, False),
        ({"categories": ["food"]}, {"categories": ["food"]}, True),
        ({"content": {"$contains": "green"}}, {}, True),
        ({"content": {"$contains": 5}}, {}, False),
        ({"stranger": 1}, {"extra": {"stranger": 1}}, True),
        ({"nowhere.at.all": 1}, {}, False),
        ({"$or": [{"source": "chat"}, {"source": "mail"}]}, {"source": "mail"}, True),
        ({"$or": [{"source": "chat"}, {"source": "mail"}]}, {"source": "web"}, False),
        ({"$and": [{"source": "chat"}, {"importance": 0.5}]}, {"source": "chat", "importance": 0.4}, False),
        ({"$and": [{"source": "chat"}]}, {"source": "chat"}, True),
        ({"$not": {"source": "chat"}}, {"source": "mail"}, True),
        ({"$not": {"$or": [{"source": "chat"}, {"importance": 0.5}]}}, {"source": "mail", "importance": 0.5}, False),
        ({"source": "chat", "$or": [{"importance": 0.5}, {"importance": 0.9}]}, {"source": "chat"}, True),
        ({"importance": {"$or": [{"$lt": 0.2}, {"$gt": 0.8}]}}, {"importance": 0.9}, True),
        ({"importance": {"$or": [{"$lt": 0.2}, {"$gt": 0.8}]}}, {"importance": 0.5}, False),
        ({"importance": {"$gt": 0.1, "$not": {"$gte": 0.8}}}, {"importance": 0.8}, False),
        ({"source": {"$or": ["chat", "mail"]}}, {"source": "mail"}, True),
        ({"metadata": {"$or": [{"team": "red"}, {"n": 1}]}}, {"metadata": {"team": "blue", "n": 1}}, True),
        ({"metadata": {"team": "red", "$not": {"n": 1}}}, {"metadata": {"team": "red", "n": 1}}, False),
        ({"categories": {"$not": {"$contains": "food"}}}, {"categories": ["home"]}, True),
    ],
)
def test_a_filter_means_what_is_written(filter: dict[str, Any], fields: dict[str, Any], expected: bool) -> None:
    assert holds(filter, **fields) is expected


@pytest.mark.parametrize("written", ["2024-05-01T12:00:00+00:00", "2024-05-01T12:00:00Z", "2024-05-01T14:00:00+02:00"])
def test_times_are_compared_as_moments_however_they_are_written(written: str) -> None:
    at = datetime(2024, 5, 1, 12, tzinfo=UTC)
    assert holds({"created_at": written}, created_at=at)
    assert holds({"created_at": {"$gte": written, "$lte": written}}, created_at=at)
    assert not holds({"created_at": {"$gt": written}}, created_at=at)
    assert not holds({"created_at": {"$gt": "yesterday"}}, created_at=at)


@pytest.mark.parametrize(
    ("filter", "named"),
    [
        ("source", "text|str"),
        ([], "list"),
        ({"": 1}, "empty part"),
        ({"metadata..team": 1}, "empty part"),
        ({"source": {}}, "empty object"),
        ({"source": {"$regex": "a"}}, r"Unknown operator '\$regex'.*\$eq"),
        ({"source": {"$eq": 1, "x": 2}}, "mixes operators and fields"),
        ({"metadata.n": {"$gt": None}}, "a number or a text"),
        ({"metadata.n": {"$gt": True}}, "a number or a text"),
        ({"metadata.n": {"$in": "abc"}}, "needs a list"),
        ({"metadata.n": {"$exists": 1}}, "true or false"),
        ({"$nor": [{"source": "chat"}]}, r"Unknown operator '\$nor' in the filter; known are .*\$and, \$or, \$not"),
        ({"$eq": 1}, r"Unknown operator '\$eq' in the filter"),
        ({"$or": {"source": "chat"}}, "a list of filters that is not empty"),
        ({"$or": []}, "a list of filters that is not empty"),
        ({"$or": ["chat"]}, "takes filters, objects"),
        ({"$not": "chat"}, "takes filters, objects"),
        ({"$not": {}}, "takes filters, objects"),
        ({"metadata": {"$or": [{"$where": 1}]}}, r"Unknown operator '\$where' in the filter at 'metadata'"),
    ],
)
def test_a_filter_of_another_form_is_refused_by_name(filter: Any, named: str) -> None:
    with pytest.raises(FilterError, match=named):
        compile_filter(filter)


def test_no_condition_is_no_filter() -> None:
    assert compile_filter(None) is None
    assert compile_filter({}) is None


values = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3) | st.sampled_from(["a", "b", ""])
operands: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("$eq", "$ne", "$contains"), values),
    **dict.fromkeys(("$gt", "$gte", "$lt", "$lte"), st.integers(-3, 3) | st.sampled_from(["a", "b"])),
    **dict.fromkeys(("$in", "$nin"), st.lists(values, max_size=3)),
    "$exists": st.booleans(),
}
conditions = values | st.sampled_from(sorted(OPERATORS)).flatmap(
    lambda name: st.fixed_dictionaries({name: operands[name]})
)
paths = st.sampled_from(["metadata.a", "metadata.b", "source", "importance", "other"])


@given(
    filter=st.dictionaries(paths, conditions, min_size=1),
    more=st.dictionaries(paths, conditions),
    metadata=st.dictionaries(st.sampled_from("ab"), values | st.lists(values, max_size=2)),
    source=st.sampled_from([None, "a", "b"]),
)
def test_a_narrower_filter_never_holds_where_the_wider_does_not(
    filter: dict[str, Any], more: dict[str, Any], metadata: dict[str, Any], source: str | None
) -> None:
    wider = holds(filter, metadata=metadata, source=source)
    narrower = holds({**more, **filter}, metadata=metadata, source=source)
    assert narrower <= wider


@given(value=values)
def test_an_operator_and_its_opposite_never_agree(value: Any) -> None:
    for one, other in (("$eq", "$ne"), ("$in", "$nin")):
        operand: Any = value if one == "$eq" else [value]
        for stored in ({}, {"a": value}, {"a": "else"}):
            assert holds({"metadata.a": {one: operand}}, metadata=stored) != holds(
                {"metadata.a": {other: operand}}, metadata=stored
            )


ODD = (1, True, 1.0, 0, False, None, "1", "", [1], [True], {"a": 1}, float("nan"), "t", ["t"])


@given(
    st.lists(st.sampled_from(ODD), max_size=12),
    st.sampled_from(
        [
            {"metadata.x": 1},
            {"metadata.x": True},
            {"metadata": {"x": None}},
            {"metadata.x": {"$ne": 1}},
            {"metadata.x": {"$in": [1.0, "t", False]}},
            {"metadata.x": {"$gte": 1, "$lt": 5}},
            {"metadata.x": {"$contains": "t"}, "importance": {"$exists": False}},
            {"metadata.x.a": 1},
            {"metadata.y": {"$exists": True}},
            {"$or": [{"metadata.x": 1}, {"metadata.x": {"$contains": "t"}}]},
            {"$not": {"metadata": {"$or": [{"x": 1}, {"y": 2}]}}},
            {"$and": [{"metadata.x": {"$not": {"$in": [1, "t"]}}}, {"source": None}]},
        ]
    ),
)
def test_a_whole_scope_is_tested_as_each_memory_is(values: list[Any], filter: dict[str, Any]) -> None:
    records = [memory(metadata={"x": value}) for value in values]
    predicate = compile_filter(filter)
    assert predicate is not None
    columns = Columns(records)
    for _ in range(2):
        assert columns.matching(predicate).tolist() == [predicate(record) for record in records]
