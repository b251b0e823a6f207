"""A score drawn as a bar of its parts: a few bytes of markup a row, made of our own words and numbers alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mnemoscope import ScorePart
from mnemoscope.recall import PARTS

from app.components.theme import PART_COLOURS
from app.text.display import score as shown_score

_TRACK = "background:rgba(128,140,145,.16);border-radius:4px;overflow:hidden;display:flex;height:14px;width:100%"


_DIM = "opacity:.68;font-size:.85em"


def write_bar(parts: Sequence[ScorePart], score: float, *, scale: float, needed: float | None = None) -> str:
    """The parts of a score, stacked, where `scale` is the full width; `needed` draws the score to beat."""
    stacked = "".join(
        f'<div title="{_describe_part(part)}" style="width:{_percent(part.contribution, scale)};'
        f'background:{PART_COLOURS[part.name]}"></div>'
        for part in parts
    )
    line = ""
    if needed is not None:
        line = (
            f'<div title="last one returned: {needed:.3f}" style="position:absolute;top:-3px;bottom:-3px;width:2px;'
            f'background:currentColor;opacity:.75;left:calc({_percent(needed, scale)} - 1px)"></div>'
        )
    label = f"Score {score:.3f}: " + ", ".join(_describe_part(part) for part in parts)
    return (
        f'<div role="img" aria-label="{label}" style="display:flex;align-items:center;gap:10px">'
        f'<div style="position:relative;flex:1;min-width:80px"><div style="{_TRACK}">{stacked}</div>{line}</div>'
        f'<span style="font-variant-numeric:tabular-nums;font-weight:600;min-width:2.9em;text-align:right">'
        f"{score:.3f}</span></div>"
    )


def write_shares(shares: Mapping[str, float]) -> str:
    """How much of the order each part decides, as one bar; what works against it is left out."""
    positive = {name: max(share, 0.0) for name, share in shares.items()}
    whole = sum(positive.values()) or 1.0
    cells = "".join(
        f'<div title="{name} {shares[name]:.0%}" style="width:{_percent(share, whole)};'
        f'background:{PART_COLOURS[name]}"></div>'
        for name, share in positive.items()
    )
    label = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
    return f'<div role="img" aria-label="Share of the order: {label}" style="{_TRACK};height:8px">{cells}</div>'


def write_legend() -> str:
    """Which colour stands for which part."""
    dots = "".join(
        f'<span style="white-space:nowrap"><span style="display:inline-block;width:10px;height:10px;border-radius:3px;'
        f'margin-right:6px;background:{PART_COLOURS[name]}"></span>{name}</span>'
        for name in PARTS
    )
    return f'<div style="display:flex;gap:16px;flex-wrap:wrap;{_DIM}">{dots}</div>'


def write_move(place: int, before: int | None) -> str:
    """A place in the ranking, and how far it moved from the place `before`, if it is compared at all."""
    told = ""
    if before is not None and before != place:
        arrow, colour = ("▲", PART_COLOURS["similarity"]) if before > place else ("▼", PART_COLOURS["recency"])
        title = f"place {before} in the other profile"
        told = f'<div title="{title}" style="color:{colour};font-size:.75em">{arrow}{abs(before - place)}</div>'
    return (
        f'<div style="text-align:center;font-variant-numeric:tabular-nums;font-weight:600;line-height:1.15">{place}'
        f"{told}</div>"
    )


def write_note(text: str) -> str:
    """A small line of our own words; never stored text."""
    return f'<div style="{_DIM}">{text}</div>'


def _describe_part(part: ScorePart) -> str:
    raw = "unknown" if part.raw is None else shown_score(part.raw)
    return f"{part.name} {raw} × {part.weight:g} = {part.contribution:.3f}"


def _percent(value: float, scale: float) -> str:
    return f"{100 * min(max(value, 0.0) / scale, 1.0):.2f}%"
