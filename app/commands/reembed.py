"""`mnemoscope reembed`: a store goes over to another embedder, while it is in use."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from app.commands.scripting import print_json, working_engine, writing_options
from app.text.reembedding import describe_progress, describe_state

if TYPE_CHECKING:
    from mnemoscope import MemoryEngine
    from mnemoscope.reembedding import ReembedState

_TOLD_EVERY = 1.0


@click.command()
@writing_options
@click.option(
    "--rate", type=click.FloatRange(min=0, min_open=True), help="Texts a second at most; no limit by default."
)
@click.option("--batch", type=click.IntRange(1), default=64, show_default=True, help="Texts of one call.")
@click.option("--back", is_flag=True, help="Go back to the first embedder.")
@click.option("--again", is_flag=True, help="Make every vector anew with the embedder in use.")
@click.option("--status", "act", flag_value="status", help="Say how far it is, whoever is at it; nothing is written.")
@click.option("--pause", "act", flag_value="pause", help="Have whoever is at it stop; the same command goes on.")
@click.option("--drop", "act", flag_value="drop", help="Cancel it; or drop the former vectors once it is done.")
def reembed(*, act: str | None, as_json: bool, rate: float | None, batch: int, **options: Any) -> None:
    """Make every vector anew with the next embedder, then put them all in use at once.

    Recall goes on with the vectors in use. What is made outlives this command: run it again to go on. It takes the
    role admin.
    """
    given = {name: options.pop(name) for name in ("back", "again", "reason")}
    with working_engine(options, writing=act != "status", needed="admin") as engine:
        if act == "drop":
            _drop(engine, as_json=as_json)
            return
        if act == "status":
            state = engine.reembedding.status()
        elif act == "pause":
            state = engine.reembedding.pause()
        else:
            state = engine.reembedding.start(rate=rate, batch=batch, progress=_Teller(quiet=as_json), **given)
    if as_json:
        print_json(state.to_value() if state else None)
    else:
        click.echo(describe_state(state))
    if act is None and state is not None and state.state != "done":
        raise SystemExit(1)


class _Teller:
    """Says how far it is, once a second on the standard error."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._last = 0.0

    def __call__(self, state: ReembedState) -> None:
        now = time.monotonic()
        if not self._quiet and now - self._last >= _TOLD_EVERY:
            self._last = now
            click.echo(describe_progress(state), err=True)


def _drop(engine: MemoryEngine, *, as_json: bool) -> None:
    whose = engine.reembedding.drop_waiting()
    if as_json:
        print_json({"dropped": str(whose) if whose else None})
    else:
        click.echo(f"Dropped the vectors by {whose}." if whose else "There was nothing to drop.")
