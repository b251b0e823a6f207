"""Times: everything inside is an aware UTC datetime; everything stored is ISO-8601 UTC."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import TypeAlias

__all__ = ["Clock", "aware", "from_iso", "read_time", "to_iso", "utc_now"]


Clock: TypeAlias = Callable[[], datetime]


def utc_now() -> datetime:
    """The current time, aware, in UTC."""
    return datetime.now(UTC)


def to_iso(moment: datetime) -> str:
    """The stored form of a time: ISO-8601, UTC, microseconds kept. A naive time is taken as UTC."""
    return aware(moment).isoformat()


def from_iso(text: str) -> datetime:
    """An aware UTC time from its ISO-8601 form; without an offset it is taken as UTC.

    Raises:
        ValueError: the text is not ISO-8601.
    """
    return aware(datetime.fromisoformat(text))


def read_time(value: object) -> datetime | None:
    """A stored time in any common form, or None where it cannot be read as one.

    Accepted: a datetime, ISO-8601 text, seconds since 1970 as a number.
    """
    try:
        if isinstance(value, datetime):
            return _in_utc(value)
        if isinstance(value, str):
            return _from_text(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def aware(moment: datetime) -> datetime:
    """The same moment in UTC, or the first or last one there is. A naive time is taken as UTC."""
    try:
        return _in_utc(moment)
    except OverflowError:
        return (datetime.min if moment.year == 1 else datetime.max).replace(tzinfo=UTC)


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


# Memories of one batch share their times, and most name each twice: read once, they are one object in memory.
@lru_cache(4_096)
def _from_text(text: str) -> datetime:
    return _in_utc(datetime.fromisoformat(text))
