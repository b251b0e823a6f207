"""The examples run, and leave behind what they say."""

from __future__ import annotations

import importlib
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from langgraph.store.base import BaseStore
from mnemoscope import MemoryEngine, RuleConsolidator, RuleExtractor
from mnemoscope.embedding import BundledEmbeddings
from mnemoscope.stores.postgres import open_postgres
from mnemoscope.stores.sqlite import open_sqlite
from stores_fixture import postgres_database

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ANSWERS = [
    "Noted. The new router is on its way.",
    "You have an Acme 5 router. Hold its button for ten seconds.",
    "Which router do you have?",
]


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(EXAMPLES))

    def load(name: str) -> ModuleType:
        return importlib.import_module(name)

    return load


def remembered(store: BaseStore, namespace: tuple[str, ...]) -> list[str]:
    engine = MemoryEngine(store, extractor=RuleExtractor(), consolidator=RuleConsolidator())
    return sorted(record.content for record in engine.list(namespace))


def check_served(store: BaseStore, printed: str) -> None:
    assert printed.splitlines()[:3] == ANSWERS
    assert '"User\'s router is an Acme 5"' in printed
    assert "remember node, thread monday" in printed
    assert remembered(store, ("support", "ana@example.org")) == ["User lives in Hanoi", "User's router is an Acme 5"]
    assert remembered(store, ("support", "ben@example.org")) == []


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_an_example_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < 60


def test_the_support_agent_on_sqlite(example: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "support.sqlite"
    example("support_agent_sqlite").main(path)
    store = open_sqlite(path, embeddings=BundledEmbeddings())
    with closing(store.conn):
        check_served(store, capsys.readouterr().out)
        assert store.conn.execute("SELECT count(DISTINCT thread_id) FROM checkpoints").fetchone() == (3,)


def test_the_support_agent_on_postgresql(example: Any, capsys: pytest.CaptureFixture[str]) -> None:
    url = postgres_database("support")
    example("support_agent_postgres").main(url)
    store = open_postgres(url, embeddings=BundledEmbeddings())
    with closing(store.conn):
        check_served(store, capsys.readouterr().out)


def test_the_migration_from_langmem_finds_everything_and_can_be_undone(
    example: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = example("migrate_from_langmem").main()
    printed = capsys.readouterr().out
    assert "langmem_tool: 'Ana drinks green tea.'" in printed
    assert "langmem_manager: 'name: Ana\\nlanguage: Portuguese'" in printed
    assert "2 adopted" in printed
    assert printed.splitlines()[-1].endswith("Ana drinks green tea.")
    records = engine.list(("memories", "ana"))
    assert {record.kind for record in records} == {"memory"}
    group = engine.history(("memories", "ana"))[0].group
    engine.undo(group)
    values = [item.value for item in engine.store.search(("memories", "ana"))]
    assert {"content": "Ana drinks green tea."} in values
    assert {"kind": "UserProfile", "content": {"name": "Ana", "language": "Portuguese"}} in values
