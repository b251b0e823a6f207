"""Threads of a LangGraph checkpointer, read and never written: which there are, and the messages of one.

Only the official interface of checkpointers is used. `setup()` is never called, not even by a saver that would do so
at its first reading.
"""

from __future__ import annotations

import copy
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, cast

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from ..core.text import normalise, one_line, shown
from ..core.times import read_time
from ..errors import ConfigurationError, InputError, NotFoundError, StoreError, StoreUnavailableError
from .formats import Conversation, build_conversation
from .messages import read_messages

__all__ = ["Thread", "list_threads", "open_checkpointer", "read_thread"]


FORMAT = "langgraph"

_PAGE = 50
_OPENING = 80
_MESSAGES = "messages"
# Checkpoint ids grow with time, and these list them over all threads latest first; others are read to their end.
_ORDERED = frozenset({"SqliteSaver", "PostgresSaver"})


@dataclass(frozen=True)
class Thread:
    """One thread as its newest checkpoint has it: when that was made, how many messages, how they begin."""

    id: str
    last_at: datetime | None
    message_count: int
    opening: str
    checkpoint_id: str


@contextmanager
def open_checkpointer(place: str) -> Iterator[BaseCheckpointSaver[Any]]:
    """The checkpointer of an SQLite file or a "postgresql://…" database, opened for reading alone.

    Of the types that a checkpoint names, only those that are known to be harmless are built.

    Raises:
        StoreUnavailableError: there is no such file or database.
        ConfigurationError: the package that reads it is not installed.
    """
    opened = _postgres(place) if place.startswith(("postgresql://", "postgres://")) else _sqlite(place)
    with opened as saver:
        yield saver


def list_threads(
    checkpointer: BaseCheckpointSaver[Any], *, limit: int = 50, before: Thread | None = None, contains: str = ""
) -> list[Thread]:
    """Threads, the latest used first. `before` is the last one of the page before.

    With `contains` they are those whose id or messages hold these words; all are read until enough are found.

    Raises:
        InputError: `limit` is not at least 1.
        StoreError: the checkpointer failed.
    """
    if limit < 1:
        raise InputError(f"limit must be a whole number from 1, got {limit!r}.")
    saver = _untouched(checkpointer)
    is_ordered = any(kind.__name__ in _ORDERED for kind in type(saver).__mro__)
    newest = _newest(saver, before) if is_ordered else _newest_of_all(saver, before)
    wanted = normalise(contains)
    return [_thread(each) for each in islice((each for each in newest if _holds(each, wanted)), limit)]


def read_thread(checkpointer: BaseCheckpointSaver[Any], thread_id: str) -> Conversation:
    """The messages of a thread's newest checkpoint under their own ids.

    A message that tells no time is given that of the first checkpoint it is in.

    Raises:
        NotFoundError: there is no such thread.
        StoreError: the checkpointer failed.
    """
    saver = _untouched(checkpointer)
    newest = _latest(saver, thread_id)
    if newest is None:
        raise NotFoundError(f"The checkpointer has no thread {shown(thread_id)}; list_threads names those it has.")
    messages = _messages_in(newest)
    note = () if messages else ("Its newest checkpoint holds no messages.",)
    read = build_conversation(messages, id=thread_id, title=_opening(messages), notes=note)
    times = _first_seen(saver, thread_id)
    timed = tuple(replace(each, said_at=each.said_at or times.get(each.id)) for each in read.messages)
    return replace(read, id=thread_id, title=read.title or thread_id, messages=timed, format=FORMAT)


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
        yield SqliteSaver(connection, serde=_careful())


@contextmanager
def _postgres(place: str) -> Iterator[BaseCheckpointSaver[Any]]:
    try:
        import psycopg
        from langgraph.checkpoint.postgres import PostgresSaver
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
        yield PostgresSaver(connection, serde=_careful())


def _careful() -> JsonPlusSerializer:
    return JsonPlusSerializer(allowed_msgpack_modules=None)


def _untouched(checkpointer: BaseCheckpointSaver[Any]) -> BaseCheckpointSaver[Any]:
    """The same saver, told that its tables are there, so that reading does not make them."""
    if getattr(checkpointer, "is_setup", True):
        return checkpointer
    twin = copy.copy(checkpointer)
    twin.is_setup = True  # type: ignore[attr-defined]
    return twin


def _newest(saver: BaseCheckpointSaver[Any], before: Thread | None) -> Iterator[CheckpointTuple]:
    """The newest checkpoint of each thread, latest first, from a saver that lists them in that order."""
    seen: set[str] = set()
    for checkpoint in _pages(saver, None, before.checkpoint_id if before else None):
        thread_id = _setting(checkpoint, "thread_id")
        if thread_id in seen or _setting(checkpoint, "checkpoint_ns"):
            continue
        seen.add(thread_id)
        if before is None or _is_latest(saver, thread_id, checkpoint):
            yield checkpoint


