"""`Keeping`: what is kept and for how long: erasure, retention, the journal's length, export and import."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..core.execution import run
from ..core.namespaces import Namespace, NamespaceLike, read_namespace, read_prefix, show_namespace
from ..core.text import shown
from ..core.validation import check_all, check_by, check_keys, check_kind, check_text, check_whole
from ..curation.edits import SAMPLE, Forgotten
from ..curation.erasure import ErasureReceipt, erase
from ..curation.retention import RetentionPlan, RetentionRule, read_rules, retention_edits, retention_plan, write_rules
from ..embedding.encode import embed_texts
from ..errors import InputError
from ..journal.changes import Change
from ..journal.journal import Journal
from ..journal.trimming import MARKS_KEPT, Trimmed, moment_before, trim, trim_marks
from ..transfer.exporting import ExportScope, export_csv, export_lines, history_lines
from ..transfer.importing import ConflictRule, ImportPlan, import_edits, import_plan
from .reading import Reading

__all__ = ["Keeping"]


_EMBEDDED_AT_ONCE = 1_000
_CHANGES_AT_ONCE = 500


class Keeping(Reading):
    """The part of `MemoryEngine` for those who answer for what is kept."""

    actor: str
    _journal: Journal

    # Erasure

    def erase(
        self,
        namespace: NamespaceLike,
        key: str | Sequence[str],
        *,
        confirm: str,
        actor: str | None = None,
        reason: str = "",
    ) -> ErasureReceipt:
        """Remove memories for good, for legal deletion: items, tombstones, history, access notes and vectors.

        It cannot be undone. `confirm` repeats the namespace, written "a/b". The reason is kept: it must not quote.

        Raises:
            NotFoundError: of one of them nothing is known.
            ConflictError: one was changed at the same moment; nothing was erased.
        """
        check_by(actor, reason)
        where = read_namespace(namespace)
        _check_confirmed("erase removes memories of", show_namespace(where), confirm)
        keys = [key] if isinstance(key, str) else key
        check_keys("key", keys)
        self._access.flush()
        places = [(where, each) for each in dict.fromkeys(keys)]
        return erase(self.adapter, self._journal, places, actor=actor or self.actor, at=self._clock(), reason=reason)

    # Retention

    def retention(self, namespace: NamespaceLike) -> list[RetentionRule]:
        """The retention rules of exactly this namespace."""
        return read_rules(self.adapter, read_namespace(namespace))

    def set_retention(self, namespace: NamespaceLike, rules: Sequence[RetentionRule]) -> None:
        """Set the retention rules of exactly this namespace; they do nothing until a plan is made and applied."""
        check_all("rules", rules, RetentionRule)
        write_rules(self.adapter, read_namespace(namespace), rules)

    def plan_retention(self, namespace: NamespaceLike, rules: Sequence[RetentionRule] | None = None) -> RetentionPlan:
        """What the rules (those of the namespace, or these) would forget now; nothing is written."""
        where = read_namespace(namespace)
        chosen = self.retention(where) if rules is None else rules
        check_all("rules", chosen, RetentionRule)
        access = self._access.of(where)
        return retention_plan(where, self.index(where).records, chosen, access, self._clock())

    def apply_retention(self, plan: RetentionPlan, *, actor: str | None = None) -> Forgotten:
        """Forget what the plan says, as one group.

        Raises:
            ConflictError: a memory has changed since the plan was made; nothing is forgotten.
        """
        check_by(actor)
        check_kind("plan", plan, RetentionPlan)
        records = [each.record for each in plan.outlived]
        items = self.adapter.get([(plan.namespace, record.key) for record in records]) if records else []
        changes = self._journal.commit(retention_edits(plan, items), actor=actor or self.actor)
        return Forgotten(len(changes), changes[0].group if changes else None, records[:SAMPLE])

    # The journal's length

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
            PermissionDeniedError: the connection shows a part of the store alone.
        """
        check_by(actor)
        check_whole("confirm", confirm)
        now = self._clock()
        before = moment_before(timedelta(days=self.config.history_days) if older_than is None else older_than, now)
        return trim(self.adapter, before, confirm=confirm, actor=actor or self.actor, at=now)

    def trim_marks(self, older_than: datetime | timedelta, *, confirm: int | None = None) -> Trimmed:
        """Count the marks of turns read and of jobs done that are older, or drop them where `confirm` is that count.

        Marks keep a turn from being read twice, and a job from being done twice; they hold no text. They are not
        dropped by themselves.

        Raises:
            InputError: they would be younger than a day, or `confirm` is another number than there are.
        """
        check_whole("confirm", confirm)
        now = self._clock()
        before = moment_before(older_than, now)
        if before > now - MARKS_KEPT:
            raise InputError(f"Marks are kept for {MARKS_KEPT}, in which a job may come again; name an earlier time.")
        return trim_marks(self.adapter, before, confirm=confirm)

    # Export and import

    def export(
        self,
        namespace: NamespaceLike = (),
        *,
        subtree: bool = False,
        vectors: bool = True,
        history: bool = True,
    ) -> Iterator[bytes]:
        """The scope as JSON lines, piece by piece, private memories too; no namespace means the whole store."""
        where = read_prefix(namespace)
        scope = ExportScope(where, subtree or not where, vectors, history)
        return export_lines(self.adapter, scope, now=self._clock())

    def export_table(self, namespace: NamespaceLike = (), *, subtree: bool = False) -> Iterator[bytes]:
        """The memories of the scope as CSV for people, piece by piece, private ones too; see `export`."""
        where = read_prefix(namespace)
        return export_csv(self.adapter, ExportScope(where, subtree or not where))

    def export_history(
        self, namespace: NamespaceLike = (), key: str | None = None, *, subtree: bool = False, **texts: str | None
    ) -> Iterator[bytes]:
        """Changes as JSON lines, latest first, read page by page.

        `texts` are those that `group`, `actor`, `action` or `run` of a change must be.
        """
        where = read_prefix(namespace)
        for name, text in {"key": key, **texts}.items():
            check_text(name, text)
        return history_lines(self._all_changes(where, key, subtree=subtree or not where, **texts))

    def _all_changes(self, namespace: Namespace, key: str | None, **options: Any) -> Iterator[Change]:
        before = None
        while True:
            page = self._journal.history(namespace, key, **options, before=before, limit=_CHANGES_AT_ONCE)
            yield from page
            if len(page) < _CHANGES_AT_ONCE:
                return
            before = page[-1].id

    def plan_import(
        self,
        data: bytes | str | BinaryIO,
        namespace: NamespaceLike | None = None,
        *,
        conflicts: ConflictRule = "skip",
        name: str = "",
    ) -> ImportPlan:
        """What importing this file would do, row by row; nothing is written.

        Read are our exports (JSON lines, CSV), exports of mem0, CrewAI and `langgraph-memory`, and any JSON whose
        objects have a `content`. `namespace` says where to, None as the file says.

        Raises:
            InputError: the file as a whole cannot be read.
        """
        where = None if namespace is None else read_namespace(namespace)
        return import_plan(self.adapter, data, namespace=where, rule=conflicts, name=name, now=self._clock())

    def apply_import(self, plan: ImportPlan, *, actor: str | None = None, reason: str = "") -> list[Change]:
        """Write what the plan says, all as one group or nothing; texts without a usable vector are embedded.

        Undoing the group takes the memories away again; imported entries of the history stay.

        Raises:
            ConflictError: a memory was written since the plan was made.
        """
        check_by(actor, reason)
        check_kind("plan", plan, ImportPlan)
        texts = list(dict.fromkeys(draft.text for draft in plan.drafts if draft.text))
        vectors: dict[str, NDArray[np.float32]] = {}
        for start in range(0, len(texts), _EMBEDDED_AT_ONCE):
            vectors |= run(embed_texts(self.adapter, texts[start : start + _EMBEDDED_AT_ONCE]))
        edits, entries = import_edits(plan, vectors, reason=reason or f"import of {plan.name or 'a file'}")
        return self._journal.commit(edits, actor=actor or self.actor, also=entries)


def _check_confirmed(what: str, name: str, confirm: str) -> None:
    if confirm != name:
        raise InputError(f"{what} {name!r} for good; confirm it by confirm={name!r}, got {shown(confirm)}.")
