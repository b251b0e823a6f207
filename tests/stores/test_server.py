"""The LangGraph server's store, spoken to over real HTTP: a small server that answers as the API does."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from langgraph.store.base import Item
from langgraph.store.memory import InMemoryStore
from mnemoscope import InputError, MemoryEngine, StoreError, StoreUnavailableError
from mnemoscope.connections import Connection, open_connection
from mnemoscope.embedding import HashingEmbeddings
from mnemoscope.health import check_up
from mnemoscope.stores import ServerStore

ANA, BEN = ("memories", "ana"), ("memories", "ben")
KEY = "the-servers-key"


class Api(BaseHTTPRequestHandler):
    """The store's end points over an in-memory store, as a LangGraph server has them."""

    store: InMemoryStore
    broken = False
    foreign: bytes | None = None

    def do_GET(self) -> None:
        query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        item = self.store.get(tuple(query["namespace"].split(".")), query["key"])
        self._answer(404 if item is None else 200, None if item is None else shown(item))

    def do_PUT(self) -> None:
        asked = self._asked()
        self.store.put(tuple(asked["namespace"]), asked["key"], asked["value"], index=asked.get("index"))
        self._answer(204, None)

    def do_DELETE(self) -> None:
        asked = self._asked()
        self.store.delete(tuple(asked["namespace"]), asked["key"])
        self._answer(204, None)

    def do_POST(self) -> None:
        asked = self._asked()
        if self.path == "/store/namespaces":
            named = {name: asked.get(name) for name in ("prefix", "suffix", "max_depth")}
            spaces = self.store.list_namespaces(**named, limit=asked["limit"], offset=asked["offset"])
            self._answer(200, {"namespaces": [list(space) for space in spaces]})
            return
        found = self.store.search(
            tuple(asked["namespace_prefix"]), query=asked.get("query"), limit=asked["limit"], offset=asked["offset"]
        )
        self._answer(200, {"items": [{**shown(item), "score": item.score} for item in found]})

    def _asked(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def _answer(self, status: int, body: Any) -> None:
        if self.headers.get("x-api-key") != KEY:
            status, body = 403, {"detail": "Forbidden"}
        if self.broken:
            status, body = 500, {"detail": "out of order"}
        content = b"" if body is None else json.dumps(body).encode()
        content = content if self.foreign is None else self.foreign
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: Any) -> None:
        """Nothing is printed."""


def shown(item: Item) -> dict[str, Any]:
    times = {"created_at": item.created_at.isoformat(), "updated_at": item.updated_at.isoformat()}
    return {"namespace": list(item.namespace), "key": item.key, "value": item.value, **times}


@pytest.fixture
def api() -> Iterator[type[Api]]:
    class Served(Api):
        store = InMemoryStore(index={"dims": 64, "embed": HashingEmbeddings(64), "fields": ["content"]})

    server = ThreadingHTTPServer(("127.0.0.1", 0), Served)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    Served.port = server.server_port  # type: ignore[attr-defined]
    yield Served
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def connection(api: type[Api]) -> Connection:
    url = f"langgraph://127.0.0.1:{api.port}"  # type: ignore[attr-defined]
    return Connection(name="server", url=url, headers=(("X-Api-Key", "${KEY}"),))


@pytest.fixture
def opened(connection: Connection) -> Iterator[Callable[..., MemoryEngine]]:
    engines: list[MemoryEngine] = []

    def open_it(key: str = KEY, **options: Any) -> MemoryEngine:
        engines.append(open_connection(connection, environment={"KEY": key}, **options))
        return engines[-1]

    yield open_it
    for engine in engines:
        engine.close()


