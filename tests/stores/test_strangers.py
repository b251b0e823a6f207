"""What others wrote: LangMem's tools and managers, `langgraph-memory`, any JSON; read, edited, adopted, undone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_fixture import ANA, KINDS, Ticking, decide, dump, engine_over, facts, opened
from mnemoscope import (
    ConfigurationError,
    ConflictError,
    ConsolidationDecision,
    InputError,
    MemoryConfig,
    MemoryEngine,
    MemoryRecord,
)
from mnemoscope.connections import load_connections, open_connection
from mnemoscope.core import text_of, with_text
from mnemoscope.curation import ADOPTED
from mnemoscope.stores import StoreAdapter, View, adapt

DOCS = ("docs", "web")
SHARED: dict[str, Any] = {
    "kind": "memory",
    "content": "Ana keeps bees.",
    "categories": ["hobby"],
    "importance": 0.7,
    "created_at": "2025-03-01T10:00:00+00:00",
    "last_accessed": "2025-03-01T10:00:00+00:00",
    "source": "chat",
    "private": False,
    "metadata": {"team": "red"},
}
SHAPES: dict[str, dict[str, Any]] = {
    "tool": {"content": "Ana likes green tea."},
    "manager": {"kind": "Memory", "content": {"content": "Ana lives in Lisbon."}},
    "schema": {"kind": "Person", "content": {"name": "Ana", "age": 5, "tags": ["x"]}},
    "mixed": {"kind": "Note", "content": {"content": "Ana sails.", "mood": "calm"}, "seen": {"by": [1, 2.5, None]}},
    "shared": SHARED,
    "loose": {
        "content": "Ana sings.",
        "metadata": "none",
        "source": {"url": "https://x.invalid"},
        "importance": "high",
    },
}
TEXTS = {
    "tool": "Ana likes green tea.",
    "manager": "Ana lives in Lisbon.",
    "schema": "name: Ana\nage: 5",
    "mixed": "Ana sails.",
    "shared": "Ana keeps bees.",
    "loose": "Ana sings.",
}
NEW = {**{key: "Ana says it otherwise." for key in SHAPES}, "schema": "name: Ana Maria\nage: 6"}


def langmem_text(value: dict[str, Any]) -> Any:
    """What LangMem's readers take: the content, be it a text or an object of the schema `kind`."""
    return value["content"]


@pytest.fixture(params=KINDS)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MemoryEngine]:
    with opened(request.param, tmp_path) as store:
        yield engine_over(filled(store))


def filled(store: Any) -> Any:
    target = store if not hasattr(store, "abilities") else store.store
    for key, value in SHAPES.items():
        target.put(ANA, key, value)
    target.put(DOCS, "page", {"title": "Bees", "body": "Bees make honey.", "content": {"html": "<p>"}, "n": 1})
    target.put(DOCS, "deep", {"data": {"text": "Deep down."}})
    return store


def value_of(engine: MemoryEngine, key: str, namespace: tuple[str, ...] = ANA) -> Any:
    found = engine.adapter.get([(namespace, key)])[0]
    return None if found is None else found.value


def mapped(store: Any, fields: dict[tuple[str, ...], str]) -> StoreAdapter:
    return View(store if hasattr(store, "abilities") else adapt(store), text_fields=fields)


# Reading


def test_every_shape_is_listed_and_recalled(engine: MemoryEngine) -> None:
    assert {record.key: record.content for record in engine.list(ANA, None)} == TEXTS
    for key, text in TEXTS.items():
        assert key in [match.record.key for match in engine.recall(text, ANA, limit=6)]


@pytest.mark.parametrize("key", SHAPES)
def test_an_edit_keeps_the_shape_and_changes_the_text_where_it_was(engine: MemoryEngine, key: str) -> None:
    engine.update(ANA, key, content=NEW[key])
    after = value_of(engine, key)
    text = langmem_text(after)
    expected = {
        "manager": {"content": NEW[key]},
        "schema": {"name": "Ana Maria", "age": 6, "tags": ["x"]},
        "mixed": {"content": NEW[key], "mood": "calm"},
    }.get(key, NEW[key])
    assert text == expected
    assert after.get("kind") == SHAPES[key].get("kind")
    untouched = {name: part for name, part in SHAPES[key].items() if name != "content"}
    assert {name: after[name] for name in untouched} == untouched
    record = engine.get(ANA, key)
    assert (record.content, record.revision) == (NEW[key], 2)
    assert record.updated_at is not None


@pytest.mark.parametrize("key", SHAPES)
def test_an_edited_shape_is_recalled_by_its_new_text_and_undone_to_the_letter(engine: MemoryEngine, key: str) -> None:
    before = dump(engine)[key]
    change = engine.update(ANA, key, content=NEW[key])
    assert engine.recall(NEW[key], ANA, limit=1)[0].record.key == key
    assert (change.text_before, change.text_after) == (TEXTS[key], NEW[key])
    engine.undo(change.id)
    assert same_but_times(dump(engine)[key], before, engine)


