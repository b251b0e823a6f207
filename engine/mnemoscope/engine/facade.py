"""`MemoryEngine`: remember, recall, forget and undo over any LangGraph store; the one entry to this library."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from langgraph.store.base import BaseStore

from ..config import MemoryConfig
from ..consolidation.plan import Plan, check_plan
from ..consolidation.planner import Planner
from ..consolidation.remember import (
    Applied,
    TermOptions,
    apply_plan,
    plan_content,
    read_terms,
    remember,
    remember_unread,
)
from ..consolidation.replanning import replan
from ..consolidation.seen_turns import turns_in
from ..context import Context
from ..conversations.messages import read_messages
from ..core.execution import Step, Steps, on_thread, once, verb
from ..core.filters import Filter, compile_filter
from ..core.namespaces import Namespace, NamespaceLike, Scope, read_namespace, read_prefix
from ..core.records import MemoryRecord
from ..core.text import shown
from ..core.times import Clock, aware, utc_now
from ..core.validation import (
    check_all,
    check_by,
    check_given,
    check_key,
    check_kind,
    check_text,
    check_texts,
    check_whole,
)
from ..curation.edits import (
    Forgotten,
    Patch,
    Selection,
    forget_memories,
    restore_memories,
    select_memories,
    update_memory,
)
from ..errors import ConfigurationError, InputError
from ..extraction.facts import Consolidator, ExtractedFact, Extractor
from ..index.scope import ScopeIndex
from ..index.visibility import Visibility
from ..journal.changes import Change
from ..recall.explanation import Explanation
from ..recall.listing import Listing, list_memories
from ..recall.pipeline import RecallOptions, explain_memory, read_request, recall
from ..recall.result import RecallResult
from ..stores import adapt
from ..stores.base import StoreAdapter

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.tools import BaseTool

    from ..agents.nodes import Node
    from ..agents.service import Agents, RecallNodeOptions, Scoped, ToolOptions
    from ..background.workers import Background, PaceOptions
    from ..curation.service import Curation
    from ..curation.tracing import Runs
    from ..evaluation.service import Tuning
    from ..models.prompts import PromptBook
    from ..recall.usage import Usage
    from ..reembedding.service import Reembedding
    from ..transfer.service import Transfer

__all__ = ["MemoryEngine"]


class MemoryEngine:
    """Long-term memory over any `BaseStore` that has an index.

    What one does every day are methods of the engine, each with an asynchronous form under the same name with an `a`
    before it. The rest is grouped: `curation`, `transfer`, `tuning`, `agents`, `runs`, `prompts`, `usage`,
    `reembedding`.

    Args:
        store: the store; it must have been built with an `IndexConfig`, or recall could not rank. Or an adapter
            over one, such as a `View` of a part of it.
        model: a chat model, or a name that `init_chat_model` takes, for extraction and consolidation.
        extractor: `(text) -> list[ExtractedFact]`, sync or async, instead of the model.
        consolidator: `(fact, [(record, similarity)]) -> ConsolidationDecision`, likewise.
        config: weights, half-life and thresholds.
        next_embeddings: the embedder to go over to by `reembedding.start`, or its name; the engine follows the store
            to it.
        clock: what time it is; for tests and for replaying the past.
        actor: who changes are journalled under where a call names nobody.

    Raises:
        ConfigurationError: (a `ValueError`) the store has no index, or there is neither a model nor both callables.
    """

    def __init__(
        self,
        store: BaseStore | StoreAdapter,
        model: Any = None,
        *,
        extractor: Extractor | None = None,
        consolidator: Consolidator | None = None,
        config: MemoryConfig | None = None,
        next_embeddings: Embeddings | str | None = None,
        clock: Clock = utc_now,
        actor: str = "agent",
    ) -> None:
        if model is None and (extractor is None or consolidator is None):
            raise ConfigurationError(
                "MemoryEngine needs a model, such as 'anthropic:…' or an instance, or both extractor= and "
                "consolidator=. Without any model, use RuleExtractor() and RuleConsolidator()."
            )
        _check_parts(store, extractor, consolidator)
        adapter = adapt(store) if isinstance(store, BaseStore) else store
        if not _has_index(adapter.store):
            raise ConfigurationError(
                f"{type(adapter.store).__name__} was built without an index, so memories cannot be ranked by "
                "similarity. Build it with index={'dims': …, 'embed': …, 'fields': ['content']}."
            )
        self._context = Context.over(
            adapter,
            config=config or MemoryConfig(),
            extractor=extractor if extractor is not None else _model_extractor(model),
            consolidator=consolidator if consolidator is not None else _model_consolidator(model),
            clock=lambda: aware(clock()),
            actor=actor,
            next_embeddings=next_embeddings,
        )

    # What it is made of

    @property
    def context(self) -> Context:
        """What all parts of this engine share: for those that build a service of their own."""
        return self._context

    @property
    def store(self) -> BaseStore:
        """The store as LangGraph knows it."""
        return self._context.adapter.store

    @property
    def adapter(self) -> StoreAdapter:
        """The store as this library reads and writes it."""
        return self._context.adapter

    @property
    def config(self) -> MemoryConfig:
        """Weights, half-life and thresholds."""
        return self._context.config

    @property
    def actor(self) -> str:
        """Who changes are journalled under where a call names nobody."""
        return self._context.actor

    @property
    def extractor(self) -> Any:
        """What takes facts out of conversations."""
        return self._context.extractor

    @property
    def consolidator(self) -> Any:
        """What decides what becomes of a fact beside the memories that are like it."""
        return self._context.consolidator

    @cached_property
    def curation(self) -> Curation:
        """Worklists, merge, move, relabel, the trash, retention, erasure, conversion, undoing much at once."""
        from ..curation.service import Curation

        return Curation(self._context)

    @cached_property
    def transfer(self) -> Transfer:
        """Export and import."""
        from ..transfer.service import Transfer

        return Transfer(self._context)

    @cached_property
    def tuning(self) -> Tuning:
        """Cases, profiles and labels; evaluation, search for better weights, calibration."""
        from ..evaluation.service import Tuning

        return Tuning(self._context)

    @cached_property
    def agents(self) -> Agents:
        """Tools, nodes, middleware, managers and searchers."""
        from ..agents.service import Agents

        return Agents(self._context)

    @cached_property
    def runs(self) -> Runs:
        """The plans that were applied, each with its turns."""
        from ..curation.tracing import Runs

        return Runs(self._context)

    @cached_property
    def prompts(self) -> PromptBook:
        """The wordings of prompts that are kept in the store, and which one is in use."""
        from ..models.prompts import PromptBook

        return PromptBook(self._context.adapter, self._context.clock)

    @cached_property
    def usage(self) -> Usage:
        """Which memories were recalled for what, and feedback on that."""
        from ..recall.usage import Usage

        return Usage(self._context)

    @cached_property
    def reembedding(self) -> Reembedding:
        """A change of embedder, while the store is in use."""
        from ..reembedding.service import Reembedding

        return Reembedding(self._context)

    # Reading

    @verb
    def recall(
        self,
        query: str,
        namespace: NamespaceLike,
        *,
        categories: Sequence[str] | None = None,
        limit: int = 10,
        min_score: float | None = None,
        source: str | None = None,
        include_private: bool = False,
        filter: Filter | None = None,
        touch: bool | None = None,
        subtree: bool = False,
        since: datetime | None = None,
        until: datetime | None = None,
        min_similarity: float | None = None,
        max_tokens: int | None = None,
        as_of: datetime | None = None,
        config: MemoryConfig | None = None,
    ) -> Steps[RecallResult]:
        """The memories that matter to the query, best first by the composite score.

        Args:
            query: what to look for; not empty.
            namespace: where; exactly there unless `subtree`.
            categories: at least one must be shared; None for any, an empty list matches nothing.
            limit: how many at most, from 0.
            min_score: the least composite score; None as configured.
            source: on whose behalf; makes that source's private memories visible.
            include_private: see everybody's private memories (operators).
            filter: see `mnemoscope.core.filters`.
            touch: whether to note the recall in the access history; None as configured. Memories themselves
                are never changed by reading.
            subtree: also search the namespaces below.
            since, until: bounds of the time at which the content last changed.
            min_similarity: the least similarity, whatever the score; None as configured.
            max_tokens: how many tokens the memories may take up as lines of a prompt; of the first `limit`, those
                that do not fit are dropped.
            as_of: look at the store as it was at this time: ages, expiry and what was private as they were then, so it
                is for those who may see the history. Not noted in the access history.
            config: weights, half-life and minimums for this recall alone.

        Raises:
            InputError: the query is empty or longer than `LONGEST_QUERY`, the limit is negative, or how the store
                was `as_of` then is not known any more.
            StoreError: the store failed; that is never shown as an empty result.
        """
        asked = read_request(
            query,
            namespace,
            self._context.config,
            categories=categories,
            limit=limit,
            min_score=min_score,
            source=source,
            include_private=include_private,
            filter=filter,
            touch=touch,
            subtree=subtree,
            since=since,
            until=until,
            min_similarity=min_similarity,
            max_tokens=max_tokens,
            as_of=as_of,
            config=config,
        )
        return recall(self._context, asked)

    arecall = recall.asynchronous()

    @verb
    def explain(
        self,
        query: str,
        namespace: NamespaceLike,
        key: str,
        *,
        within: NamespaceLike | None = None,
        **options: Unpack[RecallOptions],
    ) -> Steps[Explanation]:
        """Why a recall of this query returns the memory or does not, and what would bring it in.

        Args:
            query: what is looked for.
            namespace: where the memory is.
            key: which it is; it need not exist.
            within: where the recall looks, if not exactly there.
            options: those of `recall`; the recall is not noted in the access history.
        """
        check_key("key", key)
        where = read_namespace(namespace)
        options["touch"] = False
        asked = read_request(query, where if within is None else within, self._context.config, **options)
        return explain_memory(self._context, asked, where, key)

    aexplain = explain.asynchronous()

    @verb
    def get(self, namespace: NamespaceLike, key: str) -> Steps[MemoryRecord | None]:
        """The memory at this key, or None. Like every call that names a key, for code that may see all of it.

        Private and expired memories are given too.
        """
        check_key("key", key)
        (item,) = yield Step(self._context.adapter.get, ([(read_namespace(namespace), key)],))
        return None if item is None else MemoryRecord.from_item(item)

    aget = get.asynchronous()

    @verb
    def list(
        self,
        namespace: NamespaceLike,
        limit: int | None = 200,
        *,
        source: str | None = None,
        include_private: bool = False,
        categories: Sequence[str] | None = None,
        filter: Filter | None = None,
        subtree: bool = False,
    ) -> Steps[Listing]:
        """Memories of a namespace, the latest changed first; `total` says how many there are in all."""
        check_whole("limit", limit)
        visibility = Visibility(source, include_private, categories, compile_filter(filter))
        return list_memories(self._context, Scope.of(namespace, subtree=subtree), limit, visibility)

    alist = list.asynchronous()

    @verb
    def counts(self, prefix: NamespaceLike = ()) -> Steps[dict[Namespace, int]]:
        """Memories of each namespace that is or lies below the prefix, without our own entries."""
        return once(functools.partial(self._context.indexes.counts, read_prefix(prefix)))

    acounts = counts.asynchronous()

    def index(self, namespace: NamespaceLike, *, subtree: bool = False) -> ScopeIndex:
        """The cached index of a scope as the store is now: every record with its vector, for pages and tools."""
        return self._context.index_of(namespace, subtree=subtree)

    # Remembering

    @verb
    def extract(self, content: object) -> Steps[builtins.list[ExtractedFact]]:
        """The facts that the extractor finds in a text or in messages; nothing is stored."""
        extraction = yield from Planner(self._context).extract(read_messages(content).messages)
        return extraction.facts

    aextract = extract.asynchronous()

    @verb
    def plan(
        self, content: object, namespace: NamespaceLike, *, extract: bool = True, **terms: Unpack[TermOptions]
    ) -> Steps[Plan]:
        """Everything that `remember` would do with the same arguments; nothing is written.

        `content` may also be a list of facts: then it is what `remember_facts` would do.
        """
        given = read_terms(**terms)
        return plan_content(Planner(self._context), content, read_namespace(namespace), given, extract=extract)

    aplan = plan.asynchronous()

    @verb
    def replan(self, plan: Plan, *, let_in: Sequence[int] = (), actor: str | None = None) -> Steps[Plan]:
        """The plan for the same facts in the store as it is now; what a person changed in it stays.

        Nothing is extracted again, and judged again are only facts that are like other memories now. `let_in` are
        positions in `plan.withheld`: facts to be remembered though they were held back, in the name of `actor`.

        Raises:
            InputError: nothing was withheld there, or the plan holds that fact already.
        """
        check_by(actor)
        check_plan(plan)
        check_all("let_in", let_in, int)
        return replan(Planner(self._context), plan, let_in, actor or self.actor)

    areplan = replan.asynchronous()

    @verb
    def apply(self, plan: Plan, *, actor: str | None = None) -> Steps[Applied]:
        """Carry out a plan: all of it in one batch, journalled as one group, or nothing.

        Raises:
            ConflictError: a memory that the plan touches has changed since it was made.
            ModelError: the plan is of a failed extraction.
        """
        check_by(actor)
        check_plan(plan)
        return apply_plan(self._context, plan, actor)

    aapply = apply.asynchronous()

    @verb
    def remember(
        self,
        content: object,
        namespace: NamespaceLike,
        *,
        categories: Sequence[str] | None = None,
        importance: float | None = None,
        source: str | None = None,
        private: bool = False,
        metadata: Mapping[str, Any] | None = None,
        extract: bool = True,
        once: bool = False,
        actor: str | None = None,
        reason: str = "",
    ) -> Steps[Applied]:
        """Extract facts, consolidate them with what is known, and store them.

        A call that is cancelled writes nothing afterwards; where the write had begun, it is through by then.

        Args:
            content: text, a message, or messages (LangChain or dicts).
            namespace: labels as a tuple or list, or "a/b".
            categories: added to those of each fact.
            importance: 0 to 1, for every fact instead of its own.
            source: on whose behalf; needed for `private`.
            private: only recalls on behalf of the same source see it.
            metadata: stored with every memory.
            extract: with False the text is stored as it is, as one fact.
            once: read only those of the messages that were not read before in this namespace. A message is known by
                its id and text; the marks are written in one batch with what was remembered, so that a turn that is
                handed over again, after a crash or by another process, costs no call and is not read twice.
            actor: who is journalled.
            reason: added to the reason of every change in the journal.

        Returns:
            the memories that were inserted or updated, with the plan, the changes and their group.

        Raises:
            ModelError: extraction failed; nothing is written, and the turns count as not read.
        """
        check_by(actor, reason)
        where = read_namespace(namespace)
        terms = read_terms(categories, importance, source, private, metadata, reason)
        planner = Planner(self._context)
        if once:
            return remember_unread(self._context, planner, turns_in(content), where, terms, actor)
        plan = plan_content(planner, content, where, terms, extract=extract)
        return remember(self._context, planner, plan, actor)

    aremember = remember.asynchronous()

    @verb
    def remember_facts(
        self,
        facts: Sequence[ExtractedFact],
        namespace: NamespaceLike,
        *,
        actor: str | None = None,
        **terms: Unpack[TermOptions],
    ) -> Steps[Applied]:
        """Like `remember`, for facts that are already extracted."""
        given = read_terms(**terms)
        check_by(actor, given.reason)
        planner = Planner(self._context)
        plan = planner.from_facts(facts, read_namespace(namespace), given)
        return remember(self._context, planner, plan, actor)

    aremember_facts = remember_facts.asynchronous()

    # Changing by hand

    @verb
    def update(
        self,
        namespace: NamespaceLike,
        key: str,
        *,
        content: str | None = None,
        categories: Sequence[str] | None = None,
        importance: float | None = None,
        private: bool | None = None,
        metadata: Mapping[str, Any] | None = None,
        pinned: bool | None = None,
        expires_at: datetime | None = None,
        expected_revision: int | None = None,
        expected: MemoryRecord | None = None,
        actor: str | None = None,
        reason: str = "",
    ) -> Steps[Change]:
        """Change fields of one memory; None leaves a field as it is, unknown fields are kept.

        `expected` is the memory as the caller had read it: the change is made only where it is still that.

        Raises:
            NotFoundError: there is no such memory.
            ConflictError: it is no longer at `expected_revision` or as `expected`, or was written at the same moment.
            InputError: a value cannot be used.
        """
        check_by(actor, reason)
        check_key("key", key)
        return update_memory(
            self._context,
            (read_namespace(namespace), key),
            Patch(content, categories, importance, private, metadata, pinned, expires_at),
            expected_revision=expected_revision,
            expected=expected,
            actor=actor,
            reason=reason,
        )

    aupdate = update.asynchronous()

    @verb
    def forget(
        self,
        namespace: NamespaceLike,
        *,
        key: str | None = None,
        keys: Sequence[str] | None = None,
        categories: Sequence[str] | None = None,
        older_than: datetime | timedelta | None = None,
        not_recalled_since: datetime | timedelta | None = None,
        importance_below: float | None = None,
        source: str | None = None,
        filter: Filter | None = None,
        dry_run: bool = False,
        actor: str | None = None,
        reason: str = "",
    ) -> Steps[Forgotten]:
        """Withdraw every memory of exactly this namespace that meets all given criteria.

        They become tombstones: out of recall and of plain searches, restorable, and facts like them are not
        remembered again until that is allowed.

        Raises:
            InputError: no criterion is given; see `curation.clear`.
        """
        check_by(actor, reason)
        check_texts("keys", keys)
        chosen = [*(keys or []), key] if key is not None else keys
        selection = Selection(chosen, categories, older_than, not_recalled_since, importance_below, source, filter)
        refs = yield from select_memories(self._context, read_namespace(namespace), selection)
        return (yield from forget_memories(self._context, refs, dry_run=dry_run, actor=actor, reason=reason))

    aforget = forget.asynchronous()

    @verb
    def restore(
        self, namespace: NamespaceLike, key: str, *, actor: str | None = None, reason: str = ""
    ) -> Steps[Change]:
        """Bring a forgotten memory back as it was.

        Raises:
            NotFoundError: there is no tombstone of that key.
            ConflictError: a memory of that key exists again.
        """
        check_by(actor, reason)
        check_key("key", key)
        ref = (read_namespace(namespace), key)
        (change,) = yield from restore_memories(self._context, [ref], actor=actor, reason=reason)
        return change

    arestore = restore.asynchronous()

    # History

    @verb
    def history(
        self,
        namespace: NamespaceLike = (),
        key: str | None = None,
        *,
        subtree: bool = False,
        group: str | None = None,
        by: str | None = None,
        action: str | None = None,
        run: str | None = None,
        before: str | None = None,
        limit: int | None = None,
    ) -> Steps[builtins.list[Change]]:
        """Changes of a namespace or of one memory, latest first; no namespace means the whole store.

        `group`, `by` (the actor), `action` and `run` keep the changes of one each; `before` is the id of a change
        to go on from.
        """
        check_whole("limit", limit)
        texts = {"group": group, "actor": by, "action": action, "run": run}
        for name, text in {"key": key, "before": before, **texts}.items():
            check_text("by" if name == "actor" else name, text)
        scope, journal = Scope.around(namespace, subtree=subtree), self._context.journal
        return once(
            lambda: journal.history(scope.namespace, key, subtree=scope.subtree, before=before, limit=limit, **texts)
        )

    ahistory = history.asynchronous()

    @verb
    def undo(self, change_or_group: str, *, actor: str | None = None, reason: str = "") -> Steps[builtins.list[Change]]:
        """Reverse one change, or all changes of a group at once: text, metadata and vector.

        Raises:
            NotFoundError: there is no such change.
            ConflictError: a memory has changed since; nothing is undone.
        """
        check_by(actor, reason)
        check_given("change_or_group", change_or_group)
        journal, by = self._context.journal, actor or self.actor
        return once(lambda: journal.undo(change_or_group, actor=by, reason=reason))

    aundo = undo.asynchronous()

    @verb
    def as_of(self, namespace: NamespaceLike, moment: datetime) -> Steps[builtins.list[MemoryRecord]]:
        """The memories of a namespace as they were at that time, as far as the journal goes back.

        Raises:
            InputError: that time has not come yet, or the history of it was trimmed.
        """
        check_kind("moment", moment, datetime)
        if aware(moment) > self._context.now():
            raise InputError(f"moment is {moment.isoformat()}, which has not come yet; see list() for now.")
        return once(functools.partial(self._context.journal.as_of, read_namespace(namespace), aware(moment)))

    aas_of = as_of.asynchronous()

    # In agents and in the background

    def tools(
        self, *, namespace: Scoped = None, namespace_key: str = "memory_namespace", **options: Unpack[ToolOptions]
    ) -> builtins.list[BaseTool]:
        """The tools `search_memory` and `manage_memory` of an agent, sync and async; see `agents.tools`."""
        return self.agents.tools(namespace=namespace, namespace_key=namespace_key, **options)

    def recall_node(
        self,
        *,
        into: str = "memory",
        namespace: Scoped = None,
        namespace_key: str = "memory_namespace",
        **options: Unpack[RecallNodeOptions],
    ) -> Node:
        """A graph node that writes what is recalled into `state[into]`; see `agents.recall_node`."""
        return self.agents.recall_node(into=into, namespace=namespace, namespace_key=namespace_key, **options)

    @verb
    def on_prune(self, pruned: Sequence[Any], namespace: NamespaceLike | None) -> Steps[Applied]:
        """Hook for `agentstate-reducer`: remember the turns that are about to be dropped, each once.

        Raises:
            MissingNamespaceError: no namespace was handed on.
            ModelError: extraction failed; the turns count as not read.
        """
        from ..agents.middleware import remember_pruned

        return remember_pruned(self._context, pruned, namespace)

    aon_prune = on_prune.asynchronous()

    def background(
        self, queue: str | Path | None, *, actor: str | None = None, **pace: Unpack[PaceOptions]
    ) -> Background:
        """Threads that remember what is submitted to them, out of a durable queue.

        Args:
            queue: the path of an SQLite file for the queue alone, which other processes may share; None keeps it in
                memory, where it is lost with the process.
            actor: who is journalled.
            pace: `workers`, `debounce`, `at_latest`, `attempts`, `backoff`, `lease`, `capacity`, `exit_timeout`; see
                `Pace`.

        Raises:
            ConfigurationError: an option is out of range.
            StoreUnavailableError: the file cannot be opened, or is no queue.
        """
        from ..background.service import start_background
        from ..background.workers import Pace

        return start_background(self._context, queue, Pace(**pace), actor=actor)

    # The end

    def flush(self) -> None:
        """Write the access notes that wait."""
        self._context.access.flush()

    async def aflush(self) -> None:
        """The asynchronous form of `flush`."""
        await on_thread(self.flush)

    def close(self) -> None:
        """Write what waits and release what the adapter opened and the indexes take; the store itself stays open."""
        self.flush()
        self._context.indexes.drop()
        self._context.adapter.close()

    async def aclose(self) -> None:
        """The asynchronous form of `close`."""
        await on_thread(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _model_extractor(model: Any) -> Any:
    from ..extraction.llm import LLMExtractor

    return LLMExtractor(model)


def _model_consolidator(model: Any) -> Any:
    from ..consolidation.llm_consolidator import LLMConsolidator

    return LLMConsolidator(model)


def _check_parts(store: object, extractor: object, consolidator: object) -> None:
    if not isinstance(store, BaseStore) and not hasattr(store, "abilities"):
        raise ConfigurationError(f"MemoryEngine needs a LangGraph BaseStore, got {shown(store)}.")
    for name, part, method in (("extractor", extractor, "extract"), ("consolidator", consolidator, "judge")):
        if part is not None and not callable(part) and not hasattr(part, method):
            raise ConfigurationError(f"{name} must be a callable or have the method {method}(), got {shown(part)}.")


def _has_index(store: BaseStore) -> bool:
    # A store that does not say what it was built with is given the benefit of the doubt.
    return bool(getattr(store, "index_config", True))
