"""What is particular to SQLite: files that cannot be opened, reading without a trace, transactions, other processes."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import shutil
import sqlite3
import stat
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from engine_fixture import engine_over
from langgraph.store.sqlite import SqliteStore
from mnemoscope import ConflictError, PermissionDeniedError, StoreError, StoreUnavailableError
from mnemoscope.health import health_checks
from mnemoscope.index import IndexCache
from mnemoscope.stores import KEEP, Guard, StoreAdapter, Write, adapt
from mnemoscope.stores.sqlite import FileConnection, open_sqlite
from mnemoscope.stores.sqlite import adapter as sqlite
from stores_fixture import ANA, DIMENSIONS, EMBEDDINGS, best_score, put, sqlite_rows


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memories.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    opened = open_sqlite(path, embeddings=EMBEDDINGS)
    yield opened
    opened.conn.close()


@pytest.fixture
def adapter(store: SqliteStore) -> StoreAdapter:
    return adapt(store)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(StoreUnavailableError) as caught:
        open_sqlite(path, embeddings=EMBEDDINGS, **options)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_a_missing_file_is_named(path: Path) -> None:
    assert "no SQLite file" in refusal(path, read_only=True)
    assert "no SQLite file" in refusal(path, create=False)
    assert "no directory" in refusal(path / "deeper" / "file")
    assert not path.exists()


@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_of_another_kind_is_named(path: Path, read_only: bool) -> None:
    path.write_bytes(b"not a database, but long enough to be taken for one" * 40)
    assert "not an SQLite database" in refusal(path, read_only=read_only)


def test_a_damaged_file_is_named(path: Path, store: SqliteStore) -> None:
    adapt(store).write([put(str(number), "tea " * 100) for number in range(100)])
    store.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.conn.close()
    content = bytearray(path.read_bytes())
    content[100:4096] = os.urandom(3996)
    path.write_bytes(content)
    assert "damaged" in refusal(path)
    assert "damaged" in refusal(path, read_only=True)


def test_a_database_without_a_store_is_named(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE other (a)")
    other.close()
    assert "no LangGraph store" in refusal(path, read_only=True)


def test_a_locked_file_is_named(path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemoscope.stores.sqlite.connection.BUSY_SECONDS", 0.05)
    store.conn.execute("BEGIN IMMEDIATE")
    assert "another process is writing" in refusal(path)


def test_a_write_that_finds_the_file_locked_says_so(path: Path, adapter: StoreAdapter, store: SqliteStore) -> None:
    store.conn.execute("PRAGMA busy_timeout = 50")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailableError, match="another process is writing"):
        adapter.write([put("k", "tea")])
    other.close()
    adapter.write([put("k", "tea")])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_in_a_directory_that_cannot_be_written(path: Path, store: SqliteStore) -> None:
    adapt(store).write([put("k", "tea")])
    store.conn.close()
    path.chmod(stat.S_IRUSR)
    path.parent.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert "may not be written" in refusal(path)
        reading = adapt(open_sqlite(path, embeddings=EMBEDDINGS, read_only=True))
        assert reading.counts() == {ANA: 1}
        assert reading.token(ANA) is None
        assert any("not seen" in limit for limit in reading.abilities.limits)
        reading.store.conn.close()  # type: ignore[attr-defined]
    finally:
        path.parent.chmod(stat.S_IRWXU)


def test_read_only_writes_no_byte_and_sees_what_others_write(path: Path, adapter: StoreAdapter) -> None:
    adapter.write([put("k", "green tea")])
    adapter.store.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # type: ignore[attr-defined]
    before = digest(path)
    reading = adapt(open_sqlite(path, embeddings=EMBEDDINGS, read_only=True))
    token = reading.token(ANA)
    assert [item.key for item in reading.load(ANA).items] == ["k"]
    assert reading.search(ANA, "tea", 1)[0].item.key == "k"
    assert best_score(reading.store, "green tea") == pytest.approx(1.0, abs=1e-5)
    assert reading.store.list_namespaces() == [ANA]
    with pytest.raises(PermissionDeniedError, match="read-only"):
        reading.write([put("j", "x")])
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        reading.store.put(ANA, "j", {"content": "x"})
    assert digest(path) == before
    adapter.write([put("j", "later")])
    assert reading.counts() == {ANA: 2}
    assert reading.token(ANA) != token
    reading.store.conn.close()  # type: ignore[attr-defined]


def test_read_only_takes_a_store_that_others_made(path: Path) -> None:
    with SqliteStore.from_conn_string(str(path)) as stock:
        stock.setup()
        stock.put(ANA, "k", {"content": "plain"})
    before = digest(path)
    reading = adapt(open_sqlite(path, embeddings=EMBEDDINGS, read_only=True))
    assert [item.value for item in reading.load(ANA).items] == [{"content": "plain"}]
    assert len(reading.load(ANA).matrix) == 0
    reading.store.conn.close()  # type: ignore[attr-defined]
    assert digest(path) == before
    assert sorted(each.name for each in path.parent.iterdir()) == [path.name]


def test_the_file_is_logged_ahead_and_stock_langgraph_opens_it(path: Path, adapter: StoreAdapter) -> None:
    adapter.write([put("k", "green tea")])
    connection = sqlite3.connect(path, factory=FileConnection, isolation_level=None, check_same_thread=False)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    stock = SqliteStore(connection, index={"dims": DIMENSIONS, "embed": EMBEDDINGS, "text_fields": ["content"]})  # type: ignore[typeddict-unknown-key]
    assert best_score(stock, "green tea") == pytest.approx(1.0, abs=1e-5)
    stock.put(ANA, "j", {"content": "black coffee"})
    assert stock.get(ANA, "k").created_at.microsecond  # type: ignore[union-attr]
    connection.close()
    assert len(adapter.load(ANA).matrix) == 2


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, sqlite3.OperationalError])
def test_an_interrupted_write_is_undone(
    path: Path, adapter: StoreAdapter, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    adapter.write([put("a", "one"), put("b", "two")])
    before = sqlite_rows(path)

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(sqlite, "_put_vectors", fail)
    with pytest.raises(StoreError if error is sqlite3.OperationalError else error):
        adapter.write([put("a", "changed"), Write(ANA, "b", None), put("c", "new")])
    assert sqlite_rows(path) == before
    monkeypatch.undo()
    adapter.write([put("a", "changed")])


def created_by(path: Path, name: str) -> int:
    """How many of fifty items this process was the one to create."""
    adapter = adapt(open_sqlite(path, embeddings=EMBEDDINGS))
    created = 0
    for number in range(50):
        try:
            adapter.write([put(f"k{number}", name)], [Guard(ANA, f"k{number}", None)])
            created += 1
        except ConflictError:
            continue
    return created


def test_two_processes_that_create_the_same_items_share_them(
    path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A dashboard test of the same worker leaves its script behind as the main module, which no child can run.
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes:
        created = processes.map(created_by, [path, path], ["one", "two"])
        assert sum(created) == 50
    assert adapt(store).counts() == {ANA: 50}


def test_rows_that_no_store_wrote_break_nothing(path: Path, adapter: StoreAdapter) -> None:
    adapter.write([put("good", "green tea")])
    now = "2025-01-01 00:00:00"
    rows = [
        ("memories.ana", "not json", "{oops", now, now),
        ("memories.ana", "list", "[1, 2]", now, now),
        ("memories.ana", "null", "null", now, now),
        ("memories.ana", "number", 7, now, now),
        ("memories.ana", "blob", b"\xff\xfe", now, now),
        ("memories.ana", "no time", "{}", None, "yesterday"),
        ("", "no namespace", "{}", now, now),
        ("a..b", "empty label", "{}", now, now),
    ]
    vectors = [
        ("memories.ana", "good", "short", b"\x00\x00\x80\x3f"),
        ("memories.ana", "good", "odd", b"\x00\x00\x80"),
        ("memories.ana", "good", "text", "not a blob"),
        ("memories.ana", "good", "nan", np.full(DIMENSIONS, np.nan, "<f4").tobytes()),
        ("memories.ana", "list", "null", None),
        ("memories.ana", "ghost", "content", np.ones(DIMENSIONS, "<f4").tobytes()),
    ]
    with sqlite3.connect(path) as other:
        other.executemany("INSERT INTO store (prefix, key, value, created_at, updated_at) VALUES (?,?,?,?,?)", rows)
        other.executemany("INSERT INTO store_vectors (prefix, key, field_name, embedding) VALUES (?,?,?,?)", vectors)
    other.close()
    loaded = adapter.load((), subtree=True)
    values = {item.ref: item.value for item in loaded.items}
    assert values[ANA, "not json"] == "{oops"
    assert values[ANA, "list"] == [1, 2]
    assert values[("a", "", "b"), "empty label"] == {}
    assert len(values) == 9
    keys = [item.key for item in loaded.items]
    assert loaded.misfits == {keys.index("good"): 4, keys.index("list"): 1}
    assert loaded.owner.tolist() == [keys.index("good")]
    assert {item.key: item for item in loaded.items}["no time"].created_at == datetime.fromtimestamp(0, UTC)
    assert adapter.counts() == {("",): 1, ("a", "", "b"): 1, ANA: 7}
    assert adapter.latest(ANA, where={"a": "b"}) == []
    with pytest.raises(ConflictError):
        adapter.write([put("null", "x")], [Guard(ANA, "null", None)])


def test_a_time_to_live_is_given_as_put_gives_it_and_never_renewed(path: Path) -> None:
    connection = sqlite3.connect(path, factory=FileConnection, isolation_level=None, check_same_thread=False)
    store = SqliteStore(connection, ttl={"default_ttl": 10, "refresh_on_read": True})
    adapter = adapt(store)
    adapter.write([Write(ANA, "ours", {}), Write(("__mnemoscope__",), "book", {})])
    store.put(ANA, "stock", {})

    def expiries() -> list[tuple[str, str | None, float | None]]:
        return connection.execute("SELECT key, expires_at, ttl_minutes FROM store ORDER BY key").fetchall()

    before = expiries()
    assert [(key, minutes) for key, _, minutes in before] == [("book", None), ("ours", 10.0), ("stock", 10.0)]
    adapter.load((), subtree=True)
    adapter.get([(ANA, "ours"), (ANA, "stock")])
    adapter.write([Write(ANA, "ours", {"n": 1}, vectors=KEEP)])
    assert expiries() == before
    connection.close()


def test_a_store_without_an_index_is_read_and_refuses_vectors(path: Path) -> None:
    with SqliteStore.from_conn_string(str(path)) as stock:
        adapter = adapt(stock)
        adapter.write([Write(ANA, "k", {"content": "plain"})])
        assert adapter.dimensions is None
        with pytest.raises(StoreError, match="no table for vectors"):
            adapter.write([put("k", "tea")])
        with pytest.raises(StoreError, match="without an index"):
            adapter.search(ANA, "tea", 1)


def test_a_store_that_was_not_set_up_says_so_on_reading(path: Path) -> None:
    with SqliteStore.from_conn_string(str(path)) as stock, pytest.raises(StoreUnavailableError, match=r"setup\(\)"):
        adapt(stock).counts()


def test_a_closed_connection_is_a_store_error(adapter: StoreAdapter, store: SqliteStore) -> None:
    store.conn.close()
    with pytest.raises(StoreUnavailableError):
        adapter.counts()


@pytest.mark.parametrize("kind", ["cosine", "l2", "inner_product"])
def test_vector_functions_answer_without_the_extension(kind: str, path: Path) -> None:
    connection = sqlite3.connect(path, factory=FileConnection, isolation_level=None, check_same_thread=False)
    index: Any = {"dims": DIMENSIONS, "embed": EMBEDDINGS, "text_fields": ["content"], "distance_type": kind}
    store = SqliteStore(connection, index=index)
    store.put(ANA, "k", {"content": "green tea"})
    (found,) = store.search(ANA, query="green tea")
    assert found.score == pytest.approx(1.0 if kind == "cosine" else 0.0, abs=1e-5)
    connection.close()


def another_file(path: Path, *texts: str) -> Path:
    """A file of other memories, closed, so that all of it is in the file itself."""
    made = open_sqlite(path.with_name("another.sqlite"), embeddings=EMBEDDINGS)
    adapt(made).write([put(f"other {number}", text) for number, text in enumerate(texts)])
    made.conn.close()
    return path.with_name("another.sqlite")


@pytest.mark.parametrize("read_only", [True, False])
def test_a_file_that_is_overwritten_in_place_is_read_anew(path: Path, read_only: bool) -> None:
    first = open_sqlite(path, embeddings=EMBEDDINGS)
    adapt(first).write([put(f"k{number}", f"green tea {number}") for number in range(50)])
    first.conn.close()
    reader = open_sqlite(path, embeddings=EMBEDDINGS, read_only=read_only)
    cache = IndexCache(adapt(reader))
    assert len(cache.get(ANA)) == 50
    shutil.copyfile(another_file(path, "black coffee"), path)
    assert [record.content for record in cache.get(ANA).records] == ["black coffee"]
    assert [record.content for record in cache.get(ANA).records] == ["black coffee"]
    reader.conn.close()


@pytest.mark.parametrize("read_only", [True, False])
def test_a_file_that_is_replaced_while_it_is_open_is_not_taken_for_the_new_one(path: Path, read_only: bool) -> None:
    first = open_sqlite(path, embeddings=EMBEDDINGS)
    adapt(first).write([put("k", "green tea")])
    first.conn.close()
    adapter = adapt(open_sqlite(path, embeddings=EMBEDDINGS, read_only=read_only))
    cache = IndexCache(adapter)
    cache.get(ANA)
    os.replace(another_file(path, "black coffee"), path)
    with pytest.raises(StoreUnavailableError, match="was replaced"):
        cache.get(ANA)
    if not read_only:
        with pytest.raises(StoreUnavailableError, match="was replaced"):
            adapter.write([put("x", "lost")])
    path.unlink()
    with pytest.raises(StoreUnavailableError, match="is gone"):
        cache.get(ANA)
    adapter.store.conn.close()  # type: ignore[attr-defined]


def test_a_checkpoint_of_another_process_costs_no_rebuilding(path: Path, adapter: StoreAdapter) -> None:
    adapter.write([put("k", "green tea")])
    cache = IndexCache(adapter)
    before = cache.get(ANA)
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert cache.get(ANA).records is before.records


OLDEST = """
CREATE TABLE store (
    prefix text NOT NULL, key text NOT NULL, value text NOT NULL,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (prefix, key)
)
"""


@pytest.mark.parametrize("extra", ["", "ALTER TABLE store ADD COLUMN shard INTEGER DEFAULT 0"])
def test_an_older_and_a_newer_layout_open_for_reading(path: Path, extra: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as made:
        made.execute(OLDEST)
        made.execute("""INSERT INTO store (prefix, key, value) VALUES ('memories.ana', 'k', '{"content": "tea"}')""")
        if extra:
            made.execute(extra)
    engine = engine_over(open_sqlite(path, embeddings=EMBEDDINGS, read_only=True))
    assert [record.content for record in engine.list(ANA)] == ["tea"]
    assert engine.counts() == {ANA: 1}
    assert not engine.recall("tea", ANA)[0].similarity
    states = {check.name: check.state for check in health_checks(engine, datetime.now(UTC))}
    assert "bad" not in states.values(), states
    engine.store.conn.close()  # type: ignore[attr-defined]
    writer = open_sqlite(path, embeddings=EMBEDDINGS)
    adapt(writer).write([put("j", "coffee")])
    assert adapt(writer).counts() == {ANA: 2}
    writer.conn.close()


def test_a_layout_that_lacks_a_column_is_named_by_it(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as made:
        made.execute("CREATE TABLE store (prefix text, key text, value text, created_at TIMESTAMP)")
    for read_only in (True, False):
        with pytest.raises(StoreUnavailableError, match="updated_at"):
            open_sqlite(path, embeddings=EMBEDDINGS, read_only=read_only)
