from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore
from mnemoscope import MemoryEngine, RuleConsolidator, RuleExtractor
from mnemoscope.connections import connection_to, open_connection
from mnemoscope.core import is_reserved
from mnemoscope.embedding import HashingEmbeddings
from mnemoscope.health import Check, Kinds, check_leaks, health_checks, kinds_of
from mnemoscope.health.lookalikes import lookalikes
from mnemoscope.stores import Hit, adapt

ANA, BEN = ("memories", "ana"), ("memories", "ben")
NOW = datetime(2026, 5, 1, tzinfo=UTC)


def checked(engine: MemoryEngine, now: datetime = NOW) -> dict[str, Check]:
    return {check.name: check for check in health_checks(engine, now)}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[MemoryEngine]:
    engine = open_connection(connection_to(str(tmp_path / "m.sqlite"), embedder="hashing"))
    engine.remember("Ana lives in Lisbon.", ANA, extract=False)
    engine.remember("Ben drinks green tea.", BEN, extract=False)
    yield engine
    engine.close()


def execute(engine: MemoryEngine, statement: str, *parameters: object) -> None:
    file = engine.store.conn.execute("PRAGMA database_list").fetchone()[2]  # type: ignore[attr-defined]
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute(statement, parameters)


def test_a_store_in_order_has_no_finding(engine: MemoryEngine) -> None:
    checks = checked(engine, datetime.now(UTC))
    assert {check.state for check in checks.values()} == {"good"}, checks


def test_items_are_counted_by_who_wrote_them(engine: MemoryEngine) -> None:
    put = engine.store.put
    put(ANA, "tool", {"content": "A text alone"})
    put(ANA, "manager", {"kind": "Preference", "content": {"content": "Tea"}})
    put(ANA, "other", {"content": "A text", "colour": "red"})
    put(ANA, "none", {"colour": "red"}, index=False)
    found = kinds_of(engine.index((), subtree=True))
    assert found == Kinds(ours=2, langmem_tool=1, langmem_manager=1, other=1, unreadable=1)


def test_what_has_no_vector_is_found(engine: MemoryEngine) -> None:
    engine.store.put(ANA, "a", {"content": "A text"}, index=False)
    check = checked(engine)["Without a vector"]
    assert check.state == "warning"
    assert "1 memory: memories/ana · a" in check.report


def test_orphan_vectors_are_counted_and_the_statement_removes_them(engine: MemoryEngine) -> None:
    engine.store.put(ANA, "gone", {"content": "A text"})
    engine.store.delete(ANA, "gone")
    check = checked(engine)["Orphan vectors"]
    assert check.state == "warning"
    assert check.report.startswith("1 of the vectors belong to no item")
    execute(engine, check.command)
    after = checked(engine)
    assert after["Orphan vectors"].state == after["Without a vector"].state == "good"


def test_rows_past_their_time_to_live_are_counted(engine: MemoryEngine) -> None:
    engine.store.put(ANA, "a", {"content": "A text"})
    execute(engine, "UPDATE store SET expires_at = '2020-01-01 00:00:00' WHERE key = 'a'")
    assert checked(engine)["Past their time-to-live"].report.startswith("1 past it")


def test_expired_memories_that_are_still_there_are_found(engine: MemoryEngine) -> None:
    key = engine.list(ANA)[0].key
    engine.update(ANA, key, expires_at=NOW - timedelta(days=1))
    check = checked(engine)["Expired"]
    assert check.state == "warning"
    assert key in check.report


def test_quarantined_items_are_counted_by_reason(engine: MemoryEngine) -> None:
    engine.store.put(ANA, "a", {"content": 5, "importance": "high"}, index=False)
    engine.store.put(ANA, "b", {"content": 6}, index=False)
    report = checked(engine)["Quarantined"].report
    assert report.startswith("2 memories: 2 × there is no text under 'content'; 1 × importance is not a number")


def test_a_memory_dated_ahead_is_found(engine: MemoryEngine) -> None:
    ahead = checked(engine, datetime.now(UTC) - timedelta(days=2))["Dated ahead"]
    assert ahead.state == "warning"
    assert ahead.report.startswith("2 memories")


