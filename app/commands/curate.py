"""`mnemoscope worklist`, `mnemoscope adopt` and `mnemoscope retain`: keep a store in order from a script."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from mnemoscope.core import show_namespace

from app.commands.options import operator_option, role_option
from app.commands.scripting import (
    DRY_RUN_OPTION,
    NAMESPACE_OPTION,
    SCOPE_OPTION,
    SUBTREE_OPTION,
    on_this_store,
    print_json,
    report_changes,
    script_options,
    taken_out,
    working_engine,
    writing_options,
)
from app.text.display import one_line
from app.text.shell_words import namespace_word

if TYPE_CHECKING:
    from mnemoscope.worklists import Finding


@click.command()
@click.argument("name")
@writing_options
@SCOPE_OPTION
@SUBTREE_OPTION
@click.option("--accept", "accepted", multiple=True, help="Do what the row of this id proposes; repeatable.")
@click.option("--reject", "rejected", multiple=True, help="Turn the row of this id down; repeatable.")
def worklist(
    *, name: str, as_json: bool, accepted: tuple[str, ...], rejected: tuple[str, ...], reason: str, **options: Any
) -> None:
    """Print the worklist NAME: id, proposal, where, why; or settle rows of it.

    What is accepted is one change that can be undone; a row turned down stays away until one of its memories changes.
    """
    asked = taken_out(options, "namespace", "subtree")
    with working_engine(options, writing=bool(accepted or rejected)) as engine:
        findings = engine.curation.worklist(
            name, asked["namespace"], subtree=asked["subtree"] or not asked["namespace"]
        )
        if not accepted and not rejected:
            _print_findings(findings, as_json=as_json)
            return
        turned_down = _named(findings, rejected, name)
        changes = engine.curation.accept(_named(findings, accepted, name), reason=reason) if accepted else []
        engine.curation.reject(turned_down, reason=reason)
    report_changes(changes, as_json=as_json)


@click.command()
@writing_options
@SCOPE_OPTION
@SUBTREE_OPTION
@DRY_RUN_OPTION
def adopt(*, as_json: bool, dry_run: bool, reason: str, **options: Any) -> None:
    """Bring items that other programs wrote to the form of a memory; one change that can be undone."""
    asked = taken_out(options, "namespace", "subtree")
    with working_engine(options, writing=not dry_run) as engine:
        plan = engine.curation.plan_adoption(asked["namespace"], subtree=asked["subtree"])
        for each in plan.unadoptable:
            where = namespace_word(each.namespace)
            click.echo(f"Left as it is: {where}  {one_line(each.key)}  {one_line(each.reason)}", err=True)
        for hint in plan.hints:
            # A JSON text is a TOML text as well.
            named = (show_namespace(hint.namespace), hint.field)
            place, field = (json.dumps(each, ensure_ascii=False) for each in named)
            line = one_line(f"text_fields = {{ {place} = {field} }}")
            click.echo(f"Hint: {line}  ({hint.items:,} of {hint.among:,} have a text there)", err=True)
        if dry_run:
            _print_plan(as_json=as_json, to_adopt=len(plan), counts=dict(plan.counts), ours=plan.ours)
            return
        changes = engine.curation.apply_adoption(plan, reason=reason)
    report_changes(changes, as_json=as_json)


@click.command()
@script_options
@operator_option
@role_option
@NAMESPACE_OPTION
@DRY_RUN_OPTION
def retain(*, as_json: bool, dry_run: bool, namespace: tuple[str, ...], **options: Any) -> None:
    """Forget what the retention rules of a namespace say; they are set on the Curate page."""
    with working_engine(options, writing=not dry_run) as engine:
        plan = engine.curation.plan_retention(namespace)
        group = None if dry_run else engine.curation.apply_retention(plan).group
    done = {"would_forget" if dry_run else "forgotten": len(plan), "group": group}
    _print_plan(as_json=as_json, rules=plan.counts, **done)


def _named(findings: Sequence[Finding], ids: Sequence[str], name: str) -> list[Finding]:
    by_id = {finding.id: finding for finding in findings}
    for each in ids:
        if each not in by_id:
            raise click.ClickException(
                f"The worklist {name} has no row {one_line(each)}: its memories changed, or it is settled. "
                f"Print it again: {on_this_store(f'worklist {name}')}."
            )
    return [by_id[each] for each in dict.fromkeys(ids)]


def _print_findings(findings: Sequence[Finding], *, as_json: bool) -> None:
    if as_json:
        print_json([_finding_value(finding) for finding in findings])
        return
    for finding in findings:
        proposal = finding.proposal.kind if finding.proposal else "look"
        keys = " ".join(one_line(key) for _, key in finding.refs)
        click.echo(
            f"{finding.id}  {proposal}  {namespace_word(finding.namespace)}  {keys}  {one_line(finding.reason, 500)}"
        )


def _finding_value(finding: Finding) -> dict[str, Any]:
    proposal = finding.proposal
    return {
        "id": finding.id,
        "namespace": list(finding.namespace),
        "keys": [key for _, key in finding.refs],
        "reason": finding.reason,
        "proposal": proposal.kind if proposal else None,
        "content": proposal.content if proposal else None,
    }


def _print_plan(*, as_json: bool, **figures: Any) -> None:
    if as_json:
        print_json(figures)
        return
    for name, value in figures.items():
        if isinstance(value, dict):
            value = ", ".join(f"{one_line(str(each))} {number:,}" for each, number in value.items())
        if value not in (None, ""):
            click.echo(f"{name.replace('_', ' ')}: {value}")
