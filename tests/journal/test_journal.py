from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_fixture import (
    ANA,
    BEN,
    START,
    Judge,
    Ticking,
    contents,
    decide,
    dump,
    engine_over,
    facts,
    memory_store,
    opened,
    swap,
)
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import examples
from mnemoscope import ConflictError, InputError, MemoryConfig, MemoryEngine, NotFoundError, StoreError
from mnemoscope.journal import Edit
from mnemoscope.stores import adapt

ALL = MemoryConfig(consolidation_threshold=0.0)


def stones(engine: MemoryEngine) -> dict[str, Any]:
    """The tombstones with their vectors; when the item of the book itself was made does not matter."""
    found = dump(engine, ("__mnemoscope__", "tombstones", *ANA))
    return {key: (value, vectors) for key, (value, _, vectors) in found.items()}


def everything(engine: MemoryEngine) -> Any:
    return dump(engine), stones(engine)


# Each change and its undo


def an_insert(engine: MemoryEngine) -> Any:
    return engine.remember_facts(facts("plays chess"), ANA).group


def an_update(engine: MemoryEngine) -> Any:
    key = engine.list(ANA)[0].key
    return engine.update(ANA, key, content="something else", categories=["b"], importance=0.1, metadata={"a": 1}).group


def an_edit_of_labels(engine: MemoryEngine) -> Any:
    return engine.update(ANA, engine.list(ANA)[0].key, categories=["b"], pinned=True).group


def a_forgetting(engine: MemoryEngine) -> Any:
    return engine.forget(ANA, older_than=START + timedelta(days=1)).group


def a_clearing(engine: MemoryEngine) -> Any:
    return engine.curation.clear(ANA, confirm="memories/ana").group


def a_restoring(engine: MemoryEngine) -> Any:
    return engine.restore(ANA, engine.curation.trash(ANA)[0].record.key).group


def an_overruled_suppression(engine: MemoryEngine) -> Any:
    engine.curation.allow([(ANA, engine.curation.trash(ANA)[0].record.key)])
    return engine.remember_facts(facts("Has A Dog"), ANA).group


def a_correction(engine: MemoryEngine) -> Any:
    return engine.remember("drinks coffee now", ANA).group


ACTIONS = [
    an_insert,
    an_update,
    an_edit_of_labels,
    a_forgetting,
    a_clearing,
    a_restoring,
    an_overruled_suppression,
    a_correction,
]


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("act", ACTIONS)
def test_an_undo_puts_text_fields_times_vector_and_tombstone_back_and_can_be_undone(
    kind: str, act: Callable[[MemoryEngine], str], tmp_path: Path
) -> None:
    with opened(kind, tmp_path) as store:
        engine = engine_over(store, consolidator=Judge(decide("update")), config=ALL)
        engine.remember_facts(facts("likes green tea"), ANA, source="chat", metadata={"team": "red"})
        engine.apply(engine.plan(facts("has a dog"), BEN))
        with_a_tombstone(engine)
        if act is an_overruled_suppression:
            engine.curation.allow([(ANA, engine.curation.trash(ANA)[0].record.key)])
        before = everything(engine)
        group = act(engine)
        after = everything(engine)
        assert after != before
        [*undone] = engine.undo(group, actor="operator")
        assert everything(engine) == before
        assert {change.actor for change in undone} == {"operator"}
        engine.undo(undone[0].group)
        assert everything(engine) == after
        engine.close()


def with_a_tombstone(engine: MemoryEngine) -> None:
    swap(engine, consolidator=Judge())
    key = engine.remember_facts(facts("has a dog"), ANA)[0].key
    engine.forget(ANA, key=key, actor="operator", reason="wrong")
    swap(engine, consolidator=Judge(decide("update")))


@pytest.mark.parametrize("act", ACTIONS)
def test_a_store_whose_vectors_cannot_be_read_gets_its_texts_back_and_embeds_them(
    act: Callable[[MemoryEngine], str], tmp_path: Path
) -> None:
    with opened("generic", tmp_path) as store:
        engine = engine_over(store, consolidator=Judge(decide("update")), config=ALL)
        engine.remember_facts(facts("likes green tea"), ANA)
        with_a_tombstone(engine)
        before = contents(engine)
        engine.undo(act(engine))
        assert contents(engine) == before
        assert engine.recall("likes green tea", ANA)[0].similarity == pytest.approx(1.0)


def test_one_change_of_a_group_can_be_undone_alone() -> None:
    engine = engine_over()
    applied = engine.remember_facts(facts("likes tea", "has a dog"), ANA)
    engine.undo(applied.changes[0].id)
    assert contents(engine) == ["has a dog"]
    with pytest.raises(ConflictError):
        engine.undo(applied.changes[0].group)
    assert contents(engine) == ["has a dog"]


