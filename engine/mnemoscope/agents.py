"""The engine inside agents: tools, a recall node, and the prune hook.

The namespace always comes from the graph's configuration, never from the model, and stored text is given to
the model as quoted data on one line each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool, ToolException

from .errors import ConfigurationError, InputError, NotFoundError
from .messages import read_messages
from .namespaces import Namespace, NamespaceLike, read_namespace
from .recall import RecallResult
from .text import one_line

if TYPE_CHECKING:
    from .engine import Applied, MemoryEngine

__all__ = ["MissingNamespaceError", "node_text", "on_prune", "recall_node", "tool_text", "tools"]

MOST_RESULTS = 50
"""The most memories that `search_memory` gives a model, whatever it asks for."""


class MissingNamespaceError(ConfigurationError):
    """The graph's configuration names no namespace for memories."""


def tools(engine: MemoryEngine, *, namespace_key: str) -> list[BaseTool]:
    """The tools `search_memory` and `manage_memory` of an agent, sync and async."""

    def search_memory(query: str, config: RunnableConfig, limit: int = 5) -> str:
        """Search long-term memory for facts that matter to the query."""
        return tool_text(engine.recall(query, _namespace(config, namespace_key), limit=_clamped(limit)))

    async def asearch_memory(query: str, config: RunnableConfig, limit: int = 5) -> str:
        result = await engine.arecall(query, _namespace(config, namespace_key), limit=_clamped(limit))
        return tool_text(result)

    def manage_memory(
        config: RunnableConfig,
        action: Literal["create", "update", "delete"] = "create",
        content: str | None = None,
        key: str | None = None,
    ) -> str:
        """Create a memory from `content`, update the memory `key` to `content`, or delete the memory `key`.

        Keys are given by search_memory.
        """
        return _managed(engine, _namespace(config, namespace_key), action, content, key)

    async def amanage_memory(
        config: RunnableConfig,
        action: Literal["create", "update", "delete"] = "create",
        content: str | None = None,
        key: str | None = None,
    ) -> str:
        namespace = _namespace(config, namespace_key)
        return await asyncio.to_thread(_managed, engine, namespace, action, content, key)

    return [
        StructuredTool.from_function(search_memory, asearch_memory, handle_tool_error=True),
        StructuredTool.from_function(manage_memory, amanage_memory, handle_tool_error=True),
    ]


def recall_node(
    engine: MemoryEngine,
    *,
    into: str,
    limit: int,
    namespace_key: str = "memory_namespace",
    messages_key: str = "messages",
) -> RunnableLambda[Any, dict[str, str]]:
    """A node for `StateGraph`, sync and async: memories for the last user message, into `state[into]`."""

    def node(state: Any, config: RunnableConfig) -> dict[str, str]:
        query = _last_question(_part(state, messages_key))
        namespace = _namespace(config, namespace_key)
        return {into: node_text(engine.recall(query, namespace, limit=limit)) if query else ""}

    async def anode(state: Any, config: RunnableConfig) -> dict[str, str]:
        query = _last_question(_part(state, messages_key))
        namespace = _namespace(config, namespace_key)
        return {into: node_text(await engine.arecall(query, namespace, limit=limit)) if query else ""}

    return RunnableLambda(node, afunc=anode, name="recall")


def on_prune(engine: MemoryEngine, pruned: Sequence[Any], namespace: NamespaceLike | None) -> Applied:
    """Remember the turns that are about to be dropped.

    Raises:
        MissingNamespaceError: no namespace was handed on.
    """
    if namespace is None:
        raise MissingNamespaceError(
            "on_prune got no namespace, so the pruned turns belong to nobody. Hand the namespace on in the reducer's "
            "configuration."
        )
    return engine.remember(pruned, namespace)


def _namespace(config: RunnableConfig | None, key: str) -> Namespace:
    found = ((config or {}).get("configurable") or {}).get(key)
    if found is None:
        raise MissingNamespaceError(
            f"config['configurable'][{key!r}] is missing: it names the namespace of the memories, such as "
            "('memories', 'ana'). Set it where the graph is invoked."
        )
    return read_namespace(found)


def _managed(engine: MemoryEngine, namespace: Namespace, action: str, content: str | None, key: str | None) -> str:
    text = (content or "").strip()
    try:
        if action == "create":
            if not text:
                raise ToolException("Creating a memory needs content.")
            return _created(engine.remember(text, namespace, extract=False, actor="agent"))
        if not key:
            raise ToolException(f"To {action} a memory, give its key; search_memory shows the keys.")
        if action == "update":
            if not text:
                raise ToolException("Updating a memory needs content.")
            engine.update(namespace, key, content=text, actor="agent")
            return f"Updated {key}."
        if not engine.forget(namespace, key=key, actor="agent"):
            raise ToolException(f"There is no memory {key!r}; search_memory shows the keys.")
        return f"Forgot {key}."
    except (InputError, NotFoundError) as error:
        raise ToolException(str(error)) from error


def _created(applied: Applied) -> str:
    if applied:
        return f"Remembered as {applied[0].key}."
    fact = applied.plan.facts[0]
    return f"Nothing was stored: {fact.reason}"


def tool_text(result: RecallResult) -> str:
    """What `search_memory` gives the model for this result."""
    if not result:
        return "No relevant memories."
    return "\n".join(
        f"- [{match.record.key}] {one_line(match.record.content)} "
        f"({match.record.changed_at:%Y-%m-%d}, score {match.score:.2f})"
        for match in result
    )


def node_text(result: RecallResult) -> str:
    """What the recall node writes into the state for this result."""
    return "\n".join(match.format() for match in result)


def _clamped(limit: int) -> int:
    return min(max(limit, 1), MOST_RESULTS)


def _part(state: Any, key: str) -> Any:
    return state.get(key) if isinstance(state, dict) else getattr(state, key, None)


def _last_question(messages: Any) -> str:
    """The text of the last user message, its text blocks alone."""
    for message in reversed(read_messages(messages or []).messages):
        if message.role == "user" and message.text.strip():
            return message.text
    return ""
