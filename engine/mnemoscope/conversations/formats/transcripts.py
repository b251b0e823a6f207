"""Transcripts written for people: "Name: text" lines and Markdown with a heading for every turn."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...core.text import normalise
from ..conversation import Conversation, build_conversation, count_of
from ..dates import DATE, TIME, read_dates
from ..messages import Role, strip_marks
from .kinds import TextFormat

__all__ = ["LINES_BEFORE", "MARKDOWN", "PLAIN_TEXT", "role_of_speaker", "speakers_among"]


LINES_BEFORE = "line before the first speaker"
"""What the lines above the first turn are counted as."""

_LABEL = r"(?P<label>\+?[^\W_][^\n:：]{0,60}?)"
_HEAD_TIME = r"(?:\((?P<time>[\d/.\-:, TZ]{4,30})\))?"
_DATED = rf"\[(?P<stamp>[^\]\n]{{4,40}})\]\s{{0,3}}|(?P<dash>{DATE}(?:[,،T]?\s?{TIME})?)\s[-–]\s|"
_LINE = re.compile(
    rf"(?:{_DATED}(?P<clock>\d{{1,2}}:\d{{2}}(?::\d{{2}})?)\s{{1,3}}|>>\s)?{_LABEL}\s?{_HEAD_TIME}"
    r"(?::(?=\s|$)|：)\s?(?P<text>.*)"
)
_NOTICE = re.compile(rf"(?:\[{DATE}[,،T]?\s?{TIME}\]|{DATE}[,،T]?\s?{TIME}\s[-–])\s")
_SENDER = re.compile(r"From\s+(?P<name>.+?)(?:\s+to\s+.+)?")
_HEADING = re.compile(
    rf"\#{{1,6}}\s{{1,3}}(?:\*\*)?(?P<label>[^\W_][^\n:*(]{{0,60}}?)(?:\*\*)?\s?{_HEAD_TIME}:?(?:\*\*)?\s{{0,3}}$"
)
_BOLD = re.compile(rf"\*\*(?P<label>[^\W_][^\n:*(]{{0,60}}?)(?::\*\*|\*\*:?)\s?{_HEAD_TIME}:?(?:\s(?P<text>.*))?$")
_TITLE = re.compile(r"#\s{1,3}(?P<title>\S.*)")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_FEWEST_DIGITS = 7


@dataclass(frozen=True)
class _Opening:
    """A line that may open a turn; without a label it is a dated notice, which ends the turn before it."""

    line: int
    label: str | None
    text: str = ""
    time: str | None = None


def _recognises_lines(head: str) -> bool:
    """Whether a text begins with a "Name: text" line, or has several with known roles."""
    lines = _lines(head)
    heard = _heard(_line_openings(lines))
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    known = sum(role_of_speaker(opening.label or "") is not None for opening in heard)
    return bool(heard) and (heard[0].line == first or known > 1)


def _read_lines(chunks: Iterator[str]) -> Iterator[Conversation]:
    lines = _lines("".join(chunks))
    yield _conversation(lines, _line_openings(lines), title="")


def _recognises_markdown(head: str) -> bool:
    """Whether a text has headings or bold labels that name speakers."""
    openings = _markdown_openings(_lines(head))
    labels = [opening.label or "" for opening in openings]
    return any(role_of_speaker(label) for label in labels) or (
        len(speakers_among(labels)) > 1 and len(labels) > len(set(labels))
    )


def _read_markdown(chunks: Iterator[str]) -> Iterator[Conversation]:
    lines = _lines("".join(chunks))
    openings = _markdown_openings(lines)
    start = openings[0].line if openings else len(lines)
    titles = (match["title"] for line in lines[: start + 1] if (match := _TITLE.match(line)))
    title = next((title for title in titles if role_of_speaker(title) is None), "")
    yield _conversation(lines, openings, title=title)


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _line_openings(lines: Sequence[str]) -> list[_Opening]:
    openings = []
    for number, line in enumerate(lines):
        # Chat programs put invisible marks of direction before dates and names.
        plain = strip_marks(line[:200]) + line[200:]
        if match := _LINE.match(plain):
            label = match["label"].strip()
            sender = _SENDER.fullmatch(label) if match["clock"] else None
            time = match["stamp"] or match["dash"] or match["time"]
            openings.append(_Opening(number, sender["name"] if sender else label, match["text"], time))
        elif _NOTICE.match(plain):
            openings.append(_Opening(number, None))
    return openings


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


def _heard(openings: Sequence[_Opening]) -> list[_Opening]:
    """The openings of turns: those whose label is a speaker."""
    speakers = speakers_among(opening.label for opening in openings if opening.label)
    return [opening for opening in openings if opening.label in speakers]


def _conversation(lines: Sequence[str], openings: Sequence[_Opening], *, title: str) -> Conversation:
    heard = _heard(openings)
    notices = [opening for opening in openings if opening.label is None]
    starts = sorted([*heard, *notices], key=lambda opening: opening.line)
    ends = dict(zip((each.line for each in starts), [*(each.line for each in starts[1:]), len(lines)], strict=False))
    dates = read_dates([opening.time for opening in heard if opening.time])
    moments = iter(dates.moments)
    turns = []
    for opening in heard:
        role = role_of_speaker(opening.label or "")
        turns.append(
            {
                "role": role or "user",
                "content": "\n".join([opening.text, *lines[opening.line + 1 : ends[opening.line]]]).strip(),
                "name": None if role else opening.label,
                "said_at": next(moments) if opening.time else None,
            }
        )
    before = sum(bool(line.strip()) for line in lines[: starts[0].line if starts else len(lines)]) - bool(title)
    words = count_of(before, "line before the first speaker was", "lines before the first speaker were")
    notes = [f"{words} left out."] if before else []
    left_out = {LINES_BEFORE: before, "notice": len(notices)}
    return build_conversation(turns, title=title, left_out=left_out, notes=[*notes, *dates.notes])


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
    if not any(letter.isalpha() for letter in label):
        # A number is a speaker where it can be a telephone's, and not where it counts the lines.
        return sum(letter.isdecimal() for letter in label) >= _FEWEST_DIGITS
    if not 0 < len(words) <= _MOST_WORDS or normalise(label) in _NO_NAMES:
        return False
    return not any(word[0].islower() for word in (words if once else words[:1]))


MARKDOWN = TextFormat(
    name="markdown",
    label="Markdown transcript",
    description='turns under headings such as "## User", or after bold labels such as "**User:**"',
    speakers="the user, the assistant, or everyone by name",
    order="as written",
    times="in brackets after the name; without a zone taken as UTC",
    recognises=_recognises_markdown,
    read=_read_markdown,
)
PLAIN_TEXT = TextFormat(
    name="text",
    label='Plain "Name: text"',
    description='lines such as "Ana: hello", with or without a time in front; other lines belong to the turn before',
    speakers="the user, the assistant, or everyone by name; dated lines without a name are left out",
    order="as written",
    times="before or after the name; without a zone taken as UTC; left out where day and month cannot be told apart",
    recognises=_recognises_lines,
    read=_read_lines,
)
