from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_fixture import ANA, BEN, DIMENSIONS, KINDS, engine_over, facts, memory_store, opened
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import examples
from langgraph.store.memory import InMemoryStore
from mnemoscope.index import IndexBudget, IndexCache, IndexMemory, ScopeIndex
from mnemoscope.stores import StoreAdapter, Write, adapt

ONE = np.eye(1, DIMENSIONS, dtype=np.float32)[0]


def write(key: str, content: str = "x", vector: np.ndarray | None = ONE, namespace: tuple[str, ...] = ANA) -> Write:
    return Write(namespace, key, {"content": content}, {} if vector is None else {"content": vector})


def picture(index: ScopeIndex) -> dict[Any, Any]:
    rows: dict[Any, list[Any]] = {(each.namespace, each.key): [] for each in index.records}
    for owner, row in zip(index.owner.tolist(), index.matrix, strict=True):
        record = index.records[owner]
        rows[record.namespace, record.key].append(np.round(row, 5).tolist())
    return {ref: (index.records[at].content, rows[ref]) for ref, at in index.position.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_an_index_follows_writes_of_this_engine_and_of_others(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        one, other = engine_over(store), engine_over(store)
        one.remember_facts(facts("likes tea", "lives in Paris", "has a dog"), ANA)
        assert len(other.index(ANA)) == 3
        key = other.remember_facts(facts("plays chess"), ANA)[0].key
        assert len(one.index(ANA)) == 4
        one.forget(ANA, key=key)
        assert key not in {record.key for record in other.index(ANA).records}


def test_an_index_follows_plain_writes_of_an_agent() -> None:
    store = memory_store()
    engine = engine_over(store)
    for number in range(5):
        store.put(ANA, str(number), {"content": f"fact {number}"})
    assert len(engine.index(ANA)) == 5
    store.put(ANA, "0", {"content": "changed"})
    store.delete(ANA, "1")
    found = {record.key: record.content for record in engine.index(ANA).records}
    assert found == {"0": "changed", "2": "fact 2", "3": "fact 3", "4": "fact 4"}


def test_an_unchanged_store_gives_the_very_same_index() -> None:
    engine = engine_over()
    engine.remember_facts(facts("likes tea"), ANA)
    assert engine.index(ANA) is engine.index(ANA)


def test_a_write_elsewhere_keeps_records_and_columns() -> None:
    engine = engine_over()
    engine.remember_facts(facts("likes tea"), ANA)
    before = engine.index(ANA)
    engine.remember_facts(facts("likes coffee"), BEN)
    after = engine.index(ANA)
    assert after.records is before.records
    assert after.changed is before.changed


ops = st.tuples(
    st.sampled_from(["put", "delete", "none"]), st.integers(0, 6), st.integers(0, 3), st.sampled_from([ANA, BEN])
)


@examples(60)
@given(st.lists(st.lists(ops, max_size=4), max_size=6), st.booleans())
def test_a_refreshed_index_equals_one_built_anew(rounds: list[list[Any]], subtree: bool) -> None:
    adapter = adapt(memory_store())
    scope = ANA[:1] if subtree else ANA
    cache = IndexCache(adapter)
    for number in range(7):
        adapter.write([write(str(number), f"start {number}", np.eye(DIMENSIONS, dtype=np.float32)[number])])
    for each in rounds:
        cache.get(scope, subtree=subtree)
        for name, key, value, namespace in each:
            vector = None if name == "none" else np.eye(DIMENSIONS, dtype=np.float32)[value]
            deleted = Write(namespace, str(key), None)
            adapter.write([deleted if name == "delete" else write(str(key), f"text {value}", vector, namespace)])
        refreshed = cache.get(scope, subtree=subtree)
        assert picture(refreshed) == picture(IndexCache(adapter).get(scope, subtree=subtree))
        assert np.all(np.diff(refreshed.owner) >= 0)


def test_vectors_of_another_dimension_are_counted_through_partial_refreshes() -> None:
    store = memory_store()
    adapter = adapt(store)
    cache = IndexCache(adapter)
    adapter.write([write(str(number)) for number in range(10)])
    odd = store._vectors[ANA]
    for key in ("3", "4"):
        store.put(ANA, key, {"content": "odd"})
        odd[key] = {"content": [1.0, 2.0]}
    assert cache.get(ANA).misfits == {(ANA, "3"): 1, (ANA, "4"): 1}
    adapter.write([write("3")])
    assert cache.get(ANA).misfits == {(ANA, "4"): 1}
    adapter.write([Write(ANA, "4", None)])
    index = cache.get(ANA)
    assert index.misfits == {}
    assert index.vectored.all()


def test_a_memory_with_several_vectors_counts_by_its_nearest() -> None:
    adapter = adapt(memory_store())
    basis = np.eye(DIMENSIONS, dtype=np.float32)
    adapter.write(
        [
            Write(ANA, "a", {"content": "x", "title": "y"}, {"content": basis[0], "title": basis[1]}),
            Write(ANA, "b", {"content": "x"}, {}),
            Write(ANA, "c", {"content": "x"}, {"content": 3 * (basis[0] + basis[1])}),
        ]
    )
    index = IndexCache(adapter).get(ANA)
    found = index.cosine(basis[1])
    assert found[0] == pytest.approx(1.0)
    assert np.isnan(found[1])
    assert found[2] == pytest.approx(np.sqrt(0.5))
    assert index.vectored.tolist() == [True, False, True]
    assert index.nbytes > index.matrix.nbytes


def test_an_empty_scope_has_an_empty_index() -> None:
    index = IndexCache(adapt(memory_store())).get(ANA)
    assert len(index) == 0
    assert index.cosines(np.zeros((2, DIMENSIONS), np.float32)).shape == (2, 0)


def test_what_strangers_wrote_is_indexed_and_marked() -> None:
    store: InMemoryStore = memory_store()
    store.put(ANA, "nested", {"kind": "Memory", "content": {"content": "from LangMem"}})
    store.put(ANA, "raw", {"anything": 1})
    store.put(ANA, "nan", {"content": "x", "importance": float("nan")})
    index = IndexCache(adapt(store)).get(ANA)
    assert {record.key: bool(record.problems) for record in index.records} == {
        "nested": False,
        "raw": True,
        "nan": True,
    }
    assert index.unreadable.tolist() == [record.key == "raw" for record in index.records]


def test_the_cache_keeps_within_its_limit_and_the_last_index_anyway() -> None:
    adapter = adapt(memory_store())
    adapter.write([write("a"), write("b", namespace=BEN)])
    cache = IndexCache(adapter, budget=IndexBudget(1))
    first = cache.get(ANA)
    cache.get(BEN)
    assert cache.get(ANA) is not first
    assert cache.nbytes < 10_000
    cache.drop()
    assert cache.nbytes == 0


def filled(namespace: tuple[str, ...]) -> StoreAdapter:
    adapter = adapt(memory_store())
    adapter.write([write(str(number), namespace=namespace) for number in range(10)])
    return adapter


def test_the_engines_of_a_process_share_one_budget() -> None:
    size = IndexCache(filled(ANA)).get(ANA).nbytes
    budget: IndexBudget[ScopeIndex] = IndexBudget(int(2.5 * size))
    caches = [IndexCache(filled(ANA), budget=budget) for _ in range(3)]
    first, second = caches[0].get(ANA), caches[1].get(ANA)
    assert caches[0].get(ANA) is first
    caches[2].get(ANA)
    assert [cache.nbytes for cache in caches] == [size, 0, size]
    assert caches[0].memory == IndexMemory(used=2 * size, limit=budget.limit_bytes, own=size, largest=size, rebuilt=0)
    assert caches[1].get(ANA) is not second
    assert caches[1].memory.rebuilt == 1
    assert caches[1].memory.is_short
    assert caches[0].nbytes == 0


def test_an_index_larger_than_the_budget_is_kept_and_told() -> None:
    cache = IndexCache(filled(ANA), budget=IndexBudget(1))
    assert not cache.memory.is_short
    index = cache.get(ANA)
    assert cache.get(ANA) is index
    assert cache.memory.is_short
    assert cache.memory.largest == index.nbytes


def test_a_lower_limit_takes_effect_at_once() -> None:
    budget: IndexBudget[ScopeIndex] = IndexBudget()
    caches = [IndexCache(filled(ANA), budget=budget) for _ in range(3)]
    size = max(cache.get(ANA).nbytes for cache in caches)
    budget.limit_bytes = size
    assert [cache.nbytes for cache in caches] == [0, 0, size]


def test_what_an_engine_kept_goes_with_it() -> None:
    budget: IndexBudget[ScopeIndex] = IndexBudget()
    stays, goes = (IndexCache(filled(ANA), budget=budget) for _ in range(2))
    size = stays.get(ANA).nbytes
    goes.get(ANA)
    assert stays.memory.used == 2 * size
    del goes
    gc.collect()
    assert stays.memory.used == size
    engine = engine_over(filled(ANA))
    engine.index(ANA)
    assert engine.context.indexes.memory.own == size
    engine.close()
    assert engine.context.indexes.memory.own == 0


def test_many_threads_and_engines_stay_within_one_budget() -> None:
    size = IndexCache(filled(ANA)).get(ANA).nbytes
    budget: IndexBudget[ScopeIndex] = IndexBudget(3 * size)
    caches = [IndexCache(filled(ANA), budget=budget) for _ in range(6)]

    def reading(start: int) -> None:
        for number in range(60):
            assert len(caches[(start + number) % 6].get(ANA)) == 10
            assert caches[0].memory.used <= 3 * size

    with ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(reading, start) for start in range(6)]:
            done.result()


def test_readers_in_many_threads_see_whole_indexes_while_others_write() -> None:
    adapter = adapt(memory_store())
    cache = IndexCache(adapter)

    def reading() -> None:
        for _ in range(50):
            index = cache.get(ANA)
            assert len(index.cosine(ONE)) == len(index) == len(index.changed)

    def writing() -> None:
        for number in range(50):
            adapter.write([write(str(number % 7), f"text {number}")])

    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(work) for work in (reading, reading, writing)]:
            done.result()
