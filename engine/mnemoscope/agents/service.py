"""`Agents`: what agents use of an engine: tools, nodes, middleware, managers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from ..context import Context
from ..core.execution import Steps, verb
from ..core.namespaces import NamespaceLike
from ..errors import ConfigurationError
from ..recall.pipeline import RecallOptions
from .multi_query import MemorySearcher, ModelQueries, MultiRecall, Queries, recall_many
from .nodes import Node, Recalling, Remembering, Submit, recall_node, remember_node
from .scopes import NAMESPACE_KEY, NamespaceTemplate, memory_name, namespace_source
from .tools import ACTIONS, Action, Management, memory_tools

if TYPE_CHECKING:
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.tools import BaseTool
    from pydantic import BaseModel

    from .managers import MemoryManager
    from .middleware import MemoryMiddleware, RememberedPruning

__all__ = ["Agents", "RecallNodeOptions", "RememberNodeOptions", "Scoped", "ToolOptions"]

Scoped = NamespaceTemplate | NamespaceLike | None
"""A template such as `("memories", "{user_id}")`; None where the whole namespace stands in the configuration."""


class ToolOptions(TypedDict, total=False):
    """The options of `Agents.tools`, beside where the memories are."""

    actions_permitted: Sequence[Action]
    schema: type[BaseModel] | None
    instructions: str
    max_tokens: int | None
    name: str | None
    about: str


class RecallNodeOptions(TypedDict, total=False):
    """The options of `Agents.recall_node`, beside where the memories are and go."""

    limit: int
    turns: int
    max_tokens: int | None
    messages_key: str
    categories: Sequence[str] | None
    min_similarity: float | None


class RememberNodeOptions(TypedDict, total=False):
    """The options of `Agents.remember_node`, beside where the memories are."""

    turns: int | None
    speaker: str | None
    messages_key: str
    into: str | None
    submit: Submit | None


class Agents:
    """The parts of an agent that read and write memories. Made by `engine.agents`.

    Everywhere the namespace comes from the graph's configuration and never from the model: `namespace` is a template
    such as `("memories", "{user_id}")`, else the whole of it stands in `config["configurable"][namespace_key]`.
    """

    def __init__(self, context: Context) -> None:
        self._context = context

    def tools(
        self,
        *,
        namespace: Scoped = None,
        namespace_key: str = NAMESPACE_KEY,
        actions_permitted: Sequence[Action] = ACTIONS,
        schema: type[BaseModel] | None = None,
        instructions: str = "",
        max_tokens: int | None = None,
        name: str | None = None,
        about: str = "",
    ) -> list[BaseTool]:
        """The tools `search_memory` and `manage_memory` of an agent, sync and async.

        Args:
            namespace: a template; see the class.
            namespace_key: where the namespace stands, without a template.
            actions_permitted: what `manage_memory` may do; its description and arguments say no more than that.
            schema: a Pydantic class that memories have the form of; without one they are texts.
            instructions: when to use `manage_memory`, added to its description.
            max_tokens: the budget of one search; see `MemoryEngine.recall`. Its lines hold a little more: keys and
                parts of scores.
            name: what stands for "memory" in the names of the tools, where an agent has several memories; None is
                "memory", and for a shared namespace ("company",) "company_memory".
            about: whose memory it is, and what belongs there; added to both descriptions.
        """
        source = namespace_source(namespace, namespace_key)
        named = memory_name(source, name)
        management = Management(tuple(actions_permitted), schema, instructions, named, about)
        return memory_tools(self._context, source, management, max_tokens=max_tokens)

    def recall_node(
        self,
        *,
        into: str = "memory",
        namespace: Scoped = None,
        namespace_key: str = NAMESPACE_KEY,
        **options: Unpack[RecallNodeOptions],
    ) -> Node:
        """A graph node that writes what is recalled for the last user message into `state[into]`.

        Args:
            into: the key of the state.
            namespace: a template; see the class.
            namespace_key: where the namespace stands, without a template.
            options: `limit` of the memories (5), `turns` to look for, `max_tokens` of the text, `messages_key`,
                `categories`, `min_similarity`.
        """
        return recall_node(self._context, namespace_source(namespace, namespace_key), Recalling(into, **options))

    def remember_node(
        self,
        *,
        namespace: Scoped = None,
        namespace_key: str = NAMESPACE_KEY,
        **options: Unpack[RememberNodeOptions],
    ) -> Node:
        """A graph node that remembers the turns of the conversation that were not read before, each once.

        Args:
            namespace: a template; see the class.
            namespace_key: where the namespace stands, without a template.
            options: `turns`, how many of the last to begin with where a conversation was never read (all),
                `speaker`, the key of the configuration that names whose turns are remembered on a thread that several
                people share, `messages_key`, `into` (a key of the state that is told what came of it), `submit`
                (takes messages, namespace and thread over, to be remembered elsewhere).
        """
        return remember_node(self._context, namespace_source(namespace, namespace_key), Remembering(**options))

    def middleware(
        self,
        *,
        namespace: Scoped = None,
        namespace_key: str = NAMESPACE_KEY,
        recall: RecallNodeOptions | bool = True,
        remember: RememberNodeOptions | bool = True,
        tools: ToolOptions | bool = False,
        name: str | None = None,
    ) -> MemoryMiddleware:
        """Middleware for `create_agent`: recall before the model, remember after the answer, tools if asked for.

        Args:
            namespace: a template; see the class.
            namespace_key: where the namespace stands, without a template.
            recall, remember, tools: whether to, or with which options of `recall_node`, `remember_node` and `tools`.
            name: as for `tools`; it names the middleware too, so that an agent can have several.
        """
        from .middleware import MEMORIES, MemoryMiddleware

        where: Any = {"namespace": namespace, "namespace_key": namespace_key}
        source = namespace_source(namespace, namespace_key)
        named = memory_name(source, name)
        return MemoryMiddleware(
            source,
            memory=named,
            recall=self.recall_node(**where, into=MEMORIES, **_options(recall)) if recall is not False else None,
            remember=self.remember_node(**where, **_options(remember)) if remember is not False else None,
            tools=self.tools(**{"name": named, **where, **_options(tools)}) if tools is not False else (),
        )

    def pruning(
        self,
        middleware: AgentMiddleware[Any, Any, Any],
        *,
        namespace: Scoped = None,
        namespace_key: str = NAMESPACE_KEY,
    ) -> RememberedPruning:
        """The middleware, such as LangChain's summarisation, with every turn it takes out remembered before it goes."""
        from .middleware import RememberedPruning

        return RememberedPruning(self._context, namespace_source(namespace, namespace_key), middleware)

    def manager(
        self,
        *,
        namespace: Scoped = None,
        namespace_key: str = NAMESPACE_KEY,
        model: Any = None,
        schemas: Sequence[type[BaseModel]] = (),
        profile: type[BaseModel] | None = None,
        instructions: str = "",
    ) -> MemoryManager:
        """A runnable that reads a conversation and keeps memories, and a profile, up to date; each turn once.

        Args:
            namespace: a template; see the class.
            namespace_key: where the namespace stands, without a template.
            model: a chat model, needed for `schemas` and `profile`.
            schemas: Pydantic classes that memories have the form of; without any, and without a profile, they are
                texts that this engine's extractor finds.
            profile: a Pydantic class whose fields all have defaults: one document for each user, changed by field.
            instructions: what else the model should know.
        """
        from ..extraction.documents import DocumentExtractor
        from .managers import MemoryManager
        from .user_profiles import ProfileKeeper

        if (schemas or profile) and model is None:
            raise ConfigurationError("manager(schemas=…) and manager(profile=…) need a model=.")
        extractor: Any = DocumentExtractor(model, schemas, instructions=instructions) if schemas else None
        keeper = ProfileKeeper(model, profile, instructions=instructions) if profile else None
        if extractor is None and keeper is None:
            extractor = self._context.extractor
        return MemoryManager(self._context, namespace_source(namespace, namespace_key), extractor, keeper)

    def searcher(
        self,
        queries: Queries | None = None,
        *,
        model: Any = None,
        namespace: Scoped = None,
        namespace_key: str = NAMESPACE_KEY,
        **options: Unpack[RecallOptions],
    ) -> MemorySearcher:
        """A runnable that recalls with several queries for a conversation.

        Args:
            queries: `(messages) -> [query]`, sync or async; without it the model writes them.
            model: a chat model that writes the queries.
            namespace: a template; see the class.
            namespace_key: where the namespace stands, without a template.
            options: those of `MemoryEngine.recall`.
        """
        if queries is None and model is None:
            raise ConfigurationError("searcher() needs queries=, a callable that writes them, or a model=.")
        writer = queries if queries is not None else ModelQueries(model)
        return MemorySearcher(self._context, namespace_source(namespace, namespace_key), writer, options)

    @verb
    def recall_many(
        self, queries: Sequence[str], namespace: NamespaceLike, **options: Unpack[RecallOptions]
    ) -> Steps[MultiRecall]:
        """The memories that matter to any of the queries, each under its best score; options as for `recall`."""
        return recall_many(self._context, queries, namespace, **options)

    arecall_many = recall_many.asynchronous()


def _options(given: Any) -> Any:
    return {} if isinstance(given, bool) else dict(given)