def test_vectors_of_another_text_are_found_by_embedding_again(engine: MemoryEngine) -> None:
    key = engine.list(ANA)[0].key
    engine.store.put(ANA, key, {"kind": "memory", "content": "Something else altogether"}, index=False)
    check = checked(engine)["Vectors by this embedder"]
    assert (check.state, check.report[:6]) == ("warning", "1 of 2")


def test_phantom_namespaces_are_named() -> None:
    engine = in_memory()
    engine.remember("Ana lives in Lisbon.", ANA, extract=False)
    engine.store.get(("ghost",), "nothing")
    check = checked(engine)["Phantom namespaces"]
    assert check.state == "warning"
    assert "such as ghost" in check.report


@pytest.mark.parametrize(
    ("labels", "groups"),
    [
        (["acme", "Acme", "acme-corp", "umbrella"], [["Acme", "acme", "acme-corp"]]),
        (["ana_lee", "ana-lee", "ANA LEE"], [["ANA LEE", "ana-lee", "ana_lee"]]),
        (["user", "user-1", "user-2"], []),
        (["al", "alice", "al%", "ana"], []),
        (["ｆｕｌｌ", "full"], [["full", "ｆｕｌｌ"]]),
        (["-", "_"], []),
    ],
)
def test_labels_that_look_alike_are_grouped(labels: list[str], groups: list[list[str]]) -> None:
    found = lookalikes([("memories", label) for label in labels])
    assert [[namespace[-1] for namespace in group] for group in found] == groups


def test_labels_of_different_parents_are_not_compared() -> None:
    assert lookalikes([("a", "acme"), ("b", "Acme")]) == []


# Leaks


def in_memory() -> MemoryEngine:
    index: Any = {"dims": 256, "embed": HashingEmbeddings(), "fields": ["content"]}
    return MemoryEngine(InMemoryStore(index=index), extractor=RuleExtractor(), consolidator=RuleConsolidator())


class Leaky:
    """An adapter over a store whose own search looks at the beginning of the labels' text."""

    def __init__(self, adapter: Any) -> None:
        self._adapter = adapter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._adapter, name)

    def search(self, namespace: tuple[str, ...], query: str, limit: int, *, subtree: bool = False) -> list[Hit]:
        everything = self._adapter.search((), query, limit, subtree=True)
        beginning = ".".join(namespace)
        return [hit for hit in everything if subtree or ".".join(hit.item.namespace).startswith(beginning)]


def test_a_search_that_brings_another_namespaces_memory_is_a_leak() -> None:
    engine = in_memory()
    engine.remember("Al drinks green tea.", ("m", "al"), extract=False)
    engine.remember("Alice lives in Lisbon.", ("m", "alice"), extract=False)
    assert check_leaks(engine).state == "good"
    leaky: Any = Leaky(adapt(engine.store))
    leaking = MemoryEngine(leaky, extractor=RuleExtractor(), consolidator=RuleConsolidator())
    check = check_leaks(leaking)
    assert check.state == "bad"
    assert "a search in m/al brings a memory of m/alice" in check.report


def test_private_memories_are_looked_for_and_do_not_leak() -> None:
    engine = in_memory()
    engine.remember("Ana has a secret.", ANA, extract=False, source="doctor", private=True)
    engine.remember("Ben drinks green tea.", BEN, extract=False)
    check = check_leaks(engine)
    assert check.state == "good"
    assert check.report.startswith("2 searches in 2 of 2 namespaces")


def test_the_leak_check_writes_nothing_and_notes_no_recall() -> None:
    engine = in_memory()
    engine.remember("Ana lives in Lisbon.", ANA, extract=False)
    engine.remember("Ben drinks green tea.", BEN, extract=False)
    before = {space for space in engine.store.list_namespaces() if is_reserved(space)}
    check_leaks(engine)
    engine.flush()
    assert {space for space in engine.store.list_namespaces() if is_reserved(space)} == before
    assert engine.usage.recalls(ANA) == {}
