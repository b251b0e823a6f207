"""`mnemoscope run` and `mnemoscope demo`: start the dashboard."""

from __future__ import annotations

from typing import Any

import click

from app.commands.options import model_option, operator_option, role_option, said_plainly, settings_from, store_options

_port_option = click.option(
    "--port", type=click.IntRange(1, 65535), help="Port on this machine. Default: the first free one from 8501."
)
_write_option = click.option("--write", is_flag=True, help="Start with writing switched on.")
_browser_option = click.option("--no-browser", is_flag=True, help="Do not open a browser.")


@click.command()
@store_options
@model_option
@operator_option
@role_option
@_write_option
@_port_option
@_browser_option
def run(*, port: int | None, no_browser: bool, is_read_only: bool, **given: Any) -> None:
    """Start the dashboard on your stores."""
    from app.session import connections
    from app.shell import server

    settings = settings_from(read_only=is_read_only, **given)
    with said_plainly():
        connections.read_catalogue(settings)
    server.serve(settings, port=port, opens_browser=not no_browser)


@click.command()
@click.option("--fresh", is_flag=True, help="Build the sample data anew; changes made to it are lost.")
@model_option
@operator_option
@role_option
@_write_option
@_port_option
@_browser_option
def demo(*, fresh: bool, port: int | None, no_browser: bool, **given: Any) -> None:
    """Start the dashboard on sample data; like every store, it opens for reading."""
    from app.shell import server, trial

    if fresh or not trial.trial_path().exists():
        click.echo("Building the sample store …")
    with said_plainly():
        path = trial.ensure_trial(fresh=fresh)
    settings = settings_from(store=str(path), **given)
    server.serve(settings, port=port, opens_browser=not no_browser)
