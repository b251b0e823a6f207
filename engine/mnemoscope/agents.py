"""The engine inside agents: tools, a recall node, and the prune hook.

The namespace always comes from the graph's configuration, never from the model, and stored text is given to
the model as quoted data on one line each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.errors import GraphBubbleUp

from .errors import ConfigurationError, ConflictError, InputError, NamespaceError, NotFoundError
from .messages import read_messages
from .namespaces import Namespace, NamespaceLike, read_namespace
from .recall import RecallResult
from .recalling import LONGEST_QUERY
from .records import MemoryRecord
from .text import one_line
from .visibility import Visibility

if TYPE_CHECKING:
    from .engine import Applied, MemoryEngine

__all__ = ["MissingNamespaceError", "node_text", "on_prune", "recall_node", "tool_text", "tools"]

Action: TypeAlias = Literal["create", "update", "delete"]

MOST_RESULTS = 50
"""The most memories that `search_memory` gives a model, whatever it asks for."""


class MissingNamespaceError(ConfigurationError, GraphBubbleUp):
    """The graph's configuration names no namespace for memories, or one that cannot be used.

    It ends the run: a `ToolNode` hands other errors to the model, which cannot put this one right.
    """


def tools(engine: MemoryEngine, *, namespace_key: str) -> list[BaseTool]:
    """The tools `search_memory` and `manage_memory` of an agent, sync and async."""

    def search_memory(query: str, config: RunnableConfig, limit: int = 5) -> str:
        """Search long-term memory for facts that matter to the query."""
        namespace = _namespace(config, namespace_key)
        with _told_to_the_model():
            return tool_text(engine.recall(query, namespace, limit=_clamped(limit)))

    async def asearch_memory(query: str, config: RunnableConfig, limit: int = 5) -> str:
        namespace = _namespace(config, namespace_key)
        with _told_to_the_model():
            return tool_text(await engine.arecall(query, namespace, limit=_clamped(limit)))

    def manage_memory(
        config: RunnableConfig,
        action: Action = "create",
        content: str | None = None,
        key: str | None = None,
    ) -> str:
        """Create a memory from `content`, update the memory `key` to `content`, or delete the memory `key`.

        Keys are given by search_memory.
        """
        namespace = _namespace(config, namespace_key)
        with _told_to_the_model():
            return _managed(engine, namespace, action, content, key)

    async def amanage_memory(
        config: RunnableConfig,
        action: Action = "create",
        content: str | None = None,
        key: str | None = None,
    ) -> str:
        namespace = _namespace(config, namespace_key)
        with _told_to_the_model():
            return await _amanaged(engine, namespace, action, content, key)

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
    """Remember the turns that are about to be dropped; nothing where nobody said anything.

    Raises:
        MissingNamespaceError: no namespace was handed on.
    """
    if namespace is None:
        raise MissingNamespaceError(
            "on_prune got no namespace, so the pruned turns belong to nobody. Hand the namespace on in the reducer's "
            "configuration."
        )
    if not any(message.role in ("user", "assistant") for message in read_messages(pruned).messages):
        return engine.remember_facts([], namespace)
    return engine.remember(pruned, namespace)


def _namespace(config: RunnableConfig | None, key: str) -> Namespace:
    found = ((config or {}).get("configurable") or {}).get(key)
    if found is None:
        raise MissingNamespaceError(
            f"config['configurable'][{key!r}] is missing: it names the namespace of the memories, such as "
            "('memories', 'ana'). Set it where the graph is invoked."
        )
    try:
        return read_namespace(found)
    except NamespaceError as error:
        raise MissingNamespaceError(f"config['configurable'][{key!r}] cannot be used: {error}") from error


@contextmanager
def _told_to_the_model() -> Iterator[None]:
    """What the model can put right is answered to it."""
    try:
        yield
    except (ConflictError, InputError, NotFoundError) as error:
        raise ToolException(str(error)) from error


def _managed(engine: MemoryEngine, namespace: Namespace, action: Action, content: str | None, key: str | None) -> str:
    text, name = _checked(action, content, key)
    if action == "create":
        return _created(engine.remember(text, namespace, extract=False, actor="agent"))
    _check_reachable(engine.get(namespace, name), name)
    if action == "update":
        engine.update(namespace, name, content=text, actor="agent")
        return f"Updated {name}."
    engine.forget(namespace, key=name, actor="agent")
    return f"Forgot {name}."


async def _amanaged(
    engine: MemoryEngine, namespace: Namespace, action: Action, content: str | None, key: str | None
) -> str:
    text, name = _checked(action, content, key)
    if action == "create":
        return _created(await engine.aremember(text, namespace, extract=False, actor="agent"))
    _check_reachable(await engine.aget(namespace, name), name)
    if action == "update":
        await engine.aupdate(namespace, name, content=text, actor="agent")
        return f"Updated {name}."
    await engine.aforget(namespace, key=name, actor="agent")
    return f"Forgot {name}."


def _checked(action: Action, content: str | None, key: str | None) -> tuple[str, str]:
    text = (content or "").strip()
    if action != "delete" and not text:
        raise ToolException(f"To {action} a memory, give its content.")
    if action != "create" and not key:
        raise ToolException(f"To {action} a memory, give its key; search_memory shows the keys.")
    return text, key or ""


def _check_reachable(record: MemoryRecord | None, key: str) -> None:
    # What a search would not show cannot be changed either.
    if record is None or not Visibility().sees(record):
        raise ToolException(f"There is no memory {key!r}; search_memory shows the keys.")


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
        f"- [{one_line(match.record.key)}] {one_line(match.record.content)} "
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
    """The text of the last user message, its text blocks alone, cut where it is longer than a query may be."""
    for message in reversed(read_messages(messages or [], skip_unreadable=True).messages):
        if message.role == "user" and message.text.strip():
            return message.text[:LONGEST_QUERY]
    return ""
