"""One step of a check-up: what was looked at, what was seen, and what to do."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

__all__ = ["STEPS", "Check", "State"]


State: TypeAlias = Literal["good", "warning", "bad", "skipped"]

STEPS = (
    "Configuration",
    "Embedder",
    "Reachable",
    "Tables",
    "pgvector",
    "Index",
    "Dimensions",
    "Clock",
    "Permissions",
    "Counts",
    "Embedder identity",
    "Self-check",
    "Model",
)
"""The names of all steps, in their order."""


@dataclass(frozen=True)
class Check:
    """One step: its name, how it went, what was seen, and what to do where it is not good.

    `command` is what there is to copy for it: SQL, or a line for a terminal.
    """

    name: str
    state: State
    report: str
    remedy: str = ""
    command: str = ""

    def to_value(self) -> dict[str, str]:
        """The step as plain data."""
        return asdict(self)
