from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text import display

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def test_a_right_to_left_override_is_shown_not_obeyed() -> None:
    assert display.safe("gnp\u202eexe.") == "gnp<U+202E>exe."


@pytest.mark.parametrize("hidden", ["\x00", "\x1b", "\u200b", "\u2066", "\ufeff", "\ud800", "\U000e0041", "\u3164"])
def test_what_cannot_be_seen_is_made_visible(hidden: str) -> None:
    assert display.safe(f"a{hidden}b") == f"a<U+{ord(hidden):04X}>b"


@pytest.mark.parametrize("text", ["👩\u200d👧", "می\u200cخواهم", "❤\ufe0f", "二\n三\t四", "naïve — “quoted”"])
def test_ordinary_text_of_any_script_stays_as_it_is(text: str) -> None:
    assert display.safe(text) == text


def test_a_joiner_between_latin_letters_is_hidden_text() -> None:
    assert display.safe("pass\u200dword") == "pass<U+200D>word"


@given(st.text(st.characters()))
def test_safe_text_can_always_be_encoded(text: str) -> None:
    assert display.safe(text + "\udfff").encode().decode().endswith("<U+DFFF>")


def test_cut_says_how_much_is_left_out() -> None:
    assert display.cut("a" * 1300, 10) == "aaaaaaaaaa … (+1,290 characters)"
    assert display.cut("short", 10) == "short"


def test_plotly_text_has_no_markup_and_one_line() -> None:
    assert display.plotly_text('<a href="http://x">\nclick</a>') == '&lt;a href="http://x"&gt; click&lt;/a&gt;'


@pytest.mark.parametrize(
    ("elapsed", "shown"),
    [
        (timedelta(seconds=20), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(days=3), "3 days ago"),
        (timedelta(days=800), "2 years ago"),
        (timedelta(hours=-2), "in 2 hours"),
    ],
)
def test_age_is_in_the_largest_unit_that_fits(elapsed: timedelta, shown: str) -> None:
    assert display.age(NOW - elapsed, NOW) == shown


def test_what_is_not_known_is_a_dash() -> None:
    assert (display.age(None, NOW), display.timestamp(None), display.score(None)) == ("–", "–", "–")


def test_numbers_carry_their_noun() -> None:
    assert display.counted(1, "memory", "memories") == "1 memory"
    assert display.counted(1340, "memory", "memories") == "1,340 memories"
