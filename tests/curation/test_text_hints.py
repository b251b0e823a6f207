"""Which field is the text of an unknown shape: the one with the most human language, by how many items have it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from engine_fixture import Ticking, engine_over, opened
from mnemoscope.connections import load_connections
from mnemoscope.curation import TextHint, text_hints
from mnemoscope.stores import StoredItem

DOCS = ("docs", "web")
NOISE = {
    "id": "8b1f0c1e-6f0d-4d34-a8c1-0a5f3c3c9f10",
    "url": "https://example.org/a/very/long/address/that/goes/on/and/on",
    "at": "2025-03-01T10:00:00+00:00",
    "html": "<p>Bees make honey all day long, and nobody ever knows why they do.</p>",
    "raw": '{"a": "Bees make honey all day long, and nobody ever knows why they do."}',
    "tags": ["Bees make honey all day long"],
    "n": 12,
    "empty": "",
    "a.b": "A name with a period can be named in no configuration at all.",
}


def hints(*values: Any, namespace: tuple[str, ...] = DOCS) -> tuple[TextHint, ...]:
    clock = Ticking()
    return text_hints(StoredItem(namespace, str(at), each, clock.now, clock.now) for at, each in enumerate(values))


def test_the_longest_human_text_is_the_text() -> None:
    (hint,) = hints({**NOISE, "title": "How bees work", "data": {"body": "Bees make honey all day long, in hives."}})
    assert (hint.namespace, hint.field, hint.items, hint.among) == (DOCS, "data.body", 1, 1)
    assert hint.example == "Bees make honey all day long, in hives."
    assert hint.length == len(hint.example)


def test_a_field_that_few_have_is_not_the_first_hint() -> None:
    common = [{"title": "The keeping of bees", "n": at} for at in range(9)]
    first, *rest = hints(*common, {"note": "x y z " * 20, "title": "The keeping of bees"})
    assert (first.field, first.items, first.among, first.share) == ("title", 10, 10, 1.0)
    assert rest == []


def test_items_of_two_shapes_get_two_hints_with_the_share_of_each() -> None:
    found = hints(*[{"body": "Bees make honey."}] * 3, {"said": "Ana keeps some bees."})
    assert [(each.field, each.items, each.share) for each in found] == [("body", 3, 0.75), ("said", 1, 0.25)]


@pytest.mark.parametrize(
    "text", ["蜜蜂整天都在酿造蜂蜜", "पेड़ पर मधुमक्खियाँ रहती हैं", "النحل يصنع العسل", "Øl er godt her"]
)
def test_every_script_counts(text: str) -> None:
    assert [each.field for each in hints({"body": text, "id": "abc-123"})] == ["body"]


@pytest.mark.parametrize("value", [NOISE, {}, {"body": "bees"}, {"body": 5}, ["Bees make honey."], "Bees make honey."])
def test_without_human_text_there_is_no_hint(value: Any) -> None:
    assert hints(value) == ()


def test_hints_are_by_root_and_name_what_their_items_share() -> None:
    clock = Ticking()
    where = [("docs", "web", "a"), ("docs", "web", "b"), ("notes",)]
    items = [StoredItem(each, "k", {"body": "Bees make honey."}, clock.now, clock.now) for each in where]
    assert [(each.namespace, each.items) for each in text_hints(items)] == [(("docs", "web"), 2), (("notes",), 1)]


def test_the_plan_hints_at_the_text_of_what_cannot_be_adopted(tmp_path: Path) -> None:
    with opened("memory", tmp_path) as store:
        store.put(DOCS, "none", {"title": "Bees", "body": "Bees make honey."})  # type: ignore[union-attr]
        store.put(DOCS, "made", {"body": "Bees make wax.", "content": {"html": "<p>"}})  # type: ignore[union-attr]
        store.put(DOCS, "clear", {"content": "Bees sting.", "body": "Something else entirely."})  # type: ignore[union-attr]
        store.put(DOCS, "person", {"kind": "Person", "content": {"bio": "Ana keeps some bees."}})  # type: ignore[union-attr]
        plan = engine_over(store).curation.plan_adoption(DOCS)
    assert [(each.field, each.items, each.among) for each in plan.hints] == [("body", 2, 2)]


def test_what_a_hint_says_is_what_the_configuration_takes(tmp_path: Path) -> None:
    (hint,) = hints({"data": {"body": "Bees make honey."}})
    file = tmp_path / "mnemoscope.toml"
    file.write_text(
        '[connections.a]\nurl = "memory:"\n[connections.a.text_fields]\n'
        f'"{"/".join(hint.namespace)}" = "{hint.field}"\n'
    )
    assert load_connections(file).named("a").text_fields == ((DOCS, "data.body"),)
