"""What Browse shows for the controls: the engine's page of an index, with similarities and recalls where asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st
from mnemoscope import MemoryEngine, MemoryRecord
from mnemoscope.core import utc_now
from mnemoscope.embedding import identity_of
from mnemoscope.index import Browsed, ScopeIndex, browse
from numpy.typing import NDArray

from app.views.browse.filters import Chosen

__all__ = ["Found", "can_find_meaning", "search"]

_VECTOR = "browse.vector"


@dataclass(frozen=True)
class Found:
    """The memories that are left, and how close each is to the meaning searched for, if one is."""

    browsed: Browsed
    similarities: NDArray[np.float64] | None = None

    def similarity_of(self, records: list[MemoryRecord]) -> list[float] | None:
        """The similarity of each of these memories of the index; None where the search is not by meaning."""
        if self.similarities is None:
            return None
        position = self.browsed.index.position
        return [float(self.similarities[position[record.namespace, record.key]]) for record in records]


def can_find_meaning(engine: MemoryEngine) -> bool:
    """Whether a text can be embedded and compared with the stored vectors."""
    reads = engine.adapter.embeddings is not None and engine.adapter.abilities.reads_vectors
    return reads and not engine.reembedding.difference()


def search(engine: MemoryEngine, index: ScopeIndex, chosen: Chosen) -> Found:
    """What is left of the scope, in the order that is chosen."""
    also: dict[str, NDArray[np.float64]] = {}
    if chosen.meaning is not None:
        also["similarity"] = _similarities(engine, index, chosen.meaning)
    elif chosen.sort == "recalled":
        also["recalled"] = _recalls(engine, index)
    browsed = browse(index, chosen.filters, now=utc_now(), sort=chosen.sort, descending=chosen.descending, also=also)
    return Found(browsed, also.get("similarity"))


def _similarities(engine: MemoryEngine, index: ScopeIndex, text: str) -> NDArray[np.float64]:
    # Kept for the session, so that paging and ticking do not embed the text again.
    kept, numbers = st.session_state.get(_VECTOR, ("", []))
    embeddings = engine.adapter.embeddings
    asked = f"{identity_of(embeddings)} {text}" if embeddings is not None else text
    if kept != asked and embeddings is not None:
        numbers = embeddings.embed_query(text)
        st.session_state[_VECTOR] = (asked, numbers)
    vector = np.asarray(numbers, np.float32)
    norm = float(np.linalg.norm(vector))
    return index.cosine(vector / norm if norm else vector)


def _recalls(engine: MemoryEngine, index: ScopeIndex) -> NDArray[np.float64]:
    access = {
        namespace: engine.usage.recalls(namespace) for namespace in {record.namespace for record in index.records}
    }
    counts = (found.count if (found := access[record.namespace].get(record.key)) else 0 for record in index.records)
    return np.fromiter(counts, np.float64, len(index))
