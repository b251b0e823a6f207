"""`ReembedState`: how far a change of embedder is; a note in the store, so that every process and page sees it."""

from __future__ import annotations

import os
import secrets
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, TypeAlias, get_args

from ..core.namespaces import RESERVED_ROOT
from ..core.times import read_time, to_iso
from ..embedding.identity import EmbedderIdentity
from ..stores.base import Ref

__all__ = ["LEASE", "REEMBEDDING_AT", "STATES", "JobState", "ReembedState", "worker_name"]


REEMBEDDING_AT: Ref = ((RESERVED_ROOT, "meta"), "reembedding")
"""Where the note is kept."""

LEASE = timedelta(minutes=2)
"""A worker that gave no sign for so long is taken for dead."""

JobState: TypeAlias = Literal["running", "paused", "failed", "interrupted", "cancelled", "done"]
STATES: tuple[JobState, ...] = get_args(JobState)
"""Every state of the job."""


@dataclass(frozen=True)
class ReembedState:
    """A change of embedder as it stands.

    `staged` of `total` vectors are made; after the change the vectors of `source` are kept, `kept_bytes` of them.
    `embedded` counts the texts that were given to the embedder, in `seconds` of work; `limit` is how many a second
    it may be given, None for as many as it can. `at` is when the worker last gave a sign.
    """

    state: JobState
    source: EmbedderIdentity | None
    target: EmbedderIdentity
    started_at: datetime
    at: datetime
    actor: str
    worker: str
    limit: float | None = None
    total: int = 0
    staged: int = 0
    embedded: int = 0
    seconds: float = 0.0
    error: str = ""
    kept_bytes: int = 0

    @property
    def share(self) -> float:
        """How much of it is made, 0 to 1."""
        return min(self.staged / self.total, 1.0) if self.total else 1.0

    @property
    def rate(self) -> float | None:
        """Texts embedded a second of work; None before the first."""
        return self.embedded / self.seconds if self.embedded and self.seconds > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """About how long it takes from here; None where nobody can tell."""
        return max(self.total - self.staged, 0) / self.rate if self.rate else None

    @property
    def waiting_for(self) -> EmbedderIdentity | None:
        """Whose vectors stand in waiting: the target's, and after the change those of the source."""
        return self.source if self.state == "done" else self.target

    def as_seen(self, now: datetime) -> ReembedState:
        """The state with a worker that is dead told apart from one that works."""
        is_dead = self.state == "running" and (now - self.at > LEASE or _is_gone(self.worker))
        return replace(self, state="interrupted") if is_dead else self

    def to_value(self) -> dict[str, Any]:
        """The stored form."""
        return {
            "kind": "reembedding",
            "state": self.state,
            "source": self.source.to_value() if self.source else None,
            "target": self.target.to_value(),
            "started_at": to_iso(self.started_at),
            "at": to_iso(self.at),
            "actor": self.actor,
            "worker": self.worker,
            "limit": self.limit,
            "total": self.total,
            "staged": self.staged,
            "embedded": self.embedded,
            "seconds": round(self.seconds, 3),
            "error": self.error,
        }

    @classmethod
    def from_value(cls, value: object) -> ReembedState | None:
        """Read the stored form; None where it is not of it."""
        if not isinstance(value, Mapping) or value.get("state") not in STATES:
            return None
        target = EmbedderIdentity.from_value(value.get("target"))
        started, at = read_time(value.get("started_at")), read_time(value.get("at"))
        if target is None or started is None or at is None:
            return None
        source = EmbedderIdentity.from_value(value.get("source"))
        limit = value.get("limit")
        numbers = {name: int(_number(value.get(name))) for name in ("total", "staged", "embedded")}
        return cls(
            value["state"],
            source,
            target,
            started,
            at,
            actor=str(value.get("actor", "")),
            worker=str(value.get("worker", "")),
            limit=_number(limit) if limit is not None else None,
            seconds=_number(value.get("seconds")),
            error=str(value.get("error", "")),
            **numbers,
        )


def worker_name() -> str:
    """The name of a worker: its machine, its process, and what tells it from others of that process."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"


def _is_gone(worker: str) -> bool:
    """Whether a worker is known to be dead: its process was on this machine, and is there no more."""
    host, _, rest = worker.partition(":")
    number = rest.partition(":")[0]
    # On Windows the same call would end the process that it asks for.
    if host != socket.gethostname() or not number.isdigit() or sys.platform == "win32":
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
