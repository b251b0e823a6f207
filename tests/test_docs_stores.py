"""docs/stores.md says of every adapter what the adapter says of itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from mnemoscope.stores import generic, memory, postgres, sqlite
from mnemoscope.stores.base import Abilities

TEXT = (Path(__file__).resolve().parent.parent / "docs" / "stores.md").read_text(encoding="utf-8")
ABILITIES = {
    "`InMemoryStore`": memory.MemoryAdapter.abilities,
    "`SqliteStore`": sqlite._ABILITIES,
    "`PostgresStore`": postgres._ABILITIES,
    "any other `BaseStore`": generic.GenericAdapter.abilities,
    "LangGraph server": generic.GenericAdapter.abilities,
}


@pytest.mark.parametrize("store", ABILITIES)
def test_the_table_says_what_the_adapter_says(store: str) -> None:
    (row,) = [line for line in TEXT.splitlines() if line.startswith(f"| {store} |") and line.count("|") == 6]
    told = [cell.strip() for cell in row.split("|")[2:6]]
    found: Abilities = ABILITIES[store]
    claims = (found.reads_vectors, found.sees_changes, found.atomic, found.guards_processes)
    assert told == ["yes" if claim else "no" for claim in claims]


def test_the_variable_of_the_server_tests_is_named() -> None:
    assert "MNEMOSCOPE_TEST_SERVER" in TEXT
