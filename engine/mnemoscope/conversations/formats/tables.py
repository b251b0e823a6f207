"""Transcripts as tables: CSV with a column for the speaker, one for the text and perhaps one for the time."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from ...errors import ConversationError
from ..conversation import Conversation, build_conversation
from ..dates import read_dates
from .kinds import TextFormat
from .transcripts import role_of_speaker

__all__ = ["CSV"]


_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "role": ("role", "speaker", "name", "from", "author", "sender"),
    "text": ("content", "text", "message", "value", "body"),
    "name": ("name", "speaker_name", "author_name"),
    "time": ("timestamp", "time", "said_at", "created_at", "createdat", "datetime", "date", "sent_at"),
    "is_user": ("iscreatedbyuser", "is_user"),
    "conversation": ("conversation_id", "conversation", "thread_id", "thread", "session_id", "session", "chat_id"),
    "id": ("message_id", "messageid", "id"),
}
_DELIMITERS = (",", ";", "\t", "|")
_LONGEST_FIELD = 1 << 26
_LONGEST_HEADER = 10_000


@dataclass(frozen=True)
class _Layout:
    """Where in a row each thing stands."""

    delimiter: str
    places: Mapping[str, int]

    def cell(self, row: Sequence[str], what: str) -> str:
        place = self.places.get(what)
        return row[place].strip() if place is not None and place < len(row) else ""


def _recognises_csv(head: str) -> bool:
    """Whether the first line names a column for the speaker and one for the text."""
    return _layout_of(next(_lines(iter([head.lstrip()])), "")) is not None


def _read_csv(chunks: Iterator[str]) -> Iterator[Conversation]:
    """A conversation for every run of rows with the same conversation id, or one for the whole table."""
    lines = _lines(chunks)
    layout = _layout_of(next((line for line in lines if line.strip()), ""))
    if layout is None:
        yield build_conversation([])
        return
    # The module's limit is one for the whole process; it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_FIELD))
    rows = csv.reader(lines, delimiter=layout.delimiter)
    filled = (row for row in _rows(rows) if row)
    for conversation, group in groupby(filled, key=lambda row: layout.cell(row, "conversation")):
        yield _conversation(layout, conversation, list(group))


def _layout_of(header: str) -> _Layout | None:
    for delimiter in _DELIMITERS:
        row = next(csv.reader([header[:_LONGEST_HEADER].strip()], delimiter=delimiter), [])
        names = [cell.strip().casefold().replace(" ", "_") for cell in row]
        places = {
            what: names.index(found)
            for what, allowed in _COLUMNS.items()
            if (found := next((name for name in allowed if name in names), None)) is not None
        }
        if "role" in places and "text" in places:
            return _Layout(delimiter, places)
    return None


def _lines(chunks: Iterator[str]) -> Iterator[str]:
    """Lines ending in a line feed, whichever ends they had."""
    held = ""
    for chunk in chunks:
        *whole, held = (held + chunk).split("\n")
        for line in whole:
            yield from (f"{part}\n" for part in line.removesuffix("\r").split("\r"))
    if held:
        yield from (f"{part}\n" for part in held.removesuffix("\r").split("\r"))


def _rows(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    try:
        yield from reader
    except csv.Error as error:
        raise ConversationError(f"The table cannot be read on: {error}. Is a quotation mark not closed?") from error


def _conversation(layout: _Layout, name: str, rows: Sequence[Sequence[str]]) -> Conversation:
    times = [layout.cell(row, "time") for row in rows]
    dates = read_dates([time for time in times if time])
    moments = iter(dates.moments)
    turns = [
        {**_turn(layout, row), "said_at": next(moments) if time else None}
        for row, time in zip(rows, times, strict=True)
    ]
    return build_conversation(turns, id=name, title=name, notes=dates.notes)


def _turn(layout: _Layout, row: Sequence[str]) -> dict[str, object]:
    speaker = layout.cell(row, "role")
    role = role_of_speaker(speaker)
    told = layout.cell(row, "is_user").casefold()
    if told in ("true", "false"):
        # A table of LibreChat names the model, and says beside it who is no person.
        role, speaker = ("user" if told == "true" else "assistant"), ""
    return {
        "role": role or "user",
        "content": layout.cell(row, "text"),
        "name": layout.cell(row, "name") if role else speaker,
        "id": layout.cell(row, "id"),
    }


CSV = TextFormat(
    name="csv",
    label="CSV table",
    description="rows with a speaker (role, speaker, name), a text (content, text, message) and perhaps a timestamp",
    speakers="the user, the assistant, or everyone by name",
    order="as written; a conversation for each run of one conversation id",
    times="of the rows; without a zone taken as UTC; left out where day and month cannot be told apart",
    recognises=_recognises_csv,
    read=_read_csv,
)