@pytest.mark.parametrize("key", SHAPES)
def test_a_forgotten_shape_comes_back_to_the_letter(engine: MemoryEngine, key: str) -> None:
    before = dump(engine)[key]
    engine.forget(ANA, key=key)
    assert value_of(engine, key) is None
    assert [stone.record.content for stone in engine.curation.trash(ANA)] == [TEXTS[key]]
    engine.restore(ANA, key)
    assert same_but_times(dump(engine)[key], before, engine)


def same_but_times(one: tuple[Any, ...], other: tuple[Any, ...], engine: MemoryEngine) -> bool:
    """Whether value and vectors are equal, and the time of creation too where the store can keep it."""
    parts = slice(None) if engine.adapter.abilities.reads_vectors else slice(0, 1)
    return one[parts] == other[parts]


def test_labels_alone_are_added_beside_what_stands_there(engine: MemoryEngine) -> None:
    engine.curation.relabel([(ANA, "manager"), (ANA, "tool")], add_categories=["home"], importance=0.9)
    assert value_of(engine, "manager") == SHAPES["manager"] | {"categories": ["home"], "importance": 0.9, "revision": 2}
    assert value_of(engine, "tool") == SHAPES["tool"] | {"categories": ["home"], "importance": 0.9, "revision": 2}


def test_a_text_made_of_fields_refuses_a_sentence(engine: MemoryEngine) -> None:
    with pytest.raises(InputError, match=r"made of the fields 'name', 'age'.*one line each"):
        engine.update(ANA, "schema", content="Ana is six now.")
    with pytest.raises(InputError, match=r"'age' holds 5; 'six' is not of that type"):
        engine.update(ANA, "schema", content="name: Ana\nage: six")
    assert value_of(engine, "schema") == SHAPES["schema"]


def test_a_judge_that_rewords_a_text_made_of_fields_loses_no_fact(tmp_path: Path) -> None:
    with opened("memory", tmp_path) as store:
        store.put(ANA, "schema", SHAPES["schema"])  # type: ignore[union-attr]
        config = MemoryConfig(consolidation_threshold=0.0)
        judge = decide("update", "Ana is six.")
        engine = engine_over(store, consolidator=judge, config=config)
        applied = engine.remember_facts(facts("Ana is 6 years old."), ANA)
    assert "made of fields" in (applied.plan.facts[0].rejected or "")
    assert value_of(engine, "schema") == SHAPES["schema"]
    assert "Ana is 6 years old." in [record.content for record in engine.list(ANA, None)]


def test_a_judge_may_reword_a_nested_text_and_the_nesting_stays(tmp_path: Path) -> None:
    with opened("memory", tmp_path) as store:
        store.put(ANA, "manager", SHAPES["manager"])  # type: ignore[union-attr]
        judge = lambda _fact, similar: ConsolidationDecision(  # noqa: E731
            action="update", target_key=similar[0][0].key, content="Ana lives in Porto."
        )
        engine = engine_over(store, consolidator=judge, config=MemoryConfig(consolidation_threshold=0.0))
        engine.remember_facts(facts("Ana moved to Porto."), ANA)
    after = value_of(engine, "manager")
    assert (after["kind"], after["content"]) == ("Memory", {"content": "Ana lives in Porto."})


@pytest.mark.parametrize("key", [*SHAPES])
def test_with_text_and_text_of_are_each_others_inverse(key: str) -> None:
    record = MemoryRecord.from_item(_item(SHAPES[key]))
    assert text_of(with_text(SHAPES[key], NEW[key], record.text_at)) == NEW[key]
    assert with_text(SHAPES[key], TEXTS[key], record.text_at) == SHAPES[key]


def _item(value: Any) -> Any:
    from mnemoscope.stores import StoredItem

    return StoredItem(ANA, "k", value, Ticking().now, Ticking().now)


# Which field is the text


@pytest.mark.parametrize("kind", KINDS)
def test_a_named_field_is_the_text_and_an_edit_changes_it_alone(tmp_path: Path, kind: str) -> None:
    with opened(kind, tmp_path) as store:
        filled(store)
        engine = engine_over(mapped(store, {("docs",): "body"}))
        record = engine.get(DOCS, "page")
        assert (record.content, record.problems, record.text_at) == ("Bees make honey.", (), "body")
        group = engine.update(DOCS, "page", content="Bees make wax.")
        after = value_of(engine, "page", DOCS)
        assert (after["title"], after["body"], after["content"], after["n"]) == (
            "Bees",
            "Bees make wax.",
            {"html": "<p>"},
            1,
        )
        assert engine.recall("Bees make wax.", DOCS, limit=1)[0].record.content == "Bees make wax."
        assert (group.text_before, group.text_after) == ("Bees make honey.", "Bees make wax.")
        assert engine.history(DOCS, "page")[0].text_after == "Bees make wax."
        engine.forget(DOCS, key="page")
        assert [stone.record.content for stone in engine.curation.trash(DOCS)] == ["Bees make wax."]
        engine.restore(DOCS, "page")
        assert engine.get(DOCS, "page").content == "Bees make wax."


