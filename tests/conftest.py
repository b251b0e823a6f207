"""What tests of several parts use: seeded engines and files, and the dashboard over them as an `AppTest`.

Imports stand inside the fixtures, so that a test of the engine alone does not wait for the dashboard's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis_profiles  # noqa: F401 - registers hypothesis' profiles before a test is read
import pytest

if TYPE_CHECKING:
    from mnemoscope import MemoryEngine
    from openai_server import OpenAIServer, Reply
    from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parent.parent
MAIN = ROOT / "app" / "main.py"

SEED: dict[tuple[str, ...], list[dict[str, Any]]] = {
    ("memories", "ana"): [
        {"content": "Ana lives in Lisbon.", "categories": ["home"], "importance": 0.8},
        {"content": "Ana's favourite drink is green tea.", "categories": ["food"], "importance": 0.4},
        {"content": "Ana prefers short answers.", "categories": ["preference"], "importance": 0.6},
        {"content": "**bold** <b>html</b> ![x](http://example.invalid/x.png) \u202eexe", "categories": ["food"]},
    ],
    ("memories", "ben"): [{"content": "Ben is allergic to peanuts.", "categories": ["health"], "importance": 1.0}],
}
"""Facts by namespace, one of them hostile: what `seeded_engine` and `seeded_file` hold."""


@pytest.fixture
def empty_engine() -> MemoryEngine:
    """An engine over an empty in-memory store, with the rules in place of a model."""
    from langgraph.store.memory import InMemoryStore
    from mnemoscope import MemoryEngine, RuleConsolidator, RuleExtractor
    from mnemoscope.embedding import HashingEmbeddings

    embedder = HashingEmbeddings()
    dimensions = len(embedder.embed_query("a"))
    store = InMemoryStore(index={"dims": dimensions, "embed": embedder, "fields": ["content"]})
    return MemoryEngine(store, extractor=RuleExtractor(), consolidator=RuleConsolidator())


@pytest.fixture
def seeded_engine(empty_engine: MemoryEngine) -> MemoryEngine:
    """An in-memory engine that holds `SEED`."""
    return _seed(empty_engine)


@pytest.fixture
def seeded_file(tmp_path: Path) -> Path:
    """An SQLite file that holds `SEED`, embedded by the bundled model, closed again."""
    from mnemoscope.connections import connection_to, open_connection

    path = tmp_path / "seeded.sqlite"
    engine = open_connection(connection_to(str(path)))
    _seed(engine)
    engine.close()
    return path


@pytest.fixture
def dashboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., AppTest]]:
    """A function that opens a page of the dashboard over an engine and runs it once.

    `dashboard(engine, "browse", query={"ns": ["memories", "ana"]}, writing=True)` gives the `AppTest`; `state`
    seeds the session state before that first run (a table's selection, say). The engine takes the place of
    `app.session.session.memory_engine`. Without an engine the real one is opened, as the environment says.
    """
    from streamlit.testing.v1 import AppTest

    from app.components import work
    from app.session import session

    def open_page(
        engine: MemoryEngine | None = None,
        page: str = "overview",
        *,
        query: dict[str, str | list[str]] | None = None,
        writing: bool = False,
        state: dict[str, Any] | None = None,
    ) -> AppTest:
        if engine is not None:
            monkeypatch.setattr(session, "memory_engine", lambda *_arguments: engine)
        test = AppTest.from_file(str(MAIN), default_timeout=30)
        for name, value in (query or {}).items():
            test.query_params[name] = value
        for name, value in {session.WRITING_KEY: writing, **(state or {})}.items():
            test.session_state[name] = value
        if page != "overview":
            test.switch_page(str(ROOT / "pages" / f"{page}.py"))
        return test.run()

    monkeypatch.setenv("MNEMOSCOPE_OPERATOR", "tester")
    monkeypatch.setattr(work, "PATIENCE_SECONDS", 25.0)
    _clear_caches()
    yield open_page
    _clear_caches()


@pytest.fixture
def script_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A folder for commands to run in, with nothing of this machine's settings."""
    from app.session.settings import VARIABLES

    for variable in VARIABLES.values():
        monkeypatch.delenv(variable.name, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("MNEMOSCOPE_EMBEDDER", "hashing")
    monkeypatch.setenv("MNEMOSCOPE_OPERATOR", "script")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., OpenAIServer]]:
    """A function that serves these replies as the model `openai:test-model`."""
    from openai_server import OpenAIServer

    servers: list[OpenAIServer] = []

    def serve(*replies: Reply) -> OpenAIServer:
        servers.append(OpenAIServer(replies))
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", servers[-1].url)
        return servers[-1]

    yield serve
    for server in servers:
        server.close()


def _seed(engine: MemoryEngine) -> MemoryEngine:
    from mnemoscope import ExtractedFact

    for namespace, facts in SEED.items():
        engine.remember_facts([ExtractedFact(**fact) for fact in facts], namespace)
    return engine


def _clear_caches() -> None:
    import streamlit

    streamlit.cache_data.clear()
    streamlit.cache_resource.clear()
