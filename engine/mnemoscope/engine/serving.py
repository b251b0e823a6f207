"""`Serving`: what agents use of an engine: tools, nodes, middleware, and hooks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.tools import BaseTool
from pydantic import BaseModel

from ..agents.managers import MemoryManager
from ..agents.middleware import MEMORIES, MemoryMiddleware, RememberedPruning
from ..agents.multi_query import MemorySearcher, ModelQueries, MultiRecall, Queries, merged
from ..agents.nodes import Node, Recalling, Remembering, recall_node, remember_node
from ..agents.scopes import NAMESPACE_KEY, MissingNamespaceError, NamespaceTemplate, scope_of
from ..agents.tools import ACTIONS, Action, Management, memory_tools
from ..agents.user_profiles import ProfileKeeper
from ..consolidation.apply import TERMS, Applied, remembered, terms_of
from ..consolidation.plan import Terms
from ..consolidation.planner import Planner
from ..consolidation.seen_turns import turns_in, unread
from ..conversations.messages import Transcript
from ..core.execution import Steps, arun, check_options, run, twin
from ..core.namespaces import Namespace, NamespaceLike, read_namespace, read_prefix
from ..core.validation import check_flag, check_key, check_texts, check_whole
from ..errors import ConfigurationError, ConflictError
from ..extraction.documents import DocumentExtractor
from ..journal.provenance import ambient, came_from
from ..recall.cases import Case
from ..recall.feedback import Feedback, FeedbackBook, cases_of, recall_of
from .editing import Editing
from .writing import Writing

__all__ = ["Serving"]


_ATTEMPTS = 3

Scoped = NamespaceTemplate | NamespaceLike | None


class Serving(Editing, Writing):
    """The part of `MemoryEngine` for agents.

    Everywhere the namespace comes from the graph's configuration: `namespace` is a template such as
    `("memories", "{user_id}")`, else the whole of it stands in `config["configurable"][namespace_key]`.
    """

    # In a graph

    def tools(
        self,
        *,
        namespace: Scoped = None,
        namespace_key: str = NAMESPACE_KEY,
        actions_permitted: Sequence[Action] = ACTIONS,
        schema: type[BaseModel] | None = None,
        instructions: str = "",
        max_tokens: int | None = None,
    ) -> list[BaseTool]:
        """The tools `search_memory` and `manage_memory` of an agent, sync and async.

        Args:
            namespace: a template; see the class.
            namespace_key: where the namespace stands, without a template.
            actions_permitted: what `manage_memory` may do; its description and arguments say no more than that.
            schema: a Pydantic class that memories have the form of; without one they are texts.
            instructions: when to use `manage_memory`, added to its description.
            max_tokens: the budget of one search; see `recall`. Its lines hold a little more: keys and parts of scores.
        """
        management = Management(tuple(actions_permitted), schema, instructions)
        return memory_tools(self, scope_of(namespace, namespace_key), management, max_tokens=max_tokens)

    def recall_node(
        self,
        *,
        into: str = "memory",
        limit: int = 5,
        namespace_key: str = NAMESPACE_KEY,
        namespace: Scoped = None,
        **options: Any,
    ) -> Node:
        """A graph node that writes what is recalled for the last user message into `state[into]`.

        Args:
            into: the key of the state.
            limit: how many memories at most.
            namespace_key: where the namespace stands, without a template.
            namespace: a template; see the class.
            options: `turns` to look for, `max_tokens` of the text, `messages_key`, `categories`, `min_similarity`.
        """
        check_options("recall_node", options, tuple(Recalling.__dataclass_fields__)[2:])
        return recall_node(self, scope_of(namespace, namespace_key), Recalling(into, limit, **options))

    def remember_node(self, *, namespace: Scoped = None, namespace_key: str = NAMESPACE_KEY, **options: Any) -> Node:
        """A graph node that remembers the turns of the conversation that were not read before, each once.

        Args:
            namespace: a template; see the class.
            namespace_key: where the namespace stands, without a template.
            options: `turns` to look through, `messages_key`, `into` (a key of the state that is told what came of
                it), `submit` (takes messages, namespace and thread over, to be remembered elsewhere).
        """
        check_options("remember_node", options, tuple(Remembering.__dataclass_fields__))
        return remember_node(self, scope_of(namespace, namespace_key), Remembering(**options))

    def middleware(
        self,
        *,
        namespace: Scoped = None,
        namespace_key: str = NAMESPACE_KEY,
        recall: Mapping[str, Any] | bool = True,
        remember: Mapping[str, Any] | bool = True,
        tools: Mapping[str, Any] | bool = False,
    ) -> MemoryMiddleware:
        """Middleware for `create_agent`: recall before the model, remember after the answer, tools if asked for.

        Args:
            namespace: a template; see the class.
            namespace_key: where the namespace stands, without a template.
            recall, remember, tools: whether to, or with which options of `recall_node`, `remember_node` and `tools`.
        """
        where: dict[str, Any] = {"namespace": namespace, "namespace_key": namespace_key}
        return MemoryMiddleware(
            recall=self.recall_node(**where, into=MEMORIES, **_options(recall)) if recall is not False else None,
            remember=self.remember_node(**where, **_options(remember)) if remember is not False else None,
            tools=self.tools(**where, **_options(tools)) if tools is not False else (),
        )

    def remembering(
        self,
        middleware: AgentMiddleware[Any, Any, Any],
        *,
        namespace: Scoped = None,
        namespace_key: str = NAMESPACE_KEY,
    ) -> RememberedPruning:
        """The middleware, such as LangChain's summarisation, with every turn it takes out remembered before it goes."""
        return RememberedPruning(self, scope_of(namespace, namespace_key), middleware)

    # Managers and searchers

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
        if (schemas or profile) and model is None:
            raise ConfigurationError("manager(schemas=…) and manager(profile=…) need a model=.")
        extractor: Any = DocumentExtractor(model, schemas, instructions=instructions) if schemas else None
        keeper = ProfileKeeper(model, profile, instructions=instructions) if profile else None
        if extractor is None and keeper is None:
            extractor = self.extractor
        return MemoryManager(self, scope_of(namespace, namespace_key), extractor, keeper)

    def searcher(
        self,
        queries: Queries | None = None,
        *,
        model: Any = None,
        namespace: Scoped = None,
        namespace_key: str = NAMESPACE_KEY,
        limit: int = 10,
        **options: Any,
    ) -> MemorySearcher:
        """A runnable that recalls with several queries for a conversation.

        Args:
            queries: `(messages) -> [query]`, sync or async; without it the model writes them.
            model: a chat model that writes the queries.
            namespace: a template; see the class.
            namespace_key: where the namespace stands, without a template.
            limit: how many memories at most.
            options: those of `recall`.
        """
        if queries is None and model is None:
            raise ConfigurationError("searcher() needs queries=, a callable that writes them, or a model=.")
        writer = queries if queries is not None else ModelQueries(model)
        return MemorySearcher(self, scope_of(namespace, namespace_key), writer, limit, options)

    def recall_many(
        self,
        queries: Sequence[str],
        namespace: NamespaceLike,
        *,
        limit: int = 10,
        max_tokens: int | None = None,
        **options: Any,
    ) -> MultiRecall:
        """The memories that matter to any of the queries, each under its best score; options as for `recall`."""
        check_texts("queries", queries)
        check_whole("max_tokens", max_tokens)
        found = [self.recall(query, namespace, limit=limit, **options) for query in dict.fromkeys(queries)]
        return merged(found, limit, max_tokens)

    async def arecall_many(
        self,
        queries: Sequence[str],
        namespace: NamespaceLike,
        *,
        limit: int = 10,
        max_tokens: int | None = None,
        **options: Any,
    ) -> MultiRecall:
        """The asynchronous form of `recall_many`."""
        check_texts("queries", queries)
        check_whole("max_tokens", max_tokens)
        asked = [self.arecall(query, namespace, limit=limit, **options) for query in dict.fromkeys(queries)]
        return merged(await asyncio.gather(*asked), limit, max_tokens)

    # What was of use

    def feedback(
        self,
        recall_id: str,
        key: str,
        *,
        useful: bool,
        namespace: NamespaceLike | None = None,
        actor: str | None = None,
    ) -> Feedback:
        """Say whether a memory was of use in a recall (`result.id`); a second word takes the place of the first.

        Without a namespace the notes of the whole store are looked through.

        Raises:
            NotFoundError: the access history has no such recall of this memory.
        """
        check_key("recall_id", recall_id)
        check_key("key", key)
        check_flag("useful", useful)
        where, note = recall_of(self._access, recall_id, key, None if namespace is None else read_namespace(namespace))
        given = Feedback(recall_id, note.query, note.rank, useful, actor or self.actor, self._clock(), note.thread)
        FeedbackBook(self.adapter).add(where, key, given)
        return given

    def feedback_on(self, namespace: NamespaceLike) -> dict[str, list[Feedback]]:
        """What was said of the memories of a namespace, by key, the latest first."""
        return FeedbackBook(self.adapter).of(read_namespace(namespace))

    def feedback_cases(self, namespace: NamespaceLike, *, subtree: bool = False) -> list[Case]:
        """The feedback on a namespace as cases, to measure and tune a ranking by."""
        where = read_prefix(namespace) if subtree else read_namespace(namespace)
        given = FeedbackBook(self.adapter)
        namespaces = given.namespaces(where) if subtree else [where]
        return [case for each in namespaces for case in cases_of(each, given.of(each))]

    afeedback = twin(feedback)
    afeedback_on = twin(feedback_on)
    afeedback_cases = twin(feedback_cases)

    # Turns, each read once

    def on_prune(self, pruned: Sequence[Any], namespace: NamespaceLike | None) -> Applied:
        """Hook for `agentstate-reducer`: remember the turns that are about to be dropped, each once.

        Raises:
            MissingNamespaceError: no namespace was handed on.
            ModelError: extraction failed; the turns count as not read.
        """
        return self.remember_turns(pruned, _handed_on(namespace), reason=came_from("pruned turns", ambient()))

    async def aon_prune(self, pruned: Sequence[Any], namespace: NamespaceLike | None) -> Applied:
        """The asynchronous form of `on_prune`."""
        reason = came_from("pruned turns", ambient())
        return await self.aremember_turns(pruned, _handed_on(namespace), reason=reason)

    def remember_turns(
        self, messages: object, namespace: NamespaceLike, *, actor: str | None = None, **terms: Any
    ) -> Applied:
        """Remember those of the messages that were not read before in this namespace.

        A message is known by its id and text; the marks are written in one batch with what was remembered, so that
        a turn that is handed over again, after a crash or by another process, costs no call and is not read twice.
        Messages without an id are always read. Options as for `remember`.

        Raises:
            ModelError: extraction failed; nothing is written and the turns count as not read.
        """
        check_options("remember_turns", terms, TERMS)
        where, transcript, given = read_namespace(namespace), turns_in(messages), terms_of(**terms)
        with self._turns.of(where):
            return run(self._once(self._planner(), transcript, where, given, actor or self.actor))

    async def aremember_turns(
        self, messages: object, namespace: NamespaceLike, *, actor: str | None = None, **terms: Any
    ) -> Applied:
        """The asynchronous form of `remember_turns`."""
        check_options("aremember_turns", terms, TERMS)
        where, transcript, given = read_namespace(namespace), turns_in(messages), terms_of(**terms)
        async with self._turns.aof(where):
            return await arun(self._once(self._planner(), transcript, where, given, actor or self.actor))

    def _once(
        self, planner: Planner, transcript: Transcript, where: Namespace, terms: Terms, actor: str, reader: str = ""
    ) -> Steps[Applied]:
        for attempt in range(_ATTEMPTS):
            new = yield from unread(self.adapter, where, transcript, self._clock(), reader=reader)
            if new.is_empty:
                break
            plan = planner.from_transcript(new.transcript, where, terms)
            try:
                return (yield from remembered(planner, self._journal, plan, actor, new.marks, new.guards))
            except ConflictError:
                # Another process may have read the same turns in between.
                if attempt == _ATTEMPTS - 1:
                    raise
        return Applied([], [], (yield from planner.from_facts([], where, terms)))


def _options(given: Mapping[str, Any] | bool) -> dict[str, Any]:
    return {} if isinstance(given, bool) else dict(given)


def _handed_on(namespace: NamespaceLike | None) -> NamespaceLike:
    if namespace is None:
        raise MissingNamespaceError(
            "on_prune got no namespace, so the pruned turns belong to nobody. Hand the namespace on in the reducer's "
            "configuration."
        )
    return namespace
