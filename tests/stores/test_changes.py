"""What an adapter itself wrote does not make it look through everything; what others wrote is still noticed."""

from __future__ import annotations

import gc
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from engine_fixture import engine_over, facts
from mnemoscope import ConflictError
from mnemoscope.index import IndexCache, ScopeIndex, without_collecting
from mnemoscope.stores import Guard, TracksChanges, View, Write
from mnemoscope.stores.sqlite import WriteLog
from mnemoscope.stores.sqlite import write_log as written
from stores_fixture import ANA, BACKENDS, Backend, contract_store, put

BEN = ("memories", "ben")
ALL = ("memories",)


@pytest.fixture(params=["memory", "sqlite"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    with BACKENDS[request.param](tmp_path) as opened:
        yield opened


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Backend]:
    with BACKENDS["sqlite"](tmp_path) as opened:
        yield opened


def watched(backend: Backend) -> tuple[View, list[str]]:
    calls: list[str] = []
    return View(backend.adapter, watcher=lambda name, *_: calls.append(name)), calls


def test_the_token_of_a_namespace_stays_when_this_adapter_writes_elsewhere(backend: Backend) -> None:
    backend.adapter.write([put("k", "green tea")])
    before, whole = backend.adapter.token(ANA), backend.adapter.token(ALL, subtree=True)
    backend.adapter.write([put("k", "black coffee", BEN)])
    assert backend.adapter.token(ANA) == before
    assert backend.adapter.token(ALL, subtree=True) != whole


def test_our_own_books_do_not_change_the_token_of_the_whole_store(backend: Backend) -> None:
    backend.adapter.write([put("k", "green tea")])
    before = backend.adapter.token((), subtree=True)
    backend.adapter.write([Write(("__mnemoscope__", "access", *ANA), "k", {"count": 1})])
    assert backend.adapter.token((), subtree=True) == before


def test_what_this_adapter_wrote_is_named(backend: Backend) -> None:
    adapter = backend.adapter
    assert isinstance(adapter, TracksChanges)
    adapter.write([put(key, f"fact {key}") for key in "abc"])
    since, all_since = adapter.token(ANA), adapter.token(ALL, subtree=True)
    assert adapter.changed(ANA, since) == []
    adapter.write([put("a", "other"), Write(ANA, "b", None), put("k", "black coffee", BEN)])
    assert sorted(adapter.changed(ANA, since) or []) == [(ANA, "a"), (ANA, "b")]
    assert sorted(adapter.changed(ALL, all_since, subtree=True) or []) == [(ANA, "a"), (ANA, "b"), (BEN, "k")]


def by_plain_put(backend: Backend) -> None:
    backend.stock.put(ANA, "k", {"content": "black coffee"})


def by_plain_delete(backend: Backend) -> None:
    backend.stock.delete(ANA, "k")


def by_another_process(backend: Backend) -> None:
    assert backend.other is not None
    backend.other().put(ANA, "k", {"content": "black coffee"})


@pytest.mark.parametrize("change", [by_plain_put, by_plain_delete, by_another_process])
def test_what_others_wrote_is_noticed_between_our_own_writes(file: Backend, change: Callable[[Backend], None]) -> None:
    file.adapter.write([put("k", "green tea"), put("x", "a dog", BEN)])
    cache = IndexCache(file.adapter)
    cache.get(ANA)
    file.adapter.write([put("x", "a cat", BEN)])
    before = cache.get(ANA)
    file.adapter.write([put("x", "a bird", BEN)])
    change(file)
    file.adapter.write([put("x", "a fish", BEN)])
    assert [each.content for each in before.records] == ["green tea"]
    expected = [] if change is by_plain_delete else ["black coffee"]
    assert [each.content for each in cache.get(ANA).records] == expected


def test_a_write_elsewhere_costs_one_look_at_the_token(backend: Backend) -> None:
    view, calls = watched(backend)
    view.write([put("k", "green tea")])
    cache = IndexCache(view)
    before = cache.get(ANA)
    view.write([put("k", "black coffee", BEN)])
    calls.clear()
    assert cache.get(ANA) is before
    assert calls == ["token"]


def test_a_write_here_loads_what_was_written_alone(backend: Backend) -> None:
    view, calls = watched(backend)
    view.write([put(key, f"fact {key}") for key in "abcde"])
    cache = IndexCache(view)
    before = cache.get(ANA)
    assert before.lexical.scores("d").any()
    view.write([put("d", "green tea"), Write(ANA, "e", None)])
    calls.clear()
    after = cache.get(ANA)
    assert calls == ["token", "changed", "load"]
    assert sorted(each.content for each in after.records) == ["fact a", "fact b", "fact c", "green tea"]
    assert [after.records[at].key for at in after.lexical.scores("tea").nonzero()[0]] == ["d"]


def test_access_notes_do_not_touch_the_index(file: Backend) -> None:
    view, calls = watched(file)
    engine = engine_over(view)
    engine.remember_facts(facts("likes tea"), ANA)
    before = engine.index(ANA)
    engine.recall("tea", ANA)
    engine.flush()
    calls.clear()
    assert engine.index(ANA) is before
    assert calls == ["token"]


def test_a_write_that_failed_leaves_the_index_right(backend: Backend) -> None:
    backend.adapter.write([put("k", "green tea")])
    cache = IndexCache(backend.adapter)
    cache.get(ANA)
    with pytest.raises(ConflictError):
        backend.adapter.write([put("k", "black coffee")], [Guard(ANA, "k", None)])
    assert [each.content for each in cache.get(ANA).records] == ["green tea"]


def test_more_writes_than_are_noted_are_found_by_their_markers(file: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written, "_PLACES_KEPT", 3)
    adapter: Any = type(file.adapter)(file.stock)
    adapter.write([put(key, f"fact {key}") for key in "abcdefgh"])
    cache = IndexCache(adapter)
    since = cache.get(ANA).token
    for key in "aceg":
        adapter.write([put(key, f"new {key}")])
    assert adapter.changed(ANA, since) is None
    assert sum(each.content.startswith("new") for each in cache.get(ANA).records) == 4


def test_a_log_of_many_namespaces_forgets_them_without_forgetting_a_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written, "_NAMESPACES_KEPT", 2)
    log = WriteLog()
    tokens = []
    for label in "abcd":
        log.note([((label,), "k")])
        tokens.append(log.latest(("a",), subtree=False))
    log.note([(("a",), "k")])
    assert log.latest(("a",), subtree=False) > tokens[-1]
    assert log.since(tokens[-1], ("a",), subtree=False) == [(("a",), "k")]


