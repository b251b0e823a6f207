from __future__ import annotations

import gc
import logging
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from engine_fixture import ANA, BEN, KINDS, START, Ticking, dump, engine_over, facts, memory_store, opened
from mnemoscope import MemoryRecord, PermissionDeniedError, StoreError
from mnemoscope.journal import RECENT, Access, AccessLog
from mnemoscope.stores import StoreAdapter, adapt


class Wrapped:
    """An adapter whose writes can be made to fail."""

    def __init__(self, inner: StoreAdapter) -> None:
        self._inner = inner
        self.fails: Exception | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def write(self, *arguments: Any) -> None:
        if self.fails:
            raise self.fails
        self._inner.write(*arguments)


@pytest.mark.parametrize("kind", KINDS)
def test_recalls_are_counted_beside_the_memory_and_never_inside(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        engine = engine_over(store)
        engine.remember_facts(facts("likes green tea", "lives in Paris"), ANA)
        before = dump(engine)
        for query in ("green tea", "tea"):
            engine.recall(query, ANA, limit=1)
        waiting = engine.usage.recalls(ANA)
        engine.flush()
        [access] = engine.usage.recalls(ANA).values()
        assert access == waiting[next(iter(waiting))]
        assert access.count == 2
        assert [(each.query, each.rank) for each in access.recent] == [("tea", 1), ("green tea", 1)]
        assert dump(engine) == before
        assert engine.usage.recalls(BEN) == {}
        engine.close()


def test_a_recall_that_is_not_to_be_noted_is_not() -> None:
    engine = engine_over()
    engine.remember_facts(facts("likes tea"), ANA)
    engine.recall("tea", ANA, touch=False)
    assert engine.usage.recalls(ANA) == {}


def test_only_the_last_recalls_are_kept_and_all_are_counted() -> None:
    engine = engine_over()
    engine.remember_facts(facts("likes tea"), ANA)
    for _ in range(RECENT + 5):
        engine.recall("tea", ANA)
        engine.flush()
    [access] = engine.usage.recalls(ANA).values()
    assert (access.count, len(access.recent)) == (RECENT + 5, RECENT)
    assert access.last == access.recent[0].at


def test_two_engines_on_one_store_add_up() -> None:
    store = memory_store()
    one, other = engine_over(store), engine_over(store)
    one.remember_facts(facts("likes tea"), ANA)
    threads = [threading.Thread(target=recall_and_flush, args=(engine,)) for engine in (one, other) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    one.flush()
    other.flush()
    [access] = one.usage.recalls(ANA).values()
    assert access.count == 10


def recall_and_flush(engine: Any) -> None:
    engine.recall("tea", ANA)
    engine.flush()


def test_nothing_is_written_of_a_memory_that_has_gone() -> None:
    engine = engine_over()
    key = engine.remember_facts(facts("likes tea"), ANA)[0].key
    engine.recall("tea", ANA)
    engine.forget(ANA, key=key)
    engine.flush()
    assert engine.usage.recalls(ANA) == {}
    assert engine.get(ANA, key) is None


def test_notes_wait_where_the_store_fails(caplog: pytest.LogCaptureFixture) -> None:
    adapter = Wrapped(adapt(memory_store()))
    engine = engine_over(adapter)  # type: ignore[arg-type]
    engine.remember_facts(facts("likes tea"), ANA)
    engine.recall("tea", ANA)
    adapter.fails = StoreError("the disk is full")
    with pytest.raises(StoreError, match="full"):
        engine.flush()
    with caplog.at_level(logging.WARNING):
        engine.context.access._in_time()
    assert "tried again" in caplog.text
    adapter.fails = None
    engine.flush()
    assert [access.count for access in engine.usage.recalls(ANA).values()] == [1]


def test_a_read_only_store_is_read_without_a_fault() -> None:
    adapter = Wrapped(adapt(memory_store()))
    engine = engine_over(adapter)  # type: ignore[arg-type]
    engine.remember_facts(facts("likes tea"), ANA)
    adapter.fails = PermissionDeniedError("read-only")
    assert len(engine.recall("tea", ANA)) == 1
    engine.context.access._in_time()
    engine.close()
    assert engine.usage.recalls(ANA) == {}


def test_the_last_notes_are_written_when_the_log_ends_and_a_failure_then_is_only_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    adapter = Wrapped(adapt(memory_store()))
    engine = engine_over(adapter)  # type: ignore[arg-type]
    record = engine.remember_facts(facts("likes tea"), ANA)[0]
    ended(adapter, record)
    assert [access.count for access in engine.usage.recalls(ANA).values()] == [1]
    adapter.fails = StoreError("closed")
    with caplog.at_level(logging.WARNING):
        ended(adapter, record)
    assert "lost" in caplog.text


def ended(adapter: Any, record: MemoryRecord) -> None:
    log = AccessLog(adapter)
    log.note([record], "tea", START)
    timer = log._timer
    assert timer is not None
    timer.cancel()
    # Until its thread has ended, the timer holds the log.
    timer.join()
    log._timer = None
    del log, timer
    gc.collect()


def test_a_query_that_cannot_be_stored_is_noted_as_far_as_it_can() -> None:
    engine = engine_over()
    engine.remember_facts(facts("likes tea"), ANA)
    engine.recall("tea \x00 \ud800" + "x" * 2_000, ANA)
    engine.flush()
    [access] = engine.usage.recalls(ANA).values()
    assert access.recent[0].query.startswith("tea \ufffd \ufffd")
    assert len(access.recent[0].query) == 500


def test_a_memory_never_recalled_has_no_last_time() -> None:
    assert Access().last is None


def test_what_was_not_recalled_for_long_can_be_forgotten() -> None:
    clock = Ticking()
    engine = engine_over(clock=clock)
    engine.remember_facts(facts("likes green tea", "lives in Paris"), ANA)
    clock.now += timedelta(days=100)
    engine.recall("green tea", ANA, limit=1)
    assert engine.forget(ANA, not_recalled_since=timedelta(days=30)) == 1
    assert [record.content for record in engine.list(ANA)] == ["likes green tea"]
