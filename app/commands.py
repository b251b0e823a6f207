"""The `mnemoscope` command and its parts that start the dashboard or check what it stands on.

A further command is one module with a `click.Command`, and one entry in `COMMANDS`.
"""

from __future__ import annotations

import click

from app.options import model_option, operator_option, said_plainly, settings_from, store_option

__all__ = ["COMMANDS", "demo", "doctor", "mnemoscope", "run"]

_port_option = click.option(
    "--port", type=click.IntRange(1, 65535), help="Port on this machine. Default: the first free one from 8501."
)
_browser_option = click.option("--no-browser", is_flag=True, help="Do not open a browser.")


@click.command()
@store_option
@model_option
@operator_option
@click.option("--write", is_flag=True, help="Start with writing switched on.")
@_port_option
@_browser_option
def run(
    *, store: str | None, model: str | None, operator: str | None, write: bool, port: int | None, no_browser: bool
) -> None:
    """Start the dashboard on your store."""
    from app import server

    settings = settings_from(store=store, model=model, operator=operator, write=write)
    server.serve(settings, port=port, opens_browser=not no_browser)


@click.command()
@click.option("--fresh", is_flag=True, help="Build the sample data anew; changes made to it are lost.")
@model_option
@operator_option
@_port_option
@_browser_option
def demo(*, fresh: bool, model: str | None, operator: str | None, port: int | None, no_browser: bool) -> None:
    """Start the dashboard on sample data, with writing switched on."""
    from app import server, trial

    if fresh or not trial.trial_path().exists():
        click.echo("Building the sample store …")
    with said_plainly():
        path = trial.ensure_trial(fresh=fresh)
    settings = settings_from(store=str(path), model=model, operator=operator, write=True)
    server.serve(settings, port=port, opens_browser=not no_browser)


@click.command()
@store_option
@model_option
def doctor(*, store: str | None, model: str | None) -> None:
    """Check store, embedder and model, and say what to do."""
    from app.diagnosis import examine

    findings = examine(settings_from(store=store, model=model))
    for finding in findings:
        mark = click.style("ok  ", fg="green") if finding.is_good else click.style("FAIL", fg="red", bold=True)
        click.echo(f"{mark} {finding.subject}: {finding.report}")
        if finding.remedy:
            click.echo(f"     {finding.remedy}")
    if not all(finding.is_good for finding in findings):
        raise SystemExit(1)


COMMANDS: list[click.Command] = [run, demo, doctor]
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

    Without a command, the dashboard starts on your store, with the options of `run`.
    """
