"""Middleware for LangChain's `create_agent`: memories before the model is called, remembering after the answer.

`RememberedPruning` wraps a middleware that shortens the conversation, such as LangChain's summarisation, so that the
turns it takes out are remembered before they go.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, NotRequired, TypeAlias

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.tools import BaseTool
from langgraph.config import get_config
from langgraph.graph.message import add_messages

from ..consolidation.plan import Terms
from ..consolidation.planner import Planner
from ..consolidation.remember import Applied, remember_unread
from ..consolidation.seen_turns import Thread, turns_in
from ..context import Context
from ..core.execution import Steps, arun, run
from ..core.namespaces import NamespaceLike, read_namespace
from ..errors import ConfigurationError
from ..journal.provenance import ambient, came_from, thread_of
from ..recall.rendering import prompt_text
from .nodes import FAILURES, Node
from .scopes import MissingNamespaceError, NamespaceSource

__all__ = ["MEMORIES", "MemoryMiddleware", "MemoryState", "RememberedPruning", "remember_pruned"]


MEMORIES = "recalled_memories"
"""The part of the agent's state that holds what was recalled; callers can neither set nor see it."""

Update: TypeAlias = "dict[str, Any] | None"
_PRUNING_HOOKS = frozenset({"before_model", "abefore_model"})
_OTHER_HOOKS = (
    "before_agent", "abefore_agent", "after_model", "aafter_model", "after_agent", "aafter_agent",
    "wrap_model_call", "awrap_model_call", "wrap_tool_call", "awrap_tool_call",
)  # fmt: skip

_log = logging.getLogger(__name__)


class MemoryState(AgentState[Any]):
    """The agent's state with what was recalled for the run."""

    recalled_memories: NotRequired[Annotated[str, PrivateStateAttr]]


class MemoryMiddleware(AgentMiddleware[MemoryState, Any, Any]):
    """Recalls once a run, gives the memories to every call of the model as quoted data, and remembers at the end.

    Made by `engine.agents.middleware(…)`. Without `recall` or `remember` that part is left out.
    """

    state_schema = MemoryState

    def __init__(self, *, recall: Node | None, remember: Node | None, tools: Sequence[BaseTool] = ()) -> None:
        super().__init__()
        self.tools = list(tools)
        self._recall = recall
        self._remember = remember

    def before_agent(self, state: MemoryState, runtime: Any) -> Update:  # noqa: ARG002 - as LangChain calls it
        """Recall for the last question."""
        return None if self._recall is None else self._recall.invoke(state, get_config())

    async def abefore_agent(self, state: MemoryState, runtime: Any) -> Update:  # noqa: ARG002
        """The asynchronous form of `before_agent`."""
        return None if self._recall is None else await self._recall.ainvoke(state, get_config())

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Add what was recalled to the system prompt."""
        return handler(_with_memories(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """The asynchronous form of `wrap_model_call`."""
        return await handler(_with_memories(request))

    def after_agent(self, state: MemoryState, runtime: Any) -> Update:  # noqa: ARG002
        """Remember what is new in the conversation."""
        if self._remember is not None:
            self._remember.invoke(state, get_config())
        return None

    async def aafter_agent(self, state: MemoryState, runtime: Any) -> Update:  # noqa: ARG002
        """The asynchronous form of `after_agent`."""
        if self._remember is not None:
            await self._remember.ainvoke(state, get_config())
        return None


def remember_pruned(
    context: Context, pruned: Sequence[Any], namespace: NamespaceLike | None, thread: Thread | None = None
) -> Steps[Applied]:
    """Remember the turns that are about to be dropped, each once.

    Raises:
        MissingNamespaceError: no namespace was handed on.
        ModelError: extraction failed; the turns count as not read.
    """
    if namespace is None:
        raise MissingNamespaceError(
            "on_prune got no namespace, so the pruned turns belong to nobody. Hand the namespace on in the reducer's "
            "configuration."
        )
    where, terms = read_namespace(namespace), Terms(reason=came_from("pruned turns", ambient()))
    return remember_unread(context, Planner(context), turns_in(pruned), where, terms, thread=thread)


class RememberedPruning(AgentMiddleware[Any, Any, Any]):
    """A middleware that shortens the conversation, with every turn it takes out remembered first.

    Where remembering fails the conversation stays as long as it is, so that nothing is lost; it is tried again
    before the next call of the model. Made by `engine.agents.pruning(…)`.

    Raises:
        ConfigurationError: the middleware does more than shorten the conversation before the model is called.
    """

    def __init__(self, context: Context, scope: NamespaceSource, inner: AgentMiddleware[Any, Any, Any]) -> None:
        super().__init__()
        if not any(_overrides(inner, name) for name in _PRUNING_HOOKS):
            raise ConfigurationError(f"{inner.name} takes no turns out of the conversation before the model is called.")
        more = [name for name in _OTHER_HOOKS if _overrides(inner, name)]
        if more:
            raise ConfigurationError(f"{inner.name} has hooks that would be lost: {', '.join(more)}.")
        self.state_schema = inner.state_schema
        self.tools = getattr(inner, "tools", [])
        self._context = context
        self._scope = scope
        self._inner = inner

    @property
    def name(self) -> str:
        """The name of the middleware within, marked."""
        return f"Remembered{self._inner.name}"

    def before_model(self, state: Any, runtime: Any) -> Update:
        """Shorten the conversation, once what goes is remembered."""
        update = self._inner.before_model(state, runtime)
        pruned = _taken_out(state["messages"], update)
        if pruned:
            try:
                run(self._remember(pruned))
            except FAILURES as error:
                _log_kept(error)
                return None
        return update

    async def abefore_model(self, state: Any, runtime: Any) -> Update:
        """The asynchronous form of `before_model`."""
        update = await self._inner.abefore_model(state, runtime)
        pruned = _taken_out(state["messages"], update)
        if pruned:
            try:
                await arun(self._remember(pruned))
            except FAILURES as error:
                _log_kept(error)
                return None
        return update

    def _remember(self, pruned: Sequence[Any]) -> Steps[Applied]:
        config = get_config()
        thread = Thread(self._scope.kind, thread_of(config))
        return remember_pruned(self._context, pruned, self._scope.namespace(config), thread)


def _with_memories(request: ModelRequest[Any]) -> ModelRequest[Any]:
    state: Any = request.state
    text = prompt_text(state.get(MEMORIES) or "")
    if not text:
        return request
    before = request.system_message
    if before is None:
        return request.override(system_message=SystemMessage(text))
    if isinstance(before.content, str):
        content: Any = f"{before.content}\n\n{text}"
    else:
        content = [*before.content, {"type": "text", "text": text}]
    return request.override(system_message=before.model_copy(update={"content": content}))


def _overrides(middleware: AgentMiddleware[Any, Any, Any], name: str) -> bool:
    return getattr(type(middleware), name) is not getattr(AgentMiddleware, name)


def _taken_out(messages: Sequence[BaseMessage], update: Update) -> list[BaseMessage]:
    """The messages that are gone once the update is made."""
    if not update or not update.get("messages"):
        return []
    left: Any = add_messages(list(messages), update["messages"])  # type: ignore[arg-type]
    kept = {message.id for message in left}
    return [message for message in messages if message.id not in kept]


def _log_kept(error: Exception) -> None:
    _log.warning("The conversation is not shortened, because what would go was not remembered.", exc_info=error)
