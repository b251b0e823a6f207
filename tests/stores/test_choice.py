"""Every store gets the adapter that knows it best."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from langgraph.store.base import BaseStore, Op, Result
from langgraph.store.memory import InMemoryStore
from mnemoscope import StoreError
from mnemoscope.stores import GenericAdapter, MemoryAdapter, adapt
from mnemoscope.stores.sqlite import SqliteAdapter, open_sqlite
from stores_fixture import ANA, EMBEDDINGS, memory_store, put


class BatchedStore(BaseStore):
    """Shaped like the wrapper that a LangGraph server puts around its store."""

    def __init__(self, store: BaseStore) -> None:
        self._store = store

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return self._store.batch(ops)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await self._store.abatch(ops)


class QuietStore(InMemoryStore):
    """A subclass that changes nothing about reading and writing."""


class FailingStore(InMemoryStore):
    """A subclass with a `batch` of its own, which fails."""

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        raise ZeroDivisionError(f"no luck with {len(list(ops))}")


def test_official_stores_get_their_own_adapter(tmp_path: Path) -> None:
    store = open_sqlite(tmp_path / "memories.sqlite", embeddings=EMBEDDINGS)
    assert type(adapt(store)) is SqliteAdapter
    store.conn.close()
    assert type(adapt(memory_store())) is MemoryAdapter
    assert type(adapt(QuietStore())) is MemoryAdapter


def test_the_store_inside_a_servers_wrapper_is_taken_out() -> None:
    inner = memory_store()
    adapter = adapt(BatchedStore(BatchedStore(inner)))
    assert type(adapter) is MemoryAdapter
    assert adapter.store is inner


def test_a_store_with_a_batch_of_its_own_is_asked_through_it() -> None:
    adapter = adapt(FailingStore())
    assert type(adapter) is GenericAdapter
    with pytest.raises(StoreError, match="FailingStore failed: ZeroDivisionError: no luck with 1") as caught:
        adapter.counts()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_two_adapters_of_one_store_share_its_lock() -> None:
    store = memory_store()
    one, other = adapt(store), GenericAdapter(store)
    one.write([put("k", "tea")])
    assert other.counts() == {ANA: 1}
    assert one._lock is other._lock  # type: ignore[attr-defined]


def test_an_interrupted_write_to_memory_is_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = adapt(memory_store())
    adapter.write([put("a", "one"), put("b", "two")])
    before = adapter.load(ANA)
    apply = MemoryAdapter._apply

    def interrupted(self: MemoryAdapter, write: object) -> None:
        if write.key == "c":  # type: ignore[attr-defined]
            raise KeyboardInterrupt
        apply(self, write)  # type: ignore[arg-type]

    monkeypatch.setattr(MemoryAdapter, "_apply", interrupted)
    with pytest.raises(KeyboardInterrupt):
        adapter.write([put("a", "changed"), put("b", "two"), put("c", "new")])
    assert adapter.load(ANA).items == before.items
    assert adapter.load(ANA).markers == before.markers


def test_adapting_imports_no_database() -> None:
    script = (
        "import sys; from mnemoscope.stores import adapt; from langgraph.store.memory import InMemoryStore; "
        "adapt(InMemoryStore()); print([m for m in sys.modules if m in "
        "('sqlite_vec', 'psycopg', 'langgraph.store.sqlite', 'langgraph.store.postgres')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={"PYTHONPATH": "engine"}
    )
    assert done.stdout.strip() == "[]"