def test_what_has_changed_since_is_not_undone_and_both_texts_are_shown() -> None:
    engine = engine_over()
    applied = engine.remember_facts(facts("likes tea", "has a dog"), ANA)
    engine.update(ANA, applied[0].key, content="likes coffee")
    with pytest.raises(ConflictError) as caught:
        engine.undo(applied.changes[0].group)
    assert (caught.value.conflicts[0].expected, caught.value.conflicts[0].actual) == ("likes tea", "likes coffee")
    assert contents(engine) == ["has a dog", "likes coffee"]


def test_a_change_is_undone_once() -> None:
    engine = engine_over()
    group = engine.remember_facts(facts("likes tea"), ANA).changes[0].group
    engine.undo(group)
    with pytest.raises(ConflictError, match="already undone"):
        engine.undo(group)


def test_an_undo_does_not_overwrite_what_was_created_again_since() -> None:
    engine = engine_over()
    key = engine.remember_facts(facts("likes tea"), ANA)[0].key
    group = engine.forget(ANA, key=key).group
    assert group is not None
    engine.curation.allow([(ANA, key)])
    engine.remember_facts(facts("likes tea"), ANA, importance=0.9)
    with pytest.raises(ConflictError):
        engine.undo(group)
    assert engine.list(ANA)[0].importance == 0.9
    with pytest.raises(NotFoundError):
        engine.restore(ANA, key)


@pytest.mark.parametrize("unknown", ["", "nonsense", "20250101T000000000000-abc", "20250101T000000000000-abc-000001"])
def test_an_unknown_change_is_not_found(unknown: str) -> None:
    engine = engine_over()
    engine.remember_facts(facts("likes tea"), ANA)
    with pytest.raises(NotFoundError, match="no change or group"):
        engine.undo(unknown)


def test_a_tombstone_comes_back_as_it_was() -> None:
    engine = engine_over()
    with_a_tombstone(engine)
    [before] = engine.curation.trash(ANA)
    engine.undo(engine.restore(ANA, before.record.key).group)
    assert engine.curation.trash(ANA) == [before]
    assert (before.actor, before.reason) == ("operator", "wrong")


def test_a_memory_forgotten_again_after_it_was_told_again_keeps_both_stories() -> None:
    engine = engine_over()
    key = engine.remember_facts(facts("likes tea"), ANA)[0].key
    engine.forget(ANA, key=key, reason="first")
    engine.curation.allow([(ANA, key)])
    engine.remember_facts(facts("likes tea"), ANA)
    group = engine.forget(ANA, key=key, reason="second").group
    assert [stone.reason for stone in engine.curation.trash(ANA)] == ["second"]
    assert group is not None
    engine.undo(group)
    assert contents(engine) == ["likes tea"]
    assert [change.action for change in engine.history(ANA, key)] == [
        "undo", "forget", "insert", "allow", "forget", "insert",
    ]  # fmt: skip


# Reading the history


def test_changes_tell_who_why_when_and_from_what_to_what() -> None:
    engine = engine_over()
    key = engine.remember_facts(facts("likes tea"), ANA, actor="ana's agent")[0].key
    engine.update(ANA, key, content="likes coffee", actor="operator", reason="asked her")
    update, insert = engine.history(ANA)
    assert (update.action, update.actor, update.reason) == ("update", "operator", "asked her")
    assert (update.text_before, update.text_after) == ("likes tea", "likes coffee")
    assert (insert.text_before, insert.actor) == (None, "ana's agent")
    assert insert.run is not None
    assert update.at > insert.at


def test_history_is_of_one_namespace_one_memory_a_group_or_everything() -> None:
    engine = engine_over()
    applied = engine.remember_facts(facts("likes tea", "has a dog"), ANA)
    engine.remember_facts(facts("likes coffee"), BEN)
    engine.remember_facts(facts("at work"), (*ANA, "work"))
    assert len(engine.history(ANA)) == 2
    assert len(engine.history(ANA, subtree=True)) == 3
    assert len(engine.history()) == 4
    assert [change.key for change in engine.history(ANA, applied[0].key)] == [applied[0].key]
    assert len(engine.history(group=applied.group)) == 2
    newest, *rest = engine.history()
    assert engine.history(before=newest.id) == rest
    assert engine.history(limit=1) == [newest]
    for wrong in (-1, "x", 1.5):
        with pytest.raises(InputError, match="limit"):
            engine.history(limit=wrong)  # type: ignore[arg-type]


