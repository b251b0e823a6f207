"""`MemoryEngine`: remember, recall, forget and undo over any LangGraph store; the one entry to this library."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar

import numpy as np
from langchain_core.tools import BaseTool
from langgraph.store.base import BaseStore

from . import agents
from .access import Access, AccessLog
from .checking import check_moment, check_texts, check_whole
from .config import MemoryConfig
from .consolidation import LLMConsolidator
from .curating import Curating
from .curation import (
    SAMPLE,
    Forgotten,
    Patch,
    Selection,
    forget_edit,
    relabel_edit,
    restore_edit,
    select,
    update_edit,
)
from .errors import ConfigurationError, InputError, NotFoundError
from .explaining import Explanation, locate
from .explaining import explain as explain_in
from .extraction import LLMExtractor
from .facts import Consolidator, ExtractedFact, Extractor
from .filters import Filter, compile_filter
from .index import IndexCache, ScopeIndex
from .journal import Change, Journal, Tombstone, book
from .keeping import Keeping
from .messages import read_messages
from .namespaces import Namespace, NamespaceLike, is_reserved, read_namespace, read_prefix, show_namespace
from .planner import Planner
from .plans import Plan
from .recall import RecallResult
from .recalling import LONGEST_QUERY, Request, recalled, request
from .records import MemoryRecord
from .remembering import TERMS, Applied, applied, plan_of, remembered, terms_of
from .steps import Steps, arun, on_thread, run
from .stores import adapt
from .stores.base import EMBED_AGAIN, Ref, StoreAdapter, StoredItem
from .text import shown
from .times import Clock, aware, utc_now
from .turns import turns_of
from .visibility import Drop, Visibility

__all__ = ["LONGEST_QUERY", "Applied", "Listing", "MemoryEngine"]

# Inside the class the name `list` is one of its methods.
Changes: TypeAlias = list[Change]
Facts: TypeAlias = list[ExtractedFact]
Records: TypeAlias = list[MemoryRecord]
Tombstones: TypeAlias = list[Tombstone]
Tools: TypeAlias = list[BaseTool]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Listing(list[MemoryRecord]):
    """Memories, the latest changed first; `total` counts all that may be seen, `withheld` those that may not."""

    def __init__(self, records: Sequence[MemoryRecord], total: int, withheld: Mapping[Drop, int]) -> None:
        super().__init__(records)
        self.total = total
        self.withheld = dict(withheld)


def _twin(
    method: Callable[Concatenate[MemoryEngine, Arguments], Result],
) -> Callable[Concatenate[MemoryEngine, Arguments], Awaitable[Result]]:
    """The asynchronous form of a method whose only outside work is the store's: it runs on a worker thread."""

    async def twin(self: MemoryEngine, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return await on_thread(functools.partial(method, self, *args, **kwargs))

    twin.__name__ = f"a{method.__name__}"
    twin.__doc__ = f"The asynchronous form of `{method.__name__}`."
    return twin


class MemoryEngine(Curating, Keeping):
    """Long-term memory over any `BaseStore` that has an index.

    Args:
        store: the store; it must have been built with an `IndexConfig`, or recall could not rank. Or an adapter
            over one, such as a `View` of a part of it.
        model: a chat model, or a name that `init_chat_model` takes, for extraction and consolidation.
        extractor: `(text) -> list[ExtractedFact]`, sync or async, instead of the model.
        consolidator: `(fact, [(record, similarity)]) -> ConsolidationDecision`, likewise.
        config: weights, half-life and thresholds.
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
        clock: Clock = utc_now,
        actor: str = "agent",
    ) -> None:
        if model is None and (extractor is None or consolidator is None):
            raise ConfigurationError(
                "MemoryEngine needs a model, such as 'anthropic:…' or an instance, or both extractor= and "
                "consolidator=. Without any model, use RuleExtractor() and RuleConsolidator()."
            )
        _check_parts(store, extractor, consolidator)
        self.adapter = adapt(store) if isinstance(store, BaseStore) else store
        self.store = self.adapter.store
        if not _has_index(self.store):
            raise ConfigurationError(
                f"{type(self.store).__name__} was built without an index, so memories cannot be ranked by similarity. "
                "Build it with index={'dims': …, 'embed': …, 'fields': ['content']}."
            )
        self.config = config or MemoryConfig()
        self.actor = actor
        self.extractor = extractor if extractor is not None else LLMExtractor(model)
        self.consolidator = consolidator if consolidator is not None else LLMConsolidator(model)
        self._clock: Clock = lambda: aware(clock())
        self._indexes = IndexCache(self.adapter)
        self._journal = Journal(self.adapter, self._clock)
        self._access = AccessLog(self.adapter)
        self._turns = turns_of(self.store)

    # Writing: plan, then apply

    def extract(self, content: object) -> Facts:
        """The facts that the extractor finds in a text or in messages; nothing is stored."""
        return run(self._planner().extract(read_messages(content).messages)).facts

    async def aextract(self, content: object) -> Facts:
        """The asynchronous form of `extract`."""
        return (await arun(self._planner().extract(read_messages(content).messages))).facts

    def plan(self, content: object, namespace: NamespaceLike, *, extract: bool = True, **terms: Any) -> Plan:
        """Everything that `remember` would do with the same arguments; nothing is written."""
        return run(self._planned("plan", content, namespace, extract, terms))

    async def aplan(self, content: object, namespace: NamespaceLike, *, extract: bool = True, **terms: Any) -> Plan:
        """The asynchronous form of `plan`."""
        return await arun(self._planned("aplan", content, namespace, extract, terms))

    def plan_facts(self, facts: Sequence[ExtractedFact], namespace: NamespaceLike, **terms: Any) -> Plan:
        """Everything that `remember_facts` would do with the same arguments; nothing is written."""
        _check_options("plan_facts", terms, TERMS)
        return run(self._planner().from_facts(facts, read_namespace(namespace), terms_of(**terms)))

    async def aplan_facts(self, facts: Sequence[ExtractedFact], namespace: NamespaceLike, **terms: Any) -> Plan:
        """The asynchronous form of `plan_facts`."""
        _check_options("aplan_facts", terms, TERMS)
        return await arun(self._planner().from_facts(facts, read_namespace(namespace), terms_of(**terms)))

    def apply(self, plan: Plan, *, actor: str | None = None) -> Applied:
        """Carry out a plan: all of it in one batch, journalled as one group, or nothing.

        Raises:
            ConflictError: a memory that the plan touches has changed since it was made.
            ModelError: the plan is of a failed extraction.
        """
        return run(applied(self._planner(), self._journal, plan, actor or self.actor))

    async def aapply(self, plan: Plan, *, actor: str | None = None) -> Applied:
        """The asynchronous form of `apply`."""
        return await arun(applied(self._planner(), self._journal, plan, actor or self.actor))

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
        actor: str | None = None,
    ) -> Applied:
        """Extract facts, consolidate them with what is known, and store them.

        Args:
            content: text, a message, or messages (LangChain or dicts).
            namespace: labels as a tuple or list, or "a/b".
            categories: added to those of each fact.
            importance: 0 to 1, for every fact instead of its own.
            source: on whose behalf; needed for `private`.
            private: only recalls on behalf of the same source see it.
            metadata: stored with every memory.
            extract: with False the text is stored as it is, as one fact.
            actor: who is journalled.

        Returns:
            the memories that were inserted or updated, with the plan, the changes and their group.

        Raises:
            ModelError: extraction failed; nothing is written.
        """
        where = read_namespace(namespace)
        terms = terms_of(categories, importance, source, private, metadata)
        plan = plan_of(self._planner(), read_messages(content), where, terms, extract=extract)
        with self._turns.of(where):
            return run(self._remembered(plan, actor))

    async def aremember(
        self,
        content: object,
        namespace: NamespaceLike,
        *,
        extract: bool = True,
        actor: str | None = None,
        **terms: Any,
    ) -> Applied:
        """The asynchronous form of `remember`, with the same options.

        A call that is cancelled writes nothing afterwards; where the write had begun, it is through by then.
        """
        where = read_namespace(namespace)
        plan = self._planned("aremember", content, where, extract, terms)
        async with self._turns.aof(where):
            return await arun(self._remembered(plan, actor))

    def remember_facts(
        self, facts: Sequence[ExtractedFact], namespace: NamespaceLike, *, actor: str | None = None, **terms: Any
    ) -> Applied:
        """Like `remember`, for facts that are already extracted; the same options but `extract`."""
        _check_options("remember_facts", terms, TERMS)
        where = read_namespace(namespace)
        plan = self._planner().from_facts(facts, where, terms_of(**terms))
        with self._turns.of(where):
            return run(self._remembered(plan, actor))

    async def aremember_facts(
        self, facts: Sequence[ExtractedFact], namespace: NamespaceLike, *, actor: str | None = None, **terms: Any
    ) -> Applied:
        """The asynchronous form of `remember_facts`."""
        _check_options("aremember_facts", terms, TERMS)
        where = read_namespace(namespace)
        plan = self._planner().from_facts(facts, where, terms_of(**terms))
        async with self._turns.aof(where):
            return await arun(self._remembered(plan, actor))

    # Reading

    def recall(
        self,
        query: str,
        namespace: NamespaceLike,
        *,
        categories: Sequence[str] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
        source: str | None = None,
        include_private: bool = False,
        filter: Filter | None = None,
        touch: bool | None = None,
        subtree: bool = False,
        since: datetime | None = None,
        until: datetime | None = None,
        min_similarity: float | None = None,
        config: MemoryConfig | None = None,
    ) -> RecallResult:
        """The memories that matter to the query, best first by the composite score.

        Args:
            query: what to look for; not empty.
            namespace: where; exactly there unless `subtree`.
            categories: at least one must be shared; None for any, an empty list matches nothing.
            limit: how many at most, from 0.
            min_score: the least composite score.
            source: on whose behalf; makes that source's private memories visible.
            include_private: see everybody's private memories (operators).
            filter: see `mnemoscope.filters`.
            touch: whether to note the recall in the access history; None as configured. Memories themselves
                are never changed by reading.
            subtree: also search the namespaces below.
            since, until: bounds of the time at which the content last changed.
            min_similarity: the least similarity, whatever the score.
            config: weights and half-life for this recall alone.

        Raises:
            InputError: the query is empty or longer than `LONGEST_QUERY`, or the limit is negative.
            StoreError: the store failed; that is never shown as an empty result.
        """
        asked = request(
            query,
            namespace,
            config or self.config,
            categories=categories,
            limit=limit,
            min_score=min_score,
            source=source,
            include_private=include_private,
            filter=filter,
            subtree=subtree,
            since=since,
            until=until,
            min_similarity=min_similarity,
        )
        return run(self._recalled(asked, touch))

    async def arecall(
        self,
        query: str,
        namespace: NamespaceLike,
        *,
        touch: bool | None = None,
        config: MemoryConfig | None = None,
        **options: Any,
    ) -> RecallResult:
        """The asynchronous form of `recall`, with the same options."""
        _check_options("arecall", options, tuple(inspect.signature(self.recall).parameters)[2:])
        return await arun(self._recalled(request(query, namespace, config or self.config, **options), touch))

    def explain(
        self, query: str, namespace: NamespaceLike, key: str, *, within: NamespaceLike | None = None, **options: Any
    ) -> Explanation:
        """Why a recall of this query returns the memory or does not, and what would bring it in.

        Args:
            query: what is looked for.
            namespace: where the memory is.
            key: which it is; it need not exist.
            within: where the recall looks, if not exactly there.
            options: those of `recall`; the recall is not noted in the access history.
        """
        where = read_namespace(namespace)
        result = self.recall(query, where if within is None else within, **{**options, "touch": False})
        if locate(result, where, key) is not None:
            return explain_in(result, where, key)
        at = (book("tombstones", where), key)
        stored, stone = self.adapter.get([(where, key), at])
        return explain_in(
            result,
            where,
            key,
            stored=None if stored is None else MemoryRecord.from_item(stored),
            tombstone=None if stone is None else Tombstone.from_value(stone.value),
        )

    async def aexplain(self, query: str, namespace: NamespaceLike, key: str, **options: Any) -> Explanation:
        """The asynchronous form of `explain`, with the same options."""
        return await on_thread(functools.partial(self.explain, query, namespace, key, **options))

    def get(self, namespace: NamespaceLike, key: str) -> MemoryRecord | None:
        """The memory at this key, or None."""
        item = self.adapter.get([(read_namespace(namespace), key)])[0]
        return None if item is None else MemoryRecord.from_item(item)

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
    ) -> Listing:
        """Memories of a namespace, the latest changed first; `total` says how many there are in all."""
        check_whole("limit", limit)
        index = self.index(namespace, subtree=subtree)
        visibility = Visibility(source, include_private, categories, compile_filter(filter))
        withheld = visibility.withheld(index, self._clock())
        open_ = np.flatnonzero(withheld == Drop.NONE).tolist()
        ordered = sorted(open_, key=lambda at: (-index.changed[at], index.records[at].key))
        codes, counts = np.unique(withheld[withheld != Drop.NONE], return_counts=True)
        hidden = {Drop(code): count for code, count in zip(codes.tolist(), counts.tolist(), strict=True)}
        return Listing([index.records[at] for at in ordered[:limit]], len(ordered), hidden)

    def index(self, namespace: NamespaceLike, *, subtree: bool = False) -> ScopeIndex:
        """The cached index of a scope as the store is now: every record with its vector, for pages and tools."""
        return self._indexes.get(read_prefix(namespace) if subtree else read_namespace(namespace), subtree=subtree)

    @property
    def cached_bytes(self) -> int:
        """Roughly what the cached indexes hold in memory."""
        return self._indexes.nbytes

    def counts(self, prefix: NamespaceLike = ()) -> dict[Namespace, int]:
        """Memories of each namespace that is or lies below the prefix; our own books are left out."""
        counts = self.adapter.counts(read_prefix(prefix))
        return {namespace: count for namespace, count in counts.items() if not is_reserved(namespace)}

    def access(self, namespace: NamespaceLike) -> dict[str, Access]:
        """How often, when and for what the memories of a namespace were recalled, by key."""
        return self._access.of(read_namespace(namespace))

    # Changing by hand

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
        actor: str | None = None,
        reason: str = "",
    ) -> Change:
        """Change fields of one memory; None leaves a field as it is, unknown fields are kept.

        Raises:
            NotFoundError: there is no such memory.
            ConflictError: it is no longer at `expected_revision`, or was written at the same moment.
            InputError: a value cannot be used.
        """
        where = read_namespace(namespace)
        patch = Patch(content, categories, importance, private, metadata, pinned, expires_at)
        vectors = run(self._planner().embed([patch.text])) if patch.text else {}
        item = self.adapter.get([(where, key)])[0]
        edit = update_edit(
            item, where, key, patch, vectors, self._clock(), expected_revision=expected_revision, reason=reason
        )
        return self._journal.commit([edit], actor=actor or self.actor)[0]

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
    ) -> Forgotten:
        """Withdraw every memory of exactly this namespace that meets all given criteria.

        They become tombstones: out of recall and of plain searches, restorable, and facts like them are not
        remembered again until that is allowed.

        Raises:
            InputError: no criterion is given; see `clear`.
        """
        check_texts("keys", keys)
        chosen = [*(keys or []), key] if key is not None else keys
        selection = Selection(chosen, categories, older_than, not_recalled_since, importance_below, source, filter)
        where = read_namespace(namespace)
        records = self._named(where, selection.keys) if selection.keys is not None else self.index(where).records
        access = self._access.of(where) if selection.not_recalled_since is not None else {}
        return self._forget(select(records, selection, access, self._clock()), dry_run, actor, reason)

    def forget_at(
        self, refs: Sequence[Ref], *, dry_run: bool = False, actor: str | None = None, reason: str = ""
    ) -> Forgotten:
        """Withdraw the memories at these places, in whatever namespaces they are, as one group; see `forget`."""
        items = self.adapter.get([(read_namespace(namespace), key) for namespace, key in dict.fromkeys(refs)])
        records = [MemoryRecord.from_item(item) for item in items if item is not None]
        return self._forget(records, dry_run, actor, reason)

    def update_at(
        self,
        refs: Sequence[Ref],
        *,
        add_categories: Sequence[str] = (),
        drop_categories: Sequence[str] = (),
        importance: float | None = None,
        private: bool | None = None,
        actor: str | None = None,
        reason: str = "",
    ) -> Changes:
        """Change the labels of many memories, in whatever namespaces they are, as one group; texts stay.

        Memories that would stay as they are have no change.

        Raises:
            NotFoundError: one of them is not there; nothing is written.
        """
        patch = Patch(importance=importance, private=private)
        places = [(read_namespace(namespace), key) for namespace, key in dict.fromkeys(refs)]
        edits = [
            relabel_edit(item, place, patch, add_categories, drop_categories, self._clock(), reason=reason)
            for place, item in zip(places, self.adapter.get(places), strict=True)
        ]
        return self._journal.commit([edit for edit in edits if edit is not None], actor=actor or self.actor)

    def clear(self, namespace: NamespaceLike, *, confirm: str, actor: str | None = None, reason: str = "") -> Forgotten:
        """Forget every memory of exactly this namespace; `confirm` repeats it, written "a/b"."""
        where = read_namespace(namespace)
        if confirm != show_namespace(where):
            raise InputError(
                f"clear forgets every memory of {show_namespace(where)!r}; confirm it by "
                f"confirm={show_namespace(where)!r}, got {confirm!r}."
            )
        return self._forget(self.index(where).records, False, actor, reason)

    def restore(self, namespace: NamespaceLike, key: str, *, actor: str | None = None, reason: str = "") -> Change:
        """Bring a forgotten memory back as it was.

        Raises:
            NotFoundError: there is no tombstone of that key.
            ConflictError: a memory of that key exists again.
        """
        where = read_namespace(namespace)
        at = (book("tombstones", where), key)
        snapshot = self.adapter.load(at[0], keys=[at])
        if not snapshot.items:
            raise NotFoundError(f"Nothing forgotten has the key {key!r} in {show_namespace(where)}; see trash().")
        stone = Tombstone.from_value(snapshot.items[0].value)
        vectors = snapshot.vectors_by_item()[0] if self.adapter.abilities.reads_vectors else EMBED_AGAIN
        edit = restore_edit(stone, vectors, reason)
        return self._journal.commit([edit], actor=actor or self.actor)[0]

    def trash(self, namespace: NamespaceLike, *, subtree: bool = False) -> Tombstones:
        """What was forgotten and can be restored, latest first."""
        where = read_prefix(namespace) if subtree else read_namespace(namespace)
        return self._journal.tombstones(where, subtree=subtree)

    # History

    def history(
        self,
        namespace: NamespaceLike = (),
        key: str | None = None,
        *,
        subtree: bool = False,
        group: str | None = None,
        before: str | None = None,
        limit: int | None = None,
    ) -> Changes:
        """Changes of a namespace or of one memory, latest first; no namespace means the whole store.

        `before` is the id of a change to go on from, `group` keeps one group's changes.
        """
        check_whole("limit", limit)
        where = read_prefix(namespace)
        whole = subtree or not where
        return self._journal.history(where, key, subtree=whole, group=group, before=before, limit=limit)

    def undo(self, change_or_group: str, *, actor: str | None = None, reason: str = "") -> Changes:
        """Take back one change, or all changes of a group at once: text, metadata and vector.

        Raises:
            NotFoundError: there is no such change.
            ConflictError: a memory has changed since; nothing is undone.
        """
        return self._journal.undo(change_or_group, actor=actor or self.actor, reason=reason)

    def as_of(self, namespace: NamespaceLike, moment: datetime) -> Records:
        """The memories of a namespace as they were at that time, as far as the journal goes back."""
        check_moment("moment", moment)
        return self._journal.as_of(read_namespace(namespace), aware(moment))

    # In agents

    def tools(self, *, namespace_key: str = "memory_namespace") -> Tools:
        """The tools `search_memory` and `manage_memory`; the namespace comes from `config["configurable"]`."""
        return agents.tools(self, namespace_key=namespace_key)

    def recall_node(self, *, into: str = "memory", limit: int = 5, **options: Any) -> Any:
        """A graph node that writes what is recalled for the last user message into `state[into]`."""
        return agents.recall_node(self, into=into, limit=limit, **options)

    def on_prune(self, pruned: Sequence[Any], namespace: NamespaceLike | None) -> Applied:
        """Hook for `agentstate-reducer`: remember the turns that are about to be dropped."""
        return agents.on_prune(self, pruned, namespace)

    def flush(self) -> None:
        """Write the access notes that wait."""
        self._access.flush()

    def close(self) -> None:
        """Write what waits and release what the adapter opened; the store itself stays open."""
        self.flush()
        self.adapter.close()

    aget = _twin(get)
    alist = _twin(list)
    aupdate = _twin(update)
    aforget = _twin(forget)
    aclear = _twin(clear)
    arestore = _twin(restore)
    ahistory = _twin(history)
    aundo = _twin(undo)
    aforget_at = _twin(forget_at)
    aupdate_at = _twin(update_at)
    atrash = _twin(trash)
    aas_of = _twin(as_of)
    acounts = _twin(counts)
    aaccess = _twin(access)

    # Procedures

    def _planner(self) -> Planner:
        return Planner(self.adapter, self._indexes, self.extractor, self.consolidator, self.config, self._clock)

    def _planned(
        self, method: str, content: object, namespace: NamespaceLike, extract: bool, terms: Mapping[str, Any]
    ) -> Steps[Plan]:
        _check_options(method, terms, TERMS)
        where, transcript = read_namespace(namespace), read_messages(content)
        return plan_of(self._planner(), transcript, where, terms_of(**terms), extract=extract)

    def _remembered(self, plan: Steps[Plan], actor: str | None) -> Steps[Applied]:
        return remembered(self._planner(), self._journal, plan, actor or self.actor)

    def _recalled(self, asked: Request, touch: bool | None) -> Steps[RecallResult]:
        now = self._clock()
        result = yield from recalled(self.adapter, self._indexes, asked, now)
        if self.config.touch_on_recall if touch is None else touch:
            self._access.note([match.record for match in result], asked.query, now)
        return result

    def _named(self, namespace: Namespace, keys: Sequence[str]) -> Records:
        items = self.adapter.get([(namespace, key) for key in dict.fromkeys(keys)]) if keys else []
        return [MemoryRecord.from_item(item) for item in items if item is not None]

    def _forget(self, records: Sequence[MemoryRecord], dry_run: bool, actor: str | None, reason: str) -> Forgotten:
        sample = [*records[:SAMPLE]]
        if dry_run or not records:
            return Forgotten(len(records), None, sample)
        items = self.adapter.get([(record.namespace, record.key) for record in records])
        edits = [forget_edit(item, reason) for item in items if isinstance(item, StoredItem)]
        changes = self._journal.commit(edits, actor=actor or self.actor)
        return Forgotten(len(changes), changes[0].group if changes else None, sample)


def _check_parts(store: object, extractor: object, consolidator: object) -> None:
    if not isinstance(store, BaseStore) and not hasattr(store, "abilities"):
        raise ConfigurationError(f"MemoryEngine needs a LangGraph BaseStore, got {shown(store)}.")
    for name, part, method in (("extractor", extractor, "extract"), ("consolidator", consolidator, "judge")):
        if part is not None and not callable(part) and not hasattr(part, method):
            raise ConfigurationError(f"{name} must be a callable or have the method {method}(), got {shown(part)}.")


def _has_index(store: BaseStore) -> bool:
    # A store that does not say what it was built with is given the benefit of the doubt.
    return bool(getattr(store, "index_config", True))


def _check_options(method: str, options: Mapping[str, Any], allowed: Sequence[str]) -> None:
    unknown = [name for name in options if name not in allowed]
    if unknown:
        raise TypeError(f"{method}() got an unexpected option {unknown[0]!r}; known are {', '.join(allowed)}.")
