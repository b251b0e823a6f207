"""Sentences of a message: what its writer says in prose, with code, quotations and pasted text set apart.

Works on offsets, so that every sentence is a verbatim part of the message, and in time linear in its length.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["PASTED_CHARACTERS", "Prose", "Sentence", "masked", "read_prose"]


PASTED_CHARACTERS = 6_000
"""A message longer than this is taken for pasted text: only its first and last paragraph are read."""

_LONGEST_SENTENCE = 600
_LONGEST_OWN_PARAGRAPH = 1_000

_QUOTED_LINE = re.compile(r"\s*(?:>|\|)")
_FENCE = re.compile(r"\s*(```|~~~)")
_INTRODUCES_PASTE = re.compile(
    r"\s*-{3,}\s*(?:original|forwarded) message|\s*(?:from|subject|sent):\s\S|on .{5,80} wrote:\s*$"
    r"|.{0,120}\b(?:e-?mail|letter|article|transcript|document|chapter|poem|lyrics|post|log|text|message|"
    r"he wrote|she wrote|they wrote|it says)\b.{0,60}:\s*$",
    re.IGNORECASE,
)
_ENDS_ANYWHERE = "。！？｡।॥۔؟⸮՞፧。"
_TERMINATOR = re.compile(rf"[{_ENDS_ANYWHERE}]+[」』”’\"')]*|[.!?…‼⁇⁈⁉‽]+[”’\"')»\]]*(?=\s|$)|\n")
_ABBREVIATION = re.compile(
    r"\b(?:dr|mr|mrs|ms|prof|st|e\.g|i\.e|vs|inc|ltd|jr|sr|approx|dept)\.$|(?-i:(?:^|\b[A-Z]\w*\s|\.\s?)[A-Z])\.$",
    re.IGNORECASE,
)
_QUOTATION = re.compile(
    r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|«[^»\n]{1,400}»|「[^」\n]{1,400}」|『[^』\n]{1,400}』"
    r"|(?<!\w)'[^'\n]{3,300}'(?!\w)|(?<!\w)‘[^’\n]{3,300}’(?!\w)|`[^`\n]{1,400}`"
)


@dataclass(frozen=True)
class Sentence:
    """A verbatim part of a message, by its offset."""

    start: int
    text: str


@dataclass(frozen=True)
class Prose:
    """The sentences a message's writer says, and how many pieces were set apart, by reason."""

    sentences: list[Sentence]
    set_apart: Counter[str]


def read_prose(text: str) -> Prose:
    """Split the message into sentences; code blocks, quoted lines and pasted text are counted, not split."""
    set_apart: Counter[str] = Counter()
    sentences: list[Sentence] = []
    for start, end in _own_spans(text, set_apart):
        for sentence in _split(text, start, end):
            if len(sentence.text) > _LONGEST_SENTENCE:
                set_apart["pasted"] += 1
            else:
                sentences.append(sentence)
    return Prose(sentences, set_apart)


def masked(text: str) -> str:
    """The text with everything between quotation marks or backticks blanked out; its length is kept."""
    return _QUOTATION.sub(lambda quote: quote.group()[0] + "¤" * (len(quote.group()) - 2) + quote.group()[-1], text)


def _own_spans(text: str, set_apart: Counter[str]) -> Iterator[tuple[int, int]]:
    for start, end in _paragraphs_read(text, set_apart):
        yield from _without_blocks(text, start, end, set_apart)


def _paragraphs_read(text: str, set_apart: Counter[str]) -> list[tuple[int, int]]:
    if len(text) <= PASTED_CHARACTERS:
        return [(0, len(text))]
    set_apart["pasted"] += 1
    first = text.find("\n\n")
    last = text.rfind("\n\n")
    spans = [(0, first), (last + 2, len(text))]
    return [
        (start, end) for start, end in spans if -1 not in (first, last) and 0 < end - start <= _LONGEST_OWN_PARAGRAPH
    ]


def _without_blocks(text: str, start: int, end: int, set_apart: Counter[str]) -> Iterator[tuple[int, int]]:
    begin, fence, offset = start, "", start
    for line in text[start:end].splitlines(keepends=True):
        after = offset + len(line)
        opening = _FENCE.match(line)
        if fence or opening:
            if not fence:
                yield begin, offset
                set_apart["code"] += 1
                fence = opening.group(1) if opening else ""
            elif opening and opening.group(1) == fence:
                fence = ""
            begin = after
        elif _QUOTED_LINE.match(line):
            yield begin, offset
            set_apart["quoted"] += 1
            begin = after
        elif after < end and _INTRODUCES_PASTE.match(line[:240]):
            # A line that announces a quotation is still the writer's own; the head of a mail is not.
            yield begin, after if line.rstrip().endswith(":") else offset
            set_apart["pasted"] += 1
            return
        offset = after
    yield begin, end


def _split(text: str, start: int, end: int) -> Iterator[Sentence]:
    begin = start
    for mark in _TERMINATOR.finditer(text, start, end):
        if mark.group() == "\n" and _line_goes_on(text, mark.start(), mark.end(), end):
            continue
        if mark.group() == "." and _ABBREVIATION.search(text[max(begin, mark.end() - 12) : mark.end()]):
            continue
        yield from _stripped(text, begin, mark.end())
        begin = mark.end()
    yield from _stripped(text, begin, end)


def _line_goes_on(text: str, at: int, after: int, end: int) -> bool:
    """Whether a line break is only wrapping: a sentence is under way and goes on in lower case."""
    return after < end and text[after].islower() and at > 0 and text[at - 1] not in ".!?:;\n"


def _stripped(text: str, start: int, end: int) -> Iterator[Sentence]:
    part = text[start:end]
    inner = part.strip().lstrip("-*•·–— \t")
    if inner:
        yield Sentence(start + part.rfind(inner), inner)
