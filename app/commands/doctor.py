"""`mnemoscope doctor`: check what a connection needs, step by step."""

from __future__ import annotations

import json
from typing import Any

import click

from app.commands.options import model_option, said_plainly, settings_from, store_options


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
