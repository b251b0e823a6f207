from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mnemoscope import Evidence, MemoryRecord
from mnemoscope.core import rewritten, shown

BORN = datetime(2024, 5, 1, 12, 30, 15, 123456, UTC)


@dataclass(frozen=True)
class Stored:
    value: Any
    key: str = "k"
    namespace: tuple[str, ...] = ("memories", "ana")
    created_at: datetime = BORN
    updated_at: datetime = BORN


def read(value: Any) -> MemoryRecord:
    return MemoryRecord.from_item(Stored(value))


def full() -> MemoryRecord:
    return MemoryRecord(
        key="k",
        namespace=("memories", "ana"),
        content="Ana lives in Đà Nẵng 🙂",
        categories=["home", "家"],
        importance=0.7,
        created_at=BORN,
        last_accessed=BORN + timedelta(days=1),
        source="chat",
        private=True,
        metadata={"team": {"name": "red"}, "n": 1},
        updated_at=BORN + timedelta(days=2),
        revision=3,
        evidence=[Evidence("chat", ["m1"], "I live in Đà Nẵng", BORN, "run-1")],
        expires_at=BORN + timedelta(days=90),
        pinned=True,
        extra={"stranger": [1, None]},
    )


def test_a_record_comes_back_from_its_stored_form_as_it_was() -> None:
    stored = orjson.loads(orjson.dumps(full().to_value()))
    assert read(stored) == full()


def test_the_stored_form_has_the_nine_fields_of_langgraph_memory() -> None:
    assert list(full().to_value())[1:10] == [
        "kind", "content", "categories", "importance", "created_at", "last_accessed", "source", "private", "metadata",
    ]  # fmt: skip


def test_an_item_of_langgraph_memory_is_read_without_a_problem() -> None:
    record = read(
        {
            "kind": "memory", "content": "likes tea", "categories": ["food"], "importance": 0.4,
            "created_at": "2024-01-01T00:00:00", "last_accessed": "2024-01-02T00:00:00+02:00",
            "source": None, "private": False, "metadata": {},
        }
    )  # fmt: skip
    assert record.problems == ()
    assert record.created_at == datetime(2024, 1, 1, tzinfo=UTC)
    assert record.last_accessed == datetime(2024, 1, 1, 22, tzinfo=UTC)
    assert record.revision == 1


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ({"content": "a tool of LangMem"}, "a tool of LangMem"),
        ({"kind": "Memory", "content": {"content": "its manager"}}, "its manager"),
        ({"kind": "Profile", "content": {"name": "Ana", "age": 30, "tags": ["x"]}}, "name: Ana\nage: 30"),
    ],
)
def test_items_of_langmem_are_read(value: Any, content: str) -> None:
    record = read(value)
    assert (record.content, record.problems) == (content, ())
    assert record.created_at == BORN


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("importance", math.nan, "importance is not a number"),
        ("importance", math.inf, "importance is not a number"),
        ("importance", "high", "importance is not a number"),
        ("importance", True, "importance is not a number"),
        ("importance", 50.0, "importance is outside 0 to 1"),
        ("importance", 10**400, "importance is outside 0 to 1"),
        ("importance", -1, "importance is outside 0 to 1"),
        ("categories", "preference", "categories is one text"),
        ("categories", [1, "a"], "categories is not a list of texts"),
        ("created_at", "last tuesday", "created_at is not a time"),
        pytest.param("created_at", 10**5000, "created_at is not a time", id="huge"),
        ("created_at", "9999-12-31T23:59:59-14:00", "created_at is not a time"),
        ("updated_at", {}, "updated_at is not a time"),
        ("expires_at", "x" * 1_000_000, "expires_at is not a time"),
        ("source", 7, "source is not text"),
        ("private", "no", "private is not true or false"),
        ("metadata", [1], "metadata is not an object"),
        ("revision", 0, "revision is not a whole number"),
        ("revision", True, "revision is not a whole number"),
        ("evidence", "said so", "evidence is not a list"),
        ("kind", 5, "kind is not text"),
        ("content", 5, "no text"),
        ("content", " \n", "no text"),
    ],
)
def test_a_field_that_cannot_be_read_is_named_and_the_rest_goes_on(field: str, value: Any, problem: str) -> None:
    record = read({**MemoryRecord("k", ("m",), "likes tea").to_value(), field: value})
    assert problem in "; ".join(record.problems)
    assert len("; ".join(record.problems)) < 300
    assert record.importance is None or 0 <= record.importance <= 1


@pytest.mark.parametrize("value", [99, -1, 1.01, 10**400])
def test_an_importance_outside_the_scale_is_not_known(value: Any) -> None:
    record = read({"content": "likes tea", "importance": value})
    assert record.importance is None
    assert record.problems == (f"importance is outside 0 to 1: {shown(value)}",)


def test_a_nested_number_too_long_to_write_out_is_left_out() -> None:
    assert read({"content": {"a": 10**5000, "b": 1}}).content == "b: 1"


def test_a_private_flag_that_cannot_be_read_hides() -> None:
    assert read({"content": "x", "private": "no"}).private
    assert not read({"content": "x", "pinned": "no"}).pinned


@pytest.mark.parametrize("value", ["text", 5, None, [], [1], {1: 2}, b"\x00"])
def test_any_value_is_read_as_a_record_without_text(value: Any) -> None:
    record = read(value)
    assert record.content == ""
    assert record.problems


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.datetimes() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.integers(), inner, max_size=3),
    max_leaves=8,
)
names = st.sampled_from([*MemoryRecord("k", ("m",), "x").to_value(), "expires_at", "pinned", "other"])


@given(st.dictionaries(names, json_values))
def test_whatever_a_stranger_wrote_can_be_read_and_written_again(value: dict[str, Any]) -> None:
    record = read(value)
    again = read(record.to_value())
    assert again.content == record.content
    assert again.categories == record.categories
    assert again.importance == record.importance
    assert again.changed_at == record.changed_at


@given(st.dictionaries(names, json_values))
def test_an_edit_leaves_every_field_it_is_not_about_as_it_is_stored(value: dict[str, Any]) -> None:
    before = read(value)
    after = replace(before, revision=before.revision + 1)
    edited = rewritten(value, before, after)
    assert {name: repr(edited[name]) for name in value if name != "revision"} == {
        name: repr(part) for name, part in value.items() if name != "revision"
    }
    assert edited["revision"] == before.revision + 1


def test_an_edit_of_the_text_keeps_a_nested_one_nested() -> None:
    value = {"kind": "Memory", "content": {"content": "old", "topic": "t"}, "stranger": 1}
    before = read(value)
    edited = rewritten(value, before, replace(before, content="new"))
    assert edited == {
        "kind": "Memory",
        "content": {"content": "new", "topic": "t"},
        "stranger": 1,
        "created_at": before.to_value()["created_at"],
    }


def test_recency_is_measured_from_the_last_change_of_the_content() -> None:
    record = MemoryRecord("k", ("m",), "x", created_at=BORN)
    assert record.changed_at == BORN
    assert replace(record, updated_at=BORN + timedelta(1)).changed_at == BORN + timedelta(1)


def test_times_with_an_offset_are_stored_in_utc() -> None:
    local = BORN.astimezone(timezone(timedelta(hours=7)))
    assert MemoryRecord("k", ("m",), "x", created_at=local).to_value()["created_at"] == BORN.isoformat()


def test_evidence_leaves_out_what_is_not_known() -> None:
    assert Evidence(quote="I moved").to_value() == {"quote": "I moved"}
    assert Evidence.from_value({"quote": 5, "message_ids": "m1", "said_at": "?"}) == Evidence()
