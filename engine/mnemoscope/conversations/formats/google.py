"""Conversations with Gemini: Takeout's activity as JSON and as HTML, AI Studio, and the contents of Google's API."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html.parser import HTMLParser

from ...core.text import one_line
from ..conversation import Conversation, Outcome, Unreadable, build_conversation
from ..messages import moment_of
from .kinds import Fields, JsonFormat, RecordFormat, TextFormat, fields_of, list_of, text_in

__all__ = ["AI_STUDIO", "GEMINI_ACTIVITY", "GEMINI_HTML", "GOOGLE_CONTENTS"]


# HTML as text

_BLOCK_TAGS = frozenset({"p", "div", "br", "li", "ul", "ol", "tr", "table", "pre", "blockquote", "hr"}) | {
    f"h{level}" for level in range(1, 7)
}
_SILENT_TAGS = frozenset({"style", "script", "head"})


class _Text(HTMLParser):
    """The words of a piece of HTML, a line for each block."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, _attributes: list[tuple[str, str | None]]) -> None:
        self._silent += tag in _SILENT_TAGS
        if tag in _BLOCK_TAGS:
            self.pieces.append("\n")
        if tag == "li":
            self.pieces.append("- ")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in _SILENT_TAGS and self._silent > 0
        if tag in _BLOCK_TAGS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.pieces.append(data)


