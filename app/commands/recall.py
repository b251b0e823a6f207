"""`mnemoscope recall` and `mnemoscope list`: read memories; nothing is written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from app.commands.scripting import (
    MOMENT,
    SCOPE_OPTION,
    SUBTREE_OPTION,
    print_json,
    print_records,
    record_value,
    script_options,
    taken_out,
    working_engine,
)
from app.text.display import one_line
from app.text.shell_words import namespace_word

if TYPE_CHECKING:
    from mnemoscope import MemoryMatch, RecallResult

_ASKED = (
    "subtree", "limit", "min_score", "min_similarity", "max_tokens", "since", "until", "as_of", "filter", "source",
    "include_private",
)  # fmt: skip


class _Filter(click.ParamType[dict[str, Any]]):
    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        try:
            found = value if isinstance(value, dict) else json.loads(value, parse_constant=_no_number)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            self.fail(f'{value!r} is no JSON object; write it as \'{{"metadata.team": "red"}}\'.', param, ctx)
        return found


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


FILTER = _Filter()
"""The type of an option that is a filter."""

_category_option = click.option("--category", "categories", multiple=True, help="Only with this category; repeatable.")
_source_option = click.option("--source", help="On whose behalf: makes that source's private memories visible.")
_private_option = click.option("--include-private", is_flag=True, help="Everybody's private memories too.")


@click.command()
@click.argument("query")
@script_options
@SCOPE_OPTION
@SUBTREE_OPTION
@click.option("--limit", type=click.IntRange(0), default=10, show_default=True, help="How many at most.")
@click.option("--min-score", type=click.FloatRange(0, 1), help="The least score; by default the profile's.")
@click.option("--min-similarity", type=click.FloatRange(0, 1), help="The least similarity; by default the profile's.")
@click.option("--max-tokens", type=click.IntRange(0), help="Those that fit into so many tokens of a prompt.")
@click.option("--since", type=MOMENT, help="What changed from then on, such as 2026-01-31T18:30+02:00.")
@click.option("--until", type=MOMENT, help="What changed up to then.")
@click.option("--as-of", type=MOMENT, help="The store as it was then.")
@click.option("--filter", type=FILTER, help="""What must hold, as JSON: '{"metadata.team": "red"}'.""")
@_category_option
@_source_option
@_private_option
def recall(
    *, query: str, namespace: tuple[str, ...], as_json: bool, categories: tuple[str, ...], **options: Any
) -> None:
    """Recall what matters to QUERY, best first; the recall is not noted as an agent's."""
    asked = taken_out(options, *_ASKED)
    if not namespace and not asked["subtree"]:
        raise click.UsageError("Say where to look: --namespace, or --subtree alone for the whole store.")
    with working_engine(options) as engine:
        from mnemoscope.index import Drop

        result = engine.recall(query, namespace, categories=categories or None, **asked)
        if as_json:
            print_json(_result_value(result))
            return
        for match in result:
            where = f"{namespace_word(match.record.namespace)}  " if asked["subtree"] else ""
            text = one_line(match.record.content, 500)
            click.echo(f"{match.score:.3f}  {where}{one_line(match.record.key)}  {text}")
        if result.notice:
            click.echo(one_line(result.notice, 500), err=True)
        for reason, count in result.dropped_counts.items():
            if reason is not Drop.BEYOND_LIMIT:
                click.echo(f"{count:,} not returned: {reason.label}.", err=True)
        if not result.exact:
            click.echo(f"Of {result.total:,} memories {result.examined:,} were examined.", err=True)


@click.command("list")
@script_options
@SCOPE_OPTION
@SUBTREE_OPTION
@click.option("--limit", type=click.IntRange(1), default=200, show_default=True, help="How many at most.")
@_category_option
@_source_option
@_private_option
def listing(
    *, namespace: tuple[str, ...], subtree: bool, as_json: bool, categories: tuple[str, ...], limit: int, **options: Any
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
        "embedder": result.embedder,
        "notice": result.notice,
        "examined": result.examined,
        "total": result.total,
        "dropped": {reason.label: count for reason, count in result.dropped_counts.items()},
        "matches": [_match_value(match) for match in result],
    }


def _match_value(match: MemoryMatch) -> dict[str, Any]:
    parts = {part.name: part.contribution for part in match.parts}
    return {"score": match.score, "similarity": match.similarity, "parts": parts, **record_value(match.record)}
