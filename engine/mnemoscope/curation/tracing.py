"""`Runs`: from a memory to the run and the turn that it came from, from a turn to its memories, and away again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..consolidation.runs import Run, run_write, without_transcript
from ..context import Context
from ..core.execution import Step, Steps, verb
from ..core.namespaces import NamespaceLike, Scope, read_namespace
from ..core.records import MemoryRecord
from ..core.times import to_iso
from ..core.validation import check_by, check_key, check_text, check_whole
from ..errors import InputError, NotFoundError
from ..journal.changes import book
from ..journal.entries import read_entries, required_entry
from ..journal.trimming import Trimmed, moment_before
from ..stores.base import StoredItem
from .edits import forget_edit

__all__ = ["ForgottenConversation", "Runs"]

_RUNS_AT_ONCE = 100


@dataclass(frozen=True)
class ForgottenConversation:
    """What forgetting a conversation takes away, or with `dry_run` would.

    `memories` rest on it alone; `shared` rest on other conversations or hands too, and stay. `group` names the
    change for `undo`, None where nothing changed.
    """

    memories: tuple[MemoryRecord, ...]
    shared: tuple[MemoryRecord, ...]
    runs: tuple[Run, ...]
    group: str | None = None


class Runs:
    """The plans that were applied, each with its turns. Made by `engine.runs`."""

    def __init__(self, context: Context) -> None:
        self._context = context

    @verb
    def get(self, run_id: str) -> Steps[Run]:
        """The run of this id: the `run` of a memory's evidence, or of a change.

        Raises:
            NotFoundError: there is none, or it was made before runs were kept.
        """
        check_key("run_id", run_id)
        latest = self._context.adapter.latest
        # Keys are ids, so that the one looked for is the first below its own name and a bit.
        items = yield Step(
            lambda: latest(book("runs"), subtree=True, limit=1, before=f"{run_id}~", where={"id": run_id})
        )
        if not items:
            raise NotFoundError(f"No run is kept under the id {run_id!r}; see runs.list().")
        return required_entry(items[0], Run.from_item)

    aget = get.asynchronous()

    @verb
    def list(
        self,
        namespace: NamespaceLike = (),
        *,
        subtree: bool = False,
        source: str | None = None,
        before: str | None = None,
        limit: int | None = 100,
    ) -> Steps[Sequence[Run]]:
        """The runs of a namespace, latest first; no namespace means the whole store.

        `source` keeps those of one conversation; `before` is the id of a run to go on from.
        """
        check_whole("limit", limit)
        check_text("source", source)
        check_text("before", before)
        scope, latest = Scope.around(namespace, subtree=subtree), self._context.adapter.latest
        where = None if source is None else {"source": source}
        items = yield Step(
            lambda: latest(
                book("runs", scope.namespace), subtree=scope.subtree, limit=limit, before=before, where=where
            )
        )
        return read_entries(items, Run.from_item)

    alist = list.asynchronous()

    @verb
    def forget(
        self,
        namespace: NamespaceLike,
        *,
        run: str | None = None,
        source: str | None = None,
        dry_run: bool = True,
        actor: str | None = None,
        reason: str = "",
    ) -> Steps[ForgottenConversation]:
        """Forget the memories that rest on one conversation alone, as one group, and drop its kept transcripts.

        The conversation is a `run`, or everything of a `source`. Unless `dry_run` is False nothing is written. The
        memories can be restored, the transcripts cannot.

        Raises:
            InputError: neither or both of run and source are given.
        """
        check_by(actor, reason)
        check_text("run", run)
        check_text("source", source)
        if (run is None) == (source is None):
            raise InputError("Say which conversation is meant: either run= or source=.")
        context, where = self._context, read_namespace(namespace)
        texts = {"id": run} if run is not None else {"source": source or ""}
        items = yield Step(lambda: context.adapter.latest(book("runs", where), where=texts))
        found = read_entries(items, Run.from_item)
        index = yield Step(context.index, (Scope(where),))
        sole, shared = _resting_on(index.records, {each.id for each in found}, source)
        group = None
        if not dry_run:
            items = (yield Step(context.adapter.get, ([(where, record.key) for record in sole],))) if sole else []
            edits = [forget_edit(item, reason) for item in items if isinstance(item, StoredItem)]
            writes = [run_write(without_transcript(each)) for each in found]
            changes = yield Step(lambda: context.commit(edits, actor, also=writes))
            group = changes[0].group if changes else None
        return ForgottenConversation(tuple(sole), tuple(shared), tuple(found), group)

    aforget = forget.asynchronous()

    @verb
    def trim_transcripts(
        self, older_than: datetime | timedelta | None = None, *, confirm: int | None = None
    ) -> Steps[Trimmed]:
        """Count the runs of the whole store that are older and hold turns, or drop these where `confirm` is that count.

        Without `older_than` the age is `config.transcript_days`. Facts, decisions and memories stay, with the quotes in
        their evidence; the turns cannot be brought back.

        Raises:
            InputError: `confirm` is another number than there are.
        """
        check_whole("confirm", confirm)
        context = self._context
        bound = timedelta(days=context.config.transcript_days) if older_than is None else older_than
        moment = moment_before(bound, context.now())
        latest = context.adapter.latest
        items = yield Step(lambda: latest(book("runs"), subtree=True, before=f"run-{moment:%Y%m%dT%H%M%S%f}"))
        found = [run for run in read_entries(items, Run.from_item) if run.messages]
        if confirm is not None and confirm != len(found):
            raise InputError(
                f"{len(found)} runs before {to_iso(moment)} hold turns, but {confirm} were confirmed; look at them "
                f"again and pass confirm={len(found)}."
            )
        for start in range(0, len(found) if confirm is not None else 0, _RUNS_AT_ONCE):
            batch = found[start : start + _RUNS_AT_ONCE]
            yield Step(context.adapter.write, ([run_write(without_transcript(each)) for each in batch],))
        return Trimmed(len(found), moment, confirm is not None)

    atrim_transcripts = trim_transcripts.asynchronous()


def _resting_on(
    records: Sequence[MemoryRecord], runs: set[str], source: str | None
) -> tuple[Sequence[MemoryRecord], Sequence[MemoryRecord]]:
    sole: list[MemoryRecord] = []
    shared: list[MemoryRecord] = []
    for record in records:
        own = [each.run in runs or (source is not None and each.source == source) for each in record.evidence]
        if any(own):
            (sole if all(own) else shared).append(record)
    return sole, shared
