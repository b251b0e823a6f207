"""`Roles`: who may only look, who may change memories, and who may also erase, clear and import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from ..core.text import shown
from ..errors import ConfigurationError
from .keys import check_keys

__all__ = ["ROLES", "Role", "Roles", "may", "read_role", "read_roles"]


Role: TypeAlias = Literal["viewer", "editor", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
"""Every role, each of which may do what those before it may."""


@dataclass(frozen=True)
class Roles:
    """The roles of people by the name under which they sign in, in lower case; `default` is everybody else's."""

    people: Mapping[str, Role] = field(default_factory=dict)
    default: Role | None = None

    def of(self, person: str | None) -> Role:
        """The role of somebody who has signed in or, with None, of whoever uses a dashboard without sign-in.

        Without a default the first may look and the second, who started the dashboard, may do everything.
        """
        if person is None:
            return self.default or "admin"
        return self.people.get(person.casefold(), self.default or "viewer")


def may(role: Role, needed: Role) -> bool:
    """Whether somebody of this role may do what takes that role."""
    return ROLES.index(role) >= ROLES.index(needed)


def read_role(value: object, *, where: str) -> Role:
    """The role that a setting names.

    Raises:
        ConfigurationError: there is no such role.
    """
    for role in ROLES:
        if role == value:
            return role
    raise ConfigurationError(f"{where} = {shown(value)}: allowed is {', '.join(ROLES)}. Name one of them.")


def read_roles(table: object, *, where: str) -> Roles:
    """The roles of a [roles] table: `default`, and lists of people under `viewer`, `editor` and `admin`.

    Raises:
        ConfigurationError: a key or value is not of that form, or somebody is named twice.
    """
    if not isinstance(table, dict):
        raise ConfigurationError(f'{where} is a table; write [roles] above admin = ["ana@example.org"].')
    check_keys(table, ["default", *ROLES], where=where)
    people: dict[str, Role] = {}
    for role in ROLES:
        for name in _names(table, role, where):
            if people.setdefault(name, role) != role:
                raise ConfigurationError(f"{where}: {name!r} is named as {people[name]} and as {role}; keep one.")
    default = read_role(table["default"], where=f"{where}, default") if "default" in table else None
    return Roles(people, default)


def _names(table: Mapping[str, Any], role: Role, where: str) -> list[str]:
    names = table.get(role, [])
    if not isinstance(names, list) or not all(isinstance(name, str) and name.strip() for name in names):
        raise ConfigurationError(
            f'{where}, {role} = {shown(names)}: allowed is a list of names, such as ["ana@example.org"]. Correct it.'
        )
    return [name.strip().casefold() for name in names]
