"""Conversations out of files of every common shape, one at a time, so that large files stream.

A file is a ZIP archive of files, JSON (one value, a list, or lines) or text. Every JSON value is recognised for itself,
so a file may mix formats; values that make a conversation together (messages, lines of a session, runs of a trace) are
read together. What cannot be read is yielded as `Unreadable`; a file with nothing readable in it is a
`ConversationError`.

Lists and JSON lines are held one conversation at a time; one JSON object and every text but CSV as a whole.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, tee
from pathlib import PurePath
from typing import BinaryIO

from ..core.text import shown
from ..errors import ConversationError, InputError
from .archives import archive_in, read_archive
from .conversation import Conversation, Outcome, Unreadable
from .decoding import text_chunks
from .formats import FORMATS, JSON_FORMATS, RECORD_FORMATS, TEXT_FORMATS
from .formats.kinds import Format, JsonFormat, RecordFormat, TextFormat
from .formats.model_apis import is_message, is_part_of_messages
from .formats.refusals import why_json_is_refused, why_text_is_refused
from .formats.transcripts import LINES_BEFORE
from .json_stream import JsonFault, JsonItem, json_items

__all__ = ["FORMATS", "read_conversations", "recognise"]


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
    archive = archive_in(data)
    if archive is None:
        return _checked(_told(_outcomes(text_chunks(data, name=name), name, forced), name), name)

    def read(file: BinaryIO, member: str) -> Iterator[Outcome]:
        return _outcomes(text_chunks(file, name=member), member, forced)

    return _checked(_members(read_archive(archive, name or "The upload", read), name), name)


def recognise(data: bytes | str | BinaryIO, *, name: str = "") -> Format | None:
    """The format of an upload's first conversation, or None where no format recognises it.

    A file is read from where it stands and put back there.

    Raises:
        ConversationError: the data is no text.
    """
    archive = archive_in(data)
    if archive is not None or not isinstance(data, bytes | str):
        file = archive or data
        assert not isinstance(file, bytes | str)
        start = file.tell()
        try:
            return _first_of_archive(data, name) if archive else _first_format(text_chunks(file, name=name), name)
        finally:
            file.seek(start)
    return _first_format(text_chunks(data, name=name), name)


def _first_of_archive(data: bytes | str | BinaryIO, name: str) -> Format | None:
    found = (each for each in read_conversations(data, name=name) if isinstance(each, Conversation))
    try:
        return _format_named(next(found).format)
    except (ConversationError, StopIteration):
        return None


def _format_named(name: str) -> Format:
    for row in FORMATS:
        if row.name == name:
            return row
    raise InputError(f"There is no format {shown(name)}; allowed are {', '.join(row.name for row in FORMATS)}.")


def _checked(outcomes: Iterator[Outcome], name: str) -> Iterator[Outcome]:
    """The outcomes under ids of their own, or an error if there is no conversation among them."""
    faults: list[Unreadable] = []
    for outcome in outcomes:
        if isinstance(outcome, Conversation):
            yield from faults
            yield from _identified(chain([outcome], outcomes))
            return
        faults.append(outcome)
    label = name or "The upload"
    if not faults:
        raise ConversationError(f"{label} is empty: there is no conversation in it.")
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    raise ConversationError(f"{label} holds no conversation that can be read. {faults[0]}{more}")


def _told(outcomes: Iterator[Outcome], name: str) -> Iterator[Outcome]:
    """The conversations of one file with their source, and a title where they have none."""
    number = 0
    for outcome in outcomes:
        number += isinstance(outcome, Conversation)
        yield _titled(outcome, name, name, number)


def _members(outcomes: Iterator[tuple[Outcome, str]], archive: str) -> Iterator[Outcome]:
    """The conversations of an archive's files with their source, and a title where they have none."""
    numbers: Counter[str] = Counter()
    for outcome, member in outcomes:
        numbers[member] += isinstance(outcome, Conversation)
        # WhatsApp calls every chat "_chat.txt", and names the archive after the people.
        speaking = archive if archive and PurePath(member).stem == "_chat" else member
        yield _titled(outcome, speaking, f"{archive}/{member}" if archive else member, numbers[member])


