"""What is particular to PostgreSQL: reaching it, roles that may only read, approximate indexes, lost connections."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from engine_fixture import engine_over
from langgraph.store.postgres import PostgresStore
from mnemoscope import (
    ConfigurationError,
    ConflictError,
    ExtractedFact,
    PermissionDeniedError,
    StoreError,
    StoreUnavailableError,
)
from mnemoscope.embedding import HashingEmbeddings
from mnemoscope.stores import KEEP, Guard, StoreAdapter, Write, adapt, nearest
from mnemoscope.stores.postgres import PostgresAdapter, open_postgres
from mnemoscope.stores.postgres import rows as postgres_rows
from mnemoscope.stores.postgres import writing as postgres_writing
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool
from stores_fixture import (
    ANA,
    DIMENSIONS,
    EMBEDDINGS,
    best_score,
    postgres_database,
    put,
)
from stores_fixture import (
    postgres_rows as rows_of,
)

UNIT = np.eye(1, DIMENSIONS, dtype=np.float32)[0]
INDEX: Any = {"dims": DIMENSIONS, "embed": EMBEDDINGS, "fields": ["content"]}


@pytest.fixture
def url() -> str:
    return postgres_database("particular")


@pytest.fixture
def opened(url: str) -> Iterator[Callable[..., StoreAdapter]]:
    """A function that opens the database, with these options; all are closed at the end."""
    stores: list[Any] = []

    def open_it(**options: Any) -> StoreAdapter:
        stores.append(open_postgres(options.pop("url", url), embeddings=EMBEDDINGS, **options))
        return adapt(stores[-1])

    yield open_it
    for store in stores:
        store.conn.close()


@pytest.fixture
def adapter(opened: Callable[..., StoreAdapter]) -> StoreAdapter:
    return opened()


def administer(url: str, *statements: str) -> list[Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.cursor()
        for statement in statements:
            cursor.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def test_the_official_store_gets_this_adapter(adapter: StoreAdapter) -> None:
    assert type(adapter) is PostgresAdapter
    assert not any("index" in limit or "connection" in limit for limit in adapter.abilities.limits)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("postgresql://ana:secret@127.0.0.1:1/memories", "nothing listens there"),
        ("postgresql://ana:secret@no-such-host.invalid/memories", "host is not known"),
    ],
)
def test_a_server_that_is_not_there_is_named_without_the_password(url: str, message: str) -> None:
    with pytest.raises(StoreUnavailableError, match=message) as caught:
        open_postgres(url, embeddings=EMBEDDINGS)
    assert "memories at" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_url_that_cannot_be_read_is_refused_without_quoting_it() -> None:
    with pytest.raises(ConfigurationError, match="postgresql://user") as caught:
        open_postgres("postgresql://ana:secret@host:port/x y?z", embeddings=EMBEDDINGS)
    assert "secret" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_database_or_role_that_is_not_there_is_named(url: str) -> None:
    with pytest.raises(StoreUnavailableError, match="no such database or role"):
        open_postgres(url.replace("/particular?", "/ghost?"), embeddings=EMBEDDINGS)
    with pytest.raises(StoreUnavailableError, match="no such database or role"):
        open_postgres(url.replace("postgres:@", "ghost:@"), embeddings=EMBEDDINGS)


def test_reading_makes_no_tables(url: str) -> None:
    with pytest.raises(StoreUnavailableError, match="holds no LangGraph store"):
        open_postgres(url, embeddings=EMBEDDINGS, read_only=True)
    assert administer(url, "SELECT count(*) FROM pg_class WHERE relname LIKE 'store%'") == [(0,)]


def with_role(url: str, name: str, *rights: str) -> str:
    administer(
        url,
        f"DROP OWNED BY {name}" if administer(url, f"SELECT 1 FROM pg_roles WHERE rolname = '{name}'") else "SELECT 1",
        f"DROP ROLE IF EXISTS {name}",
        f"CREATE ROLE {name} LOGIN",
        *(f"GRANT {right} TO {name}" for right in rights),
    )
    return url.replace("postgres:@", f"{name}:@")


def test_a_role_that_may_make_no_tables_is_told_so(url: str) -> None:
    with pytest.raises(PermissionDeniedError, match="role may not do this"):
        open_postgres(with_role(url, "nobody_much"), embeddings=EMBEDDINGS)


@pytest.mark.parametrize("read_only", [True, False])
def test_a_role_that_may_only_read_reads_everything(
    url: str, opened: Callable[..., StoreAdapter], adapter: StoreAdapter, read_only: bool
) -> None:
    adapter.write([put("k", "green tea"), put("j", "black coffee")])
    before = rows_of(url)
    role = with_role(url, "reader", "SELECT ON ALL TABLES IN SCHEMA public")
    reading = opened(url=role, read_only=read_only)
    assert reading.counts() == {ANA: 2}
    assert [item and item.key for item in reading.get([(ANA, "k"), (ANA, "ghost")])] == ["k", None]
    assert len(reading.load(ANA).matrix) == 2
    assert reading.markers(ANA) == adapter.markers(ANA)
    assert reading.token(ANA) == adapter.token(ANA)
    assert reading.latest(ANA, limit=1)[0].key == "k"
    assert reading.search(ANA, "green tea", 1)[0].item.key == "k"
    with pytest.raises(PermissionDeniedError):
        reading.write([put("k", "x")])
    assert rows_of(url) == before


def test_read_only_holds_for_the_store_too(opened: Callable[..., StoreAdapter], adapter: StoreAdapter) -> None:
    adapter.write([put("k", "green tea")])
    reading = opened(read_only=True)
    with pytest.raises(PermissionDeniedError, match="read-only"):
        reading.write([put("k", "x")])
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        reading.store.put(ANA, "k", {"content": "x"})


def test_an_approximate_index_hides_nothing_and_is_told_of(url: str) -> None:
    with PostgresStore.from_conn_string(url, pool_config={"max_size": 2}, index=INDEX) as store:
        store.setup()
        adapter = adapt(store)
        spaces = [("users", str(number)) for number in range(40)]
        adapter.write([put(f"k{number}", f"tea {number}", space) for space in spaces for number in range(100)])
        administer(url, "ANALYZE", "SET hnsw.ef_search = 40")
        for space in spaces[:5]:
            query = np.array(EMBEDDINGS.embed_query("tea 7"), dtype=np.float32)
            exact = nearest(adapter.load(space), query, 50)
            hits = adapter.search(space, "tea 7", 50)
            assert [hit.similarity for hit in hits] == pytest.approx([hit.similarity for hit in exact], abs=1e-6)
        assert len(adapter.search(("users",), "tea 7", 500, subtree=True)) == 500
        assert any("DROP INDEX CONCURRENTLY store_vectors" in each for each in adapter.abilities.warnings)
        administer(url, "DROP INDEX store_vectors_embedding_idx")
        adapter.counts()
        assert adapter.abilities.warnings == ()


@pytest.fixture
def traced(url: str, tmp_path: Path) -> Iterator[tuple[StoreAdapter, Callable[[], str]]]:
    """An adapter on one connection, and a function that gives what went over it since it was last called."""
    with PostgresStore.from_conn_string(url, index=INDEX) as store:
        store.setup()
        path = tmp_path / "trace"
        with path.open("wb") as file:
            read = 0

            def lines() -> str:
                nonlocal read
                # libpq writes the trace through a buffer of the C library.
                ctypes.CDLL(None).fflush(None)
                text = path.read_text()
                read, start = len(text), read
                return text[start:]

            connection: Any = store.conn
            connection.pgconn.trace(file.fileno())
            yield adapt(store), lines
            connection.pgconn.untrace()


def test_a_hundred_facts_are_written_in_few_round_trips(traced: tuple[StoreAdapter, Callable[[], str]]) -> None:
    adapter, lines = traced
    adapter.write([put("warm", "up")], [Guard(ANA, "warm", None)])
    lines()
    writes = [put(f"k{number}", f"fact {number}") for number in range(100)]
    adapter.write(writes, [Guard(ANA, write.key, None) for write in writes])
    sent = [line.split("\t")[1] for line in lines().splitlines() if line.count("\t") > 2]
    turns = sum(one == "F" and other == "B" for one, other in pairwise(sent))
    assert 1 <= turns <= 4
    assert adapter.counts() == {ANA: 101}


def kill_all(url: str) -> None:
    """End every other connection to this database, as a restart of the server does."""
    ended = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
    administer(url, f"{ended} WHERE datname = current_database() AND pid <> pg_backend_pid()")


def test_a_lost_connection_is_replaced_once(url: str, adapter: StoreAdapter) -> None:
    adapter.write([put("k", "green tea")])
    kill_all(url)
    assert adapter.counts() == {ANA: 1}
    kill_all(url)
    adapter.write([put("j", "black coffee")], [Guard(ANA, "k", {"content": "green tea"})])
    assert adapter.counts() == {ANA: 2}


def test_a_large_scope_is_read_bit_by_bit_as_a_small_one_is_at_once(
    url: str, adapter: StoreAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter.write([put(f"k{number:02}", f"fact {number}") for number in range(20)])
    adapter.write([Write(ANA, "two", {"content": "a", "title": "b"}, {"content": UNIT, "title": -UNIT})])
    adapter.write([Write(ANA, "none", {"content": "c"}), put("k", "of Ben", ("memories", "ben"))])
    whole = [adapter.load(ANA), adapter.load((), subtree=True)]
    monkeypatch.setattr(postgres_rows, "ROWS_AT_ONCE", 3)
    for pipeline in (None, False, True):
        single = PostgresStore.from_conn_string(url, pipeline=bool(pipeline), index=INDEX)
        with nullcontext(adapter.store) if pipeline is None else single as store:
            reader = adapt(store)
            for before, after in zip(whole, [reader.load(ANA), reader.load((), subtree=True)], strict=True):
                assert list(after.items) == list(before.items)
                assert after.markers == before.markers
                assert after.fields == before.fields
                assert np.array_equal(after.matrix, before.matrix)
                assert np.array_equal(after.owner, before.owner)
            assert reader.counts() == adapter.counts()


def test_a_large_reading_within_a_transaction_of_another_leaves_it_open(
    url: str, adapter: StoreAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter.write([put(f"k{number}", f"fact {number}") for number in range(10)])
    monkeypatch.setattr(postgres_rows, "ROWS_AT_ONCE", 3)
    with PostgresStore.from_conn_string(url, index=INDEX) as store, store.conn.transaction():  # type: ignore[union-attr]
        store.conn.execute(b"DELETE FROM store WHERE key = 'k0'")  # type: ignore[union-attr]
        assert len(adapt(store).load(ANA).items) == 9
    assert adapter.counts() == {ANA: 9}


def test_a_store_on_one_connection_says_what_that_means(url: str, adapter: StoreAdapter) -> None:
    adapter.write([put("k", "green tea")])
    for pipeline in (False, True):
        with PostgresStore.from_conn_string(url, pipeline=pipeline, index=INDEX) as store:
            single = adapt(store)
            single.write([put("j", "black coffee")])
            assert single.counts() == {ANA: 2}
            with pytest.raises(ConflictError):
                single.write([put("k", "x")], [Guard(ANA, "k", None)])
            assert len(single.load(ANA).matrix) == 2
            assert any("one connection" in limit for limit in single.abilities.limits)
            if not pipeline:
                administer(
                    url,
                    f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = {store.conn.info.backend_pid}",
                )
                with pytest.raises(StoreUnavailableError):
                    single.counts()


def test_a_call_that_takes_too_long_is_given_up(url: str, opened: Callable[..., StoreAdapter]) -> None:
    impatient = opened(statement_timeout=0.2)
    with psycopg.connect(url) as connection:
        connection.execute("LOCK TABLE store")
        with pytest.raises(StoreError, match="took too long"):
            impatient.counts()
    assert impatient.counts() == {}


def test_readings_go_on_while_a_connection_is_busy(adapter: StoreAdapter) -> None:
    pool: Any = adapter.store.conn  # type: ignore[attr-defined]
    with pool.connection():
        assert adapter.counts() == {}


def test_an_interrupted_write_is_undone(url: str, adapter: StoreAdapter, monkeypatch: pytest.MonkeyPatch) -> None:
    adapter.write([put("a", "one"), put("b", "two")])
    before = adapter.load(ANA)

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(postgres_writing, "_put_vectors", fail)
    with pytest.raises(KeyboardInterrupt):
        adapter.write([put("a", "changed"), Write(ANA, "b", None), put("c", "new")])
    monkeypatch.undo()
    assert adapter.load(ANA).markers == before.markers
    adapter.write([put("a", "changed")])
    assert len(administer(url, "SELECT 1 FROM store_vectors")) == 2


def test_what_another_writer_puts_after_the_check_is_not_overwritten(
    adapter: StoreAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = postgres_writing._check

    def check_and_put(*arguments: Any) -> None:
        check(*arguments)
        adapter.store.put(ANA, "k", {"content": "theirs"})

    monkeypatch.setattr(postgres_writing, "_check", check_and_put)
    with pytest.raises(ConflictError):
        adapter.write([put("k", "ours"), put("j", "ours")], [Guard(ANA, "k", None), Guard(ANA, "j", None)])
    assert {item.key: item.value["content"] for item in adapter.load(ANA).items} == {"k": "theirs"}


def test_two_stores_that_create_the_same_items_share_them(opened: Callable[..., StoreAdapter]) -> None:
    won: list[int] = []

    def create(adapter: StoreAdapter) -> None:
        count = 0
        for number in range(50):
            try:
                adapter.write([put(f"k{number}", "x")], [Guard(ANA, f"k{number}", None)])
                count += 1
            except ConflictError:
                continue
        won.append(count)

    threads = [threading.Thread(target=create, args=(opened(),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 3
    assert sum(won) == 50


def test_half_precision_vectors_are_read_and_written(url: str) -> None:
    index = {**INDEX, "ann_index_config": {"kind": "flat", "vector_type": "halfvec"}}
    with PostgresStore.from_conn_string(url, index=index) as store:
        store.setup()
        adapter = adapt(store)
        adapter.write([put("k", "green tea")])
        assert adapter.load(ANA).matrix[0] == pytest.approx(EMBEDDINGS.embed_query("green tea"), abs=1e-3)
        assert adapter.search(ANA, "green tea", 1)[0].similarity == pytest.approx(1.0, abs=1e-3)
        assert best_score(store, "green tea") == pytest.approx(1.0, abs=1e-3)


def test_a_store_without_an_index_is_read_and_refuses_vectors(url: str) -> None:
    with PostgresStore.from_conn_string(url) as store:
        with pytest.raises(StoreUnavailableError, match=r"setup\(\)"):
            adapt(store).counts()
        store.setup()
        adapter = adapt(store)
        adapter.write([Write(ANA, "k", {"content": "plain"})])
        token = adapter.token(ANA)
        assert len(adapter.load(ANA).items) == len(adapter.markers(ANA)) == 1
        with pytest.raises(StoreError, match="no table for vectors"):
            adapter.write([put("k", "tea")])
        with pytest.raises(StoreError, match="without an index"):
            adapter.search(ANA, "tea", 1)
        adapter.write([Write(ANA, "k", {"content": "plainer"})])
        assert adapter.token(ANA) != token


def test_rows_that_no_store_wrote_break_nothing(url: str, adapter: StoreAdapter) -> None:
    adapter.write([put("good", "green tea"), put("zero", "nothing")])
    zeros = "[" + ",".join("0" * DIMENSIONS) + "]"
    administer(
        url,
        "INSERT INTO store (prefix, key, value) VALUES ('memories.ana', 'list', '[1, 2]'), "
        "('memories.ana', 'null', 'null'), ('memories.ana', 'large', '{\"n\": 1e400}'), "
        "('', 'no namespace', '{}'), ('a..b', 'empty label', '{}')",
        "INSERT INTO store (prefix, key, value, created_at, updated_at) "
        "VALUES ('memories.ana', 'times', '{}', NULL, 'infinity')",
        f"UPDATE store_vectors SET embedding = '{zeros}' WHERE key = 'zero'",
    )
    loaded = adapter.load((), subtree=True)
    values = {item.ref: item.value for item in loaded.items}
    assert values[ANA, "list"] == [1, 2]
    assert values[ANA, "null"] is None
    assert values[ANA, "large"] == {"n": 10**400}
    assert values[("a", "", "b"), "empty label"] == {}
    assert {item.key: item for item in loaded.items}["times"].updated_at == datetime.fromtimestamp(0, UTC)
    assert adapter.counts() == {("",): 1, ("a", "", "b"): 1, ANA: 6}
    hits = adapter.search(ANA, "green tea", 10)
    assert hits[0].item.key == "good"
    assert [hit.similarity for hit in hits[1:]] == [None] * 5


def test_a_time_to_live_is_given_as_put_gives_it_and_never_renewed(url: str) -> None:
    ttl: Any = {"default_ttl": 10, "refresh_on_read": True, "omit_expired": True}
    with PostgresStore.from_conn_string(url, index=INDEX, ttl=ttl) as store:
        store.setup()
        adapter = adapt(store)
        adapter.write([Write(ANA, "ours", {}), Write(("__mnemoscope__",), "book", {})])
        store.put(ANA, "stock", {})
        seen = "SELECT key, ttl_minutes, expires_at FROM store ORDER BY key"
        before = administer(url, seen)
        assert [row[:2] for row in before] == [("book", None), ("ours", 10), ("stock", 10)]
        adapter.load((), subtree=True)
        adapter.get([(ANA, "ours"), (ANA, "stock")])
        adapter.write([Write(ANA, "ours", {"n": 1}, vectors=KEEP)])
        assert administer(url, seen) == before
        administer(url, "UPDATE store SET expires_at = now() - interval '1 minute' WHERE key = 'stock'")
        assert adapter.counts() == {ANA: 1}
        assert adapter.latest(ANA)[0].key == "ours"
        adapter.write([put("tea", "green tea"), put("wine", "red wine")])
        administer(url, "UPDATE store SET expires_at = now() - interval '1 minute' WHERE key = 'wine'")
        assert [hit.item.key for hit in adapter.search(ANA, "red wine", 10)] == ["tea", "ours"]


def test_what_expires_while_nobody_writes_is_gone_from_the_next_recall(url: str) -> None:
    ttl: Any = {"omit_expired": True}
    with PostgresStore.from_conn_string(url, index=INDEX, ttl=ttl) as store:
        store.setup()
        engine = engine_over(adapt(store))
        adapter = engine.adapter
        adapter.write([put("tea", "green tea"), put("wine", "red wine")])
        administer(url, "UPDATE store SET expires_at = now() + interval '1 second' WHERE key = 'wine'")
        assert (len(engine.recall("wine", ANA, touch=False)), engine.counts()) == (2, {ANA: 2})
        administer(url, "SELECT pg_sleep(1.1)")
        assert (len(engine.recall("wine", ANA, touch=False)), engine.counts()) == (1, {ANA: 1})


def test_the_rows_are_looked_at_for_a_token_only_after_a_write(traced: tuple[StoreAdapter, Callable[[], str]]) -> None:
    adapter, lines = traced
    adapter.write([put("k", "green tea"), put("k", "red wine", ("other",))])
    token = adapter.token(ANA)
    assert "bit_xor" in lines()
    assert adapter.token(ANA) == token
    unchanged = lines()
    assert "pg_current_snapshot" in unchanged
    assert "bit_xor" not in unchanged
    adapter.write([put("k", "white wine", ("other",))])
    assert adapter.token(ANA) == token
    adapter.write([Write(ANA, "k", {"content": "green tea"}, vectors=KEEP)])
    assert adapter.token(ANA) != token


def test_a_connection_that_commits_nothing_by_itself_is_refused_with_the_way_out() -> None:
    with psycopg.connect(postgres_database("no_autocommit")) as connection:
        store = PostgresStore(connection)  # type: ignore[arg-type]
        with pytest.raises(ConfigurationError, match=r"not in autocommit mode.*autocommit=True"):
            adapt(store)


def test_a_pool_commits_when_it_gets_its_connection_back() -> None:
    url = postgres_database("pooled")
    index: Any = {"dims": 8, "embed": HashingEmbeddings(8), "fields": ["content"]}
    with PostgresStore.from_conn_string(url, index=index) as store:
        store.setup()
    with ConnectionPool(url, min_size=1, kwargs={"row_factory": dict_row}) as pool:
        engine = engine_over(PostgresStore(pool, index=index))
        engine.remember_facts([ExtractedFact(content="likes tea")], ("memories", "ana"))
        engine.close()
    with PostgresStore.from_conn_string(url, index=index) as store:
        assert [item.value["content"] for item in store.search(("memories",))] == ["likes tea"]
