"""`mnemoscope evaluate`: how well profiles bring back what cases expect, for people and for CI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

import click

from app.commands.options import settings_from
from app.commands.scripting import NAMESPACE, print_json, script_options, working_engine
from app.text.display import counted, one_line

if TYPE_CHECKING:
    from mnemoscope.evaluation import Evaluation, Judged
    from mnemoscope.recall import Case

_WIDTH = 26


@click.command()
@click.argument("file", type=click.File(encoding="utf-8-sig", errors="replace"), required=False)
@script_options
@click.option("--against", multiple=True, metavar="PROFILE", help="Also measure this profile; repeatable.")
@click.option("--metric", "metrics", multiple=True, help='Measure this, such as "ndcg@10"; repeatable.')
@click.option("--fail-under", multiple=True, metavar="METRIC=VALUE", help="End with 1 where it is worse; repeatable.")
@click.option(
    "--namespace", type=NAMESPACE, help="The namespace of cases that name none; without FILE, whose cases are taken."
)
@click.option("--source", help="On whose behalf: makes that source's private memories visible.")
@click.option("--include-private", is_flag=True, help="Everybody's private memories too.")
def evaluate(*, file: TextIO | None, as_json: bool, **options: Any) -> None:
    """Measure how well a profile brings back what the cases in FILE expect; nothing is written.

    Without FILE the cases that are kept in the store are taken. `--profile` may also name a profile saved there.
    """
    from mnemoscope.evaluation import DEFAULT_METRICS
    from mnemoscope.evaluation import evaluate as measured

    from app.session.profile_names import PRESENT, find_profile, list_profiles

    own = {name: options.pop(name) for name in ("against", "metrics", "fail_under", "namespace", "profile")}
    seen = {name: options.pop(name) for name in ("source", "include_private")}
    bounds = dict(_bound(text) for text in own["fail_under"])
    metrics = list(dict.fromkeys([*(own["metrics"] or DEFAULT_METRICS), *bounds]))
    with working_engine(options) as engine:
        cases = _cases(engine.adapter, file, own["namespace"])
        known = list_profiles(engine, settings_from(config=options["config"]).config)
        names = list(dict.fromkeys([own["profile"] or PRESENT, *own["against"]]))
        judged = engine.tuning.judge(cases, **seen)
        evaluation = measured(judged, [find_profile(name, known) for name in names], metrics)
    failed = _failures(evaluation, names[0], bounds)
    if as_json:
        print_json(_value(evaluation, judged, failed))
    else:
        _echo(evaluation, judged, metrics)
    for text in failed:
        click.echo(text, err=True)
    if failed:
        raise SystemExit(1)


def _cases(adapter: Any, file: TextIO | None, namespace: tuple[str, ...] | None) -> list[Case]:
    from mnemoscope import InputError
    from mnemoscope.core import read_prefix
    from mnemoscope.recall import CaseBook, read_cases

    cases = (
        read_cases(file.read(), namespace=namespace) if file else CaseBook(adapter).all(read_prefix(namespace or ""))
    )
    if not cases:
        raise InputError("There are no cases; name a file with some, or make some on the Recall page.")
    return cases


def _bound(text: str) -> tuple[str, float]:
    from mnemoscope import InputError
    from mnemoscope.evaluation import read_metric

    metric, _, value = text.partition("=")
    try:
        read_metric(metric)
        bound = float(value)
    except InputError as error:
        raise click.BadParameter(str(error), param_hint="--fail-under") from error
    except ValueError as error:
        raise click.BadParameter(f"write METRIC=VALUE, got {text!r}", param_hint="--fail-under") from error
    if not 0 <= bound <= 1:
        raise click.BadParameter(f"the value must be from 0 to 1, got {value}", param_hint="--fail-under")
    return metric.strip(), bound


def _failures(evaluation: Evaluation, profile: str, bounds: dict[str, float]) -> list[str]:
    """What is worse than asked for: less, or more of what is unwanted. What cannot be measured is not good enough."""
    summary, failed = evaluation.summary(profile), []
    for metric, bound in bounds.items():
        found = summary[metric]
        if found is None:
            failed.append(f"{metric} of {profile} cannot be measured: no case says anything about it.")
        elif found.mean > bound if metric.startswith("unwanted") else found.mean < bound:
            failed.append(f"{metric} of {profile} is {found.mean:.3f}, and {bound:g} is asked for.")
    return failed


def _value(evaluation: Evaluation, judged: Sequence[Judged], failed: list[str]) -> dict[str, Any]:
    profiles = {
        name: {metric: None if found is None else found._asdict() for metric, found in evaluation.summary(name).items()}
        for name in evaluation.values
    }
    cases = [
        {
            **each.case.to_value(),
            "missing": each.missing,
            "values": {
                name: {metric: column[at] for metric, column in values.items()}
                for name, values in evaluation.values.items()
            },
        }
        for at, each in enumerate(judged)
    ]
    is_exact = all(each.candidates.exact for each in judged)
    return {"profiles": profiles, "exact": is_exact, "failed": failed, "cases": cases}


def _echo(evaluation: Evaluation, judged: Sequence[Judged], metrics: Sequence[str]) -> None:
    click.echo(f"{counted(len(judged), 'case')}; means with their 95 % intervals.")
    click.echo("".join(f"{text:<{_WIDTH}}" for text in ["", *(one_line(name, 24) for name in evaluation.values)]))
    summaries = [evaluation.summary(name) for name in evaluation.values]
    for metric in metrics:
        found = ["–" if summary[metric] is None else str(summary[metric]) for summary in summaries]
        click.echo("".join(f"{text:<{_WIDTH}}" for text in [metric, *found]).rstrip())
    missing = [(each.case.query, entry) for each in judged for entry in each.missing]
    for query, entry in missing:
        click.echo(f"No memory {one_line(entry, 80)!r}, as expected for {one_line(query, 80)!r}.", err=True)
    if not all(each.candidates.exact for each in judged):
        click.echo("The store's own search may have left memories out.", err=True)
