"""The threshold of consolidation: pairs of memories to be labelled, and what each threshold would find."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence

import streamlit as st
from mnemoscope import MnemoscopeError
from mnemoscope.consolidation import LABELS, Pair, sample_pairs, suggested, threshold_curve

from app.components import actions, states
from app.session import cache, session
from app.session.scope import Scope
from app.session.session import Session
from app.text.display import counted, safe, timestamp
from app.views.tune import charts

LABEL_KEYS = {label: f"tune.label-{label}" for label in LABELS}


SKIP_KEY = "tune.skip"


_SKIPPED = "tune.skipped"


_TEXT_LIMIT = 2_000


_ENOUGH = 10


_TITLES = {"duplicate": "Same", "changed": "One corrects the other", "different": "Different"}


_ICONS = {"duplicate": ":material/content_copy:", "changed": ":material/published_with_changes:",
          "different": ":material/alt_route:"}  # fmt: skip


def draw_threshold(working: Session, here: Scope) -> None:
    """Draw the next pair, and the curve of those that have a label."""
    st.caption(
        "From which similarity on should a new fact be judged against a memory? Label pairs; a threshold should find "
        "all that say the same or correct each other, and little else."
    )
    pairs = cache.kept("tune.pairs", cache.stamp(working, here), lambda: _sample_pairs(working, here))
    if not pairs:
        states.draw_empty(
            "No two memories are alike here",
            "A threshold is learned from pairs that are similar. Choose a namespace with more memories.",
            icon=":material/join_inner:",
        )
        return
    labels = working.engine.tuning.labels(here.namespace, subtree=here.subtree)
    labelled, curve = st.columns([1, 1.1], gap="medium")
    with labelled:
        _draw_queue(working, pairs, labels)
    with curve:
        _draw_curve(working, pairs, labels)


def _sample_pairs(working: Session, here: Scope) -> list[Pair]:
    if not working.adapter.abilities.reads_vectors:
        return []
    with st.spinner("Comparing the memories …"):
        return sample_pairs(working.engine.index(here.namespace, subtree=here.subtree))


def _draw_queue(working: Session, pairs: Sequence[Pair], labels: Mapping[str, str]) -> None:
    done = sum(pair.id in labels for pair in pairs)
    st.progress(done / len(pairs), f"{done:,} of {counted(len(pairs), 'pair')} labelled")
    if done == len(pairs):
        st.success("Every pair of this sample has a label.", icon=":material/check_circle:")
        return
    pair = _next(pairs, labels, st.session_state.get(_SKIPPED, []))
    for record in (pair.one, pair.other):
        with st.container(border=True):
            st.text(safe(record.content, _TEXT_LIMIT))
            st.caption(f"Changed {timestamp(record.changed_at)}")
    st.caption(f"Similarity {pair.similarity:.3f}")
    help = None if working.is_writing else "Reading only. Switch writing on at the top of the page."
    with st.container(horizontal=True, gap="small"):
        for label, key in LABEL_KEYS.items():
            st.button(
                _TITLES[label],
                key=key,
                icon=_ICONS[label],
                help=help or LABELS[label],
                disabled=help is not None,
                on_click=functools.partial(_label, pair, label),
            )
        st.button("Skip", key=SKIP_KEY, type="tertiary", on_click=functools.partial(_skip, pair.id))


def _draw_curve(working: Session, pairs: Sequence[Pair], labels: Mapping[str, str]) -> None:
    curve = threshold_curve(pairs, labels)
    known = sum(pair.id in labels for pair in pairs)
    present = working.engine.config.consolidation_threshold
    if not curve:
        st.caption("Label some pairs, and the curve appears here.")
        return
    best = suggested(curve)
    figure = charts.chart_threshold(curve, present, None if best is None else best.threshold)
    st.plotly_chart(figure, config=charts.CONFIG, key="tune-threshold")
    st.caption("Found: share of the pairs for the judge that it gets. Right: share of what it gets that is for it.")
    if best is None:
        st.markdown("No label says *same* or *corrects* yet, so nothing can be suggested.")
        return
    precision = "" if best.precision is None else f", and {best.precision:.0%} of what it gets is for it"
    st.markdown(
        f"**{best.threshold:.2f}** is the greatest threshold that finds 95 % of what the judge should see{precision}."
    )
    if known < _ENOUGH:
        st.caption(f"Only {counted(known, 'pair has', 'pairs have')} a label; take it as a first guess.")
    st.code(f"MemoryConfig(consolidation_threshold={best.threshold:.2f})", language="python")


def _next(pairs: Sequence[Pair], labels: Mapping[str, str], skipped: Sequence[str]) -> Pair:
    """The pair to label next: from the degree of similarity that has the fewest labels yet."""
    done = Counter(_degree(pair) for pair in pairs if pair.id in labels)
    left = [pair for pair in pairs if pair.id not in labels]
    return min(left, key=lambda pair: (pair.id in skipped, done[_degree(pair)], -pair.similarity))


def _degree(pair: Pair) -> int:
    return int(pair.similarity * 20)


def _label(pair: Pair, label: str) -> None:
    try:
        working = session.require_writing()
        working.engine.tuning.label(pair, label, actor=working.operator)
    except MnemoscopeError as error:
        actions.refuse(error)


def _skip(id: str) -> None:
    st.session_state[_SKIPPED] = [*st.session_state.get(_SKIPPED, []), id]
