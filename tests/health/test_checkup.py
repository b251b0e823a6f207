from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from langgraph.store.postgres import PostgresStore
from mnemoscope.connections import Connection, connection_to, open_connection
from mnemoscope.embedding import HashingEmbeddings
from mnemoscope.health import STEPS, Check, check_up
from psycopg.rows import dict_row
from stores_fixture import postgres_database

ANA = ("memories", "ana")
SECRET = "hunter2-and-more"


def checked(connection: Connection, **environment: str) -> dict[str, Check]:
    return {check.name: check for check in check_up(connection, {**os.environ, **environment})}


def states(checks: dict[str, Check]) -> dict[str, str]:
    return {name: check.state for name, check in checks.items()}


def to(store: object, embedder: str = "hashing", **settings: Any) -> Connection:
    return connection_to(str(store), embedder=embedder, **settings)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "m.sqlite"
    engine = open_connection(to(path))
    engine.remember("Ana lives in Lisbon.", ANA, extract=False)
    engine.remember("Ana drinks green tea.", ANA, extract=False)
    engine.close()
    return path


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def test_every_step_is_there_once_and_a_good_file_is_good(file: Path) -> None:
    checks = list(check_up(to(file)))
    assert sorted(check.name for check in checks) == sorted(STEPS)
    assert {check.state for check in checks} == {"good", "skipped"}
    assert [check.name for check in checks if check.state == "skipped"] == ["pgvector"]


def test_a_check_up_writes_nothing(file: Path) -> None:
    before = file.read_bytes()
    checked(to(file))
    assert file.read_bytes() == before


def test_a_missing_file_is_a_warning_and_is_not_made(tmp_path: Path) -> None:
    checks = checked(to(tmp_path / "m.sqlite"))
    assert checks["Reachable"].state == "warning"
    assert checks["Counts"].state == "skipped"
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_no_database_fails_and_the_rest_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite"
    path.write_bytes(b"this is no database" * 100)
    found = states(checked(to(path)))
    assert found["Reachable"] == "bad"
    assert {found[name] for name in ("Tables", "Counts", "Self-check", "Model")} == {"skipped"}


@pytest.mark.parametrize(
    ("statements", "part"),
    [
        (["CREATE TABLE customers (name)"], "there is no table 'store'; there are: customers"),
        (["CREATE TABLE store (id, name)"], "the table 'store' lacks created_at, key, prefix, updated_at, value"),
    ],
)
def test_another_programs_tables_are_named(tmp_path: Path, statements: list[str], part: str) -> None:
    path = tmp_path / "m.sqlite"
    execute(path, *statements)
    check = checked(to(path))["Tables"]
    assert check.state == "bad"
    assert part in check.report
    assert check.remedy


def test_a_store_without_vectors_is_a_warning(file: Path) -> None:
    execute(file, "DROP TABLE store_vectors")
    assert checked(to(file))["Tables"].state == "warning"


def test_another_dimension_is_told_with_both_numbers(file: Path) -> None:
    check = checked(to(file, embedder="bundled"))["Dimensions"]
    assert check.state == "bad"
    assert "the embedder gives 384, the file holds 2 of 256" in check.report


