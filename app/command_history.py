"""`mnemoscope history`, `mnemoscope undo` and `mnemoscope forget`: what was changed, taken back, and withdrawn."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import click
from mnemoscope.changes import ACTIONS

from app.options import operator_option, role_option
from app.scripting import (
    NAMESPACE_OPTION,
    REASON_OPTION,
    SUBTREE_OPTION,
    change_value,
    print_changes,
    print_json,
    print_records,
    record_value,
    script_options,
    working_engine,
)

__all__ = ["forget", "history", "undo"]


@click.command()
@script_options
@click.option("--namespace", default="", help='The namespace, such as "memories/ana"; the whole store by default.')
@SUBTREE_OPTION
@click.option("--key", help="The changes of this memory alone.")
@click.option("--group", help="The changes of this group alone.")
@click.option("--by", help="The changes that this actor made.")
@click.option("--action", type=click.Choice(ACTIONS), help="The changes of this kind.")
@click.option("--run", help="The changes that came of this run.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="How many at most.")
def history(*, as_json: bool, **options: Any) -> None:
    """List changes, the latest first: when, what, by whom, the group to undo it by, where, and the text."""
    names = ("namespace", "subtree", "key", "group", "by", "action", "run", "limit")
    asked = {name: options.pop(name) for name in names}
    with working_engine(options) as engine:
        changes = engine.history(**asked)
    if as_json:
        print_json([change_value(change) for change in changes])
    else:
        print_changes(changes)


@click.command()
@click.argument("change")
@script_options
@operator_option
@role_option
@REASON_OPTION
def undo(*, change: str, as_json: bool, reason: str, **options: Any) -> None:
    """Take back CHANGE, the id of a change or of a group; nothing, where a memory has changed since."""
    with working_engine(options, writing=True) as engine:
        changes = engine.undo(change, reason=reason)
    if as_json:
        print_json([change_value(each) for each in changes])
    else:
        print_changes(changes)


@click.command()
@script_options
@operator_option
@role_option
@NAMESPACE_OPTION
@click.option("--key", "keys", multiple=True, help="This memory; repeatable.")
@click.option("--category", "categories", multiple=True, help="Those with this category; repeatable.")
@click.option("--older-than", type=click.FloatRange(0), help="Those that did not change for so many days.")
@click.option("--not-recalled", type=click.FloatRange(0), help="Those that were not recalled for so many days.")
@click.option("--importance-below", type=click.FloatRange(0, 1), help="Those of less importance.")
@click.option("--source", help="Those of this source.")
@click.option("--dry-run", is_flag=True, help="Say what would be forgotten, and write nothing.")
@REASON_OPTION
def forget(
    *,
    keys: tuple[str, ...],
    categories: tuple[str, ...],
    older_than: float | None,
    not_recalled: float | None,
    as_json: bool,
    dry_run: bool,
    **options: Any,
) -> None:
    """Forget the memories of a namespace that meet all that is given; they can be restored."""
    asked = {name: options.pop(name) for name in ("namespace", "importance_below", "source", "reason")}
    criteria = (older_than, not_recalled, asked["importance_below"], asked["source"])
    if not keys and not categories and all(each is None for each in criteria):
        raise click.UsageError(
            "Say which memories to forget: --key, --category, --older-than, --not-recalled, --importance-below or "
            "--source."
        )
    with working_engine(options, writing=not dry_run) as engine:
        forgotten = engine.forget(
            **asked,
            keys=keys or None,
            categories=categories or None,
            older_than=_days(older_than),
            not_recalled_since=_days(not_recalled),
            dry_run=dry_run,
        )
    if as_json:
        sample = [record_value(record) for record in forgotten.sample]
        print_json({"forgotten": int(forgotten), "dry_run": dry_run, "group": forgotten.group, "sample": sample})
        return
    print_records(forgotten.sample)
    if forgotten > len(forgotten.sample):
        click.echo(f"… and {forgotten - len(forgotten.sample):,} more", err=True)
    click.echo(f"{'Would be forgotten' if dry_run else 'Forgotten'}: {int(forgotten):,}", err=True)
    if forgotten.group:
        click.echo(f"To take it back: mnemoscope undo {forgotten.group}", err=True)


def _days(number: float | None) -> timedelta | None:
    return None if number is None else timedelta(days=number)
