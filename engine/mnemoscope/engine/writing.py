"""`Writing`: the part of `MemoryEngine` that remembers: plan, then apply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from ..consolidation.apply import TERMS, Applied, applied, plan_of, remembered, terms_of
from ..consolidation.plan import Plan
from ..consolidation.planner import Planner
from ..consolidation.replanning import replanned
from ..conversations.messages import read_messages
from ..core.execution import Steps, arun, check_options, run
from ..core.locks import Turns
from ..core.namespaces import NamespaceLike, read_namespace
from ..core.validation import check_all, check_by, check_kind
from ..extraction.facts import ExtractedFact
from ..journal.journal import Journal
from .reading import Reading

__all__ = ["Writing"]


Facts: TypeAlias = list[ExtractedFact]


class Writing(Reading):
    """The part of `MemoryEngine` that turns conversations and facts into memories."""

    actor: str
    extractor: Any
    consolidator: Any
    _journal: Journal
    _turns: Turns

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

    def replan(self, plan: Plan, *, let_in: Sequence[int] = (), actor: str | None = None) -> Plan:
        """The plan for the same facts in the store as it is now; what a person changed in it stays.

        Nothing is extracted again, and judged again are only facts that are like other memories now. `let_in` are
        positions in `plan.withheld`: facts to be remembered though they were held back, in the name of `actor`.

        Raises:
            InputError: nothing was withheld there, or the plan holds that fact already.
        """
        return run(self._replanned(plan, let_in, actor))

    async def areplan(self, plan: Plan, *, let_in: Sequence[int] = (), actor: str | None = None) -> Plan:
        """The asynchronous form of `replan`."""
        return await arun(self._replanned(plan, let_in, actor))

    def apply(self, plan: Plan, *, actor: str | None = None) -> Applied:
        """Carry out a plan: all of it in one batch, journalled as one group, or nothing.

        Raises:
            ConflictError: a memory that the plan touches has changed since it was made.
            ModelError: the plan is of a failed extraction.
        """
        return run(self._applied(plan, actor))

    async def aapply(self, plan: Plan, *, actor: str | None = None) -> Applied:
        """The asynchronous form of `apply`."""
        return await arun(self._applied(plan, actor))

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

    def _planner(self, extractor: Any = None) -> Planner:
        chosen = self.extractor if extractor is None else extractor
        require = self._journal.embedders.require
        return Planner(self.adapter, self._indexes, chosen, self.consolidator, self.config, self._clock, require)

    def _planned(
        self, method: str, content: object, namespace: NamespaceLike, extract: bool, terms: Mapping[str, Any]
    ) -> Steps[Plan]:
        check_options(method, terms, TERMS)
        where, transcript = read_namespace(namespace), read_messages(content)
        return plan_of(self._planner(), transcript, where, terms_of(**terms), extract=extract)

    def _replanned(self, plan: Plan, let_in: Sequence[int], actor: str | None) -> Steps[Plan]:
        check_by(actor)
        check_kind("plan", plan, Plan)
        check_all("let_in", let_in, int)
        return replanned(self._planner(), plan, let_in, actor or self.actor)

    def _applied(self, plan: Plan, actor: str | None) -> Steps[Applied]:
        check_by(actor)
        check_kind("plan", plan, Plan)
        return applied(self._planner(), self._journal, plan, actor or self.actor)

    def _remembered(self, plan: Steps[Plan], actor: str | None) -> Steps[Applied]:
        check_by(actor)
        return remembered(self._planner(), self._journal, plan, actor or self.actor)
