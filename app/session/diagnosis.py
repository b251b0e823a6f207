"""What `mnemoscope doctor` and the Connect page look at: one connection, step by step, as people see it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mnemoscope.connections import Connection
from mnemoscope.health import Check, State, check_up

from app.session import connections
from app.session.settings import Settings
from app.text.display import safe

MARKS: dict[State, tuple[str, str | None]] = {
    "good": ("ok  ", "green"),
    "warning": ("warn", "yellow"),
    "bad": ("FAIL", "red"),
    "skipped": ("-   ", None),
}


"""How a step's state is written on a terminal, and in which colour."""


def examine(settings: Settings) -> tuple[str, Iterator[Check]]:
    """The name of the connection that the settings begin with, and its steps, each done when it is asked for.

    Raises:
        ConfigurationError: the configuration cannot be used.
    """
    connection = connections.read_catalogue(settings).find(None)
    return connection.name, run_steps(connection)


def run_steps(connection: Connection, *, asks_model: bool = True) -> Iterator[Check]:
    """The steps of a connection's check-up, safe to be shown."""
    for check in check_up(connection, asks_model=asks_model):
        yield replace(
            check, report=safe(check.report, 1_000), remedy=safe(check.remedy, 1_000), command=safe(check.command)
        )
