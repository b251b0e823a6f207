"""`mnemoscope history`, `mnemoscope undo` and `mnemoscope forget`: what was changed, taken back, and withdrawn."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click
from mnemoscope import NotFoundError
from mnemoscope.journal import ACTIONS

from app.commands.scripting import (
    DRY_RUN_OPTION,
    MOMENT,
    NAMESPACE_OPTION,
    SCOPE_OPTION,
    SUBTREE_OPTION,
    change_value,
    on_this_store,
    print_changes,
    print_json,
    print_records,
    record_value,
    script_options,
    taken_out,
    working_engine,
    writing_options,
)
from app.text.display import one_line
from app.text.shell_words import namespace_word

if TYPE_CHECKING:
    from mnemoscope import MemoryEngine
    from mnemoscope.journal import UndoPlan


@click.command()
@script_options
@SCOPE_OPTION
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
@click.argument("change", required=False)
@writing_options
@SCOPE_OPTION
@SUBTREE_OPTION
@click.option("--by", help="Without CHANGE: take back what this actor changed.")
@click.option("--run", help="Without CHANGE: take back what came of this run.")
@click.option("--since", type=MOMENT, help="Without CHANGE: what was changed since then alone.")
@DRY_RUN_OPTION
def undo(*, change: str | None, as_json: bool, dry_run: bool, reason: str, **options: Any) -> None:
    """Take back CHANGE, the id of a change or of a group; or what somebody changed, or what came of a run.

    One change or group is taken back whole, or not at all where a memory has changed since. With --by or --run the
    memories that somebody else changed afterwards stay as they are, and are named.
    """
    asked = taken_out(options, "namespace", "subtree", "by", "run", "since")
    if (change is None) == (asked["by"] is None and asked["run"] is None):
        raise click.UsageError("Say what to take back: CHANGE, or --by or --run.")
    with working_engine(options, writing=not dry_run) as engine:
        if change is not None:
            changes = engine.curation.changes_of(change) if dry_run else engine.undo(change, reason=reason)
        else:
            plan = engine.curation.plan_undo(asked.pop("namespace"), **asked)
            _print_kept(plan)
            would = [change for each in plan.open for change in each.changes]
            changes = would if dry_run else engine.curation.apply_undo(plan, reason=reason)
    if dry_run:
        click.echo(f"Would be taken back: {len(changes):,}", err=True)
    if as_json:
        print_json([change_value(each) for each in changes])
    else:
        print_changes(changes)


@click.command()
@writing_options
@NAMESPACE_OPTION
@click.option("--key", "keys", multiple=True, help="This memory; repeatable.")
@click.option("--category", "categories", multiple=True, help="Those with this category; repeatable.")
@click.option("--older-than", type=click.FloatRange(0), help="Those that did not change for so many days.")
@click.option("--not-recalled", type=click.FloatRange(0), help="Those that were not recalled for so many days.")
@click.option("--importance-below", type=click.FloatRange(0, 1), help="Those of less importance.")
@click.option("--source", help="Those of this source.")
@DRY_RUN_OPTION
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
        _check_there(engine, asked["namespace"], keys)
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
        click.echo(f"To take it back: {on_this_store(f'undo {forgotten.group}')}", err=True)


def _check_there(engine: MemoryEngine, namespace: tuple[str, ...], keys: tuple[str, ...]) -> None:
    for key in keys:
        if engine.get(namespace, key) is None:
            raise NotFoundError(f"There is no memory {key!r} in {namespace_word(namespace)}; nothing was forgotten.")


def _print_kept(plan: UndoPlan) -> None:
    for each in plan.blocked:
        where, key = each.ref
        click.echo(f"Stays as it is: {namespace_word(where)}  {one_line(key)}  {one_line(each.obstacle)}", err=True)


def _days(number: float | None) -> timedelta | None:
    return None if number is None else timedelta(days=min(number, timedelta.max.days))
