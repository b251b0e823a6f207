"""BM25 over the memories of a namespace: what is found by its words.

A text is cut into words once. `LexicalIndex.changed` makes the index of other texts from the words of this one, so
that a write costs the words of what was written, not of everything.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.locks import ForkSafeLock
from ..core.tokenizer import is_unspaced, tokenise

__all__ = ["LexicalIndex"]


K1 = 0.5
"""How slowly a word that is repeated stops to count."""

FREE_LENGTH = 3
"""Up to so many times the mean length a text does not lose by it: memories are short, and longer ones say more.

The usual penalty from the mean length on costs .02 of nDCG@10 on LoCoMo's turns, and gains nothing on facts.
"""


class _Postings(NamedTuple):
    """For every word by number, from `start[word]` on: the texts that hold it, and what it scores in each."""

    start: NDArray[np.int64]
    text: NDArray[np.int32]
    score: NDArray[np.float32]


class _Vocabulary:
    """The number of every word; indexes made from each other share one, and it only grows."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self._lock = ForkSafeLock()

    def cut(self, texts: Iterable[Sequence[str]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The words of texts by number, one text after another, and how many each has."""
        numbers, words, counts = self.numbers, array("i"), array("q")
        with self._lock:
            for tokens in texts:
                words.extend([numbers.setdefault(token, len(numbers)) for token in tokens])
                counts.append(len(tokens))
        return np.array(words, np.int32), np.array(counts, np.int64)


class LexicalIndex:
    """BM25 of a fixed list of texts; made by `build`, `build_from_tokens` or `changed`, then read by any thread.

    `words` are the words of all texts by number, one text after another; `counts[i]` is how many text i has.
    """

    def __init__(self, vocabulary: _Vocabulary, words: NDArray[np.int32], counts: NDArray[np.int64]) -> None:
        self._vocabulary = vocabulary
        self._words = words
        self._counts = counts

    @classmethod
    def build(cls, texts: Iterable[str]) -> LexicalIndex:
        """The index of these texts."""
        return cls.build_from_tokens(map(tokenise, texts))

    @classmethod
    def build_from_tokens(cls, tokens: Iterable[Sequence[str]]) -> LexicalIndex:
        """The index of texts that `tokenise` has already cut."""
        vocabulary = _Vocabulary()
        return cls(vocabulary, *vocabulary.cut(tokens))

    def changed(self, kept: NDArray[np.bool_], texts: Iterable[str]) -> LexicalIndex:
        """The index of the texts that are kept, in their order, and then of these further ones."""
        words, counts = self._vocabulary.cut(map(tokenise, texts))
        stay = self._words[np.repeat(kept, self._counts)]
        return LexicalIndex(
            self._vocabulary, np.concatenate([stay, words]), np.concatenate([self._counts[kept], counts])
        )

    def __len__(self) -> int:
        return len(self._counts)

    @property
    def nbytes(self) -> int:
        """About how much memory the index takes, its words included."""
        numbers = dict(self._vocabulary.numbers)
        own = sys.getsizeof(numbers) + sum(map(sys.getsizeof, numbers))
        return own + self._words.nbytes + self._counts.nbytes + sum(each.nbytes for each in self._postings)

    def scores(self, query: str) -> NDArray[np.float32]:
        """The BM25 score of each text, in order: 0 where it shares no word with the query, without upper bound."""
        scores = np.zeros(len(self), np.float32)
        for number in [number for token in tokenise(query) for number in self._matching(token)]:
            if number < len(self._postings.start) - 1:
                found = slice(self._postings.start[number], self._postings.start[number + 1])
                scores[self._postings.text[found]] += self._postings.score[found]
        return scores

    def _matching(self, token: str) -> Iterable[int]:
        if len(token) == 1 and is_unspaced(token):
            # The texts hold pairs of characters, and any pair with this one in it is a match.
            numbers = dict(self._vocabulary.numbers)
            return [number for word, number in numbers.items() if token in word and is_unspaced(word)]
        number = self._vocabulary.numbers.get(token)
        return [] if number is None else [number]

    @cached_property
    def _postings(self) -> _Postings:
        """Robertson's BM25 with the rarity of a word as Lucene has it, which is never negative."""
        texts = max(len(self), 1)
        pairs = self._words.astype(np.int64)
        pairs *= texts
        pairs += np.repeat(np.arange(len(self), dtype=np.int32), self._counts)
        pairs.sort()
        first = np.flatnonzero(np.diff(pairs, prepend=-1))
        times = np.diff(first, append=len(pairs)).astype(np.float32)
        pairs = pairs[first]
        word, text = (pairs // texts).astype(np.int32), (pairs % texts).astype(np.int32)
        start = np.searchsorted(word, np.arange(int(self._words.max(initial=-1)) + 2))
        holding = np.diff(start)
        rarity = np.log(1 + (len(self) - holding + 0.5) / (holding + 0.5)).astype(np.float32)
        free = FREE_LENGTH * len(self._words) / texts or 1.0
        longer = np.maximum(self._counts.astype(np.float32) / free, 1.0)
        times /= times + K1 * longer[text]
        return _Postings(start, text, rarity[word] * times)