def _titled(outcome: Outcome, name: str, source: str, number: int) -> Outcome:
    if isinstance(outcome, Unreadable):
        return outcome
    stem = PurePath(name).stem
    made_up = stem if stem and number == 1 else f"{stem or 'Conversation'} {number}"
    return replace(outcome, title=outcome.title or made_up, source=source or None)


def _identified(outcomes: Iterator[Outcome]) -> Iterator[Outcome]:
    """The outcomes, each conversation under an id that no other one of the file has."""
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
        yield replace(outcome, id=_unused(wanted, used) if repeated else wanted, notes=(*outcome.notes, *note))


def _unused(wanted: str, used: Counter[str]) -> str:
    number = used[wanted]
    while f"{wanted}-{number}" in used:
        number += 1
    used[f"{wanted}-{number}"] += 1
    return f"{wanted}-{number}"


def _outcomes(chunks: Iterator[str], name: str, forced: Format | None) -> Iterator[Outcome]:
    head, chunks = _peeked(chunks)
    if not head.strip():
        return iter(())
    if isinstance(forced, TextFormat) or (forced is None and not _is_json(head, name)):
        return _text_outcomes(head, chunks, name, forced)
    if forced is not None and not _is_json(head, name):
        return iter([_mismatch("line 1", forced, _text_format(head))])
    return _json_outcomes(json_items(chunks), forced)


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


# Texts


def _text_format(head: str) -> TextFormat | None:
    start = head.lstrip()[:_HEAD]
    return next((row for row in TEXT_FORMATS if row.recognises(start)), None)


def _text_outcomes(head: str, chunks: Iterator[str], name: str, forced: Format | None) -> Iterator[Outcome]:
    start = head.lstrip()[:_HEAD]
    row = forced if isinstance(forced, TextFormat) else _text_format(head)
    refused = why_text_is_refused(start)
    if row is None or (refused and not row.recognises(start)):
        begins = json.dumps(start[:80], ensure_ascii=False)
        yield Unreadable("line 1", refused or f"no known format begins like this: {begins}. {_known()}")
        return
    if not row.recognises(start):
        peek, chunks = tee(chunks)
        other = _first_format(peek, name)
        if other is not None:
            yield _mismatch("line 1", row, other)
            return
    for outcome in row.read(chunks):
        if isinstance(outcome, Unreadable):
            yield outcome
            continue
        has_any = outcome.messages or outcome.left_out.keys() - {LINES_BEFORE}
        yield _judged(replace(outcome, format=row.name), "line 1") if has_any else _mismatch("line 1", row, None)


# JSON values


def _json_outcomes(items: Iterator[JsonItem | JsonFault], forced: Format | None) -> Iterator[Outcome]:
    source = _Pushable(items)
    for item in source:
        if isinstance(item, JsonFault):
            yield Unreadable(item.where, item.reason)
            continue
        inner = _unpacked(item)
        if inner is not None:
            source.push(inner)
        elif is_message(item.value):
            yield from _messages(item, source, forced)
        else:
            yield from _outcomes_of(item, source, forced)


def _messages(item: JsonItem, source: _Pushable, forced: Format | None) -> Iterator[Outcome]:
    """The one conversation of a message and of those that follow it."""
    yield from _together(item, source, is_part_of_messages, lambda values: _whole(item.where, [*values], forced))


def _outcomes_of(item: JsonItem, source: _Pushable, forced: Format | None) -> Iterator[Outcome]:
    """What one value is, read with those that follow it where they belong together."""
    records = _record_format(item.value, forced)
    if records is not None:
        belongs = records.continues or records.recognises
        yield from _together(item, source, belongs, lambda values: _named(records, records.read(values), item.where))
        return
    listed = item.value if isinstance(item.value, list) and item.value else None
    within = _record_format(listed[0], forced) if listed else None
    if listed and within is not None:
        yield from _named(within, within.read(iter(listed)), item.where)
        return
    yield from _whole(item.where, item.value, forced)


