from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from mnemoscope import MemoryEngine, PermissionDeniedError, StoreError
from mnemoscope.connections import connection_to, engine_over, open_store
from mnemoscope.stores import View, adapt

ANA, BEN, ANA_WORK, TEAM = ("memories", "ana"), ("memories", "ben"), ("memories", "ana", "work"), ("team", "red")
TEXTS = {ANA: "Ana lives in Lisbon.", BEN: "Ben drinks tea.", ANA_WORK: "Ana works at a bank.", TEAM: "Red wins."}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return filled(tmp_path / "m.sqlite")


def filled(path: Path) -> Path:
    engine = engine_on(path)
    for namespace, text in TEXTS.items():
        engine.remember(text, namespace, extract=False)
    engine.forget(BEN, key=engine.list(BEN)[0].key)
    engine.remember(TEXTS[BEN], BEN, extract=False)
    engine.close()
    return path


def engine_on(path: Path, *shown: tuple[str, ...]) -> MemoryEngine:
    connection = connection_to(str(path), embedder="hashing", namespaces=shown)
    return engine_over(open_store(connection), connection)


def test_only_the_shown_namespaces_are_there(store: Path) -> None:
    engine = engine_on(store, ANA, TEAM)
    assert engine.counts() == {ANA: 1, ANA_WORK: 1, TEAM: 1}
    assert engine.counts(("memories",)) == {ANA: 1, ANA_WORK: 1}
    assert engine.counts(BEN) == {}
    everything = engine.index((), subtree=True)
    assert [record.content for record in everything.records] == [TEXTS[ANA], TEXTS[ANA_WORK], TEXTS[TEAM]]
    assert everything.vectored.all()
    assert engine.list(BEN) == []
    assert engine.history(())
    assert all(change.namespace != BEN for change in engine.history(()))
    assert engine.curation.trash((), subtree=True) == []
    engine.close()


def test_recall_over_all_looks_at_what_is_shown_alone(store: Path) -> None:
    engine = engine_on(store, ANA, TEAM)
    found = engine.recall("Ben drinks tea.", (), subtree=True, limit=10)
    assert {match.record.namespace for match in found} == {ANA, ANA_WORK, TEAM}
    assert engine.get(BEN, "anything") is None
    engine.close()


def test_the_stores_own_search_is_limited_alike(store: Path) -> None:
    engine = engine_on(store, ANA_WORK, TEAM)
    hits = engine.adapter.search((), "Ana lives in Lisbon.", 10, subtree=True)
    assert {hit.item.namespace for hit in hits} == {ANA_WORK, TEAM}
    assert hits[0].item.namespace == ANA_WORK
    engine.close()


def test_nothing_is_written_outside_of_what_is_shown(store: Path) -> None:
    engine = engine_on(store, ANA)
    with pytest.raises(PermissionDeniedError, match="limited to memories/ana, so nothing may be written"):
        engine.remember("Ben moved.", BEN, extract=False)
    engine.remember("Ana has a cat.", ANA, extract=False)
    assert engine.counts() == {ANA: 2, ANA_WORK: 1}
    engine.close()


def test_a_change_of_what_is_shown_is_noticed_and_one_beside_it_does_no_harm(store: Path) -> None:
    engine, other = engine_on(store, ANA, TEAM), engine_on(store)
    assert len(engine.index((), subtree=True)) == 3
    other.remember("Ana has a cat.", ANA, extract=False)
    other.remember("Ben has a dog.", BEN, extract=False)
    assert len(engine.index((), subtree=True)) == 4
    engine.close()
    other.close()


def test_of_prefixes_the_outermost_count(store: Path) -> None:
    engine = engine_on(store, ANA_WORK, ANA, ANA)
    assert isinstance(engine.adapter, View)
    assert engine.adapter.prefixes == (ANA,)
    assert engine.counts() == {ANA: 1, ANA_WORK: 1}
    engine.close()


def test_labels_match_whole(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite"
    engine = engine_on(path)
    for label in ("al", "alice", "AL", "al%", "a_"):
        engine.remember(f"I am {label}.", ("m", label), extract=False)
    engine.close()
    shown = engine_on(path, ("m", "al"), ("m", "a_"))
    assert shown.counts() == {("m", "a_"): 1, ("m", "al"): 1}
    shown.close()


def test_every_call_is_told_with_its_time_and_failure(store: Path) -> None:
    calls: list[tuple[str, float, Exception | None]] = []
    connection = connection_to(str(store), embedder="hashing")
    opened = open_store(connection)
    view = View(adapt(opened.store), watcher=lambda *call: calls.append(call))
    view.counts()
    opened.close()
    with pytest.raises(StoreError):
        view.counts()
    assert next((name, type(error)) for name, _, error in calls) == ("counts", type(None))
    assert calls[1][0] == "counts"
    assert isinstance(calls[1][2], StoreError)
    assert all(seconds >= 0 for _, seconds, _ in calls)


def test_a_group_that_reaches_outside_of_what_is_shown_is_undone_whole_or_not_at_all(store: Path) -> None:
    whole, limited = engine_on(store), engine_on(store, ANA)
    moved = whole.curation.move([(ANA, whole.list(ANA)[0].key)], TEAM, actor="op")[0].group
    whole.remember("Ben has a cat.", BEN, extract=False)
    bulk = whole.curation.forget([(name, whole.list(name)[0].key) for name in (ANA_WORK, BEN)], actor="op").group
    counts = whole.counts()
    for group, change in ((moved, limited.curation.changes_of(moved)[0].id), (bulk, None)):
        for asked in filter(None, (group, change)):
            with pytest.raises(PermissionDeniedError, match=r"show 1 change of the group .* not undone in part"):
                limited.undo(asked)
    plan = limited.curation.plan_undo(by="op")
    assert [(step.ref[0], step.obstacle) for step in plan.memories] == [
        (ANA_WORK, "This connection does not show 1 change of the same group."),
        (ANA, "This connection does not show 1 change of the same group."),
    ]
    assert whole.counts() == counts
    whole.undo(bulk)
    whole.undo(moved)
    assert whole.counts() == {ANA: 1, ANA_WORK: 1, BEN: 1, TEAM: 1}
    limited.close()
    whole.close()


def test_what_was_changed_together_within_what_is_shown_is_undone(store: Path) -> None:
    limited = engine_on(store, ANA)
    group = limited.curation.move([(ANA, limited.list(ANA)[0].key)], ANA_WORK, actor="op")[0].group
    assert len(limited.curation.plan_undo(by="op").open) == 2
    limited.undo(group)
    assert limited.counts() == {ANA: 1, ANA_WORK: 1}
    limited.close()


def test_the_history_of_the_whole_store_is_not_trimmed_through_a_part_of_it(store: Path) -> None:
    whole, limited = engine_on(store), engine_on(store, ANA)
    changes = len(whole.history())
    for confirm in (None, changes, len(limited.history())):
        with pytest.raises(PermissionDeniedError, match="limited to memories/ana"):
            limited.curation.trim_history(timedelta(0), confirm=confirm)
    assert len(whole.history()) == changes
    assert whole.as_of(BEN, whole.history()[0].at - timedelta(days=1)) == []
    limited.close()
    whole.close()
