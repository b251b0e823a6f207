"""Accepting findings: from the proposals of worklists to journal edits, all of them one group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from ..consolidation.remember import vectors_for
from ..core.payloads import as_object
from ..core.records import MemoryRecord, repaired
from ..errors import Conflict, ConflictError, InputError
from ..journal.changes import Edit
from ..stores.base import KEEP, Ref, StoredItem
from ..worklists.findings import Finding, Proposal, ProposalKind, found
from .edits import forget_edit
from .merging import merge_edits

__all__ = ["Means", "accepting_edits", "proposals_of", "refs_of", "texts_of"]


@dataclass(frozen=True)
class Means:
    """What carrying out proposals takes: the items as they are, vectors by text, the time and the reason."""

    items: Mapping[Ref, StoredItem]
    vectors: Mapping[str, NDArray[np.float32]]
    now: datetime
    reason: str = ""


def proposals_of(findings: Sequence[Finding]) -> list[tuple[Finding, Proposal]]:
    """The findings with their proposals.

    Raises:
        InputError: one proposes nothing.
    """
    for finding in findings:
        if finding.proposal is None:
            raise InputError(f"The finding {finding.reason!r} proposes nothing; change its memories by hand.")
    return [(finding, finding.proposal) for finding in findings if finding.proposal is not None]


def refs_of(findings: Sequence[Finding]) -> list[Ref]:
    """Every memory that the findings are about, each once."""
    return list(dict.fromkeys(ref for finding in findings for ref in finding.refs))


def texts_of(findings: Sequence[Finding], items: Mapping[Ref, StoredItem]) -> list[str]:
    """The texts that accepting would need vectors of."""
    texts = []
    for _, proposal in proposals_of(findings):
        if proposal.kind == "merge" and proposal.content is not None:
            texts.append(proposal.content)
        if proposal.kind == "embed":
            texts += [MemoryRecord.from_item(items[ref]).content for ref in proposal.refs if ref in items]
    return texts


def accepting_edits(findings: Sequence[Finding], means: Means) -> list[Edit]:
    """The edits that carry out the proposals, but those to undo a change.

    Raises:
        ConflictError: a memory is not what it was when the worklist was made.
        InputError: two proposals want different things of one memory.
    """
    asked = [(finding, proposal) for finding, proposal in proposals_of(findings) if proposal.kind != "undo"]
    _check_unchanged([finding for finding, _ in asked], means.items)
    edits: dict[Ref, Edit] = {}
    for finding, proposal in asked:
        for edit in _EDITS[proposal.kind](proposal, replace(means, reason=means.reason or finding.reason)):
            before = edits.setdefault(edit.ref, edit)
            if before is not edit and (before.action, edit.action) != ("forget", "forget"):
                raise InputError(
                    f"Two proposals want different things of the memory {edit.key!r}; accept one, then look again."
                )
    return list(edits.values())


def _check_unchanged(findings: Sequence[Finding], items: Mapping[Ref, StoredItem]) -> None:
    conflicts = []
    for finding in findings:
        present = [MemoryRecord.from_item(items[ref]) for ref in finding.refs if ref in items]
        if len(present) < len(finding.refs) or found(finding.worklist, present, "").id != finding.id:
            namespace, key = finding.refs[0]
            item = items.get(finding.refs[0])
            text = None if item is None else MemoryRecord.from_item(item).content
            now = "it is gone now" if text is None else f"it is {text[:200]!r} now"
            said = f"it is not what the worklist showed ({finding.reason}); {now}"
            conflicts.append(Conflict(namespace, key, f"what the worklist showed ({finding.reason})", text, said))
    if conflicts:
        raise ConflictError(conflicts)


def _merging(proposal: Proposal, means: Means) -> list[Edit]:
    ordered = sorted(proposal.refs, key=lambda ref: ref != proposal.keep)
    items = [means.items[ref] for ref in ordered]
    return merge_edits(items, proposal.content, means.vectors, means.now, reason=means.reason)


def _forgetting(proposal: Proposal, means: Means) -> list[Edit]:
    return [forget_edit(means.items[ref], means.reason) for ref in proposal.refs]


def _embedding(proposal: Proposal, means: Means) -> list[Edit]:
    edits = []
    for ref in proposal.refs:
        item = means.items[ref]
        vectors = vectors_for(MemoryRecord.from_item(item).content, means.vectors)
        edits.append(Edit(*ref, "update", item.value, as_object(item.value), vectors, means.reason))
    return edits


def _repairing(proposal: Proposal, means: Means) -> list[Edit]:
    edits = []
    for ref in proposal.refs:
        item = means.items[ref]
        stored = as_object(item.value)
        record = MemoryRecord.from_item(replace(item, value=stored))
        edits.append(Edit(*ref, "update", item.value, repaired(stored, record), KEEP, means.reason))
    return edits


_EDITS: dict[ProposalKind, Callable[[Proposal, Means], list[Edit]]] = {
    "merge": _merging,
    "forget": _forgetting,
    "embed": _embedding,
    "repair": _repairing,
}
