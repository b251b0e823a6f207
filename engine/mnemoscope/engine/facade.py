"""`MemoryEngine`: remember, recall, forget and undo over any LangGraph store; the one entry to this library."""

from __future__ import annotations

from typing import Any

from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore

from ..config import MemoryConfig
from ..consolidation.llm_consolidator import LLMConsolidator
from ..core.locks import turns_of
from ..core.text import shown
from ..core.times import Clock, aware, utc_now
from ..embedding.active import Embedders
from ..errors import ConfigurationError
from ..extraction.facts import Consolidator, Extractor
from ..extraction.llm import LLMExtractor
from ..index.scope import IndexCache
from ..journal.journal import Journal
from ..recall.access import AccessLog
from ..reembedding.service import Reembedding
from ..stores.base import StoreAdapter
from ..stores.choice import adapt
from .adopting import Adopting
from .background_work import BackgroundWork
from .curating import Curating
from .keeping import Keeping
from .measuring import Measuring
from .serving import Serving
from .tracing import Tracing

__all__ = ["MemoryEngine"]


class MemoryEngine(Serving, BackgroundWork, Curating, Keeping, Measuring, Tracing, Adopting, Reembedding):
    """Long-term memory over any `BaseStore` that has an index.

    Args:
        store: the store; it must have been built with an `IndexConfig`, or recall could not rank. Or an adapter
            over one, such as a `View` of a part of it.
        model: a chat model, or a name that `init_chat_model` takes, for extraction and consolidation.
        extractor: `(text) -> list[ExtractedFact]`, sync or async, instead of the model.
        consolidator: `(fact, [(record, similarity)]) -> ConsolidationDecision`, likewise.
        config: weights, half-life and thresholds.
        next_embeddings: the embedder to go over to by `reembed`, or its name; the engine follows the store to it.
        clock: what time it is; for tests and for replaying the past.
        actor: who changes are journalled under where a call names nobody.

    Raises:
        ConfigurationError: (a `ValueError`) the store has no index, or there is neither a model nor both callables.
    """

    def __init__(
        self,
        store: BaseStore | StoreAdapter,
        model: Any = None,
        *,
        extractor: Extractor | None = None,
        consolidator: Consolidator | None = None,
        config: MemoryConfig | None = None,
        next_embeddings: Embeddings | str | None = None,
        clock: Clock = utc_now,
        actor: str = "agent",
    ) -> None:
        if model is None and (extractor is None or consolidator is None):
            raise ConfigurationError(
                "MemoryEngine needs a model, such as 'anthropic:…' or an instance, or both extractor= and "
                "consolidator=. Without any model, use RuleExtractor() and RuleConsolidator()."
            )
        _check_parts(store, extractor, consolidator)
        self.adapter = adapt(store) if isinstance(store, BaseStore) else store
        self.store = self.adapter.store
        if not _has_index(self.store):
            raise ConfigurationError(
                f"{type(self.store).__name__} was built without an index, so memories cannot be ranked by similarity. "
                "Build it with index={'dims': …, 'embed': …, 'fields': ['content']}."
            )
        self.config = config or MemoryConfig()
        self.actor = actor
        self.extractor = extractor if extractor is not None else LLMExtractor(model)
        self.consolidator = consolidator if consolidator is not None else LLMConsolidator(model)
        self._clock: Clock = lambda: aware(clock())
        self._indexes = IndexCache(self.adapter)
        self._embedders = Embedders(self.adapter, self._clock, next_embeddings, self._indexes.drop)
        self._journal = Journal(self.adapter, self._clock, self._embedders)
        self._access = AccessLog(self.adapter)
        self._turns = turns_of(self.store)

    def flush(self) -> None:
        """Write the access notes that wait."""
        self._access.flush()

    def close(self) -> None:
        """Write what waits and release what the adapter opened and the indexes take; the store itself stays open."""
        self.flush()
        self._indexes.drop()
        self.adapter.close()


def _check_parts(store: object, extractor: object, consolidator: object) -> None:
    if not isinstance(store, BaseStore) and not hasattr(store, "abilities"):
        raise ConfigurationError(f"MemoryEngine needs a LangGraph BaseStore, got {shown(store)}.")
    for name, part, method in (("extractor", extractor, "extract"), ("consolidator", consolidator, "judge")):
        if part is not None and not callable(part) and not hasattr(part, method):
            raise ConfigurationError(f"{name} must be a callable or have the method {method}(), got {shown(part)}.")


def _has_index(store: BaseStore) -> bool:
    # A store that does not say what it was built with is given the benefit of the doubt.
    return bool(getattr(store, "index_config", True))
