"""`Settings`: what the command passes to the dashboard's script, by environment variables."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mnemoscope import ConfigurationError
from mnemoscope.connections import CONFIG_VARIABLE
from mnemoscope.core import shown
from mnemoscope.index import DEFAULT_INDEX_BYTES

INDEX_MEMORY = "MNEMOSCOPE_INDEX_MEMORY"


@dataclass(frozen=True)
class Variable:
    """One environment variable: its name and what it sets."""

    name: str
    help: str


VARIABLES: dict[str, Variable] = {
    "store": Variable("MNEMOSCOPE_STORE", "The store: the path of an SQLite file, or an address."),
    "config": Variable(CONFIG_VARIABLE, "The file with the connections."),
    "connection": Variable("MNEMOSCOPE_CONNECTION", "The connection of that file to begin with."),
    "model": Variable("MNEMOSCOPE_MODEL", 'The chat model, such as "anthropic:…"; without one, rules extract facts.'),
    "embedder": Variable("MNEMOSCOPE_EMBEDDER", 'What embeds in the store: "bundled", "hashing", "provider:model".'),
    "next_embedder": Variable("MNEMOSCOPE_NEXT_EMBEDDER", "The embedder that the store is to go over to."),
    "profile": Variable("MNEMOSCOPE_PROFILE", "The profile: its weights and thresholds."),
    "operator": Variable("MNEMOSCOPE_OPERATOR", "The name under which your changes are journalled."),
    "is_writing": Variable("MNEMOSCOPE_WRITE", "1 starts the dashboard with writing switched on."),
    "role": Variable("MNEMOSCOPE_ROLE", "What may be done by whom no [roles] table names: viewer, editor or admin."),
    "is_read_only": Variable("MNEMOSCOPE_READ_ONLY", "1 makes every connection read-only, whatever its own setting."),
    "index_megabytes": Variable(INDEX_MEMORY, "Megabytes that the indexes of all connections may take together."),
}


@dataclass(frozen=True)
class Settings:
    """What was asked for on the command line and in the environment; None where it was not.

    `store` names one store beside those of the file `config`; `connection` is the one to begin with. `model`,
    `profile` and `is_read_only` hold for every connection, `embedder` and `next_embedder` for `store`. `role` is
    what people may do whom no [roles] table names. `index_megabytes` is what all indexes may take in memory.
    """

    store: str | None
    model: str | None
    operator: str
    is_writing: bool = False
    config: str | None = None
    connection: str | None = None
    embedder: str | None = None
    next_embedder: str | None = None
    profile: str | None = None
    is_read_only: bool = False
    role: str | None = None
    index_megabytes: str | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """The settings named by the environment, with defaults for the rest."""
        given = {field: environment.get(variable.name, "").strip() for field, variable in VARIABLES.items()}
        return cls(
            store=given["store"] or None,
            model=given["model"] or None,
            operator=given["operator"] or _login_name(),
            is_writing=_is_yes(given["is_writing"]),
            config=given["config"] or None,
            connection=given["connection"] or None,
            embedder=given["embedder"] or None,
            next_embedder=given["next_embedder"] or None,
            profile=given["profile"] or None,
            is_read_only=_is_yes(given["is_read_only"]),
            role=given["role"] or None,
            index_megabytes=given["index_megabytes"] or None,
        )

    @property
    def index_bytes(self) -> int:
        """What all indexes may take in memory.

        Raises:
            ConfigurationError: it is no number, or too small for anything.
        """
        if self.index_megabytes is None:
            return DEFAULT_INDEX_BYTES
        if not self.index_megabytes.isdecimal() or not int(self.index_megabytes):
            raise ConfigurationError(
                f"{INDEX_MEMORY} is {shown(self.index_megabytes)}; give whole megabytes from 1, such as "
                f"{DEFAULT_INDEX_BYTES // 1_000_000}."
            )
        return int(self.index_megabytes) * 1_000_000

    def to_environment(self) -> dict[str, str]:
        """The environment variables from which `from_environment` makes these settings."""
        values = {field: getattr(self, field) for field in VARIABLES}
        return {
            VARIABLES[field].name: ("1" if value else "") if isinstance(value, bool) else value or ""
            for field, value in values.items()
        }


def data_folder() -> Path:
    """The folder of this user's own data, as the operating system names it."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "mnemoscope"


def _is_yes(text: str) -> bool:
    return text.casefold() in ("1", "true", "yes", "on")


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "operator"
