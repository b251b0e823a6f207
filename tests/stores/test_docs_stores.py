"""docs/stores.md says of every adapter what the adapter says of itself, and what the contract suite skips on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from mnemoscope.stores import Abilities, generic, memory
from mnemoscope.stores.postgres import adapter as postgres
from mnemoscope.stores.sqlite import adapter as sqlite
from store_skips import ABILITIES, GENERIC, skips_of

from tests.stores import test_contract

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "stores.md").read_text(encoding="utf-8")
TOLD = {
    "`InMemoryStore`": memory.MemoryAdapter._abilities,
    "`SqliteStore`": sqlite._ABILITIES,
    "`PostgresStore`": postgres._ABILITIES,
    "any other `BaseStore`": generic.GenericAdapter.abilities,
    "LangGraph server": generic.GenericAdapter.abilities,
}
NAMES = {
    "memory": "`InMemoryStore`",
    "sqlite": "`SqliteStore`",
    "postgres": "`PostgresStore`",
    "generic-memory": "`InMemoryStore` as any other",
    "generic-sqlite": "`SqliteStore` as any other",
    "generic-async-sqlite": "`AsyncSqliteStore`",
    "generic-async-postgres": "`AsyncPostgresStore`",
    "generic-server": "LangGraph server",
}


@pytest.mark.parametrize("store", TOLD)
def test_the_table_says_what_the_adapter_says(store: str) -> None:
    (row,) = [line for line in TEXT.splitlines() if line.startswith(f"| {store} |") and line.count("|") == 6]
    told = [cell.strip() for cell in row.split("|")[2:6]]
    found: Abilities = TOLD[store]
    claims = (found.reads_vectors, found.sees_changes, found.atomic, found.guards_processes)
    assert told == ["yes" if claim else "no" for claim in claims]


def test_the_variable_of_the_server_tests_is_named() -> None:
    assert "MNEMOSCOPE_TEST_SERVER" in TEXT


def test_what_the_suite_skips_is_told_and_nothing_else() -> None:
    lines = TEXT.splitlines()
    first = lines.index("| store | skipped | because |") + 2
    assert lines[first : first + len(rows())] == rows()
    assert not lines[first + len(rows())].startswith("|")


def rows() -> list[str]:
    """The rows of the table: for the same reason on the same stores, one row."""
    skips = {store: skips_of(store, test_contract) for store in ABILITIES}
    where: dict[tuple[str, str], list[str]] = {}
    for store, reasons in skips.items():
        for claim, reason in reasons.items():
            where.setdefault((claim, reason), []).append(store)
    claims: dict[tuple[str, str], list[str]] = {}
    for (claim, reason), stores in where.items():
        claims.setdefault((named(stores), reason), []).append(claim)
    return [f"| {stores} | {'; '.join(sorted(told))} | {reason} |" for (stores, reason), told in claims.items()]


def named(stores: list[str]) -> str:
    every = set(stores) == set(GENERIC)
    return "any other, LangGraph server" if every else ", ".join(NAMES[store] for store in stores)


if __name__ == "__main__":
    print(*rows(), sep="\n")
