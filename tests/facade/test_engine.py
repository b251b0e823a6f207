from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from engine_fixture import (
    ANA,
    BEN,
    KINDS,
    START,
    CountingEmbeddings,
    Judge,
    Ticking,
    contents,
    decide,
    dump,
    engine_over,
    facts,
    lines_of,
    memory_store,
    opened,
)
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.store.memory import InMemoryStore
from mnemoscope import (
    ConfigurationError,
    ConflictError,
    ExtractedFact,
    InputError,
    MemoryConfig,
    MemoryEngine,
    MemoryRecord,
    NamespaceError,
    NotFoundError,
    StoreError,
)
from mnemoscope.errors import Conflict, FilterError
from mnemoscope.index import Drop
from mnemoscope.journal import book
from mnemoscope.stores import Write

ALL = MemoryConfig(consolidation_threshold=0.0)
ROOT = Path(__file__).resolve().parents[2]


# Making an engine


def test_a_store_without_an_index_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"built without an index.*index="):
        engine_over(InMemoryStore())


@pytest.mark.parametrize("options", [{}, {"extractor": lines_of}, {"consolidator": Judge()}])
def test_neither_a_model_nor_both_callables_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"needs a model.*or both extractor= and consolidator="):
        MemoryEngine(memory_store(), **options)


@pytest.mark.parametrize("store", [None, "sqlite:///x", {}, 5])
def test_what_is_no_store_is_refused_by_name(store: Any) -> None:
    with pytest.raises(ConfigurationError, match="BaseStore"):
        MemoryEngine(store, extractor=lines_of, consolidator=Judge())


@pytest.mark.parametrize("options", [{"extractor": "rules"}, {"consolidator": 5}])
def test_a_part_that_cannot_be_called_is_refused_by_name(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(options))):
        engine_over(**options)


# What is remembered


def test_remember_returns_what_it_wrote_and_how_to_undo_it() -> None:
    engine = engine_over()
    applied = engine.remember(
        "likes tea\nhas a dog", "memories/ana", categories=["told"], importance=0.7, source="chat", metadata={"n": 1}
    )
    assert [record.content for record in applied] == ["likes tea", "has a dog"]
    for record in applied:
        assert (record.categories, record.importance, record.source) == (["told"], 0.7, "chat")
        assert (record.metadata, record.private, record.revision) == ({"n": 1}, False, 1)
        assert engine.get(ANA, record.key) == record
    assert applied.group is not None
    assert engine.remember("likes tea", ANA).group is None


def test_a_fact_keeps_its_own_importance_or_has_the_default_one() -> None:
    engine = engine_over(config=MemoryConfig(default_importance=0.3))
    own, default = engine.remember_facts([*facts("a b", importance=0.9), *facts("c d")], ANA)
    assert (own.importance, default.importance) == (0.9, 0.3)


def test_text_is_stored_as_it_is_where_nothing_is_to_be_extracted() -> None:
    engine = engine_over(extractor=lambda _text: pytest.fail("not to be called"))
    engine.remember("  two\nlines ", ANA, extract=False)
    assert contents(engine) == ["two\nlines"]


MESSAGES: list[Any] = [
    SystemMessage("You are a pirate."),
    HumanMessage([{"type": "text", "text": "likes tea"}, {"type": "image_url", "image_url": {"url": "data:x"}}]),
    AIMessage("", tool_calls=[{"name": "find", "args": {"q": "secret"}, "id": "1"}]),
    ToolMessage("tool secret", tool_call_id="1"),
    {"role": "assistant", "content": "noted"},
    {"role": "user", "content": [{"type": "text", "text": "has a dog"}]},
]


def test_messages_of_every_kind_are_read_and_only_what_was_said_is_kept() -> None:
    engine = engine_over()
    plan = engine.plan(MESSAGES, ANA)
    assert [fact.fact.content for fact in plan.facts] == ["likes tea", "noted", "has a dog"]
    assert {"system prompt", "image", "tool call", "tool output"} <= set(plan.left_out)
    engine.remember(MESSAGES, ANA, extract=False)
    assert contents(engine) == ["likes tea\n\nnoted\n\nhas a dog"]


@pytest.mark.parametrize(
    "content", ["", " \n\t", [], [""], [HumanMessage("")], {"role": "user", "content": []}, [SystemMessage(" ")]]
)
def test_where_nothing_was_said_nothing_is_remembered_asked_or_written(content: Any) -> None:
    engine = engine_over()
    for extract in (True, False):
        assert engine.remember(content, ANA, extract=extract) == []
        assert asyncio.run(engine.aremember(content, ANA, extract=extract)) == []
    assert engine.counts() == {}
    assert engine.history(ANA) == []


def test_a_turn_without_words_says_what_was_in_it() -> None:
    image = HumanMessage([{"type": "image_url", "image_url": {"url": "https://example.invalid/cat.png"}}])
    assert engine_over().remember([image], ANA).plan.left_out == {"image": 1}


