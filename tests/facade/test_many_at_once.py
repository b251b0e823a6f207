"""Hundreds of simultaneous calls end, on the stores that embed by threads of the loop's default executor."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import aiosqlite
import pytest
from langgraph.store.base import BaseStore
from langgraph.store.postgres.aio import AsyncPostgresStore
from langgraph.store.sqlite.aio import AsyncSqliteStore
from mnemoscope import PRESETS, MemoryEngine, RuleConsolidator, RuleExtractor
from mnemoscope.embedding import BundledEmbeddings
from mnemoscope.stores.sqlite import FileConnection
from stores_fixture import postgres_database

# The bundled embedder has no asynchronous form: a store embeds by a thread of the loop's own pool.
INDEX: Any = {"dims": 384, "embed": BundledEmbeddings(), "fields": ["content"]}
PEOPLE = 8


@asynccontextmanager
async def on_sqlite(folder: Path) -> AsyncIterator[BaseStore]:
    index = {**INDEX, "text_fields": INDEX["fields"]}
    async with (
        aiosqlite.connect(folder / "memories.db", factory=FileConnection, isolation_level=None) as connection,
        AsyncSqliteStore(connection, index=index) as store,
    ):
        await store.setup()
        yield store


@asynccontextmanager
async def on_postgres(_folder: Path) -> AsyncIterator[BaseStore]:
    async with AsyncPostgresStore.from_conn_string(postgres_database("many"), index=INDEX) as store:
        await store.setup()
        yield store


@pytest.mark.parametrize("opened", [on_sqlite, on_postgres])
def test_two_hundred_recalls_and_forty_remembers_end(
    opened: Callable[[Path], AbstractAsyncContextManager[BaseStore]], tmp_path: Path
) -> None:
    async def all_at_once() -> tuple[list[int], list[str], int]:
        async with opened(tmp_path) as store:
            engine = MemoryEngine(
                store, extractor=RuleExtractor(), consolidator=RuleConsolidator(), config=PRESETS["rules"]
            )
            await engine.aremember("I live in Hanoi.", ("m", "0"))
            said = [engine.aremember(f"I bought {number} lamps.", ("m", str(number % PEOPLE))) for number in range(40)]
            asked = [engine.arecall(f"home {number}", ("m", "0")) for number in range(200)]
            # A call that never ends is a failure here, not a test that never ends.
            async with asyncio.timeout(120):
                remembered, found = await asyncio.gather(asyncio.gather(*said), asyncio.gather(*asked))
            contents = [record.content for each in remembered for record in each]
            everything = [await engine.alist(("m", str(person))) for person in range(PEOPLE)]
            await engine.aclose()
            return [len(each) for each in found], contents, sum(map(len, everything))

    found, contents, held = asyncio.run(all_at_once())

    assert len(found) == 200
    assert min(found) >= 1
    assert len(contents) == 40
    assert held == 41