def test_another_embedder_of_the_same_dimension_is_told_by_its_name_and_by_the_self_check(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite"
    engine = open_connection(to(path, embedder=f"python:{__name__}:stranger"))
    engine.remember("Ana lives in Lisbon.", ANA, extract=False)
    engine.remember("Ana drinks green tea.", ANA, extract=False)
    engine.close()
    checks = checked(to(path))
    assert checks["Dimensions"].state == "good"
    assert checks["Embedder identity"].state == "bad"
    assert "by stranger" in checks["Embedder identity"].report
    assert checks["Self-check"].state == "bad"


class Stranger(HashingEmbeddings):
    """Other vectors of the same dimensions."""

    def __init__(self) -> None:
        super().__init__()
        self.identity = "stranger"

    def embed_query(self, text: str) -> list[float]:
        return super().embed_query(text[::-1] + " stranger")


def stranger() -> Stranger:
    return Stranger()


def test_an_embedder_that_is_not_there_fails_first(file: Path) -> None:
    found = checked(to(file, embedder="nobody:nothing"))
    assert found["Embedder"].state == "bad"
    assert found["Reachable"].state == "skipped"


def test_a_read_only_connection_says_so(file: Path) -> None:
    check = checked(to(file, read_only=True))["Permissions"]
    assert (check.state, check.report) == ("good", "read; writing is refused by the connection's read_only")


def test_a_missing_variable_is_named() -> None:
    connection = Connection(name="x", url="postgresql://u:${NOT_SET_ANYWHERE}@h/d")
    check = checked(connection)["Configuration"]
    assert check.state == "bad"
    assert "NOT_SET_ANYWHERE is not set" in check.report


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("postgresql://app:${P}@127.0.0.1:1/agents", "nothing listens there"),
        ("postgresql://app:${P}@no.such.host.invalid/agents", "the host is not known"),
        ("langgraph://127.0.0.1:1", "cannot be reached"),
    ],
)
def test_a_host_that_is_down_is_told_and_no_secret_is(url: str, part: str) -> None:
    embedder = None if url.startswith("langgraph") else "hashing"
    checks = checked(Connection(name="away", url=url, embedder=embedder), P=SECRET)
    assert checks["Reachable"].state == "bad"
    assert part in checks["Reachable"].report
    assert all(SECRET not in f"{check.report}{check.remedy}" for check in checks.values())


def test_what_a_password_is_refused_for_does_not_repeat_it() -> None:
    # The embedded server trusts everybody, so it refuses a role that is not there instead.
    url = postgres_database("refused").replace("postgres:@", "nobody_here:${P}@")
    checks = checked(Connection(name="x", url=url, embedder="hashing"), P=SECRET)
    assert checks["Reachable"].state == "bad"
    assert SECRET not in str(checks)


# PostgreSQL


@pytest.fixture
def database() -> Iterator[str]:
    return postgres_database("checked")


def set_up(url: str, **options: Any) -> None:
    """The official store as its own documentation makes it, with one memory."""
    index: Any = {"dims": 256, "embed": HashingEmbeddings(), "fields": ["content"], **options}
    with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
        store = PostgresStore(connection, index=index)
        store.setup()
        store.put(ANA, "a", {"kind": "memory", "content": "Ana lives in Lisbon."})


def test_a_database_without_a_store_is_told(database: str) -> None:
    check = checked(to(database))["Tables"]
    assert check.state == "bad"
    assert "holds no LangGraph store" in check.report


def test_the_default_index_is_a_warning_with_the_statement_that_removes_it(database: str) -> None:
    set_up(database)
    checks = checked(to(database))
    check = checks["Index"]
    assert check.state == "warning"
    assert check.report.startswith("HNSW (store_vectors_embedding_idx)")
    assert {state for name, state in states(checks).items() if name != "Index"} == {"good"}
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(check.command)
    assert checked(to(database))["Index"].state == "good"


def test_other_dimensions_than_the_columns_are_told(database: str) -> None:
    set_up(database)
    check = checked(to(database, dimensions=128))["Dimensions"]
    assert (check.state, check.report) == ("bad", "the embedder gives 128, the column holds 256")


def test_a_store_of_an_older_version_is_a_warning(database: str) -> None:
    set_up(database)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("DELETE FROM store_migrations WHERE v > 1")
    check = checked(to(database))["Tables"]
    assert check.state == "warning"
    assert "they are of version 1" in check.report


def test_a_role_that_may_only_read_is_told_what_it_lacks(database: str) -> None:
    set_up(database)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS checked_reader")
        connection.execute("CREATE ROLE checked_reader LOGIN")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO checked_reader")
    try:
        check = checked(to(database.replace("postgres:@", "checked_reader:@")))["Permissions"]
    finally:
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("DROP OWNED BY checked_reader")
            connection.execute("DROP ROLE checked_reader")
    assert (check.state, check.report) == ("warning", "read; the role lacks INSERT, UPDATE, DELETE")