def _text_of_html(html: str) -> str:
    parser = _Text()
    parser.feed(html)
    parser.close()
    lines = (line.strip() for line in "".join(parser.pieces).replace("\xa0", " ").split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


# Takeout's activity

_CHAT_ID = re.compile(r"https://gemini\.google\.com/(?:u/\d+/)?(?:app|gem/[\w-]+)/(\w+)")
# How Google says that a prompt was sent, in the languages of which an export was seen.
_PROMPTED = re.compile(r"(?:Prompted|Said|Asked|Запит:|Запрос:|Eingegebener Prompt:|Prompt eingegeben:)\s+")
_LONGEST_LEAD = 40
_FEWEST_FOR_LEAD = 3


@dataclass(frozen=True)
class _Exchange:
    """One row of the activity: a prompt with Google's words before it, and the answer."""

    chat: str | None
    title: str
    answer: str
    said_at: datetime | None
    attachments: int = 0


def _is_activity(value: object) -> bool:
    fields = fields_of(value)
    about = [fields.get("header"), *list_of(fields.get("products"))]
    return {"header", "title", "time"} <= fields.keys() and any(
        isinstance(each, str) and ("Gemini" in each or each == "Bard") for each in about
    )


def _read_activity(records: Iterator[object]) -> Iterator[Outcome]:
    yield from _conversations([_exchange(fields_of(record)) for record in records])


def _exchange(record: Fields) -> _Exchange:
    links = [str(fields_of(each).get("url")) for each in list_of(record.get("details"))]
    links.append(str(record.get("titleUrl")))
    chats = {found[1] for link in links if (found := _CHAT_ID.match(link))}
    answer = "\n".join(text_in(fields_of(each), "html") for each in list_of(record.get("safeHtmlItem")))
    return _Exchange(
        chat=chats.pop() if len(chats) == 1 else None,
        title=text_in(record, "title"),
        answer=_text_of_html(answer),
        said_at=moment_of(record.get("time")),
        attachments=len(list_of(record.get("attachedFiles"))),
    )


def _conversations(exchanges: Sequence[_Exchange]) -> Iterator[Outcome]:
    """A conversation for each chat, or for each day where the activity does not name the chats."""
    lead = _lead_of([each.title for each in exchanges if each.answer])
    chats: dict[str, list[_Exchange]] = {}
    oldest_first = sorted(exchanges, key=lambda each: each.said_at or datetime.min.replace(tzinfo=UTC))
    for each in oldest_first:
        day = f"{each.said_at:%Y-%m-%d}" if each.said_at else "without a time"
        chats.setdefault(each.chat or day, []).append(each)
    for chat, members in chats.items():
        yield _conversation(chat, members, lead)


def _lead_of(titles: Sequence[str]) -> str:
    """Google's words before every prompt in a language that is not known: what all titles have in common."""
    if len(set(titles)) < _FEWEST_FOR_LEAD or any(_PROMPTED.match(title) for title in titles):
        return ""
    for mark in (": ", " "):
        leads = {title.partition(mark)[0] + mark for title in titles if mark in title}
        if len(leads) == 1 and all(mark in title for title in titles):
            lead = leads.pop()
            return lead if len(lead) <= _LONGEST_LEAD else ""
    return ""


def _conversation(chat: str, exchanges: Sequence[_Exchange], lead: str) -> Conversation:
    left_out: Counter[str] = Counter()
    turns: list[object] = []
    unknown = 0
    for each in exchanges:
        prompt = _prompt_of(each, lead)
        if prompt is None:
            left_out["activity without a prompt"] += 1
            continue
        unknown += prompt == each.title
        left_out["attachment"] += each.attachments
        turns.append({"role": "user", "content": prompt, "said_at": each.said_at})
        if each.answer:
            turns.append({"role": "assistant", "content": each.answer, "said_at": each.said_at})
    notes = [] if exchanges[0].chat else ["Google does not say which chat a prompt belongs to: this is one day."]
    if unknown:
        notes.append("Its prompts begin with words of Google's own, in a language in which they are not known.")
    return build_conversation(turns, id=chat, title=f"Gemini {chat}", left_out=left_out, notes=notes)


def _prompt_of(exchange: _Exchange, lead: str) -> str | None:
    """The words of the person; the whole title where Google's own are not known; None where there was no prompt."""
    known = _PROMPTED.match(exchange.title)
    if known is not None:
        return exchange.title[known.end() :]
    if lead and exchange.title.startswith(lead):
        return exchange.title.removeprefix(lead)
    return exchange.title if exchange.answer else None


GEMINI_ACTIVITY = RecordFormat(
    name="gemini-activity",
    label="Gemini activity",
    description="`MyActivity.json` of Google Takeout, also in its ZIP",
    speakers="you and Gemini",
    order="by time; a conversation for each chat, or each day where chats are not named",
    times="UTC",
    recognises=_is_activity,
    read=_read_activity,
)


# The same as HTML

_CELL = re.compile(
    r'<div class="content-cell[^"]*mdl-typography--body-1">(.*?)(?=<div class="content-cell|\Z)', re.DOTALL
)
_OUTER_CELL = '<div class="outer-cell'
_PRODUCT = re.compile(r"mdl-typography--title\">\s*([^<]*)<")
_TIME_LINE = re.compile(r"(?=.*\b(?:19|20)\d\d\b)[^\n]{0,40}\b\d{1,2}:\d{2}:\d{2}\b[^\n]{0,20}")
_ENGLISH_TIME = re.compile(r"(\w{3}) (\d{1,2}), (\d{4}), (\d{1,2}:\d{2}:\d{2}) ?([AP]M) (\w+)")
_ZONES = {"UTC": 0, "GMT": 0, "CET": 1, "CEST": 2, "BST": 1, "EST": -5, "EDT": -4, "PST": -8, "PDT": -7}
_ATTACHED = re.compile(r"Attached \d+ files?\.")


def _is_activity_html(head: str) -> bool:
    return "mdl-typography" in head and "content-cell" in head


def _read_activity_html(chunks: Iterator[str]) -> Iterator[Outcome]:
    rows = "".join(chunks).split(_OUTER_CELL)[1:]
    gemini = [row for row in rows if (found := _PRODUCT.search(row)) and ("Gemini" in found[1] or "Bard" in found[1])]
    exchanges = [each for row in gemini if (each := _html_exchange(row)) is not None]
    if exchanges:
        yield from _conversations(exchanges)
    elif gemini:
        yield Unreadable(
            "line 1",
            "this is Google's activity in a language whose times cannot be read. Choose JSON for the activity in "
            "Takeout and try again.",
        )
    else:
        yield Unreadable("line 1", "this is Google's activity, with nothing of Gemini in it.")


def _html_exchange(row: str) -> _Exchange | None:
    cell = _CELL.search(row)
    lines = _text_of_html(cell[1]).split("\n") if cell else []
    at = next((number for number, line in enumerate(lines) if number and _TIME_LINE.fullmatch(line)), None)
    if at is None:
        return None
    attached = next((number for number, line in enumerate(lines[:at]) if _ATTACHED.fullmatch(line)), at)
    chat = _CHAT_ID.search(row)
    return _Exchange(
        chat=chat[1] if chat else None,
        title="\n".join(lines[:attached]).strip(),
        answer="\n".join(lines[at + 1 :]).strip(),
        said_at=_english_time(lines[at]),
        attachments=max(0, at - attached - 1),
    )


def _english_time(line: str) -> datetime | None:
    found = _ENGLISH_TIME.fullmatch(one_line(line))
    if found is None or found[6] not in _ZONES:
        return None
    offset = _ZONES[found[6]]
    text = f"{found[1]} {found[2]} {found[3]} {found[4]} {found[5]} {offset:+03d}00"
    try:
        return datetime.strptime(text, "%b %d %Y %I:%M:%S %p %z").astimezone(UTC)
    except ValueError:
        return None


GEMINI_HTML = TextFormat(
    name="gemini-html",
    label="Gemini activity as HTML",
    description="`MyActivity.html` of Google Takeout, also in its ZIP",
    speakers="you and Gemini",
    order="by time; a conversation for each chat, or each day where chats are not named",
    times="as written in English, with their zone; other languages without times",
    recognises=_is_activity_html,
    read=_read_activity_html,
)


# AI Studio


def _read_ai_studio(value: object) -> Iterator[Conversation]:
    fields = fields_of(value)
    prompt = fields_of(fields.get("chunkedPrompt"))
    left_out: Counter[str] = Counter()
    turns: list[object] = [_system(fields.get("systemInstruction"))] if fields.get("systemInstruction") else []
    turns += [_studio_turn(fields_of(chunk), left_out) for chunk in list_of(prompt.get("chunks"))]
    drafts = [fields_of(each) for each in list_of(prompt.get("pendingInputs"))]
    left_out["draft that was not sent"] += sum(bool(text_in(each, "text")) for each in drafts)
    yield build_conversation(turns, id=fields.get("id"), title=fields.get("title"), left_out=left_out)


def _system(instruction: object) -> Fields:
    fields = fields_of(instruction)
    return {"role": "system", "content": fields.get("parts") or fields.get("text")}


def _studio_turn(chunk: Fields, left_out: Counter[str]) -> Fields:
    left_out["attachment"] += sum(name.startswith(("drive", "inline", "youtube")) for name in chunk)
    is_thought = chunk.get("isThought") is True
    text = chunk.get("text", "")
    return {**chunk, "content": {"type": "thinking"} if is_thought else text}


AI_STUDIO = JsonFormat(
    name="ai-studio",
    label="AI Studio chat",
    description="a chat of Google AI Studio, as Drive keeps it",
    speakers="you and the model; what was not sent is left out",
    order="as written",
    times="none, or as the file has them",
    recognises=lambda value: isinstance(fields_of(fields_of(value).get("chunkedPrompt")).get("chunks"), list),
    read=_read_ai_studio,
)


# Contents of the API


def _contents_of(value: object) -> Sequence[object]:
    contents = value if isinstance(value, list) else fields_of(value).get("contents")
    turns = list_of(contents)
    return turns if turns and isinstance(fields_of(turns[0]).get("parts"), list) else ()


def _read_contents(value: object) -> Iterator[Conversation]:
    fields = fields_of(value)
    system = fields.get("systemInstruction") or fields.get("system_instruction")
    prompt: list[object] = [_system(system)] if system else []
    # A single turn may name no role: it is the person's.
    turns = [{"role": "user", **fields_of(turn)} for turn in _contents_of(value)]
    yield build_conversation([*prompt, *turns, *_candidate(fields)])


def _candidate(fields: Fields) -> list[object]:
    """The answer, where a log keeps it beside the request: the first candidate."""
    response = fields_of(fields.get("response")) or fields
    return [fields_of(each).get("content") for each in list_of(response.get("candidates"))[:1]]


GOOGLE_CONTENTS = JsonFormat(
    name="google",
    label="Google contents",
    description="requests to Gemini: lists of `role` and `parts`, bare or under `contents`",
    speakers="the user and the model",
    order="as written",
    times="none",
    recognises=lambda value: bool(_contents_of(value)),
    read=_read_contents,
)
