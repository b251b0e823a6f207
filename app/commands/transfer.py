"""`mnemoscope export` and `mnemoscope import`: memories out of a store into a file, and back."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from mnemoscope.transfer import Fault, read_entries

from app.commands.options import said_plainly
from app.commands.scripting import (
    DRY_RUN_OPTION,
    NAMESPACE,
    SCOPE_OPTION,
    SUBTREE_OPTION,
    print_json,
    script_options,
    working_engine,
    writing_options,
)
from app.text.display import one_line

if TYPE_CHECKING:
    from mnemoscope import MemoryEngine
    from mnemoscope.transfer import ImportPlan

_RULES = ("skip", "overwrite", "newer")
_PROBLEMS = 20


@click.command()
@script_options
@SCOPE_OPTION
@SUBTREE_OPTION
@click.option(
    "--format", "form", type=click.Choice(["jsonl", "csv", "history"]), default="jsonl", show_default=True,
    help="Everything as JSON lines, the memories as CSV, or the changes as JSON lines.",
)  # fmt: skip
@click.option("--no-vectors", is_flag=True, help="Leave the vectors out; the import embeds again.")
@click.option("--no-history", is_flag=True, help="Leave the history out.")
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help="The file; the standard output by default."
)
def export(*, output: Path | None, as_json: bool, **options: Any) -> None:
    """Write memories, private ones too, into a file that `import` reads."""
    if as_json and output is None:
        raise click.UsageError("--json says what was written to a file; name it with --output.")
    scope = {name: options.pop(name) for name in ("namespace", "subtree", "form", "no_vectors", "no_history")}
    with working_engine(options) as engine:
        pieces = _pieces(engine, **scope)
        if output is None:
            stream = sys.stdout.buffer
            for piece in pieces:
                stream.write(piece)
            return
        size, lines = _written(pieces, output)
    if as_json:
        print_json({"file": str(output), "bytes": size, "lines": lines})
    else:
        click.echo(f"{lines:,} lines, {size:,} bytes, in {output}", err=True)


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@writing_options
@click.option("--namespace", type=NAMESPACE, help="Where to; where the file says by default.")
@click.option(
    "--conflicts", type=click.Choice(_RULES), default="skip", show_default=True,
    help="What becomes of a row whose place is taken: keep what is there, take the file's, or the newer one.",
)  # fmt: skip
@DRY_RUN_OPTION
def importing(
    *,
    file: Path,
    namespace: tuple[str, ...] | None,
    conflicts: Any,
    as_json: bool,
    dry_run: bool,
    reason: str,
    **options: Any,
) -> None:
    """Import FILE: an export, or memories of mem0, CrewAI, `langgraph-memory` or any JSON with a `content`.

    All of it is one change that can be undone. It takes the role admin.
    """
    _check_readable(file)
    with working_engine(options, writing=not dry_run, needed="admin", makes=True) as engine, file.open("rb") as data:
        plan = engine.transfer.plan_import(data, namespace or None, conflicts=conflicts, name=file.name)
        changes = [] if dry_run else engine.transfer.apply_import(plan, reason=reason)
    group = changes[0].group if changes else None
    if as_json:
        print_json(_plan_value(plan, group))
    else:
        _print(plan, group)


def _check_readable(file: Path) -> None:
    """Refuse what holds nothing to import, so that no store is made for it."""
    fault = None
    is_readable = False
    with said_plainly(), file.open("rb") as data:
        for row in read_entries(data, name=file.name):
            is_fault = isinstance(row, Fault)
            fault = fault or (row if is_fault else None)
            is_readable = is_readable or not is_fault
    if isinstance(fault, Fault) and not is_readable:
        raise click.ClickException(f"Nothing in {file.name} can be imported. {fault.where}: {fault.reason}")


def _pieces(
    engine: MemoryEngine, *, namespace: tuple[str, ...], subtree: bool, form: str, no_vectors: bool, no_history: bool
) -> Iterator[bytes]:
    if form == "csv":
        return engine.transfer.export_table(namespace, subtree=subtree)
    if form == "history":
        return engine.transfer.export_history(namespace, subtree=subtree)
    return engine.transfer.export(namespace, subtree=subtree, vectors=not no_vectors, history=not no_history)


def _written(pieces: Iterator[bytes], output: Path) -> tuple[int, int]:
    """Write the file whole or not at all; gives its bytes and lines."""
    unfinished = output.with_name(f"{output.name}.{os.getpid()}.unfinished")
    size = lines = 0
    try:
        with unfinished.open("wb") as stream:
            for piece in pieces:
                size, lines = size + len(piece), lines + piece.count(b"\n")
                stream.write(piece)
        unfinished.replace(output)
    except OSError as error:
        raise click.ClickException(f"{output} cannot be written: {error.strerror}. Name another file.") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return size, lines


def _plan_value(plan: ImportPlan, group: str | None) -> dict[str, Any]:
    problems = [row for row in plan.rows if row.status in ("conflicting", "erased", "invalid")]
    return {
        "group": group,
        "would_write" if group is None else "written": plan.written,
        "to_embed": plan.to_embed,
        "rows": dict(Counter(row.status for row in plan.rows)),
        "problems": [{"where": row.where, "status": row.status, "reason": row.reason} for row in problems],
        "remarks": [{"where": row.where, "remark": remark} for row in plan.remarked for remark in row.remarks],
    }


def _print(plan: ImportPlan, group: str | None) -> None:
    counts = ", ".join(f"{count:,} {status}" for status, count in plan.counts.items())
    remarked = f" With remarks: {len(plan.remarked):,}." if plan.remarked else ""
    click.echo(
        f"{len(plan.rows):,} rows: {counts or 'none'}. "
        f"{'Written' if group else 'To write'}: {plan.written:,}.{remarked}"
    )
    problems = [row for row in plan.rows if row.status in ("conflicting", "erased", "invalid")]
    _print_some([f"{one_line(row.where)}: {row.status}: {one_line(row.reason, 300)}" for row in problems])
    _print_some([f"{one_line(row.where)}: {one_line('; '.join(row.remarks), 300)}" for row in plan.remarked])
    if group:
        click.echo(f"To take it back: mnemoscope undo {group}", err=True)


def _print_some(lines: list[str]) -> None:
    for line in lines[:_PROBLEMS]:
        click.echo(line, err=True)
    if len(lines) > _PROBLEMS:
        click.echo(f"{len(lines) - _PROBLEMS:,} more; see --json.", err=True)