def test_the_collector_runs_again_after_the_last_pause() -> None:
    with without_collecting():
        with without_collecting():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with without_collecting(), without_collecting():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


# What other processes wrote, in whatever way


@pytest.fixture(params=["sqlite", "postgres"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Backend, Callable[..., None]]]:
    """A store of seven memories, and a function that runs SQL on its data as another process would."""
    with BACKENDS[request.param](tmp_path) as opened:
        opened.adapter.write([put(str(number), f"fact {number}") for number in range(7)])
        opened.adapter.write([put("x", "of Ben", BEN)])

        def execute(*statements: str) -> None:
            connection = (
                sqlite3.connect(tmp_path / "memories.sqlite", isolation_level=None)
                if request.param == "sqlite"
                else psycopg.connect(contract_store().conn.conninfo, autocommit=True)
            )
            with closing(connection):
                for statement in statements:
                    connection.execute(statement)  # type: ignore[arg-type]

        yield opened, execute


HERE = "prefix = 'memories.ana'"
BY_OTHERS = {
    "a value is changed behind the back of every time": [
        f"""UPDATE store SET value = '{{"content": "fact X"}}' WHERE {HERE} AND key = '3'"""
    ],
    "an item goes and another comes in the same second": [
        f"DELETE FROM store_vectors WHERE {HERE} AND key = '6'",
        f"DELETE FROM store WHERE {HERE} AND key = '6'",
        """INSERT INTO store (prefix, key, value) VALUES ('memories.ana', '9', '{"content": "fact 9"}')""",
    ],
    "an item is rewritten in place of itself": [
        f"DELETE FROM store_vectors WHERE {HERE} AND key = '6'",
        f"DELETE FROM store WHERE {HERE} AND key = '6'",
        """INSERT INTO store (prefix, key, value) VALUES ('memories.ana', '6', '{"content": "fact Y"}')""",
    ],
    "an item moves to another namespace": [
        f"DELETE FROM store_vectors WHERE {HERE} AND key = '2'",
        f"UPDATE store SET prefix = 'memories.ben' WHERE {HERE} AND key = '2'",
    ],
    "a vector alone is deleted": [f"DELETE FROM store_vectors WHERE {HERE} AND key = '1'"],
    "everything is deleted": ["DELETE FROM store_vectors", "DELETE FROM store"],
    "nothing changes here": ["""UPDATE store SET value = '{"content": "x"}' WHERE prefix = 'memories.ben'"""],
}


@pytest.mark.parametrize("statements", BY_OTHERS.values(), ids=BY_OTHERS)
@pytest.mark.parametrize(("scope", "subtree"), [(ANA, False), (ALL, True), ((), True)])
def test_an_index_follows_what_others_do_in_whatever_way(
    shared: tuple[Backend, Callable[..., None]], statements: list[str], scope: tuple[str, ...], subtree: bool
) -> None:
    backend, execute = shared
    cache = IndexCache(backend.adapter)
    cache.get(scope, subtree=subtree)
    execute(*statements)
    assert described(cache.get(scope, subtree=subtree)) == described(
        IndexCache(backend.adapter).get(scope, subtree=subtree)
    )
    # And once more: what was taken for known is known by now.
    execute(f"""UPDATE store SET value = '{{"content": "again"}}' WHERE {HERE}""")
    assert described(cache.get(scope, subtree=subtree)) == described(
        IndexCache(backend.adapter).get(scope, subtree=subtree)
    )


def described(index: ScopeIndex) -> dict[Any, Any]:
    vectors: dict[Any, Any] = {ref: [] for ref in index.position}
    refs = list(index.position)
    for owner, row in zip(index.owner.tolist(), index.matrix, strict=True):
        vectors[refs[owner]].append(np.round(row, 5).tolist())
    return {ref: (index.records[at].content, vectors[ref]) for ref, at in index.position.items()}


def test_what_others_wrote_is_loaded_alone(shared: tuple[Backend, Callable[..., None]]) -> None:
    backend, execute = shared
    view, calls = watched(backend)
    cache = IndexCache(view)
    cache.get(ALL, subtree=True)
    execute(BY_OTHERS["a value is changed behind the back of every time"][0])
    calls.clear()
    cache.get(ALL, subtree=True)
    assert calls == ["token", "changed", "load"]
