"""Threads of a LangGraph checkpointer, read and never written: which there are, and the messages of one.

Checkpoints are read by the checkpointer's own means. `setup()` is never called, not even by a saver that would do so at
its first reading. A thread that cannot be read costs that thread alone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any, cast

from langchain_core.messages import BaseMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from ..core.text import normalise, one_line, shown
from ..core.times import read_time
from ..errors import InputError, NotFoundError, StoreError
from .checkpointers import Damaged, UnreadableThread, ask, make_tolerant
from .conversation import Conversation, count_of
from .formats.model_apis import is_message
from .messages import own_id, read_messages
from .states import State, Trace, merge_traces, trace_states, way_to

__all__ = ["Thread", "list_threads", "read_thread"]


FORMAT = "langgraph"

_PAGE = 50
_OPENING = 80
_MESSAGES = "messages"
_REMOVE_ALL = "__remove_all__"
_OVERWRITE = "__overwrite__"


@dataclass(frozen=True)
class Thread:
    """One thread as its newest checkpoint has it: when that was made, how many messages, how they begin.

    `unreadable` says why that checkpoint cannot be read, and the way out; then nothing is known of the messages.
    """

    id: str
    last_at: datetime | None
    message_count: int
    opening: str
    checkpoint_id: str
    unreadable: str | None = None


def list_threads(
    checkpointer: BaseCheckpointSaver[Any], *, limit: int = 50, before: Thread | None = None, contains: str = ""
) -> list[Thread]:
    """Threads, the latest used first. `before` is the last one of the page before.

    With `contains` they are those whose id or messages hold these words; all are read until enough are found.
    One that cannot be read is listed with the reason.

    Raises:
        InputError: `limit` is not at least 1.
        StoreError: the checkpointer failed.
    """
    if limit < 1:
        raise InputError(f"limit must be a whole number from 1, got {limit!r}.")
    saver = make_tolerant(checkpointer)
    later = (head for head in _heads(saver) if before is None or head.newest < before.checkpoint_id)
    wanted = normalise(contains)
    found = ((head, _contents(saver, head.thread_id)) for head in later)
    matching = (_thread(head, contents) for head, contents in found if _holds(head, contents, wanted))
    return list(islice(matching, limit))


def read_thread(checkpointer: BaseCheckpointSaver[Any], thread_id: str, *, earlier: bool = False) -> Conversation:
    """The messages of a thread's newest checkpoint under their own ids.

    A message that tells no time is given that of the first checkpoint it is in. With `earlier`, messages that were
    summarised or removed since are read too, out of the older checkpoints.

    Raises:
        NotFoundError: there is no such thread.
        StoreError: the checkpointer failed, or this thread cannot be read.
    """
    saver = make_tolerant(checkpointer)
    contents = _contents(saver, thread_id)
    if contents is None:
        raise NotFoundError(f"The checkpointer has no thread {shown(thread_id)}; list_threads names those it has.")
    if contents.unreadable is not None:
        raise StoreError(f"The thread {shown(thread_id)} cannot be read. {contents.unreadable}")
    notes = list(contents.notes)
    traces = []
    for place in contents.places:
        try:
            traces.append(_trace(saver, place))
        except UnreadableThread as error:
            traces.append(
                trace_states([State(_id(place.checkpoint), None, None, place.messages)], _id(place.checkpoint))
            )
            notes.append(f"Its older checkpoints cannot be read, so nothing tells when each message was said. {error}")
    read = merge_traces(traces).conversation(earlier=earlier, id=thread_id, title=_opening(contents.messages))
    return replace(read, id=thread_id, title=read.title or thread_id, format=FORMAT, notes=(*notes, *read.notes))


# Finding threads


@dataclass(frozen=True)
class _Head:
    """A thread, or one namespace of it, by its newest checkpoint; ids of checkpoints grow with time."""

    thread_id: str
    newest: str
    namespace: str = ""


def _heads(saver: BaseCheckpointSaver[Any]) -> list[_Head]:
    """Every thread by the newest checkpoint of any of its namespaces, the latest used first.

    Raises:
        StoreError: the checkpointer failed.
    """
    rows = _rows(saver, "SELECT thread_id, max(checkpoint_id) FROM checkpoints GROUP BY thread_id", ())
    if rows is None:
        newest: dict[str, str] = {}
        for checkpoint in _listed(saver, None):
            thread_id = _setting(checkpoint, "thread_id")
            newest[thread_id] = max(newest.get(thread_id, ""), _id(checkpoint))
        rows = list(newest.items())
    return sorted((_Head(*row) for row in rows), key=lambda head: head.newest, reverse=True)


def _subgraphs(saver: BaseCheckpointSaver[Any], thread_id: str) -> list[_Head]:
    """The namespaces of a thread's subgraphs, of each call its own, in the order of their newest checkpoints."""
    query = (
        "SELECT thread_id, max(checkpoint_id), checkpoint_ns FROM checkpoints "
        "WHERE thread_id = {} AND checkpoint_ns <> '' GROUP BY thread_id, checkpoint_ns"
    )
    rows = _rows(saver, query, (thread_id,))
    if rows is None:
        newest: dict[str, str] = {}
        for checkpoint in _listed(saver, {"configurable": {"thread_id": thread_id}}):
            namespace = _setting(checkpoint, "checkpoint_ns")
            newest[namespace] = max(newest.get(namespace, ""), _id(checkpoint))
        rows = [(thread_id, checkpoint_id, namespace) for namespace, checkpoint_id in newest.items() if namespace]
    return sorted((_Head(*row) for row in rows), key=lambda head: head.newest)


