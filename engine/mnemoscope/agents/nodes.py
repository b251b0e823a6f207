"""Nodes for `StateGraph`: one recalls before the model is called, one remembers after it has answered.

Both work sync and async, in compiled graphs, with and without a checkpointer. Where the store, the embedder or the
model is down the agent goes on: the failure is logged and stands in the state.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.runnables.config import var_child_runnable_config

from ..consolidation.plan import Terms
from ..consolidation.planner import Planner
from ..consolidation.remember import remember_unread
from ..consolidation.seen_turns import Thread, spoken, turns_in, unread
from ..context import Context
from ..conversations.messages import Transcript
from ..core.execution import Step, Steps, arun, run
from ..core.namespaces import Namespace
from ..core.validation import check_text, check_whole
from ..errors import (
    ConflictError,
    EmbeddingError,
    InputError,
    ModelError,
    PermissionDeniedError,
    StoreError,
    describe_error,
)
from ..journal.provenance import came_from, thread_of
from ..recall.pipeline import LONGEST_QUERY, read_request, recall
from ..recall.rendering import UNREADABLE, node_text
from .scopes import NamespaceSource, speaker_in

__all__ = [
    "FAILURES",
    "Node",
    "Recalling",
    "Remembering",
    "Submit",
    "cache_key",
    "question_in",
    "recall_node",
    "remember_node",
]


Submit: TypeAlias = Callable[[Sequence[Any], Namespace, str | None], object]
"""Takes messages, their namespace and their thread over, to be remembered elsewhere."""

FAILURES = (ConflictError, EmbeddingError, ModelError, PermissionDeniedError, StoreError)
"""What an agent goes on after: the store, the embedder or the model failed, or nothing may be written."""

_log = logging.getLogger(__name__)


class Node(Runnable[Any, dict[str, str]]):
    """A step of a graph: reads its state and the caller's configuration, and gives what changes in the state.

    The graph traces it, so it takes the time of its work and no more.
    """

    def __init__(self, name: str, steps: Callable[[Any, RunnableConfig], Steps[dict[str, str]]]) -> None:
        self.name = name
        self._steps = steps

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_options: Any) -> dict[str, str]:
        """Run it on a state."""
        with _ambient(config) as given:
            return run(self._steps(input, given))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_options: Any) -> dict[str, str]:
        """The asynchronous form of `invoke`."""
        with _ambient(config) as given:
            return await arun(self._steps(input, given))


@dataclass(frozen=True)
class Recalling:
    """What a recall node does: it looks for the last `turns` turns, and gives `limit` memories in `max_tokens`.

    Raises:
        InputError: a number is not a whole number from 0, or there would be no turn.
    """

    into: str = "memory"
    limit: int = 5
    turns: int = 1
    max_tokens: int | None = None
    messages_key: str = "messages"
    categories: Sequence[str] | None = None
    min_similarity: float | None = None

    def __post_init__(self) -> None:
        for name in ("limit", "turns", "max_tokens"):
            check_whole(name, getattr(self, name))
        if not self.turns:
            raise InputError("turns must be at least 1: the question is in the last one.")


@dataclass(frozen=True)
class Remembering:
    """What a remember node does: it remembers the turns that were not read before, however many they are.

    `turns` bounds a conversation that was never read to its last ones. `speaker` is the key of the configuration that
    names whose turns they are, where several people speak on a thread. `into` is a key of the state that is told what
    came of it; `submit` takes the turns over, where given.

    Raises:
        InputError: there would be no turn.
    """

    turns: int | None = None
    speaker: str | None = None
    messages_key: str = "messages"
    into: str | None = None
    submit: Submit | None = None

    def __post_init__(self) -> None:
        check_whole("turns", self.turns)
        check_text("speaker", self.speaker)
        if self.turns == 0:
            raise InputError("turns must be at least 1: without any there is nothing to remember.")


def recall_node(context: Context, scope: NamespaceSource, how: Recalling) -> Node:
    """A node that writes what is recalled for the last question into `state[how.into]`."""

    def steps(state: Any, config: RunnableConfig) -> Steps[dict[str, str]]:
        return {how.into: (yield from _recall(context, scope.namespace(config), state, how))}

    return Node("recall", steps)


def remember_node(context: Context, scope: NamespaceSource, how: Remembering) -> Node:
    """A node that remembers what is new in the conversation."""

    def steps(state: Any, config: RunnableConfig) -> Steps[dict[str, str]]:
        thread = Thread(scope.kind, thread_of(config), speaker_in(config, how.speaker))
        namespace = scope.namespace(config)
        return _report(how, (yield from _remember(context, namespace, state, config, how, thread)))

    return Node("remember", steps)


def cache_key(*fields: str, messages_key: str = "messages") -> Callable[[Any], str]:
    """A `key_func` for LangGraph's `CachePolicy` of a recall node: the question, and the state's `fields` that name
    whose memories are recalled.

    LangGraph's own key is made of the state alone, and where the namespace comes from the configuration it gives one
    user what was recalled for another.

    Raises:
        InputError: no field is named, or, when the graph runs, the state holds none of that name.
    """
    if not fields:
        raise InputError('cache_key needs the parts of the state that name the user, such as cache_key("user_id").')

    def key(state: Any, *_: Any, **__: Any) -> str:
        named = [_part(state, field) for field in fields]
        if any(value in (None, "") for value in named):
            raise InputError(
                f"The state holds nothing under {', '.join(fields)}, so a cached recall could be another's."
            )
        question = question_in(turns_in(_part(state, messages_key)))
        return hashlib.sha256(repr([named, question]).encode("utf-8", "surrogatepass")).hexdigest()

    return key


def question_in(transcript: Transcript, turns: int = 1) -> str:
    """The text of the last user turn with those before it, `turns` in all; empty where nobody asked."""
    said = spoken(transcript)
    last = max((at for at, each in enumerate(said) if each.role == "user"), default=-1)
    texts = [each.text for each in said[max(0, last - turns + 1) : last + 1]]
    return "\n".join(texts)[-LONGEST_QUERY:]


@contextmanager
def _ambient(config: RunnableConfig | None) -> Iterator[RunnableConfig]:
    """The configuration, for as long as the node works that of everything in it too: a recall notes its thread."""
    given = ensure_config(config)
    token = var_child_runnable_config.set(given)
    try:
        yield given
    finally:
        var_child_runnable_config.reset(token)


def _recall(context: Context, namespace: Namespace, state: Any, how: Recalling) -> Steps[str]:
    query = question_in(turns_in(_part(state, how.messages_key)), how.turns)
    if not query.strip():
        return ""
    asked = read_request(
        query,
        namespace,
        context.config,
        limit=how.limit,
        categories=how.categories,
        min_similarity=how.min_similarity,
        max_tokens=how.max_tokens,
    )
    try:
        result = yield from recall(context, asked)
    except FAILURES as error:
        _log.warning("Nothing could be recalled, and the agent goes on without.\n%s", describe_error(error))
        return UNREADABLE
    return node_text(result)


def _remember(
    context: Context, namespace: Namespace, state: Any, config: RunnableConfig, how: Remembering, thread: Thread
) -> Steps[str]:
    transcript = turns_in(_part(state, how.messages_key))
    try:
        if how.submit is not None:
            turns = yield from _hand_over(context, namespace, transcript, how, thread)
            yield Step(how.submit, (list(turns.messages), namespace, thread.id))
            return "Handed over to be remembered."
        terms = Terms(reason=came_from("remember node", config))
        applied = yield from remember_unread(
            context, Planner(context), transcript, namespace, terms, thread=thread, most=how.turns
        )
    except FAILURES as error:
        _log.warning("The turns were not remembered; they are tried again after the next.\n%s", describe_error(error))
        return f"Not remembered yet: {type(error).__name__}; tried again after the next turn."
    return f"Remembered {len(applied)} of {len(applied.plan.facts)} facts."


def _hand_over(
    context: Context, namespace: Namespace, transcript: Transcript, how: Remembering, thread: Thread
) -> Steps[Transcript]:
    """The turns that are still to be read, claimed for the namespace; all of them where the store does not answer."""
    try:
        new = yield from unread(context.adapter, namespace, transcript, context.now(), thread=thread, most=how.turns)
        if new.claims:
            yield Step(context.adapter.write, (list(new.claims), []))
    except (PermissionDeniedError, StoreError):
        return transcript
    return new.transcript


def _report(how: Remembering, text: str) -> dict[str, str]:
    return {} if how.into is None else {how.into: text}


def _part(state: Any, key: str) -> Any:
    return state.get(key) if isinstance(state, dict) else getattr(state, key, None)
