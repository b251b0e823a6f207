"""`Adopting`: bring items of other programs to our envelope, as a plan that is shown, applied and undone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core.execution import run, twin
from ..core.namespaces import NamespaceLike, read_prefix
from ..core.validation import check_by, check_kind
from ..curation.adoption import AdoptionPlan, adoption_edits, adoption_plan
from ..embedding.encode import embed_texts
from ..journal.changes import Change
from ..journal.journal import Journal
from .reading import Reading

__all__ = ["Adopting"]


_EMBEDDED_AT_ONCE = 1_000


class Adopting(Reading):
    """The part of `MemoryEngine` that adopts what others wrote."""

    actor: str
    _journal: Journal

    def plan_adoption(self, namespace: NamespaceLike = (), *, subtree: bool = False) -> AdoptionPlan:
        """What adopting the items of a namespace would do; nothing is written. No namespace means the whole store.

        The plan holds each item before and after, and those that cannot be adopted with the reason.
        """
        where = read_prefix(namespace)
        whole = subtree or not where
        snapshot = self.adapter.load(where, subtree=whole)
        fields = snapshot.vectors_by_item() if self.adapter.abilities.reads_vectors else [()] * len(snapshot.items)
        return adoption_plan(where, snapshot.items, fields, subtree=whole)

    def apply_adoption(self, plan: AdoptionPlan, *, actor: str | None = None, reason: str = "") -> list[Change]:
        """Carry out such a plan as one group; `undo` of the group puts every item back as it was.

        Raises:
            ConflictError: an item has changed since the plan was made; nothing is adopted.
        """
        check_by(actor, reason)
        check_kind("plan", plan, AdoptionPlan)
        vectors: dict[str, NDArray[np.float32]] = {}
        for start in range(0, len(plan.texts), _EMBEDDED_AT_ONCE):
            vectors |= run(embed_texts(self.adapter, plan.texts[start : start + _EMBEDDED_AT_ONCE]))
        edits = adoption_edits(plan, vectors, reason=reason or "adopted")
        return self._journal.commit(edits, actor=actor or self.actor)

    aplan_adoption = twin(plan_adoption)
    aapply_adoption = twin(apply_adoption)
