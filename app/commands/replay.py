"""`mnemoscope replay`: conversations with the memories they should leave, replayed and measured."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click
from mnemoscope.conversations import load_samples, read_sample
from mnemoscope.core import utc_now
from mnemoscope.embedding import load_embeddings
from mnemoscope.replay import MATCH_FROM, ReplayCase, ReplayReport, ReplaySetup, case_of, evaluate, read_setup

from app.commands.options import said_plainly
from app.text.display import one_line

_FIGURES = (
    "conversations", "failed", "expected", "memories", "precision", "recall", "f1", "ties", "junk_rate",
    "unsupported_rate", "converged", "script_kept", "model_calls", "input_tokens", "output_tokens", "cost", "seconds",
)  # fmt: skip
_SHOWN = 200


@click.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--config", "config", type=click.Path(path_type=Path), help="The setup, a TOML file. Default: the rules.")
@click.option("--compare", type=click.Path(path_type=Path), help="A second setup, to be put beside the first.")
@click.option(
    "--match-from",
    type=click.FloatRange(0, 1, min_open=True),
    default=MATCH_FROM,
    show_default=True,
    help="Similarity from which a memory counts as an expected one.",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def replay(files: Sequence[Path], config: Path | None, compare: Path | None, match_from: float, as_json: bool) -> None:
    """Measure what is remembered of conversations; no store is touched.

    FILES are conversations with their expected memories, as Replay saves them. Without any, the samples are measured.
    """
    with said_plainly():
        cases = _cases(files)
        setups = [read_setup(path) if path else ReplaySetup() for path in (config, *([compare] if compare else []))]
        reports = [_report(cases, setup, match_from) for setup in setups]
    if as_json:
        click.echo(json.dumps({"reports": [report.to_value() for report in reports]}, indent=2, ensure_ascii=False))
        return
    _echo_figures(reports)
    for report in reports:
        _echo_differences(report)


def _cases(files: Sequence[Path]) -> list[ReplayCase]:
    now = utc_now()
    if not files:
        return [case_of(sample) for sample in load_samples(now)]
    return [case_of(read_sample(path.read_text(encoding="utf-8", errors="replace"), now)) for path in files]


def _report(cases: Sequence[ReplayCase], setup: ReplaySetup, match_from: float) -> ReplayReport:
    return evaluate(cases, setup, load_embeddings(setup.embedder), match_from=match_from)


def _echo_figures(reports: Sequence[ReplayReport]) -> None:
    first = reports[0]
    click.echo(f"Matched one to one from a similarity of {first.match_from:g} on, by {first.embedder}.")
    click.echo("".join(f"{name:>16}" for name in ["", *(one_line(report.setup, 14) for report in reports)]))
    for name in _FIGURES:
        click.echo(
            "".join(f"{text:>16}" for text in [name.replace("_", " "), *(_text(each, name) for each in reports)])
        )


def _text(report: ReplayReport, name: str) -> str:
    value = report.figures[name]
    return "–" if value is None else f"{value:.3f}" if isinstance(value, float) else f"{value:,}"


def _echo_differences(report: ReplayReport) -> None:
    for case in report.cases:
        lines = [("missed", text) for text in case.missed] + [("surplus", text) for text in case.surplus]
        lines += [("junk", text) for text in case.junk]
        lines += [("tie", f"{each.found} = {each.expected}") for each in case.matches if each.is_tie]
        if case.failure or lines or case.again:
            click.echo(f"\n{one_line(report.setup, 40)} · {one_line(case.id, 80)}")
        if case.failure:
            click.echo(f"  failed: {case.failure}")
        if case.again:
            click.echo(f"  again: {case.again} changes by the second replay")
        for kind, text in lines:
            click.echo(f"  {kind}: {one_line(text, _SHOWN)}")