def test_the_longest_prefix_counts_and_a_path_goes_deep(tmp_path: Path) -> None:
    with opened("memory", tmp_path) as store:
        filled(store)
        engine = engine_over(mapped(store, {("docs",): "title", DOCS: "data.text"}))
        assert engine.get(DOCS, "deep").content == "Deep down."
        engine.update(DOCS, "deep", content="Deeper.")
        assert value_of(engine, "deep", DOCS)["data"] == {"text": "Deeper."}
        # Where the named field is not there, the usual places count.
        assert engine.get(DOCS, "page").content == "html: <p>"


def test_our_own_memories_beside_them_are_read_by_their_content(tmp_path: Path) -> None:
    with opened("sqlite", tmp_path) as store:
        engine = engine_over(mapped(store, {DOCS: "source"}))
        engine.remember_facts(facts("Ours."), DOCS, source="chat")
        assert [record.content for record in engine.list(DOCS, None)] == ["Ours."]


def test_the_configuration_names_text_fields_by_namespace(tmp_path: Path) -> None:
    file = tmp_path / "mnemoscope.toml"
    lines = '[connections.a]\nurl = "memory:"\nembedder = "hashing"\n[connections.a.text_fields]\n"docs/web" = "body"\n'
    file.write_text(lines, encoding="utf-8")
    connection = load_connections(file).named("a")
    assert connection.text_fields == ((DOCS, "body"),)
    engine = open_connection(connection)
    engine.store.put(DOCS, "page", {"body": "Bees make honey."})
    assert engine.get(DOCS, "page").content == "Bees make honey."
    engine.close()
    file.write_text(lines.replace("docs/web", "docs//web"), encoding="utf-8")
    with pytest.raises(ConfigurationError, match="text_fields"):
        load_connections(file)


# Adopting


def test_a_plan_shows_what_would_be_adopted_and_writes_nothing(engine: MemoryEngine) -> None:
    engine.store.put(ANA, "empty", {"content": ["no text"]})
    before = dump(engine)
    plan = engine.curation.plan_adoption(ANA)
    assert dump(engine) == before
    assert (len(plan), plan.ours) == (5, 1)
    assert plan.counts == {"langmem_tool": 1, "langmem_manager": 3, "other": 1}
    assert {each.key: each.text for each in plan.adoptions} == {key: TEXTS[key] for key in TEXTS if key != "shared"}
    assert all(each.before == SHAPES[each.key] and each.after["kind"] == "memory" for each in plan.adoptions)
    assert [(each.key, each.reason) for each in plan.unadoptable] == [("empty", "there is no text under 'content'")]


def test_adopted_items_have_our_envelope_and_lose_nothing(engine: MemoryEngine) -> None:
    changes = engine.curation.apply_adoption(engine.curation.plan_adoption(ANA))
    assert {change.action for change in changes} == {"adopt"}
    assert len({change.group for change in changes}) == 1
    for key in SHAPES:
        record = engine.get(ANA, key)
        assert (record.kind, record.content, record.problems) == ("memory", TEXTS[key], ())
    assert "adopted" not in engine.get(ANA, "tool").metadata
    assert engine.get(ANA, "schema").metadata[ADOPTED] == {"text_at": "content.*", "fields": SHAPES["schema"]}
    loose = engine.get(ANA, "loose")
    assert loose.metadata[ADOPTED]["fields"] == {
        name: SHAPES["loose"][name] for name in ("metadata", "source", "importance")
    }
    assert engine.get(ANA, "mixed").extra == {"seen": SHAPES["mixed"]["seen"]}
    assert len(engine.curation.plan_adoption(ANA)) == 0


def test_adopted_items_are_recalled_by_their_text_and_take_any_other(engine: MemoryEngine) -> None:
    engine.curation.apply_adoption(engine.curation.plan_adoption(ANA))
    engine.update(ANA, "schema", content="Ana is six now.")
    assert engine.recall("Ana is six now.", ANA, limit=1)[0].record.key == "schema"


def test_adoption_is_undone_to_the_letter_vectors_and_all(engine: MemoryEngine) -> None:
    before = dump(engine)
    changes = engine.curation.apply_adoption(engine.curation.plan_adoption(ANA))
    assert dump(engine) != before
    engine.undo(changes[0].group)
    after = dump(engine)
    assert all(same_but_times(after[key], before[key], engine) for key in SHAPES)


