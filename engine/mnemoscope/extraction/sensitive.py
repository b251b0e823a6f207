"""Secrets and personal data in memories: found by their form, and shown masked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["SENSITIVE", "Sensitive", "masked", "sensitive_parts"]


class Sensitive(NamedTuple):
    """One kind of sensitive text: its name with an article, its form, and a check of what has that form."""

    name: str
    pattern: re.Pattern[str]
    is_secret: bool
    check: Callable[[str], bool] = bool


def _is_card(text: str) -> bool:
    digits = [int(each) for each in text if each.isdigit()]
    doubled = [digit if at % 2 == 0 else digit * 2 - 9 * (digit > 4) for at, digit in enumerate(reversed(digits))]
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and sum(doubled) % 10 == 0


def _is_iban(text: str) -> bool:
    plain = "".join(text.split()).upper()
    moved = plain[4:] + plain[:4]
    return 15 <= len(plain) <= 34 and int("".join(str(int(each, 36)) for each in moved)) % 97 == 1


def _is_phone(text: str) -> bool:
    digits = sum(each.isdigit() for each in text)
    dates = re.fullmatch(r"\W*\d{4}[-./ ]\d{1,2}[-./ ]\d{1,2}\W*|\W*\d{1,2}[-./ ]\d{1,2}[-./ ]\d{4}\W*", text)
    grouped = text.lstrip().startswith(("+", "(", "0")) or len(re.findall(r"\d+", text)) > 2
    return 8 <= digits <= 15 and grouped and not dates


SENSITIVE: tuple[Sensitive, ...] = (
    Sensitive("a card number", re.compile(r"(?<![\w.])\d(?:[ -]?\d){12,18}(?![\w-])"), True, _is_card),
    Sensitive(
        "a bank account (IBAN)",
        re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"),
        True,
        _is_iban,
    ),
    Sensitive(
        "a private key",
        re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*-----|$)", re.DOTALL),
        True,
    ),
    Sensitive("a web token", re.compile(r"\beyJ[\w-]{10,}\.[\w-]{5,}(?:\.[\w-]*)?"), True),
    Sensitive(
        "an access key",
        re.compile(
            r"\b(?:(?:sk|pk|rk)[-_](?:live[-_]|test[-_]|proj[-_]|ant[-_])?[\w-]{12,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|"
            r"AKIA[0-9A-Z]{12,}|xox[abprs]-[\w-]{10,}|AIza[\w-]{20,}|glpat-[\w-]{10,}|npm_\w{20,}|hf_\w{20,})"
        ),
        True,
    ),
    Sensitive("a password in a link", re.compile(r"\b[a-z][\w+.-]*://[^\s/:@]+:[^\s/@]+@[\w.-]*"), True),
    Sensitive(
        "a password",
        re.compile(
            r"\b(?:pass(?:word|code|phrase)|pwd|passwort|contraseña|mot de passe|senha|пароль|mật khẩu|"
            r"wachtwoord|hasło|şifre)\b[^\n.]{0,20}?(?:\bis\b|:|=|\bist\b|\bes\b|\best\b|\blà\b)\s*(?P<secret>\S{3,})",
            re.IGNORECASE,
        ),
        True,
    ),
    Sensitive("a social security number", re.compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])"), True),
    Sensitive(
        "an e-mail address", re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}\b"), False
    ),
    Sensitive(
        "a phone number",
        re.compile(r"(?<![\w.,/-])(?<!\d[ -])(?:\+|\(|00)?\d(?:[ ().-]{0,2}\d){7,14}(?![\w-]| \d)"),
        False,
        _is_phone,
    ),
)
"""What is sensitive, the more dangerous first. To teach one, add a row."""


def sensitive_parts(text: str) -> list[tuple[Sensitive, str]]:
    """What is sensitive in the text, each place once, by the first kind that it is."""
    plain = unicodedata.normalize("NFKC", text)
    taken: list[tuple[int, int]] = []
    parts = []
    for kind in SENSITIVE:
        for match in kind.pattern.finditer(plain):
            span = match.span("secret") if "secret" in match.groupdict() else match.span()
            part = plain[slice(*span)]
            if any(start < span[1] and span[0] < end for start, end in taken) or not kind.check(part):
                continue
            taken.append(span)
            parts.append((kind, part))
    return parts


def masked(text: str) -> str:
    """The text with all but its ends hidden; a short one wholly, and never more than eight marks."""
    kept = 2 if len(text) >= 12 else 0
    marks = "•" * min(len(text) - 2 * kept, 8)
    return f"{text[:kept]}{marks}{text[len(text) - kept :]}"
