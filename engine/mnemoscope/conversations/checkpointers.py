"""Checkpointers of LangGraph, opened for reading alone, and made tolerant of what cannot be read in them."""

from __future__ import annotations

import copy
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from ..errors import ConfigurationError, StoreError, StoreUnavailableError

__all__ = ["Damaged", "UnreadableThread", "ask", "make_tolerant", "open_checkpointer"]


_KEY_VARIABLE = "LANGGRAPH_AES_KEY"

# Errors of these packages say that the database failed, and not one row of it.
_DRIVERS = frozenset({"sqlite3", "psycopg", "pymongo", "redis"})

Answer = TypeVar("Answer")


@contextmanager
def open_checkpointer(place: str) -> Iterator[BaseCheckpointSaver[Any]]:
    """The checkpointer of an SQLite file or a "postgresql://…" database, opened for reading alone.

    Of the types that a checkpoint names, only those that are known to be harmless are built. Encrypted checkpoints
    are read with the key that LangGraph itself takes, `LANGGRAPH_AES_KEY` of the environment.

    Raises:
        StoreUnavailableError: there is no such file or database.
        ConfigurationError: the package that reads it is not installed, or the key cannot be one.
    """
    opened = _postgres(place) if place.startswith(("postgresql://", "postgres://")) else _sqlite(place)
    with opened as saver:
        yield saver


@contextmanager
def _sqlite(place: str) -> Iterator[BaseCheckpointSaver[Any]]:
    try:
        from langgraph.checkpoint.sqlite import SqliteSaver
    except ImportError as error:
        raise ConfigurationError("Reading SQLite threads needs: pip install 'mnemoscope[sqlite]'.") from error
    try:
        uri = f"{Path(place).resolve().as_uri()}?mode=ro"
        connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
    except sqlite3.Error as error:
        raise StoreUnavailableError(f"The checkpoints {place!r} cannot be opened: {error}.") from error
    with closing(connection):
        _complete_sqlite(connection)
        yield SqliteSaver(connection, serde=_careful())


def _complete_sqlite(connection: sqlite3.Connection) -> None:
    """Let this connection alone see the column that versions before 3.1.2 did not write.

    A view of the connection's own stands before the table of the same name; the file is not touched.
    """
    try:
        columns = {row[1] for row in connection.execute("PRAGMA main.table_info(writes)")}
        if columns and "task_path" not in columns:
            connection.execute("CREATE TEMP VIEW writes AS SELECT *, '' AS task_path FROM main.writes")
    except sqlite3.DatabaseError:
        # It is no database: the first look at its threads says so.
        return


@contextmanager
def _postgres(place: str) -> Iterator[BaseCheckpointSaver[Any]]:
    try:
        import psycopg
        from psycopg.rows import dict_row
    except ImportError as error:
        raise ConfigurationError("Reading PostgreSQL threads needs: pip install 'mnemoscope[postgres]'.") from error
    try:
        connection = psycopg.connect(
            place,
            autocommit=True,
            prepare_threshold=0,
            row_factory=dict_row,
            options="-c default_transaction_read_only=on",
        )
    except psycopg.ProgrammingError:
        # Its message may quote the password.
        raise ConfigurationError(
            "The PostgreSQL URL cannot be read; write it as postgresql://user:password@host:5432/database."
        ) from None
    except psycopg.Error as error:
        raise StoreUnavailableError(f"The database of checkpoints cannot be reached: {error}") from error
    with closing(connection):
        yield _postgres_saver(connection)


def _postgres_saver(connection: Any) -> BaseCheckpointSaver[Any]:
    """The saver for the tables that are there: what was not migrated is read as it is."""
    from langgraph.checkpoint.postgres import PostgresSaver

    of_checkpoints, of_writes = (_postgres_columns(connection, table) for table in ("checkpoints", "checkpoint_writes"))
    if of_checkpoints and "checkpoint_id" not in of_checkpoints:
        return _shallow_saver(connection)
    saver = PostgresSaver(connection, serde=_careful())
    if of_writes and "task_path" not in of_writes:
        # A name of the query's own stands before the table of the same name.
        complete = "WITH checkpoint_writes AS (SELECT *, ''::text AS task_path FROM checkpoint_writes) "
        saver.SELECT_SQL = complete + saver.SELECT_SQL
        saver.SELECT_PENDING_SENDS_SQL = complete + saver.SELECT_PENDING_SENDS_SQL
    return saver


