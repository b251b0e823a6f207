"""The `mnemoscope` command, and its parts that start the dashboard or check what it stands on.

Those for scripts have modules of their own. A further command is one module with a `click.Command`, and one entry in
`COMMANDS`.
"""

from __future__ import annotations

import json
from typing import Any

import click

from app.commands.curate import adopt, retain, worklist
from app.commands.edit import merge, move, update
from app.commands.evaluate import evaluate
from app.commands.history import forget, history, undo
from app.commands.options import model_option, operator_option, role_option, said_plainly, settings_from, store_options
from app.commands.recall import listing, recall
from app.commands.reembed import reembed
from app.commands.remember import remember
from app.commands.replay import replay
from app.commands.transfer import export, importing
from app.commands.trash import allow, erase, restore, trash

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


@click.command()
@store_options
@model_option
@click.option("--json", "as_json", is_flag=True, help="Print the steps as JSON.")
def doctor(*, as_json: bool, is_read_only: bool, **given: Any) -> None:
    """Check a connection step by step, and say what to do; nothing is written."""
    from app.session.diagnosis import MARKS, examine

    settings = settings_from(read_only=is_read_only, **given)
    with said_plainly():
        name, steps = examine(settings)
    checks = []
    for check in steps:
        checks.append(check)
        if as_json:
            continue
        mark, colour = MARKS[check.state]
        click.echo(f"{click.style(mark, fg=colour, bold=check.state == 'bad')} {check.name}: {check.report}")
        for line in filter(None, (check.remedy, check.command)):
            click.echo(f"     {line}")
    has_failed = any(check.state == "bad" for check in checks)
    if as_json:
        steps_as_data = [check.to_value() for check in checks]
        click.echo(json.dumps({"connection": name, "is_good": not has_failed, "steps": steps_as_data}, indent=2))
    if has_failed:
        raise SystemExit(1)


SCRIPTS: list[click.Command] = [
    *(recall, remember, listing, evaluate, export, importing),
    *(update, merge, move, forget, trash, restore, allow, erase),
    *(history, undo, worklist, adopt, retain, reembed),
]
"""The commands for scripts, on one connection each."""

COMMANDS: list[click.Command] = [run, demo, doctor, replay, *SCRIPTS]
"""Every command, in the order of the help."""


class _RunByDefault(click.Group):
    """A group that takes arguments without a command's name as those of `run`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] not in ("-h", "--help", "--version")):
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_RunByDefault, commands=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mnemoscope", prog_name="mnemoscope")
def mnemoscope() -> None:
    """See, explain, tune and repair what LangGraph agents remember.

    Without a command, the dashboard starts on your stores, with the options of `run`.
    """
