"""What LangSmith and LangGraph keep of a conversation: runs, and the states of a thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeAlias

from ..conversation import Conversation, Outcome, build_conversation, count_of
from ..messages import moment_of, own_id, read_messages
from ..states import State, date_last_exchange, trace_states
from .kinds import Fields, RecordFormat, fields_of, list_of, text_in
from .model_apis import is_langchain, is_message

__all__ = ["LANGGRAPH", "LANGSMITH"]


# LangSmith

_Turn: TypeAlias = tuple[object, datetime | None]


def _is_run(value: object) -> bool:
    fields = fields_of(value)
    return isinstance(fields.get("inputs"), Mapping) and ("run_type" in fields or "outputs" in fields)


def _read_runs(records: Iterator[object]) -> Iterator[Outcome]:
    """A conversation for each trace: its root run, or else the runs nearest to it that the file holds."""
    whole: set[str] = set()
    waiting: dict[str, list[Fields]] = {}
    threads: Counter[str] = Counter()
    for run in map(fields_of, records):
        trace = _trace_of(run)
        if not run.get("parent_run_id"):
            whole.add(trace)
            waiting.pop(trace, None)
            yield _trace(trace, [run], threads)
        elif trace not in whole:
            waiting.setdefault(trace, []).append(run)
    for trace, runs in waiting.items():
        yield _trace(trace, _nearest_to_root(runs), threads, inner=len(runs))


def _trace_of(run: Fields) -> str:
    order = text_in(run, "dotted_order").partition(".")[0]
    return text_in(run, "trace_id") or order or text_in(run, "parent_run_id", "id")


def _nearest_to_root(runs: Sequence[Fields]) -> list[Fields]:
    """The runs without a parent among these, in the order in which they began."""
    ids = {run.get("id") for run in runs}
    outer = [run for run in runs if run.get("parent_run_id") not in ids]
    return sorted(outer, key=lambda run: str(moment_of(run.get("start_time")) or ""))


def _trace(trace: str, runs: Sequence[Fields], threads: Counter[str], *, inner: int = 0) -> Conversation:
    turns: list[_Turn] = []
    for run in runs:
        asked = [(turn, None) for turn in _run_messages(run.get("inputs"), "user")]
        answered = [(turn, None) for turn in _run_messages(run.get("outputs"), "assistant")]
        exchange = [turn for turn, _ in _join(asked, answered)]
        times = date_last_exchange(exchange, moment_of(run.get("start_time")))
        turns = _join(turns, list(zip(exchange, times, strict=True)))
    first = runs[0] if runs else {}
    return build_conversation(
        [turn for turn, _ in turns],
        id=trace if inner else first.get("id"),
        title=first.get("name"),
        notes=_notes_on(first, threads, inner=inner, is_empty=not turns),
        times=[time for _, time in turns],
    )


def _notes_on(run: Fields, threads: Counter[str], *, inner: int, is_empty: bool) -> list[str]:
    notes = []
    if inner:
        words = count_of(inner, "run within it is", "runs within it are")
        notes.append(f"The file does not hold the root run of this trace; {words} there.")
    if is_empty:
        notes.append(f"A run of the type {run.get('run_type')!r} without messages.")
    about = fields_of(fields_of(run.get("extra")).get("metadata"))
    thread = text_in(about, "thread_id", "session_id", "conversation_id")
    if thread:
        threads[thread] += 1
        if threads[thread] > 1:
            notes.append(f"Another trace of the thread {thread} may hold the same turns.")
    return notes


def _join(before: Sequence[_Turn], after: Sequence[_Turn]) -> list[_Turn]:
    """Both, where `after` may repeat what it got: a turn that it holds stands where it has it.

    A graph's output repeats its input, with a checkpointer after all that was said before; a model's does not.
    """
    ids = {own for turn, _ in after if (own := own_id(turn)) is not None}
    words = {said for turn, _ in after if (said := _words_of(turn)) is not None}
    unnamed = {said for turn, _ in after if own_id(turn) is None and (said := _words_of(turn)) is not None}

    def is_repeated(turn: object) -> bool:
        own = own_id(turn)
        # A client sends messages without ids, and the graph gives them theirs.
        return _words_of(turn) in words if own is None else own in ids or _words_of(turn) in unnamed

    return [*(each for each in before if not is_repeated(each[0])), *after]


def _words_of(turn: object) -> tuple[str, str] | None:
    message = next(iter(read_messages([turn], skip_unreadable=True).messages), None)
    return (message.role, message.text) if message else None


_RUN_FIELDS = ("messages", "generations", "choices", "input", "output", "question", "answer", "message")


def _run_messages(side: object, role: str) -> list[object]:
    """The messages of a run's inputs or outputs, whichever of the common shapes they have."""
    fields = fields_of(side)
    history = next((list_of(fields[key]) for key in ("chat_history", "history") if key in fields), [])
    for key in _RUN_FIELDS:
        found = fields.get(key)
        while isinstance(found, list) and found and isinstance(found[0], list) and not is_message(found[0]):
            found = found[0]
        if isinstance(found, str):
            return [*history, {"role": role, "content": found}]
        if isinstance(found, Mapping):
            return [*history, found] if is_message(found) else _run_messages(found, role)
        if isinstance(found, list):
            return [*history, *map(_generated, found)]
    return history


