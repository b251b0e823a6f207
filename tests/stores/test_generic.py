"""Stores that cannot do a part of the official interface: what works goes on, and the rest is said in words."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from engine_fixture import ANA, engine_over
from langgraph.store.base import BaseStore, ListNamespacesOp, Op, PutOp, Result, SearchOp
from mnemoscope import StoreError
from mnemoscope.connections import Connection
from mnemoscope.health import check_phantoms, check_up
from mnemoscope.stores import Write, adapt
from stores_fixture import async_sqlite, memory_store

TEXT = "Ana lives in Lisbon."


class Limited(BaseStore):
    """An in-memory store without what `refuses` says."""

    def __init__(self, refuses: Callable[[Op], bool] = lambda _op: False, said: str = "") -> None:
        self.inner = memory_store()
        self.refuses = refuses
        self.said = said

    @property
    def embeddings(self) -> Any:
        return self.inner.embeddings

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        asked = list(ops)
        if any(map(self.refuses, asked)):
            raise NotImplementedError(self.said)
        return self.inner.batch(asked)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await self.inner.abatch(ops)


class SyncAlone(Limited):
    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        raise NotImplementedError


def filters(op: Op) -> bool:
    return isinstance(op, SearchOp) and op.filter is not None


def means(op: Op) -> bool:
    return isinstance(op, SearchOp) and op.query is not None


def lists(op: Op) -> bool:
    return isinstance(op, SearchOp) and op.query is None


def limited() -> BaseStore:
    """What a connection builds: a store that cannot list its namespaces."""
    return Limited(lambda op: isinstance(op, ListNamespacesOp))


@pytest.mark.parametrize("store", [SyncAlone(), Limited(filters), Limited(lambda op: isinstance(op, ListNamespacesOp))])
def test_what_is_not_needed_is_not_missed(store: BaseStore) -> None:
    engine = engine_over(store)
    engine.remember(TEXT, ANA, extract=False)
    assert engine.counts() == {ANA: 1}
    assert [match.record.content for match in engine.recall("Lisbon", ANA)] == [TEXT]
    assert [match.record.content for match in asyncio.run(engine.arecall("Lisbon", ANA))] == [TEXT]
    key = engine.list(ANA)[0].key
    engine.undo(engine.forget(ANA, key=key).group or "")
    assert engine.counts() == {ANA: 1}


@pytest.mark.parametrize(
    ("refuses", "asks", "cannot"),
    [
        (lambda _op: True, lambda adapter: adapter.get([(ANA, "k")]), "cannot read items by their keys"),
        (lists, lambda adapter: adapter.load(ANA), "cannot list the items of a namespace"),
        (lists, lambda adapter: adapter.counts(), "cannot list the items of a namespace"),
        (means, lambda adapter: adapter.search(ANA, "tea", 5), "cannot search by meaning"),
        (
            lambda op: isinstance(op, PutOp),
            lambda adapter: adapter.write([Write(ANA, "k", {"content": "x"})]),
            "cannot write or delete items",
        ),
    ],
)
def test_what_a_store_cannot_do_is_said_and_is_no_empty_answer(
    refuses: Callable[[Op], bool], asks: Callable[[Any], object], cannot: str
) -> None:
    with pytest.raises(StoreError, match=f"The store Limited {cannot}") as failure:
        asks(adapt(Limited(refuses, "no such thing here")))
    assert "no such thing here" in str(failure.value)


def test_a_store_of_asynchronous_methods_alone_is_told_which_one_is_missing() -> None:
    engine = engine_over(Limited(lambda _op: True))
    for fails in (engine.counts, lambda: asyncio.run(engine.arecall("tea", ANA))):
        with pytest.raises(StoreError, match=r"its batch\(\) is not implemented.*abatch\(\) alone is not enough"):
            fails()


def test_an_asynchronous_store_asked_on_its_own_loop_is_told_what_to_call(tmp_path: Path) -> None:
    async def ask() -> list[str]:
        async with async_sqlite(tmp_path / "memories.sqlite") as store:
            engine = engine_over(store)
            await engine.aremember(TEXT, ANA, extract=False)
            with pytest.raises(StoreError, match=r"own event loop.*asynchronous methods, such as arecall\(\)"):
                engine.recall("Lisbon", ANA)
            found = await engine.arecall("Lisbon", ANA)
            await asyncio.to_thread(engine.close)
        return [match.record.content for match in found]

    assert asyncio.run(ask()) == [TEXT]


def test_health_and_the_check_up_go_on_where_namespaces_cannot_be_listed() -> None:
    engine = engine_over(limited())
    engine.remember(TEXT, ANA, extract=False)
    found = check_phantoms(engine)
    assert (found.state, found.report) == ("skipped", "the store cannot list its namespaces")
    connection = Connection(name="own", url="python:tests.stores.test_generic:limited")
    checks = {check.name: check for check in check_up(connection, {})}
    assert checks["Reachable"].state == "good"
    assert checks["Counts"].state == "good"
