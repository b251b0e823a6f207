"""What changed: between two texts word by word, in one piece, and in the labels beside them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any, Literal, NamedTuple

import streamlit as st
from mnemoscope import Change

from app.components.theme import ASSETS
from app.text.display import safe

LIMIT = 20_000
"""Characters of each text that are compared and shown."""

_MOST_WORDS = 1_500

_WORD = re.compile(r"\s*\w+|\s*[^\w\s]|\s+")

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


_difference = st.components.v2.component(
    "mnemoscope_difference",
    html="<p></p>\n<!-- filled by the script -->",
    css=(ASSETS / "difference.css").read_text(encoding="utf-8"),
    js=(ASSETS / "difference.js").read_text(encoding="utf-8"),
)

ACTION_ICONS = {
    "insert": ":material/add_circle:", "update": ":material/edit:", "forget": ":material/delete:",
    "restore": ":material/restore_from_trash:", "undo": ":material/undo:", "merge": ":material/merge:",
    "move": ":material/drive_file_move:", "import": ":material/upload:", "erase": ":material/ink_eraser:",
    "delete": ":material/delete:", "adopt": ":material/input:", "allow": ":material/lock_open:",
}  # fmt: skip

_LABELS = ("categories", "importance", "private", "source", "metadata", "pinned", "expires_at")


class Piece(NamedTuple):
    """A run of text that both have, or only the old, or only the new one."""

    kind: Literal["same", "old", "new"]
    text: str


def compare_words(before: str, after: str) -> list[Piece]:
    """The pieces of both texts in order; by lines instead of words where there are very many words."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    if max(len(old), len(new)) > _MOST_WORDS:
        old, new = _LINE.findall(before), _LINE.findall(after)
    pieces: list[Piece] = []
    for kind, start, stop, to_start, to_stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            pieces.append(Piece("same", "".join(old[start:stop])))
            continue
        pieces.extend(_split_run(old[start:stop], new[to_start:to_stop]))
    return pieces


def draw_difference(before: str, after: str, *, key: str) -> None:
    """Draw the difference of two stored texts; neither is ever read as markup."""
    pieces = compare_words(safe(before, LIMIT), safe(after, LIMIT))
    _difference(key=key, data={"pieces": [piece._asdict() for piece in pieces]})


def _split_run(old: Sequence[str], new: Sequence[str]) -> list[Piece]:
    """Old, then new; the white space before both stands once and unmarked."""
    gone, come = "".join(old), "".join(new)
    blank = gone[: len(gone) - len(gone.lstrip())]
    shared = blank if come.startswith(blank) else ""
    pieces = Piece("same", shared), Piece("old", gone[len(shared) :]), Piece("new", come[len(shared) :])
    return [piece for piece in pieces if piece.text]


def describe_labels(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What else than the text changed, one line a field."""
    changed = [name for name in _LABELS if before.get(name) != after.get(name)]
    return [f"{name}: {_show_value(before.get(name))} → {_show_value(after.get(name))}" for name in changed]


def _show_value(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def is_about_private(change: Change) -> bool:
    """Whether the memory was private before or after the change."""
    return any(value is not None and bool(value.get("private")) for value in (change.before, change.after))
