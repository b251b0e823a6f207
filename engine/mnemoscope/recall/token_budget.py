"""A budget of tokens: what a memory costs in a prompt, and which memories fit."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.records import MemoryRecord
from ..core.text import json_line

__all__ = ["fitting", "prompt_line", "tokens_of"]


_BYTES_A_TOKEN = 4


def prompt_line(record: MemoryRecord, score: float) -> str:
    """The line by which an agent is given a memory: quoted data, with its score and date."""
    categories = f"  {json_line(record.categories)}" if record.categories else ""
    return f"- (score={score:.2f}, {record.changed_at:%Y-%m-%d}) {json_line(record.content)}{categories}"


def tokens_of(text: str) -> int:
    """About how many tokens a text is, in any script: one for four bytes of UTF-8."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_A_TOKEN)


def fitting(lines: Sequence[str], max_tokens: int) -> list[bool]:
    """Which of these lines fit, taken in order: one that does not is left out, and the next is tried."""
    fits, left = [], max_tokens
    for line in lines:
        cost = tokens_of(line + "\n")
        fits.append(cost <= left)
        left -= cost if fits[-1] else 0
    return fits
