"""Junk: memories that say nothing, and text that tries to steer the agent instead."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from ..extraction.screening import is_question, looks_like_instruction
from .findings import Finding, found, proposed
from .survey import Survey

__all__ = ["JUNK", "junk", "junk_reason"]


_LINK = re.compile(r"\s*(?:https?://|www\.)\S+\s*", re.IGNORECASE)
_REPEATED = re.compile(r"(.)\1{9,}|\b(\w+)(?:\W+\2\b){4,}", re.IGNORECASE | re.DOTALL)
_COURTESY = re.compile(
    r"\W*(?:(?:hi|hello|hey|thanks?(?: you)?(?: so much| very much| a lot)?|ok(?:ay)?|yes|no|sure|great|cool|lol|bye|"
    r"goodbye|good (?:morning|evening|night)|welcome|you['’]re welcome|got it|i see|hola|gracias|merci|bonjour|danke|"
    r"hallo|obrigad[oa]|ciao|grazie|spasibo|спасибо|привет|xin chào|cảm ơn|谢谢|你好|ありがとう|こんにちは)\W*)+",
    re.IGNORECASE,
)
_FAILURE = re.compile(
    r"\b(?:as an ai(?: language)? model|i (?:cannot|can['’]t|am unable to) (?:help|assist|comply)|no (?:facts?|memor"
    r"(?:y|ies)|information) (?:was |were |is |are )?(?:found|given|provided|available|to (?:store|extract)))\b"
    r"|^\W*(?:none|null|undefined|nan|n/?a|todo|test(?:ing)?|lorem ipsum.*)\W*$|\bTraceback \(most recent call last\)",
    re.IGNORECASE,
)


def _has_hardly_any_letters(text: str) -> bool:
    return sum(character.isalnum() for character in text) < 2 or not any(map(str.isalpha, text))


JUNK: tuple[tuple[Callable[[str], object], str], ...] = (
    (looks_like_instruction, "It tries to steer the agent or its memory rather than to say something."),
    (_has_hardly_any_letters, "It holds hardly any letters."),
    (_LINK.fullmatch, "It is a bare link."),
    (_COURTESY.fullmatch, "It is a greeting or thanks, and says nothing."),
    (_FAILURE.search, "It is what a program or model says when it has nothing to say."),
    (_REPEATED.search, "It repeats itself over and over."),
    (is_question, "It is a question, not a fact."),
)
"""What makes a text junk, and how that is said; the first that applies counts. To teach one, add a row."""


def junk(survey: Survey) -> list[Finding]:
    """Memories that say nothing, and instruction-like ones first of all."""
    findings = []
    for done, at in enumerate(np.flatnonzero(survey.is_open).tolist()):
        if done % 1000 == 0:
            survey.watch.at(done / len(survey.records))
        record = survey.records[at]
        if (reason := junk_reason(record.content)) is not None:
            weight = 1.0 if reason == JUNK[0][1] else 0.0
            findings.append(found("junk", [record], reason, proposed("forget", record), weight=weight))
    return sorted(findings, key=lambda each: (-each.weight, each.refs))


def junk_reason(text: str) -> str | None:
    """Why the text is junk, or None."""
    return next((reason for test, reason in JUNK if test(text)), None)
