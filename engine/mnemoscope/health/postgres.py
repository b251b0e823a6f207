"""The check-up of a PostgreSQL server, on a connection of its own that the server itself keeps from writing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..connections.config import Connection
from ..connections.opening import embedder_of, next_dimensions
from ..errors import ConfigurationError
from .steps import Check, State

if TYPE_CHECKING:
    import psycopg

__all__ = ["check_server"]


_SKEW_SECONDS = 5.0
_CREATE = "CREATE EXTENSION vector;"
_TABLES = ("store", "store_vectors", "store_migrations", "vector_migrations")


def check_server(connection: Connection, environment: Mapping[str, str]) -> Iterator[Check]:
    """Look at the server, its pgvector, tables, index, dimensions, clock and the rights of the role."""
    try:
        import psycopg

        from ..stores.postgres.connection import translated
    except (ImportError, ConfigurationError) as error:
        remedy = "pip install 'mnemoscope[postgres]'"
        yield Check("Reachable", "bad", f"PostgreSQL needs a package that is missing: {error}", remedy)
        return
    options = "-c default_transaction_read_only=on -c statement_timeout=15000"
    started = time.perf_counter()
    try:
        with psycopg.connect(
            connection.address(environment), autocommit=True, connect_timeout=5, options=options
        ) as opened:
            yield _check_reachable(opened, time.perf_counter() - started)
            for look in (_check_tables, _check_pgvector, _check_index):
                yield look(opened)
            yield _check_dimensions(connection, opened)
            yield _check_clock(opened)
            yield _check_permissions(connection, opened)
    except psycopg.Error as error:
        yield Check("Reachable", "bad", str(translated(error)), "Check host, port, database, user and password.")


def _check_reachable(opened: psycopg.Connection[Any], seconds: float) -> Check:
    version, database, user = _row(opened, "SELECT current_setting('server_version'), current_database(), current_user")
    return Check(
        "Reachable", "good", f"PostgreSQL {version}, database {database}, as {user}, in {1000 * seconds:.0f} ms"
    )


def _check_tables(opened: psycopg.Connection[Any]) -> Check:
    from langgraph.store.postgres import PostgresStore

    there = {name for name in _TABLES if _row(opened, "SELECT to_regclass(%s)", name)[0]}
    if "store" not in there:
        remedy = "Check the database and the search_path; or switch writing on once, which makes them."
        return Check("Tables", "bad", "there is no table 'store', so this database holds no LangGraph store", remedy)
    if "store_vectors" not in there:
        remedy = "Build the agent's store with an index, call its setup(), and put its memories anew."
        return Check("Tables", "bad", "there is no table 'store_vectors': nothing has a vector", remedy)
    version = _row(opened, "SELECT max(v) FROM store_migrations")[0] if "store_migrations" in there else None
    newest = len(PostgresStore.MIGRATIONS) - 1
    if version is None or version < newest:
        remedy = "Call store.setup() with the installed package, as a role that may change tables."
        return Check("Tables", "warning", f"they are of version {version}, the installed package has {newest}", remedy)
    return Check("Tables", "good", f"'store' and 'store_vectors' are there, of version {version}")


def _check_pgvector(opened: psycopg.Connection[Any]) -> Check:
    row = _row(opened, "SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    if row:
        return Check("pgvector", "good", f"version {row[0]}")
    if _row(opened, "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"):
        return Check("pgvector", "bad", "it is on the server, but not in this database", "Create it.", _CREATE)
    return Check("pgvector", "bad", "the server does not have it", "Install pgvector on the server.")


def _check_index(opened: psycopg.Connection[Any]) -> Check:
    row = _row(
        opened,
        "SELECT indexname, CASE WHEN indexdef ILIKE '%%hnsw%%' THEN 'HNSW' ELSE 'IVFFlat' END FROM pg_indexes "
        "WHERE tablename = 'store_vectors' AND (indexdef ILIKE '%%hnsw%%' OR indexdef ILIKE '%%ivfflat%%')",
    )
    if not row:
        return Check("Index", "good", "none that approximates: every search is exact")
    report = (
        f"{row[1]} ({row[0]}): the store's own search looks at the nearest of the whole store first and at the "
        "namespace afterwards, so agents get too few memories of a namespace, or none. Mnemoscope ranks exactly."
    )
    remedy = (
        "Drop it, and build every store with index={…, 'ann_index_config': {'kind': 'flat'}}, or the next setup() "
        "makes it again. Or let agents connect with options=-c hnsw.ef_search=400."
    )
    return Check("Index", "warning", report, remedy, f"DROP INDEX CONCURRENTLY {row[0]};")


def _check_dimensions(connection: Connection, opened: psycopg.Connection[Any]) -> Check:
    found = _row(
        opened,
        "SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass('store_vectors') AND attname = 'embedding'",
    )
    wanted = connection.dimensions or len(embedder_of(connection).embed_query("content"))
    if not found or found[0] in (wanted, -1):
        return Check("Dimensions", "good", f"{wanted}, as the embedder's")
    if found[0] == next_dimensions(connection):
        return Check("Dimensions", "good", f"{found[0]}, as the next embedder's; the store has gone over to it")
    remedy = "Name the embedder that made them, or give dimensions as they are; or go over to this one."
    said = f"the embedder gives {wanted}, the column holds {found[0]}"
    return Check("Dimensions", "bad", said, remedy, "mnemoscope reembed")


def _check_clock(opened: psycopg.Connection[Any]) -> Check:
    before = time.time()
    server = float(_row(opened, "SELECT extract(epoch FROM clock_timestamp())")[0])
    skew = server - (before + time.time()) / 2
    if abs(skew) <= _SKEW_SECONDS:
        return Check("Clock", "good", f"the server's differs by {skew:+.1f} s")
    remedy = "Let both machines follow a time server; until then ages and recency are off by that much."
    return Check("Clock", "warning", f"the server's differs by {skew:+.0f} s", remedy)


def _check_permissions(connection: Connection, opened: psycopg.Connection[Any]) -> Check:
    rights = {
        right: _row(opened, "SELECT has_table_privilege('store', %s)", right)[0]
        for right in ("SELECT", "INSERT", "UPDATE", "DELETE")
    }
    if not rights["SELECT"]:
        return Check(
            "Permissions",
            "bad",
            "the role may not read the table 'store'",
            "Grant it.",
            "GRANT SELECT ON store, store_vectors TO …;",
        )
    missing = [right for right, is_given in rights.items() if not is_given]
    if _row(opened, "SELECT pg_is_in_recovery()")[0]:
        return Check("Permissions", "good", "read; this is a replica, which cannot be written")
    if connection.read_only:
        return Check("Permissions", "good", "read; writing is refused by the connection's read_only")
    state: State = "warning" if missing else "good"
    report = f"read; the role lacks {', '.join(missing)}" if missing else "read and write"
    return Check("Permissions", state, report, "Grant them, or set read_only = true." if missing else "")


def _row(opened: psycopg.Connection[Any], query: str, *parameters: object) -> Any:
    return opened.execute(query, parameters or None).fetchone()
