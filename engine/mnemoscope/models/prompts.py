"""Prompts kept as versions in the store: every wording with who wrote it and why, and which one is in use since when.

A version is never changed, since another wording is another version; and which one is in use is kept entry by entry.
So the book is its own history.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import MAXYEAR, UTC, datetime, timedelta
from typing import Any, Literal, TypeAlias, get_args

from langgraph.store.base import BaseStore

from ..core.text import one_line, shown
from ..core.times import Clock, read_time, to_iso, utc_now
from ..core.validation import check_given, check_whole
from ..errors import InputError, NotFoundError
from ..journal.changes import book
from ..stores.base import StoreAdapter, Write
from ..stores.choice import adapt
from .client import prompt_text, prompt_version

__all__ = ["PURPOSES", "PromptBook", "PromptUse", "PromptVersion", "Purpose", "unkept_prompts"]


Purpose: TypeAlias = Literal["extract", "consolidate"]
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
"""What a prompt is for."""

LONGEST_PROMPT = 50_000
_LONGEST_NAME, _LONGEST_NOTE = 60, 500
_SHIPPED = "As it ships"
_GIVEN = "Given in code"


@dataclass(frozen=True)
class PromptVersion:
    """One wording of a prompt. `at` is None for the one that ships with the library."""

    purpose: Purpose
    text: str
    name: str = ""
    note: str = ""
    actor: str = ""
    at: datetime | None = None

    @property
    def id(self) -> str:
        """The short name of exactly this wording, as plans and runs name it in `prompt_versions`."""
        return prompt_version(self.text)

    def to_value(self) -> dict[str, Any]:
        """The stored form."""
        told = {name: getattr(self, name) for name in ("purpose", "text", "name", "note", "actor")}
        return {"kind": "prompt", **told, "at": to_iso(self.at) if self.at else None}


@dataclass(frozen=True)
class PromptUse:
    """Since when, by whom and why a version is in use; `version` None stands for the prompt that ships."""

    purpose: Purpose
    version: str | None
    actor: str
    at: datetime
    reason: str = ""


class PromptBook:
    """The prompts that are kept in a store, under our own root; agents never see them.

    Args:
        store: a store, or an adapter over one.
        clock: what time it is.
    """

    def __init__(self, store: BaseStore | StoreAdapter, clock: Clock = utc_now) -> None:
        self._adapter: StoreAdapter = adapt(store) if isinstance(store, BaseStore) else store
        self._clock = clock

    def all(self, purpose: Purpose = "extract") -> list[PromptVersion]:
        """The versions for a purpose, the newest first and the one that ships last."""
        _check_purpose(purpose)
        items = self._adapter.load(book("prompts")).items
        found = [read for item in items if (read := _version(item.value)) is not None and read.purpose == purpose]
        shipped = _shipped(purpose)
        kept = sorted(found, key=lambda each: (to_iso(each.at) if each.at else "", each.id), reverse=True)
        return [*(each for each in kept if each.id != shipped.id), shipped]

    def find(self, version: str, purpose: Purpose = "extract") -> PromptVersion:
        """The version with this short name.

        Raises:
            NotFoundError: it is neither kept here nor the one that ships.
        """
        found = next((each for each in self.all(purpose) if each.id == version), None)
        if found is None:
            raise NotFoundError(f"The wording {shown(version)} of the prompt is not kept in this store.")
        return found

    def save(
        self, text: str, *, purpose: Purpose = "extract", name: str = "", note: str = "", actor: str = "agent"
    ) -> PromptVersion:
        """Keep a wording. One that is kept already stays as it is, with the name and note it has.

        Raises:
            InputError: it has no text, or a text, name or note that is too long.
        """
        _check_purpose(purpose)
        for what, given in (("text", text), ("name", name), ("note", note), ("actor", actor)):
            check_given(what, given)
        clean = text.strip()
        if not 0 < len(clean) <= LONGEST_PROMPT:
            raise InputError(f"A prompt has from 1 to {LONGEST_PROMPT:,} characters, got {len(clean):,}.")
        for what, given, most in (("name", name, _LONGEST_NAME), ("note", note, _LONGEST_NOTE)):
            if len(given) > most:
                raise InputError(f"The {what} of a prompt has at most {most} characters, got {len(given):,}.")
        known = next((each for each in self.all(purpose) if each.id == prompt_version(clean)), None)
        if known is not None:
            return known
        made = PromptVersion(purpose, clean, one_line(name), note, actor, self._clock())
        self._adapter.write([Write(book("prompts"), f"{purpose}-{made.id}", made.to_value())])
        return made

    def use(self, version: str | None, *, purpose: Purpose = "extract", actor: str, reason: str = "") -> PromptUse:
        """Put a version to use, None for the one that ships, from the next conversation on.

        Raises:
            NotFoundError: there is no such version.
        """
        if version is not None:
            self.find(version, purpose)
        _check_purpose(purpose)
        check_given("actor", actor)
        check_given("reason", reason)
        use = PromptUse(purpose, version, actor, self._clock(), reason)
        value = {"kind": "prompt use", "purpose": purpose, "version": version, "actor": actor, "reason": reason}
        key = f"{self._after_others(use):%Y%m%dT%H%M%S%f}-{uuid.uuid4()}"
        self._adapter.write([Write(_uses(purpose), key, {**value, "at": to_iso(use.at)})])
        return use

    def uses(self, purpose: Purpose = "extract", *, limit: int | None = None) -> list[PromptUse]:
        """Which versions were put to use, the latest first."""
        _check_purpose(purpose)
        check_whole("limit", limit)
        items = self._adapter.latest(_uses(purpose), limit=limit)
        return [read for item in items if (read := _use(item.value, purpose)) is not None]

    def in_use(self, purpose: Purpose = "extract") -> PromptVersion:
        """The version that is in use: the one that ships where none was chosen, or where the chosen one is gone."""
        chosen = next(iter(self.uses(purpose, limit=1)), None)
        if chosen is None or chosen.version is None:
            return _shipped(purpose)
        item = self._adapter.get([(book("prompts"), f"{purpose}-{chosen.version}")])[0]
        found = _version(item.value) if item is not None else None
        # A text under another text's name was not written by this book.
        return found if found is not None and found.id == chosen.version else _shipped(purpose)

    def _after_others(self, use: PromptUse) -> datetime:
        """When it was put to use, or just after the one before where the clock stood still or went back."""
        before = (_moment_in(item.key) for item in self._adapter.latest(_uses(use.purpose), limit=1))
        return max([use.at, *(each + timedelta(microseconds=1) for each in before if each is not None)])

    def source(self, purpose: Purpose = "extract") -> Callable[[], str]:
        """What gives the text in use at each call, for `LLMExtractor(prompt=…)` and `LLMConsolidator(prompt=…)`."""
        _check_purpose(purpose)
        return lambda: self.in_use(purpose).text


def unkept_prompts(adapter: StoreAdapter, prompts: Mapping[str, str], actor: str, at: datetime) -> list[Write]:
    """What keeps wordings that were given in code, by what they are for, so that runs lead to them."""
    made = [
        PromptVersion(purpose, text, _GIVEN, actor=actor, at=at)
        for purpose in PURPOSES
        if (text := prompts.get(purpose, "").strip()) and len(text) <= LONGEST_PROMPT
    ]
    places = [(book("prompts"), f"{each.purpose}-{each.id}") for each in made]
    known = adapter.get(places) if places else []
    return [
        Write(*place, each.to_value()) for place, each, item in zip(places, made, known, strict=True) if item is None
    ]


def _uses(purpose: Purpose) -> tuple[str, ...]:
    return book("prompts_in_use", (purpose,))


def _moment_in(key: str) -> datetime | None:
    """The time that the key of a use begins with; None where it is none of ours, or the last there is."""
    try:
        found = datetime.strptime(key.partition("-")[0], "%Y%m%dT%H%M%S%f").replace(tzinfo=UTC)
    except ValueError:
        return None
    return found if found.year < MAXYEAR else None


def _shipped(purpose: Purpose) -> PromptVersion:
    return PromptVersion(purpose, prompt_text(purpose), _SHIPPED)


def _check_purpose(purpose: object) -> None:
    if purpose not in PURPOSES:
        raise InputError(f"A prompt is for one of {', '.join(PURPOSES)}, got {shown(purpose)}.")


def _version(value: object) -> PromptVersion | None:
    if not isinstance(value, Mapping) or value.get("kind") != "prompt" or value.get("purpose") not in PURPOSES:
        return None
    text, name, note, actor = (value.get(part) for part in ("text", "name", "note", "actor"))
    if not (isinstance(text, str) and text and isinstance(name, str) and isinstance(note, str)):
        return None
    return PromptVersion(value["purpose"], text, name, note, str(actor or ""), read_time(value.get("at")))


def _use(value: object, purpose: Purpose) -> PromptUse | None:
    if not isinstance(value, Mapping) or value.get("kind") != "prompt use":
        return None
    version, at = value.get("version"), read_time(value.get("at"))
    if at is None or not isinstance(version, str | None):
        return None
    return PromptUse(purpose, version, str(value.get("actor")), at, str(value.get("reason") or ""))
