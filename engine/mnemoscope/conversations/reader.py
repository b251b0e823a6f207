"""Conversations out of files of every common shape, one at a time, so that large files stream.

A file is JSON (one value, a list, or lines) or text. Every JSON value is recognised for itself, so a file may mix
formats; messages that stand bare in a list or on lines of their own make one conversation together. What cannot be
read is yielded as `Unreadable` in its place; a file with nothing readable in it is a `ConversationError`.

Lists and JSON lines are held one conversation at a time; one JSON object, "Name: text" and Markdown as a whole.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, tee
from pathlib import PurePath
from typing import BinaryIO

from ..core.text import shown
from ..errors import ConversationError, InputError
from .decoding import text_chunks
from .formats import Conversation, Format, JsonFormat, Outcome, TextFormat, Unreadable
from .json_formats import JSON_FORMATS, is_message
from .json_stream import JsonFault, JsonItem, json_items
from .tables import read_csv, recognises_csv
from .transcripts import LINES_BEFORE, read_lines, read_markdown, recognises_lines, recognises_markdown

__all__ = ["FORMATS", "read_conversations", "recognise"]


_TEXT_FORMATS: tuple[TextFormat, ...] = (
    TextFormat(
        "csv",
        "CSV table",
        "Rows with a speaker (role, speaker, name), a text (content, text, message) and perhaps a timestamp.",
        recognises_csv,
        read_csv,
    ),
    TextFormat(
        "markdown",
        "Markdown transcript",
        'Turns under headings such as "## User", or after bold labels such as "**User:**".',
        recognises_markdown,
        read_markdown,
    ),
    TextFormat(
        "text",
        'Plain "Name: text"',
        'Lines such as "Ana: hello", with or without a time in front; other lines belong to the turn before.',
        recognises_lines,
        read_lines,
    ),
)

FORMATS: tuple[Format, ...] = (*JSON_FORMATS, *_TEXT_FORMATS)
"""Every format that can be read; the first that recognises a conversation reads it."""

_JSON_START = re.compile(r"\s*(?:\{|\[\s*(?:[\[{\"\]]|$))")
_JSON_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson"})
_WRAPPERS = ("conversations", "data", "items", "runs", "chats", "samples", "examples", "threads")
_HEAD = 1 << 16
_LOOKED_AT = 50


def read_conversations(
    data: bytes | str | BinaryIO, *, name: str = "", format: str | None = None
) -> Iterator[Conversation | Unreadable]:
    """Every conversation of an upload, and an `Unreadable` for every stretch that holds none.

    `name` is its file name, for messages and as `source`. `format` names the row of `FORMATS` to read it as,
    where recognition is wrong. Errors in the data itself are raised while iterating.

    Raises:
        ConversationError: the data is no text, is empty, or holds nothing that can be read (as the format asked for).
        InputError: there is no such format, or the data is neither bytes, text nor a binary file.
    """
    forced = _format_named(format) if format is not None else None
    return _checked(_outcomes(text_chunks(data, name=name), name, forced), name)


def recognise(data: bytes | str | BinaryIO, *, name: str = "") -> Format | None:
    """The format of an upload's first conversation, or None where no format recognises it.

    A file is read from where it stands and put back there.

    Raises:
        ConversationError: the data is no text.
    """
    if isinstance(data, bytes | str):
        return _first_format(text_chunks(data, name=name), name)
    start = data.tell()
    try:
        return _first_format(text_chunks(data, name=name), name)
    finally:
        data.seek(start)


def _format_named(name: str) -> Format:
    for row in FORMATS:
        if row.name == name:
            return row
    raise InputError(f"There is no format {shown(name)}; allowed are {', '.join(row.name for row in FORMATS)}.")


def _checked(outcomes: Iterator[Outcome], name: str) -> Iterator[Outcome]:
    """The outcomes, or an error if there is no conversation among them."""
    faults: list[Unreadable] = []
    for outcome in outcomes:
        if isinstance(outcome, Conversation):
            yield from faults
            yield from _finished(chain([outcome], outcomes), name)
            return
        faults.append(outcome)
    label = name or "The upload"
    if not faults:
        raise ConversationError(f"{label} is empty: there is no conversation in it.")
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    raise ConversationError(f"{label} holds no conversation that can be read. {faults[0]}{more}")


def _finished(outcomes: Iterator[Outcome], name: str) -> Iterator[Outcome]:
    """The outcomes with conversations identified, titled and told their source."""
    used: Counter[str] = Counter()
    number = 0
    for outcome in outcomes:
        if isinstance(outcome, Unreadable):
            yield outcome
            continue
        number += 1
        wanted = outcome.id or f"conversation-{number}"
        used[wanted] += 1
        repeated = used[wanted] > 1
        note = (f"An earlier conversation of this file has the id {wanted!r} too.",) if repeated else ()
        yield replace(
            outcome,
            id=_unused(wanted, used) if repeated else wanted,
            title=outcome.title or _title(name, number),
            source=name or None,
            notes=(*outcome.notes, *note),
        )


def _unused(wanted: str, used: Counter[str]) -> str:
    number = used[wanted]
    while f"{wanted}-{number}" in used:
        number += 1
    used[f"{wanted}-{number}"] += 1
    return f"{wanted}-{number}"


def _title(name: str, number: int) -> str:
    stem = PurePath(name).stem
    return stem if stem and number == 1 else f"{stem or 'Conversation'} {number}"


def _outcomes(chunks: Iterator[str], name: str, forced: Format | None) -> Iterator[Outcome]:
    head, chunks = _peeked(chunks)
    if not head.strip():
        return iter(())
    if isinstance(forced, TextFormat) or (forced is None and not _is_json(head, name)):
        return _text_outcomes(head, chunks, name, forced)
    if forced is not None and not _is_json(head, name):
        return iter([_mismatch("line 1", forced, _text_format(head))])
    return _json_outcomes(chunks, forced)


def _peeked(chunks: Iterator[str]) -> tuple[str, Iterator[str]]:
    """The first piece that is not blank, and all pieces from it on."""
    blank: list[str] = []
    for chunk in chunks:
        blank.append(chunk)
        if chunk.strip():
            break
    return "".join(blank), chain(blank, chunks)


def _is_json(head: str, name: str) -> bool:
    return bool(_JSON_START.match(head)) or PurePath(name).suffix.casefold() in _JSON_SUFFIXES


def _text_format(head: str) -> TextFormat | None:
    start = head.lstrip()[:_HEAD]
    return next((row for row in _TEXT_FORMATS if row.recognises(start)), None)


def _text_outcomes(head: str, chunks: Iterator[str], name: str, forced: Format | None) -> Iterator[Outcome]:
    start = head.lstrip()[:_HEAD]
    row = forced if isinstance(forced, TextFormat) else _text_format(head)
    if row is None:
        yield Unreadable(
            "line 1", f"no known format begins like this: {json.dumps(start[:80], ensure_ascii=False)}. {_known()}"
        )
        return
    if not row.recognises(start):
        peek, chunks = tee(chunks)
        other = _first_format(peek, name)
        if other is not None:
            yield _mismatch("line 1", row, other)
            return
    for conversation in row.read(chunks):
        has_any = conversation.messages or conversation.left_out.keys() - {LINES_BEFORE}
        yield _judged(replace(conversation, format=row.name), "line 1") if has_any else _mismatch("line 1", row, None)


def _json_outcomes(chunks: Iterator[str], forced: Format | None) -> Iterator[Outcome]:
    for item in _values(json_items(chunks)):
        if isinstance(item, JsonFault):
            yield Unreadable(item.where, item.reason)
            continue
        found = _json_format(item.value, forced)
        if found is None:
            other = _json_format(item.value, None)
            known = forced is not None or other is not None
            yield _mismatch(item.where, forced, other) if known else _unknown(item)
            continue
        for conversation in found.read(item.value):
            yield _judged(replace(conversation, format=found.name), item.where)


def _values(items: Iterator[JsonItem | JsonFault]) -> Iterator[JsonItem | JsonFault]:
    """The items with bare messages gathered into one list, and wrapped lists of conversations unpacked."""
    gathered: list[object] = []
    since = ""
    for item in items:
        if isinstance(item, JsonItem) and is_message(item.value):
            since = since or item.where
            gathered.append(item.value)
        elif gathered and isinstance(item, JsonItem) and not isinstance(item.value, Mapping | list):
            gathered.append(item.value)
        elif isinstance(item, JsonItem):
            yield from _unpacked(item)
        else:
            yield item
    if gathered:
        yield JsonItem(since, gathered)


def _unpacked(item: JsonItem) -> Iterator[JsonItem]:
    if _json_format(item.value, None) is None and isinstance(item.value, Mapping):
        for wrapper in _WRAPPERS:
            inner = item.value.get(wrapper)
            if isinstance(inner, list) and inner:
                numbered = enumerate(inner, start=1)
                yield from (JsonItem(f"{item.where}, {wrapper} {number}", value) for number, value in numbered)
                return
    yield item


def _json_format(value: object, forced: Format | None) -> JsonFormat | None:
    if isinstance(forced, JsonFormat):
        return forced if (forced.accepts or forced.recognises)(value) else None
    return next((row for row in JSON_FORMATS if row.recognises(value)), None)


def _first_format(chunks: Iterator[str], name: str) -> Format | None:
    head, chunks = _peeked(chunks)
    if not _is_json(head, name):
        return _text_format(head)
    for number, item in enumerate(json_items(chunks)):
        for value in _values(iter([item])):
            found = _json_format(value.value, None) if isinstance(value, JsonItem) else None
            if found is not None or number >= _LOOKED_AT:
                return found
    return None


def _judged(conversation: Conversation, where: str) -> Outcome:
    """The conversation, or that it is unreadable because none of its messages could be read."""
    if conversation.messages or not conversation.left_out.get("unreadable message"):
        return conversation
    return Unreadable(where, f"none of its messages can be read: {conversation.notes[-1]}")


def _mismatch(where: str, forced: Format | None, found: Format | None) -> Unreadable:
    asked = f"this is not {forced.label} ({forced.name})" if forced else "this cannot be read"
    looks = f"it looks like {found.label} ({found.name})" if found else f"nor any other known format. {_known()}"
    return Unreadable(where, f"{asked}; {looks}")


_JSON_NAMES = {
    dict: "a JSON object",
    list: "a JSON list",
    str: "a JSON text",
    bool: "a JSON true or false",
    int: "a JSON number",
    float: "a JSON number",
    type(None): "a JSON null",
}


def _unknown(item: JsonItem) -> Unreadable:
    keys = f" with the keys {shown(list(item.value)[:8])}" if isinstance(item.value, Mapping) else ""
    return Unreadable(
        item.where, f"{_JSON_NAMES.get(type(item.value), 'this value')}{keys} is no known format. {_known()}"
    )


def _known() -> str:
    return f"Known are {', '.join(row.name for row in FORMATS)}."
