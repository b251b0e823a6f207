"""Things of which a person has one at a time, as statements of the third person put them.

The rules stand in `extraction/tables/attributes.toml`, each with examples, and are read when they are first needed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from ...core.text import normalise
from ..patterns import Words, compile_block, load_table
from .tables import english_words, match_language

__all__ = ["Attribute", "read_attribute"]


@dataclass(frozen=True)
class Attribute:
    """One attribute of one subject. `is_weak` marks wordings that alone do not say that there is only one."""

    name: str
    subject: str
    value: str
    is_weak: bool = False

    @property
    def label(self) -> str:
        """The name as people read it."""
        return self.name.replace("_", " ")

    def is_same_value(self, other: Attribute) -> bool:
        """Whether both name the same value: one's words are among the other's, or share their stems."""
        mine, theirs = _value_words(self.value), _value_words(other.value)
        fewer, more = sorted((mine, theirs), key=len)
        return all(any(_is_alike(word, each) for each in more) for word in fewer)


@dataclass(frozen=True)
class _Rule:
    """One wording of one attribute; the pattern's group `name` says which, where the rule does not."""

    name: str | None
    pattern: re.Pattern[str]
    is_weak: bool


@cache
def _rules() -> tuple[_Rule, ...]:
    table = load_table("attributes")
    words = Words({**english_words().blocks, **table["words"]})
    return tuple(
        _Rule(row.get("name"), compile_block(row["says"], words), row.get("weak", False)) for row in table["rule"]
    )


_CHOICE = re.compile(
    r"^(?P<subject>.{1,60}?) (?:now )?(?:prefers|would rather have|favou?rs) (?P<one>[\w -]+?) (?:to|over|"
    r"rather than|instead of) "
    r"(?P<other>[\w -]+?)(?=$|[,;]| (?:on|for|in|at|when|because|now)\b)",
    re.IGNORECASE,
)
_PREFERRED_KIND = re.compile(
    r"^(?P<subject>.{1,60}?) (?:now )?prefers (?:an? |the )?(?P<value>[\w'’-]+) (?P<noun>[\w'’-]+)"
    r"(?=$|[,;]| (?:on|for|in|at|when|because|now|these)\b)",
    re.IGNORECASE,
)
_USER = re.compile(r"^(?:the )?(?:user|customer|human|i|we|my|person)$", re.IGNORECASE)


def read_attribute(text: str) -> Attribute | None:
    """The single-valued attribute that a statement speaks of, or None."""
    for rule in _rules():
        if found := rule.pattern.search(text):
            name = rule.name or _spell(found["name"])
            return Attribute(name, _read_subject(found["subject"]), _trim(found["value"]), rule.is_weak)
    return _preference(text) or _in_other_language(text)


def _preference(text: str) -> Attribute | None:
    if found := _CHOICE.match(text):
        pair = " or ".join(sorted(normalise(found[each]) for each in ("one", "other")))
        return Attribute(f"choice of {pair}", _read_subject(found["subject"]), found["one"])
    if found := _PREFERRED_KIND.match(text):
        return Attribute(f"preferred {normalise(found['noun'])}", _read_subject(found["subject"]), found["value"])
    return None


def _in_other_language(text: str) -> Attribute | None:
    matched = match_language(text)
    if matched is None or matched[0].attribute is None:
        return None
    return Attribute(matched[0].attribute, "", _trim(matched[1]["value"]))


def _read_subject(text: str) -> str:
    name = normalise(text)
    return "user" if not name or _USER.match(name) else name


def _spell(name: str) -> str:
    return normalise(name).replace("favorite", "favourite").replace("color", "colour").replace("e-mail", "email")


def _trim(value: str) -> str:
    return value.strip().rstrip(".,;!:")


def _value_words(value: str) -> list[str]:
    return [word.strip(".,") for word in normalise(value).split() if word not in ("the", "a", "an", "of")]


def _is_alike(one: str, other: str) -> bool:
    """The same word, or (in inflected scripts) the same but for its ending."""
    if one == other:
        return True
    if one.isascii() or other.isascii() or min(len(one), len(other)) < 4:
        return False
    common = min(len(one), len(other)) - 1
    return one[:common] == other[:common]