def test_nothing_is_adopted_where_one_item_has_changed_since(engine: MemoryEngine) -> None:
    plan = engine.curation.plan_adoption(ANA)
    engine.store.put(ANA, "tool", {"content": "Ana likes coffee."})
    with pytest.raises(ConflictError):
        engine.curation.apply_adoption(plan)
    assert value_of(engine, "manager") == SHAPES["manager"]


def test_some_of_a_plan_can_be_adopted_alone(engine: MemoryEngine) -> None:
    engine.curation.apply_adoption(engine.curation.plan_adoption(ANA).only([(ANA, "manager")]))
    assert value_of(engine, "tool") == SHAPES["tool"]
    assert value_of(engine, "manager")["kind"] == "memory"


def test_a_text_that_is_embedded_as_it_is_keeps_its_vector(tmp_path: Path) -> None:
    with opened("sqlite", tmp_path) as store:
        plan = engine_over(filled(store)).curation.plan_adoption(ANA)
    assert {each.key for each in plan.adoptions if each.keeps_vectors} == {"tool", "loose"}
    assert plan.texts == [TEXTS[key] for key in ("manager", "mixed", "schema")]


def test_a_named_field_moves_to_the_content(tmp_path: Path) -> None:
    with opened("sqlite", tmp_path) as store:
        filled(store)
        engine = engine_over(mapped(store, {DOCS: "body"}))
        engine.curation.apply_adoption(engine.curation.plan_adoption(DOCS).only([(DOCS, "page")]))
        after = value_of(engine, "page", DOCS)
        assert (after["content"], after["title"]) == ("Bees make honey.", "Bees")
        assert "body" not in after
        assert after["metadata"][ADOPTED] == {
            "text_at": "body",
            "fields": {"content": {"html": "<p>"}, "body": "Bees make honey."},
        }


def test_the_whole_store_is_planned_without_our_books(engine: MemoryEngine) -> None:
    engine.update(ANA, "tool", content="So there is a journal.")
    plan = engine.curation.plan_adoption()
    assert {each.namespace for each in (*plan.adoptions, *plan.unadoptable)} == {ANA, DOCS}


# Bad items


def test_bad_items_are_quarantined_and_the_rest_goes_on(engine: MemoryEngine) -> None:
    for key, value in {"list": {"content": []}, "deep": {"content": {"a": {"b": {}}}}, "none": {}}.items():
        engine.store.put(ANA, key, value)
    index = engine.index(ANA)
    problems = {record.key: record.problems for record in index.records if not record.content}
    assert set(problems) == {"list", "deep", "none"}
    assert all(each == ("there is no text under 'content'",) for each in problems.values())
    found = {match.record.key for match in engine.recall("Ana", ANA, limit=20)}
    assert set(SHAPES) <= found
    assert not found & problems.keys()


def test_repairing_keeps_the_shape_and_what_could_not_be_read(engine: MemoryEngine) -> None:
    findings = [each for each in engine.curation.worklist("malformed", ANA) if each.refs == ((ANA, "loose"),)]
    changes = engine.curation.accept(findings)
    after = value_of(engine, "loose")
    assert after["content"] == "Ana sings."
    assert "kind" not in after
    assert after["unread"] == {name: SHAPES["loose"][name] for name in ("metadata", "source", "importance")}
    assert engine.get(ANA, "loose").problems == ()
    engine.undo(changes[0].id)
    assert value_of(engine, "loose") == SHAPES["loose"]


@pytest.mark.parametrize("stored", ["null", "[1]", "3"])
def test_what_is_no_object_is_forgotten_moved_erased_and_undone(stored: str, tmp_path: Path) -> None:
    with opened("sqlite", tmp_path) as store:
        engine = engine_over(store)
        engine.remember_facts(facts("cats"), ANA)

        def put(key: str) -> None:
            row = ("memories.ana", key, stored, "2025-01-01", "2025-01-01")
            store.conn.execute("INSERT INTO store(prefix, key, value, created_at, updated_at) VALUES(?,?,?,?,?)", row)

        put("theirs")
        group = engine.forget(ANA, key="theirs").group
        assert engine.get(ANA, "theirs") is None
        engine.undo(group)
        assert engine.get(ANA, "theirs") is not None
        put("other")
        engine.curation.move([(ANA, "other")], ("memories", "ben"))
        put("third")
        assert engine.curation.erase(ANA, "third", confirm="memories/ana").is_complete
        put("fourth")
        engine.curation.forget([(ANA, "fourth")])
        put("fifth")
        engine.curation.clear(ANA, confirm="memories/ana")
        assert engine.counts() == {("memories", "ben"): 1}
        engine.close()