def test_the_order_of_changes_survives_a_clock_that_stands_still() -> None:
    engine = engine_over(clock=lambda: START)
    key = engine.remember_facts(facts("0"), ANA)[0].key
    for number in range(1, 30):
        engine.update(ANA, key, content=str(number))
    assert [change.text_after for change in engine.history(ANA)] == [str(n) for n in range(29, -1, -1)]


def test_the_past_can_be_looked_at() -> None:
    clock = Ticking()
    engine = engine_over(clock=clock)
    before_all = clock.now
    key = engine.remember_facts(facts("likes tea", "has a dog"), ANA)[0].key
    first = clock.now
    engine.update(ANA, key, content="likes coffee")
    second = clock.now
    engine.forget(ANA, key=key)
    assert engine.as_of(ANA, before_all) == []
    assert sorted(record.content for record in engine.as_of(ANA, first)) == ["has a dog", "likes tea"]
    assert sorted(record.content for record in engine.as_of(ANA, second)) == ["has a dog", "likes coffee"]
    assert [record.content for record in engine.as_of(ANA, clock.now)] == ["has a dog"]
    assert len(engine.as_of(ANA, first.replace(tzinfo=None))) == 2
    with pytest.raises(InputError, match="moment must be a datetime"):
        engine.as_of(ANA, "yesterday")  # type: ignore[arg-type]


def test_the_books_are_in_no_user_namespace() -> None:
    store = memory_store()
    engine = engine_over(store)
    engine.forget(ANA, key=engine.remember_facts(facts("likes tea"), ANA)[0].key)
    assert [namespace for namespace in store.list_namespaces() if namespace[0] != "__mnemoscope__"] in ([], [ANA])
    assert store.search(ANA) == []
    assert store.search(ANA, query="tea") == []


# Committing


def test_a_group_changes_each_item_once() -> None:
    engine = engine_over()
    edit = Edit(ANA, "k", "insert", None, {"content": "x"})
    with pytest.raises(InputError, match="twice at once"):
        engine.context.journal.commit([edit, edit], actor="x")
    assert contents(engine) == []


def test_a_value_that_cannot_be_stored_writes_nothing_of_the_group() -> None:
    engine = engine_over()
    good = Edit(ANA, "a", "insert", None, {"content": "x"}, {"content": np.ones(32, np.float32)})
    with pytest.raises(InputError, match="nan"):
        engine.context.journal.commit([good, Edit(ANA, "b", "insert", None, {"content": float("nan")})], actor="x")
    assert (contents(engine), engine.history()) == ([], [])


def test_a_store_that_fails_in_the_middle_of_a_batch_keeps_its_old_state() -> None:
    engine = engine_over()
    engine.remember_facts(facts("likes tea"), ANA)
    before = dump(engine)
    inner = engine.adapter._apply  # type: ignore[attr-defined]
    left = [3]

    def failing(write: Any) -> None:
        left[0] -= 1
        if left[0] <= 0:
            raise StoreError("the disk is full")
        inner(write)

    engine.adapter._apply = failing  # type: ignore[attr-defined]
    with pytest.raises(StoreError):
        engine.curation.clear(ANA, confirm="memories/ana")
    with pytest.raises(StoreError):
        engine.context.journal.commit(
            [Edit(ANA, str(n), "insert", None, {"content": str(n)}) for n in range(5)], actor="x"
        )
    engine.adapter._apply = inner  # type: ignore[attr-defined]
    assert dump(engine) == before
    assert len(engine.history()) == 1


# What strangers wrote


STRANGE = [
    {"content": "x", "importance": float("nan")},
    {"content": "a\x00b\ud800"},
    {"content": {"content": "nested", "n": 10**400}},
    {"anything": [1, {2, 3}, b"bytes", START]},
    {"content": "x", "metadata": "not an object", "kind": None, "big": 2**70},
]


@pytest.mark.parametrize("value", STRANGE, ids=range(len(STRANGE)))
def test_whatever_a_stranger_wrote_can_be_labelled_forgotten_restored_and_undone(value: dict[str, Any]) -> None:
    store = memory_store()
    store.put(ANA, "k", value, index=False)
    engine = engine_over(store)
    text = engine.index(ANA).records[0].content
    labelled = engine.update(ANA, "k", categories=["odd"])
    assert engine.index(ANA).records[0].categories == ["odd"]
    engine.undo(labelled.id)
    group = engine.forget(ANA, key="k").group
    assert group is not None
    assert len(engine.curation.trash(ANA)) == 1
    engine.undo(group)
    engine.forget(ANA, key="k")
    engine.restore(ANA, "k")
    # As ASCII, for no report of a failure takes a lone surrogate.
    assert ascii(engine.index(ANA).records[0].content) == ascii(text)
    assert ascii(store.get(ANA, "k").value) == ascii(value)  # type: ignore[union-attr]


