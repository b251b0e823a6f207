"""`mnemoscope recall` and `mnemoscope list`: read memories; nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from app.display import one_line
from app.scripting import (
    NAMESPACE_OPTION,
    SUBTREE_OPTION,
    print_json,
    print_records,
    record_value,
    script_options,
    working_engine,
)

if TYPE_CHECKING:
    from mnemoscope import MemoryMatch, RecallResult

__all__ = ["listing", "recall"]

_category_option = click.option("--category", "categories", multiple=True, help="Only with this category; repeatable.")
_source_option = click.option("--source", help="On whose behalf: makes that source's private memories visible.")
_private_option = click.option("--include-private", is_flag=True, help="Everybody's private memories too.")


@click.command()
@click.argument("query")
@script_options
@NAMESPACE_OPTION
@SUBTREE_OPTION
@click.option("--limit", type=click.IntRange(0), default=10, show_default=True, help="How many at most.")
@click.option("--min-score", type=click.FloatRange(0, 1), default=0.0, show_default=True, help="The least score.")
@_category_option
@_source_option
@_private_option
def recall(*, query: str, namespace: str, as_json: bool, categories: tuple[str, ...], **options: Any) -> None:
    """Recall what matters to QUERY, best first; the recall is not noted as an agent's."""
    asked = {name: options.pop(name) for name in ("subtree", "limit", "min_score", "source", "include_private")}
    with working_engine(options) as engine:
        result = engine.recall(query, namespace, categories=categories or None, **asked)
        if as_json:
            print_json(_result_value(result))
            return
        for match in result:
            click.echo(f"{match.score:.3f}  {one_line(match.record.key)}  {one_line(match.record.content, 500)}")
        if not result.exact:
            click.echo(f"Of {result.total:,} memories {result.examined:,} were examined.", err=True)


@click.command("list")
@script_options
@click.option("--namespace", default="", help='The namespace, such as "memories/ana"; all of them by default.')
@SUBTREE_OPTION
@click.option("--limit", type=click.IntRange(1), default=200, show_default=True, help="How many at most.")
@_category_option
@_source_option
@_private_option
def listing(
    *, namespace: str, subtree: bool, as_json: bool, categories: tuple[str, ...], limit: int, **options: Any
) -> None:
    """List memories, the latest changed first."""
    seen = {name: options.pop(name) for name in ("source", "include_private")}
    with working_engine(options) as engine:
        records = engine.list(namespace, limit, subtree=subtree or not namespace, categories=categories or None, **seen)
        if as_json:
            withheld = {reason.label: count for reason, count in records.withheld.items()}
            memories = [record_value(record) for record in records]
            print_json({"total": records.total, "withheld": withheld, "memories": memories})
            return
        print_records(records)
        if records.total > len(records):
            click.echo(f"{records.total - len(records):,} more; see --limit.", err=True)
        for reason, count in records.withheld.items():
            click.echo(f"{count:,} not shown: {reason.label}.", err=True)


def _result_value(result: RecallResult) -> dict[str, Any]:
    return {
        "query": result.query,
        "exact": result.exact,
        "examined": result.examined,
        "total": result.total,
        "matches": [_match_value(match) for match in result],
    }


def _match_value(match: MemoryMatch) -> dict[str, Any]:
    parts = {part.name: part.contribution for part in match.parts}
    return {"score": match.score, "similarity": match.similarity, "parts": parts, **record_value(match.record)}
