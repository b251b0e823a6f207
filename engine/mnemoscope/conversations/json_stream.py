"""JSON values out of a stream of text: the items of one list, or values one after another (JSON lines).

Only one item is held at a time, so a file of any size can be read. A broken item is reported with its line
and column; reading goes on at the next line that opens a value at its very start.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["JsonFault", "JsonItem", "json_items"]


_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")
_NEXT_VALUE = re.compile(r"\n(?=[{\[])")
# No token but a string is longer, so an error this far from the end is not for want of more text.
_LONGEST_TOKEN = 5_000


@dataclass(frozen=True)
class JsonItem:
    """One value of the stream; `where` names the line it starts on."""

    where: str
    value: object


@dataclass(frozen=True)
class JsonFault:
    """A stretch of the stream that is not JSON; `where` names the line it starts on."""

    where: str
    reason: str


Outcome: TypeAlias = JsonItem | JsonFault


def json_items(chunks: Iterator[str]) -> Iterator[Outcome]:
    """Every item of the list that the text is, or every value of a text that is several."""
    window = _Window(chunks)
    window.skip_space()
    if window.peek() == "[" and not _is_lines_of_lists(window):
        window.advance(1)
        yield from _list_items(window)
    else:
        yield from _values(window)


class _Window:
    """The part of the text that is being looked at."""

    def __init__(self, chunks: Iterator[str]) -> None:
        self._chunks = chunks
        self.text = ""
        self.at = 0
        self.ended = False
        self._line = 1
        self._column = 1

    def grow(self) -> None:
        """Read at least as much as is held, so that reading an item again and again stays linear."""
        pieces = [self.text[self.at :]]
        wanted = len(pieces[0]) + 1
        while wanted > 0 and not self.ended:
            chunk = next(self._chunks, None)
            self.ended = chunk is None
            pieces.append(chunk or "")
            wanted -= len(pieces[-1])
        self.text, self.at = "".join(pieces), 0

    def advance(self, to: int) -> None:
        """Go on to an offset of the text, counting lines and columns."""
        lines = self.text.count("\n", self.at, to)
        self._line += lines
        self._column = to - self.text.rfind("\n", self.at, to) if lines else self._column + to - self.at
        self.at = to

    def skip_space(self) -> None:
        while True:
            match = _SPACE.match(self.text, self.at)
            self.advance(match.end() if match else self.at)
            if self.at < len(self.text) or self.ended:
                return
            self.grow()

    def peek(self) -> str:
        """The character at hand, or nothing at the end."""
        return self.text[self.at : self.at + 1]

    @property
    def where(self) -> str:
        return f"line {self._line}"

    def place(self, offset: int) -> str:
        lines = self.text.count("\n", self.at, offset)
        column = offset - self.text.rfind("\n", self.at, offset) if lines else self._column + offset - self.at
        return f"line {self._line + lines}, column {column}"

    def value(self) -> object:
        """The value at hand, gone past.

        Raises:
            ValueError: it is not JSON, or the text ends within it.
        """
        while True:
            try:
                value, end = _DECODER.raw_decode(self.text, self.at)
            except json.JSONDecodeError as error:
                if self.ended or self._is_certain(error):
                    raise
            else:
                if self.ended or isinstance(value, dict | list) or end + _LONGEST_TOKEN < len(self.text):
                    self.advance(end)
                    return value
            self.grow()

    def _is_certain(self, error: json.JSONDecodeError) -> bool:
        return not error.msg.startswith("Unterminated string") and error.pos + _LONGEST_TOKEN < len(self.text)

    def skip_fault(self) -> bool:
        """Go on to the next line that opens a value at its start; False where there is none."""
        while True:
            match = _NEXT_VALUE.search(self.text, self.at + 1)
            if match:
                self.advance(match.end())
                return True
            if self.ended:
                self.advance(len(self.text))
                return False
            self.advance(max(self.at, len(self.text) - 2))
            self.grow()


def _is_lines_of_lists(window: _Window) -> bool:
    """Whether the first line is a whole list and more text follows it."""
    line, _, rest = window.text[window.at :].partition("\n")
    if not rest.strip():
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _values(window: _Window) -> Iterator[Outcome]:
    while window.peek():
        outcome = _item(window)
        yield outcome
        if isinstance(outcome, JsonFault) and not window.skip_fault():
            return
        window.skip_space()


def _list_items(window: _Window) -> Iterator[Outcome]:
    window.skip_space()
    if window.peek() == "]":
        window.advance(window.at + 1)
    else:
        yield from _separated_items(window)
    window.skip_space()
    if window.peek():
        yield JsonFault(window.where, f"there is more text after the list ends, at {window.place(window.at)}")


def _separated_items(window: _Window) -> Iterator[Outcome]:
    while True:
        outcome = _item(window)
        yield outcome
        if isinstance(outcome, JsonItem):
            window.skip_space()
            separator = window.peek()
            if separator in {",", "]"}:
                window.advance(window.at + 1)
                window.skip_space()
                if separator == "]":
                    return
                continue
            reason = "the text ends inside the list" if not separator else "a comma is missing between items"
            yield JsonFault(window.where, f"{reason}, at {window.place(window.at)}")
        if not window.skip_fault():
            return


def _item(window: _Window) -> Outcome:
    where = window.where
    try:
        return JsonItem(where, window.value())
    except json.JSONDecodeError as error:
        ending = " (the text ends there: it may have been cut off)" if _is_cut(window, error) else ""
        return JsonFault(where, f"not JSON at {window.place(error.pos)}: {error.msg}{ending}")
    except (ValueError, RecursionError) as error:
        return JsonFault(where, f"JSON that is too deep or has too long a number: {error}")


def _is_cut(window: _Window, error: json.JSONDecodeError) -> bool:
    rest = _SPACE.match(window.text, error.pos)
    return error.msg.startswith("Unterminated string") or (rest is not None and rest.end() == len(window.text))
