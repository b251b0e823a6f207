"""An embedder with no model at all: it compares words, not meanings."""

from __future__ import annotations

import hashlib
import math
from collections import Counter

from langchain_core.embeddings import Embeddings

from ..core.tokenizer import tokenise
from ..errors import ConfigurationError

__all__ = ["HashingEmbeddings"]


class HashingEmbeddings(Embeddings):
    """Lexical vectors: every word is hashed to a dimension and a sign; the same in every process.

    Two texts are similar where they share words ("moved" and "moving" are one, "car" and "automobile" are two),
    or pairs of characters in scripts without spaces. Meant as a last resort where no model can be installed.

    Raises:
        ConfigurationError: `dimensions` is not a whole number from 8 to 65536.
    """

    def __init__(self, dimensions: int = 256) -> None:
        if isinstance(dimensions, bool) or not isinstance(dimensions, int) or not 8 <= dimensions <= 65536:
            raise ConfigurationError(
                f"HashingEmbeddings.dimensions must be a whole number from 8 to 65536, got {dimensions!r}."
            )
        self.dimensions = dimensions
        self.identity = f"hashing:{dimensions}"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector of length 1 for each text, in order."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """The vector of one text; a text without any word has a vector too, because stores refuse a zero one."""
        counts = Counter(tokenise(text)) or Counter([text.strip().casefold()])
        vector = [0.0] * self.dimensions
        for token, count in counts.items():
            place, sign = self._place(token)
            vector[place] += sign * (1.0 + math.log(count))
        length = math.hypot(*vector)
        if length == 0.0:
            place, _ = self._place(text)
            vector[place] = length = 1.0
        return [value / length for value in vector]

    def _place(self, token: str) -> tuple[int, float]:
        digest = hashlib.blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        number = int.from_bytes(digest, "big")
        return (number >> 1) % self.dimensions, 1.0 if number & 1 else -1.0
