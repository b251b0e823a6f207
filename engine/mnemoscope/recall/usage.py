"""`Usage`: which memories were recalled for what, and whether they were of use."""

from __future__ import annotations

import functools

from ..context import Context
from ..core.execution import Step, Steps, once, verb
from ..core.namespaces import NamespaceLike, Scope, read_namespace
from ..core.validation import check_flag, check_key, check_whole
from ..journal.access import Access, AskedQuery
from .cases import Case
from .feedback import Feedback, FeedbackBook, cases_of, recall_of

__all__ = ["Usage"]


class Usage:
    """Recalls as they were noted, and feedback on them. Made by `engine.usage`."""

    def __init__(self, context: Context) -> None:
        self._context = context

    @verb
    def recalls(self, namespace: NamespaceLike) -> Steps[dict[str, Access]]:
        """How often, when and for what the memories of a namespace were recalled, by key."""
        return once(functools.partial(self._context.access.of, read_namespace(namespace)))

    arecalls = recalls.asynchronous()

    @verb
    def queries(
        self, namespace: NamespaceLike, *, subtree: bool = False, limit: int | None = 200
    ) -> Steps[list[AskedQuery]]:
        """What the memories of a namespace were recalled for, the latest first, as far as the access history goes."""
        check_whole("limit", limit)
        scope = Scope.of(namespace, subtree=subtree)
        read = functools.partial(self._context.access.queries, scope.namespace, subtree=scope.subtree)
        found = yield Step(read)
        latest: list[AskedQuery] = found[:limit]
        return latest

    aqueries = queries.asynchronous()

    @verb
    def give_feedback(
        self,
        recall_id: str,
        key: str,
        *,
        useful: bool,
        namespace: NamespaceLike | None = None,
        actor: str | None = None,
    ) -> Steps[Feedback]:
        """Say whether a memory was of use in a recall (`result.id`); a second word takes the place of the first.

        Without a namespace the notes of the whole store are looked through.

        Raises:
            NotFoundError: the access history has no such recall of this memory.
        """
        check_key("recall_id", recall_id)
        check_key("key", key)
        check_flag("useful", useful)
        context = self._context
        within = None if namespace is None else read_namespace(namespace)
        where, note = yield Step(recall_of, (context.access, recall_id, key, within))
        by = actor or context.actor
        given = Feedback(recall_id, note.query, note.rank, useful, by, context.now(), note.thread)
        yield Step(FeedbackBook(context.adapter).add, (where, key, given))
        return given

    agive_feedback = give_feedback.asynchronous()

    @verb
    def feedback(self, namespace: NamespaceLike) -> Steps[dict[str, list[Feedback]]]:
        """What was said of the memories of a namespace, by key, the latest first."""
        return once(functools.partial(FeedbackBook(self._context.adapter).of, read_namespace(namespace)))

    afeedback = feedback.asynchronous()

    @verb
    def feedback_cases(self, namespace: NamespaceLike, *, subtree: bool = False) -> Steps[list[Case]]:
        """The feedback on a namespace as cases, to measure and tune a ranking by."""
        scope, given = Scope.of(namespace, subtree=subtree), FeedbackBook(self._context.adapter)

        def read() -> list[Case]:
            namespaces = given.namespaces(scope.namespace) if scope.subtree else [scope.namespace]
            return [case for each in namespaces for case in cases_of(each, given.of(each))]

        return once(read)

    afeedback_cases = feedback_cases.asynchronous()
