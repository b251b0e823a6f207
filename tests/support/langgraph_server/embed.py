"""The embedder of the contract suite; the engine's folder must be on the path."""

from mnemoscope.embedding import HashingEmbeddings

_EMBEDDINGS = HashingEmbeddings(64)


def embed(texts: list[str]) -> list[list[float]]:
    """Vectors of the texts."""
    return _EMBEDDINGS.embed_documents(texts)
