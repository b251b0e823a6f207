"""A change of embedder in words: how far it is, how fast, and what comes next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.text.display import counted, megabytes, one_line

if TYPE_CHECKING:
    from mnemoscope.reembedding import ReembedState

_LONGEST = 300


def describe_state(state: ReembedState | None) -> str:
    """What stands, in a sentence or two."""
    if state is None:
        return "No change of embedder was begun, and no vectors of a former one are kept."
    target, source = one_line(str(state.target), 100), one_line(str(state.source), 100) if state.source else "another"
    if state.state == "done":
        kept = f" Those by {source} are kept ({megabytes(state.kept_bytes)})." if state.kept_bytes else ""
        return f"The vectors in use are by {target}.{kept}"
    if state.state == "cancelled":
        return "It was cancelled; the vectors in use are what they were."
    said = {
        "running": f"{one_line(state.actor, 60)} is at it",
        "paused": "It is paused",
        "failed": f"It failed ({one_line(state.error, _LONGEST)})",
        "interrupted": "Whoever was at it is gone",
    }[state.state]
    return (
        f"{said}: {describe_progress(state)}. Recall goes on with the vectors by {source}; next are those by {target}."
    )


def describe_progress(state: ReembedState) -> str:
    """How many are made, how fast, and about how long it takes."""
    parts = [f"{state.staged:,} of {state.total:,} vectors"]
    if state.rate is not None:
        parts.append(f"{state.rate:,.0f} texts a second" if state.rate >= 10 else f"{state.rate:.1f} texts a second")
    if state.seconds_left is not None and state.state == "running":
        parts.append(f"about {describe_duration(state.seconds_left)} left")
    return ", ".join(parts)


def describe_duration(seconds: float) -> str:
    """A time in the largest unit that fits."""
    for name, size in (("hour", 3600), ("minute", 60)):
        if seconds >= size:
            return counted(round(seconds / size), name)
    return counted(max(round(seconds), 1), "second")
