"""WordPiece: the ids that the reference tokenizer gives, whatever the script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mnemoscope.embedding import WordPiece
from mnemoscope.embedding.bundled import _vocabulary

VOCABULARY = _vocabulary()
TOKENIZER = WordPiece(VOCABULARY)


def tokens(text: str) -> list[str]:
    return [VOCABULARY[number] for number in TOKENIZER.encode(text, 256)][1:-1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Hello, World!", ["hello", ",", "world", "!"]),
        ("unaffable", ["una", "##ffa", "##ble"]),
        ("Café NAÏVE Straße", ["cafe", "naive", "st", "##raße"]),
        ("İstanbul ΣΑΣ", ["istanbul", "σ", "##α", "##σ"]),
        ("東京に", ["東", "京", "に"]),
        ("don't", ["don", "'", "t"]),
        ("$5 a_b C++", ["$", "5", "a", "_", "b", "c", "+", "+"]),
        ("a\x00b\u200bc\ufffdd\x85e", ["abc", "##de"]),
        ("a\u00a0b\tc\u3000d\u2028e", ["a", "b", "c", "d", "e"]),
        ("🍕 pizza", ["[UNK]", "pizza"]),
        ("x" * 101 + " y", ["[UNK]", "y"]),
        ("[SEP] [MASK]", ["[", "sep", "]", "[", "mask", "]"]),
    ],
)
def test_text_is_cut_into_the_known_pieces(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


def test_ids_are_those_of_the_reference() -> None:
    assert TOKENIZER.encode("Hello world", 256) == [101, 7592, 2088, 102]


def test_the_end_mark_stays_when_a_text_is_cut() -> None:
    ids = TOKENIZER.encode("tea " * 10_000, 256)
    assert (len(ids), ids[0], ids[-1]) == (256, 101, 102)


def test_a_word_across_two_windows_is_one_word() -> None:
    assert tokens("\n" * 4090 + "unaffable")[-3:] == ["una", "##ffa", "##ble"]


@given(st.text(st.characters(codec=None)))
def test_any_text_gives_known_ids(text: str) -> None:
    ids = TOKENIZER.encode(text, 32)
    assert 2 <= len(ids) <= 32
    assert all(0 <= number < len(VOCABULARY) for number in ids)
