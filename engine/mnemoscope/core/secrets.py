"""Secrets in addresses and headers: filled in from the environment, never shown.

`${NAME}` stands for an environment variable. What people see is always the text with `${NAME}` in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, quote, unquote

from ..errors import ConfigurationError

__all__ = ["MASK", "expand", "has_literal_secret", "is_secret_name", "masked", "scrub", "secrets_in"]


MASK = "***"

_PLACEHOLDER = re.compile(r"\$\{([^{}]*)\}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Greedy, so that a password with "/" or "@" in it is hidden whole rather than shown in part.
_PASSWORD = re.compile(r"(?P<head>://[^:@/?#]*:)(?P<secret>.*)(?=@)", re.DOTALL)
_PARAMETER = re.compile(r"(?P<head>[?&;](?P<name>[^=&;#]+)=)(?P<secret>[^&;#]*)")
_SECRET_NAME = re.compile(r"pass|pwd|secret|token|api.?key|auth|cookie|credential", re.IGNORECASE)


def expand(text: str, environment: Mapping[str, str], *, what: str) -> str:
    """The text with every `${NAME}` replaced by the environment variable of that name.

    In the user part and the parameters of an address the values are percent-encoded, so that any password
    can be used as it is.

    Raises:
        ConfigurationError: a variable is not set, or is no name. `what` says where the text is from.
    """

    def filled(match: re.Match[str]) -> str:
        name = match.group(1)
        if not _VARIABLE.fullmatch(name):
            raise ConfigurationError(f"{what}: ${{{name}}} is no variable's name; write ${{NAME}}.")
        value = environment.get(name)
        if not value:
            raise ConfigurationError(f"{what}: the environment variable {name} is not set; export it and try again.")
        return quote(value, safe="") if _is_encoded_part(text, match.start()) else value

    return _PLACEHOLDER.sub(filled, text)


def masked(text: str) -> str:
    """An address with every literal password and secret parameter replaced by `MASK`; `${NAME}` stays."""
    hidden = _PASSWORD.sub(lambda match: match.group("head") + _mask(match.group("secret")), text)
    return _PARAMETER.sub(_mask_parameter, hidden)


def has_literal_secret(text: str) -> bool:
    """Whether an address spells out a password or a secret parameter."""
    return masked(text) != text


def is_secret_name(name: str) -> bool:
    """Whether a header or parameter of this name usually holds a secret."""
    return bool(_SECRET_NAME.search(name))


def secrets_in(address: str) -> list[str]:
    """The secrets that an expanded address holds, encoded and decoded."""
    found = [match.group("secret") for match in _PASSWORD.finditer(address)]
    found += [value for name, value in parse_qsl(address.partition("?")[2]) if is_secret_name(name)]
    return list(dict.fromkeys(each for secret in found for each in (secret, unquote(secret), quote(secret, safe=""))))


def scrub(text: str, secrets: Iterable[str]) -> str:
    """The text with every secret replaced by `MASK`, the longest first."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text


def _is_encoded_part(text: str, position: int) -> bool:
    start, at, question = text.find("://"), text.rfind("@"), text.find("?")
    return -1 < start < position < at or -1 < question < position


def _mask(secret: str) -> str:
    return secret if not secret or _PLACEHOLDER.fullmatch(secret) else MASK


def _mask_parameter(match: re.Match[str]) -> str:
    if not is_secret_name(match.group("name")):
        return match.group()
    return match.group("head") + _mask(match.group("secret"))