def _rows(saver: BaseCheckpointSaver[Any], query: str, values: tuple[str, ...]) -> list[tuple[Any, ...]] | None:
    """Rows out of the index of the official tables, or None where the saver has none of these.

    The interface of savers lists whole checkpoints only: of a hundred long threads it would read for minutes.
    """
    known = {kind.__name__ for kind in type(saver).__mro__}
    connection: Any = getattr(saver, "conn", None)
    if "SqliteSaver" in known and isinstance(connection, sqlite3.Connection):
        return ask(lambda: list(connection.execute(query.format("?"), values)))
    if "PostgresSaver" in known and hasattr(connection, "execute"):
        found = ask(lambda: list(connection.execute(query.format("%s"), values)))
        return [tuple(row.values()) for row in found]
    return None


def _listed(saver: BaseCheckpointSaver[Any], config: RunnableConfig | None) -> list[CheckpointTuple]:
    try:
        return ask(lambda: list(saver.list(config)))
    except UnreadableThread as error:
        raise StoreError(f"The checkpointer cannot list its threads. {error}") from error


# What a thread holds


@dataclass(frozen=True)
class _Place:
    """Where messages of a thread are: a checkpoint of the graph or of a subgraph, and the channel in it."""

    checkpoint: CheckpointTuple
    channel: str | None
    messages: Sequence[object]


@dataclass(frozen=True)
class _Contents:
    """What a thread holds now: of the graph itself, or else of the calls of a subgraph, the oldest first."""

    made_at: datetime | None = None
    places: Sequence[_Place] = ()
    notes: tuple[str, ...] = ()
    unreadable: str | None = None

    @property
    def messages(self) -> list[object]:
        return [message for place in self.places for message in place.messages]


def _contents(saver: BaseCheckpointSaver[Any], thread_id: str) -> _Contents | None:
    """The newest messages of a thread, or why they cannot be read; None where there is no such thread."""
    try:
        checkpoint = ask(partial(saver.get_tuple, _config(thread_id)))
        if checkpoint is not None and not isinstance(checkpoint.checkpoint, Mapping):
            raise UnreadableThread(
                "Its bytes are damaged: they hold no checkpoint. A backup of the database may hold it whole."
            )
        if checkpoint is not None:
            place = _place(saver, checkpoint)
            reason = _reason(place)
            if place.messages or reason:
                return _Contents(_made_at(checkpoint), (place,), unreadable=reason)
        inner = _subgraphs(saver, thread_id)
        if inner:
            found = _contents_of_subgraphs(saver, inner)
            if found is not None:
                return found
    except UnreadableThread as error:
        return _Contents(unreadable=str(error))
    if checkpoint is None:
        return _Contents(notes=("Its checkpoints hold no messages.",)) if inner else None
    return _Contents(_made_at(checkpoint), (place,), (_why_empty(checkpoint),))


def _place(saver: BaseCheckpointSaver[Any], checkpoint: CheckpointTuple) -> _Place:
    """The channel of a checkpoint that holds messages: "messages", or else the one that holds the most."""
    values = _values(checkpoint)
    found = {name: held for name, value in values.items() if (held := _messages_in(value, is_named=name == _MESSAGES))}
    if _MESSAGES not in found:
        found |= {name: held for name in _deltas(checkpoint) if (held := _replay(saver, checkpoint, name))}
    if not found:
        return _Place(checkpoint, None, ())
    channel = _MESSAGES if _MESSAGES in found else max(found, key=lambda name: len(found[name]))
    return _Place(checkpoint, channel, found[channel])


def _values(checkpoint: CheckpointTuple) -> Mapping[str, Any]:
    return checkpoint.checkpoint.get("channel_values") or {}


