"""A real LangGraph development server: refusals, faults, large values, and conversations remembered by its graphs."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_fixture import engine_over
from langgraph.store.base import GetOp, PutOp, SearchOp
from mnemoscope import InputError, MemoryEngine, StoreError, StoreUnavailableError
from mnemoscope.background import RemoteBackground
from mnemoscope.connections import Connection, open_connection
from mnemoscope.health import check_up
from mnemoscope.stores import ServerStore
from server_fixture import HEADERS, DevelopmentServer, command, empty, everything, server_url

pytestmark = pytest.mark.xdist_group("langgraph-server")

ANA, BEN = ("memories", "ana"), ("memories", "ben")
TEXT = "Ana lives in Lisbon."
PATIENCE_SECONDS = 30.0


@pytest.fixture
def store() -> Iterator[ServerStore]:
    """The shared server's store, emptied."""
    opened = ServerStore(server_url(), headers=HEADERS)
    empty(opened)
    yield opened
    opened.close()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[DevelopmentServer]:
    """A server for one test, that it may stop."""
    server = DevelopmentServer(command(), tmp_path / "server")
    yield server
    server.stop()


@pytest.fixture
def opened() -> Iterator[Callable[..., MemoryEngine]]:
    """Opens an engine on a server as a connection does, with a key."""
    engines: list[MemoryEngine] = []

    def open_it(url: str, key: str = HEADERS["x-api-key"]) -> MemoryEngine:
        engines.append(open_connection(connection_to(url), environment={"KEY": key}))
        return engines[-1]

    yield open_it
    for engine in engines:
        engine.close()


@pytest.fixture
def thread() -> str:
    """A conversation that no other test has."""
    return str(uuid.uuid4())


def connection_to(url: str) -> Connection:
    where = url.replace("http://", "langgraph://")
    return Connection(name="server", url=where, headers=(("x-api-key", "${KEY}"),))


def remote(graph: str, **headers: str) -> RemoteBackground:
    return RemoteBackground(server_url(), graph, headers={**HEADERS, **headers})


def said(*texts: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text, "id": f"turn-{text}"} for text in texts]


def memories(store: ServerStore, namespace: tuple[str, ...]) -> list[str]:
    found = store.search(namespace, limit=1_000)
    return sorted(item.value["content"] for item in found if item.namespace == namespace)


