"""`mnemoscope remember`: extract facts from a text or from conversations in a file, and store them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from app.commands.options import model_option, said_plainly
from app.commands.scripting import (
    DRY_RUN_OPTION,
    NAMESPACE_OPTION,
    on_this_store,
    print_json,
    record_value,
    working_engine,
    writing_options,
)
from app.text.display import one_line

if TYPE_CHECKING:
    from mnemoscope import MemoryEngine, Plan


@click.command()
@click.argument("text", required=False)
@writing_options
@model_option
@NAMESPACE_OPTION
@click.option(
    "--file", "file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    help='Conversations in any known format instead of TEXT; "-" reads them from the standard input.',
)  # fmt: skip
@click.option("--category", "categories", multiple=True, help="A category that every fact gets; repeatable.")
@click.option("--importance", type=click.FloatRange(0, 1), help="The importance of every fact, instead of its own.")
@click.option("--source", help="On whose behalf; needed for --private.")
@click.option("--private", is_flag=True, help="Only recalls on behalf of the same source see it.")
@click.option("--as-it-is", is_flag=True, help="Store the text as one fact, without extraction.")
@DRY_RUN_OPTION
def remember(*, text: str | None, file: Path | None, as_json: bool, dry_run: bool, **options: Any) -> None:
    """Remember what TEXT says; without a chat model, rules extract the facts."""
    if (text is None) == (file is None):
        raise click.UsageError("Say what to remember: either TEXT or --file.")
    names = ("namespace", "categories", "importance", "source", "private", "reason")
    terms = {name: options.pop(name) for name in names}
    extract = not options.pop("as_it_is")
    contents, unreadable = _contents(text, file)
    results: list[dict[str, Any]] = []
    try:
        with working_engine(options, writing=not dry_run, makes=True) as engine:
            for content in contents:
                results.append(_result(engine, content, terms, extract=extract, dry_run=dry_run))
    finally:
        # What was remembered before something failed stays, so it is told.
        _print(results, as_json=as_json)
    for each in unreadable:
        click.echo(f"Not read: {one_line(each, 500)}", err=True)
    if unreadable:
        raise SystemExit(1)


def _contents(text: str | None, file: Path | None) -> tuple[list[object], list[str]]:
    """What is to be remembered, each in a group of its own, and what of the file could not be read."""
    from mnemoscope.conversations import Unreadable, read_conversations

    if file is None:
        return [text], []
    is_piped = str(file) == "-"
    data = sys.stdin.buffer.read() if is_piped else file.read_bytes()
    with said_plainly():
        found = list(read_conversations(data, name="the standard input" if is_piped else file.name))
    unreadable = [str(each) for each in found if isinstance(each, Unreadable)]
    return [each.messages for each in found if not isinstance(each, Unreadable)], unreadable


def _result(
    engine: MemoryEngine, content: object, terms: dict[str, Any], *, extract: bool, dry_run: bool
) -> dict[str, Any]:
    """What became of one content, or would become of it."""
    if dry_run:
        plan = engine.plan(content, extract=extract, **terms)
        if plan.failure is not None:
            raise plan.failure
        return {"group": None, "facts": _facts(plan), "memories": []}
    applied = engine.remember(content, extract=extract, **terms)
    return {
        "group": applied.group,
        "facts": _facts(applied.plan),
        "memories": [record_value(record) for record in applied],
    }


def _facts(plan: Plan) -> list[dict[str, Any]]:
    return [
        {"content": each.fact.content, "outcome": each.outcome, "reason": each.reason, "key": each.target}
        for each in plan.facts
    ]


def _print(results: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print_json(results)
        return
    for result in results:
        for fact in result["facts"]:
            click.echo(f"{fact['outcome']:10}  {one_line(fact['content'], 500)}  ({one_line(fact['reason'], 200)})")
        if not result["facts"]:
            click.echo("No fact was found.", err=True)
        if result["group"]:
            undo = on_this_store(f"undo {result['group']}")
            click.echo(f"To take it back: {undo}", err=True)