def test_memories_are_kept_recalled_forgotten_and_brought_back(opened: Callable[..., MemoryEngine]) -> None:
    engine = opened()
    engine.remember("Ana lives in Lisbon.", ANA, extract=False)
    engine.remember("Ben drinks green tea.", BEN, extract=False)
    assert engine.counts() == {ANA: 1, BEN: 1}
    assert [match.record.content for match in engine.recall("Lisbon", ANA)] == ["Ana lives in Lisbon."]
    forgotten = engine.forget(ANA, key=engine.list(ANA)[0].key)
    assert engine.counts() == {BEN: 1}
    engine.undo(forgotten.group or "")
    assert engine.counts() == {ANA: 1, BEN: 1}


def test_the_asynchronous_form_answers_alike(opened: Callable[..., MemoryEngine]) -> None:
    engine = opened()
    engine.remember("Ana lives in Lisbon.", ANA, extract=False)
    key = engine.list(ANA)[0].key

    async def ask() -> tuple[Any, Any, Any]:
        store = engine.store
        return await store.aget(ANA, key), await store.aget(ANA, "nothing"), await store.asearch(ANA, query="Lisbon")

    item, nothing, found = asyncio.run(ask())
    assert (item.value["content"], nothing, [each.key for each in found]) == ("Ana lives in Lisbon.", None, [key])


def test_namespaces_are_listed_by_prefix_and_depth(opened: Callable[..., MemoryEngine]) -> None:
    engine = opened()
    engine.remember("Ana lives in Lisbon.", ANA, extract=False)
    assert engine.store.list_namespaces(prefix=("memories",), max_depth=1) == [("memories",)]


def test_reading_alone_writes_nothing(opened: Callable[..., MemoryEngine], api: type[Api]) -> None:
    opened().remember("Ana lives in Lisbon.", ANA, extract=False)
    before = repr([items for items in api.store._data.values() if items])
    engine = opened(writing=False)
    engine.recall("Lisbon", ANA)
    engine.list(ANA)
    engine.close()
    assert repr([items for items in api.store._data.values() if items]) == before


def test_a_wrong_key_is_a_store_that_refuses_and_the_key_is_not_shown(opened: Callable[..., MemoryEngine]) -> None:
    with pytest.raises(StoreUnavailableError, match="refuses who asks") as failure:
        opened("another-key").counts()
    assert "another-key" not in str(failure.value)


def test_a_server_that_fails_is_no_empty_store(opened: Callable[..., MemoryEngine], api: type[Api]) -> None:
    engine = opened()
    api.broken = True
    with pytest.raises(StoreError, match="answered 500"):
        engine.counts()


@pytest.mark.parametrize("answer", [b"<html>Welcome</html>", b'{"hello": "world"}', b"[]", b"null", b""])
def test_what_another_server_answers_is_no_empty_store(
    opened: Callable[..., MemoryEngine], api: type[Api], answer: bytes
) -> None:
    engine = opened()
    api.foreign = answer
    with pytest.raises(StoreError, match="answered what no LangGraph server answers"):
        engine.counts()
    with pytest.raises(StoreError, match="answered what no LangGraph server answers"):
        asyncio.run(engine.store.asearch(ANA))


def test_what_the_server_cannot_do_is_said(opened: Callable[..., MemoryEngine]) -> None:
    limits = " ".join(opened().adapter.abilities.limits)
    assert "one operation a request" in limits
    assert "Vectors cannot be read" in limits


def test_the_check_up_finds_a_known_text(opened: Callable[..., MemoryEngine], connection: Connection) -> None:
    opened().remember("Ana lives in Lisbon.", ANA, extract=False)
    checks = {check.name: check for check in check_up(connection, {"KEY": KEY})}
    assert checks["Reachable"].state == checks["Counts"].state == checks["Self-check"].state == "good"
    assert checks["Embedder identity"].state == "skipped"


def test_the_empty_key_is_refused_and_nothing_is_under_it(api: type[Api]) -> None:
    store = ServerStore(f"http://127.0.0.1:{api.port}")  # type: ignore[attr-defined]
    assert store.get(ANA, "") is None
    with pytest.raises(InputError, match="The empty key in memories/ana cannot be stored"):
        store.put(ANA, "", {"content": "x"})
    store.close()
