"""From the first person to the third: "I live in Hanoi with my wife" → "User lives in Hanoi with their wife"."""

from __future__ import annotations

import re

from ..sentences import masked
from .tables import list_words, phrase

__all__ = ["in_third_person"]


_PRONOUN = r"""
\b(?P<subject>i|we)(?P<short>'(m|ve|ll|d|re))?\b(?P<rest>(\s+{adverb})*(\s+[a-z]+('t)?)?)
\b(?P<own>my|our)\b
\b(?P<self>myself|ourselves)\b
\b(?P<whose>mine|ours)\b
\b(?P<object>me|us)\b
"""
_COORDINATED = r"""
(?P<before>\b(and|but|or)\s+({adverb}\s+)*)(?P<verb>…
    live|eat|have|speak|own|prefer|enjoy|teach|write|go|want|don't|am|hate|collect
    (work|study|run|drink|like|love)(?=\s+(at|for|as|from|in|to|a|my|the|\w+ing)\b)
…)(?=\s)
"""

_SHORT_FORMS = {"m": "am", "re": "am", "ve": "have", "ll": "will", "d": "would"}
_NEGATIONS = {
    "don't": "does not", "haven't": "has not", "can't": "cannot", "won't": "will not", "isn't": "is not",
    "aren't": "is not", "didn't": "did not", "wasn't": "was not", "weren't": "was not", "couldn't": "could not",
    "wouldn't": "would not", "shouldn't": "should not", "hadn't": "had not",
}  # fmt: skip
_IRREGULAR = {"am": "is", "are": "is", "were": "was", "have": "has", "do": "does", "go": "goes"}
_UNCHANGED = frozenset({
    "can", "could", "will", "would", "should", "must", "may", "might", "cannot", "shall", "used", "is", "has",
    "does",
})  # fmt: skip
_BASE_IN_ED = frozenset({"need", "feed", "breed", "weed", "embed", "speed", "exceed", "succeed", "proceed", "heed"})


def in_third_person(clause: str, subject: str) -> str:
    """The clause said about `subject`: the first mention by name, later ones as "they". Quotations stay."""
    out: list[str] = []
    position, named, conjugates = 0, False, False
    for found in phrase(_PRONOUN).finditer(masked(clause)):
        between = clause[position : found.start()]
        out += [_coordinated(between) if conjugates else between, _replaced(found, subject, named=named)]
        if found["subject"]:
            conjugates = not named and _is_present(found)
        position, named = found.end(), True
    rest = clause[position:]
    return "".join([*out, _coordinated(rest) if conjugates else rest])


def _replaced(found: re.Match[str], subject: str, *, named: bool) -> str:
    if found["subject"]:
        return _with_verb(found, "they" if named else subject, named=named)
    if found["own"]:
        return "their" if named else f"{subject}'s"
    if found["self"]:
        return "themselves"
    if found["whose"]:
        return "theirs" if named else f"{subject}'s"
    return "them" if named else subject


def _with_verb(found: re.Match[str], subject: str, *, named: bool) -> str:
    words = found["rest"].split()
    if found["short"]:
        words.insert(0, _SHORT_FORMS[found["short"][1:].lower()])
    at = next((index for index, word in enumerate(words) if not phrase("{adverb}").fullmatch(word)), None)
    if at is not None:
        words[at] = _plural_form(words[at]) if named else _singular_form(words[at])
    return " ".join([subject, *words])


def _singular_form(verb: str) -> str:
    lower = verb.lower().replace("’", "'")
    if lower in _NEGATIONS:
        return _NEGATIONS[lower]
    if lower in _IRREGULAR:
        return _IRREGULAR[lower]
    if _is_unchanged(lower) or (lower.endswith("ed") and lower not in _BASE_IN_ED) or lower.endswith("n't"):
        return verb
    if re.search(r"(?:s|x|z|ch|sh|o)$", lower):
        return verb + "es"
    return verb[:-1] + "ies" if re.search(r"[^aeiou]y$", lower) else verb + "s"


def _is_unchanged(verb: str) -> bool:
    """Whether the form is the same in the third person, as a past form that does not end in -ed is."""
    return verb in _UNCHANGED or verb in list_words("irregular_past")


def _plural_form(verb: str) -> str:
    return {"am": "are", "was": "were", "wasn't": "were not"}.get(verb.lower().replace("’", "'"), verb)


def _is_present(found: re.Match[str]) -> bool:
    words = [word for word in found["rest"].split() if not phrase("{adverb}").fullmatch(word)]
    verb = words[0].lower() if words else ""
    return bool(found["short"]) or (not _is_unchanged(verb) and not verb.endswith("ed"))


def _coordinated(rest: str) -> str:
    return phrase(_COORDINATED).sub(lambda found: found["before"] + _singular_form(found["verb"]), rest)
