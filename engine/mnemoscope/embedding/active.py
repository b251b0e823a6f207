"""`Embedders`: which of the embedders that are named is in use, which is the one whose vectors the store holds.

A connection may name the embedder to come beside the present one. Whoever has both open goes over by itself as soon
as the store does; whoever has not is told, ranks by words, and may not write any vector.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

from langchain_core.embeddings import Embeddings

from ..core.locks import ForkSafeLock
from ..core.namespaces import show_namespace
from ..core.times import Clock
from ..errors import ConfigurationError, Conflict, ConflictError, EmbedderMismatchError
from ..stores.base import CONTENT_FIELD, Guard, Keep, StoreAdapter, Vectors, Write
from ..stores.staging import ChangesEmbedder
from ..stores.view import View
from .identity import IDENTITY_AT, EmbedderIdentity, maker_of, mismatch, present_identity
from .named import identity_of, load_embeddings

__all__ = ["Embedders", "Known", "changer_of", "seen_alone"]


_WAY_OUT = (
    "Name the embedder that made them; or go over to this one, by `mnemoscope reembed` or the Health page. Until then "
    "recall goes by words alone, and nothing is written that brings or moves a vector."
)


@dataclass(frozen=True)
class Known:
    """An embedder and how a store remembers it."""

    embeddings: Embeddings
    identity: EmbedderIdentity


class Embedders:
    """The embedder in use of one engine, and the one to come.

    `next_embeddings` is that one, or its name; it is loaded when it is needed. `changed` is called after the engine
    went over to the other one.
    """

    def __init__(
        self,
        adapter: StoreAdapter,
        clock: Clock,
        next_embeddings: Embeddings | str | None = None,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._adapter = adapter
        self._clock = clock
        self._next = next_embeddings
        self._changed = changed
        self._lock = ForkSafeLock(threading.RLock)
        self._first: Known | None = None
        self._second: Known | None = None
        self._note: Any = None
        self._has_looked = False
        self.difference = ""

    @property
    def present(self) -> EmbedderIdentity | None:
        """The embedder in use; None where the store keeps it to itself."""
        return present_identity(self._adapter)

    @property
    def stored(self) -> EmbedderIdentity | None:
        """Whose vectors the store said that it holds when it was last looked at."""
        return EmbedderIdentity.from_value(self._note)

    def check(self) -> str:
        """Look at whose vectors the store holds now, and go over to that embedder where it is named.

        Gives what differs where it is not, for people; empty where nothing does.
        """
        if self.present is None:
            return ""
        item = self._adapter.get([IDENTITY_AT])[0]
        with self._lock:
            self._note = None if item is None else item.value
            self._has_looked = True
            self.difference = mismatch(self.stored, self.present)
            if self.difference and (fitting := self._fitting()) is not None:
                self._go_over(fitting)
                self.difference = ""
            return self.difference

    def look(self) -> None:
        """Look whose vectors the store holds where that was never done: before any of them is read to be moved."""
        if not self._has_looked:
            self.check()

    def require(self) -> None:
        """Refuse work whose vectors would mean nothing in this store.

        Raises:
            EmbedderMismatchError: the embedder in use is not the one whose vectors the store holds.
        """
        if self.check():
            self._refuse()

    def conditions(self, vectors: Iterable[Vectors | Keep], *, moves: bool) -> tuple[list[Write], list[Guard]]:
        """What is to be written along with these vectors, and what must hold while they are.

        `moves` says that vectors are taken from one place to another, or away: those that this embedder's dimensions
        let it read.

        Raises:
            EmbedderMismatchError: the embedder in use is not the store's.
            ConflictError: the vectors are by another one, because the store has gone over from it meanwhile.
        """
        present = self.present
        made = [each for some in vectors if not isinstance(some, Keep) for each in some.values()]
        makers = {maker for each in made if (maker := maker_of(each))}
        if present is None or not (makers or moves):
            return [], []
        with self._lock:
            if self._note is None or self.difference:
                self.check()
            if self.difference:
                self._refuse()
            if self._note is None:
                return self._first_note(present) if makers else ([], [])
            if strange := makers - {self._named()}:
                raise ConflictError([self._gone_over(sorted(strange)[0])])
            return [], [Guard(*IDENTITY_AT, self._note, shared=True)]

    def settled(self, error: ConflictError) -> bool:
        """Whether a write that this conflict kept from being done may be tried again as it is.

        Raises:
            EmbedderMismatchError: the store holds the vectors of an embedder that is not named here.
            ConflictError: the store has gone over to another embedder, and so has this engine.
        """
        if all((each.namespace, each.key) != IDENTITY_AT for each in error.conflicts):
            return False
        before = self.stored
        if self.check():
            self._refuse()
        if before is not None and before != self.stored:
            raise ConflictError([self._gone_over(before.name)]) from None
        return len(error.conflicts) == 1

    def target(self, *, back: bool = False, again: bool = False) -> Known:
        """The embedder to go over to: the one to come; or the first one, where the store's vectors are not by it.

        With `again` it is the one in use, to make everything anew.

        Raises:
            ConfigurationError: there is none, or its vectors are those in use.
        """
        self.check()
        stored = self.stored or self.present
        first, second = self._knowns()
        if again:
            return next(each for each in (first, second, first) if each and not self._differs(each))
        wanted = first if back or second is None else second
        if stored is not None and mismatch(stored, wanted.identity):
            return wanted
        if second is None:
            raise ConfigurationError(
                f"The vectors in this store are by {wanted.identity}, the only embedder that is named. Name the one "
                "to go over to: next_embedder in the configuration, --next-embedder, or next_embeddings= in Python. "
                "To make every vector anew with this one, say again=True (--again)."
            )
        raise ConfigurationError(
            f"The vectors in this store are by {wanted.identity} already. To go back to the other one, say back=True "
            "(--back)."
        )

    def _differs(self, known: Known) -> bool:
        present = self.present
        return present is not None and bool(mismatch(present, known.identity))

    def _knowns(self) -> tuple[Known, Known | None]:
        with self._lock:
            if self._first is None:
                embeddings, present = self._adapter.embeddings, self.present
                if embeddings is None or present is None:
                    raise ConfigurationError("This store embeds by itself, so its embedder cannot be changed.")
                self._first = Known(embeddings, present)
            if self._second is None and self._next is not None:
                embeddings = load_embeddings(self._next) if isinstance(self._next, str) else self._next
                size = getattr(embeddings, "dimensions", None) or len(embeddings.embed_query(CONTENT_FIELD))
                self._second = Known(embeddings, EmbedderIdentity(identity_of(embeddings), int(size)))
            return self._first, self._second

    def _fitting(self) -> Known | None:
        if self._next is None or changer_of(self._adapter) is None:
            return None
        return next((each for each in self._knowns() if each and not mismatch(self.stored, each.identity)), None)

    def _go_over(self, known: Known) -> None:
        changer = changer_of(self._adapter)
        assert changer is not None, "looked for only where there is one"
        assert known.identity.dimensions is not None, "asked of the embedder"
        changer.use(known.embeddings, known.identity.dimensions)
        self._changed()

    def _first_note(self, present: EmbedderIdentity) -> tuple[list[Write], list[Guard]]:
        noted = EmbedderIdentity(present.name, present.dimensions, self._clock())
        return [Write(*IDENTITY_AT, noted.to_value())], [Guard(*IDENTITY_AT, None)]

    def _named(self) -> str:
        stored = self.stored
        present = self.present
        return stored.name if stored else present.name if present else ""

    def _gone_over(self, maker: str) -> Conflict:
        said = f"the store has gone over from {maker} to {self.stored}"
        return Conflict(*IDENTITY_AT, maker, self._named(), said=said)

    def _refuse(self) -> NoReturn:
        raise EmbedderMismatchError(f"{self.difference} {_WAY_OUT}")


def changer_of(adapter: StoreAdapter) -> ChangesEmbedder | None:
    """The adapter of the whole store, where it can go over to another embedder."""
    whole = adapter.whole if isinstance(adapter, View) else adapter
    return whole if isinstance(whole, ChangesEmbedder) else None


def seen_alone(adapter: StoreAdapter) -> str:
    """Which part of the store is seen alone; empty where all of it is."""
    return ", ".join(map(show_namespace, adapter.prefixes)) if isinstance(adapter, View) else ""
