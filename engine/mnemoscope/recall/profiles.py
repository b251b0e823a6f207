"""Profiles: named configurations, kept in the store by the dashboard and written out as TOML or Python."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ..config import MemoryConfig
from ..core.text import shown
from ..core.times import Clock, to_iso, utc_now
from ..core.validation import check_given, check_kind
from ..errors import InputError, MnemoscopeError
from ..journal.changes import Edit, book
from ..journal.shelves import shelf_edits
from ..stores.base import StoreAdapter

__all__ = ["Profile", "ProfileBook", "profile_to_python", "profile_to_toml", "read_profile"]


_NAME = re.compile(r"\w[\w .@-]{0,59}")


@dataclass(frozen=True)
class Profile:
    """A configuration with a name.

    Raises:
        InputError: the name is none: up to 60 letters, digits, spaces and any of '_-.@', or there is no configuration.
    """

    name: str
    config: MemoryConfig

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise InputError(
                f"A profile's name has at most 60 letters, digits, spaces and any of '_-.@', got {shown(self.name)}."
            )
        check_kind("config", self.config, MemoryConfig)


class ProfileBook:
    """The profiles that are kept in a store, under our own root; agents never see them."""

    def __init__(self, adapter: StoreAdapter, clock: Clock = utc_now) -> None:
        self._adapter = adapter
        self._clock = clock

    def all(self) -> dict[str, Profile]:
        """The profiles by name; what cannot be read as one is passed over."""
        items = self._adapter.load(book("profiles")).items
        found = [read for item in items if (read := read_profile(item.key, item.value)) is not None]
        return {each.name: each for each in sorted(found, key=lambda each: each.name.casefold())}

    def saving(self, profile: Profile, *, reason: str = "") -> list[Edit]:
        """The edits that keep a profile in the place of an earlier one of its name."""
        check_kind("profile", profile, Profile)
        value = {"kind": "profile", "saved_at": to_iso(self._clock()), "config": _settings(profile.config)}
        return shelf_edits(self._adapter, [((book("profiles"), profile.name), value)], reason=reason)

    def deleting(self, name: str, *, reason: str = "") -> list[Edit]:
        """The edits that delete the profile of this name."""
        check_given("name", name)
        return shelf_edits(self._adapter, [((book("profiles"), name), None)], reason=reason)


def profile_to_toml(profile: Profile) -> str:
    """The profile as a table for `mnemoscope.toml`; a connection uses it by `profile = "<name>"`."""
    lines = [f'[profiles."{profile.name}"]']
    lines += [f"{name} = {_literal(value)}" for name, value in _settings(profile.config).items()]
    return "\n".join(lines) + "\n"


def profile_to_python(profile: Profile) -> str:
    """The profile as a line of Python, with what differs from the defaults."""
    changed = ", ".join(f"{name}={value!r}" for name, value in _settings(profile.config, changed_alone=True).items())
    return f"engine = MemoryEngine(store, model, config=MemoryConfig({changed}))"


def _settings(config: MemoryConfig, *, changed_alone: bool = False) -> dict[str, Any]:
    return {
        each.name: getattr(config, each.name)
        for each in fields(config)
        if not changed_alone or getattr(config, each.name) != each.default
    }


def _literal(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def read_profile(name: str, value: object) -> Profile | None:
    """The profile that is stored as this; None where it is none."""
    if not isinstance(value, Mapping) or not isinstance(value.get("config"), Mapping):
        return None
    known = {each.name for each in fields(MemoryConfig)}
    try:
        # Profiles of an earlier version have the minimum beside the configuration.
        settings = {"min_score": value.get("min_score", 0.0), **value["config"]}
        return Profile(name, MemoryConfig(**{key: part for key, part in settings.items() if key in known}))
    except MnemoscopeError:
        return None
