"""Reach a PostgreSQL server: open the official `PostgresStore` on a pool, and say what went wrong and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from langchain_core.embeddings import Embeddings

from ...core.imports import needing
from ...errors import ConfigurationError, MnemoscopeError, PermissionDeniedError, StoreError, StoreUnavailableError
from ..base import CONTENT_FIELD

__all__ = ["open_postgres", "taken", "translated"]


with needing("postgres"):
    import psycopg
    from langgraph.store.postgres import PostgresStore
    from langgraph.store.postgres.base import PostgresIndexConfig
    from psycopg import errors
    from psycopg.conninfo import conninfo_to_dict, make_conninfo
    from psycopg.rows import dict_row
    from psycopg_pool import ConnectionPool, PoolTimeout

CONNECT_SECONDS = 10
"""How long a connection may take to be made, or to become free."""

RECONNECT_SECONDS = 2.0
"""How long a call waits for a connection before it is asked whether the server is there."""

_COLUMNS = {
    "store": ("prefix", "key", "value", "created_at", "updated_at"),
    "store_vectors": ("prefix", "key", "field_name", "embedding"),
}

MAX_CONNECTIONS = 4
"""Connections of one store: so many readings go on at once."""


def open_postgres(
    url: str,
    *,
    embeddings: Embeddings,
    dimensions: int | None = None,
    read_only: bool = False,
    statement_timeout: float = 30.0,
    fields: Sequence[str] = (CONTENT_FIELD,),
) -> PostgresStore:
    """The official store on a pool of connections, the text of its `fields` embedded by `embeddings`.

    Tables are made where they are missing, without an approximate index: with one, the store's own search
    leaves out most of a small namespace of a large store. No right to make tables is needed where they are
    there. `read_only` makes and changes nothing, by a setting of the server for these connections, and works
    for a role that may only read. A call that takes longer than `statement_timeout` seconds is given up.
    `dimensions` are asked of the embedder where they are not given. Close it by `store.conn.close()`.

    Raises:
        StoreUnavailableError: the server cannot be reached or refuses, has no pgvector, or holds no store.
        PermissionDeniedError: tables are missing, and the role may not make them.
        ConfigurationError: the URL cannot be read.
    """
    info, shown = _read_url(url, read_only=read_only, statement_timeout=statement_timeout)
    size = dimensions or getattr(embeddings, "dimensions", None) or len(embeddings.embed_query(CONTENT_FIELD))
    try:
        with psycopg.connect(info, autocommit=True, connect_timeout=CONNECT_SECONDS) as connection:
            if read_only:
                _check_readable(connection, shown)
            is_ready = read_only or _is_set_up(connection)
            _check_vectors(connection, shown, is_ready=is_ready)
        store = PostgresStore(_pool(info), index=_index(size, embeddings, fields))
    except psycopg.Error as error:
        raise translated(error, shown) from error
    try:
        if not is_ready:
            store.setup()
    except psycopg.Error as error:
        cast("ConnectionPool[Any]", store.conn).close()
        raise translated(error, shown) from error
    return store


def translated(error: psycopg.Error, server: str = "server") -> MnemoscopeError:
    """Our error for one of PostgreSQL's, with what to do."""
    for kinds, made, advice in _ADVICE:
        if isinstance(error, kinds):
            return made(f"The PostgreSQL {server}: {advice} ({_message(error)})")
    text = _message(error)
    for part, advice in _TEXTS.items():
        if part in text:
            return StoreUnavailableError(f"The PostgreSQL {server}: {advice} ({text})")
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return StoreUnavailableError(f"The PostgreSQL {server} cannot be reached; check that it runs. ({text})")
    return StoreError(f"The PostgreSQL {server} failed: {text}")


def taken(pool: ConnectionPool[psycopg.Connection[Any]]) -> psycopg.Connection[Any]:
    """A connection of the pool, to be given back by `putconn`.

    Where none comes free soon, it is tried whether the server answers at all, so that it is said at once if not.
    """
    try:
        return pool.getconn(timeout=min(pool.timeout, RECONNECT_SECONDS))
    except PoolTimeout:
        if isinstance(pool.conninfo, str):
            psycopg.connect(pool.conninfo, autocommit=True, connect_timeout=CONNECT_SECONDS).close()
    return pool.getconn()


