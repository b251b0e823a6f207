"""`MemoryEngine`: remember, recall, forget and undo over any LangGraph store; the one entry to this library."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar

import numpy as np
from langchain_core.tools import BaseTool
from langgraph.store.base import BaseStore
from numpy.typing import NDArray

from . import agents
from .access import Access, AccessLog
from .applying import edits_of, texts_to_embed
from .config import MemoryConfig
from .consolidation import LLMConsolidator
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
from .errors import ConfigurationError, ConflictError, InputError, NotFoundError
from .explaining import Explanation, locate
from .explaining import explain as explain_in
from .extraction import LLMExtractor
from .facts import Consolidator, ExtractedFact, Extractor
from .filters import Filter, compile_filter
from .index import IndexCache, ScopeIndex
from .journal import Change, Journal, Tombstone, book
from .messages import Transcript, read_messages
from .namespaces import Namespace, NamespaceLike, is_reserved, read_namespace, read_prefix, show_namespace
from .planner import Planner, unit_vectors
from .plans import Plan, Terms
from .ranking import rank
from .recall import RecallResult, gather, widen
from .records import MemoryRecord
from .steps import Step, Steps, arun, run
from .stores import adapt
from .stores.base import EMBED_AGAIN, Ref, StoreAdapter, StoredItem
from .times import Clock, utc_now
from .turns import turns_of
from .visibility import Drop, Visibility

__all__ = ["Applied", "Listing", "MemoryEngine"]

LONGEST_QUERY = 100_000
"""Characters of a query; a longer one is refused."""

_ATTEMPTS = 3

# Inside the class the name `list` is one of its methods.
Changes: TypeAlias = list[Change]
Facts: TypeAlias = list[ExtractedFact]
Records: TypeAlias = list[MemoryRecord]
Tombstones: TypeAlias = list[Tombstone]
Tools: TypeAlias = list[BaseTool]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Applied(list[MemoryRecord]):
    """The memories that a plan inserted or updated. `group` names the change for `undo`, None if there was none."""

    def __init__(self, records: Sequence[MemoryRecord], changes: Sequence[Change], plan: Plan) -> None:
        super().__init__(records)
        self.changes = list(changes)
        self.plan = plan

    @property
    def group(self) -> str | None:
        """The group of all changes made."""
        return self.changes[0].group if self.changes else None


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
        return await asyncio.to_thread(method, self, *args, **kwargs)

    twin.__name__ = f"a{method.__name__}"
    twin.__doc__ = f"The asynchronous form of `{method.__name__}`."
    return twin


class MemoryEngine:
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
        self._clock = clock
        self._indexes = IndexCache(self.adapter)
        self._journal = Journal(self.adapter, clock)
        self._access = AccessLog(self.adapter)
        self._turns = turns_of(self.store)

    # Writing: plan, then apply

    def extract(self, content: object) -> Facts:
        """The facts that the extractor finds in a text or in messages; nothing is stored."""
        return run(self._planner().extract(read_messages(content).messages)).facts

    async def aextract(self, content: object) -> Facts:
        """The asynchronous form of `extract`."""
        return (await arun(self._planner().extract(read_messages(content).messages))).facts

    def plan(self, content: object, namespace: NamespaceLike, **terms: Any) -> Plan:
        """Everything that `remember` would do with the same arguments; nothing is written."""
        return run(self._plan_steps(content, namespace, **terms))

    async def aplan(self, content: object, namespace: NamespaceLike, **terms: Any) -> Plan:
        """The asynchronous form of `plan`."""
        return await arun(self._plan_steps(content, namespace, **terms))

    def plan_facts(self, facts: Sequence[ExtractedFact], namespace: NamespaceLike, **terms: Any) -> Plan:
        """Everything that `remember_facts` would do with the same arguments; nothing is written."""
        return run(self._planner().from_facts(facts, read_namespace(namespace), _terms(**terms)))

    def apply(self, plan: Plan, *, actor: str | None = None) -> Applied:
        """Carry out a plan: all of it in one batch, journalled as one group, or nothing.

        Raises:
            ConflictError: a memory that the plan touches has changed since it was made.
            ModelError: the plan is of a failed extraction.
        """
        return run(self._apply_steps(plan, actor))

    async def aapply(self, plan: Plan, *, actor: str | None = None) -> Applied:
        """The asynchronous form of `apply`."""
        return await arun(self._apply_steps(plan, actor))

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
        terms = _terms(categories, importance, source, private, metadata)
        transcript = read_messages(content)
        with self._turns.of(where):
            return run(self._remember_steps(lambda: self._plan_of(transcript, where, terms, extract), actor))

    async def aremember(self, content: object, namespace: NamespaceLike, **options: Any) -> Applied:
        """The asynchronous form of `remember`, with the same options."""
        where, actor = read_namespace(namespace), options.pop("actor", None)
        extract = options.pop("extract", True)
        terms, transcript = _terms(**options), read_messages(content)
        async with self._turns.aof(where):
            return await arun(self._remember_steps(lambda: self._plan_of(transcript, where, terms, extract), actor))

    def remember_facts(self, facts: Sequence[ExtractedFact], namespace: NamespaceLike, **options: Any) -> Applied:
        """Like `remember`, for facts that are already extracted; the same options but `extract`."""
        where, actor = read_namespace(namespace), options.pop("actor", None)
        terms = _terms(**options)
        with self._turns.of(where):
            return run(self._remember_steps(lambda: self._planner().from_facts(facts, where, terms), actor))

    async def aremember_facts(
        self, facts: Sequence[ExtractedFact], namespace: NamespaceLike, **options: Any
    ) -> Applied:
        """The asynchronous form of `remember_facts`."""
        where, actor = read_namespace(namespace), options.pop("actor", None)
        terms = _terms(**options)
        async with self._turns.aof(where):
            return await arun(self._remember_steps(lambda: self._planner().from_facts(facts, where, terms), actor))

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
        visibility = Visibility(source, include_private, categories, compile_filter(filter), since, until)
        chosen = config or self.config
        steps = self._recall_steps(
            query, namespace, visibility, chosen, limit, min_score, min_similarity, subtree=subtree, touch=touch
        )
        return run(steps)

    async def arecall(self, query: str, namespace: NamespaceLike, **options: Any) -> RecallResult:
        """The asynchronous form of `recall`, with the same options."""
        names = ("source", "include_private", "categories", "since", "until")
        seen = {name: options.pop(name) for name in names if name in options}
        visibility = Visibility(**seen, predicate=compile_filter(options.pop("filter", None)))
        chosen = options.pop("config", None) or self.config
        limits = (options.pop("limit", 10), options.pop("min_score", 0.0), options.pop("min_similarity", None))
        return await arun(self._recall_steps(query, namespace, visibility, chosen, *limits, **options))

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
        return await asyncio.to_thread(self.explain, query, namespace, key, **options)

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
        if limit is not None and limit < 0:
            raise InputError(f"limit must be a whole number from 0, or None for all, got {limit!r}.")
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
        vectors = run(self._planner().embed([patch.content.strip()])) if patch.content else {}
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
        return self._journal.as_of(read_namespace(namespace), moment)

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

    # Procedures

    def _planner(self) -> Planner:
        return Planner(self.adapter, self._indexes, self.extractor, self.consolidator, self.config, self._clock)

    def _plan_steps(
        self, content: object, namespace: NamespaceLike, *, extract: bool = True, **terms: Any
    ) -> Steps[Plan]:
        return self._plan_of(read_messages(content), read_namespace(namespace), _terms(**terms), extract)

    def _plan_of(self, transcript: Transcript, namespace: Namespace, terms: Terms, extract: bool) -> Steps[Plan]:
        if not any(message.text.strip() for message in transcript.messages):
            raise InputError("There is nothing to remember: the content is empty or holds no text.")
        if extract:
            return self._planner().from_transcript(transcript, namespace, terms)
        text = "\n\n".join(message.text for message in transcript.messages)
        ids = [message.id for message in transcript.messages]
        return self._planner().from_facts([ExtractedFact(content=text, message_ids=ids)], namespace, terms)

    def _apply_steps(self, plan: Plan, actor: str | None) -> Steps[Applied]:
        if plan.failure is not None:
            raise plan.failure
        reworded = yield from self._planner().embed(texts_to_embed(plan))
        edits = edits_of(plan, {**plan.vectors, **reworded})
        changes = yield Step(functools.partial(self._journal.commit, edits, actor=actor or self.actor, run=plan.id))
        written = [change.after for change in plan.changes if change.after is not None]
        return Applied(written, changes, plan)

    def _remember_steps(self, plan: Callable[[], Steps[Plan]], actor: str | None) -> Steps[Applied]:
        for attempt in range(_ATTEMPTS):
            made = yield from plan()
            try:
                return (yield from self._apply_steps(made, actor))
            except ConflictError:
                # Another process wrote in between; the next plan sees what it wrote.
                if attempt == _ATTEMPTS - 1:
                    raise
        raise AssertionError("unreachable")

    def _recall_steps(
        self,
        query: str,
        namespace: NamespaceLike,
        visibility: Visibility,
        config: MemoryConfig,
        limit: int,
        min_score: float,
        min_similarity: float | None,
        *,
        subtree: bool = False,
        touch: bool | None = None,
    ) -> Steps[RecallResult]:
        _check_query(query)
        where = read_prefix(namespace) if subtree else read_namespace(namespace)
        now, marks = self._clock(), [time.perf_counter()]
        embeddings = self.adapter.embeddings
        if self.adapter.abilities.reads_vectors and embeddings is not None:
            vector = yield Step(embeddings.embed_query, (query,), embeddings.aembed_query)
            marks.append(time.perf_counter())
            index = yield Step(functools.partial(self._indexes.get, where, subtree=subtree))
            marks.append(time.perf_counter())
            unit = _query_vector(vector, index, self.adapter.dimensions)
            candidates = gather(index, unit, query, visibility, config, now)
        else:
            marks.append(time.perf_counter())
            search = functools.partial(widen, self.adapter, where, query, visibility, config, now)
            candidates = yield Step(functools.partial(search, limit=limit, subtree=subtree))
            marks.append(time.perf_counter())
        ranking = rank(candidates, config, limit=limit, min_score=min_score, min_similarity=min_similarity)
        marks.append(time.perf_counter())
        timings = dict(zip(("embed", "fetch", "rank"), np.diff(marks).tolist(), strict=True))
        result = RecallResult(query, where, ranking, limit, min_score, min_similarity, timings)
        if self.config.touch_on_recall if touch is None else touch:
            self._access.note([match.record for match in result], query, now)
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


def _has_index(store: BaseStore) -> bool:
    # A store that does not say what it was built with is given the benefit of the doubt.
    return bool(getattr(store, "index_config", True))


def _terms(
    categories: Sequence[str] | None = None,
    importance: float | None = None,
    source: str | None = None,
    private: bool = False,
    metadata: Mapping[str, Any] | None = None,
) -> Terms:
    if isinstance(categories, str):
        raise InputError(f"categories must be a list of texts, got the text {categories!r}.")
    if importance is not None and not (isinstance(importance, int | float) and 0.0 <= importance <= 1.0):
        raise InputError(f"importance must be a number from 0 to 1, got {importance!r}.")
    if private and not source:
        raise InputError("A private memory needs a source=: nobody could ever recall it otherwise.")
    return Terms(tuple(categories or ()), importance, source, private, dict(metadata or {}))


def _check_query(query: str) -> None:
    if not isinstance(query, str) or not query.strip():
        raise InputError(f"A recall needs a query with some text, got {query!r}.")
    if len(query) > LONGEST_QUERY:
        raise InputError(f"The query has {len(query):,} characters; {LONGEST_QUERY:,} are allowed. Shorten it.")


def _query_vector(vector: Sequence[float], index: ScopeIndex, dimensions: int | None) -> NDArray[np.float32]:
    expected = index.matrix.shape[1] if len(index.matrix) else dimensions
    unit: NDArray[np.float32] = unit_vectors([vector], 1, expected)[0]
    return unit
