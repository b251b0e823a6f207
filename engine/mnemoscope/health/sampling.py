"""Whether stored vectors are by the embedder in use, told by embedding some of their texts again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core.execution import run
from ..core.payloads import KIND
from ..embedding.encode import embed_texts
from ..engine.facade import MemoryEngine
from ..index.scope import ScopeIndex
from .contents import SURE
from .steps import Check

__all__ = ["SAMPLED", "agreement", "check_vectors"]


SAMPLED = 24
"""How many memories are embedded again."""

_LONGEST = 2_000


def check_vectors(engine: MemoryEngine, index: ScopeIndex) -> Check:
    """Embed some of the texts again and compare them with the stored vectors."""
    name = "Vectors by this embedder"
    if not engine.adapter.abilities.reads_vectors or engine.adapter.embeddings is None:
        return Check(name, "skipped", "the vectors of this store cannot be read")
    similarities = agreement(engine, index)
    if not len(similarities):
        return Check(name, "skipped", "no memory of ours has a vector to compare with")
    agreeing = int((similarities >= SURE).sum())
    said = f"{agreeing} of {len(similarities)} tried memories have the vector that the embedder gives their text"
    if agreeing == len(similarities):
        return Check(name, "good", said)
    remedy = "The others were made by another embedder, or their text changed without it. Make all of them anew."
    return Check(name, "bad" if agreeing == 0 else "warning", said, remedy, "mnemoscope reembed --again")


def agreement(engine: MemoryEngine, index: ScopeIndex) -> NDArray[np.float64]:
    """How similar the vectors of some memories are to those that the embedder gives their texts now.

    Only items of our own form are tried: of others it is not known which text was embedded.
    """
    fitting = [
        at
        for at, record in enumerate(index.records)
        if index.vectored[at] and record.kind == KIND and 0 < len(record.content) <= _LONGEST
    ]
    chosen = [fitting[int(place)] for place in np.linspace(0, len(fitting) - 1, min(SAMPLED, len(fitting)))]
    texts = [index.records[at].content for at in chosen]
    vectors = run(embed_texts(engine.adapter, texts))
    similarities = [float(index.cosine(vectors[text])[at]) for text, at in zip(texts, chosen, strict=True)]
    return np.array(similarities, dtype=np.float64)
