"""Profiles by name, from everywhere they can be: presets, `mnemoscope.toml`, and those saved in the store."""

from __future__ import annotations

from mnemoscope import ConfigurationError, MemoryEngine
from mnemoscope.connections import load_connections
from mnemoscope.recall import Profile, ProfileBook

PRESENT = "in use"


"""Names the configuration that the connection has, which need not have a name of its own."""


def list_profiles(engine: MemoryEngine, config_file: str | None) -> dict[str, Profile]:
    """The profile in use, then the presets, those of the file and the saved ones; of one name the later counts.

    Raises:
        ConfigurationError: the file cannot be used.
    """
    found = {PRESENT: Profile(PRESENT, engine.config)}
    found |= {name: Profile(name, config) for name, config in load_connections(config_file).profiles.items()}
    return found | ProfileBook(engine.adapter).all()


def find_profile(name: str, known: dict[str, Profile]) -> Profile:
    """The profile of this name.

    Raises:
        ConfigurationError: there is none.
    """
    if name not in known:
        raise ConfigurationError(f"There is no profile {name!r}; there are {', '.join(known)}.")
    return known[name]
