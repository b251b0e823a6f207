"""`MemoryRecord`: one memory as people and code read it, and its form in the store."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from .frozen import KeepsTuples
from .namespaces import Namespace
from .payloads import CONTENT, KIND, is_ours, place_of_text, text_of, with_text
from .text import shown
from .times import read_time, to_iso, utc_now

__all__ = ["Evidence", "MemoryRecord", "StoredLike", "repaired", "rewritten"]


_OURS = frozenset(
    {
        "kind", "content", "categories", "importance", "created_at", "last_accessed", "source", "private",
        "metadata", "updated_at", "revision", "evidence", "expires_at", "pinned",
    }
)  # fmt: skip


class StoredLike(Protocol):
    """What `MemoryRecord.from_item` reads: a LangGraph `Item`, a `SearchItem`, or our own `StoredItem`."""

    @property
    def namespace(self) -> tuple[str, ...]: ...
    @property
    def key(self) -> str: ...
    @property
    def value(self) -> Any: ...
    @property
    def created_at(self) -> datetime: ...
    @property
    def updated_at(self) -> datetime: ...


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a memory rests on: the source, its messages, the verbatim quote, and when it was said.

    `date` is the day that the words speak of, ISO-8601 as precisely as it was said ("2025", "2025-03-14").
    """

    source: str | None = None
    message_ids: list[str] = field(default_factory=list)
    quote: str | None = None
    said_at: datetime | None = None
    run: str | None = None
    date: str | None = None

    def to_value(self) -> dict[str, Any]:
        """The stored form; unknown parts are left out."""
        value: dict[str, Any] = {
            "source": self.source,
            "message_ids": list(self.message_ids),
            "quote": self.quote,
            "said_at": to_iso(self.said_at) if self.said_at else None,
            "run": self.run,
            "date": self.date,
        }
        return {name: part for name, part in value.items() if part not in (None, [])}

    @classmethod
    def from_value(cls, value: Mapping[str, Any]) -> Evidence:
        """Read the stored form; parts of the wrong type are left out."""
        ids = value.get("message_ids")
        return cls(
            source=_label(value.get("source")),
            message_ids=[str(each) for each in ids] if isinstance(ids, list) else [],
            quote=_text_or_none(value.get("quote")),
            said_at=read_time(value.get("said_at")),
            run=_label(value.get("run")),
            date=_label(value.get("date")),
        )


