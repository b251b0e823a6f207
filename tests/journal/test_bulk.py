from __future__ import annotations

import pytest
from mnemoscope import InputError, MemoryEngine, NotFoundError

ANA, BEN = ("memories", "ana"), ("memories", "ben")


def places(engine: MemoryEngine) -> list[tuple[tuple[str, ...], str]]:
    return [(record.namespace, record.key) for record in engine.list((), subtree=True)]


def stored(engine: MemoryEngine) -> dict[object, object]:
    return {record.key: record.to_value() for record in engine.list((), subtree=True)}


def test_memories_of_several_namespaces_are_forgotten_as_one_group(seeded_engine: MemoryEngine) -> None:
    before, refs = stored(seeded_engine), places(seeded_engine)
    assert seeded_engine.curation.forget(refs, dry_run=True) == 5
    forgotten = seeded_engine.curation.forget(
        [*refs, refs[0], (BEN, "no such key")], actor="maria", reason="Spring clean"
    )
    assert (forgotten, stored(seeded_engine)) == (5, {})
    assert {(change.actor, change.reason) for change in seeded_engine.history()[:5]} == {("maria", "Spring clean")}
    assert forgotten.group is not None
    seeded_engine.undo(forgotten.group)
    assert stored(seeded_engine) == before


def test_nothing_named_is_nothing_forgotten(seeded_engine: MemoryEngine) -> None:
    forgotten = seeded_engine.curation.forget([])
    assert (forgotten, forgotten.group) == (0, None)
    assert len(places(seeded_engine)) == 5


def test_labels_of_many_change_as_one_group_and_texts_and_their_time_stay(seeded_engine: MemoryEngine) -> None:
    before, refs = stored(seeded_engine), places(seeded_engine)
    changes = seeded_engine.curation.relabel(
        refs, add_categories=["checked", "food"], drop_categories=["home"], importance=0.9
    )
    records = seeded_engine.list((), subtree=True)
    assert len({change.group for change in changes}) == 1
    assert all({"checked", "food"} <= set(record.categories) for record in records)
    assert not any("home" in record.categories for record in records)
    assert {record.importance for record in records} == {0.9}
    assert {record.updated_at for record in records} == {None}
    seeded_engine.undo(changes[0].group)
    assert stored(seeded_engine) == before


def test_a_memory_that_would_stay_as_it_is_has_no_change(seeded_engine: MemoryEngine) -> None:
    changes = seeded_engine.curation.relabel(places(seeded_engine), add_categories=["health"])
    assert len(changes) == 4
    assert seeded_engine.curation.relabel(places(seeded_engine), add_categories=["health"]) == []


def test_one_that_is_gone_refuses_all(seeded_engine: MemoryEngine) -> None:
    before = stored(seeded_engine)
    with pytest.raises(NotFoundError, match="no such key"):
        seeded_engine.curation.relabel([*places(seeded_engine), (ANA, "no such key")], importance=0.1)
    assert stored(seeded_engine) == before


def test_a_memory_without_a_source_cannot_become_private(seeded_engine: MemoryEngine) -> None:
    with pytest.raises(InputError, match="has no source"):
        seeded_engine.curation.relabel(places(seeded_engine), private=True)
