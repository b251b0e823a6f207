"""Looking around leaves no trace: the whole database is compared before and after every page was visited."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
import streamlit
from mnemoscope import MemoryEngine
from mnemoscope.connections import connection_to, open_connection
from stores_fixture import postgres_database
from streamlit.testing.v1 import AppTest

from app.session.navigation import PAGES
from app.views.connect.page import TRY_KEY
from app.views.health import report

Dashboard = Callable[..., AppTest]
ANA, BEN = ("memories", "ana"), ("memories", "ben")


@dataclass(frozen=True)
class Watched:
    """A store that is looked at: its address, and everything that it holds."""

    url: str
    everything: Callable[[], Any]


@pytest.fixture(params=["sqlite", "postgres", "postgres-reader"])
def watched(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Watched]:
    if request.param == "sqlite":
        path = tmp_path / "m.sqlite"
        fill(str(path))
        yield Watched(str(path), lambda: (rows_of_file(path), bytes_of(path)))
        return
    url = postgres_database("observed")
    fill(url)
    make_reader(url)
    seen = url if request.param == "postgres" else url.replace("postgres:@", "mnemoscope_reader:@")
    yield Watched(seen, lambda: rows_of_database(url))


def fill(store: str) -> None:
    engine = open_connection(connection_to(store, embedder="hashing"))
    for text in ("Ana lives in Lisbon.", "Ana drinks green tea.", "Ana has a cat called Pastel."):
        engine.remember(text, ANA, extract=False)
    engine.remember("Ben is allergic to peanuts.", BEN, extract=False, source="doctor", private=True)
    engine.forget(ANA, key=engine.list(ANA)[0].key)
    engine.recall("Where does Ana live?", ANA)
    engine.store.put(ANA, "langmem", {"content": "A stranger's item"}, ttl=30)
    engine.store.put(ANA, "odd", {"content": 5, "importance": "high"}, index=False)
    engine.close()


def rows_of_file(path: Path) -> dict[str, list[Any]]:
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: connection.execute(f"SELECT rowid, * FROM {name}").fetchall() for name in tables}


def bytes_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def rows_of_database(url: str) -> dict[str, list[Any]]:
    with psycopg.connect(url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1").fetchall()
        return {
            name: connection.execute(f"SELECT xmin, xmax, ctid, t::text FROM {name} AS t ORDER BY ctid").fetchall()
            for (name,) in tables
        }


def make_reader(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'mnemoscope_reader') "
            "THEN CREATE ROLE mnemoscope_reader LOGIN; END IF; END $$"
        )
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO mnemoscope_reader")


@pytest.fixture
def looking(dashboard: Dashboard, watched: Watched, monkeypatch: pytest.MonkeyPatch) -> Dashboard:
    monkeypatch.setenv("MNEMOSCOPE_STORE", watched.url)
    monkeypatch.setenv("MNEMOSCOPE_EMBEDDER", "hashing")
    return dashboard


def close_everything() -> None:
    """Close every engine, which writes what it may still have to write."""
    streamlit.cache_resource.clear()


def test_every_page_and_what_it_offers_for_looking_writes_nothing(looking: Dashboard, watched: Watched) -> None:
    before = watched.everything()
    key = first_key(watched)
    here: dict[str, str | list[str]] = {"ns": list(ANA)}
    visits = [(row.name, {}) for row in PAGES]
    visits += [
        ("browse", {**here, "b_key": key, "b_private": "true"}),
        ("recall", {**here, "r_q": "Where does Ana live?", "r_private": "true"}),
        ("recall", {"r_q": "tea"}),
    ]
    for page, query in visits:
        test = looking(None, page, query=query)
        assert not test.exception
        assert not test.error, (page, [error.value for error in test.error], [code.value for code in test.code])
    looking(None, "health").button(key=report.AGAIN_KEY).click().run()
    tried = looking(None, "connect").button(key=TRY_KEY).click().run()
    assert not tried.error
    close_everything()
    assert watched.everything() == before


def test_the_engine_reads_recalls_explains_and_checks_without_a_trace(watched: Watched) -> None:
    before = watched.everything()
    engine = open_connection(connection_to(watched.url, embedder="hashing"), writing=False)
    look_at_everything(engine)
    engine.close()
    assert watched.everything() == before


def test_the_comparison_sees_every_write(watched: Watched) -> None:
    if "mnemoscope_reader" in watched.url:
        pytest.skip("this role cannot write")
    before = watched.everything()
    engine = open_connection(connection_to(watched.url, embedder="hashing"))
    engine.recall("Where does Ana live?", ANA, touch=True)
    engine.close()
    assert watched.everything() != before


def look_at_everything(engine: MemoryEngine) -> None:
    from mnemoscope.core import utc_now
    from mnemoscope.health import health_checks

    assert engine.recall("Where does Ana live?", ANA)
    engine.recall("Ben", (), subtree=True, include_private=True)
    for record in engine.list(ANA, include_private=True):
        engine.explain("cat", ANA, record.key)
    assert engine.history(())
    assert engine.curation.trash((), subtree=True)
    assert engine.usage.recalls(ANA)
    assert not [check for check in health_checks(engine, utc_now()) if "could not be checked" in check.report]


def first_key(watched: Watched) -> str:
    engine = open_connection(connection_to(watched.url, embedder="hashing"), writing=False)
    key = engine.list(ANA)[0].key
    engine.close()
    return key
