"""Options and manners that the commands share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import click
from mnemoscope.errors import MnemoscopeError

from app.settings import VARIABLES, Settings

__all__ = ["model_option", "operator_option", "said_plainly", "settings_from", "store_option"]

store_option = click.option(
    "--store",
    type=click.Path(dir_okay=False),
    help=f"{VARIABLES['store'].help} Default: ${VARIABLES['store'].name}, or a file in your data folder.",
)
model_option = click.option("--model", help=f"{VARIABLES['model'].help} Default: ${VARIABLES['model'].name}.")
operator_option = click.option(
    "--operator", help=f"{VARIABLES['operator'].help} Default: ${VARIABLES['operator'].name}, or your login name."
)


def settings_from(
    *, store: str | None = None, model: str | None = None, operator: str | None = None, write: bool = False
) -> Settings:
    """The environment's settings with the options that were given in their place."""
    settings = Settings.from_environment()
    return replace(
        settings,
        store=os.path.abspath(store) if store else settings.store,
        model=model or settings.model,
        operator=operator or settings.operator,
        is_writing=write or settings.is_writing,
    )


@contextmanager
def said_plainly() -> Iterator[None]:
    """Turn this library's errors into one line on the terminal and exit code 1."""
    try:
        yield
    except MnemoscopeError as error:
        raise click.ClickException(str(error)) from error
