"""Searching with several queries: written by a callable or a model, ranked as one recall would be.

A memory's score is its best over the queries. The first k of that order are all among the first k of some query,
so merging the recalls gives exactly what ranking every memory by its best query would.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from itertools import compress
from typing import Any, TypeAlias, Unpack

from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from pydantic import BaseModel, ConfigDict, Field

from ..consolidation.seen_turns import spoken, turns_in
from ..context import Context
from ..conversations.messages import Message
from ..core.execution import Step, Steps, arun, guard_call, run
from ..core.namespaces import NamespaceLike
from ..core.validation import check_texts, check_whole
from ..errors import ModelError, describe_error
from ..models.answers import ListForm
from ..models.chunks import Part, fenced
from ..models.client import Asker, prompt_text
from ..recall.pipeline import RecallOptions, read_request, recall
from ..recall.result import MemoryMatch, RecallResult
from ..recall.token_budget import fitting, prompt_line
from .nodes import question_in
from .scopes import NamespaceSource

__all__ = ["MOST_QUERIES", "MemorySearcher", "ModelQueries", "MultiRecall", "Queries", "merge", "recall_many"]


MOST_QUERIES = 5
"""The most queries one search is made with."""

TURNS = 6
"""How many of the last turns the writer of queries is shown."""

Queries: TypeAlias = Callable[[Sequence[Message]], Sequence[str] | Awaitable[Sequence[str]]]
"""Writes queries for a conversation, sync or async."""

_log = logging.getLogger(__name__)


class MultiRecall(list[MemoryMatch]):
    """The memories recalled by several queries, best first; `results` are the recalls they come from."""

    def __init__(self, matches: Sequence[MemoryMatch], results: Sequence[RecallResult]) -> None:
        super().__init__(matches)
        self.results = list(results)

    @property
    def exact(self) -> bool:
        """Whether these are the true first of all memories."""
        return all(result.exact for result in self.results)


def recall_many(
    context: Context,
    queries: Sequence[str],
    namespace: NamespaceLike,
    **options: Unpack[RecallOptions],
) -> Steps[MultiRecall]:
    """The memories that matter to any of the queries, each under its best score.

    Raises:
        InputError: a query or an option cannot be used; see `MemoryEngine.recall`.
    """
    check_texts("queries", queries)
    # The budget is that of all recalls together, so that none of them may cut by it alone.
    max_tokens = options.pop("max_tokens", None)
    check_whole("max_tokens", max_tokens)
    results = []
    for query in dict.fromkeys(queries):
        asked = read_request(query, namespace, context.config, **options)
        results.append((yield from recall(context, asked)))
    return merge(results, options.get("limit", 10), max_tokens)


def merge(results: Sequence[RecallResult], limit: int, max_tokens: int | None = None) -> MultiRecall:
    """The recalls of one scope as one, each memory under its best score; the first that fit into the budget."""
    best: dict[tuple[tuple[str, ...], str], MemoryMatch] = {}
    for match in (match for result in results for match in result):
        place = (match.record.namespace, match.record.key)
        if place not in best or match.score > best[place].score:
            best[place] = match
    ordered = sorted(best.values(), key=lambda each: (each.record.namespace, each.record.key))
    ordered.sort(key=lambda each: (each.score, each.record.changed_at), reverse=True)
    chosen = ordered[:limit]
    if max_tokens is not None:
        fits = fitting([prompt_line(each.record, each.score) for each in chosen], max_tokens)
        chosen = list(compress(chosen, fits))
    return MultiRecall(chosen, results)


class ModelQueries:
    """Writes queries with a chat model; where the model fails there are none, and the question itself is used."""

    def __init__(self, model: Any) -> None:
        self._asker = Asker(model, ListForm(_Written, key="queries", mark="query"), "query")

    def steps(self, messages: Sequence[Message]) -> Steps[Sequence[str]]:
        """The queries for a conversation."""
        try:
            answer = yield from self._asker.ask(prompt_text("queries"), fenced(Part(tuple(messages))))
        except ModelError as error:
            _log.warning("No queries were written, so the question itself is looked for.\n%s", describe_error(error))
            return []
        return [item["query"] for item in answer.items if isinstance(item, dict) and isinstance(item.get("query"), str)]


class MemorySearcher(Runnable[Any, MultiRecall]):
    """Recalls with several queries for a conversation. Made by `engine.agents.searcher(…)`.

    `invoke` and `ainvoke` take messages, a graph's state with "messages", or text.
    """

    def __init__(
        self,
        context: Context,
        scope: NamespaceSource,
        queries: Queries | ModelQueries,
        options: RecallOptions,
    ) -> None:
        self._context = context
        self._scope = scope
        self._queries = queries
        self._options = options

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> MultiRecall:
        """Recall for a conversation."""
        return run(self._search(input, ensure_config(config)))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> MultiRecall:
        """The asynchronous form of `invoke`."""
        return await arun(self._search(input, ensure_config(config)))

    def _search(self, given: Any, config: RunnableConfig) -> Steps[MultiRecall]:
        where = self._scope.namespace(config)
        queries = yield from self._write_queries(given)
        return (yield from recall_many(self._context, queries, where, **self._options))

    def _write_queries(self, given: Any) -> Steps[list[str]]:
        messages = given.get("messages") if isinstance(given, dict) and "role" not in given else given
        transcript = turns_in(messages)
        said = spoken(transcript)[-TURNS:]
        if isinstance(self._queries, ModelQueries):
            written = yield from self._queries.steps(said)
        else:
            written = yield from guard_call(Step(self._queries, (said,)), "The writer of queries")
        usable = [text for text in written if isinstance(text, str) and text.strip()]
        question = question_in(transcript)
        return usable[:MOST_QUERIES] or ([question] if question else [])


class _Query(BaseModel):
    """One query."""

    model_config = ConfigDict(extra="forbid", title="Query")

    query: str = Field(description="A few words that can be understood alone.")


class _Written(BaseModel):
    """The queries for a conversation."""

    model_config = ConfigDict(extra="forbid", title="Queries")

    queries: list[_Query]
