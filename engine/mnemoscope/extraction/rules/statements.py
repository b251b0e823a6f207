"""A statement read for comparison: its words in a common form, whether it denies, and whom it is about."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from ...core.text import normalise
from .attributes import Attribute, read_attribute
from .tables import match_language

__all__ = ["Statement", "read_statement"]


_TOKEN = re.compile(r"[^\W_](?:[\w'’.&/-]*[\w])?[+#]*")
_FILLER = frozenset({
    "a", "an", "the", "is", "are", "am", "be", "been", "was", "were", "has", "have", "had", "do", "does", "did",
    "will", "very", "really", "so", "too", "quite", "also", "just", "now", "still", "currently", "always",
    "actually", "already", "totally", "definitely", "anymore", "more", "any", "longer", "that", "of", "as", "well",
    "again", "their", "they", "them", "user's",
})  # fmt: skip
_DENIALS = (
    (
        re.compile(
            r"\b(?:no longer|used to|(?:has )?(?:stopped|quit|quits)|gave up|given up|is off|got rid of|"
            r"fed up with)\b"
        ),
        " ",
    ),
    (
        re.compile(
            r"\b(?:does|do|is|are|did|was|has|have|can|will|would|could)(?:n['’]t| not)\b|\bcannot\b|\bnot\b|"
            r"\bnever\b"
        ),
        " ",
    ),
    (re.compile(r"\b(?:has|have|owns|with) no\b|\bno\b"), " "),
    (re.compile(r"\b(?:left|resigned from)\b(?!.* (?:for|to join) )"), " works at "),
    (re.compile(r"\b(?:dislikes?|hates?|detests?|loathes?|despises?|stand|bear)\b"), " likes "),
    (re.compile(r"\bя больше\b|\b(?:не|нет|ні|nie|nicht|kein\w*|niet|geen|não|không|jamais|pas|kaum)\b"), " "),
)
_DENIED_WITHIN = re.compile(
    r"ません|ない(?![でと])|嫌い|苦手|不|没|沒|讨厌|討厭|안 |못 |싫어|(?:^|\s)(?:لا|لم|لست|أكره)\s|नहीं|"
    r"\bno (?:me|como|bebo)|\bya no\b"
)
_LIKINGS = re.compile(
    r"\b(?:loves?|enjoys?|adores?|likes?|is (?:really |very |a |big |huge )*(?:fond of|into|fan of|keen on|"
    r"crazy about)|prefers?)\b"
)
_DIRECTION = re.compile(r"\b(?:to|over|than|from|before|after|instead)\b")
_SUBJECT = re.compile(
    r"^(?P<subject>(?:the )?user(?:['’]s (?:[\w-]+ ){0,2}?[\w-]+)?|i|[A-Z][\w'’-]+(?:['’]s [\w-]+)?)(?=\s)",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"^(?:[,;]| (?:and|because|since|with|as well as|in (?=[A-Z\d])|for (?=\d)|on (?=[A-Z\d])|"
    r"at (?=[A-Z\d]))\b)"
)
_REASON = re.compile(r"\s*(?:;|\b(?:because|since|so that|due to)\b|,(?!.*\b(?:and|or)\b)).*")
_AMOUNTS = frozenset({
    "one", "two", "three", "four", "five", "six", "lot", "lots", "much", "many", "few", "little", "bit", "cup",
    "cups", "daily", "every", "each", "day", "week", "month", "year", "morning", "even", "afternoon", "night",
    "weekend", "occasionally", "often", "sometimes", "usually", "regularly", "once", "twice", "times", "time", "per",
})  # fmt: skip
_INFLECTION = re.compile(r"(?<=\w{3})(?:ing|ed|(?<=ss|sh|ch)es|(?<=[xzo])es|(?<!s)s)$")
_IDEOGRAPHS = re.compile(r"[\u30a0-\u30ff\u3400-\u9fff]")
_KANA = re.compile(r"[\u3040-\u309f]")
_SEPARATORS = re.compile(r"[\W_]+")
_OTHER_SCRIPT = re.compile(r"[^\W\d_a-zA-Z\u00c0-\u024f]")


@dataclass(frozen=True)
class Statement:
    """What a text says, word by word; `subject` is "" where the text names nobody.

    `core` are the words without reasons, amounts and frequencies: "drinks four coffees a day" → drink, coffee.
    """

    text: str
    subject: str
    words: tuple[str, ...]
    core: frozenset[str]
    denies: bool
    attribute: Attribute | None

    @property
    def word_set(self) -> frozenset[str]:
        """The words, whatever their order."""
        return frozenset(self.words)

    def says_as(self, other: Statement) -> bool:
        """Whether the words are the same; their order counts where one thing is set against another."""
        if not self.words or self.subject != other.subject:
            return False
        ordered = _DIRECTION.search(self.text) or not self.subject
        return self.words == other.words if ordered else Counter(self.words) == Counter(other.words)

    def begins_with(self, other: Statement) -> bool:
        """Whether this text is the other and then goes on, with "and …", "because …" or a comma."""
        mine, theirs = self.text.rstrip(".!。 "), other.text.rstrip(".!。 ")
        if len(mine) <= len(theirs) or mine[: len(theirs)].casefold() != theirs.casefold():
            return False
        return bool(_GOES_ON.match(mine[len(theirs) :]))

    def is_nearly(self, other: Statement) -> bool:
        """Whether, in another script, the texts differ in endings, politeness or denial only."""
        if not (_OTHER_SCRIPT.search(self.text) and _OTHER_SCRIPT.search(other.text)):
            return False
        if _IDEOGRAPHS.search(self.text) or _KANA.search(self.text):
            return _same_but_for_kana(self.text, other.text)
        return len(self.words) == len(other.words) > 0 and all(
            _same_but_for_ending(one, another) for one, another in zip(self.words, other.words, strict=True)
        )


def read_statement(text: str) -> Statement:
    """Read a statement, usually one of the third person ("User lives in Hanoi"), in any language."""
    foreign = bool(_OTHER_SCRIPT.search(text)) or match_language(text) is not None
    found = None if foreign else _SUBJECT.match(text)
    subject = _common_subject(found["subject"]) if found else ""
    plain, denials = _without_denials(normalise(text[found.end() :] if found else text).replace("’", "'"))
    denies = bool(denials % 2) != bool(_DENIED_WITHIN.search(normalise(text)))
    words, core = _content_words(plain), _content_words(_REASON.sub("", plain))
    return Statement(
        text=" ".join(text.split()),
        subject=subject,
        words=tuple(words),
        core=frozenset(core) - _AMOUNTS,
        denies=denies,
        attribute=read_attribute(text),
    )


def _without_denials(plain: str) -> tuple[str, int]:
    """The text with denials taken out and likings put alike, and how many kinds of denial there were."""
    denials = 0
    for pattern, stands_for in _DENIALS:
        plain, times = pattern.subn(stands_for, plain)
        denials += times > 0
    return _LIKINGS.sub("likes", plain), denials


def _content_words(plain: str) -> list[str]:
    tokens = [token.removesuffix("'s") for token in _TOKEN.findall(plain)]
    return [_stem(token) for token in tokens if token not in _FILLER]


def _common_subject(text: str) -> str:
    name = normalise(text).removeprefix("the ")
    return "user" if name == "i" else name


def _stem(word: str) -> str:
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    word = _INFLECTION.sub("", word)
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word.removesuffix("e")


def _same_but_for_ending(one: str, other: str) -> bool:
    if one == other:
        return True
    shorter = min(len(one), len(other))
    if shorter < 4 or any(each.isdigit() for each in one + other):
        return False
    kept = max(4, shorter - 1)
    return one[:kept] == other[:kept] and abs(len(one) - len(other)) <= 2


def _same_but_for_kana(one: str, other: str) -> bool:
    mine, theirs = (_SEPARATORS.sub("", normalise(each)) for each in (one, other))
    if mine == theirs:
        return True
    if _KANA.sub("", mine) != _KANA.sub("", theirs):
        return False
    return _overlap(mine, theirs) >= 0.6


def _overlap(one: str, other: str) -> float:
    """Dice's coefficient of the pairs of neighbouring characters."""
    mine, theirs = (Counter(pairwise(each)) for each in (one, other))
    total = sum(mine.values()) + sum(theirs.values())
    return 2 * sum((mine & theirs).values()) / total if total else 0.0
