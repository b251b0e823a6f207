"""`Finding`: one row of a worklist with its reason and a proposal, under an id that outlives the session."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from ..core.namespaces import Namespace
from ..core.records import MemoryRecord
from ..core.text import storable
from ..core.times import from_iso, to_iso
from ..journal.changes import book
from ..journal.entries import read_entries
from ..stores.base import Ref, StoreAdapter, StoredItem, Write
from ..stores.values import json_text

__all__ = ["Finding", "Proposal", "ProposalKind", "Rejection", "Rejections", "found", "proposed"]


ProposalKind: TypeAlias = Literal["merge", "forget", "undo", "embed", "repair"]


@dataclass(frozen=True)
class Proposal:
    """What accepting a finding would do.

    "merge" puts the memories `refs` into `keep`, which then says `content`; "forget" withdraws `refs`; "undo"
    takes back the `change`; "embed" makes the vectors of `refs` anew; "repair" writes `refs` as they are understood.
    """

    kind: ProposalKind
    refs: tuple[Ref, ...] = ()
    keep: Ref | None = None
    content: str | None = None
    change: str | None = None


@dataclass(frozen=True)
class Finding:
    """One row of a worklist: the memories concerned, why, and what to do; None where only a person can tell.

    `id` stands for these memories as they are now: it is the same in every session and another one as soon as
    one of them changes. `weight` puts a worklist in order, the greatest first.
    """

    id: str
    worklist: str
    refs: tuple[Ref, ...]
    reason: str
    proposal: Proposal | None = None
    weight: float = 0.0

    @property
    def namespace(self) -> Namespace:
        """Where its memories are; a finding never reaches over several namespaces."""
        return self.refs[0][0]


def found(
    worklist: str,
    records: Sequence[MemoryRecord],
    reason: str,
    proposal: Proposal | None = None,
    *,
    weight: float = 0.0,
    mark: str = "",
) -> Finding:
    """The finding about these memories as they are; `mark` tells apart several about the same ones."""
    states = sorted((list(each.namespace), each.key, each.revision, each.content) for each in records)
    known = json_text([worklist, states, mark]).encode()
    refs = tuple((record.namespace, record.key) for record in records)
    return Finding(hashlib.blake2b(known, digest_size=16).hexdigest(), worklist, refs, reason, proposal, weight)


def proposed(kind: ProposalKind, *records: MemoryRecord) -> Proposal:
    """The proposal to do this to these memories."""
    return Proposal(kind, tuple((record.namespace, record.key) for record in records))


@dataclass(frozen=True)
class Rejection:
    """One proposal that was turned down: of which worklist, by whom, when and why."""

    id: str
    worklist: str
    actor: str
    at: datetime
    reason: str = ""


class Rejections:
    """Reads and writes the rejections of a store."""

    def __init__(self, adapter: StoreAdapter) -> None:
        self._adapter = adapter

    def of(self, namespace: Namespace, *, subtree: bool = False) -> dict[str, Rejection]:
        """What was rejected in a namespace, by the finding's id, in one call."""
        items = self._adapter.load(book("worklists", namespace), subtree=subtree).items
        return {each.id: each for each in read_entries(items, _read)}

    def add(self, findings: Sequence[Finding], *, actor: str, at: datetime, reason: str = "") -> None:
        """Turn these proposals down, in one batch; they stay so until one of their memories changes."""
        self._adapter.write(
            [
                Write(
                    book("worklists", finding.namespace),
                    finding.id,
                    {
                        "kind": "rejection",
                        "worklist": finding.worklist,
                        "actor": storable(actor)[0],
                        "at": to_iso(at),
                        "reason": storable(reason)[0],
                    },
                )
                for finding in findings
            ]
        )

    def remove(self, findings: Sequence[Finding]) -> None:
        """Take rejections back, in one batch."""
        self._adapter.write([Write(book("worklists", finding.namespace), finding.id, None) for finding in findings])


def _read(item: StoredItem) -> Rejection:
    value = item.value
    return Rejection(item.key, value["worklist"], value["actor"], from_iso(value["at"]), value["reason"])
