"""Dates as people's programs write them: which number is the day shows only in the whole file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from .conversation import count_of
from .messages import moment_of, strip_marks

__all__ = ["DATE", "TIME", "ReadDates", "read_dates"]


_BEFORE_NOON = ("am", "vorm", "上午", "午前", "오전", "ص", "π.μ")
_AFTER_NOON = ("pm", "nachm", "下午", "午後", "오후", "م", "μ.μ")
_HALF = r"(?:[AaPp]\.?\s?[Mm]\b\.?|(?:vorm|nachm)\.|上午|下午|午前|午後|오전|오후|[صم]|[πμ]\.μ\.)"

DATE = r"\d{1,4}\s?[./\-年]\s?\d{1,2}\s?[./\-月]\s?\d{1,4}日?\.?"
"""A pattern for dates of three numbers, in any order."""
TIME = rf"(?:{_HALF}\s?)?\d{{1,2}}[:.]\d{{2}}(?:[:.]\d{{2}})?(?:\s?{_HALF})?"
"""A pattern for times of a day with twelve or twenty-four hours."""

_PARTS = re.compile(
    rf"(?P<first>\d{{1,4}})\s?(?P<mark>[./\-年])\s?(?P<second>\d{{1,2}})\s?[./\-月]\s?(?P<third>\d{{1,4}})日?\.?"
    rf"(?:[,،]?\s{{0,3}}(?:(?P<before>{_HALF})\s?)?(?P<hour>\d{{1,2}})[:.](?P<minute>\d{{2}})(?:[:.](?P<seconds>\d{{2}}))?"
    rf"(?:\s?(?P<after>{_HALF}))?)?\s{{0,2}}(?P<zone>Z|UTC|GMT|[+-]\d{{2}}:?\d{{2}})?"
)
_YEARS = range(1970, 2101)


@dataclass(frozen=True)
class ReadDates:
    """The moments of the texts that were asked for, in their order; None where a text is not one for sure."""

    moments: tuple[datetime | None, ...]
    are_ambiguous: bool = False

    @property
    def notes(self) -> list[str]:
        """What an operator should know: how many times were not read, and why."""
        unread = self.moments.count(None)
        why = "day and month cannot be told apart" if self.are_ambiguous else "they name no day that can be read"
        return [f"{count_of(unread, 'time was', 'times were')} left out: {why}."] if unread else []


@dataclass(frozen=True)
class _Stamp:
    """A date whose order is not known yet: three numbers, what stands between them, and the time of the day."""

    numbers: tuple[int, int, int]
    mark: str
    time: timedelta
    offset: timedelta


def read_dates(texts: Sequence[str]) -> ReadDates:
    """Read the dates of one file, all in the same order: year first, day first or month first.

    A number beyond 12 shows which it is, or else the one order in which the file does not run backwards.
    Times without a zone are taken as UTC.
    """
    cleaned = [" ".join(strip_marks(text).split()) for text in texts]
    stamps = [_stamp(text) for text in cleaned]
    day_first = _is_day_first([stamp for stamp in stamps if stamp is not None and stamp.numbers[0] < 100])
    moments = tuple(
        moment_of(text) if stamp is None else _moment(stamp, day_first)
        for text, stamp in zip(cleaned, stamps, strict=True)
    )
    return ReadDates(moments, are_ambiguous=day_first is None)


def _stamp(text: str) -> _Stamp | None:
    found = _PARTS.fullmatch(text)
    if found is None:
        return None
    hour = int(found["hour"] or 0)
    half = (found["before"] or found["after"] or "").casefold().replace(". m", ".m").replace("a.m", "am")
    half = half.replace("p.m", "pm")
    if half.startswith(_AFTER_NOON) and hour < 12:
        hour += 12
    elif half.startswith(_BEFORE_NOON) and hour == 12:
        hour = 0
    return _Stamp(
        (int(found["first"]), int(found["second"]), int(found["third"])),
        found["mark"],
        timedelta(hours=hour, minutes=int(found["minute"] or 0), seconds=int(found["seconds"] or 0)),
        _offset(found["zone"]),
    )


def _offset(zone: str | None) -> timedelta:
    if zone is None or zone.isalpha():
        return timedelta()
    digits = zone[1:].replace(":", "")
    size = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -size if zone[0] == "-" else size


def _is_day_first(stamps: Sequence[_Stamp]) -> bool | None:
    """Whether the day comes before the month where the year comes last; None where nothing shows it."""
    if not stamps:
        return False
    days_seen = any(stamp.numbers[0] > 12 for stamp in stamps)
    months_seen = any(stamp.numbers[1] > 12 for stamp in stamps)
    if days_seen or months_seen:
        return None if days_seen and months_seen else days_seen
    if all(stamp.mark == "." for stamp in stamps):
        # Nobody writes the month first before a dot.
        return True
    runs_on = {order: _runs_on(stamps, order) for order in (True, False)}
    return None if runs_on[True] == runs_on[False] else runs_on[True]


def _runs_on(stamps: Sequence[_Stamp], day_first: bool) -> bool:
    moments = [moment for stamp in stamps if (moment := _moment(stamp, day_first)) is not None]
    return all(earlier <= later for earlier, later in pairwise(moments))


def _moment(stamp: _Stamp, day_first: bool | None) -> datetime | None:
    first, second, third = stamp.numbers
    if first >= 100:
        year, month, day = first, second, third
    elif day_first is None:
        return None
    else:
        year = third if third >= 100 else 2000 + third
        day, month = (first, second) if day_first else (second, first)
    if year not in _YEARS:
        return None
    try:
        return datetime(year, month, day, tzinfo=UTC) + stamp.time - stamp.offset
    except ValueError:
        return None
