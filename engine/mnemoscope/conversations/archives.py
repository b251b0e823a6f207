"""ZIP archives, in which most exports arrive: the files of one are read as if each had been chosen.

Members are read as streams, and never written anywhere. One that would unpack to much more than an export does is
refused.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import PurePosixPath
from typing import IO, BinaryIO, cast

from ..errors import ConversationError
from .conversation import Conversation, Outcome, Unreadable, count_of
from .decoding import text_chunks
from .formats.messengers import SLACK, is_slack_people, read_slack_channel, slack_people
from .json_stream import JsonFault, JsonItem, json_items

__all__ = ["archive_in", "read_archive"]


_SIGNATURE = b"PK\x03\x04"
_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".txt", ".csv", ".md", ".html", ".vtt", ".srt", ""})
_OFFICE = {
    "word/document.xml": "a Word document; save it as plain text",
    "xl/workbook.xml": "an Excel workbook; save the sheet as CSV",
    "ppt/presentation.xml": "a presentation",
    "content.xml": "an OpenDocument file; save it as plain text or CSV",
}
# Text packs to a tenth; whoever packs it to a hundredth means to fill the memory.
_MOST_PACKED = 100
_ALWAYS_UNPACKED = 1 << 26
_MOST_NOTES = 5


def archive_in(data: object) -> BinaryIO | None:
    """The upload as a file that can be searched, where it is a ZIP archive; it stands where it stood."""
    if isinstance(data, bytes | bytearray | memoryview):
        return io.BytesIO(data) if bytes(data[:4]) == _SIGNATURE else None
    if not hasattr(data, "read") or not hasattr(data, "seekable") or not data.seekable():
        return None
    file = cast(BinaryIO, data)
    start = file.tell()
    head: object = file.read(len(_SIGNATURE))
    file.seek(start)
    return file if head == _SIGNATURE else None


def read_archive(
    file: BinaryIO, name: str, read: Callable[[BinaryIO, str], Iterator[Outcome]]
) -> Iterator[tuple[Outcome, str]]:
    """Every outcome of the archive's files with the file it is of; `read` reads one of them.

    Raises:
        ConversationError: the archive is damaged, locked with a password, or no archive of conversations.
    """
    with _opened(file, name) as archive:
        members = [each for each in archive.infolist() if not each.is_dir() and not _is_hidden(each.filename)]
        names = {each.filename for each in members}
        office = next((what for inner, what in _OFFICE.items() if inner in names), None)
        if office is not None:
            raise ConversationError(f"{name} is {office}.")
        if any(each.flag_bits & 1 for each in members):
            raise ConversationError(f"{name} is locked with a password; unpack it and choose the file inside.")
        users = next((each for each in members if PurePosixPath(each.filename).name == "users.json"), None)
        if users is not None and _holds_slack_people(archive, users):
            yield from _slack_channels(archive, members, users)
            return
        yield from _files(archive, members, read)


@contextmanager
def _opened(file: BinaryIO, name: str) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise ConversationError(f"{name} is a ZIP archive that cannot be unpacked: {error}.") from error


def _is_hidden(member: str) -> bool:
    parts = PurePosixPath(member).parts
    return "__MACOSX" in parts or parts[-1:] == (".DS_Store",)


def _files(
    archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], read: Callable[[BinaryIO, str], Iterator[Outcome]]
) -> Iterator[tuple[Outcome, str]]:
    """The outcomes of all files; those without a conversation are named beside the last conversation there is."""
    without: list[Unreadable] = []
    other = 0
    last: tuple[Conversation, str] | None = None
    for member in sorted(members, key=lambda each: each.filename):
        if PurePosixPath(member.filename).suffix.casefold() not in _SUFFIXES:
            other += 1
            continue
        faults: list[Unreadable] = []
        has_any = False
        for outcome in _outcomes(archive, member, read):
            if isinstance(outcome, Unreadable):
                faults.append(Unreadable(f"{member.filename}, {outcome.where}", outcome.reason))
                continue
            has_any = True
            if last is not None:
                yield last
            last = outcome, member.filename
        if has_any:
            yield from ((fault, member.filename) for fault in faults)
        else:
            without += faults[:1]
    if last is None:
        yield from ((fault, fault.where) for fault in without)
    else:
        notes = (*last[0].notes, *_notes_on(without, other))
        yield replace(last[0], notes=notes), last[1]


def _outcomes(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, read: Callable[[BinaryIO, str], Iterator[Outcome]]
) -> Iterator[Outcome]:
    try:
        with _stream(archive, member) as stream:
            yield from read(cast(BinaryIO, stream), member.filename)
    except ConversationError as error:
        yield Unreadable("the file", str(error))
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        yield Unreadable("the file", f"it is damaged in the archive: {error}")


def _stream(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    packed = max(member.compress_size, 1)
    if member.file_size > _ALWAYS_UNPACKED and member.file_size / packed > _MOST_PACKED:
        raise ConversationError(
            f"{member.filename} would unpack to {member.file_size:,} bytes, more than {_MOST_PACKED} times its size; "
            "unpack it yourself if you trust it."
        )
    return archive.open(member)


def _notes_on(without: list[Unreadable], other: int) -> list[str]:
    """Notes on the files of an archive from which no conversation was read."""
    notes = [f"Not read: {fault}" for fault in without[:_MOST_NOTES]]
    if len(without) > _MOST_NOTES:
        notes.append(f"{len(without) - _MOST_NOTES:,} more files of the archive were not read.")
    if other:
        notes.append(f"{count_of(other, 'file', 'files')} of other kinds (pictures, sound, …) in the archive.")
    return notes


# Slack


def _holds_slack_people(archive: zipfile.ZipFile, users: zipfile.ZipInfo) -> bool:
    first = next(_items(archive, users), None)
    return isinstance(first, JsonItem) and is_slack_people(first.value)


def _items(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[JsonItem | JsonFault]:
    with _stream(archive, member) as stream:
        yield from json_items(text_chunks(cast(BinaryIO, stream), name=member.filename))


def _slack_channels(
    archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], users: zipfile.ZipInfo
) -> Iterator[tuple[Outcome, str]]:
    """A conversation for each channel, out of the files of its days."""
    people = slack_people(item.value for item in _items(archive, users) if isinstance(item, JsonItem))
    root = PurePosixPath(users.filename).parent
    channels: dict[str, list[zipfile.ZipInfo]] = defaultdict(list)
    for member in members:
        path = PurePosixPath(member.filename)
        if path.suffix == ".json" and path.parent != root and path.parent.parent == root:
            channels[path.parent.name].append(member)
    for channel, days in sorted(channels.items()):
        messages: list[object] = []
        for day in sorted(days, key=lambda each: each.filename):
            for item in _items(archive, day):
                if isinstance(item, JsonItem):
                    messages.append(item.value)
                else:
                    yield Unreadable(f"{day.filename}, {item.where}", item.reason), day.filename
        yield replace(read_slack_channel(messages, people, channel=channel), format=SLACK.name), f"{channel}/"
