"""What rules recognise, as tables: durable statements in English and other languages, and the phrases around them.

The tables stand in `extraction/tables/*.toml`, where each rule has examples, and are read when they are first needed.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..patterns import Words, compile_block, load_table

__all__ = [
    "LanguageRule",
    "Rule",
    "english_rules",
    "english_words",
    "language_rules",
    "list_words",
    "match_language",
    "phrase",
]


@dataclass(frozen=True)
class Rule:
    """One kind of durable statement in English: what it looks like, and what the fact made of it is worth.

    `rewrite` is a template over `{subject}` and the pattern's groups; without it the clause is turned into
    the third person. `lasting` rules are refused where the clause says that it is only for the moment, and
    rules that do not `address_agent` where it speaks about "you".
    """

    name: str
    pattern: re.Pattern[str]
    categories: tuple[str, ...]
    importance: float
    rewrite: str | None = None
    lasting: bool = True
    addresses_agent: bool = False


@dataclass(frozen=True)
class LanguageRule:
    """One kind of durable statement in one language (ISO 639-1), which is kept as it was said.

    Where it has an `attribute`, the pattern's group `value` says which of the values a person can have.
    """

    language: str
    pattern: re.Pattern[str]
    categories: tuple[str, ...]
    importance: float
    attribute: str | None = None


@cache
def english_rules() -> tuple[Rule, ...]:
    """The rules of English, in the order in which they are tried: the first that matches a clause makes the fact."""
    return tuple(
        Rule(
            row["name"],
            compile_block(row["says"], english_words()),
            tuple(row["categories"]),
            row["importance"],
            row.get("rewrite"),
            row.get("lasting", True),
            row.get("addresses_agent", False),
        )
        for row in _english()["rule"]
    )


@cache
def language_rules() -> tuple[LanguageRule, ...]:
    """The rules of all other languages."""
    table = load_table("languages")
    words = Words(table["words"])
    return tuple(
        LanguageRule(
            row["language"],
            compile_block(row["says"], words),
            tuple(row["categories"]),
            row["importance"],
            row.get("attribute"),
        )
        for row in table["rule"]
    )


@cache
def english_words() -> Words:
    """The words and phrases that patterns of English are made of."""
    return Words({**_english()["words"], **_english()["phrases"]})


@cache
def list_words(name: str) -> frozenset[str]:
    """The lines of a block of English words that are mere words."""
    return frozenset(english_words().blocks[name].split())


@cache
def phrase(pattern: str) -> re.Pattern[str]:
    """A pattern over the words and phrases of English, such as "{lead}" or "(?P<when>{when}),"."""
    return compile_block(pattern, english_words())


def match_language(sentence: str) -> tuple[LanguageRule, re.Match[str]] | None:
    """The first rule whose pattern is in a sentence of another language, and where."""
    composed = unicodedata.normalize("NFC", sentence)
    for rule in _rules_for(composed):
        if found := rule.pattern.search(composed):
            return rule, found
    return None


_LATIN = frozenset({"es", "fr", "de", "pt", "it", "pl", "tr", "id", "nl", "vi"})
_ENGLISH = re.compile(r"\b(?:the|i|my|and|you|your|it|are|have|this|that)\b", re.IGNORECASE)
_OTHER_SCRIPT = re.compile(r"[\u0370-\u1dff\u3040-\uffef]")


def _rules_for(text: str) -> tuple[LanguageRule, ...]:
    if _OTHER_SCRIPT.search(text):
        return _language_rules_by_script()[1]
    # For speed alone: most sentences are English, and no rule is.
    return () if _ENGLISH.search(text) else _language_rules_by_script()[0]


@cache
def _language_rules_by_script() -> tuple[tuple[LanguageRule, ...], tuple[LanguageRule, ...]]:
    """The rules of languages in Latin letters, and all others."""
    latin = tuple(rule for rule in language_rules() if rule.language in _LATIN)
    return latin, tuple(rule for rule in language_rules() if rule.language not in _LATIN)


@cache
def _english() -> dict[str, Any]:
    return load_table("english")