def test_labelling_an_item_of_langmem_keeps_its_shape() -> None:
    store = memory_store()
    store.put(ANA, "k", {"kind": "Profile", "content": {"name": "Ana", "age": 30}})
    engine = engine_over(store)
    engine.update(ANA, "k", categories=["person"])
    item = store.get(ANA, "k")
    assert item is not None
    assert item.value["content"] == {"name": "Ana", "age": 30}
    assert item.value["kind"] == "Profile"


# Everything, against a plain model


keys = st.integers(0, 4)
actions = st.one_of(
    st.tuples(st.just("remember"), keys),
    st.tuples(st.just("update"), keys),
    st.tuples(st.just("label"), keys),
    st.tuples(st.just("forget"), keys),
    st.tuples(st.just("restore"), keys),
    st.tuples(st.just("undo"), st.integers(0, 6)),
    st.tuples(st.just("clear"), st.just(0)),
)


class Model:
    """What a namespace should hold: texts and labels by key, and what was forgotten; with every earlier state."""

    def __init__(self) -> None:
        self.live: dict[str, tuple[str, int]] = {}
        self.gone: dict[str, tuple[str, int]] = {}


def carry_out(engine: MemoryEngine, model: Model, name: str, at: int, step: int, groups: list[str]) -> None:
    known = sorted({*model.live, *model.gone})
    key = known[at % len(known)] if known else ""
    if name == "remember":
        applied = engine.remember_facts(facts(f"fact number {at}"), ANA)
        for record in applied:
            model.live[record.key] = (record.content, 0)
        groups += [applied.group] if applied.group else []
    elif name in ("update", "label") and key in model.live:
        text, labels = model.live[key]
        text = f"text {step}" if name == "update" else text
        change = engine.update(ANA, key, content=text, metadata={"labels": labels + 1})
        model.live[key] = (text, labels + 1)
        groups.append(change.group)
    elif name == "forget" and key in model.live:
        group = engine.forget(ANA, key=key).group
        model.gone[key] = model.live.pop(key)
        groups += [group] if group else []
    elif name == "restore" and key in model.gone and key not in model.live:
        groups.append(engine.restore(ANA, key).group)
        model.live[key] = model.gone.pop(key)
    elif name == "clear" and model.live:
        group = engine.curation.clear(ANA, confirm="memories/ana").group
        model.gone |= model.live
        model.live = {}
        groups += [group] if group else []


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_random_changes_agree_with_a_plain_model_and_undoing_all_gives_back_the_start(
    kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    @examples(40)
    @given(st.lists(actions, max_size=12))
    def check(sequence: list[tuple[str, int]]) -> None:
        with opened(kind, tmp_path_factory.mktemp("store")) as store:
            engine = engine_over(store, config=MemoryConfig(consolidation_threshold=1.0))
            engine.remember_facts(facts("there from the start"), ANA)
            engine.forget(ANA, key=engine.remember_facts(facts("forgotten at the start"), ANA)[0].key)
            play(engine, sequence)
            engine.close()

    check()


def play(engine: MemoryEngine, sequence: list[tuple[str, int]]) -> None:
    model = Model()
    for record in engine.list(ANA):
        model.live[record.key] = (record.content, 0)
    for stone in engine.curation.trash(ANA):
        model.gone[stone.record.key] = (stone.record.content, 0)
    start, states, groups = everything(engine), [], []
    for step, (name, at) in enumerate(sequence):
        if name == "undo":
            if groups:
                engine.undo(groups.pop())
                model.live, model.gone = states.pop()
        else:
            before, count = (dict(model.live), dict(model.gone)), len(groups)
            carry_out(engine, model, name, at, step, groups)
            states += [before] * (len(groups) - count)
        held = {record.key: (record.content, record.metadata.get("labels", 0)) for record in engine.list(ANA)}
        assert held == model.live
        assert {stone.record.key for stone in engine.curation.trash(ANA)} == set(model.gone)
        assert engine.index(ANA).vectored.all()
    for group in reversed(groups):
        engine.undo(group)
    assert everything(engine) == start


def test_adapters_of_one_store_are_one_to_the_journal() -> None:
    store = memory_store()
    one, other = engine_over(store), engine_over(adapt(store))
    group = one.remember_facts(facts("likes tea"), ANA).group
    assert group is not None
    other.undo(group)
    assert contents(one) == []
