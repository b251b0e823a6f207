"""`mnemoscope update`, `mnemoscope merge` and `mnemoscope move`: change memories by hand; `undo` takes it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from app.commands.scripting import (
    NAMESPACE,
    place_options,
    places_of,
    report_changes,
    taken_out,
    working_engine,
    writing_options,
)

if TYPE_CHECKING:
    from mnemoscope import Change, MemoryEngine


@click.command()
@writing_options
@place_options
@click.option("--content", help="The new text; of one memory alone.")
@click.option("--add-category", "add_categories", multiple=True, help="A category it gets; repeatable.")
@click.option("--drop-category", "drop_categories", multiple=True, help="A category it loses; repeatable.")
@click.option("--importance", type=click.FloatRange(0, 1), help="The new importance, 0 to 1.")
@click.option("--private/--shared", default=None, help="Whether only recalls on behalf of its source see it.")
@click.option("--revision", type=click.IntRange(1), help="Refuse where it is at another revision; with --content.")
def update(*, as_json: bool, content: str | None, revision: int | None, **options: Any) -> None:
    """Change the text of a memory, or the labels of several."""
    asked = taken_out(options, "namespace", "keys", "reason")
    labels = taken_out(options, "add_categories", "drop_categories", "importance", "private")
    if content is not None and (len(asked["keys"]) > 1 or labels["add_categories"] or labels["drop_categories"]):
        raise click.UsageError("--content is for one --key, without --add-category and --drop-category.")
    if content is None and revision is not None:
        raise click.UsageError("--revision goes with --content.")
    if content is None and not any(each not in (None, ()) for each in labels.values()):
        raise click.UsageError(
            "Say what to change: --content, --add-category, --drop-category, --importance, --private or --shared."
        )
    with working_engine(options, writing=True) as engine:
        changes = _updated(engine, content, revision, asked, labels)
    report_changes(changes, as_json=as_json)


@click.command()
@writing_options
@place_options
@click.option("--content", help="What the one memory says; by default what the first says.")
def merge(*, as_json: bool, **options: Any) -> None:
    """Make one memory of several: the first stays and takes over what the others add."""
    asked = taken_out(options, "namespace", "keys", "content", "reason")
    with working_engine(options, writing=True) as engine:
        changes = engine.curation.merge(asked.pop("namespace"), asked.pop("keys"), **asked)
    report_changes(changes, as_json=as_json)


@click.command()
@writing_options
@place_options
@click.option("--to", "target", type=NAMESPACE, required=True, help="The namespace they go to.")
def move(*, as_json: bool, target: tuple[str, ...], **options: Any) -> None:
    """Take memories to another namespace, under the same keys."""
    asked = taken_out(options, "namespace", "keys", "reason")
    with working_engine(options, writing=True) as engine:
        changes = engine.curation.move(places_of(asked), target, reason=asked["reason"])
    report_changes(changes, as_json=as_json)


def _updated(
    engine: MemoryEngine, content: str | None, revision: int | None, asked: dict[str, Any], labels: dict[str, Any]
) -> list[Change]:
    if content is None:
        return engine.curation.relabel(places_of(asked), reason=asked["reason"], **labels)
    change = engine.update(
        asked["namespace"],
        asked["keys"][0],
        content=content,
        importance=labels["importance"],
        private=labels["private"],
        expected_revision=revision,
        reason=asked["reason"],
    )
    return [change]
