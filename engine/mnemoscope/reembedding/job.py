"""The change of embedder itself: every vector made anew beside those in use, and all put in their place at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from langchain_core.runnables import RunnableLambda

from ..core.namespaces import show_namespace
from ..core.times import Clock
from ..embedding.active import Known
from ..embedding.encode import unit_vectors
from ..embedding.identity import IDENTITY_AT, EmbedderIdentity, indexed_text
from ..errors import ConflictError, EmbeddingError, MnemoscopeError, StoreError
from ..journal.changes import Change, book
from ..journal.journal import group_name
from ..stores.base import Guard, StoreAdapter, Write
from ..stores.staging import Place, Staged, Staging, Stale, digest_of
from ..stores.values import same_json
from .state import REEMBEDDING_AT, JobState, ReembedState

__all__ = ["Pace", "ReembedJob"]


_LONGEST_ERROR = 500

SWITCHES_TRIED = 4
"""How often what was written meanwhile is caught up with before the rest is made while writers wait."""

MADE_WHILE_WAITING = 256
"""How many vectors at most are made while writers wait."""


@dataclass(frozen=True)
class Pace:
    """How fast it goes: `rate` texts a second at most, `batch` texts a call, `attempts` at a call that fails."""

    rate: float | None = None
    batch: int = 64
    attempts: int = 3

    @property
    def size(self) -> int:
        """Texts of one call: no more than may be embedded in a second."""
        return self.batch if self.rate is None else max(min(self.batch, int(self.rate)), 1)


class ReembedJob:
    """One worker at one change of embedder.

    `told` is told of every step; `wait` waits for so many seconds.
    """

    def __init__(
        self,
        adapter: StoreAdapter,
        staging: Staging,
        state: ReembedState,
        known: Known,
        pace: Pace,
        *,
        clock: Clock,
        told: Callable[[ReembedState], None],
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._adapter, self._staging, self._known, self._pace = adapter, staging, known, pace
        self._clock, self._told, self._wait = clock, told, wait
        self._state = state
        self._noted = state.to_value()
        self._started = time.perf_counter() - state.seconds
        embed = RunnableLambda[list[str], Any](known.embeddings.embed_documents)
        self._embed = embed.with_retry(stop_after_attempt=pace.attempts)

    def run(self, reason: str) -> ReembedState:
        """Work until it is done, or until another process pauses or takes it; the state it is left in.

        Raises:
            EmbeddingError: the embedder failed, again and again. What is made stays, and the job can be resumed.
            StoreError: the store failed; likewise.
        """
        try:
            size = self._staging.size()
            self._tell(total=size.total, staged=min(size.staged, size.total))
            for attempt in range(SWITCHES_TRIED + 1):
                self._make_all()
                if self._switch(reason, is_last=attempt == SWITCHES_TRIED) == 0:
                    return self._state
            raise StoreError(
                f"Memories change faster than they are embedded: each time more than {MADE_WHILE_WAITING} had changed "
                "when all were made. Raise the rate, or let the agents rest for a moment; then resume."
            )
        except _TakenAwayError:
            return self._state
        except MnemoscopeError as error:
            if self._leave("failed", str(error)):
                raise
            return self._state
        except BaseException as error:
            # Such as of whoever is told, or ends the process: nobody works at it any more, and the note must say so.
            self._told = _nobody
            is_pause = not isinstance(error, Exception)
            self._leave("paused" if is_pause else "failed", "" if is_pause else f"{type(error).__name__}: {error}")
            raise

    def _make_all(self) -> None:
        """One round through all vectors in use: those whose counterpart is missing or old are made."""
        after: Place | None = None
        left = self._staging.size().total
        # What is written behind this place all the while must not keep the round from ending.
        while left > 0 and (rows := self._staging.stale(after, self._pace.size)):
            left -= len(rows)
            began = time.perf_counter()
            before = self._state.embedded
            made = self._made(rows)
            self._staging.put(made)
            after = rows[-1].place
            new = sum(row.digest is None for row in rows)
            self._tell(staged=min(self._state.staged + new, self._state.total))
            if self._pace.rate is not None:
                due = (self._state.embedded - before) / self._pace.rate
                self._wait(max(due - (time.perf_counter() - began), 0.0))

    def _made(self, rows: Sequence[Stale]) -> list[Staged]:
        texts = [indexed_text(row.value, row.place.field) for row in rows]
        digests = [digest_of(text) if text else "" for text in texts]
        wanted = [
            text for text, digest, row in zip(texts, digests, rows, strict=True) if digest not in ("", row.digest)
        ]
        unique = list(dict.fromkeys(wanted))
        vectors = dict(zip(unique, self._vectors(unique), strict=True)) if unique else {}
        for row, text in zip(rows, texts, strict=True):
            if text in vectors and not vectors[text].any():
                _refuse_zero(row)
        self._state = replace(self._state, embedded=self._state.embedded + len(unique))
        return [
            Staged(row.place, row.mark, digest, None if digest == row.digest else vectors.get(text))
            for row, text, digest in zip(rows, texts, digests, strict=True)
        ]

    def _vectors(self, texts: list[str]) -> Any:
        try:
            found = self._embed.invoke(texts)
        except MnemoscopeError:
            raise
        # The embedder may be anybody's, and so may its errors be.
        except Exception as error:
            raise EmbeddingError(f"The embedder failed: {type(error).__name__}: {error}") from error
        return unit_vectors(found, len(texts), self._known.identity.dimensions)

    def _switch(self, reason: str, *, is_last: bool) -> int:
        """Put the new vectors in use, unless some are missing again; how many."""
        now = self._clock()
        target, held = self._known.identity, self._adapter.get([IDENTITY_AT])[0]
        noted = EmbedderIdentity(target.name, target.dimensions, now, now)
        before = None if held is None else held.value
        done = self._measured(state="done")
        writes = [
            Write(*IDENTITY_AT, noted.to_value()),
            Write(*REEMBEDDING_AT, done.to_value()),
            self._entry(before, noted.to_value(), reason),
        ]
        guards = [Guard(*IDENTITY_AT, before), Guard(*REEMBEDDING_AT, self._noted)]
        try:
            left = self._staging.switch(writes, guards, most=MADE_WHILE_WAITING, finish=self._made if is_last else None)
        except ConflictError:
            self._look()
            raise
        if not left:
            self._state = done
            self._told(done)
        return left

    def _entry(self, before: Any, after: dict[str, Any], reason: str) -> Write:
        now = self._clock()
        source = self._state.source or "an embedder that was not noted"
        said = f"{self._state.total:,} vectors by {source} gave way to those by {self._state.target}"
        group = group_name(now)
        change = Change(
            id=f"{group}-000000",
            group=group,
            namespace=IDENTITY_AT[0],
            key=IDENTITY_AT[1],
            action="reembed",
            before=before,
            after=after,
            actor=self._state.actor,
            reason="; ".join(filter(None, (said, reason))),
            at=now,
        )
        return Write(book("journal", change.namespace), change.id, change.to_value())

    def _tell(self, **changed: Any) -> None:
        """Give a sign; and learn whether the job is still this worker's."""
        state = self._measured(**changed)
        try:
            self._adapter.write([Write(*REEMBEDDING_AT, state.to_value())], [Guard(*REEMBEDDING_AT, self._noted)])
        except ConflictError:
            self._look()
            raise
        self._state, self._noted = state, state.to_value()
        self._told(state)

    def _look(self) -> None:
        """Stop where the job is not this worker's any more."""
        item = self._adapter.get([REEMBEDDING_AT])[0]
        present = None if item is None else item.value
        if present is None or not same_json(present, self._noted):
            found = ReembedState.from_value(present)
            if found is not None and found.worker == self._state.worker:
                found = self._counted(found, present)
            self._state = found or replace(self._state, state="cancelled")
            raise _TakenAwayError

    def _counted(self, found: ReembedState, present: Any) -> ReembedState:
        """The note of whoever paused this worker, with what it did up to then."""
        counted = replace(found, embedded=self._state.embedded, seconds=time.perf_counter() - self._started)
        try:
            self._adapter.write([Write(*REEMBEDDING_AT, counted.to_value())], [Guard(*REEMBEDDING_AT, present)])
        except ConflictError:
            return found
        return counted

    def _leave(self, state: JobState, error: str) -> bool:
        """Note how it ends; whether the job was still this worker's."""
        try:
            self._tell(state=state, error=error[:_LONGEST_ERROR])
        except _TakenAwayError:
            return False
        except StoreError:
            # The note cannot be written either; before long the worker counts as dead.
            return True
        return True

    def _measured(self, **changed: Any) -> ReembedState:
        return replace(self._state, at=self._clock(), seconds=time.perf_counter() - self._started, **changed)


def _nobody(_state: ReembedState) -> None:
    """Tell nobody any more."""


def _refuse_zero(row: Stale) -> NoReturn:
    # Without the text: the note that keeps this error outlives the memory.
    raise EmbeddingError(
        f"The next embedder answered a zero vector for {row.place.key!r} in {show_namespace(row.namespace)}, "
        "which is near to nothing; see whether it works. The vectors in use stay."
    )


class _TakenAwayError(Exception):
    """Somebody paused or cancelled the job, or another worker took it."""
