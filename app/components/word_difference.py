"""What changed between two texts, word by word, drawn in one piece: the old struck through, the new marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Literal, NamedTuple

import streamlit as st

from app.text.display import safe

__all__ = ["Piece", "compare", "draw"]

LIMIT = 20_000
"""Characters of each text that are compared and shown."""

_MOST_WORDS = 1_500
_WORD = re.compile(r"\s*\w+|\s*[^\w\s]|\s+")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")

_ASSETS = Path(__file__).resolve().parents[1] / "assets"

_difference = st.components.v2.component(
    "mnemoscope_difference",
    html="<p></p>\n<!-- filled by the script -->",
    css=(_ASSETS / "difference.css").read_text(encoding="utf-8"),
    js=(_ASSETS / "difference.js").read_text(encoding="utf-8"),
)


class Piece(NamedTuple):
    """A run of text that both have, or only the old, or only the new one."""

    kind: Literal["same", "old", "new"]
    text: str


def compare(before: str, after: str) -> list[Piece]:
    """The pieces of both texts in order; by lines instead of words where there are very many words."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    if max(len(old), len(new)) > _MOST_WORDS:
        old, new = _LINE.findall(before), _LINE.findall(after)
    pieces: list[Piece] = []
    for kind, start, stop, to_start, to_stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            pieces.append(Piece("same", "".join(old[start:stop])))
            continue
        pieces.extend(_runs(old[start:stop], new[to_start:to_stop]))
    return pieces


def draw(before: str, after: str, *, key: str) -> None:
    """Draw the difference of two stored texts; neither is ever read as markup."""
    pieces = compare(safe(before, LIMIT), safe(after, LIMIT))
    _difference(key=key, data={"pieces": [piece._asdict() for piece in pieces]})


def _runs(old: Sequence[str], new: Sequence[str]) -> list[Piece]:
    """Old, then new; the white space before both stands once and unmarked."""
    gone, come = "".join(old), "".join(new)
    blank = gone[: len(gone) - len(gone.lstrip())]
    shared = blank if come.startswith(blank) else ""
    pieces = Piece("same", shared), Piece("old", gone[len(shared) :]), Piece("new", come[len(shared) :])
    return [piece for piece in pieces if piece.text]
