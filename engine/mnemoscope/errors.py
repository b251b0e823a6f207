"""Every error this library raises on purpose, and the record of a model call that some of them carry.

MnemoscopeError
├── ConfigurationError      (ValueError)  a setting or constructor argument is wrong
├── NamespaceError          (ValueError)  a namespace or one of its labels cannot be used
├── InputError              (ValueError)  what the caller passed in cannot be used
│   └── ConversationError                 a transcript or upload cannot be read
├── FilterError             (ValueError)  a metadata filter is not of the documented form
├── NotFoundError           (LookupError) no such memory, change or tombstone
├── ConflictError                         a memory changed since it was read; `conflicts` holds both texts
├── PermissionDeniedError                 the connection is read-only or the role may not do this
├── StoreError                            the store failed; `__cause__` is its own error
│   └── StoreUnavailableError             it cannot be opened or reached
├── CancelledWorkError                    whoever asked for the work cancelled it
├── EmbeddingError                        the embedder failed or gave vectors of the wrong shape
│   └── EmbedderMismatchError             it is not the one whose vectors the store holds
└── ModelError                            a chat model failed; `failure` names the class of failure

Messages name the thing, the value, what is allowed, and the way out.
"""

from __future__ import annotations

import os
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass

__all__ = [
    "LOG_TEXT",
    "CancelledWorkError",
    "ConfigurationError",
    "Conflict",
    "ConflictError",
    "ConversationError",
    "EmbedderMismatchError",
    "EmbeddingError",
    "FilterError",
    "InputError",
    "MnemoscopeError",
    "ModelCall",
    "ModelError",
    "NamespaceError",
    "NotFoundError",
    "PermissionDeniedError",
    "StoreError",
    "StoreUnavailableError",
    "describe_error",
]


LOG_TEXT = "MNEMOSCOPE_LOG_TEXT"
"""The environment variable that, set to anything, lets logs hold what errors say, stored text included."""


def describe_error(error: BaseException) -> str:
    """An error for a log: its type and where it was raised, and the same of what caused it.

    What errors say is left out, because databases, embedders and models quote the text they failed on. Where
    `MNEMOSCOPE_LOG_TEXT` is set it is the whole traceback.
    """
    if os.environ.get(LOG_TEXT):
        return "".join(traceback.format_exception(error))
    lines = []
    cause: BaseException | None = error
    while cause is not None:
        lines.append(f"{type(cause).__module__}.{type(cause).__qualname__}, raised at")
        lines += [line.rstrip() for line in traceback.format_tb(cause.__traceback__)]
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return "\n".join([*lines, f"(Set {LOG_TEXT}=1 to log what it says, which may quote stored text.)"])


@dataclass(frozen=True)
class ModelCall:
    """One call of a chat model: for what, how long, how many tokens (None where not told), and how it went.

    `failure` is None, or a class of `ModelError`; `raw` is what the model answered. `way` is how a structured
    answer was asked for, and `cost` what the provider itself reported, in its own currency.
    """

    purpose: str
    model: str
    seconds: float
    input_tokens: int | None = None
    output_tokens: int | None = None
    failure: str | None = None
    raw: str | None = None
    way: str | None = None
    cost: float | None = None


class MnemoscopeError(Exception):
    """Base of every error raised on purpose by this library."""


class ConfigurationError(MnemoscopeError, ValueError):
    """A setting or constructor argument is missing or out of range."""


class NamespaceError(MnemoscopeError, ValueError):
    """A namespace, or one of its labels, cannot be used."""


class InputError(MnemoscopeError, ValueError):
    """What the caller passed in cannot be used."""


class ConversationError(InputError):
    """A transcript or an uploaded file cannot be read as a conversation."""


class FilterError(MnemoscopeError, ValueError):
    """A metadata filter is not of the documented form."""


class NotFoundError(MnemoscopeError, LookupError):
    """There is no such memory, change or tombstone."""


@dataclass(frozen=True)
class Conflict:
    """One memory that is no longer what the caller had read.

    `expected` and `actual` are its texts; `None` means that it was (or is) not there. `said` tells it in other
    words, where the texts alone would not.
    """

    namespace: tuple[str, ...]
    key: str
    expected: str | None
    actual: str | None
    said: str = ""

    def __str__(self) -> str:
        return f"{'/'.join(self.namespace)} · {self.key}: {self.said or self._told}"

    @property
    def _told(self) -> str:
        if self.expected == self.actual:
            return f"its text is {_shown(self.actual)} as before, but something else of it has changed"
        before = "it was not there" if self.expected is None else f"it was {_shown(self.expected)}"
        now = "is gone" if self.actual is None else f"is {_shown(self.actual)}"
        return f"{before} when it was read and {now} now"


class ConflictError(MnemoscopeError):
    """A memory changed since it was read, so nothing was written."""

    def __init__(self, conflicts: list[Conflict]) -> None:
        self.conflicts = conflicts
        listed = "; ".join(str(conflict) for conflict in conflicts[:3])
        more = f" (and {len(conflicts) - 3} more)" if len(conflicts) > 3 else ""
        one = len(conflicts) == 1
        changed = "1 memory changed since it was" if one else f"{len(conflicts)} memories changed since they were"
        super().__init__(
            f"{changed} read, so nothing was written: {listed}{more}. "
            f"Read {'it' if one else 'them'} again and repeat the change."
        )

    @classmethod
    def of_words(cls, message: str) -> ConflictError:
        """A conflict about something else than a memory, in words of its own."""
        made = cls([])
        made.args = (message,)
        return made


class PermissionDeniedError(MnemoscopeError):
    """The connection is read-only, or the operator's role may not do this."""


class StoreError(MnemoscopeError):
    """The store failed; its own error is the `__cause__`."""


class StoreUnavailableError(StoreError):
    """The store cannot be opened or reached."""


class CancelledWorkError(MnemoscopeError):
    """Whoever asked for a long piece of work cancelled it; nothing was written."""


class EmbeddingError(MnemoscopeError):
    """The embedder failed, or gave vectors of the wrong number or dimension."""


class EmbedderMismatchError(EmbeddingError):
    """The embedder in use is not the one whose vectors the store holds, so nothing was written."""


class ModelError(MnemoscopeError):
    """A chat model failed.

    `failure` is one of "no_tool_call", "invalid_json", "schema_violation", "truncated", "refused",
    "timed_out", "rate_limited", "empty", "provider_error"; `raw` is what the model answered, if anything, and
    `calls` what was asked of it up to then.
    """

    def __init__(
        self, message: str, *, failure: str, raw: str | None = None, calls: tuple[ModelCall, ...] = ()
    ) -> None:
        super().__init__(message)
        self.failure = failure
        self.raw = raw
        self.calls = calls


def _shown(text: str | None) -> str:
    if text is None:
        return "nothing"
    return repr(text if len(text) <= 200 else text[:199] + "…")
