"""Ranking while a slider is dragged: the most promising candidates, in the browser; letting go ranks them all."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import streamlit as st
from mnemoscope import MemoryConfig, RecallResult
from mnemoscope.index import Drop
from mnemoscope.recall import SECONDS_PER_DAY

from app.components.theme import ASSETS, PART_COLOURS
from app.text.display import one_line
from app.views.recall import sliders

DRAG_KEY = "recall.drag"


MOST = 500


"""Candidates that are ranked in the browser."""


_TEXT_LIMIT = 160


_LABELS = {
    "semantic_weight": "Similarity",
    "recency_weight": "Recency",
    "importance_weight": "Importance",
    "lexical_weight": "Words",
    "recency_half_life_days": "Half-life",
}


_WEIGHTS = [round(0.01 * step, 2) for step in range(101)]


_list = st.components.v2.component(
    "mnemoscope_drag",
    # More than one line, or it would be read as the path of a file.
    html='<section aria-label="Sliders"></section>\n<ol aria-label="Ranked while dragging"></ol>',
    css=(ASSETS / "drag.css").read_text(encoding="utf-8"),
    js=(ASSETS / "drag.js").read_text(encoding="utf-8"),
)


def draw_dragging(result: RecallResult, stored: MemoryConfig) -> None:
    """Draw sliders that rank at every step. What is let go of is taken over by the page's own."""
    chosen = pick_promising(result)
    names = [name for name in _LABELS if name != "lexical_weight" or result.ranking.candidates.lexical is not None]
    config = result.ranking.config
    _list(
        key=DRAG_KEY,
        data={
            "rows": [_row(result, at) for at in chosen],
            "sliders": [_slider(name, float(getattr(config, name)), stored) for name in names],
            "minimum": {"score": config.min_score, "similarity": config.min_similarity},
            "limit": result.limit,
            "colours": list(PART_COLOURS.values()),
        },
        on_chosen_change=_take_over,
    )
    left = int((result.ranking.candidates.withheld == Drop.NONE).sum()) - len(chosen)
    if left:
        st.caption(f"The {len(chosen)} most promising are ranked here; {left:,} more are, too, when you let go.")


def pick_promising(result: RecallResult) -> list[int]:
    """The positions of the candidates that may be seen and could come first: by the score, or by one part of it."""
    seen = np.flatnonzero(result.ranking.candidates.withheld == Drop.NONE)
    if len(seen) <= MOST:
        return [int(at) for at in seen]
    candidates = result.ranking.candidates
    columns = [result.ranking.scores, candidates.cosine, result.ranking.raw[1], result.ranking.raw[2]]
    columns += [] if candidates.lexical is None else [candidates.lexical]
    found: dict[int, None] = {}
    orders = [seen[np.argsort(-np.nan_to_num(column[seen], nan=-1.0), kind="stable")] for column in columns]
    for ranked in zip(*(order[:MOST].tolist() for order in orders), strict=True):
        found |= dict.fromkeys(ranked)
        if len(found) >= MOST:
            break
    return list(found)[:MOST]


def _row(result: RecallResult, at: int) -> list[Any]:
    candidates = result.ranking.candidates
    cosine = float(candidates.cosine[at])
    return [
        one_line(candidates.records[at].content, _TEXT_LIMIT) or "(no text)",
        None if np.isnan(cosine) else round(cosine, 6),
        None if candidates.lexical is None else round(float(candidates.lexical[at]), 6),
        round(float(candidates.age_seconds[at]) / SECONDS_PER_DAY, 5),
        float(result.ranking.raw[2, at]),
    ]


def _slider(name: str, value: float, stored: MemoryConfig) -> dict[str, Any]:
    steps = sliders.list_half_lives(stored) if name == "recency_half_life_days" else _WEIGHTS
    nearest = min(range(len(steps)), key=lambda at: abs(steps[at] - value))
    unit = " days" if name == "recency_half_life_days" else ""
    return {"name": name, "label": _LABELS[name], "steps": steps, "at": nearest, "unit": unit}


def _take_over() -> None:
    chosen = st.session_state[DRAG_KEY].get("chosen")
    known = {each.name for each in fields(MemoryConfig)} & _LABELS.keys()
    for name in known & set(chosen or ()):
        if isinstance(chosen[name], int | float):
            sliders.set_slider(name, float(chosen[name]))
