"""`mnemoscope trash`, `restore`, `allow` and `erase`: what was forgotten, brought back, let in again, or gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from mnemoscope.core import show_namespace

from app.commands.scripting import (
    NAMESPACE,
    SCOPE_OPTION,
    SUBTREE_OPTION,
    place_options,
    places_of,
    print_json,
    record_value,
    report_changes,
    script_options,
    taken_out,
    working_engine,
    writing_options,
)
from app.text.display import one_line
from app.text.shell_words import namespace_word

if TYPE_CHECKING:
    from mnemoscope.curation import ErasureReceipt
    from mnemoscope.journal import Tombstone


@click.command()
@script_options
@SCOPE_OPTION
@SUBTREE_OPTION
def trash(*, as_json: bool, namespace: tuple[str, ...], subtree: bool, **options: Any) -> None:
    """List what was forgotten and can be restored, the latest first: when, by whom, why, where, and the text."""
    with working_engine(options) as engine:
        stones = engine.curation.trash(namespace, subtree=subtree or not namespace)
    if as_json:
        print_json([_stone_value(stone) for stone in stones])
        return
    for stone in stones:
        record = stone.record
        when, where = f"{stone.forgotten_at:%Y-%m-%d %H:%M:%S}", namespace_word(record.namespace)
        parts = (when, stone.actor, stone.reason or "-", where, record.key, record.content)
        click.echo("  ".join(one_line(part, 500) for part in parts))


@click.command()
@writing_options
@place_options
def restore(*, as_json: bool, **options: Any) -> None:
    """Bring forgotten memories back as they were."""
    asked = taken_out(options, "namespace", "keys", "reason")
    with working_engine(options, writing=True) as engine:
        changes = engine.curation.restore(places_of(asked), reason=asked["reason"])
    report_changes(changes, as_json=as_json)


@click.command()
@writing_options
@place_options
@click.option("--no-more", is_flag=True, help="Suppress such facts again.")
def allow(*, as_json: bool, no_more: bool, **options: Any) -> None:
    """Let facts like these forgotten memories be remembered again."""
    asked = taken_out(options, "namespace", "keys", "reason")
    with working_engine(options, writing=True) as engine:
        changes = engine.curation.allow(places_of(asked), allowed=not no_more, reason=asked["reason"])
    report_changes(changes, as_json=as_json)


@click.command()
@writing_options
@place_options
@click.option("--confirm", type=NAMESPACE, required=True, help="The namespace once more: it cannot be undone.")
def erase(*, as_json: bool, **options: Any) -> None:
    """Remove memories for good: items, trash, history, access notes and vectors. It takes the role admin."""
    asked = taken_out(options, "namespace", "keys", "confirm", "reason")
    with working_engine(options, writing=True, needed="admin") as engine:
        receipt = engine.curation.erase(
            asked["namespace"], asked["keys"], confirm=show_namespace(asked["confirm"]), reason=asked["reason"]
        )
    if as_json:
        print_json(_receipt_value(receipt))
    else:
        for name, value in _receipt_value(receipt).items():
            click.echo(f"{name}: {'; '.join(value) if isinstance(value, list) else value}")
    if not receipt.is_complete:
        raise SystemExit(1)


def _stone_value(stone: Tombstone) -> dict[str, Any]:
    told = {"forgotten_at": stone.forgotten_at.isoformat(), "actor": stone.actor, "reason": stone.reason}
    return {**told, "group": stone.group, "allowed": stone.allowed, "memory": record_value(stone.record)}


def _receipt_value(receipt: ErasureReceipt) -> dict[str, Any]:
    counted = ("items", "tombstones", "changes", "access_notes", "runs", "elsewhere")
    return {
        "id": receipt.id,
        **{name: getattr(receipt, name) for name in counted},
        "verified": list(receipt.verified),
        "failures": list(receipt.failures),
        "not_reached": list(receipt.not_reached),
    }
