"""`Curating`: what a curator does with an engine beyond one memory at a time: worklists, merge, move, allow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ..core.execution import run
from ..core.namespaces import Namespace, NamespaceLike, read_namespace, read_prefix, show_namespace
from ..core.payloads import cleaned_object
from ..core.progress import Watch
from ..core.text import shown
from ..core.validation import (
    check_all,
    check_by,
    check_key,
    check_keys,
    check_kind,
    check_moment,
    check_text,
    read_refs,
)
from ..curation.edits import allow_edit, restore_edit
from ..curation.merging import check_revisions, merge_edits, move_edits, present
from ..embedding.encode import embed_texts
from ..errors import InputError, NotFoundError
from ..index.scope import ScopeIndex
from ..journal.changes import Change, Edit, Tombstone, book
from ..journal.entries import required_entry
from ..journal.journal import Journal
from ..journal.undo import UndoPlan, plan_undo, undo_edits
from ..recall.access import Access
from ..stores.base import EMBED_AGAIN, Ref, StoredItem, Vectors
from ..worklists.accepting import Means, accepting_edits, proposals_of, refs_of, texts_of
from ..worklists.findings import Finding, Rejection, Rejections
from ..worklists.survey import Criteria, Survey
from ..worklists.worklists import WORKLISTS
from .reading import Reading

__all__ = ["Curating"]


_PAGE = 500


class Curating(Reading):
    """The part of `MemoryEngine` for curators."""

    actor: str
    consolidator: Any
    _journal: Journal

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

        `judged` asks this engine's consolidator about the most likely contradictions, in one call.
        """
        chosen = Criteria() if criteria is None else criteria
        check_kind("criteria", chosen, Criteria)
        index, now = self.index(namespace, subtree=subtree), self._clock()
        return Survey(
            index,
            now,
            access=self._accessed(index),
            changes=self._changes_since(index, now - chosen.changed_within),
            misfits=self._misfits(index),
            criteria=chosen,
            judge=self.consolidator if judged else None,
            watch=watch or Watch(),
        )

    def worklist(self, name: str, namespace: NamespaceLike, **options: Any) -> list[Finding]:
        """The rows of one of `WORKLISTS`, without those whose proposals were rejected; options as for `survey`.

        Raises:
            InputError: there is no such worklist.
            CancelledWorkError: the watch says that it was cancelled.
        """
        if not isinstance(name, str) or name not in WORKLISTS:
            asked = repr(name) if isinstance(name, str) else shown(name)
            raise InputError(f"There is no worklist {asked}; there are {', '.join(WORKLISTS)}.")
        survey = self.survey(namespace, **options)
        rejected = self.rejections(namespace, subtree=survey.index.subtree)
        return [finding for finding in WORKLISTS[name].find(survey) if finding.id not in rejected]

    def rejections(self, namespace: NamespaceLike, *, subtree: bool = False) -> dict[str, Rejection]:
        """What was rejected, by the finding's id."""
        where = read_prefix(namespace) if subtree else read_namespace(namespace)
        return Rejections(self.adapter).of(where, subtree=subtree)

    def reject(self, findings: Sequence[Finding], *, actor: str | None = None, reason: str = "") -> None:
        """Turn proposals down: they stay out of the worklists until one of their memories changes."""
        check_by(actor, reason)
        check_all("findings", findings, Finding)
        Rejections(self.adapter).add(findings, actor=actor or self.actor, at=self._clock(), reason=reason)

    def unreject(self, findings: Sequence[Finding]) -> None:
        """Take rejections back."""
        check_all("findings", findings, Finding)
        Rejections(self.adapter).remove(findings)

    def accept(self, findings: Sequence[Finding], *, actor: str | None = None, reason: str = "") -> list[Change]:
        """Carry out the proposals of findings, all as one group or none.

        Raises:
            ConflictError: a memory is not what it was when the worklist was made.
            InputError: one proposes nothing, or two want different things of one memory.
        """
        check_by(actor, reason)
        check_all("findings", findings, Finding)
        refs = refs_of(findings)
        items = {item.ref: item for item in self.adapter.get(refs) if item is not None}
        vectors = run(embed_texts(self.adapter, texts_of(findings, items)))
        edits = accepting_edits(findings, Means(items, vectors, self._clock(), reason))
        for finding, proposal in proposals_of(findings):
            if proposal.kind == "undo" and proposal.change is not None:
                edits += self._journal.undo_edits(proposal.change, reason=reason or f"worklist: {finding.worklist}")
        return self._journal.commit(edits, actor=actor or self.actor)

    # Edits of several memories

    def merge(
        self,
        namespace: NamespaceLike,
        keys: Sequence[str],
        *,
        content: str | None = None,
        expected_revisions: Mapping[str, int] | None = None,
        actor: str | None = None,
        reason: str = "",
    ) -> list[Change]:
        """Make one memory of several: the first stays, says `content` (or what it said), and takes over what the
        others add; they go without a tombstone. One group for `undo`.

        Raises:
            NotFoundError: one of them is not there.
            ConflictError: one is not at its expected revision, or was changed at the same moment.
            InputError: there are not two, or not the same people may see them all.
        """
        check_by(actor, reason)
        check_keys("keys", keys)
        check_text("content", content)
        where, text = read_namespace(namespace), None if content is None else _text(content)
        places: list[Ref] = [(where, key) for key in dict.fromkeys(keys)]
        items = present(places, self.adapter.get(places))
        check_revisions(items, expected_revisions)
        vectors = run(embed_texts(self.adapter, [text] if text is not None else []))
        edits = merge_edits(items, text, vectors, self._clock(), reason=reason)
        return self._journal.commit(edits, actor=actor or self.actor)

    def move(
        self,
        namespace: NamespaceLike,
        key: str,
        target: NamespaceLike,
        *,
        expected_revision: int | None = None,
        actor: str | None = None,
        reason: str = "",
    ) -> list[Change]:
        """Take a memory to another namespace, under the same key, with its vector and time of creation.

        Raises:
            NotFoundError: there is no such memory.
            ConflictError: the target has a memory of that key, or this one is not at its expected revision.
        """
        check_by(actor, reason)
        check_key("key", key)
        place = (read_namespace(namespace), key)
        expected = None if expected_revision is None else {key: expected_revision}
        check_revisions(present([place], self.adapter.get([place])), expected)
        return self.move_at([place], target, actor=actor, reason=reason)

    def move_at(
        self, refs: Sequence[Ref], target: NamespaceLike, *, actor: str | None = None, reason: str = ""
    ) -> list[Change]:
        """Take the memories at these places to another namespace, as one group; see `move`."""
        check_by(actor, reason)
        where = read_namespace(target)
        places = read_refs(refs)
        found = self._with_vectors(places)
        present(places, [found[place][0] if place in found else None for place in places])
        edits = [edit for place in places for edit in _moved(found[place], where, reason)]
        return self._journal.commit(edits, actor=actor or self.actor)

    # Undoing much at once

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
        where = read_prefix(namespace)
        return plan_undo(self.adapter, self._journal, where, subtree=subtree or not where, by=by, since=since, run=run)

    def apply_undo(self, plan: UndoPlan, *, actor: str | None = None, reason: str = "") -> list[Change]:
        """Carry out such a plan as one group.

        Raises:
            ConflictError: a memory has changed since the plan was made; nothing is undone.
        """
        check_by(actor, reason)
        check_kind("plan", plan, UndoPlan)
        edits = undo_edits(plan, reason=reason)
        edits = self._journal.renewed(edits, [each.changes[0].at for each in plan.open])
        return self._journal.commit(edits, actor=actor or self.actor)

    # The trash

    def restore_at(self, refs: Sequence[Ref], *, actor: str | None = None, reason: str = "") -> list[Change]:
        """Bring the memories that were forgotten at these places back as they were, as one group.

        Raises:
            NotFoundError: one of them was not forgotten.
            ConflictError: at one of the places a memory exists again; nothing is brought back.
        """
        check_by(actor, reason)
        stones = self._stones(refs)
        edits = [restore_edit(required_entry(item, Tombstone.from_item), vectors, reason) for item, vectors in stones]
        return self._journal.commit(edits, actor=actor or self.actor)

    def allow_at(
        self, refs: Sequence[Ref], *, allowed: bool = True, actor: str | None = None, reason: str = ""
    ) -> list[Change]:
        """Let facts like these forgotten memories be remembered again, or not any more, as one group; see `allow`."""
        check_by(actor, reason)
        edits = [allow_edit(item, vectors, allowed=allowed, reason=reason) for item, vectors in self._stones(refs)]
        return self._journal.commit(edits, actor=actor or self.actor)

    def allow(
        self,
        namespace: NamespaceLike,
        key: str,
        *,
        allowed: bool = True,
        actor: str | None = None,
        reason: str = "",
    ) -> Change:
        """Let facts like a forgotten memory be remembered again or, with `allowed=False`, suppress them again.

        Raises:
            NotFoundError: there is no tombstone of that key.
        """
        return self.allow_at([(read_namespace(namespace), key)], allowed=allowed, actor=actor, reason=reason)[0]

    # Reading for the above

    def _stones(self, refs: Sequence[Ref]) -> list[tuple[StoredItem, Vectors]]:
        """The tombstones of these places, with their vectors, in order."""
        wanted = read_refs(refs)
        places = [(book("tombstones", namespace), key) for namespace, key in wanted]
        found = self._with_vectors(places)
        for (where, key), at in zip(wanted, places, strict=True):
            if at not in found:
                raise NotFoundError(f"Nothing forgotten has the key {key!r} in {show_namespace(where)}; see trash().")
        return [found[at] for at in places]

    def _with_vectors(self, places: Sequence[Ref]) -> dict[Ref, tuple[StoredItem, Vectors]]:
        if not places:
            return {}
        snapshot = self.adapter.load(places[0][0], keys=places)
        read = self.adapter.abilities.reads_vectors
        vectors = snapshot.vectors_by_item() if read else [EMBED_AGAIN] * len(snapshot.items)
        return {item.ref: (item, each) for item, each in zip(snapshot.items, vectors, strict=True)}

    def _accessed(self, index: ScopeIndex) -> dict[Ref, Access]:
        namespaces = dict.fromkeys(record.namespace for record in index.records)
        return {(each, key): access for each in namespaces for key, access in self._access.of(each).items()}

    def _changes_since(self, index: ScopeIndex, since: datetime) -> list[Change]:
        changes: list[Change] = []
        before = None
        while True:
            page = self._journal.history(index.namespace, subtree=index.subtree, before=before, limit=_PAGE)
            changes += (change for change in page if change.at >= since and not change.shelf)
            if len(page) < _PAGE or page[-1].at < since:
                return changes
            before = page[-1].id

    def _misfits(self, index: ScopeIndex) -> dict[Ref, int]:
        if not index.misfits:
            return {}
        lacking: Iterable[Ref] = (ref for ref, at in index.position.items() if not index.vectored[at])
        snapshot = self.adapter.load(index.namespace, subtree=index.subtree, keys=list(lacking))
        return {snapshot.items[at].ref: count for at, count in snapshot.misfits.items()}


def _text(content: str) -> str:
    text: str = cleaned_object({"content": content.strip()})["content"]
    if not text:
        raise InputError("A memory needs some text; to take it away, forget it.")
    return text


def _moved(found: tuple[StoredItem, Vectors], target: Namespace, reason: str) -> list[Edit]:
    item, vectors = found
    return move_edits(item, target, vectors, reason=reason)