def _postgres_columns(connection: Any, table: str) -> set[str]:
    query = "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped"
    return {row["attname"] for row in connection.execute(query, (table,))}


def _shallow_saver(connection: Any) -> BaseCheckpointSaver[Any]:
    """The saver of tables that keep the newest checkpoint of a thread alone."""
    import warnings

    try:
        from langgraph.checkpoint.postgres.shallow import ShallowPostgresSaver
    except ImportError as error:
        raise ConfigurationError(
            "These checkpoints were written by ShallowPostgresSaver; reading them needs: "
            "pip install 'langgraph-checkpoint-postgres<4'."
        ) from error
    with warnings.catch_warnings():
        # It is deprecated for writing; what it wrote stays.
        warnings.simplefilter("ignore", DeprecationWarning)
        return ShallowPostgresSaver(connection, serde=_careful())


def _careful() -> SerializerProtocol:
    """A serializer that builds no type that is not known to be harmless, and decrypts where the key is known."""
    plain = JsonPlusSerializer(allowed_msgpack_modules=None)
    if not os.environ.get(_KEY_VARIABLE):
        return plain
    try:
        return EncryptedSerializer.from_pycryptodome_aes(plain)
    except ValueError as error:
        raise ConfigurationError(f"The key of the checkpoints cannot be used: {error}") from error
    except ImportError:
        # Whether anything is encrypted shows at the first thread that is, and then it is said.
        return plain


# What cannot be read


class Damaged(dict[str, Any]):
    """What stands for a value that cannot be read: an empty checkpoint, with the reason in it.

    Savers unpack checkpoints, so it is a mapping with what they look for.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(
            v=4, id="", ts="", channel_values={}, channel_versions={}, versions_seen={}, pending_sends=[], reason=reason
        )

    @property
    def reason(self) -> str:
        return str(self["reason"])


class _Attempt:
    """Whatever is raised within it, kept instead: a cipher or a type of somebody's own may raise anything."""

    error: Exception | None = None

    def __enter__(self) -> _Attempt:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, Exception):
            self.error = error
        return self.error is not None


class _Tolerant(SerializerProtocol):
    """A saver's serializer that gives `Damaged` for what it cannot read."""

    def __init__(self, serde: Any) -> None:
        self._serde = serde

    def __getattr__(self, name: str) -> Any:
        return getattr(self._serde, name)

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        return cast(tuple[str, bytes], self._serde.dumps_typed(obj))

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        with _Attempt() as attempt:
            return self._serde.loads_typed(data)
        return Damaged(_why_unread(str(data[0]), attempt.error))


def _why_unread(kind: str, error: Exception | None) -> str:
    """Why a value of this serialised type cannot be read, and what to do."""
    if "+" in kind:
        cipher = kind.partition("+")[2]
        if isinstance(error, NotImplementedError):
            return (
                f"It is encrypted ({cipher}). Set {_KEY_VARIABLE} to the agent's key and install pycryptodome, or read "
                "the thread in Python with the agent's own checkpointer."
            )
        return f"It is encrypted ({cipher}) with another key than {_KEY_VARIABLE}: {error}."
    if kind == "pickle":
        return (
            "It was pickled, and reading it would run code out of the database. Read the thread in Python with the "
            "agent's own checkpointer if you trust it."
        )
    return f"Its bytes are damaged ({type(error).__name__}: {error}). A backup of the database may hold it whole."


def make_tolerant(checkpointer: BaseCheckpointSaver[Any]) -> BaseCheckpointSaver[Any]:
    """The same saver, told that its tables are there so that reading does not make them, and tolerant."""
    twin = copy.copy(checkpointer)
    if hasattr(twin, "is_setup"):
        twin.is_setup = True
    twin.serde = _Tolerant(checkpointer.serde)
    return twin


class UnreadableThread(Exception):
    """A thread that cannot be read, with the reason; the checkpointer itself works."""


def ask(call: Callable[[], Answer]) -> Answer:
    """What a call of a checkpointer gives.

    Raises:
        StoreError: the checkpointer failed.
        UnreadableThread: what it was asked for cannot be read.
    """
    try:
        return call()
    except Exception as error:
        drivers = {base.__module__.partition(".")[0] for base in type(error).__mro__}
        if isinstance(error, OSError) or not drivers.isdisjoint(_DRIVERS):
            raise StoreError(
                f"The checkpointer failed ({type(error).__name__}): {error}. Is it one of LangGraph's, and set up?"
            ) from error
        raise UnreadableThread(_why_unread("", error)) from error
