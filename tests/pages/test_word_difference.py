from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as some

from app.components.differences import Piece, compare_words


def test_words_that_changed_stand_between_those_that_stayed() -> None:
    assert compare_words("Ana lives in Lisbon.", "Ana now lives in Porto.") == [
        Piece("same", "Ana"),
        Piece("new", " now"),
        Piece("same", " lives in"),
        Piece("same", " "),
        Piece("old", "Lisbon"),
        Piece("new", "Porto"),
        Piece("same", "."),
    ]


@given(some.text(max_size=60), some.text(max_size=60))
def test_both_texts_can_be_read_out_of_the_pieces(before: str, after: str) -> None:
    pieces = compare_words(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind != "new") == before
    assert "".join(piece.text for piece in pieces if piece.kind != "old") == after


def test_very_long_texts_are_compared_by_lines_and_quickly() -> None:
    before = "\n".join(f"{at} the same words again and again" for at in range(3_000))
    started = time.process_time()
    pieces = compare_words(before, before.replace("1500 the", "1500 a"))
    assert time.process_time() - started < 2.0
    assert [piece.kind for piece in pieces] == ["same", "old", "new", "same"]
