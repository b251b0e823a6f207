"""`Curation`: what people do with memories beyond one at a time, each change one group that can be undone."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from ..context import Context
from ..core.execution import Step, Steps, once, verb
from ..core.namespaces import Namespace, NamespaceLike, Scope, read_namespace, show_namespace
from ..core.payloads import cleaned_object
from ..core.progress import Watch
from ..core.text import shown
from ..core.validation import (
    check_all,
    check_by,
    check_given,
    check_keys,
    check_kind,
    check_moment,
    check_text,
    check_whole,
    read_refs,
)
from ..embedding.encode import embed_in_batches, embed_texts
from ..errors import InputError
from ..index.scope import ScopeIndex
from ..journal.access import Access
from ..journal.changes import Change, Edit, Tombstone
from ..journal.trimming import MARKS_KEPT, Trimmed, moment_before, trim, trim_marks
from ..journal.undo import UndoPlan, plan_undo, undo_edits
from ..stores.base import Ref, StoredItem, Vectors
from ..worklists.findings import Finding, Rejection, Rejections
from ..worklists.survey import Criteria, Survey
from ..worklists.worklists import WORKLISTS
from .accepting import Means, accepting_edits, proposals_of, refs_of, texts_of
from .adoption import AdoptionPlan, adoption_edits, adoption_plan
from .edits import (
    Forgotten,
    Patch,
    allow_edit,
    forget_memories,
    load_with_vectors,
    read_stones,
    relabel_memories,
    restore_memories,
)
from .erasure import ErasureReceipt, erase
from .merging import check_revisions, merge_edits, move_edits, present
from .retention import RetentionPlan, RetentionRule, read_rules, retention_edits, retention_plan, write_rules

__all__ = ["Curation"]

_PAGE = 500


class Curation:
    """Worklists, edits of many memories, the trash, retention, erasure, conversion, and undoing much at once.

    Made by `engine.curation`. `actor` names in every call who is journalled; without it the engine's own.
    """

    def __init__(self, context: Context) -> None:
        self._context = context

    # Worklists

    def survey(
        self,
        namespace: NamespaceLike,
        *,
        subtree: bool = False,
        criteria: Criteria | None = None,
        judged: bool = False,
        watch: Watch | None = None,
    ) -> Survey:
        """Everything that worklists look at, read once; `WORKLISTS[name].find(survey)` gives the rows of one.

        `judged` asks the engine's consolidator about the most likely contradictions, in one call.
        """
        chosen = Criteria() if criteria is None else criteria
        check_kind("criteria", chosen, Criteria)
        context = self._context
        index, now = context.index_of(namespace, subtree=subtree), context.now()
        return Survey(
            index,
            now,
            access=self._access_in(index),
            changes=self._changes_since(index, now - chosen.changed_within),
            misfits=self._misfits_in(index),
            criteria=chosen,
            judge=context.consolidator if judged else None,
            watch=watch or Watch(),
        )

    def worklist(
        self,
        name: str,
        namespace: NamespaceLike,
        *,
        subtree: bool = False,
        criteria: Criteria | None = None,
        judged: bool = False,
        watch: Watch | None = None,
    ) -> list[Finding]:
        """The rows of one of `WORKLISTS`, without those whose proposals were rejected; see `survey`.

        Raises:
            InputError: there is no such worklist.
            CancelledWorkError: the watch says that it was cancelled.
        """
        if not isinstance(name, str) or name not in WORKLISTS:
            asked = repr(name) if isinstance(name, str) else shown(name)
            raise InputError(f"There is no worklist {asked}; there are {', '.join(WORKLISTS)}.")
        survey = self.survey(namespace, subtree=subtree, criteria=criteria, judged=judged, watch=watch)
        rejected = self.rejections(namespace, subtree=subtree)
        return [finding for finding in WORKLISTS[name].find(survey) if finding.id not in rejected]

    def accept(self, findings: Sequence[Finding], *, actor: str | None = None, reason: str = "") -> list[Change]:
        """Carry out the proposals of findings, all as one group or none.

        Raises:
            ConflictError: a memory is not what it was when the worklist was made.
            InputError: one proposes nothing, or two want different things of one memory.
        """
        check_by(actor, reason)
        check_all("findings", findings, Finding)
        context = self._context
        items = {item.ref: item for item in context.adapter.get(refs_of(findings)) if item is not None}
        vectors = embed_in_batches(context.adapter, texts_of(findings, items))
        edits = accepting_edits(findings, Means(items, vectors, context.now(), reason))
        for finding, proposal in proposals_of(findings):
            if proposal.kind == "undo" and proposal.change is not None:
                why = reason or f"worklist: {finding.worklist}"
                edits += context.journal.undo_edits(proposal.change, reason=why)
        return context.commit(edits, actor)

    def reject(self, findings: Sequence[Finding], *, actor: str | None = None, reason: str = "") -> None:
        """Turn proposals down: they stay out of the worklists until one of their memories changes."""
        check_by(actor, reason)
        check_all("findings", findings, Finding)
        context = self._context
        Rejections(context.adapter).add(findings, actor=actor or context.actor, at=context.now(), reason=reason)

    def unreject(self, findings: Sequence[Finding]) -> None:
        """Take rejections back."""
        check_all("findings", findings, Finding)
        Rejections(self._context.adapter).remove(findings)

    def rejections(self, namespace: NamespaceLike, *, subtree: bool = False) -> dict[str, Rejection]:
        """What was rejected, by the finding's id."""
        scope = Scope.of(namespace, subtree=subtree)
        return Rejections(self._context.adapter).of(scope.namespace, subtree=scope.subtree)

    # Edits of several memories

    @verb
    def relabel(
        self,
        refs: Sequence[Ref],
        *,
        add_categories: Sequence[str] = (),
        drop_categories: Sequence[str] = (),
        importance: float | None = None,
        private: bool | None = None,
        actor: str | None = None,
        reason: str = "",
    ) -> Steps[list[Change]]:
        """Change the labels of the memories at these places, in whatever namespaces they are; texts stay.

        Memories that would stay as they are have no change.

        Raises:
            NotFoundError: one of them is not there; nothing is written.
        """
        check_by(actor, reason)
        check_keys("add_categories", add_categories)
        check_keys("drop_categories", drop_categories)
        return relabel_memories(
            self._context,
            read_refs(refs),
            Patch(importance=importance, private=private),
            add_categories=add_categories,
            drop_categories=drop_categories,
            actor=actor,
            reason=reason,
        )

    arelabel = relabel.asynchronous()

    @verb
    def merge(
        self,
        namespace: NamespaceLike,
        keys: Sequence[str],
        *,
        content: str | None = None,
        expected_revisions: Mapping[str, int] | None = None,
        actor: str | None = None,
        reason: str = "",
    ) -> Steps[list[Change]]:
        """Make one memory of several: the first stays, says `content` (or what it said), and takes over what the
        others add; they go without a tombstone.

        Raises:
            NotFoundError: one of them is not there.
            ConflictError: one is not at its expected revision, or was changed at the same moment.
            InputError: there are not two, or not the same people may see them all.
        """
        check_by(actor, reason)
        check_keys("keys", keys)
        check_text("content", content)
        context, where = self._context, read_namespace(namespace)
        text = None if content is None else _read_text(content)
        places: list[Ref] = [(where, key) for key in dict.fromkeys(keys)]
        items = present(places, (yield Step(context.adapter.get, (places,))))
        check_revisions(items, expected_revisions)
        vectors = yield from embed_texts(context.adapter, [text] if text is not None else [])
        edits = merge_edits(items, text, vectors, context.now(), reason=reason)
        changes: list[Change] = yield Step(context.commit, (edits, actor))
        return changes

    amerge = merge.asynchronous()

    @verb
    def move(
        self,
        refs: Sequence[Ref],
        target: NamespaceLike,
        *,
        expected_revisions: Mapping[str, int] | None = None,
        actor: str | None = None,
        reason: str = "",
    ) -> Steps[list[Change]]:
        """Take the memories at these places to another namespace, each under its key, with vector and creation time.

        Raises:
            NotFoundError: one of them is not there.
            ConflictError: the target has a memory of one of the keys, or one is not at its expected revision.
        """
        check_by(actor, reason)
        context, where, places = self._context, read_namespace(target), read_refs(refs)
        found = yield from load_with_vectors(context, places)
        items = present(places, [found[place][0] if place in found else None for place in places])
        check_revisions(items, expected_revisions)
        edits = [edit for place in places for edit in _move_edits(found[place], where, reason)]
        changes: list[Change] = yield Step(context.commit, (edits, actor))
        return changes

    amove = move.asynchronous()

    # Forgetting, the trash, erasure

    @verb
    def forget(
        self, refs: Sequence[Ref], *, dry_run: bool = False, actor: str | None = None, reason: str = ""
    ) -> Steps[Forgotten]:
        """Withdraw the memories at these places, in whatever namespaces they are; see `MemoryEngine.forget`."""
        check_by(actor, reason)
        return forget_memories(self._context, read_refs(refs), dry_run=dry_run, actor=actor, reason=reason)

    aforget = forget.asynchronous()

    @verb
    def clear(
        self, namespace: NamespaceLike, *, confirm: str, actor: str | None = None, reason: str = ""
    ) -> Steps[Forgotten]:
        """Forget every memory of exactly this namespace; `confirm` repeats it, written "a/b"."""
        check_by(actor, reason)
        where = read_namespace(namespace)
        if confirm != show_namespace(where):
            raise InputError(
                f"clear forgets every memory of {show_namespace(where)!r}; confirm it by "
                f"confirm={show_namespace(where)!r}, got {confirm!r}."
            )
        index = yield Step(self._context.index, (Scope(where),))
        return (yield from forget_memories(self._context, list(index.position), actor=actor, reason=reason))

    aclear = clear.asynchronous()

    @verb
    def trash(self, namespace: NamespaceLike, *, subtree: bool = False) -> Steps[list[Tombstone]]:
        """What was forgotten and can be restored, latest first."""
        scope = Scope.of(namespace, subtree=subtree)
        return once(functools.partial(self._context.journal.tombstones, scope.namespace, subtree=scope.subtree))

    atrash = trash.asynchronous()

    @verb
    def restore(self, refs: Sequence[Ref], *, actor: str | None = None, reason: str = "") -> Steps[list[Change]]:
        """Bring the memories that were forgotten at these places back as they were, as one group.

        Raises:
            NotFoundError: one of them was not forgotten.
            ConflictError: at one of the places a memory exists again; nothing is brought back.
        """
        check_by(actor, reason)
        return restore_memories(self._context, read_refs(refs), actor=actor, reason=reason)

    arestore = restore.asynchronous()

    @verb
    def allow(
        self, refs: Sequence[Ref], *, allowed: bool = True, actor: str | None = None, reason: str = ""
    ) -> Steps[list[Change]]:
        """Let facts like these forgotten memories be learned again or, with `allowed=False`, block them again.

        Raises:
            NotFoundError: one of them was not forgotten.
        """
        check_by(actor, reason)
        stones = yield from read_stones(self._context, read_refs(refs))
        edits = [allow_edit(item, vectors, allowed=allowed, reason=reason) for item, vectors in stones]
        changes: list[Change] = yield Step(self._context.commit, (edits, actor))
        return changes

    aallow = allow.asynchronous()

    @verb
    def erase(
        self,
        namespace: NamespaceLike,
        key: str | Sequence[str],
        *,
        confirm: str,
        actor: str | None = None,
        reason: str = "",
    ) -> Steps[ErasureReceipt]:
        """Remove memories for good, for legal deletion: items, tombstones, history, access notes and vectors.

        It cannot be undone. `confirm` repeats the namespace, written "a/b". The reason is kept: it must not quote.

        Raises:
            NotFoundError: of one of them nothing is known.
            ConflictError: one was changed at the same moment; nothing was erased.
        """
        check_by(actor, reason)
        where = read_namespace(namespace)
        if confirm != show_namespace(where):
            raise InputError(
                f"erase removes memories of {show_namespace(where)!r} for good; confirm it by "
                f"confirm={show_namespace(where)!r}, got {shown(confirm)}."
            )
        keys = [key] if isinstance(key, str) else key
        check_keys("key", keys)
        context = self._context
        places = [(where, each) for each in dict.fromkeys(keys)]

        def work() -> ErasureReceipt:
            context.access.flush()
            by, at = actor or context.actor, context.now()
            return erase(context.adapter, context.journal, places, actor=by, at=at, reason=reason)

        return (yield from once(work))

    aerase = erase.asynchronous()

    # Retention

    def retention(self, namespace: NamespaceLike) -> list[RetentionRule]:
        """The retention rules of exactly this namespace."""
        return read_rules(self._context.adapter, read_namespace(namespace))

    def set_retention(self, namespace: NamespaceLike, rules: Sequence[RetentionRule]) -> None:
        """Set the retention rules of exactly this namespace; they do nothing until a plan is made and applied."""
        check_all("rules", rules, RetentionRule)
        write_rules(self._context.adapter, read_namespace(namespace), rules)

    def plan_retention(self, namespace: NamespaceLike, rules: Sequence[RetentionRule] | None = None) -> RetentionPlan:
        """What the rules (those of the namespace, or these) would forget now; nothing is written."""
        context, where = self._context, read_namespace(namespace)
        chosen = self.retention(where) if rules is None else rules
        check_all("rules", chosen, RetentionRule)
        records = context.index(Scope(where)).records
        return retention_plan(where, records, chosen, context.access.of(where), context.now())

    def apply_retention(self, plan: RetentionPlan, *, actor: str | None = None) -> Forgotten:
        """Forget what the plan says, as one group.

        Raises:
            ConflictError: a memory has changed since the plan was made; nothing is forgotten.
        """
        check_by(actor)
        check_kind("plan", plan, RetentionPlan)
        context = self._context
        records = [each.record for each in plan.outlived]
        items = context.adapter.get([(plan.namespace, record.key) for record in records]) if records else []
        changes = context.commit(retention_edits(plan, items), actor)
        return Forgotten(len(changes), changes[0].group if changes else None, records[:20])

    # Items of other programs

    @verb
    def plan_adoption(self, namespace: NamespaceLike = (), *, subtree: bool = False) -> Steps[AdoptionPlan]:
        """What converting the items of a namespace would do; nothing is written. No namespace means the whole store.

        The plan holds each item before and after, and those that cannot be converted with the reason.
        """
        adapter, scope = self._context.adapter, Scope.around(namespace, subtree=subtree)
        snapshot = yield Step(functools.partial(adapter.load, scope.namespace, subtree=scope.subtree))
        fields = snapshot.vectors_by_item() if adapter.abilities.reads_vectors else [()] * len(snapshot.items)
        return adoption_plan(scope.namespace, snapshot.items, fields, subtree=scope.subtree)

    aplan_adoption = plan_adoption.asynchronous()

    @verb
    def apply_adoption(self, plan: AdoptionPlan, *, actor: str | None = None, reason: str = "") -> Steps[list[Change]]:
        """Carry out such a plan as one group; `undo` of the group puts every item back as it was.

        Raises:
            ConflictError: an item has changed since the plan was made; nothing is converted.
        """
        check_by(actor, reason)
        check_kind("plan", plan, AdoptionPlan)
        vectors = yield Step(embed_in_batches, (self._context.adapter, plan.texts))
        edits = adoption_edits(plan, vectors, reason=reason or "adopted")
        changes: list[Change] = yield Step(self._context.commit, (edits, actor))
        return changes

    aapply_adoption = apply_adoption.asynchronous()

    # Undoing much at once, and the length of the history

    def changes_of(self, change_or_group: str) -> list[Change]:
        """The change of this id, or all changes of this group, in the order in which they were made.

        Raises:
            NotFoundError: the history has no such change or group.
        """
        check_given("change_or_group", change_or_group)
        return self._context.journal.changes_of(change_or_group)

    def plan_undo(
        self,
        namespace: NamespaceLike = (),
        *,
        subtree: bool = False,
        by: str | None = None,
        since: datetime | None = None,
        run: str | None = None,
    ) -> UndoPlan:
        """What would be if the changes of a run, or those that somebody made since a time, had never been made.

        Nothing is written. No namespace means the whole store. Memories that somebody else changed after those
        changes stay as they are, and the plan says so.

        Raises:
            InputError: neither `by` nor `run` is given.
        """
        check_text("by", by)
        check_text("run", run)
        check_moment("since", since)
        context, scope = self._context, Scope.around(namespace, subtree=subtree)
        return plan_undo(
            context.adapter, context.journal, scope.namespace, subtree=scope.subtree, by=by, since=since, run=run
        )

    def apply_undo(self, plan: UndoPlan, *, actor: str | None = None, reason: str = "") -> list[Change]:
        """Carry out such a plan as one group.

        Raises:
            ConflictError: a memory has changed since the plan was made; nothing is undone.
        """
        check_by(actor, reason)
        check_kind("plan", plan, UndoPlan)
        edits = undo_edits(plan, reason=reason)
        edits = self._context.journal.renewed(edits, [each.changes[0].at for each in plan.open])
        return self._context.commit(edits, actor)

    def trim_history(
        self,
        older_than: datetime | timedelta | None = None,
        *,
        confirm: int | None = None,
        actor: str | None = None,
    ) -> Trimmed:
        """Count the changes of the whole store that are older, or drop them for good where `confirm` is that count.

        Without `older_than` the age is `config.history_days`. What was dropped cannot be undone.

        Raises:
            InputError: `confirm` is another number than there are.
            PermissionDeniedError: the connection shows only a part of the store.
        """
        check_by(actor)
        check_whole("confirm", confirm)
        context, now = self._context, self._context.now()
        age = timedelta(days=context.config.history_days) if older_than is None else older_than
        return trim(context.adapter, moment_before(age, now), confirm=confirm, actor=actor or context.actor, at=now)

    def trim_marks(self, older_than: datetime | timedelta, *, confirm: int | None = None) -> Trimmed:
        """Count the marks of turns read and of jobs done that are older, or drop them where `confirm` is that count.

        Marks keep a turn from being read twice, and a job from being done twice; they hold no text. They are not
        dropped by themselves.

        Raises:
            InputError: they would be younger than a day, or `confirm` is another number than there are.
        """
        check_whole("confirm", confirm)
        now = self._context.now()
        before = moment_before(older_than, now)
        if before > now - MARKS_KEPT:
            raise InputError(f"Marks are kept for {MARKS_KEPT}, in which a job may come again; name an earlier time.")
        return trim_marks(self._context.adapter, before, confirm=confirm)

    # What a survey reads beside the index

    def _access_in(self, index: ScopeIndex) -> dict[Ref, Access]:
        namespaces = dict.fromkeys(record.namespace for record in index.records)
        access = self._context.access
        return {(each, key): found for each in namespaces for key, found in access.of(each).items()}

    def _changes_since(self, index: ScopeIndex, since: datetime) -> list[Change]:
        pages = self._pages_of_history(index)
        changes: list[Change] = []
        for page in pages:
            changes += (change for change in page if change.at >= since and not change.shelf)
            if page[-1].at < since:
                break
        return changes

    def _pages_of_history(self, index: ScopeIndex) -> Iterator[list[Change]]:
        before = None
        while True:
            page = self._context.journal.history(index.namespace, subtree=index.subtree, before=before, limit=_PAGE)
            if page:
                yield page
            if len(page) < _PAGE:
                return
            before = page[-1].id

    def _misfits_in(self, index: ScopeIndex) -> dict[Ref, int]:
        if not index.misfits:
            return {}
        lacking = [ref for ref, at in index.position.items() if not index.vectored[at]]
        snapshot = self._context.adapter.load(index.namespace, subtree=index.subtree, keys=lacking)
        return {snapshot.items[at].ref: count for at, count in snapshot.misfits.items()}


def _move_edits(found: tuple[StoredItem, Vectors], target: Namespace, reason: str) -> list[Edit]:
    item, vectors = found
    return move_edits(item, target, vectors, reason=reason)


def _read_text(content: str) -> str:
    text: str = cleaned_object({"content": content.strip()})["content"]
    if not text:
        raise InputError("A memory needs some text; to take it away, forget it.")
    return text