@pytest.mark.parametrize("query", ["", " \n"])
def test_a_query_without_words_recalls_nothing_and_says_so(query: str) -> None:
    engine = engine_over()
    engine.remember_facts(facts("likes tea"), ANA)
    found = engine.recall(query, ANA)
    assert found == []
    assert asyncio.run(engine.arecall(query, ANA)) == []
    assert (found.notice, found.total, found.dropped_counts) == (
        "The query holds no words, so nothing was looked for.", 0, {},
    )  # fmt: skip
    assert list(found.rerank(engine.config)) == []


@pytest.mark.parametrize("content", [SystemMessage("You are a pirate."), [ToolMessage("42", tool_call_id="1")]])
def test_a_prompt_or_tool_output_is_never_stored(content: Any) -> None:
    engine = engine_over()
    assert engine.remember(content, ANA) == []
    assert engine.remember(content, ANA, extract=False) == []


@pytest.mark.parametrize("content", [None, 5, object(), b"bytes", [5], [{"role": "pirate", "content": "x"}]])
def test_content_of_no_known_form_is_refused(content: Any) -> None:
    with pytest.raises(InputError):
        engine_over().remember(content, ANA)


@pytest.mark.parametrize("kind", KINDS)
def test_a_megabyte_of_text_survives(kind: str, tmp_path: Path) -> None:
    text = "green tea " * 100_000
    with opened(kind, tmp_path) as store:
        engine = engine_over(store)
        engine.remember(text, ANA, extract=False)
        assert contents(engine) == [text.strip()]
        assert engine.recall("green tea", ANA)[0].similarity is not None
        engine.close()


