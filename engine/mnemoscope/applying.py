"""From a plan to journal edits: the only way in which `remember` writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cleaning import cleaned_object
from .journal import Edit
from .plans import Plan, PlannedChange
from .records import rewritten
from .stores.base import CONTENT_FIELD, EMBED_AGAIN, KEEP, Keep, Vectors

__all__ = ["edits_of", "texts_to_embed", "vectors_for"]


def texts_to_embed(plan: Plan) -> list[str]:
    """Texts that the plan would store and that have no vector yet: reworded or edited ones."""
    texts = [change.after.content for change in plan.changes if change.after and _text_changes(change)]
    return [text for text in dict.fromkeys(texts) if text not in plan.vectors]


def edits_of(plan: Plan, vectors: Mapping[str, NDArray[np.float32]]) -> list[Edit]:
    """The edits that carry out the plan, given the vectors of all its texts."""
    return [_edit(plan, change, vectors) for change in plan.changes]


def vectors_for(text: str, vectors: Mapping[str, NDArray[np.float32]]) -> Vectors:
    """The vectors to write for a text; where we have none, the store embeds the field by itself."""
    return {CONTENT_FIELD: vectors[text]} if text in vectors else EMBED_AGAIN


def _edit(plan: Plan, change: PlannedChange, vectors: Mapping[str, NDArray[np.float32]]) -> Edit:
    written: Vectors | Keep = KEEP
    if change.after and _text_changes(change):
        written = vectors_for(change.after.content, vectors)
    return Edit(
        namespace=plan.namespace,
        key=change.key,
        action=change.action,
        expected=None if change.before is None else plan.stored[change.key].guarded,
        after=_value(plan, change),
        vectors=written,
        reason="; ".join(part for part in (change.reason, plan.terms.reason) if part),
        buries=change.action == "forget",
    )


def _value(plan: Plan, change: PlannedChange) -> dict[str, Any] | None:
    if change.after is None:
        return None
    if change.before is None:
        return change.after.to_value()
    return rewritten(cleaned_object(plan.stored[change.key].value), change.before, change.after)


def _text_changes(change: PlannedChange) -> bool:
    return change.before is None or change.after is None or change.before.content != change.after.content
