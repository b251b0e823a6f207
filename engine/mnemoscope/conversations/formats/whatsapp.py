"""Chats of WhatsApp, and of programs that write alike: every message after the date and the time of its phone.

Android writes "01/05/2024, 10:00 - Ana: Hello", iOS "[01.05.24, 10:00:00] Ana: Hello". What WhatsApp says itself
has no speaker on Android, and begins with an invisible mark on iOS.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..conversation import Conversation, build_conversation
from ..dates import DATE, TIME, read_dates
from ..messages import strip_marks
from .kinds import Fields, TextFormat

__all__ = ["WHATSAPP"]


_MARK = "\u200e"
_MARKS = "[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]*"
_STAMP = rf"{DATE}(?:[,،]\s{{0,2}}|\s){TIME}"
_ANDROID = re.compile(rf"{_MARKS}(?P<stamp>{_STAMP})\s[-–]\s(?P<rest>.*)", re.DOTALL)
_IOS = re.compile(rf"{_MARKS}\[(?P<stamp>{_STAMP})\]\s(?P<rest>.*)", re.DOTALL)
_SPEAKER = re.compile(r"(?P<name>[^:\n]{1,100}?):(?:\s(?P<text>.*)|$)", re.DOTALL)
_QUOTES = re.compile('[“”„"«»]')
_FILE_NAMES = r"jpe?g|png|webp|gif|heic|mp4|3gp|mov|opus|m4a|mp3|aac|ogg|pdf|docx?|xlsx?|pptx?|vcf|zip|txt"
# The words beside an attachment are in the phone's language; a name in brackets, or a file's ending, is in all.
_ATTACHED = re.compile(rf"<[^<>\n]{{3,80}}>|[^\n]{{1,120}}\.(?:{_FILE_NAMES}) \([^()\n]{{4,40}}\)|null", re.IGNORECASE)
_ATTACHED_AT_END = re.compile(rf"\s*{_MARK}<[^<>\n]{{3,120}}>\s*$")
_OMITTED = re.compile(
    r"(?:image|video|audio|sticker|GIF|document|contact card|video note|Bild|Sticker|Dokument|imagen|image|immagine|"
    r"imagem|vidéo|vídeo|documento) (?:omitted|weggelassen|omitid[oa]|absente?|omess[oa]|ocultad[oa]|ocult[oa])",
    re.IGNORECASE,
)
_DELETED = re.compile(
    r"(?:This message was deleted|You deleted this message|Diese Nachricht wurde gelöscht|Du hast diese Nachricht "
    r"gelöscht|Se eliminó este mensaje|Eliminaste este mensaje|Ce message a été supprimé|Vous avez supprimé ce message|"
    r"Questo messaggio è stato eliminato|Hai eliminato questo messaggio|Mensagem apagada|Você apagou esta mensagem)"
    r"[^\n]{0,60}"
)
_EDITED = re.compile(rf"\s*{_MARK}?<[^<>\n]{{3,40}}(?:edited|bearbeitet|editó|modifié|modificato|editada)[^<>\n]*>\s*$")
_HEAD_LINES = 200


@dataclass
class _Entry:
    """A dated entry of the chat: what follows its time on its first line, and the lines after it."""

    stamp: str
    lines: list[str] = field(default_factory=list)


def _recognises(head: str) -> bool:
    """Whether a text begins with a dated entry, and every speaker in it is dated in the same way."""
    lines = [line for line in head.splitlines() if line.strip()][:_HEAD_LINES]
    for style in (_ANDROID, _IOS):
        if lines and style.match(lines[0]):
            other = _IOS if style is _ANDROID else _ANDROID
            found = [match for line in lines if (match := style.match(line))]
            has_speaker = any(_split(match["rest"])[0] for match in found)
            return has_speaker and not any(other.match(line) for line in lines)
    return False


def _read(chunks: Iterator[str]) -> Iterator[Conversation]:
    before, entries = _entries("".join(chunks).replace("\r\n", "\n").split("\n"))
    dates = read_dates([entry.stamp for entry in entries])
    left_out = Counter({"line before the first speaker": before})
    turns = []
    for entry, moment in zip(entries, dates.moments, strict=True):
        turn = _turn("\n".join(entry.lines), left_out)
        if turn is not None:
            turns.append({**turn, "said_at": moment})
    yield build_conversation(turns, left_out=left_out, notes=dates.notes)


def _entries(lines: Sequence[str]) -> tuple[int, list[_Entry]]:
    """How many lines stand before the first entry, and the entries; other lines belong to the one before them."""
    entries: list[_Entry] = []
    before = 0
    for line in lines:
        match = _ANDROID.match(line) or _IOS.match(line)
        if match:
            entries.append(_Entry(match["stamp"], [match["rest"]]))
        elif entries:
            entries[-1].lines.append(line)
        else:
            before += bool(line.strip())
    return before, entries


def _split(entry: str) -> tuple[str, str]:
    """The speaker and the words of an entry; no speaker where WhatsApp itself says something."""
    match = _SPEAKER.match(entry)
    if match is None:
        return "", entry
    name = " ".join(strip_marks(match["name"]).split()).removeprefix("~").strip()
    # "Ana changed the subject from “Trip” to “Rome: May”" has its colon within quotation marks.
    is_notice = len(_QUOTES.findall(name)) % 2 == 1
    return ("", entry) if is_notice else (name, match["text"] or "")


def _turn(entry: str, left_out: Counter[str]) -> Fields | None:
    """The turn of an entry, or None where it holds no words of a person; what it holds instead is counted."""
    name, text = _split(entry.strip())
    if not name:
        left_out["notice"] += 1
        return None
    text = _EDITED.sub("", text.strip())
    plain = strip_marks(text).strip()
    if _DELETED.fullmatch(plain):
        left_out["deleted message"] += 1
        return None
    first, _, caption = plain.partition("\n")
    if _ATTACHED.fullmatch(first) or _OMITTED.fullmatch(first):
        left_out["attachment"] += 1
        return _said(name, caption) if caption.strip() else None
    if text.startswith(_MARK):
        left_out["notice"] += 1
        return None
    words, attached = _ATTACHED_AT_END.subn("", text)
    left_out["attachment"] += attached
    return _said(name, words)


def _said(name: str, text: str) -> Fields:
    return {"role": "user", "name": name, "content": text.strip()}


WHATSAPP = TextFormat(
    name="whatsapp",
    label="WhatsApp export",
    description="the text of an exported chat, of Android or iOS, also in its ZIP",
    speakers="everyone by the name or number in the phone; notices are left out",
    order="as written",
    times="of the phone, taken as UTC; left out where day and month cannot be told apart",
    recognises=_recognises,
    read=_read,
)