@pytest.mark.parametrize("kind", KINDS)
def test_what_no_store_can_hold_is_replaced_visibly(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        engine = engine_over(store)
        applied = engine.remember("likes \x00 tea \ud800", ANA)
        assert contents(engine) == ["likes \ufffd tea \ufffd"]
        assert sum(applied.plan.left_out.values()) == 2
        key = applied[0].key
        engine.update(ANA, key, content="now\x00 coffee")
        assert contents(engine) == ["now\ufffd coffee"]
        engine.close()


@pytest.mark.parametrize(
    ("terms", "named"),
    [
        ({"importance": float("nan")}, "importance must be a number from 0 to 1, got float nan"),
        ({"importance": 50}, "importance must be a number from 0 to 1, got int 50"),
        ({"importance": True}, "importance"),
        ({"importance": "0.5"}, "importance"),
        ({"categories": "food"}, "categories must be a list of texts"),
        ({"categories": [1]}, "categories must be a list of texts"),
        ({"categories": ["a\x00"]}, "categories must be a list of texts without NUL"),
        ({"source": 5}, "source must be a text"),
        ({"source": "\ud800"}, "source must be a text without NUL"),
        ({"private": True}, "needs a source="),
        ({"private": True, "source": ""}, "needs a source="),
        ({"private": "yes"}, "private must be True or False"),
        ({"metadata": "x"}, "metadata must be an object"),
        ({"metadata": {"x": float("inf")}}, "metadata.x"),
        ({"metadata": {"x": object()}}, "metadata.x"),
        ({"metadata": {5: 1}}, "metadata has the key 5"),
    ],
)
def test_terms_that_cannot_be_used_are_refused_by_name_and_nothing_is_written(terms: Any, named: str) -> None:
    engine = engine_over()
    calls: list[Callable[[], Any]] = [
        lambda: engine.remember("likes tea", ANA, **terms),
        lambda: engine.remember_facts(facts("likes tea"), ANA, **terms),
        lambda: asyncio.run(engine.aremember("likes tea", ANA, **terms)),
        lambda: asyncio.run(engine.aremember_facts(facts("likes tea"), ANA, **terms)),
    ]
    for call in calls:
        with pytest.raises(InputError, match=named):
            call()
    assert engine.counts() == {}


@pytest.mark.parametrize(
    "call",
    [
        lambda engine: engine.plan("x", ANA, colour="red"),
        lambda engine: engine.plan([], ANA, colour="red"),
        lambda engine: engine.remember_facts([], ANA, colour="red"),
        lambda engine: asyncio.run(engine.aplan("x", ANA, colour="red")),
        lambda engine: asyncio.run(engine.aremember("x", ANA, colour="red")),
        lambda engine: asyncio.run(engine.aremember_facts([], ANA, extract=False)),
    ],
)
def test_unknown_options_are_refused_by_name(call: Any) -> None:
    with pytest.raises(TypeError, match=r"got an unexpected keyword argument '(colour|extract)'"):
        call(engine_over())


@pytest.mark.parametrize("label", ["ana@example.org", "v1.2", "🙂", "a b", "%2E", "x" * 500, "Ана", "a/b"])
def test_any_text_can_be_a_label_and_keeps_its_memories_apart(label: str) -> None:
    engine = engine_over()
    engine.remember("likes tea", ("memories", label))
    engine.remember("has a dog", ("memories", label + "-"))
    assert contents(engine, ("memories", label)) == ["likes tea"]
    [namespace] = [each for each in engine.counts() if not each[1].endswith("-")]
    assert contents(engine, namespace) == ["likes tea"]
    assert len(engine.history(("memories", label))) == 1


@pytest.mark.parametrize("namespace", ["", (), ("memories", ""), ("memories", 5), None, ("__mnemoscope__", "journal")])
def test_what_is_no_namespace_is_refused_everywhere(namespace: Any) -> None:
    engine = engine_over()
    calls: list[Callable[[], Any]] = [
        lambda: engine.remember("x", namespace),
        lambda: engine.recall("x", namespace),
        lambda: engine.list(namespace),
        lambda: engine.get(namespace, "k"),
        lambda: engine.forget(namespace, key="k"),
        lambda: engine.update(namespace, "k", content="x"),
        lambda: engine.curation.clear(namespace, confirm=""),
        lambda: engine.restore(namespace, "k"),
        lambda: asyncio.run(engine.aremember("x", namespace)),
    ]
    for call in calls:
        with pytest.raises(NamespaceError):
            call()


# Listing and getting


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_is_ordered_counted_and_cut_visibly(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        engine = engine_over(store, config=MemoryConfig(consolidation_threshold=1.0))
        for number in range(5):
            engine.remember_facts(facts(f"fact {number}"), ANA, categories=["even" if number % 2 == 0 else "odd"])
        engine.remember_facts(facts("secret"), ANA, source="ana", private=True)
        listing = engine.list(ANA, 2)
        assert [record.content for record in listing] == ["fact 4", "fact 3"]
        assert (listing.total, listing.withheld) == (5, {Drop.PRIVATE: 1})
        assert engine.list(ANA, source="ana").total == 6
        assert [record.content for record in engine.list(ANA, None, categories=["odd"])] == ["fact 3", "fact 1"]
        assert [record.content for record in engine.list(ANA, filter={"content": "fact 1"})] == ["fact 1"]
        assert engine.list(ANA, 0) == []
        assert engine.list("memories", subtree=True).total == 5
        engine.close()


@pytest.mark.parametrize("limit", [-1, 1.5, "x", True])
def test_a_limit_that_is_no_whole_number_is_refused(limit: Any) -> None:
    with pytest.raises(InputError, match="limit must be a whole number from 0"):
        engine_over().list(ANA, limit)


def test_a_memory_that_is_not_there_is_none() -> None:
    assert engine_over().get(ANA, "nowhere") is None


# Updating


@pytest.mark.parametrize("kind", KINDS)
def test_an_update_changes_what_it_names_and_keeps_the_rest(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        engine = engine_over(store)
        record = engine.remember_facts(facts("likes tea"), ANA, source="chat", metadata={"a": 1})[0]
        engine.update(ANA, record.key, categories=["food"], importance=0.9, pinned=True, reason="r")
        after = engine.get(ANA, record.key)
        assert after is not None
        assert (after.content, after.categories, after.importance, after.pinned) == ("likes tea", ["food"], 0.9, True)
        assert (after.source, after.metadata, after.revision, after.updated_at) == ("chat", {"a": 1}, 2, None)
        assert after.created_at == record.created_at
        engine.update(ANA, record.key, content=" drinks coffee ")
        assert engine.recall("drinks coffee", ANA)[0].similarity == pytest.approx(1.0, abs=1e-5)
        assert engine.list(ANA)[0].updated_at is not None
        engine.close()


def test_unknown_fields_survive_every_edit() -> None:
    store = memory_store()
    store.put(ANA, "k", {"content": "likes tea", "stranger": {"deep": [1]}, "metadata": "odd"})
    engine = engine_over(store)
    engine.update(ANA, "k", content="likes coffee", categories=["a"])
    item = store.get(ANA, "k")
    assert item is not None
    assert (item.value["stranger"], item.value["metadata"]) == ({"deep": [1]}, "odd")


@pytest.mark.parametrize(
    ("patch", "named"),
    [
        ({"content": " "}, "needs some text"),
        ({"content": 5}, "content must be a text"),
        ({"importance": 2}, "importance must be a number from 0 to 1"),
        ({"importance": float("nan")}, "importance"),
        ({"categories": "food"}, "categories must be a list"),
        ({"private": 1}, "private must be True or False"),
        ({"private": True}, "has no source"),
        ({"metadata": []}, "metadata must be an object"),
        ({"metadata": {"x": float("nan")}}, "metadata.x"),
        ({"pinned": "yes"}, "pinned must be True or False"),
        ({"expires_at": "tomorrow"}, "expires_at must be a datetime"),
    ],
)
def test_a_patch_that_cannot_be_used_is_refused_by_name(patch: Any, named: str) -> None:
    engine = engine_over()
    key = engine.remember_facts(facts("likes tea"), ANA)[0].key
    before = dump(engine)
    with pytest.raises(InputError, match=named):
        engine.update(ANA, key, **patch)
    assert dump(engine) == before


def test_an_update_of_nothing_is_not_found_and_a_stale_one_a_conflict_with_both_texts() -> None:
    engine = engine_over()
    with pytest.raises(NotFoundError, match="no memory 'nowhere'"):
        engine.update(ANA, "nowhere", content="x")
    key = engine.remember_facts(facts("likes tea"), ANA)[0].key
    engine.update(ANA, key, content="likes coffee", expected_revision=1)
    with pytest.raises(ConflictError, match="revision 1 was read, and it is at revision 2 now: 'likes coffee'"):
        engine.update(ANA, key, content="likes milk", expected_revision=1)
    assert contents(engine) == ["likes coffee"]


@pytest.mark.parametrize("wrong", [5, ["a"], b"a", None, {"a": 1}])
@pytest.mark.parametrize(
    "call",
    [
        lambda engine, wrong: engine.undo(wrong),
        lambda engine, wrong: engine.curation.changes_of(wrong),
        lambda engine, wrong: engine.runs.get(wrong),
        lambda engine, wrong: engine.get(ANA, wrong),
        lambda engine, wrong: engine.explain("tea", ANA, wrong),
        lambda engine, wrong: engine.update(ANA, wrong, content="x"),
        lambda engine, wrong: engine.restore(ANA, wrong),
        lambda engine, wrong: engine.curation.allow([(ANA, wrong)]),
        lambda engine, wrong: engine.curation.move([(ANA, wrong)], ("memories", "ben")),
        lambda engine, wrong: engine.curation.merge(ANA, [wrong, wrong]),
        lambda engine, wrong: engine.curation.erase(ANA, [wrong], confirm="memories/ana"),
        lambda engine, wrong: engine.curation.forget([(ANA, wrong)]),
        lambda engine, wrong: engine.curation.forget([wrong]),
        lambda engine, wrong: engine.curation.relabel([(ANA, wrong)]),
        lambda engine, wrong: engine.curation.restore([(ANA, wrong)]),
        lambda engine, wrong: engine.usage.give_feedback(wrong, "key", useful=True),
        lambda engine, wrong: engine.history(ANA, wrong or 5),
        lambda engine, wrong: engine.history(ANA, before=wrong or 5),
        lambda engine, wrong: engine.curation.plan_undo(ANA, run=wrong),
        lambda engine, wrong: engine.runs.forget(ANA, run=wrong),
    ],
)
def test_what_is_no_id_or_key_is_refused_everywhere(call: Any, wrong: Any) -> None:
    engine = engine_over()
    engine.remember_facts(facts("likes tea"), ANA)
    before = dump(engine)
    with pytest.raises(InputError):
        call(engine, wrong)
    assert dump(engine) == before


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        ("tea", "milk", "it was 'tea' when it was read and is 'milk' now"),
        (None, "milk", "it was not there when it was read and is 'milk' now"),
        ("tea", None, "it was 'tea' when it was read and is gone now"),
        ("tea", "tea", "its text is 'tea' as before, but something else of it has changed"),
    ],
)
def test_a_conflict_is_told_in_plain_words(before: str | None, now: str | None, told: str) -> None:
    conflict = Conflict(ANA, "k", before, now)
    assert str(conflict) == f"memories/ana · k: {told}"
    many = str(ConflictError([conflict] * 4))
    assert many.startswith("4 memories changed since they were read, so nothing was written: ")
    assert many.endswith("(and 1 more). Read them again and repeat the change.")


def test_undoing_what_is_undone_already_says_so_and_changes_nothing() -> None:
    engine = engine_over()
    key = engine.remember_facts(facts("likes tea"), ANA)[0].key
    group = engine.update(ANA, key, content="likes milk").group
    engine.undo(group, actor="Ben")
    before = dump(engine)
    with pytest.raises(ConflictError, match="this change is already undone, by Ben on 2025-01-01"):
        engine.undo(group)
    assert dump(engine) == before
    engine.update(ANA, key, content="likes water")
    with pytest.raises(ConflictError, match="it was 'likes milk' when it was read and is 'likes water' now"):
        engine.undo(group)


def values(engine: MemoryEngine) -> dict[str, Any]:
    return {item.key: item.value for item in engine.adapter.load(ANA).items}


@pytest.mark.parametrize("kind", KINDS)
def test_after_undos_an_edit_takes_no_revision_that_another_text_had(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        engine = engine_over(store)
        key = engine.remember_facts(facts("likes tea"), ANA)[0].key
        start = values(engine)
        groups = [engine.update(ANA, key, content=text).group for text in ("likes milk", "likes water")]
        for group in reversed(groups):
            engine.undo(group)
        assert values(engine) == start
        engine.update(ANA, key, content="likes coffee")
        for stale in (1, 2, 3):
            with pytest.raises(ConflictError):
                engine.update(ANA, key, content="likes cocoa", expected_revision=stale)
        assert [(each.content, each.revision) for each in engine.list(ANA)] == [("likes coffee", 4)]
        engine.update(ANA, key, content="likes cocoa", expected_revision=4)
        engine.curation.erase(ANA, key, confirm="memories/ana")
        assert not engine.adapter.load(book("revisions", ANA)).items
        engine.close()


def test_an_update_of_what_was_shown_is_a_conflict_where_anything_else_is_there_now() -> None:
    engine = engine_over()
    shown = engine.remember_facts(facts("likes tea"), ANA)[0]
    engine.store.put(ANA, shown.key, {**shown.to_value(), "content": "likes coffee"})
    with pytest.raises(ConflictError) as caught:
        engine.update(ANA, shown.key, content="likes milk", expected=shown)
    [conflict] = caught.value.conflicts
    assert (conflict.expected, conflict.actual) == ("likes tea", "likes coffee")
    assert str(caught.value) == (
        f"1 memory changed since it was read, so nothing was written: memories/ana · {shown.key}: "
        "it was 'likes tea' when it was read and is 'likes coffee' now. Read it again and repeat the change."
    )
    now = engine.get(ANA, shown.key)
    assert now is not None
    engine.update(ANA, shown.key, content="likes milk", expected=now)
    assert contents(engine) == ["likes milk"]


def test_an_expired_memory_is_seen_no_more() -> None:
    clock = Ticking()
    engine = engine_over(clock=clock)
    key = engine.remember_facts(facts("likes tea"), ANA)[0].key
    engine.update(ANA, key, expires_at=(clock.now + timedelta(hours=1)).replace(tzinfo=None))
    assert len(engine.recall("tea", ANA)) == 1
    clock.now += timedelta(hours=2)
    assert len(engine.recall("tea", ANA)) == 0
    assert engine.list(ANA).withheld == {Drop.EXPIRED: 1}


def test_a_naive_clock_is_taken_as_utc() -> None:
    engine = engine_over(clock=lambda: datetime(2025, 1, 1))
    assert engine.remember_facts(facts("likes tea"), ANA)[0].created_at == START
    assert len(engine.recall("tea", ANA)) == 1


# Forgetting


def seeded(**options: Any) -> MemoryEngine:
    engine = engine_over(**options)
    engine.remember_facts(facts("likes tea"), ANA, categories=["food"], importance=0.9, source="chat")
    engine.remember_facts(facts("has a dog"), ANA, categories=["pets"], importance=0.1, metadata={"team": "red"})
    engine.remember_facts(facts("below"), (*ANA, "work"))
    engine.remember_facts(facts("of alice"), ("memories", "anastasia"))
    return engine


def test_forgetting_needs_a_criterion() -> None:
    engine = seeded()
    with pytest.raises(InputError, match=r"at least one criterion.*clear\("):
        engine.forget(ANA)
    assert len(engine.list(ANA)) == 2


@pytest.mark.parametrize(
    ("criteria", "left"),
    [
        ({"keys": []}, ["has a dog", "likes tea"]),
        ({"categories": []}, ["has a dog", "likes tea"]),
        ({"key": "nowhere"}, ["has a dog", "likes tea"]),
        ({"categories": ["food", "x"]}, ["has a dog"]),
        ({"importance_below": 0.5}, ["likes tea"]),
        ({"source": "chat"}, ["has a dog"]),
        ({"filter": {"metadata.team": "red"}}, ["likes tea"]),
        ({"categories": ["food"], "importance_below": 0.5}, ["has a dog", "likes tea"]),
        ({"older_than": timedelta(days=1)}, ["has a dog", "likes tea"]),
        ({"older_than": datetime(2026, 1, 1)}, []),
        ({"not_recalled_since": timedelta(0)}, []),
    ],
)
def test_all_criteria_must_hold_and_an_empty_list_matches_nothing(criteria: Any, left: list[str]) -> None:
    engine = seeded()
    would = engine.forget(ANA, **criteria, dry_run=True)
    assert (int(would), len(would.sample), would.group) == (2 - len(left), 2 - len(left), None)
    assert len(engine.list(ANA)) == 2
    assert engine.forget(ANA, **criteria) == 2 - len(left)
    assert contents(engine) == left
    assert contents(engine, (*ANA, "work")) == ["below"]
    assert contents(engine, ("memories", "anastasia")) == ["of alice"]


@pytest.mark.parametrize(
    ("criteria", "error"),
    [
        ({"keys": "abc"}, InputError),
        ({"keys": "abc", "key": "d"}, InputError),
        ({"keys": [5]}, InputError),
        ({"categories": "food"}, InputError),
        ({"older_than": 30}, InputError),
        ({"older_than": timedelta(days=-5)}, InputError),
        ({"not_recalled_since": timedelta(seconds=-1)}, InputError),
        ({"not_recalled_since": "2025-01-01"}, InputError),
        ({"importance_below": "low"}, InputError),
        ({"importance_below": float("nan")}, InputError),
        ({"source": 5}, InputError),
        ({"filter": {"a": {"$regex": 1}}}, FilterError),
    ],
)
def test_a_criterion_of_the_wrong_type_is_refused_and_forgets_nothing(criteria: Any, error: Any) -> None:
    engine = seeded()
    with pytest.raises(error, match=next(iter(criteria)) if error is InputError else "regex"):
        engine.forget(ANA, **criteria)
    assert len(engine.list(ANA)) == 2


def test_a_pinned_memory_is_forgotten_by_its_key_alone() -> None:
    engine = seeded()
    key = engine.list(ANA)[0].key
    engine.update(ANA, key, pinned=True)
    assert engine.forget(ANA, importance_below=1.0) == 1
    assert engine.forget(ANA, key=key) == 1


def test_clearing_is_confirmed_by_the_name_of_the_namespace() -> None:
    engine = seeded()
    for wrong in ("", "ana", "memories", "memories/Ana"):
        with pytest.raises(InputError, match="confirm='memories/ana'"):
            engine.curation.clear(ANA, confirm=wrong)
    assert engine.curation.clear("memories/ana", confirm="memories/ana") == 2
    assert len(engine.curation.trash(ANA)) == 2
    assert contents(engine, (*ANA, "work")) == ["below"]


def test_however_many_there_are_all_go_and_all_come_back(tmp_path: Path) -> None:
    count = 10_050
    with opened("sqlite", tmp_path, CountingEmbeddings(8)) as store:
        engine = engine_over(store)
        record = MemoryRecord("k", ANA, "likes tea", created_at=START)
        engine.adapter.write([Write(ANA, str(number), record.to_value()) for number in range(count)])
        gone = engine.forget(ANA, older_than=datetime(2025, 1, 2))
        assert gone == count
        assert engine.counts() == {}
        assert gone.group is not None
        assert len(engine.undo(gone.group)) == count
        assert engine.counts() == {ANA: count}
        engine.close()


def test_what_was_forgotten_is_gone_for_the_agent_and_can_be_restored() -> None:
    store = memory_store()
    engine = engine_over(store)
    record = engine.remember_facts(facts("likes tea"), ANA)[0]
    before = dump(engine)
    engine.forget(ANA, key=record.key, actor="operator", reason="wrong")
    assert (store.get(ANA, record.key), store.search(ANA, query="tea")) == (None, [])
    [stone] = engine.curation.trash(ANA)
    assert (stone.record.content, stone.actor, stone.reason) == ("likes tea", "operator", "wrong")
    engine.restore(ANA, record.key)
    assert (dump(engine), engine.curation.trash(ANA)) == (before, [])
    with pytest.raises(NotFoundError, match="Nothing forgotten"):
        engine.restore(ANA, record.key)


def test_restoring_onto_a_key_that_is_in_use_is_a_conflict() -> None:
    store = memory_store()
    engine = engine_over(store)
    key = engine.remember_facts(facts("likes tea"), ANA)[0].key
    engine.forget(ANA, key=key)
    store.put(ANA, key, {"content": "the agent wrote here"})
    with pytest.raises(ConflictError, match="the agent wrote here"):
        engine.restore(ANA, key)
    assert contents(engine) == ["the agent wrote here"]


# Many at once


@pytest.mark.parametrize("kind", KINDS)
def test_many_threads_that_remember_the_same_fact_store_it_once(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        engines = [engine_over(store) for _ in range(2)]
        with ThreadPoolExecutor(8) as pool:
            done = list(pool.map(lambda n: engines[n % 2].remember("likes tea", ANA), range(16)))
        assert sum(map(len, done)) == 1
        assert contents(engines[0]) == ["likes tea"]
        assert len(engines[0].history(ANA)) == 1
        for engine in engines:
            engine.close()


@pytest.mark.parametrize("kind", KINDS)
def test_of_many_updates_of_one_revision_one_wins_and_the_others_are_told(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        engines = [engine_over(store) for _ in range(2)]
        key = engines[0].remember("likes tea", ANA)[0].key
        barrier = threading.Barrier(6)

        def update(number: int) -> bool:
            barrier.wait()
            try:
                engines[number % 2].update(ANA, key, content=f"text {number}", expected_revision=1)
            except ConflictError:
                return False
            return True

        with ThreadPoolExecutor(6) as pool:
            won = list(pool.map(update, range(6)))
        assert won.count(True) == 1
        assert contents(engines[0]) == [f"text {won.index(True)}"]
        assert len(engines[0].history(ANA)) == 2
        for engine in engines:
            engine.close()


@pytest.mark.parametrize("kind", KINDS)
def test_concurrent_updates_without_a_revision_lose_none(kind: str, tmp_path: Path) -> None:
    """Each that did not fail is in the history, in a chain without a gap."""
    with opened(kind, tmp_path) as store:
        engine = engine_over(store)
        key = engine.remember("start", ANA)[0].key

        def update(number: int) -> int:
            try:
                engine.update(ANA, key, content=f"text {number}")
            except ConflictError:
                return 0
            return 1

        with ThreadPoolExecutor(8) as pool:
            done = sum(pool.map(update, range(24)))
        chain = engine.history(ANA, key)[::-1]
        assert len(chain) == done + 1
        assert all(one.after == other.before for one, other in pairwise(chain))
        assert engine.list(ANA)[0].revision == done + 1
        engine.close()


REMEMBER = """
import sys
sys.path[:0] = [{engine!r}, {tests!r}]
from engine_fixture import engine_over
from mnemoscope.embedding.hashing import HashingEmbeddings
from mnemoscope.stores.sqlite.connection import open_sqlite
store = open_sqlite({path!r}, embeddings=HashingEmbeddings(32))
engine = engine_over(store)
print("ready", flush=True)
sys.stdin.readline()
for number in range(15):
    engine.remember(f"fact number {{number}}", ("memories", "ana"))
engine.close()
store.conn.close()
"""


def test_processes_on_one_file_store_each_fact_once_and_lose_none(tmp_path: Path) -> None:
    path = tmp_path / "memories.sqlite"
    with opened("sqlite", tmp_path) as store:
        engine = engine_over(store)
        code = REMEMBER.format(engine=str(ROOT / "engine"), tests=str(ROOT / "tests" / "support"), path=str(path))
        workers = [
            subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        for worker in workers:
            assert worker.stdout is not None
            assert worker.stdout.readline() == "ready\n"
        for worker in workers:
            worker.communicate("go\n")
        assert [worker.returncode for worker in workers] == [0, 0]
        assert contents(engine) == sorted(f"fact number {n}" for n in range(15))
        assert len(engine.history(ANA)) == 15
        engine.close()


def test_a_plan_that_another_writer_overtook_is_not_applied() -> None:
    store = memory_store()
    engine, other = engine_over(store, consolidator=Judge(decide("update")), config=ALL), engine_over(store)
    key = engine.remember("works at Google", ANA)[0].key
    plan = engine.plan("joined Microsoft", ANA)
    other.update(ANA, key, content="works at Apple")
    with pytest.raises(ConflictError) as caught:
        engine.apply(plan)
    [conflict] = caught.value.conflicts
    assert (conflict.expected, conflict.actual) == ("works at Google", "works at Apple")
    assert contents(engine) == ["works at Apple"]
    applied = engine.plan("likes tea", ANA)
    engine.apply(applied)
    with pytest.raises(ConflictError):
        engine.apply(applied)


def test_remember_plans_anew_where_another_writer_came_between_without_extracting_again() -> None:
    store = memory_store()
    other = engine_over(store)
    extracted: list[str] = []

    def extract(text: str) -> list[ExtractedFact]:
        extracted.append(text)
        return lines_of(text)

    def judge(_fact: ExtractedFact, similar: Any) -> Any:
        if similar[0][0].content == "works at Google":
            other.update(ANA, similar[0][0].key, content="works at Apple")
        return decide("update")(_fact, similar)

    engine = engine_over(store, extractor=extract, consolidator=judge, config=ALL)
    other.remember("works at Google", ANA)
    applied = engine.remember("joined Microsoft", ANA)
    assert contents(engine) == ["joined Microsoft"]
    assert [change.text_before for change in applied.changes] == ["works at Apple"]
    assert extracted == ["joined Microsoft"]
    assert applied.plan.messages[0].text == "joined Microsoft"


# Asynchronous


@pytest.mark.parametrize("kind", KINDS)
def test_the_async_forms_do_the_same(kind: str, tmp_path: Path) -> None:
    async def all_of_it(engine: MemoryEngine) -> None:
        assert len(await engine.aextract("a\nb")) == 2
        key = (await engine.aremember("likes tea", ANA, source="chat"))[0].key
        assert len(await engine.aremember_facts(facts("has a dog"), ANA)) == 1
        await engine.aapply(await engine.aplan("plays chess", ANA))
        assert len((await engine.aplan(facts("x"), ANA)).facts) == 1
        assert (await engine.arecall("tea", ANA, limit=1))[0].record.key == key
        assert (await engine.aget(ANA, key)) is not None
        assert len(await engine.alist(ANA)) == 3
        await engine.aupdate(ANA, key, content="likes coffee")
        assert await engine.aforget(ANA, key=key) == 1
        assert len(await engine.curation.atrash(ANA)) == 1
        await engine.arestore(ANA, key)
        group = (await engine.curation.aclear(ANA, confirm="memories/ana")).group
        assert group is not None
        await engine.aundo(group)
        assert len(await engine.ahistory(ANA)) == 12
        assert await engine.acounts() == {ANA: 3}
        assert len(await engine.aas_of(ANA, START)) == 0
        await engine.usage.arecalls(ANA)

    with opened(kind, tmp_path) as store:
        engine = engine_over(store)
        asyncio.run(all_of_it(engine))
        engine.close()


@pytest.mark.parametrize("kind", KINDS)
def test_many_async_calls_store_the_same_fact_once(kind: str, tmp_path: Path) -> None:
    async def together(engine: MemoryEngine) -> int:
        done = await asyncio.gather(*(engine.aremember("likes tea", ANA) for _ in range(20)))
        return sum(map(len, done))

    with opened(kind, tmp_path) as store:
        engine = engine_over(store)
        assert asyncio.run(together(engine)) == 1
        engine.close()


def test_calls_run_side_by_side_while_a_model_is_asked_whatever_their_namespaces() -> None:
    running, most = [0], [0]
    both = asyncio.Event()

    async def extract(text: str) -> list[ExtractedFact]:
        running[0] += 1
        most[0] = max(most[0], running[0])
        if running[0] == 2:
            both.set()
        if text == "together":
            await asyncio.wait_for(both.wait(), 10)
        else:
            await asyncio.sleep(0)
        running[0] -= 1
        return lines_of(text)

    async def all_of_it() -> None:
        engine = engine_over(extractor=extract)
        await asyncio.gather(engine.aremember("together", ANA), engine.aremember("together", BEN))
        assert most == [2]
        most[0] = 0
        await asyncio.gather(*(engine.aremember(f"fact {n}", ANA) for n in range(4)))
        assert most == [4]
        assert sorted(contents(engine)) == ["fact 0", "fact 1", "fact 2", "fact 3", "together"]
        assert len({change.group for change in engine.history(ANA)}) == 5

    asyncio.run(all_of_it())


def test_a_cancelled_remember_writes_nothing_afterwards_and_the_queue_goes_on() -> None:
    extracting = asyncio.Event()

    async def extract(text: str) -> list[ExtractedFact]:
        extracting.set()
        if text == "slow":
            await asyncio.sleep(3600)
        return lines_of(text)

    async def all_of_it(engine: MemoryEngine) -> None:
        slow = asyncio.create_task(engine.aremember("slow", ANA))
        await extracting.wait()
        waiting = asyncio.create_task(engine.aremember("waiting", ANA))
        last = asyncio.create_task(engine.aremember("last", ANA))
        await asyncio.sleep(0)
        waiting.cancel()
        slow.cancel()
        for task in (slow, waiting):
            with pytest.raises(asyncio.CancelledError):
                await task
        await last

    engine = engine_over(extractor=extract)
    asyncio.run(all_of_it(engine))
    assert contents(engine) == ["last"]
    engine.remember("more", ANA)
    assert contents(engine) == ["last", "more"]


def test_a_remember_cancelled_while_it_writes_is_through_when_the_cancellation_is() -> None:
    engine = engine_over()
    begun, free = threading.Event(), threading.Event()
    inner = engine.adapter.write

    def slow(*arguments: Any) -> None:
        begun.set()
        assert free.wait(10)
        inner(*arguments)

    engine.adapter.write = slow  # type: ignore[method-assign]

    async def cancel() -> None:
        task = asyncio.create_task(engine.aremember("likes tea", ANA))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
        free.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert contents(engine) == ["likes tea"]

    asyncio.run(cancel())
    assert len(engine.history(ANA)) == 1


def test_sync_and_async_callers_share_one_queue() -> None:
    async def mixed(engine: MemoryEngine) -> None:
        sync = [asyncio.to_thread(engine.remember, "likes tea", ANA) for _ in range(3)]
        await asyncio.wait_for(asyncio.gather(*sync, *(engine.aremember("likes tea", ANA) for _ in range(20))), 30)

    engine = engine_over()
    asyncio.run(mixed(engine))
    assert len(engine.history(ANA)) == 1


# Stores that fail


@pytest.mark.parametrize("kind", ["sqlite"])
def test_a_closed_file_is_a_store_error_everywhere(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        engine = engine_over(store)
        engine.remember("likes tea", ANA)
    calls: list[Callable[[], Any]] = [
        lambda: engine.recall("tea", ANA, touch=False),
        lambda: engine.list(ANA),
        lambda: engine.remember("x", ANA),
        lambda: engine.forget(ANA, key="k"),
        lambda: engine.history(ANA),
        lambda: asyncio.run(engine.arecall("tea", ANA, touch=False)),
    ]
    for call in calls:
        with pytest.raises(StoreError):
            call()


def test_a_failing_official_store_is_a_store_error_and_writes_nothing_half() -> None:
    class Failing(InMemoryStore):
        broken = False

        def batch(self, ops: Any) -> Any:
            if self.broken:
                raise RuntimeError("connection lost")
            return super().batch(ops)

    store = Failing(index={"dims": 32, "embed": CountingEmbeddings(), "fields": ["content"]})
    engine = engine_over(store)
    store.broken = True
    with pytest.raises(StoreError, match="RuntimeError: connection lost"):
        engine.remember("likes tea", ANA)
    store.broken = False
    assert engine.counts() == {}
    engine.remember("likes tea", ANA)
    assert contents(engine) == ["likes tea"]


def test_a_record_can_be_compared_with_what_was_returned() -> None:
    engine = engine_over()
    [written] = engine.remember("likes tea", ANA)
    assert isinstance(written, MemoryRecord)
    assert engine.list(ANA) == [written]
    assert engine.recall("tea", ANA)[0].record == written


def test_namespaces_are_counted_again_only_after_a_write(
    seeded_engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, asked = seeded_engine.counts(), []
    counts = seeded_engine.adapter.counts
    monkeypatch.setattr(seeded_engine.adapter, "counts", lambda *given: asked.append(given) or counts(*given))
    seeded_engine.counts().clear()
    assert (seeded_engine.counts(), asked) == (before, [])
    seeded_engine.store.put(("memories", "new"), "k", {"content": "x"})
    assert seeded_engine.counts() == before | {("memories", "new"): 1}
    assert len(asked) == 1
