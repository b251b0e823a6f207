"""Transcripts written for people: "Name: text" lines and Markdown with a heading for every turn."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..core.text import normalise
from .formats import Conversation, build_conversation
from .messages import Role, moment_of

__all__ = [
    "LINES_BEFORE",
    "read_lines",
    "read_markdown",
    "recognises_lines",
    "recognises_markdown",
    "role_of_speaker",
    "speakers_among",
]


LINES_BEFORE = "line before the first speaker"
"""What the lines above the first turn are counted as."""

_LINE = re.compile(
    r"(?:\[(?P<stamp>[^\]\n]{4,40})\]\s{0,3}|(?P<dash>\d[\d/.\-:, T]{5,24}(?:\s?[AaPp]\.?[Mm]\.?)?)\s-\s)?"
    r"(?P<label>[^\W_][^\n:：]{0,60}?)\s?(?:\((?P<time>[\d/.\-:, TZ]{4,30})\))?(?::(?=\s|$)|：)\s?(?P<text>.*)"
)
_HEADING = re.compile(
    r"\#{1,6}\s{1,3}(?:\*\*)?(?P<label>[^\W_][^\n:*(]{0,60}?)(?:\*\*)?\s?(?:\((?P<time>[\d/.\-:, TZ]{4,30})\))?"
    r":?(?:\*\*)?\s{0,3}$"
)
_BOLD = re.compile(
    r"\*\*(?P<label>[^\W_][^\n:*(]{0,60}?)(?::\*\*|\*\*:?)\s?(?:\((?P<time>[\d/.\-:, TZ]{4,30})\))?"
    r":?(?:\s(?P<text>.*))?$"
)
_TITLE = re.compile(r"#\s{1,3}(?P<title>\S.*)")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_YEAR_FIRST = re.compile(r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})")


@dataclass(frozen=True)
class _Opening:
    """A line that may open a turn."""

    line: int
    label: str
    text: str
    time: str | None


def recognises_lines(head: str) -> bool:
    """Whether a text begins with a "Name: text" line, or has several with known roles."""
    openings = _line_openings(_lines(head))
    speakers = speakers_among(opening.label for opening in openings)
    first = next((number for number, line in enumerate(_lines(head)) if line.strip()), None)
    heard = [opening for opening in openings if opening.label in speakers]
    known = sum(role_of_speaker(opening.label) is not None for opening in heard)
    return bool(heard) and (heard[0].line == first or known > 1)


def read_lines(chunks: Iterator[str]) -> Iterator[Conversation]:
    """The one conversation of a "Name: text" transcript; other lines belong to the turn before them."""
    lines = _lines("".join(chunks))
    yield _conversation(lines, _line_openings(lines), title="")


def recognises_markdown(head: str) -> bool:
    """Whether a text has headings or bold labels that name speakers."""
    openings = _markdown_openings(_lines(head))
    return any(role_of_speaker(opening.label) for opening in openings) or (
        len(speakers_among(opening.label for opening in openings)) > 1
        and len(openings) > len({opening.label for opening in openings})
    )


def read_markdown(chunks: Iterator[str]) -> Iterator[Conversation]:
    """The one conversation of a Markdown transcript, titled by its first heading that is no speaker."""
    lines = _lines("".join(chunks))
    openings = _markdown_openings(lines)
    start = openings[0].line if openings else len(lines)
    titles = (match["title"] for line in lines[: start + 1] if (match := _TITLE.match(line)))
    title = next((title for title in titles if role_of_speaker(title) is None), "")
    yield _conversation(lines, openings, title=title)


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _line_openings(lines: Sequence[str]) -> list[_Opening]:
    return [
        _Opening(number, match["label"].strip(), match["text"], match["stamp"] or match["dash"] or match["time"])
        for number, line in enumerate(lines)
        if (match := _LINE.match(line))
    ]


def _markdown_openings(lines: Sequence[str]) -> list[_Opening]:
    openings = []
    fenced = False
    for number, line in enumerate(lines):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and (match := _HEADING.match(line) or _BOLD.match(line)):
            found = match.groupdict()
            openings.append(_Opening(number, found["label"].strip(), found.get("text") or "", found["time"]))
    return openings


def _conversation(lines: Sequence[str], openings: Sequence[_Opening], *, title: str) -> Conversation:
    speakers = speakers_among(opening.label for opening in openings)
    heard = [opening for opening in openings if opening.label in speakers]
    ends = [*(opening.line for opening in heard[1:]), len(lines)]
    turns = [_turn(opening, lines[opening.line + 1 : end]) for opening, end in zip(heard, ends, strict=False)]
    before = sum(bool(line.strip()) for line in lines[: heard[0].line if heard else len(lines)])
    before -= bool(title)
    notes = [f"{before} lines before the first speaker were left out."] if before else []
    undated = sum(opening.time is not None and _moment(opening.time) is None for opening in heard)
    if undated:
        notes.append(f"{undated} times were left out: only dates written year first are sure to be read right.")
    return build_conversation(turns, title=title, left_out={LINES_BEFORE: before}, notes=notes)


def _turn(opening: _Opening, more: Sequence[str]) -> object:
    role = role_of_speaker(opening.label)
    return {
        "role": role or "user",
        "content": "\n".join([opening.text, *more]).strip(),
        "name": None if role else opening.label,
        "said_at": _moment(opening.time) if opening.time else None,
    }


def _moment(text: str) -> datetime | None:
    """A time that has its date, year first; others are ambiguous."""
    year_first = _YEAR_FIRST.sub(lambda match: f"{match[1]}-{match[2]:0>2}-{match[3]:0>2}", text.strip())
    return moment_of(year_first.replace(", ", " ")) if year_first[:4].isdecimal() else None


_WORDS: Mapping[Role, str] = {
    "user": "user human me you customer client caller usuario utilisateur utente benutzer nutzer пользователь "
    "ユーザー 用户 用戶 사용자 المستخدم उपयोगकर्ता",
    "assistant": "assistant ai bot agent chatbot chatgpt claude gpt gemini copilot llm model asistente assistente "
    "assistent ассистент アシスタント 助手 어시스턴트 المساعد सहायक",
    "system": "system developer",
    "tool": "tool function",
}
_ROLE_OF: Mapping[str, Role] = {word: role for role, words in _WORDS.items() for word in words.split()}
_MOST_WORDS = 5
_NO_NAMES = frozenset(
    {"note", "notes", "nb", "ps", "p.s.", "update", "edit", "subject", "date", "re", "fwd", "todo", "warning", "tip"}
)


def role_of_speaker(label: str) -> Role | None:
    """The role that a label names in so many words ("User", "AI", "ChatGPT said"), or None for a person."""
    return _ROLE_OF.get(normalise(label).removesuffix(" said"))


def speakers_among(labels: Iterable[str]) -> frozenset[str]:
    """Those of the labels found in a transcript that are speakers, and not words before a colon.

    Where both a user and an assistant are labelled as such, only such labels are speakers. Else everyone with a
    name is; a label that comes once must have every word written large, so that "To be exact:" is none.
    """
    times = Counter(labels)
    roles = {label: role for label in times if (role := role_of_speaker(label)) is not None}
    if {"user", "assistant"} <= set(roles.values()):
        return frozenset(roles)
    return frozenset({*roles, *(label for label in times if _is_name(label, once=times[label] == 1))})


def _is_name(label: str, *, once: bool) -> bool:
    words = label.split()
    if not 0 < len(words) <= _MOST_WORDS or normalise(label) in _NO_NAMES:
        return False
    return not any(word[0].islower() for word in (words if once else words[:1]))
