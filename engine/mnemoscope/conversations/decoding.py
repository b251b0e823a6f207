"""Uploads as text: the encoding is found out, and what is not text is refused by name."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from typing import BinaryIO

from ..core.text import shown
from ..errors import ConversationError, InputError

__all__ = ["text_chunks"]


_CHUNK = 1 << 18
_SIGNATURES = {
    b"PK\x03\x04": "a ZIP archive (unpack it and choose the file inside)",
    b"PK\x05\x06": "an empty ZIP archive",
    b"\x1f\x8b": "a gzip archive (unpack it first)",
    b"BZh": "a bzip2 archive (unpack it first)",
    b"\xfd7zXZ\x00": "an xz archive (unpack it first)",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive (unpack it first)",
    b"\x28\xb5\x2f\xfd": "a Zstandard archive (unpack it first)",
    b"%PDF-": "a PDF document",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"SQLite format 3\x00": "an SQLite database",
    b"PAR1": "a Parquet file",
    b"\x7fELF": "a program",
    b"MZ\x90": "a program",
}
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_MOST_CONTROL = 0.1


def text_chunks(
    data: bytes | str | BinaryIO, *, name: str = "", wanted: str = "a conversation as text"
) -> Iterator[str]:
    """The text of an upload, in pieces: UTF-8 with or without a mark, UTF-16 and UTF-32 by their marks.

    `name` and `wanted` are what the upload is and should be, for the message where it cannot be read.

    Raises:
        ConversationError: the data is binary, or not in the encoding it is marked with; with the byte position.
        InputError: the data is neither bytes, text nor a binary file.
    """
    if isinstance(data, str):
        return _slices(data.removeprefix("\ufeff"))
    if isinstance(data, bytes | bytearray | memoryview):
        return _decoded(io.BytesIO(data), name or "The upload", wanted)
    if not hasattr(data, "read"):
        raise InputError(f"The upload is {shown(data)}; allowed are bytes, text or a file opened in binary mode.")
    return _decoded(data, name or "The upload", wanted)


def _slices(text: str) -> Iterator[str]:
    return (text[start : start + _CHUNK] for start in range(0, len(text), _CHUNK))


def _decoded(file: BinaryIO, name: str, wanted: str) -> Iterator[str]:
    head = _bytes_of(file, name)
    mark, encoding = next(
        ((mark, encoding) for mark, encoding in _BYTE_ORDER_MARKS if head.startswith(mark)), (b"", "utf-8")
    )
    if not mark:
        _refuse_binary(head, name, wanted)
    decoder = codecs.getincrementaldecoder(encoding)()
    chunk, position = head[len(mark) :], len(mark)
    while True:
        pending = len(decoder.getstate()[0])
        try:
            yield decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            where = position - pending + error.start
            raise ConversationError(
                f"{name} is not {encoding.upper()}: byte {where:,} ({error.object[error.start]:#04x}) cannot be read. "
                "Save it as UTF-8 and try again."
            ) from error
        if not chunk:
            return
        position += len(chunk)
        chunk = _bytes_of(file, name)


def _bytes_of(file: BinaryIO, name: str) -> bytes:
    chunk: object = file.read(_CHUNK)
    if not isinstance(chunk, bytes):
        raise InputError(f"{name} gives {type(chunk).__name__} when read; open it in binary mode.")
    return chunk


def _refuse_binary(head: bytes, name: str, wanted: str) -> None:
    for signature, what in _SIGNATURES.items():
        if head.startswith(signature):
            raise ConversationError(f"{name} is {what}, not {wanted}.")
    start = head[:4096]
    if start and len(_CONTROL.findall(start)) > _MOST_CONTROL * len(start):
        raise ConversationError(f"{name} is binary data, not text (or UTF-16 without a byte order mark).")
