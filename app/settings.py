"""`Settings`: what the command passes to the dashboard's script, by environment variables."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["VARIABLES", "Settings", "Variable", "data_folder"]


@dataclass(frozen=True)
class Variable:
    """One environment variable: its name and what it sets."""

    name: str
    help: str


VARIABLES: dict[str, Variable] = {
    "store": Variable("MNEMOSCOPE_STORE", "The SQLite file with the memories."),
    "model": Variable("MNEMOSCOPE_MODEL", 'The chat model, such as "anthropic:…"; without one, rules extract facts.'),
    "operator": Variable("MNEMOSCOPE_OPERATOR", "The name under which your changes are journalled."),
    "is_writing": Variable("MNEMOSCOPE_WRITE", "1 starts the dashboard with writing switched on."),
}


@dataclass(frozen=True)
class Settings:
    """Which store to open, with which model, for whom, and whether writing starts switched on."""

    store: str
    model: str | None
    operator: str
    is_writing: bool = False

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """The settings named by the environment, with defaults for the rest."""
        given = {field: environment.get(variable.name, "").strip() for field, variable in VARIABLES.items()}
        return cls(
            store=given["store"] or str(data_folder() / "memories.sqlite"),
            model=given["model"] or None,
            operator=given["operator"] or _login_name(),
            is_writing=given["is_writing"].casefold() in ("1", "true", "yes", "on"),
        )

    def to_environment(self) -> dict[str, str]:
        """The environment variables from which `from_environment` makes these settings."""
        values = {
            "store": self.store,
            "model": self.model or "",
            "operator": self.operator,
            "is_writing": "1" if self.is_writing else "",
        }
        return {VARIABLES[field].name: value for field, value in values.items()}


def data_folder() -> Path:
    """The folder of this user's own data, as the operating system names it."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "mnemoscope"


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "operator"
