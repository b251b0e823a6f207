"""PostgreSQL as most people have it: 100,000 memories under the index that the official store makes by default.

That index makes the store's own search lose almost all of a small namespace. The pages must not; and they must live
through the server being killed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from langchain_core.embeddings import Embeddings
from langgraph.store.postgres import PostgresStore
from mnemoscope.connections import connection_to, open_connection
from mnemoscope.embedding import HashingEmbeddings
from postgres_fixture import Server, running_server
from streamlit.testing.v1 import AppTest

from app.session.session import CONNECTION_KEY
from app.views.recall.query import QUERY_KEY

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("large-postgres")]

Dashboard = Callable[..., AppTest]

MEMORIES = 100_000
DIMENSIONS = 8
EMBEDDINGS = HashingEmbeddings(DIMENSIONS)
TEAM = ("team", "thousand")
QUERY = "Who works at the office in Porto?"
HERE = {"c": "large", "ns": list(TEAM)}
MOMENT = "2026-01-05T10:00:00+00:00"

CONFIGURATION = """
default = "large"
[connections.large]
url = "{url}"
embedder = "python:{module}:embedder"
[connections.small]
url = "sqlite:///small.sqlite"
embedder = "hashing"
"""


def embedder() -> Embeddings:
    return EMBEDDINGS


def vectors() -> np.ndarray[Any, np.dtype[np.float32]]:
    rows = np.random.default_rng(7).standard_normal((MEMORIES, DIMENSIONS), np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def place(at: int) -> str:
    return "team.thousand" if at < 1_000 else f"tenants.t{at % 50:02}.user{at % 4_950:04}"


def fill(url: str) -> None:
    """Fill the tables as the official `setup()` makes them, and end with the very index that it makes."""
    index: Any = {"dims": DIMENSIONS, "embed": EMBEDDINGS, "fields": ["content"]}
    with PostgresStore.from_conn_string(url, index=index) as store:
        store.setup()
    with psycopg.connect(url, autocommit=True) as connection:
        # An index that is built over all rows at once is the same, only sooner.
        definition = connection.execute(
            "SELECT indexdef FROM pg_indexes WHERE tablename = 'store_vectors' AND indexdef ILIKE '%hnsw%'"
        ).fetchone()
        assert definition is not None
        connection.execute(b"DROP INDEX store_vectors_embedding_idx")
        with connection.cursor().copy(b"COPY store (prefix, key, value, created_at, updated_at) FROM STDIN") as copy:
            for at in range(MEMORIES):
                value = f'{{"kind": "memory", "content": "Fact {at}", "importance": 0.5, "created_at": "{MOMENT}"}}'
                copy.write_row((place(at), f"m{at:06}", value, MOMENT, MOMENT))
        with connection.cursor().copy(b"COPY store_vectors (prefix, key, field_name, embedding) FROM STDIN") as copy:
            for at, row in enumerate(vectors().tolist()):
                copy.write_row((place(at), f"m{at:06}", "content", str(row)))
        connection.execute(b"SET maintenance_work_mem = '256MB'")
        connection.execute(definition[0].encode())
        connection.execute(b"ANALYZE")


def true_results() -> list[str]:
    """The ten nearest of the namespace, by brute force: everything else about its memories is the same."""
    similarity = vectors()[:1_000] @ np.array(EMBEDDINGS.embed_query(QUERY), np.float32)
    return [f"Fact {at}" for at in np.argsort(-similarity)[:10].tolist()]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as started:
        fill(started.url)
        yield started


@pytest.fixture
def connected(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store beside another one, in a file."""
    (tmp_path / "mnemoscope.toml").write_text(CONFIGURATION.format(url=server.url, module=__name__))
    monkeypatch.setenv("MNEMOSCOPE_CONFIG", str(tmp_path / "mnemoscope.toml"))
    small = open_connection(connection_to(str(tmp_path / "small.sqlite"), embedder="hashing"))
    small.remember("Ben drinks green tea.", ("memories", "ben"), extract=False)
    small.close()


def words(test: AppTest) -> str:
    shown = (*test.error, *test.warning, *test.code, *test.markdown, *test.caption, *test.text, *test.subheader)
    return "\n".join(str(each.value) for each in shown)


def returned(test: AppTest) -> list[str]:
    given = next(code.value for code in test.code if code.value.startswith("- (score="))
    return [line.split(") ", 1)[1].strip('"') for line in given.splitlines()]


@pytest.mark.usefixtures("connected")
def test_the_stores_own_search_loses_what_the_page_finds(server: Server, dashboard: Dashboard) -> None:
    index: Any = {"dims": DIMENSIONS, "embed": EMBEDDINGS, "fields": ["content"]}
    with PostgresStore.from_conn_string(server.url, index=index) as store:
        assert len(store.search(TEAM, query=QUERY, limit=10)) <= 5
    test = dashboard(None, "recall", query={**HERE, QUERY_KEY: QUERY})
    assert not test.exception
    assert not test.error
    assert returned(test) == true_results()
    assert "10 returned · exact · 1,000 of 1,000 memories examined" in words(test)
    assert "An approximate index" in words(test)


@pytest.mark.usefixtures("connected")
def test_an_open_page_lives_through_the_servers_crash(server: Server, dashboard: Dashboard) -> None:
    test = dashboard(None, "recall", query={**HERE, QUERY_KEY: QUERY})
    before = returned(test)
    server.kill()
    try:
        test.run(timeout=60)
        assert "The store did not answer" in words(test)
        assert "nothing listens there" in words(test)
        assert "Nothing is remembered here yet" not in words(test)
        assert "There is no such namespace" not in words(test)
        test.selectbox(key=CONNECTION_KEY).select("small").run(timeout=60)
        assert not test.error
        assert "memories/ben" in str(test.selectbox(key="scope.namespace").options)
    finally:
        server.revive()
    test.selectbox(key=CONNECTION_KEY).select("large").run(timeout=60)
    assert not test.error
    test.query_params["ns"], test.query_params[QUERY_KEY] = list(TEAM), QUERY
    test.run(timeout=60)
    assert not test.exception
    assert returned(test) == before == true_results()


@pytest.mark.usefixtures("connected")
def test_health_says_how_the_index_is_cured_and_the_warning_is_gone_once_it_is(
    server: Server, dashboard: Dashboard
) -> None:
    test = dashboard(None, "health", query={"c": "large"})
    assert "agents get too few memories of a namespace" in words(test)
    command = next(code.value for code in test.code if code.value.startswith("DROP INDEX"))
    # The last test of this module: to build the index again takes a quarter of a minute.
    server.administer(command)
    assert "An approximate index" not in words(test.run())