@dataclass(frozen=True, slots=True)
class MemoryRecord(KeepsTuples):
    """One memory. Times are aware UTC; lists and dicts are to be read, not changed.

    `importance` is 0 to 1, or None where the item states none that can be read. `extra` holds the stored
    fields that are not ours: they survive every edit. `problems` says what of the stored item could not be
    read as it should; a record with problems is still shown and ranked on what is known. `text_at` is where in
    the stored item the text stands, see `mnemoscope.shapes`.
    """

    key: str
    namespace: Namespace
    content: str
    categories: list[str] = field(default_factory=list)
    importance: float | None = 0.5
    created_at: datetime = field(default_factory=utc_now)
    last_accessed: datetime | None = None
    source: str | None = None
    private: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)
    updated_at: datetime | None = None
    revision: int = 1
    evidence: list[Evidence] = field(default_factory=list)
    expires_at: datetime | None = None
    pinned: bool = False
    kind: str = KIND
    extra: dict[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    text_at: str = CONTENT

    @property
    def changed_at(self) -> datetime:
        """When the content last changed: `updated_at`, or else `created_at`. Recency is measured from it."""
        return self.updated_at or self.created_at

    def to_value(self) -> dict[str, Any]:
        """The stored form: a flat JSON object, with `extra` as it was."""
        value = dict(self.extra)
        value |= {
            "kind": self.kind,
            "content": self.content,
            "categories": list(self.categories),
            "importance": self.importance,
            "created_at": to_iso(self.created_at),
            "last_accessed": to_iso(self.last_accessed or self.created_at),
            "source": self.source,
            "private": self.private,
            "metadata": dict(self.metadata),
            "updated_at": to_iso(self.updated_at) if self.updated_at else None,
            "revision": self.revision,
            "evidence": [each.to_value() for each in self.evidence],
        }
        if self.expires_at:
            value["expires_at"] = to_iso(self.expires_at)
        if self.pinned:
            value["pinned"] = True
        return value

    @classmethod
    def from_item(cls, item: StoredLike) -> MemoryRecord:
        """Read any stored item; whatever a stranger wrote, this does not raise.

        LangMem's `{"content": …}` and `{"kind": …, "content": {…}}` items and any other JSON are read as
        far as they go; what cannot be read is named in `problems`. Where the item says which of its fields is
        the text (`text_field`), that one is.
        """
        value = item.value if isinstance(item.value, Mapping) else {}
        problems: list[str] = [] if isinstance(item.value, Mapping) else ["the value is not an object"]
        field = getattr(item, "text_field", None)
        content = text_of(value, field)
        if content is None:
            problems.append("there is no text under 'content'")
        created = _time(value, "created_at", problems) or read_time(item.created_at) or utc_now()
        return cls(
            key=item.key,
            namespace=tuple(item.namespace),
            content=content or "",
            categories=_categories(value.get("categories"), problems),
            importance=_importance(value.get("importance"), problems),
            created_at=created,
            last_accessed=_time(value, "last_accessed", problems),
            source=_text(value, "source", problems),
            private=_flag(value, "private", problems),
            metadata=_mapping(value.get("metadata"), problems),
            updated_at=_time(value, "updated_at", problems),
            revision=_revision(value.get("revision"), problems),
            evidence=_evidence(value.get("evidence"), problems),
            expires_at=_time(value, "expires_at", problems),
            pinned=_flag(value, "pinned", problems),
            kind=_text(value, "kind", problems) or "",
            extra={name: part for name, part in value.items() if name not in _OURS},
            problems=tuple(problems),
            text_at=place_of_text(value, field),
        )


def rewritten(stored: object, before: MemoryRecord, after: MemoryRecord) -> dict[str, Any]:
    """The stored value with what differs between the two records changed.

    What does not differ stays as it is stored, be it nested or malformed: an edit loses nothing it is not about.
    What another program wrote keeps its shape, the text where it was, so that the program reads it as before.

    Raises:
        InputError: the text is made of fields, and the new one does not say which field is to be what.
    """
    if not isinstance(stored, Mapping):
        return after.to_value()
    old, new = before.to_value(), after.to_value()
    kept = {name: part for name, part in stored.items() if name not in old or name in new}
    changed = {name: part for name, part in new.items() if name not in old or old[name] != part}
    text = changed.pop("content", None)
    value = {**kept, **changed} if not is_ours(stored) else {**new, **kept, **changed}
    if text is None:
        return value
    # Not every store keeps the time of creation when an item is put anew.
    return with_text({"created_at": new["created_at"], **value}, text, before.text_at)


def repaired(stored: Mapping[str, Any], record: MemoryRecord) -> dict[str, Any]:
    """The stored value with each part that could not be read written as it was understood.

    What another program wrote keeps its shape, and what stood there before is kept under `unread`.
    """
    understood = replace(record, revision=record.revision + 1).to_value()
    if is_ours(stored):
        return understood
    names = [name for name in stored if name in _OURS and name != "content" and _is_problem(name, record.problems)]
    unread = {name: stored[name] for name in names}
    return {**stored, **{name: understood.get(name) for name in names}, "unread": unread}


def _is_problem(name: str, problems: tuple[str, ...]) -> bool:
    return any(problem.partition(" ")[0] == name for problem in problems)


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _label(value: object) -> str | None:
    """A text of which many records hold the same, so that they hold it once."""
    return sys.intern(value) if type(value) is str else _text_or_none(value)


def _text(value: Mapping[str, Any], name: str, problems: list[str]) -> str | None:
    part = value.get(name)
    if part is not None and not isinstance(part, str):
        problems.append(f"{name} is not text: {shown(part)}")
    return _label(part)


def _time(value: Mapping[str, Any], name: str, problems: list[str]) -> datetime | None:
    stored = value.get(name)
    moment = read_time(stored)
    if stored is not None and moment is None:
        problems.append(f"{name} is not a time: {shown(stored)}")
    return moment


_PLAINLY_NO = frozenset({"", "0", "0.0", "false", "no", "off", "none", "null", "[]", "{}"})


def _flag(value: Mapping[str, Any], name: str, problems: list[str]) -> bool:
    part = value.get(name)
    if part is None or isinstance(part, bool):
        return bool(part)
    problems.append(f"{name} is not true or false: {shown(part)}")
    # One that cannot be read errs to the safe side: it hides rather than shows, and keeps rather than forgets.
    return name == "private" or str(part).strip().casefold() not in _PLAINLY_NO


def _importance(value: object, problems: list[str]) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or _is_no_number(value):
        problems.append(f"importance is not a number: {shown(value)}")
        return None
    if not 0.0 <= value <= 1.0:
        problems.append(f"importance is outside 0 to 1: {shown(value)}")
        return None
    return float(value)


def _is_no_number(value: int | float) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _categories(value: object, problems: list[str]) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        problems.append("categories is one text, not a list")
        return [value]
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        problems.append(f"categories is not a list of texts: {shown(value)}")
        return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
    return [_label(each) or each for each in value]


def _mapping(value: object, problems: list[str]) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        problems.append(f"metadata is not an object: {shown(value)}")
        return {}
    return dict(value)


def _revision(value: object, problems: list[str]) -> int:
    if value is None:
        return 1
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        problems.append(f"revision is not a whole number from 1: {shown(value)}")
        return 1
    return value


def _evidence(value: object, problems: list[str]) -> list[Evidence]:
    if value is None:
        return []
    if not isinstance(value, list):
        problems.append(f"evidence is not a list: {shown(value)}")
        return []
    return [Evidence.from_value(each) for each in value if isinstance(each, Mapping)]