def remembered(store: ServerStore, namespace: tuple[str, ...], count: int) -> list[str]:
    """The memories there, once there are so many."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(memories(store, namespace)) < count and time.monotonic() < deadline:
        time.sleep(0.05)
    return memories(store, namespace)


# Its store


def test_a_wrong_key_is_refused_and_not_shown(store: ServerStore, opened: Callable[..., MemoryEngine]) -> None:
    store.put(ANA, "k", {"content": TEXT})
    with pytest.raises(StoreUnavailableError, match="refuses who asks") as refused:
        opened(server_url(), "another-key").counts()
    assert "another-key" not in str(refused.value)
    assert opened(server_url()).counts() == {ANA: 1}
    checks = {check.name: check for check in check_up(connection_to(server_url()), {"KEY": "another-key"})}
    assert checks["Reachable"].state == "bad"
    assert "refuses who asks" in checks["Reachable"].report


def test_a_server_that_goes_away_is_said_and_works_again_when_it_is_back(
    own: DevelopmentServer, opened: Callable[..., MemoryEngine]
) -> None:
    engine = opened(own.url)
    engine.remember(TEXT, ANA, extract=False)
    own.stop()
    for fails in (
        engine.counts,
        lambda: engine.recall("Lisbon", ANA),
        lambda: engine.remember("Ana sings.", ANA, extract=False),
    ):
        with pytest.raises(StoreUnavailableError, match="cannot be reached"):
            fails()
    with pytest.raises(StoreUnavailableError, match="cannot be reached"):
        asyncio.run(engine.store.aget(ANA, "k"))
    own.start()
    assert [match.record.content for match in engine.recall("Lisbon", ANA)] == [TEXT]
    assert engine.counts() == {ANA: 1}


def test_a_server_that_answers_nothing_is_not_waited_for_without_end(own: DevelopmentServer) -> None:
    with_patience = ServerStore(own.url, headers=HEADERS, timeout_seconds=0.5)
    with_patience.put(ANA, "k", {"content": TEXT})
    own.freeze()
    for asks in (lambda: with_patience.get(ANA, "k"), lambda: asyncio.run(with_patience.aget(ANA, "k"))):
        with pytest.raises(StoreUnavailableError, match=r"did not answer within 0\.5 s"):
            asks()
    with pytest.raises(StoreUnavailableError, match="may have been carried out all the same"):
        with_patience.put(ANA, "k", {"content": "other"})
    with_patience.close()


def test_ten_megabytes_are_stored_edited_and_undone(store: ServerStore, opened: Callable[..., MemoryEngine]) -> None:
    large = "word " * 2_000_000
    store.put(ANA, "large", {"content": large, "kind": "Note"}, index=False)
    engine = opened(server_url())
    assert engine.get(ANA, "large").content == large
    change = engine.update(ANA, "large", content="Short.")
    assert engine.get(ANA, "large").content == "Short."
    engine.undo(change.id)
    assert engine.get(ANA, "large").content == large


def test_a_label_with_a_period_is_no_other_namespace(store: ServerStore) -> None:
    store.put(("memories", "al", "ice"), "k", {"content": TEXT})
    engine = engine_over(store)
    engine.remember("Of a label with a period.", ("memories", "al.ice"), extract=False)
    assert [record.content for record in engine.list(("memories", "al.ice"))] == ["Of a label with a period."]
    assert [record.content for record in engine.list(("memories", "al", "ice"))] == [TEXT]
    dotted = ("memories", "al.ice")
    assert store.batch([GetOp(dotted, "k"), SearchOp(dotted), SearchOp(("",))]) == [None, [], []]
    for namespace in (dotted, ("memories", "")):
        with pytest.raises(InputError, match="empty or holds a period"):
            store.batch([PutOp(namespace, "k", None)])


def test_nothing_there_is_no_failure(store: ServerStore) -> None:
    assert store.get(ANA, "nothing") is None
    assert store.search(ANA, query="tea") == []
    assert engine_over(store).counts() == {}


def test_an_address_where_no_store_is_is_no_empty_store(store: ServerStore) -> None:
    store.put(ANA, "k", {"content": TEXT})
    elsewhere = ServerStore(f"{server_url()}/docs", headers=HEADERS)
    for asks in (
        lambda: elsewhere.get(ANA, "k"),
        lambda: elsewhere.search(ANA),
        elsewhere.list_namespaces,
        lambda: asyncio.run(elsewhere.aget(ANA, "k")),
        lambda: asyncio.run(elsewhere.asearch(ANA)),
    ):
        with pytest.raises(StoreError, match="no LangGraph server's store at"):
            asks()
    with pytest.raises(StoreError, match="no LangGraph server's store at"):
        engine_over(elsewhere).counts()
    elsewhere.close()


# Its runs


def test_a_conversation_is_remembered_by_the_server_once(store: ServerStore, thread: str) -> None:
    with remote("remember") as background:
        background.submit(said("I live in Lisbon."), ANA, thread)
        background.submit(said("I live in Lisbon.", "I like green tea."), ANA, thread)
        asyncio.run(background.asubmit(said("I live in Porto."), BEN, thread))
    assert len(remembered(store, ANA, 2)) == 2
    assert len(remembered(store, BEN, 1)) == 1
    engine = engine_over(store)
    assert [change.action for change in engine.history(ANA)] == ["insert", "insert"]
    assert len(engine.history(BEN)) == 1


def test_the_namespace_comes_from_the_callers_configuration(store: ServerStore, thread: str) -> None:
    config: Any = {"configurable": {"user_id": "carla@example.org", "thread_id": "mine", "checkpoint_id": "c"}}
    with remote("remember_user") as background:
        background.submit(said("I like green tea."), ("memories", "somebody-else"), thread, config=config)
    spaces: list[tuple[str, ...]] = []
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not spaces and time.monotonic() < deadline:
        time.sleep(0.05)
        spaces = list(engine_over(store).counts())
    assert [space[0] for space in spaces] == ["memories"]
    assert "carla" in spaces[0][1]


def test_on_a_server_with_accounts_the_memories_are_of_whoever_asked(store: ServerStore, thread: str) -> None:
    config: Any = {"configurable": {"langgraph_auth_user_id": "ana"}}
    with remote("remember_caller", **{"x-user": "mallory"}) as background:
        background.submit(said("I like green tea."), ANA, thread, config=config)
    assert len(remembered(store, ("memories", "mallory"), 1)) == 1
    assert memories(store, ANA) == []


def test_a_run_waits_for_its_time_and_what_comes_meanwhile_is_remembered_once(store: ServerStore, thread: str) -> None:
    began = time.monotonic()
    with remote("remember") as background:
        background.submit(said("I live in Lisbon."), ANA, thread, after_seconds=2)
        background.submit(said("I live in Lisbon.", "I like green tea."), ANA, thread, after_seconds=2)
    time.sleep(0.5)
    assert memories(store, ANA) == []
    assert len(remembered(store, ANA, 2)) == 2
    assert time.monotonic() - began >= 2
    assert len(engine_over(store).history(ANA)) == 2


def test_what_was_submitted_outlives_a_restart_of_the_server(own: DevelopmentServer) -> None:
    with RemoteBackground(own.url, "remember", headers=HEADERS) as background:
        background.submit(said("I live in Lisbon."), ANA, "t1", after_seconds=3)
    own.stop()
    own.start()
    after = ServerStore(own.url, headers=HEADERS)
    assert len(remembered(after, ANA, 1)) == 1
    assert len(engine_over(after).history(ANA)) == 1
    after.close()


def test_a_graph_the_server_does_not_have_and_a_wrong_key_are_errors(store: ServerStore) -> None:
    with remote("no_such_graph") as background, pytest.raises(StoreError, match="refused the run"):
        background.submit("I like tea.", ANA)
    with remote("remember", **{"x-api-key": "other"}) as background, pytest.raises(StoreError, match="refused the run"):
        background.submit("I like tea.", ANA)
    assert everything(store) == []
