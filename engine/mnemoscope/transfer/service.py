"""`Transfer`: memories out of a store into a file, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO, TypedDict, Unpack

from ..context import Context
from ..core.namespaces import NamespaceLike, Scope, read_namespace
from ..core.validation import check_by, check_kind, check_text
from ..embedding.encode import embed_in_batches
from ..journal.changes import Change
from ..stores.base import Ref
from .exporting import ExportScope, export_csv, export_lines, history_lines
from .importing import ConflictRule, ImportPlan, import_edits, import_plan

__all__ = ["HistoryFilter", "Transfer"]

_CHANGES_AT_ONCE = 500


class HistoryFilter(TypedDict, total=False):
    """Which changes are meant: those of one group, of one actor, of one action, or of one run."""

    group: str | None
    actor: str | None
    action: str | None
    run: str | None


class Transfer:
    """Export and import. Made by `engine.transfer`."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def export(
        self,
        namespace: NamespaceLike = (),
        *,
        subtree: bool = False,
        vectors: bool = True,
        history: bool = True,
    ) -> Iterator[bytes]:
        """The scope as JSON lines, piece by piece, private memories too; no namespace means the whole store."""
        scope = Scope.around(namespace, subtree=subtree)
        wanted = ExportScope(scope.namespace, scope.subtree, vectors, history)
        return export_lines(self._context.adapter, wanted, now=self._context.now())

    def export_table(self, namespace: NamespaceLike = (), *, subtree: bool = False) -> Iterator[bytes]:
        """The memories of the scope as CSV for people, piece by piece, private ones too; see `export`."""
        return export_csv(self._context.adapter, ExportScope(*Scope.around(namespace, subtree=subtree)))

    def export_history(
        self,
        namespace: NamespaceLike = (),
        key: str | None = None,
        *,
        subtree: bool = False,
        **only: Unpack[HistoryFilter],
    ) -> Iterator[bytes]:
        """Changes as JSON lines, latest first, read page by page; `only` keeps those of one kind."""
        scope = Scope.around(namespace, subtree=subtree)
        check_text("key", key)
        for name, text in only.items():
            check_text(name, text)
        return history_lines(self._all_changes(scope, key, only))

    def _all_changes(self, scope: Scope, key: str | None, only: HistoryFilter) -> Iterator[Change]:
        before = None
        while True:
            page = self._context.journal.history(
                scope.namespace, key, subtree=scope.subtree, before=before, limit=_CHANGES_AT_ONCE, **only
            )
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
        erased: Sequence[Ref] = (),
        name: str = "",
    ) -> ImportPlan:
        """What importing this file would do, row by row; nothing is written.

        Read are our exports (JSON lines, CSV), exports of mem0, CrewAI and `langgraph-memory`, and any JSON whose
        objects have a `content`. `namespace` says where to, None as the file says. What was erased here for good is
        left out under every rule, but for the places (namespace, key) that `erased` names.

        Raises:
            InputError: the file as a whole cannot be read.
        """
        where = None if namespace is None else read_namespace(namespace)
        adapter, now = self._context.adapter, self._context.now()
        return import_plan(adapter, data, namespace=where, rule=conflicts, erased=erased, name=name, now=now)

    def apply_import(self, plan: ImportPlan, *, actor: str | None = None, reason: str = "") -> list[Change]:
        """Write what the plan says, all as one group or nothing; texts without a usable vector are embedded.

        Undoing the group takes the memories away again; imported entries of the history stay.

        Raises:
            ConflictError: a memory was written since the plan was made.
        """
        check_by(actor, reason)
        check_kind("plan", plan, ImportPlan)
        texts = list(dict.fromkeys(draft.text for draft in plan.drafts if draft.text))
        vectors = embed_in_batches(self._context.adapter, texts)
        edits, entries = import_edits(plan, vectors, reason=reason or f"import of {plan.name or 'a file'}")
        return self._context.commit(edits, actor, also=entries)
