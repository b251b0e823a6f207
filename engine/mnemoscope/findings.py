"""`Finding`: one row of a worklist with its reason and a proposal, under an id that outlives the session."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import orjson

from .namespaces import Namespace
from .records import MemoryRecord
from .stores.base import Ref

__all__ = ["Finding", "Proposal", "ProposalKind", "found", "proposed"]

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
    known = orjson.dumps([worklist, states, mark])
    refs = tuple((record.namespace, record.key) for record in records)
    return Finding(hashlib.blake2b(known, digest_size=16).hexdigest(), worklist, refs, reason, proposal, weight)


def proposed(kind: ProposalKind, *records: MemoryRecord) -> Proposal:
    """The proposal to do this to these memories."""
    return Proposal(kind, tuple((record.namespace, record.key) for record in records))
