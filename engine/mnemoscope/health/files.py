"""The check-up of an SQLite file: is it there, a store, of our dimensions, and may it be written."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from ..connections.config import Connection
from ..connections.opening import embedder_of, next_dimensions
from ..core.times import utc_now
from .steps import Check, State

__all__ = ["check_file"]


def check_file(connection: Connection, environment: Mapping[str, str]) -> Iterator[Check]:
    """Look at the file on a connection of its own that cannot write."""
    file = connection.file(environment)
    assert file is not None
    if not file.exists():
        yield _check_missing(file)
        return
    try:
        with closing(sqlite3.connect(f"file:{quote(os.fspath(file.absolute()))}?mode=ro", uri=True)) as opened:
            tables = {name for (name,) in opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            size = file.stat().st_size
            told = f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.0f} kB"
            yield Check("Reachable", "good", f"{file}, {told}, SQLite {sqlite3.sqlite_version}")
            yield from _check_tables(tables, opened)
            if "store_vectors" in tables:
                yield _check_dimensions(connection, opened)
    except sqlite3.Error as error:
        report = f"The SQLite file {file} cannot be used: {error}."
        yield Check("Reachable", "bad", report, "Name another file with --store or $MNEMOSCOPE_STORE.")
        return
    yield Check("Clock", "good", f"the file is on this machine, where it is {utc_now():%Y-%m-%d %H:%M:%S} UTC")
    yield _check_permissions(connection, file)


def _check_missing(file: Path) -> Check:
    folder = next(parent for parent in file.absolute().parents if parent.exists())
    if not os.access(folder, os.W_OK):
        report = f"{file} is not there, and {folder} does not let you make it."
        return Check("Reachable", "bad", report, "Name another file with --store or $MNEMOSCOPE_STORE.")
    report = f"{file} is not there yet; the first memory makes it"
    return Check("Reachable", "warning", report, "If there should be memories already, check the path.")


def _check_tables(tables: set[str], opened: sqlite3.Connection) -> Iterator[Check]:
    if "store" not in tables:
        found = ", ".join(sorted(tables)[:8]) or "none"
        remedy = "Name the file that the agent's SqliteStore writes; this one is another program's."
        yield Check("Tables", "bad", f"there is no table 'store'; there are: {found}", remedy)
        return
    columns = {row[1] for row in opened.execute("PRAGMA table_info(store)")}
    missing = {"prefix", "key", "value", "created_at", "updated_at"} - columns
    if missing:
        remedy = "The table is not LangGraph's. Name another file."
        yield Check("Tables", "bad", f"the table 'store' lacks {', '.join(sorted(missing))}", remedy)
        return
    if "store_vectors" not in tables:
        remedy = (
            "It was filled by a store without an index. Build the agent's store with one, and put its memories anew."
        )
        yield Check("Tables", "warning", "'store' is there, 'store_vectors' is not: nothing has a vector", remedy)
        return
    yield Check("Tables", "good", "'store' and 'store_vectors' are there")
    yield Check("Index", "good", "none is needed: ranking is exact, over vectors kept in memory")


def _check_dimensions(connection: Connection, opened: sqlite3.Connection) -> Check:
    rows = opened.execute("SELECT length(embedding) / 4, count(*) FROM store_vectors GROUP BY 1 ORDER BY 2 DESC")
    found = dict(rows.fetchall())
    if not found:
        return Check("Dimensions", "good", "there are no vectors yet")
    wanted = connection.dimensions or len(embedder_of(connection).embed_query("content"))
    if wanted not in found and (after := next_dimensions(connection)) in found and len(found) == 1:
        return Check("Dimensions", "good", f"{after}, as the next embedder's; the file has gone over to it")
    listed = ", ".join(f"{count:,} of {size}" for size, count in found.items())
    if set(found) == {wanted}:
        return Check(
            "Dimensions", "good", f"{wanted}, as the embedder's; {found[wanted]:,} vector{'s'[: found[wanted] != 1]}"
        )
    remedy = "Name the embedder that made the vectors; or go over to this one, which makes every vector anew."
    state: State = "warning" if wanted in found else "bad"
    said = f"the embedder gives {wanted}, the file holds {listed}"
    return Check("Dimensions", state, said, remedy, "mnemoscope reembed")


def _check_permissions(connection: Connection, file: Path) -> Check:
    if connection.read_only:
        return Check("Permissions", "good", "read; writing is refused by the connection's read_only")
    for path in (file, file.parent):
        if not os.access(path, os.W_OK):
            remedy = f"Give yourself the right to write {path}, or set read_only = true."
            return Check("Permissions", "warning", f"read; {path} cannot be written", remedy)
    return Check("Permissions", "good", "read and write")