def _generated(value: object) -> object:
    """A message out of a generation or choice that wraps it."""
    fields = fields_of(value)
    if fields.get("message") is not None:
        return fields["message"]
    if "role" not in fields and isinstance(fields.get("text"), str) and not is_langchain(value):
        return {"role": "assistant", "content": fields["text"]}
    return value


LANGSMITH = RecordFormat(
    name="langsmith",
    label="LangSmith runs",
    description="runs of a project or examples of a data set, as JSON or JSON lines",
    speakers="the user and the assistant",
    order="a conversation for each trace, each turn once; runs within a root run are left out",
    times="the start of the run, for what was said in it",
    recognises=_is_run,
    read=_read_runs,
)


# LangGraph

_STATE_FIELDS = frozenset(
    {"checkpoint", "checkpoint_id", "parent_checkpoint", "config", "next", "tasks", "thread_id", "parent_config"}
)
_SNAPSHOT_FIELDS = ("values", "next", "config", "metadata", "created_at", "parent_config", "tasks", "interrupts")


def _state_fields(value: object) -> Fields:
    """The fields of a state, also of a snapshot that was dumped as the tuple it is."""
    items = list_of(value)
    if 6 <= len(items) <= len(_SNAPSHOT_FIELDS) and isinstance(items[0], Mapping) and isinstance(items[2], Mapping):
        return dict(zip(_SNAPSHOT_FIELDS, items, strict=False))
    return fields_of(value)


def _is_state(value: object) -> bool:
    fields = _state_fields(value)
    return isinstance(fields.get("values"), Mapping) and not fields.keys().isdisjoint(_STATE_FIELDS)


def _read_graph_states(records: Iterator[object]) -> Iterator[Outcome]:
    threads: dict[str, list[State]] = {}
    inner: Counter[str] = Counter()
    for number, value in enumerate(records):
        fields = _state_fields(value)
        place = _place(fields, "checkpoint", "config")
        thread = text_in(place, "thread_id") or text_in(fields, "thread_id")
        if text_in(place, "checkpoint_ns"):
            inner[thread] += 1
            continue
        parent = text_in(_place(fields, "parent_checkpoint", "parent_config"), "checkpoint_id")
        threads.setdefault(thread, []).append(
            State(
                id=text_in(place, "checkpoint_id") or text_in(fields, "checkpoint_id") or f"state {number}",
                parent=parent or text_in(fields, "parent_checkpoint_id") or None,
                made_at=moment_of(fields.get("created_at")),
                messages=list_of(fields_of(fields.get("values")).get("messages")),
            )
        )
    for thread, states in threads.items():
        # A history begins with the newest state, so of two of one time the former is the newer.
        by_age = sorted(reversed(states), key=lambda state: state.made_at or datetime.min.replace(tzinfo=UTC))
        if not any(state.parent for state in states):
            by_age = [replace(state, parent=by_age[at - 1].id if at else None) for at, state in enumerate(by_age)]
        read = trace_states(by_age, by_age[-1].id).conversation(id=thread)
        hidden = {"state of a subgraph": inner[thread]} if inner[thread] else {}
        yield replace(read, left_out={**read.left_out, **hidden})


def _place(fields: Fields, *names: str) -> Fields:
    """Which checkpoint a state is, as a server or as a graph writes it."""
    for name in names:
        found = fields_of(fields.get(name))
        if found:
            return fields_of(found.get("configurable")) or found
    return {}


LANGGRAPH = RecordFormat(
    name="langgraph",
    label="LangGraph state or history",
    description="the state of a thread, or its history, as the server or the graph gives them",
    speakers="the user and the assistant",
    order="the newest state on its branch; a conversation for each thread",
    times="of the first state that holds a message",
    recognises=_is_state,
    read=_read_graph_states,
)
