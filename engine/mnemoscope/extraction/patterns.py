"""Tables of patterns that a person can read and extend, in TOML files, and how a block of lines becomes a pattern.

A block has one alternative a line. Lines that stand deeper are the alternatives of what follows the line above them,
and a line that begins with "…" goes on after them:

    i (live|work) in
        Hanoi
        Lisbon
    …(?=$| now)
    we live

says what `(?:i (?:live|work) in (?:Hanoi|Lisbon)(?=$| now)|we live)` says. Two lines are joined by a space, or, where
the upper ends with "…" or the lower begins with "…", exactly as they are written; "…" by itself begins an alternative
that is the lines below it. Lines that begin with "#" are comments. Else a line is a regular expression, in which

- `(…)` only groups, and `'` is an apostrophe of either shape;
- `{word}` stands for the block of that name.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

__all__ = ["Words", "compile_block", "load_table"]


_WORD = re.compile(r"\{([A-Za-z_]\w*)\}")
# An escaped character, a class, a group that only groups, or an apostrophe.
_SHORTHAND = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?!\?)|'")


def load_table(name: str) -> dict[str, Any]:
    """The table of that name that ships with the library."""
    text = files("mnemoscope").joinpath("extraction", "tables", f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@dataclass
class Words:
    """Blocks by name, of which one may use others, and the patterns they have become so far."""

    blocks: Mapping[str, str]
    _built: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        """The pattern of a block, to stand within another one."""
        if name not in self._built:
            self._built[name] = self.expand(self.blocks[name])
        return self._built[name]

    def expand(self, block: str) -> str:
        """The pattern that a block stands for."""
        return _WORD.sub(lambda found: self[found[1]], _SHORTHAND.sub(_spell_out, _join(_lines_of(block))))


def compile_block(block: str, words: Words | None = None) -> re.Pattern[str]:
    """The pattern that a block stands for, whatever the letter case of what it is looked for in."""
    return re.compile((words or Words({})).expand(block), re.IGNORECASE)


@dataclass
class _Line:
    """A line and those that stand deeper below it."""

    text: str
    depth: int
    below: list[_Line] = field(default_factory=list)


def _lines_of(block: str) -> list[_Line]:
    """The lines of a block as trees."""
    root = _Line("", -1)
    above = [root]
    for written in block.splitlines():
        text = written.strip()
        if not text or text.startswith("#"):
            continue
        line = _Line(text, len(written) - len(written.lstrip()))
        while above[-1].depth >= line.depth:
            above.pop()
        above[-1].below.append(line)
        above.append(line)
    return root.below


def _join(lines: list[_Line]) -> str:
    """The alternatives as one group, or bare where there is one alone."""
    alternatives: list[str] = []
    for line in lines:
        text = line.text
        goes_on = text.startswith("…") and text != "…"
        if goes_on:
            text = text[1:]
        if line.below:
            text = text[:-1] if text.endswith("…") else f"{text} "
            text += _join(line.below)
        if goes_on:
            alternatives[-1] += text
        else:
            alternatives.append(text)
    return alternatives[0] if len(alternatives) == 1 else f"({'|'.join(alternatives)})"


def _spell_out(found: re.Match[str]) -> str:
    return {"(": "(?:", "'": "['’]"}.get(found.group(), found.group())
