"""BM25: what is found by its words, in every script."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mnemoscope.core import tokenise
from mnemoscope.index import LexicalIndex


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  \n", []),
        ("?! … - •", []),
        ("Moving, moved and moves", ["move", "move", "move"]),
        ("She took, has taken and will take children", ["take", "take", "take", "child"]),
        ("Where is the café?", ["café"]),
        ("I don't, can't; Ana’s", ["ana"]),
        ("ORD-7731", ["ord-7731", "ord", "7731"]),
        ("C++, C# (and C)", ["c++", "c", "c#", "c", "c"]),
        ("-5 or 5", ["-5", "5", "5"]),
        ("v2.1.", ["v2.1", "v2", "1"]),
        ("1,000 red,green", ["1,000", "1", "000", "red", "green"]),
        ("ana@example.com's", ["ana@example.com", "ana", "exampl", "com"]),
        ("pizza🍕", ["pizza🍕", "pizza", "🍕"]),
        ("pass\u200bword", ["password"]),
        ("ＡＢＣ ﬁne", ["abc", "fine"]),
        ("東京都。猫", ["東京", "京都", "猫"]),
        ("iPhoneを買う", ["iphon", "を買", "買う"]),
        ("한국어", ["한국", "국어"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("Москва город", ["москва", "город"]),
        ("مُحَمَّد، القاهرة", ["مُحَمَّد", "القاهرة"]),
    ],
)
def test_text_is_cut_into_tokens(text: str, expected: list[str]) -> None:
    assert tokenise(text) == expected


@given(st.text(st.characters(codec=None)))
def test_any_text_is_cut_into_short_tokens_without_space(text: str) -> None:
    assert all(token.strip() == token and 1 <= len(token) <= 64 for token in tokenise(text))


def test_case_does_not_matter() -> None:
    assert tokenise("ORD-7731 STRASSE Ёлка") == tokenise("ord-7731 straße ёЛКА")


def test_a_long_word_still_meets_itself() -> None:
    word = "x" * 1_000_000
    assert tokenise(word) == ["x" * 64]
    assert LexicalIndex.build([word, "other"]).scores(word)[0] > 0


def test_the_score_is_bm25() -> None:
    index = LexicalIndex.build(["tea tea cake", "cake", "coffee house"])
    rarity = np.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    assert index.scores("Is there tea?") == pytest.approx([rarity * 2 / (2 + 0.5), 0, 0], rel=1e-5)


def test_a_text_loses_by_its_length_only_where_it_is_far_longer_than_others() -> None:
    fillers = ["word"] * 18
    scores = LexicalIndex.build(["tea", "tea with some milk", "tea " + "cake " * 400, *fillers]).scores("tea")
    assert scores[0] == scores[1] > 2 * scores[2]


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    scores = LexicalIndex.build(["tea today", "tea now", "tea cake"]).scores("tea cake")
    assert scores.argmax() == 2
    assert scores[0] == scores[1] > 0


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("C++", 0),
        ("C#", 1),
        ("ORD-7731", 2),
        ("7731", 2),
        ("-5", 3),
        ("京都", 4),
        ("猫", 4),
        ("서울", 5),
        ("ana@x.org", 6),
    ],
)
def test_identifiers_symbols_and_scripts_without_spaces_are_found(query: str, best: int) -> None:
    texts = [
        "I like C++",
        "I like C#",
        "Order ORD-7731",
        "It is -5 in here",
        "京都の猫が好き",
        "서울에서 살아요",
        "ana@x.org",
    ]
    assert LexicalIndex.build(texts).scores(query).argmax() == best


def test_a_single_character_finds_the_pairs_that_hold_it() -> None:
    assert list(LexicalIndex.build(["子猫が好き", "犬が好き", "猫"]).scores("猫") > 0) == [True, False, True]


@pytest.mark.parametrize("texts", [[], [""], ["the", "?!"], ["tea"]])
@pytest.mark.parametrize("query", ["", "the", "coffee", "猫"])
def test_nothing_in_common_scores_zero(texts: list[str], query: str) -> None:
    scores = LexicalIndex.build(texts).scores(query)
    assert scores.dtype == np.float32
    assert scores.tolist() == [0.0] * len(texts)


def test_tokens_made_before_give_the_same_index() -> None:
    texts = ["tea and cake", "", "the coffee house"]
    again = LexicalIndex.build_from_tokens([tokenise(text) for text in texts])
    assert again.scores("tea coffee").tolist() == LexicalIndex.build(texts).scores("tea coffee").tolist()
    assert len(again) == 3


def test_the_index_knows_its_size() -> None:
    assert LexicalIndex.build(["tea"] * 1000).nbytes > LexicalIndex.build(["tea"]).nbytes > 0


def test_threads_may_cut_texts_at_the_same_time() -> None:
    texts = [
        f"{stem}{ending}" for stem in ("relation", "nation", "connect") for ending in ("al", "ed", "ing", "s")
    ] * 50
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(tokenise, texts)) == [tokenise(text) for text in texts]


texts_of_words = st.lists(st.lists(st.sampled_from(["tea", "cake", "猫", "C++", "the"]), max_size=5).map(" ".join))


@given(texts_of_words, texts_of_words, st.data())
def test_an_index_that_was_changed_equals_one_built_anew(old: list[str], new: list[str], data: st.DataObject) -> None:
    kept = data.draw(st.lists(st.booleans(), min_size=len(old), max_size=len(old)))
    changed = LexicalIndex.build(old).changed(np.array(kept, np.bool_), new)
    anew = LexicalIndex.build([text for text, keep in zip(old, kept, strict=True) if keep] + new)
    for query in ("tea cake", "猫", "c++ tea tea", "green"):
        assert changed.scores(query).tolist() == pytest.approx(anew.scores(query).tolist(), rel=1e-5)


def test_an_index_is_not_altered_by_one_made_from_it() -> None:
    index = LexicalIndex.build(["tea", "cake"])
    index.changed(np.array([True, False]), ["biscuit", "tea"])
    assert index.scores("biscuit").tolist() == [0.0, 0.0]
    assert index.scores("tea").argmax() == 0