def _newest_of_all(saver: BaseCheckpointSaver[Any], before: Thread | None) -> list[CheckpointTuple]:
    newest: dict[str, CheckpointTuple] = {}
    for checkpoint in _listed(saver, None):
        thread_id = _setting(checkpoint, "thread_id")
        known = newest.get(thread_id)
        if not _setting(checkpoint, "checkpoint_ns") and (known is None or _id(known) < _id(checkpoint)):
            newest[thread_id] = checkpoint
    latest_first = sorted(newest.values(), key=_id, reverse=True)
    return [each for each in latest_first if before is None or _id(each) < before.checkpoint_id]


def _is_latest(saver: BaseCheckpointSaver[Any], thread_id: str, checkpoint: CheckpointTuple) -> bool:
    latest = _latest(saver, thread_id)
    return latest is not None and _id(latest) == _id(checkpoint)


def _pages(
    saver: BaseCheckpointSaver[Any], thread_id: str | None, before: str | None = None
) -> Iterator[CheckpointTuple]:
    """Checkpoints latest first, fetched a page at a time: some savers hold a lock, or all rows, while they list."""
    while True:
        page = _listed(saver, thread_id, before, _PAGE)
        yield from page
        if len(page) < _PAGE:
            return
        before = _id(page[-1])


def _listed(
    saver: BaseCheckpointSaver[Any], thread_id: str | None, before: str | None = None, limit: int | None = None
) -> list[CheckpointTuple]:
    start = cast(RunnableConfig, {"configurable": {"checkpoint_id": before}}) if before else None
    config = None if thread_id is None else _config(thread_id)
    try:
        return list(saver.list(config, before=start, limit=limit))
    except Exception as error:
        raise _failed(error) from error


def _latest(saver: BaseCheckpointSaver[Any], thread_id: str) -> CheckpointTuple | None:
    try:
        return saver.get_tuple(_config(thread_id))
    except Exception as error:
        raise _failed(error) from error


def _failed(error: Exception) -> StoreError:
    return StoreError(
        f"The checkpointer failed ({type(error).__name__}): {error}. Is it one of LangGraph's, and set up?"
    )


def _first_seen(saver: BaseCheckpointSaver[Any], thread_id: str) -> dict[str, datetime]:
    """When each message was first in a checkpoint, by its id."""
    times: dict[str, datetime] = {}
    for checkpoint in _pages(saver, thread_id):
        made = read_time(checkpoint.checkpoint.get("ts"))
        ids = [message.id for message in _messages_in(checkpoint) if message.id]
        if not ids:
            break
        if made is not None:
            times.update(dict.fromkeys(ids, made))
    return times


def _messages_in(checkpoint: CheckpointTuple) -> list[BaseMessage]:
    """The messages of its state: under "messages", or else the first list of messages there is."""
    values: Mapping[str, Any] = checkpoint.checkpoint.get("channel_values") or {}
    for value in (values.get(_MESSAGES), *values.values()):
        if isinstance(value, list) and value and all(isinstance(each, BaseMessage) for each in value):
            return value
    return []


def _holds(checkpoint: CheckpointTuple, wanted: str) -> bool:
    """Whether the thread's id or anything said in it holds the words; nothing wanted is in all."""
    if not wanted or wanted in normalise(_setting(checkpoint, "thread_id")):
        return True
    said = read_messages(_messages_in(checkpoint), skip_unreadable=True).messages
    return any(wanted in normalise(each.text) for each in said)


def _thread(checkpoint: CheckpointTuple) -> Thread:
    messages = _messages_in(checkpoint)
    return Thread(
        id=_setting(checkpoint, "thread_id"),
        last_at=read_time(checkpoint.checkpoint.get("ts")),
        message_count=len(messages),
        opening=_opening(messages),
        checkpoint_id=_id(checkpoint),
    )


def _opening(messages: list[BaseMessage]) -> str:
    """How the conversation begins: the first words that a person said."""
    read = read_messages(messages, skip_unreadable=True).messages
    said = next((each.text for each in read if each.role == "user"), "")
    line = one_line(said)
    return line if len(line) <= _OPENING else f"{line[: _OPENING - 1]}…"


def _config(thread_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}


def _setting(checkpoint: CheckpointTuple, name: str) -> str:
    return str((checkpoint.config.get("configurable") or {}).get(name) or "")


def _id(checkpoint: CheckpointTuple) -> str:
    return _setting(checkpoint, "checkpoint_id")