def _messages_in(value: object, *, is_named: bool) -> Sequence[object]:
    """The messages that a channel's value is, or holds under "messages"; none where it is something else.

    Under the name of messages every list that holds one is taken, and what else is in it is counted by the reader.
    """
    # The class is private and not in every version of LangGraph.
    if type(value).__name__ == "_DeltaSnapshot":
        value = cast(Any, value).value
    if isinstance(value, Mapping) and _MESSAGES in value:
        value, is_named = value[_MESSAGES], True
    if isinstance(value, BaseMessage):
        return [value]
    if not isinstance(value, list | tuple):
        return ()
    are_messages = [_is_message(each) or (is_named and isinstance(each, str)) for each in value]
    return value if are_messages and (any(are_messages) if is_named else all(are_messages)) else ()


def _is_message(value: object) -> bool:
    return isinstance(value, BaseMessage) or is_message(list(value) if isinstance(value, tuple) else value)


def _reason(place: _Place) -> str | None:
    """Why the messages of a checkpoint cannot be read, where they cannot."""
    whole = cast(Mapping[str, Any], place.checkpoint.checkpoint).get("reason")
    if isinstance(whole, str):
        return whole
    damaged = {name: value.reason for name, value in _values(place.checkpoint).items() if isinstance(value, Damaged)}
    if _MESSAGES in damaged:
        return damaged[_MESSAGES]
    lost = next((each.reason for each in place.messages if isinstance(each, Damaged)), None)
    return lost if lost or place.messages else next(iter(damaged.values()), None)


def _why_empty(checkpoint: CheckpointTuple) -> str:
    channels = [name for name in _values(checkpoint) if not name.startswith(("__", "branch:"))]
    held = f" It holds {', '.join(sorted(channels))}." if channels else ""
    return f"Its newest checkpoint holds no messages.{held}"


def _contents_of_subgraphs(saver: BaseCheckpointSaver[Any], heads: Sequence[_Head]) -> _Contents | None:
    """The messages of the outermost subgraph that holds any, of all its calls; None where none does."""
    calls: dict[str, list[_Place]] = {}
    for head in heads:
        checkpoint = ask(partial(saver.get_tuple, _config(head.thread_id, head.namespace)))
        place = _place(saver, checkpoint) if checkpoint is not None else None
        if place is not None and place.messages:
            calls.setdefault(_graph_of(head.namespace), []).append(place)
    if not calls:
        return None
    depth = min(name.count("/") for name in calls)
    chosen = max((name for name in calls if name.count("/") == depth), key=lambda name: _number_in(calls[name]))
    places = calls.pop(chosen)
    notes = [f"The messages are those of the subgraph {chosen}, of {count_of(len(places), 'call', 'calls')}."]
    if calls:
        notes.append(f"Messages of other subgraphs were left out: {', '.join(calls)}.")
    reason = next((reason for place in places if (reason := _reason(place))), None)
    return _Contents(_made_at(places[-1].checkpoint), places, tuple(notes), reason)


def _number_in(places: Sequence[_Place]) -> int:
    return sum(len(place.messages) for place in places)


def _graph_of(namespace: str) -> str:
    """The names of the nodes that lead to a subgraph, without the ids of its calls."""
    return "/".join(part.partition(":")[0] for part in namespace.split("|"))


# Messages that are kept as changes


def _deltas(checkpoint: CheckpointTuple) -> list[str]:
    """The channels whose value is in the changes of the checkpoints before, as `DeltaChannel` keeps it."""
    counted = cast(Mapping[str, Any], checkpoint.metadata or {}).get("counters_since_delta_snapshot") or {}
    written = checkpoint.checkpoint.get("channel_versions") or {}
    values = _values(checkpoint)
    return [name for name in dict.fromkeys([_MESSAGES, *counted]) if name in written and name not in values]


def _replay(saver: BaseCheckpointSaver[Any], checkpoint: CheckpointTuple, channel: str) -> Sequence[object]:
    """The messages of such a channel, by the saver's own history of its changes."""
    history_of = getattr(saver, "get_delta_channel_history", None)
    if history_of is None:
        return ()
    history = ask(lambda: history_of(config=checkpoint.config, channels=[channel])[channel])
    seed = _messages_in(history.get("seed"), is_named=True)
    return _change(seed, [value for _, _, value in history["writes"]])


def _change(messages: Sequence[object], writes: Sequence[object]) -> list[object]:
    """The messages after these writes, as LangGraph's own reducer takes them: by id replaced, removed, or added."""
    kept = {own_id(message) or f"at {at}": message for at, message in enumerate(messages)}
    for write in writes:
        overwritten, value = _overwrite(write)
        if overwritten:
            kept = {}
        for message in value if isinstance(value, list | tuple) and not _is_message(value) else [value]:
            own = own_id(message)
            if isinstance(message, Damaged):
                kept[f"damaged {len(kept)}"] = message
            elif own == _REMOVE_ALL:
                kept = {}
            elif isinstance(message, RemoveMessage):
                kept.pop(own or "", None)
            elif message is not None:
                kept[own or f"at {len(kept)} of {id(message)}"] = message
    return list(kept.values())


