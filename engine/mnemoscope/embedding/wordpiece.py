"""WordPiece over BERT's uncased vocabulary: the tokens that the bundled embedding model reads."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice

__all__ = ["WordPiece"]


_LONGEST_WORD = 100

# A text is read in windows that end where a word ends, because only its first few hundred tokens count.
_WINDOW = re.compile(r"(?s).{1,4096}[^ \t\n\r]*")

# The ideographs that BERT's authors set apart; kana, Hangul and Thai stay in one word.
_IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """Turns text into token ids: lower-cased, without accents, longest known piece first.

    A literal "[SEP]" or "[MASK]" in a text is ordinary text here, so that stored text cannot steer the model.
    """

    def __init__(self, vocabulary: list[str]) -> None:
        self._ids = {token: number for number, token in enumerate(vocabulary)}
        self._unknown = self._ids["[UNK]"]
        self._start = self._ids["[CLS]"]
        self._end = self._ids["[SEP]"]
        self._characters = _CharacterTable()

    def encode(self, text: str, limit: int) -> list[int]:
        """The ids of a text with its start and end marks, at most `limit` of them; the rest of the text is cut."""
        return [self._start, *islice(self._pieces(text), limit - 2), self._end]

    def _pieces(self, text: str) -> Iterator[int]:
        for window in _WINDOW.finditer(text):
            plain = unicodedata.normalize("NFD", window.group())
            for word in plain.translate(self._characters).split():
                yield from self._word_ids(word)

    def _word_ids(self, word: str) -> list[int]:
        if len(word) > _LONGEST_WORD:
            return [self._unknown]
        found: list[int] = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            for end in range(len(word), start, -1):
                number = self._ids.get(mark + word[start:end])
                if number is not None:
                    break
            else:
                return [self._unknown]
            found.append(number)
            start = end
        return found


class _CharacterTable(dict[int, str | None]):
    """What becomes of each character, worked out when it is first met: a table for `str.translate`."""

    def __missing__(self, code: int) -> str | None:
        replacement = _replacement(chr(code))
        # Beyond the basic plane a hostile text could fill a million entries.
        if code <= 0xFFFF:
            self[code] = replacement
        return replacement


def _replacement(character: str) -> str | None:
    if character in "\t\n\r":
        return " "
    category = unicodedata.category(character)
    if character == "\ufffd" or category in ("Mn", "Cc", "Cf", "Co", "Cs"):
        return None
    if character.isspace():
        return " "
    if _stands_alone(character, category):
        return f" {character} "
    return character.lower()


def _stands_alone(character: str, category: str) -> bool:
    if character.isascii():
        return not character.isalnum()
    code = ord(character)
    return category.startswith("P") or any(first <= code <= last for first, last in _IDEOGRAPHS)
