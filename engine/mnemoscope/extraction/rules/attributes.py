"""Things of which a person has one at a time, as statements put them: one row is one attribute.

To teach one, add a row: its pattern is searched in a statement of the third person, with the groups
`subject` and `value`, and `name` where the pattern covers several attributes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...core.text import normalise
from .english import OCCUPATION
from .languages import match_language

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
class _Row:
    name: str
    pattern: re.Pattern[str]
    is_weak: bool = False


_PROPER = (
    r"(?P<value>(?-i:(?:the )?[A-ZÀ-ÖØ-ÞĐ][\w'’.&-]*(?:,? (?:[A-ZÀ-ÖØ-ÞĐ][\w'’.&-]*|(?:de|la|du|of|"
    r"the)(?= (?-i:[A-Z]))))*))"
)
_SUBJECT = r"^(?P<subject>.{0,60}?)\s*\b(?:(?:has|have|also|now|just|recently|currently|still|no longer|does not|is) )*"
_NOT_EMPLOYERS = (
    r"(?!(?:LinkedIn|Instagram|Facebook|Twitter|Discord|Duolingo|Strava|TikTok|Reddit|Netflix|Spotify|WhatsApp|"
    r"Slack)\b)"
)
_NOUNS = (
    r"(?:birthday|e-?mail(?: address)?|(?:home |postal |delivery |work )?address|(?:phone|mobile|cell|"
    r"customer) ?number|"
    r"time ?zone|shoe size|clothing size|ring size|height|weight|blood type|nationality|pronouns|surname|budget|"
    r"job title|"
    r"salary|major|employer|native language|mother tongue|first language|religion|(?:budget for [\w ]{1,30}?)|"
    r"favou?rite [\w -]{2,30}?)"
)


def _row(name: str, pattern: str, *, is_weak: bool = False) -> _Row:
    return _Row(name, re.compile(pattern, re.IGNORECASE), is_weak)


_ROWS: tuple[_Row, ...] = (
    _row("residence", _SUBJECT + r"(?:lives?|resides?|living|based|moved|relocated|settled|used to live)\b"
         r"(?: (?:back|here|now|permanently|house|with \w+(?: \w+)?|from (?-i:[A-Z])\w+(?: (?-i:[A-Z])\w+)?))*"
         r" (?:in|to|near|at)(?: (?:central|downtown|northern|southern|old))? " + _PROPER),
    _row("residence", _SUBJECT + r"lives? in (?P<value>(?!(?:an?|the|their|my|his|her|our|this|that|same)\b)[\w'-]+)"),
    _row("employer", _SUBJECT + r"(?:left|quit) (?-i:[A-Z])\w+ (?:for|to join) " + _PROPER),
    _row("employer", _SUBJECT + r"(?:joined|joins|joining|left|quit) (?!the\b)" + _NOT_EMPLOYERS + _PROPER),
    _row("employer", _SUBJECT + r"(?:works?|working|worked|employed|started(?: working| (?:a|their|"
         r"the) (?:new )?(?:job|role|"
         r"position))?|starting|got (?:a|the|their) (?:new )?job|resigned|quit (?:their|the) job|used to work|"
         r"accepted an? (?:job|"
         r"offer|position|new job)|landed a job|took a job)(?: as (?:an? )?[\w -]{2,40}?)? (?:at|for|with|by|"
         r"from) " + _PROPER),
    _row("job title", _SUBJECT + r"(?:works? as|working as|promoted to|was promoted to|got promoted to|became|"
         r"has become) (?:an? |the )?"
         r"(?P<value>" + OCCUPATION + r")\b"),
    _row("job title", _SUBJECT + r"(?:is|are) (?:an? |the )(?P<value>" + OCCUPATION + r")\b", is_weak=True),
    _row("form of address", r"^(?P<subject>.{0,60}?) (?:prefers to be called|goes by|"
         r"likes to be called) (?P<value>.+)$"),
    _row("name", r"^(?P<subject>(?:the )?user|i|my|.{0,40}(?:wife|husband|partner|spouse))(?:['’]s)? (?:full |"
         r"first )?(?:is called|"
         r"is named|name is) (?P<value>.+)$"),
    _row("age", r"^(?P<subject>.{0,60}?) (?:is|turned|turns|is turning|"
         r"just turned) (?P<value>\d{1,3})(?: years? old)?(?=$|[,;. ])"
         r"(?! (?:minutes|hours|km|miles|cm|kg))"),
    _row("relationship status", _SUBJECT + r"(?:(?:was|got|been|newly|happily|getting) )*(?P<value>married|single|"
         r"divorced|engaged|"
         r"widowed|separated)\b"),
    _row("diet", _SUBJECT + r"(?:(?:is|am|became|went|turned|gone|not|an?|mostly|strictly) )*(?P<value>vegetarian|"
         r"vegan|pescatarian|"
         r"flexitarian|omnivore|keto)s?\b"),
    _row("diet", _SUBJECT + r"eats (?P<value>meat|everything|fish and meat) again"),
    _row("", r"^(?P<subject>.{1,60}?)(?:['’]s) (?:new |current |home |all-time )?(?P<name>" + _NOUNS + r") (?:is|"
         r"are|has changed to)(?: now)? "
         r"(?P<value>[^,;]+)"),
    _row("", r"^(?P<subject>.{1,60}?)(?:['’]s) (?:new |current )?(?P<name>manager|boss|doctor|dentist|therapist|"
         r"landlord) is (?:now )?"
         + _PROPER),
)  # fmt: skip
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
    for row in _ROWS:
        if found := row.pattern.search(text):
            name = row.name or _spelled(found["name"])
            return Attribute(name, _subject(found["subject"]), _trimmed(found["value"]), row.is_weak)
    return _preference(text) or _in_other_language(text)


def _preference(text: str) -> Attribute | None:
    if found := _CHOICE.match(text):
        pair = " or ".join(sorted(normalise(found[each]) for each in ("one", "other")))
        return Attribute(f"choice of {pair}", _subject(found["subject"]), found["one"])
    if found := _PREFERRED_KIND.match(text):
        return Attribute(f"preferred {normalise(found['noun'])}", _subject(found["subject"]), found["value"])
    return None


def _in_other_language(text: str) -> Attribute | None:
    matched = match_language(text)
    if matched is None or matched[0].attribute is None:
        return None
    return Attribute(matched[0].attribute, "", _trimmed(matched[1]["value"]))


def _subject(text: str) -> str:
    name = normalise(text)
    return "user" if not name or _USER.match(name) else name


def _spelled(name: str) -> str:
    return normalise(name).replace("favorite", "favourite").replace("color", "colour").replace("e-mail", "email")


def _trimmed(value: str) -> str:
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
