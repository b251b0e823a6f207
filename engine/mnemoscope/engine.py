"""`MemoryEngine`: remember, recall, forget and undo over any LangGraph store; the one entry to this library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ParamSpec, TypeAlias, TypeVar

from langgraph.store.base import BaseStore

from .access import AccessLog
from .adopting import Adopting
from .background_work import BackgroundWork
from .config import MemoryConfig
from .consolidation import LLMConsolidator
from .curating import Curating
from .errors import ConfigurationError
from .extraction import LLMExtractor
from .facts import Consolidator, ExtractedFact, Extractor
from .index import IndexCache
from .journal import Change, Journal, Tombstone
from .keeping import Keeping
from .messages import read_messages
from .namespaces import NamespaceLike, read_namespace
from .planner import Planner
from .plans import Plan
from .reading import LONGEST_QUERY, Listing
from .records import MemoryRecord
from .remembering import TERMS, Applied, applied, plan_of, remembered, terms_of
from .serving import Serving
from .steps import Steps, arun, run
from .stores import adapt
from .stores.base import StoreAdapter
from .text import shown
from .times import Clock, aware, utc_now
from .tracing import Tracing
from .turns import turns_of
from .twins import check_options

__all__ = ["LONGEST_QUERY", "Applied", "Listing", "MemoryEngine"]

# Inside the class the name `list` is one of its methods.
Changes: TypeAlias = list[Change]
Facts: TypeAlias = list[ExtractedFact]
Records: TypeAlias = list[MemoryRecord]
Tombstones: TypeAlias = list[Tombstone]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class MemoryEngine(Serving, BackgroundWork, Curating, Keeping, Tracing, Adopting):
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
        check_options("plan_facts", terms, TERMS)
        return run(self._planner().from_facts(facts, read_namespace(namespace), terms_of(**terms)))

    async def aplan_facts(self, facts: Sequence[ExtractedFact], namespace: NamespaceLike, **terms: Any) -> Plan:
        """The asynchronous form of `plan_facts`."""
        check_options("aplan_facts", terms, TERMS)
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
        reason: str = "",
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
            reason: added to the reason of every change in the journal.

        Returns:
            the memories that were inserted or updated, with the plan, the changes and their group.

        Raises:
            ModelError: extraction failed; nothing is written.
        """
        where = read_namespace(namespace)
        terms = terms_of(categories, importance, source, private, metadata, reason)
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
        check_options("remember_facts", terms, TERMS)
        where = read_namespace(namespace)
        plan = self._planner().from_facts(facts, where, terms_of(**terms))
        with self._turns.of(where):
            return run(self._remembered(plan, actor))

    async def aremember_facts(
        self, facts: Sequence[ExtractedFact], namespace: NamespaceLike, *, actor: str | None = None, **terms: Any
    ) -> Applied:
        """The asynchronous form of `remember_facts`."""
        check_options("aremember_facts", terms, TERMS)
        where = read_namespace(namespace)
        plan = self._planner().from_facts(facts, where, terms_of(**terms))
        async with self._turns.aof(where):
            return await arun(self._remembered(plan, actor))

    def flush(self) -> None:
        """Write the access notes that wait."""
        self._access.flush()

    def close(self) -> None:
        """Write what waits and release what the adapter opened; the store itself stays open."""
        self.flush()
        self.adapter.close()

    # Procedures

    def _planner(self, extractor: Any = None) -> Planner:
        chosen = self.extractor if extractor is None else extractor
        return Planner(self.adapter, self._indexes, chosen, self.consolidator, self.config, self._clock)

    def _planned(
        self, method: str, content: object, namespace: NamespaceLike, extract: bool, terms: Mapping[str, Any]
    ) -> Steps[Plan]:
        check_options(method, terms, TERMS)
        where, transcript = read_namespace(namespace), read_messages(content)
        return plan_of(self._planner(), transcript, where, terms_of(**terms), extract=extract)

    def _remembered(self, plan: Steps[Plan], actor: str | None) -> Steps[Applied]:
        return remembered(self._planner(), self._journal, plan, actor or self.actor)


def _check_parts(store: object, extractor: object, consolidator: object) -> None:
    if not isinstance(store, BaseStore) and not hasattr(store, "abilities"):
        raise ConfigurationError(f"MemoryEngine needs a LangGraph BaseStore, got {shown(store)}.")
    for name, part, method in (("extractor", extractor, "extract"), ("consolidator", consolidator, "judge")):
        if part is not None and not callable(part) and not hasattr(part, method):
            raise ConfigurationError(f"{name} must be a callable or have the method {method}(), got {shown(part)}.")


def _has_index(store: BaseStore) -> bool:
    # A store that does not say what it was built with is given the benefit of the doubt.
    return bool(getattr(store, "index_config", True))
