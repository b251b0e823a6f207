"""Above the results: how many, how sure, which part decides, how long it took, and what looks wrong."""

from __future__ import annotations

import streamlit as st
from mnemoscope import RecallResult

from app.text.display import counted, one_line, safe
from app.views.recall.results import bars

__all__ = ["deciding", "draw", "draw_warnings"]

_STEPS = {"embed": "embedding", "fetch": "fetching", "rank": "ranking"}
_MARGIN = 0.02


def draw(result: RecallResult, fetched: RecallResult) -> None:
    """Draw the summary of a ranking; `fetched` is the recall that brought its candidates."""
    shares = result.ranking.shares()
    st.html(bars.legend())
    told = deciding(shares)
    if told:
        st.markdown(told, help=_exactly(shares))
        st.html(bars.shares_bar(shares))
    sure = "exact" if result.exact else "not proven to be exact"
    examined = f"{result.examined:,} of {counted(result.total, 'memory', 'memories')} examined"
    times = [f"{_STEPS[name]} {1000 * seconds:.1f} ms" for name, seconds in fetched.timings.items() if name != "rank"]
    times += [f"{_STEPS['rank']} {1000 * result.timings['rank']:.1f} ms"]
    by = [f"by {one_line(result.embedder, 100)}"] if result.embedder and not result.notice else []
    st.caption(" · ".join([f"{len(result)} returned", sure, examined, *by, *times]))


def deciding(shares: dict[str, float]) -> str:
    """Which part decides the order, in a sentence; empty where nothing does."""
    if not shares:
        return ""
    # Where parts work against each other, each share alone may be far above the whole.
    whole = sum(map(abs, shares.values()))
    (name, share), *rest = sorted(((name, share / whole) for name, share in shares.items()), key=lambda each: -each[1])
    for_it = [f"{each} {value:.0%}" for each, value in rest if value >= 0.005]
    against = [f"{each} {-value:.0%}" for each, value in rest if value <= -0.005]
    if not against:
        return ", ".join([f"**{name.capitalize()} decides {share:.0%} of this ranking**", *for_it]) + "."
    decides = "decides most" if share >= max(-value for _, value in rest) else "leads"
    return ", ".join([f"**{name.capitalize()} {decides}: {share:.0%}**", *for_it]) + f", against {', '.join(against)}."


def _exactly(shares: dict[str, float]) -> str:
    """The shares as they are measured, for the tooltip."""
    listed = ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
    return (
        f"Measured, each part's share of the differences between the scores: {listed}. They add up to 100%; a negative "
        "share turns the order the other way. The sentence gives each part's size out of all sizes."
    )


def draw_warnings(result: RecallResult, control: float | None) -> None:
    """Warn where the scores say less: by words alone, all alike, or no higher than for a query without meaning."""
    if result.notice:
        st.warning(safe(result.notice, 600), icon=":material/warning:")
    if len(result) > 1 and not result.ranking.shares():
        st.warning("Every score here is the same, so the order means nothing.", icon=":material/drag_handle:")
    known = [value for value in result.ranking.candidates.cosine.tolist() if value == value]
    if control is not None and known and max(known) <= control + _MARGIN:
        st.warning(
            f"The nearest memory has a similarity of {max(known):.2f}, and a query without meaning reaches "
            f"{control:.2f} here. Nothing may answer this query.",
            icon=":material/help_center:",
        )
