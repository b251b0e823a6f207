"""BM25 over the memories of a namespace: what is found by its words."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Sequence

import bm25s
import numpy as np
from numpy.typing import NDArray

from .words import is_unspaced, tokenise

__all__ = ["LexicalIndex", "tokenise"]

K1 = 0.9
B = 0.4

# It logs each build for debugging, whatever level the application asked for.
logging.getLogger("bm25s").setLevel(logging.WARNING)


class LexicalIndex:
    """BM25 of a fixed list of texts; made by `build` or `build_from_tokens`, then only read, by any thread."""

    def __init__(self, ranker: bm25s.BM25 | None, vocabulary: dict[str, int], size: int) -> None:
        self._ranker = ranker
        self._vocabulary = vocabulary
        self._size = size

    @classmethod
    def build(cls, texts: Sequence[str]) -> LexicalIndex:
        """The index of these texts."""
        return cls.build_from_tokens([tokenise(text) for text in texts])

    @classmethod
    def build_from_tokens(cls, tokens: Sequence[Sequence[str]]) -> LexicalIndex:
        """The index of texts that `tokenise` has already cut, so that a rebuild need not cut them again."""
        vocabulary: dict[str, int] = {}
        ids = [[vocabulary.setdefault(token, len(vocabulary)) for token in text] for text in tokens]
        if not vocabulary:
            return cls(None, vocabulary, len(ids))
        ranker = bm25s.BM25(k1=K1, b=B)
        ranker.scores = ranker.build_index_from_ids(list(range(len(vocabulary))), ids, show_progress=False)
        return cls(ranker, vocabulary, len(ids))

    def __len__(self) -> int:
        return self._size

    @property
    def nbytes(self) -> int:
        """About how much memory the index takes, its words included."""
        words = sys.getsizeof(self._vocabulary) + sum(map(sys.getsizeof, self._vocabulary))
        if self._ranker is None:
            return words
        arrays: list[NDArray[np.generic]] = [self._ranker.scores[part] for part in ("data", "indices", "indptr")]
        return words + sum(array.nbytes for array in arrays)

    def scores(self, query: str) -> NDArray[np.float32]:
        """The BM25 score of each text, in order: 0 where it shares no word with the query, without upper bound."""
        ids = [number for token in tokenise(query) for number in self._matching(token)]
        if self._ranker is None or not ids:
            return np.zeros(self._size, dtype=np.float32)
        scores: NDArray[np.float32] = self._ranker.get_scores_from_ids(ids)
        return scores

    def _matching(self, token: str) -> Iterable[int]:
        if len(token) == 1 and is_unspaced(token):
            # The texts hold pairs of characters, and any pair with this one in it is a match.
            return [number for word, number in self._vocabulary.items() if token in word and is_unspaced(word)]
        number = self._vocabulary.get(token)
        return [] if number is None else [number]
