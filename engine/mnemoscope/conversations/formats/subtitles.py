"""Subtitles with speakers: WebVTT (Teams, Zoom, Meet) and SubRip. Cue numbers and times are no speech."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ..conversation import Outcome, Unreadable, build_conversation, count_of
from .kinds import Fields, TextFormat
from .transcripts import LINES_BEFORE, role_of_speaker, speakers_among

__all__ = ["SUBRIP", "WEBVTT"]


_CLOCK = r"(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}"
_TIMING = re.compile(rf"\s*{_CLOCK}\s+-->\s+{_CLOCK}")
_VOICE = re.compile(r"<v(?:\.[\w.]+)?\s+([^>]+)>")
_TAG = re.compile(r"</?[^<>\n]{0,80}>|\{\\[^{}\n]{0,40}\}")
_NAMED = re.compile(r"(?:-\s?|>>\s?)?(?P<label>[^\W_][^\n:：]{0,60}?)\s?(?::(?=\s|$)|：)\s?(?P<text>.*)", re.DOTALL)
_SOUND = re.compile(r"(?:\[[^\]\n]*\]|\([^)\n]*\)|[♪♫][^\n]*|\s)+")
_NEW_SPEAKER = re.compile(r"\n(?=-\s?\S|>>\s?\S)")
_BLOCK_WORDS = ("WEBVTT", "NOTE", "STYLE", "REGION")


@dataclass
class _Said:
    """Words of one cue, with the voice it names or the label before a colon that may be a speaker."""

    voice: str | None
    label: str | None
    text: str
    whole: str


def _recognises_webvtt(head: str) -> bool:
    return head.startswith("WEBVTT")


def _recognises_subrip(head: str) -> bool:
    lines = [line.strip() for line in head.splitlines() if line.strip()][:2]
    return len(lines) == 2 and lines[0].isdecimal() and bool(_TIMING.match(lines[1]))


def _read(chunks: Iterator[str]) -> Iterator[Outcome]:
    cues = _cues("".join(chunks).replace("\r\n", "\n").replace("\r", "\n"))
    said = [each for cue in cues for each in _parts(cue)]
    left_out = Counter({"sound": sum(not each.text for each in said)})
    said = [each for each in said if each.text]
    speakers = speakers_among(each.label for each in said if each.voice is None and each.label)
    if not any(each.voice or each.label in speakers for each in said):
        yield Unreadable(
            "line 1",
            "these are subtitles that do not say who speaks; a transcript with the speakers' names can be read.",
        )
        return
    turns: list[Fields] = []
    for each in said:
        name = each.voice or (each.label if each.label in speakers else None)
        text = each.text if name else each.whole
        if name is None and not turns:
            left_out[LINES_BEFORE] += 1
        elif turns and name in (None, turns[-1]["label"]):
            turns[-1] = {**turns[-1], "content": f"{turns[-1]['content']} {text}"}
        else:
            role = role_of_speaker(name or "")
            turns.append({"role": role or "user", "name": None if role else name, "content": text, "label": name})
    before = left_out[LINES_BEFORE]
    words = count_of(before, "cue before the first speaker was", "cues before the first speaker were")
    notes = [f"{words} left out."] if before else []
    yield build_conversation(turns, left_out=left_out, notes=notes)


def _cues(text: str) -> Iterator[str]:
    """The words of each cue, without what stands before its times and without comments and styles."""
    for block in re.split(r"\n[ \t]*\n", text):
        lines = block.strip("\n").split("\n")
        at = next((number for number, line in enumerate(lines) if _TIMING.match(line)), None)
        if at is not None and not (at and lines[0].startswith(_BLOCK_WORDS[1:])):
            yield "\n".join(lines[at + 1 :])


def _parts(cue: str) -> Iterator[_Said]:
    """What each voice says in a cue."""
    voices = list(_VOICE.finditer(cue))
    if voices:
        ends = [*(voice.start() for voice in voices[1:]), len(cue)]
        for voice, end in zip(voices, ends, strict=True):
            text = _plain(cue[voice.end() : end])
            yield _Said(html.unescape(voice[1]).strip(), None, text, text)
        return
    for part in _NEW_SPEAKER.split(cue):
        whole = _plain(part)
        named = _NAMED.match(whole)
        label, text = (named["label"].strip(), named["text"]) if named else (None, whole)
        yield _Said(None, label, text, whole)


def _plain(text: str) -> str:
    """The words without markup, on one line; nothing where they are a sound and no speech."""
    words = " ".join(html.unescape(_TAG.sub("", text)).split())
    return "" if _SOUND.fullmatch(words) else words


_ABOUT = {
    "speakers": "the voice of each cue, or the name before its colon; cues of one speaker are joined",
    "order": "as written",
    "times": "none: cues count from the start of the recording",
}
WEBVTT = TextFormat(
    name="vtt",
    label="WebVTT subtitles",
    description="`.vtt` transcripts of Teams, Zoom and others",
    recognises=_recognises_webvtt,
    read=_read,
    **_ABOUT,
)
SUBRIP = TextFormat(
    name="srt",
    label="SubRip subtitles",
    description="`.srt` transcripts with names",
    recognises=_recognises_subrip,
    read=_read,
    **_ABOUT,
)
