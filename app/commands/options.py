"""Options and manners that the commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import click
from mnemoscope import MnemoscopeError
from mnemoscope.connections import ROLES, SCHEMES
from mnemoscope.core import has_literal_secret

from app.session.settings import VARIABLES, Settings

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _option(field: str, *names: str, default: str = "", **more: Any) -> Callable[[_Command], _Command]:
    variable = VARIABLES[field]
    said = f"{variable.help} Default: ${variable.name}{default}."
    return click.option(*names, help=said, **more)


model_option = _option("model", "--model")
operator_option = _option("operator", "--operator", default=", or your login name")
role_option = _option("role", "--role", default=", or admin", type=click.Choice(ROLES))

_STORE_OPTIONS = (
    _option("store", "--store", default=", or a file in your data folder"),
    _option("config", "--config", default=", or mnemoscope.toml here or in your configuration folder"),
    _option("connection", "--connection", default=", or the first one"),
    _option("embedder", "--embedder", default=', or "bundled"'),
    _option("next_embedder", "--next-embedder"),
    _option("profile", "--profile", default=", or the connection's own"),
    _option("is_read_only", "--read-only", "is_read_only", is_flag=True),
)


def store_options(command: _Command) -> _Command:
    """The options that say which store to open, and how."""
    for option in reversed(_STORE_OPTIONS):
        command = option(command)
    return command


def settings_from(*, write: bool = False, read_only: bool = False, **given: str | None) -> Settings:
    """The environment's settings with the options that were given in their place.

    Raises:
        click.UsageError: an address on the command line spells out a password.
    """
    settings = Settings.from_environment()
    named = {field: value for field, value in given.items() if value}
    if "store" in named:
        named["store"] = _store(named["store"])
    return replace(
        settings,
        **named,
        is_writing=write or settings.is_writing,
        is_read_only=read_only or settings.is_read_only,
    )


@contextmanager
def said_plainly() -> Iterator[None]:
    """Turn this library's errors into one line on the terminal and exit code 1."""
    try:
        yield
    except MnemoscopeError as error:
        raise click.ClickException(str(error)) from error


def _store(store: str) -> str:
    if has_literal_secret(store):
        raise click.UsageError(
            "--store spells out a password, which others on this machine can see. Put it in an environment variable "
            f"and write '${{NAME}}' in its place, or set {VARIABLES['store'].name} instead."
        )
    is_address = store.partition(":")[0] in SCHEMES or "://" in store or store.startswith("${")
    return store if is_address else os.path.abspath(store)
