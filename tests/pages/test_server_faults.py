"""PostgreSQL that goes away and comes back, and all that can be wrong with it: said, and never shown as empty."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from engine_fixture import CountingEmbeddings, engine_over
from mnemoscope import EmbeddingError, MemoryEngine, StoreError, StoreUnavailableError
from mnemoscope.connections import connection_to, open_connection
from mnemoscope.stores.postgres import open_postgres
from postgres_fixture import Server, running_server
from streamlit.testing.v1 import AppTest

from app.views.recall.query import QUERY_KEY

ANA = ("memories", "ana")
TEXT = "Ana lives in Lisbon."
LABELS = ("al", "alice", "Al", "a:b", "a", "%", "_", "a%", "[a]", "*", "ü", "x y", "'; DROP TABLE store; --")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as started:
        yield started


@pytest.fixture
def url(server: Server) -> str:
    return server.database("faults")


@pytest.fixture
def engine(url: str) -> Iterator[MemoryEngine]:
    opened = open_connection(connection_to(url, embedder="hashing"))
    opened.remember(TEXT, ANA, extract=False)
    yield opened
    opened.close()


def words(test: AppTest) -> str:
    return "\n".join(str(each.value) for each in (*test.error, *test.code, *test.markdown, *test.caption))


# The server goes away and comes back


def test_an_engine_says_that_the_server_is_gone_and_works_again_when_it_is_back(
    server: Server, engine: MemoryEngine
) -> None:
    server.kill()
    try:
        with pytest.raises(StoreUnavailableError, match="nothing listens there"):
            engine.recall("Lisbon", ANA)
        with pytest.raises(StoreUnavailableError):
            engine.counts()
        with pytest.raises(StoreUnavailableError):
            engine.remember("Ana keeps bees.", ANA, extract=False)
    finally:
        server.revive()
    assert [match.record.content for match in engine.recall("Lisbon", ANA)] == [TEXT]
    engine.remember("Ana keeps bees.", ANA, extract=False)
    assert engine.counts() == {ANA: 2}


def test_an_engine_that_was_idle_meanwhile_notices_nothing(server: Server, engine: MemoryEngine) -> None:
    server.kill()
    server.revive()
    assert [match.record.content for match in engine.recall("Lisbon", ANA)] == [TEXT]


@pytest.mark.parametrize("page", ["overview", "browse", "recall", "curate", "history", "health"])
def test_an_open_page_looks_failed_while_the_server_is_down_and_comes_back(
    server: Server, engine: MemoryEngine, dashboard: Callable[..., AppTest], page: str
) -> None:
    test = dashboard(engine, page, query={QUERY_KEY: "Lisbon"} if page == "recall" else None)
    assert not test.error
    server.kill()
    try:
        test.run(timeout=60)
        assert "The store did not answer" in words(test)
        assert "Nothing is remembered here yet" not in words(test)
    finally:
        server.revive()
    test.run(timeout=60)
    assert not test.error
    assert not test.exception


# What can be wrong with it


def test_a_wrong_password_is_said_and_not_repeated(
    server: Server, url: str, dashboard: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.administer("DROP ROLE IF EXISTS locked", "CREATE ROLE locked LOGIN PASSWORD 'right'")
    server.require_password("locked")
    address = url.replace("postgres:@", "locked:hunter2@")
    with pytest.raises(StoreUnavailableError, match="password") as caught:
        open_connection(connection_to(address, embedder="hashing"))
    assert "hunter2" not in str(caught.value)
    monkeypatch.setenv("MNEMOSCOPE_STORE", address)
    monkeypatch.setenv("MNEMOSCOPE_EMBEDDER", "hashing")
    test = dashboard()
    assert "The store did not answer" in words(test)
    assert "hunter2" not in words(test)
    assert "Nothing is remembered here yet" not in words(test)


def test_a_table_that_vanished_is_an_error_and_not_an_empty_store(
    server: Server, engine: MemoryEngine, url: str, dashboard: Callable[..., AppTest]
) -> None:
    test = dashboard(engine, "browse")
    server.administer("DROP TABLE store CASCADE", url=url)
    with pytest.raises(StoreError, match="store"):
        engine.counts()
    test.run()
    assert "The store did not answer" in words(test)
    assert "Nothing is remembered here yet" not in words(test)


def test_a_database_that_lost_pgvector_is_an_error_for_readers_and_writers(
    server: Server, engine: MemoryEngine, url: str
) -> None:
    server.administer("DROP EXTENSION vector CASCADE", url=url)
    with pytest.raises(StoreError):
        engine.recall("Lisbon", ANA)
    with pytest.raises(StoreError):
        engine.remember("Ana keeps bees.", ANA, extract=False)
    engine.close()
    for writing in (False, True):
        with pytest.raises(StoreUnavailableError, match="lost its vectors"):
            open_connection(connection_to(url, embedder="hashing"), writing=writing)


def test_other_dimensions_than_the_stores_are_named(engine: MemoryEngine, url: str) -> None:
    assert engine.adapter.dimensions == 256
    store = open_postgres(url, embeddings=CountingEmbeddings(64))
    with pytest.raises(EmbeddingError, match=r"64.*256|256.*64"):
        engine_over(store).remember("Ana keeps bees.", ANA, extract=False)
    store.conn.close()
    assert engine.counts() == {ANA: 1}


def test_an_embedder_that_is_down_changes_nothing_and_the_rest_can_be_read(url: str) -> None:
    embedder = CountingEmbeddings(64)
    store = open_postgres(url, embeddings=embedder)
    engine = engine_over(store)
    engine.remember(TEXT, ANA, extract=False)
    embedder.fails = ConnectionError("the model is away")
    with pytest.raises(EmbeddingError, match="the model is away"):
        engine.recall("Lisbon", ANA)
    with pytest.raises(EmbeddingError, match="the model is away"):
        engine.remember("Ana keeps bees.", ANA, extract=False)
    assert [record.content for record in engine.list(ANA)] == [TEXT]
    assert len(engine.history(ANA)) == 1
    engine.close()
    store.conn.close()


# What is stored in it


def test_ten_megabytes_are_stored_listed_edited_and_undone(engine: MemoryEngine) -> None:
    large = "word " * 2_000_000
    engine.store.put(ANA, "large", {"content": large, "kind": "Note"}, index=False)
    assert len(engine.get(ANA, "large").content) == 10_000_000
    change = engine.update(ANA, "large", content="Short.")
    assert engine.get(ANA, "large").content == "Short."
    engine.undo(change.id)
    assert engine.get(ANA, "large").content == large


def test_labels_that_look_alike_or_like_patterns_are_each_their_own(engine: MemoryEngine) -> None:
    for label in LABELS:
        engine.remember(f"This is of {label!r}.", ("tenants", label), extract=False)
    for label in LABELS:
        found = engine.recall("This is of", ("tenants", label), subtree=True, limit=50)
        assert [match.record.content for match in found] == [f"This is of {label!r}."]
        assert engine.counts(("tenants", label)) == {("tenants", label): 1}
    assert len(engine.recall("This is of", ("tenants",), subtree=True, limit=50)) == len(LABELS)


# Two versions of the tables


OLDEST = (
    """CREATE TABLE store (
        prefix text NOT NULL, key text NOT NULL, value jsonb NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP,
        updated_at TIMESTAMP WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (prefix, key)
    )""",
    "CREATE TABLE store_migrations (v INTEGER PRIMARY KEY)",
    "INSERT INTO store_migrations VALUES (0)",
    "CREATE EXTENSION vector",
    """CREATE TABLE store_vectors (
        prefix text NOT NULL, key text NOT NULL, field_name text NOT NULL, embedding vector(256),
        created_at TIMESTAMP WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP,
        updated_at TIMESTAMP WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (prefix, key, field_name),
        FOREIGN KEY (prefix, key) REFERENCES store(prefix, key) ON DELETE CASCADE
    )""",
    """INSERT INTO store (prefix, key, value) VALUES ('memories.ana', 'k', '{"content": "Ana lives in Lisbon."}')""",
)
NEWER = (
    "ALTER TABLE store ADD expires_at timestamptz, ADD ttl_minutes INT, ADD shard INT DEFAULT 0",
    "INSERT INTO store_migrations VALUES (99)",
)


@pytest.mark.parametrize("more", [(), NEWER], ids=["older", "newer"])
def test_older_and_newer_tables_are_read_as_they_are(
    server: Server, url: str, more: tuple[str, ...], dashboard: Callable[..., AppTest]
) -> None:
    server.administer(*OLDEST, *more, url=url)
    engine = open_connection(connection_to(url, embedder="hashing"), writing=False)
    assert [record.content for record in engine.list(ANA)] == [TEXT]
    assert [match.record.content for match in engine.recall("Lisbon", ANA)] == [TEXT]
    test = dashboard(engine, "health")
    assert not test.exception
    assert "could not be checked" not in words(test)
    engine.close()
    writer = open_connection(connection_to(url, embedder="hashing"))
    writer.remember("Ana keeps bees.", ANA, extract=False)
    assert writer.counts() == {ANA: 2}
    writer.close()


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ("ALTER TABLE store DROP COLUMN updated_at", "store lacks updated_at"),
        ("DROP TABLE store_vectors", "no table store_vectors"),
        ("DROP TABLE store CASCADE", "no table store"),
    ],
)
def test_what_tables_lack_is_named(server: Server, url: str, change: str, missing: str) -> None:
    server.administer(*OLDEST, change, url=url)
    with pytest.raises(StoreUnavailableError, match=missing):
        open_connection(connection_to(url, embedder="hashing"), writing=False)