def _overwrite(write: object) -> tuple[bool, object]:
    """Whether a write takes the place of all before it, and its value."""
    if type(write).__name__ == "Overwrite" and hasattr(write, "value"):
        return True, write.value
    if isinstance(write, Mapping) and _OVERWRITE in write:
        return True, write[_OVERWRITE]
    if isinstance(write, Mapping) and write.get("type") == _OVERWRITE:
        return True, write.get("value")
    return False, write


# The way of a thread


@dataclass(frozen=True)
class _Step:
    """A checkpoint on the way: what its channel holds, if it is kept whole, and what was written to it then."""

    id: str
    parent: str | None
    made_at: datetime | None
    messages: Sequence[object] | None
    writes: Sequence[object]


def _trace(saver: BaseCheckpointSaver[Any], place: _Place) -> Trace:
    """The messages of a place with the time of the first checkpoint that holds each, and those that once were there."""
    newest = _id(place.checkpoint)
    steps = {step.id: step for step in _steps(saver, place)}
    states: list[State] = []
    before: _Step | None = None
    for step_id in way_to(newest, {step.id: step.parent for step in steps.values()}):
        step = steps[step_id]
        messages = place.messages if step_id == newest else step.messages
        if messages is None:
            messages = _change(states[-1].messages if states else (), before.writes if before else ())
        states.append(State(step.id, step.parent, step.made_at, messages))
        before = step
    return trace_states(states, newest)


def _steps(saver: BaseCheckpointSaver[Any], place: _Place) -> Iterator[_Step]:
    """The checkpoints of a place, fetched a page at a time: savers hold a lock, or all rows, while they list."""
    channel = place.channel
    yield _step(place.checkpoint, channel)
    if channel is None or not place.checkpoint.parent_config:
        return
    within = _config(_setting(place.checkpoint, "thread_id"), _setting(place.checkpoint, "checkpoint_ns"))
    before: RunnableConfig = place.checkpoint.config
    while True:
        page = ask(partial(_page, saver, within, before))
        yield from (_step(checkpoint, channel) for checkpoint in page)
        if len(page) < _PAGE:
            return
        before = {"configurable": {"checkpoint_id": _id(page[-1])}}


def _page(saver: BaseCheckpointSaver[Any], within: RunnableConfig, before: RunnableConfig) -> list[CheckpointTuple]:
    return list(saver.list(within, before=before, limit=_PAGE))


def _step(checkpoint: CheckpointTuple, channel: str | None) -> _Step:
    parent = (checkpoint.parent_config or {}).get("configurable") or {}
    values, written = _values(checkpoint), checkpoint.checkpoint.get("channel_versions") or {}
    messages: Sequence[object] | None = ()
    if channel is not None and channel in values:
        messages = _messages_in(values[channel], is_named=True)
    elif channel in written:
        # What is written and not kept is in the changes of the checkpoints before.
        messages = None
    return _Step(
        id=_id(checkpoint),
        parent=parent.get("checkpoint_id"),
        made_at=_made_at(checkpoint),
        messages=messages,
        writes=[value for _, name, value in checkpoint.pending_writes or () if name == channel],
    )


def _thread(head: _Head, contents: _Contents | None) -> Thread:
    held = contents or _Contents()
    return Thread(
        id=head.thread_id,
        last_at=held.made_at,
        message_count=len(held.messages),
        opening=_opening(held.messages),
        checkpoint_id=head.newest,
        unreadable=held.unreadable,
    )


def _holds(head: _Head, contents: _Contents | None, wanted: str) -> bool:
    """Whether the thread's id or anything said in it holds the words; nothing wanted is in all."""
    if not wanted or wanted in normalise(head.thread_id):
        return True
    said = read_messages(contents.messages if contents else [], skip_unreadable=True).messages
    return any(wanted in normalise(each.text) for each in said)


def _opening(messages: Sequence[object]) -> str:
    """How the conversation begins: the first words that a person said."""
    read = read_messages(list(messages), skip_unreadable=True).messages
    line = one_line(next((each.text for each in read if each.role == "user"), ""))
    return line if len(line) <= _OPENING else f"{line[: _OPENING - 1]}…"


def _config(thread_id: str, namespace: str = "") -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": namespace}}


def _setting(checkpoint: CheckpointTuple, name: str) -> str:
    return str((checkpoint.config.get("configurable") or {}).get(name) or "")


def _id(checkpoint: CheckpointTuple) -> str:
    return _setting(checkpoint, "checkpoint_id")


def _made_at(checkpoint: CheckpointTuple) -> datetime | None:
    return read_time(checkpoint.checkpoint.get("ts"))
