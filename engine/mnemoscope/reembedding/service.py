"""`Reembedding`: takes a store over to another embedder, while it is in use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..context import Context
from ..core.text import shown
from ..embedding.active import changer_of, seen_alone
from ..embedding.identity import EmbedderIdentity, mismatch
from ..errors import (
    ConfigurationError,
    ConflictError,
    InputError,
    MnemoscopeError,
    NotFoundError,
    PermissionDeniedError,
)
from ..stores.base import Guard, Write
from ..stores.staging import Staging
from ..stores.view import View
from .job import Pace, ReembedJob
from .state import REEMBEDDING_AT, ReembedState, worker_name

__all__ = ["Reembedding"]


class Reembedding:
    """A change of embedder: whether one is due, making it, and following it. Made by `engine.reembedding`."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def difference(self) -> str:
        """How the embedder in use differs from the one whose vectors the store holds; empty where it does not.

        Where the store has gone over to the embedder that is named as the next one, the engine follows.
        """
        return self._context.embedders.check()

    def require(self) -> None:
        """Refuse work whose similarities would mean nothing.

        Raises:
            EmbedderMismatchError: the embedder in use is not the one whose vectors the store holds.
        """
        self._context.embedders.require()

    def start(
        self,
        *,
        rate: float | None = None,
        batch: int = 64,
        attempts: int = 3,
        back: bool = False,
        again: bool = False,
        progress: Callable[[ReembedState], None] = lambda _state: None,
        actor: str | None = None,
        reason: str = "",
    ) -> ReembedState:
        """Make every vector of the store anew with the next embedder, and put them all in use at once.

        Until then the vectors in use stay, and recall goes on with them; so it does when the work is paused, fails or
        is killed. Whoever calls this again goes on with what is made. The former vectors are kept until they are
        dropped, so that going back, `back=True`, embeds only what has changed since.

        Args:
            rate: how many texts a second may be embedded at most.
            batch: how many of them in one call.
            attempts: how often a call that fails is made before the work is given up.
            back: go back to the first embedder.
            again: make everything anew with the embedder in use, as where others wrote vectors of another one.
            progress: is told after every call.
            actor: who is journalled.
            reason: why; kept in the journal.

        Raises:
            ConfigurationError: there is no embedder to go over to, or the store cannot hold vectors in waiting.
            PermissionDeniedError: not all of the store may be seen and written, or its tables may not be changed.
            ConflictError: another worker is at it.
            EmbeddingError, StoreError: one of them failed; what is made stays.
        """
        pace = _pace(rate, batch, attempts)
        staging = self._staging()
        self._check_open()
        known = self._context.embedders.target(back=back, again=again)
        state = self._begun(staging, known.identity, pace, actor or self._context.actor, again=again)
        job = ReembedJob(self._context.adapter, staging, state, known, pace, clock=self._context.clock, told=progress)
        ended = job.run(reason)
        self._context.embedders.check()
        return replace(ended, kept_bytes=staging.size().nbytes)

    def status(self) -> ReembedState | None:
        """The change of embedder as it stands, whoever works at it; None where there is none. Nothing is written."""
        item = self._context.adapter.get([REEMBEDDING_AT])[0]
        state = None if item is None else ReembedState.from_value(item.value)
        changer = changer_of(self._context.adapter)
        if state is None or changer is None:
            return state
        size = changer.staging.size()
        if state.state == "done":
            return replace(state, kept_bytes=size.nbytes)
        return replace(state, total=size.total, staged=min(size.staged, size.total)).as_seen(self._context.now())

    def pause(self) -> ReembedState:
        """Have whoever works at it stop after the call that is under way; what is made stays.

        Raises:
            NotFoundError: nobody works at it.
        """
        state, value = self._noted()
        if state is None or state.state != "running":
            raise NotFoundError("No change of embedder is under way, so there is nothing to pause.")
        paused = replace(state, state="paused", at=self._context.now())
        self._context.adapter.write([Write(*REEMBEDDING_AT, paused.to_value())], [Guard(*REEMBEDDING_AT, value)])
        return paused

    def drop_waiting(self) -> EmbedderIdentity | None:
        """Drop the vectors that are not in use: those made so far, or the former ones; whose they were.

        The first cancels a change of embedder. After the second, going back embeds everything again.
        """
        staging = self._staging()
        self._check_open()
        state, value = self._noted()
        if value is not None:
            self._context.adapter.write([Write(*REEMBEDDING_AT, None)], [Guard(*REEMBEDDING_AT, value)])
        staging.drop()
        return state.waiting_for if state else None

    def _begun(
        self, staging: Staging, target: EmbedderIdentity, pace: Pace, actor: str, *, again: bool
    ) -> ReembedState:
        """The note that this process works at it, once it is written."""
        before, value = self._noted()
        now = self._context.now()
        if before is not None and before.as_seen(now).state == "running":
            raise ConflictError.of_words(
                f"{before.actor} is at this change of embedder already ({before.worker}, last seen "
                f"{before.at:%H:%M:%S} UTC). Wait for it, or pause it first."
            )
        is_same = before is not None and before.waiting_for is not None and not mismatch(before.waiting_for, target)
        is_same = is_same and not (again and before is not None and before.state == "done")
        source = self._context.embedders.stored or self._context.embedders.present
        state = ReembedState("running", source, target, now, now, actor, worker_name(), limit=pace.rate)
        if before is not None and is_same and before.state != "done":
            state = replace(state, started_at=before.started_at, embedded=before.embedded, seconds=before.seconds)
        self._context.adapter.write([Write(*REEMBEDDING_AT, state.to_value())], [Guard(*REEMBEDDING_AT, value)])
        try:
            staging.begin(target.dimensions or 0, afresh=not is_same)
        except MnemoscopeError:
            self._context.adapter.write([Write(*REEMBEDDING_AT, value)], [Guard(*REEMBEDDING_AT, state.to_value())])
            raise
        return state

    def _noted(self) -> tuple[ReembedState | None, dict[str, object] | None]:
        item = self._context.adapter.get([REEMBEDDING_AT])[0]
        return (None, None) if item is None else (ReembedState.from_value(item.value), item.value)

    def _staging(self) -> Staging:
        changer = changer_of(self._context.adapter)
        if changer is None:
            raise ConfigurationError(
                f"A {type(self._context.adapter.store).__name__} cannot hold two sets of vectors, so it cannot go "
                "over to another embedder while it is in use. Open a second connection on a new store with the new "
                "embedder, and fill it: mnemoscope export --connection old --no-vectors --output all.jsonl, then "
                "mnemoscope import all.jsonl --connection new."
            )
        return changer.staging

    def _check_open(self) -> None:
        if isinstance(self._context.adapter, View) and self._context.adapter.closed:
            raise PermissionDeniedError(self._context.adapter.closed)
        if part := seen_alone(self._context.adapter):
            raise PermissionDeniedError(
                f"This connection is limited to {part}, and the embedder is the whole store's. Use a connection "
                "without namespaces."
            )


def _pace(rate: float | None, batch: int, attempts: int) -> Pace:
    if rate is not None and not (isinstance(rate, int | float) and not isinstance(rate, bool) and 0 < rate < 1e9):
        raise InputError(f"rate must be a number above 0, texts a second, got {rate!r}. Leave it out for no limit.")
    for name, value in (("batch", batch), ("attempts", attempts)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise InputError(f"{name} must be a whole number from 1, got {shown(value)}.")
    return Pace(rate, batch, attempts)
