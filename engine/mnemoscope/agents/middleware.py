"""Middleware for LangChain's `create_agent`: memories before the model is called, remembering after the answer.

`RememberedPruning` wraps a middleware that shortens the conversation, such as LangChain's summarisation, so that the
turns it takes out are remembered before they go.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import Any, TypeAlias

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
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
from ..errors import ConfigurationError, describe_error
from ..journal.provenance import ambient, came_from, thread_of
from ..recall.rendering import prompt_text
from .nodes import FAILURES, Node
from .scopes import MissingNamespaceError, NamespaceSource

__all__ = ["MEMORIES", "MemoryMiddleware", "RememberedPruning", "remember_pruned"]


MEMORIES = "recalled_memories"
"""Under which name the recall node of a middleware gives what it recalled."""

_MOST_RUNS = 1_000
"""Of so many runs at a time what was recalled is held; a run beyond them recalls again before the model's next call."""

Update: TypeAlias = "dict[str, Any] | None"
_PRUNING_HOOKS = frozenset({"before_model", "abefore_model"})
_OTHER_HOOKS = (
    "before_agent", "abefore_agent", "after_model", "aafter_model", "after_agent", "aafter_agent",
    "wrap_model_call", "awrap_model_call", "wrap_tool_call", "awrap_tool_call",
)  # fmt: skip

_log = logging.getLogger(__name__)


class MemoryMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Recalls once a run, gives the memories to every call of the model as quoted data, and remembers at the end.

    Made by `engine.agents.middleware(…)`. Without `recall` or `remember` that part is left out. What was recalled is
    held here and not in the agent's state: neither a stream of the graph nor a checkpoint shows one's memories, and
    what is erased from the store is in no checkpoint. `memory` names it among the memories of one agent.
    """

    def __init__(
        self,
        scope: NamespaceSource,
        *,
        recall: Node | None,
        remember: Node | None,
        tools: Sequence[BaseTool] = (),
        memory: str = "memory",
    ) -> None:
        super().__init__()
        self.tools = list(tools)
        self._scope = scope
        self._recall = recall
        self._remember = remember
        self._memory = memory
        self._recalled: dict[Hashable, str] = {}

    @property
    def name(self) -> str:
        """Its name in the agent, which tells two memories from each other."""
        kind = type(self).__name__
        return kind if self._memory == "memory" else f"{kind}[{self._memory}]"

    def before_agent(self, state: Any, runtime: Any) -> Update:  # noqa: ARG002 - as LangChain calls it
        """Recall for the last question."""
        if self._recall is not None:
            self._hold(state, self._recall.invoke(state, get_config()))
        return None

    async def abefore_agent(self, state: Any, runtime: Any) -> Update:  # noqa: ARG002
        """The asynchronous form of `before_agent`."""
        if self._recall is not None:
            self._hold(state, await self._recall.ainvoke(state, get_config()))
        return None

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Add what was recalled to the system prompt."""
        self._check_tools(request)
        if self._recall is not None and self._run(request.state) not in self._recalled:
            self._hold(request.state, self._recall.invoke(request.state, get_config()))
        return handler(self._with_memories(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """The asynchronous form of `wrap_model_call`."""
        self._check_tools(request)
        if self._recall is not None and self._run(request.state) not in self._recalled:
            self._hold(request.state, await self._recall.ainvoke(request.state, get_config()))
        return await handler(self._with_memories(request))

    def after_agent(self, state: Any, runtime: Any) -> Update:  # noqa: ARG002
        """Remember what is new in the conversation."""
        self._recalled.pop(self._run(state), None)
        if self._remember is not None:
            self._remember.invoke(state, get_config())
        return None

    async def aafter_agent(self, state: Any, runtime: Any) -> Update:  # noqa: ARG002
        """The asynchronous form of `after_agent`."""
        self._recalled.pop(self._run(state), None)
        if self._remember is not None:
            await self._remember.ainvoke(state, get_config())
        return None

    def _check_tools(self, request: ModelRequest[Any]) -> None:
        """Refuse another tool of the name of one of ours: the agent would call that one, and private facts would go
        where it writes.
        """
        offered = {each.name: each for each in request.tools if isinstance(each, BaseTool)}
        taken = sorted(tool.name for tool in self.tools if offered.get(tool.name, tool) is not tool)
        if taken:
            raise ConfigurationError(
                f"The agent has two tools of the name {', '.join(taken)}. Name one of the memories, such as "
                "tools(name='company_memory')."
            )

    def _run(self, state: Any) -> Hashable:
        """What tells one run from another: whose memories, on which thread, for which question."""
        config = get_config()
        asked = next((each for each in reversed(state["messages"]) if getattr(each, "type", "") == "human"), None)
        question = (getattr(asked, "id", None), repr(getattr(asked, "content", None)))
        return self._scope.namespace(config), thread_of(config), question

    def _hold(self, state: Any, found: Mapping[str, str]) -> None:
        while len(self._recalled) >= _MOST_RUNS:
            # A run that broke off never lets go of its own.
            self._recalled.pop(next(iter(list(self._recalled))), None)
        self._recalled[self._run(state)] = found[MEMORIES]

    def _with_memories(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        text = prompt_text(self._recalled.get(self._run(request.state)) or "") if self._recall is not None else ""
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
    _log.warning("The conversation is not shortened: what would go was not remembered.\n%s", describe_error(error))
