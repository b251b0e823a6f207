"""What stores leave behind: vectors without an item, rows past their time-to-live, namespaces without a memory."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, cast

from ..core.namespaces import is_reserved, show_namespace
from ..engine.facade import MemoryEngine
from ..errors import StoreError
from ..stores.view import View
from .steps import Check

__all__ = ["check_expired_rows", "check_orphans", "check_phantoms"]


_ORPHANS = """
SELECT count(*) FROM store_vectors AS v
WHERE NOT EXISTS (SELECT 1 FROM store AS s WHERE s.prefix = v.prefix AND s.key = v.key)
"""
_DELETE_ORPHANS = (
    "DELETE FROM store_vectors WHERE NOT EXISTS (SELECT 1 FROM store AS s "
    "WHERE s.prefix = store_vectors.prefix AND s.key = store_vectors.key);"
)
_COLUMNS = {
    "sqlite": "SELECT count(*) FROM pragma_table_info('{table}') WHERE name = '{column}'",
    "postgres": (
        "SELECT count(*) AS number FROM pg_attribute "
        "WHERE attrelid = to_regclass('{table}') AND attname = '{column}' AND NOT attisdropped"
    ),
}
_EXPIRED = {
    "sqlite": "SELECT count(*) FROM store WHERE expires_at IS NOT NULL AND datetime(expires_at) < datetime('now')",
    "postgres": "SELECT count(*) AS number FROM store WHERE expires_at < CURRENT_TIMESTAMP",
}
_MOST_LISTED = 100_000


def check_orphans(engine: MemoryEngine) -> Check:
    """Vectors of deleted items, which an SQLite store keeps."""
    name = "Orphan vectors"
    if engine.adapter.name == "postgres":
        return Check(name, "good", "PostgreSQL deletes them with their item")
    if engine.adapter.name != "sqlite":
        return Check(name, "skipped", "not a matter of this kind of store")
    if not _has(engine, "store_vectors", "prefix"):
        return Check(name, "skipped", "the store has no vectors")
    number = _number(engine, _ORPHANS)
    if not number:
        return Check(name, "good", "none")
    report = (
        f"{number:,} of the vectors belong to no item: the agent's store.delete() leaves them behind, and a later "
        "put() of the same key may bring them back to life"
    )
    remedy = "A change made here removes those of its own item. This removes all of them:"
    return Check(name, "warning", report, remedy, _DELETE_ORPHANS)


def check_expired_rows(engine: MemoryEngine) -> Check:
    """Rows whose time-to-live is over, which nobody has swept."""
    name = "Past their time-to-live"
    query = _EXPIRED.get(engine.adapter.name)
    if query is None:
        return Check(name, "skipped", "the store does not show it")
    if not _has(engine, "store", "expires_at"):
        return Check(name, "skipped", "the tables are of an older version, without a time-to-live")
    number = _number(engine, query)
    if not number:
        return Check(name, "good", "none")
    remedy = "Sweep them where the agent runs, or start a sweeper there by store.start_ttl_sweeper()."
    return Check(name, "warning", f"{number:,} past it, and agents still find them", remedy, "store.sweep_ttl()")


def check_phantoms(engine: MemoryEngine) -> Check:
    """Namespaces that the store lists though nothing is in them."""
    name = "Phantom namespaces"
    if engine.adapter.name in ("sqlite", "postgres"):
        return Check(name, "good", "a namespace is there only while something is in it")
    prefixes = engine.adapter.prefixes if isinstance(engine.adapter, View) else ()
    if prefixes:
        return Check(name, "skipped", "only a part of the store is shown")
    try:
        listed = engine.store.list_namespaces(limit=_MOST_LISTED)
    except (NotImplementedError, TypeError):
        # An in-memory store cannot list namespaces of which one has a label that is no text.
        return Check(name, "skipped", "the store cannot list its namespaces")
    counts = engine.counts()
    phantoms = [space for space in listed if not is_reserved(space) and space not in counts]
    if not phantoms:
        return Check(name, "good", "none")
    shown = ", ".join(show_namespace(space) for space in phantoms[:5])
    remedy = "They do no harm. They are gone when the store is loaded anew."
    return Check(name, "warning", f"{len(phantoms):,}, such as {shown}", remedy)


def _has(engine: MemoryEngine, table: str, column: str) -> bool:
    return bool(_number(engine, _COLUMNS[engine.adapter.name].format(table=table, column=column)))


def _number(engine: MemoryEngine, query: str) -> int:
    """The one number that a query of the store's own tables gives.

    Raises:
        StoreError: the store failed, or has no such table.
    """
    reading = cast("Callable[[], AbstractContextManager[Any]]", engine.store._cursor)  # type: ignore[attr-defined]
    with _translated(), reading() as cursor:
        cursor.execute(query)
        row = cursor.fetchone()
    return int(next(iter(row.values())) if isinstance(row, dict) else row[0])


@contextmanager
def _translated() -> Iterator[None]:
    """Turn errors of SQLite and of PostgreSQL into ours."""
    psycopg = sys.modules.get("psycopg")
    kinds: tuple[type[Exception], ...] = (sqlite3.Error, *((psycopg.Error,) if psycopg else ()))
    try:
        yield
    except kinds as error:
        raise StoreError(f"The store cannot be asked for it: {error}") from error