def _read_url(url: str, *, read_only: bool, statement_timeout: float) -> tuple[str, str]:
    """The connection string with our options, and the name of the database without its password."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # Its message may quote the password.
        raise ConfigurationError(
            "The PostgreSQL URL cannot be read; write it as postgresql://user:password@host:5432/database."
        ) from None
    options = [str(parts.get("options") or ""), f"-c statement_timeout={max(int(statement_timeout * 1000), 1)}"]
    if read_only:
        options.append("-c default_transaction_read_only=on")
    shown = f"{parts.get('dbname') or parts.get('user') or 'database'} at {parts.get('host') or 'this machine'}"
    return make_conninfo(url, options=" ".join(filter(None, options))), shown


def _pool(info: str) -> ConnectionPool[psycopg.Connection[dict[str, Any]]]:
    pool = ConnectionPool(
        info,
        min_size=1,
        max_size=MAX_CONNECTIONS,
        timeout=CONNECT_SECONDS,
        # What waits longer between its attempts the longer a server is away, notices late that it is back.
        reconnect_timeout=RECONNECT_SECONDS,
        kwargs={
            "autocommit": True,
            "prepare_threshold": 0,
            "row_factory": dict_row,
            "connect_timeout": CONNECT_SECONDS,
        },
        open=True,
    )
    return cast("ConnectionPool[psycopg.Connection[dict[str, Any]]]", pool)


def _index(dimensions: int, embeddings: Embeddings, fields: Sequence[str]) -> PostgresIndexConfig:
    return {
        "dims": dimensions,
        "embed": embeddings,
        "fields": list(fields),
        "ann_index_config": {"kind": "flat"},
    }


def _is_set_up(connection: psycopg.Connection[Any]) -> bool:
    """Whether the tables are there, as new as the installed package makes them."""
    tables = ("store", "store_vectors", "store_migrations")
    found = connection.execute("SELECT count(to_regclass(each)) FROM unnest(%s::text[]) AS each", (list(tables),))
    if found.fetchone() != (len(tables),):
        return False
    newest = connection.execute("SELECT max(v) FROM store_migrations").fetchone()
    return newest is not None and (newest[0] or 0) >= len(PostgresStore.MIGRATIONS) - 1


def _check_readable(connection: psycopg.Connection[Any], shown: str) -> None:
    """Older layouts lack columns that are not needed for reading, and newer ones may have more."""
    listed = connection.execute(
        "SELECT c.relname::text, array_agg(a.attname::text) FROM pg_class AS c JOIN pg_attribute AS a "
        "ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
        "WHERE c.oid IN (to_regclass('store'), to_regclass('store_vectors')) GROUP BY c.relname"
    )
    found = dict(listed.fetchall())
    for table, columns in _COLUMNS.items():
        missing = [name for name in columns if name not in found.get(table, ())]
        if missing and not (table == "store_vectors" and missing == ["embedding"]):
            lacks = f"its table {table} lacks {', '.join(missing)}" if table in found else f"it has no table {table}"
            raise StoreUnavailableError(
                f"The database {shown} holds no LangGraph store with vectors: {lacks}. Check its name and the "
                "search_path, or open it for writing once to set it up."
            )


def _check_vectors(connection: psycopg.Connection[Any], shown: str, *, is_ready: bool) -> None:
    found = connection.execute(
        "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('store_vectors') AND attname = 'embedding' "
        "AND NOT attisdropped"
    )
    if is_ready and found.fetchone() is None:
        raise StoreUnavailableError(
            f"The database {shown} has lost its vectors: store_vectors has no column 'embedding', as when pgvector "
            "was dropped. Restore that table from a backup, with CREATE EXTENSION vector before."
        )


def _message(error: psycopg.Error) -> str:
    return " ".join(str(error).split()) or type(error).__name__


_ADVICE: tuple[tuple[type[psycopg.Error] | tuple[type[psycopg.Error], ...], type[MnemoscopeError], str], ...] = (
    (
        errors.InsufficientPrivilege,
        PermissionDeniedError,
        "the role may not do this; grant it the right, or connect as another, or open it read-only.",
    ),
    (
        errors.ReadOnlySqlTransaction,
        PermissionDeniedError,
        "it was opened read-only, or is a read-only replica; open it for writing to change it.",
    ),
    (
        (errors.UndefinedTable, errors.UndefinedColumn),
        StoreUnavailableError,
        "it holds no LangGraph store, or an older one; call store.setup(), or check the name of the database.",
    ),
    (
        (errors.UndefinedFile, errors.FeatureNotSupported, errors.UndefinedObject),
        StoreUnavailableError,
        "it lacks pgvector; install it on the server, then run CREATE EXTENSION vector in the database.",
    ),
    (
        errors.QueryCanceled,
        StoreError,
        "a call took too long and was given up; try again, or raise statement_timeout.",
    ),
    (errors.DeadlockDetected, StoreError, "two writers waited for each other; nothing was written, try again."),
    (errors.InvalidCatalogName, StoreUnavailableError, "there is no such database; check its name."),
    (
        (errors.InvalidPassword, errors.InvalidAuthorizationSpecification),
        StoreUnavailableError,
        "it refuses the user or the password; check both.",
    ),
    (
        PoolTimeout,
        StoreUnavailableError,
        "no connection came free in time; check that it runs, and how many it allows.",
    ),
    (errors.DataException, StoreError, "it refuses the data; were the vectors made by another embedder?"),
)

# A refused connection has no code, only a text.
_TEXTS = {
    "password authentication failed": "it refuses the user or the password; check both.",
    "no password supplied": "it asks for a password; put one into the URL.",
    "does not exist": "there is no such database or role; check the names.",
    "No such file or directory": "nothing listens there; check host and port, and that the server runs.",
    "Connection refused": "nothing listens there; check host and port, and that the server runs.",
    "could not translate host name": "the host is not known; check its name.",
    "failed to resolve host": "the host is not known; check its name.",
    "timeout expired": "it did not answer in time; check host, port and firewall.",
}