class _Pushable:
    """Items that can be put back, to be read by whoever comes next."""

    def __init__(self, items: Iterator[JsonItem | JsonFault]) -> None:
        self._items = items

    def __iter__(self) -> Iterator[JsonItem | JsonFault]:
        return self

    def __next__(self) -> JsonItem | JsonFault:
        return next(self._items)

    def push(self, items: Iterator[JsonItem]) -> None:
        self._items = chain(items, self._items)


def _together(
    first: JsonItem,
    source: _Pushable,
    belongs: Callable[[object], bool],
    read: Callable[[Iterator[object]], Iterator[Outcome]],
) -> Iterator[Outcome]:
    """What is read of a value and of those after it that belong to it; what is broken between them comes last."""
    faults: list[Unreadable] = []

    def run() -> Iterator[object]:
        yield first.value
        for item in source:
            if isinstance(item, JsonFault):
                faults.append(Unreadable(item.where, item.reason))
            elif belongs(item.value):
                yield item.value
            else:
                source.push(iter([item]))
                return

    yield from read(run())
    yield from faults


def _whole(where: str, value: object, forced: Format | None) -> Iterator[Outcome]:
    """The conversations of one value, or why it holds none."""
    found = _json_format(value, forced)
    if found is not None:
        yield from _named(found, found.read(value), where)
        return
    other = _json_format(value, None) or _record_format(value, None)
    known = forced is not None or other is not None
    yield _mismatch(where, forced, other) if known else _unknown(where, value)


def _named(row: Format, outcomes: Iterator[Outcome], where: str) -> Iterator[Outcome]:
    for outcome in outcomes:
        if isinstance(outcome, Conversation):
            yield _judged(replace(outcome, format=row.name), where)
        else:
            yield outcome


def _unpacked(item: JsonItem) -> Iterator[JsonItem] | None:
    """The conversations that an object holds in a list, where it is none itself."""
    if not isinstance(item.value, Mapping) or is_message(item.value):
        return None
    if _json_format(item.value, None) is not None or _record_format(item.value, None) is not None:
        return None
    for wrapper in _WRAPPERS:
        inner = item.value.get(wrapper)
        if isinstance(inner, list) and inner:
            return (JsonItem(f"{item.where}, {wrapper} {number}", each) for number, each in enumerate(inner, start=1))
    return None


def _json_format(value: object, forced: Format | None) -> JsonFormat | None:
    if isinstance(forced, JsonFormat):
        return forced if (forced.accepts or forced.recognises)(value) else None
    if forced is not None:
        return None
    return next((row for row in JSON_FORMATS if row.recognises(value)), None)


def _record_format(value: object, forced: Format | None) -> RecordFormat | None:
    rows = (forced,) if isinstance(forced, RecordFormat) else () if forced is not None else RECORD_FORMATS
    return next((row for row in rows if row.recognises(value)), None)


def _first_format(chunks: Iterator[str], name: str) -> Format | None:
    head, chunks = _peeked(chunks)
    if not _is_json(head, name):
        return _text_format(head)
    source = _Pushable(json_items(chunks))
    for number, item in enumerate(source):
        if number > _LOOKED_AT:
            return None
        if isinstance(item, JsonFault):
            continue
        inner = _unpacked(item)
        if inner is not None:
            source.push(inner)
            continue
        value = [item.value] if is_message(item.value) else item.value
        within = value[0] if isinstance(value, list) and value else None
        found = _record_format(value, None) or _record_format(within, None) or _json_format(value, None)
        if found is not None:
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


def _unknown(where: str, value: object) -> Unreadable:
    refused = why_json_is_refused(value)
    if refused is not None:
        return Unreadable(where, refused)
    keys = f" with the keys {shown(list(value)[:8])}" if isinstance(value, Mapping) else ""
    return Unreadable(where, f"{_JSON_NAMES.get(type(value), 'this value')}{keys} is no known format. {_known()}")


def _known() -> str:
    return f"Known are {', '.join(row.name for row in FORMATS)}."
