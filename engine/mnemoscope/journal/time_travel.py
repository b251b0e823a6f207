"""The store as it was: what is there now, put back by the changes since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.execution import run
from ..core.namespaces import is_reserved
from ..embedding.active import Embedders
from ..embedding.encode import embed_texts
from ..embedding.identity import indexed_text
from ..stores.base import EMBED_AGAIN, Keep, Ref, Snapshot, StoreAdapter, StoredItem, Vectors
from .changes import Change, Edit
from .groups import SKEW, in_order

__all__ = ["put_back", "renewed", "with_vectors"]


def put_back(
    present: Snapshot, changes: Iterable[Change], moment: datetime, *, former: datetime | None = None
) -> dict[Ref, tuple[StoredItem, Vectors]]:
    """The items with their vectors at that moment, by place; `changes` are those since, the latest first.

    What changed before `former` has vectors by a former embedder, and is to be embedded again.
    """
    pairs = zip(present.items, present.vectors_by_item(), strict=True)
    found: dict[Ref, tuple[StoredItem, Vectors]] = {item.ref: (item, vectors) for item, vectors in pairs}
    since: dict[Ref, list[Change]] = {}
    for change in changes:
        if change.at <= moment:
            break
        if not change.shelf and not is_reserved(change.namespace):
            # Later ones cannot have come before it, however the clocks differ.
            close = [later for later in since.get(change.place, ()) if later.at - change.at <= SKEW]
            since[change.place] = [change, *close]
    for place, known in since.items():
        change = _first(known)
        if change.before is None:
            found.pop(place, None)
        else:
            born = change.created_at or change.at
            vectors = EMBED_AGAIN if former and change.at < former and change.vectors else change.vectors
            found[place] = (StoredItem(*place, change.before, born, born, change.text_field), vectors)
    return dict(sorted(found.items()))


def _first(changes: Sequence[Change]) -> Change:
    """Which of these came first: the earliest, unless another one made the memory."""
    first = in_order(changes)[0]
    return first if first.before is None else changes[0]


def with_vectors(items: Sequence[StoredItem], vectors: Sequence[Vectors], dimensions: int) -> Snapshot:
    """These items as a snapshot; vectors of other dimensions count as misfits."""
    rows, owner, fields, misfits = [], [], [], dict[int, int]()
    for at, each in enumerate(vectors):
        for name, row in each.items():
            if len(row) == dimensions:
                rows.append(row)
                owner.append(at)
                fields.append(name)
            elif len(row):
                misfits[at] = misfits.get(at, 0) + 1
    matrix = np.array(rows, np.float32) if rows else np.empty((0, dimensions), np.float32)
    return Snapshot(list(items), [None] * len(items), matrix, np.array(owner, np.int64), fields, misfits)


def renewed(
    adapter: StoreAdapter, embedders: Embedders, edits: Sequence[Edit], made_at: Sequence[datetime]
) -> list[Edit]:
    """The edits with every vector that is older than the store's embedder made anew; `made_at` is when each was read.

    Raises:
        EmbeddingError: the embedder failed.
    """
    embedders.look()
    since = embedders.stored.switched_at if embedders.stored else None
    if since is None or not adapter.abilities.reads_vectors:
        return list(edits)
    old = [edit for edit, at in zip(edits, made_at, strict=True) if at < since]
    texts = [text for edit in old for value, vectors in _parts(edit) for text in _texts(value, vectors).values()]
    known = run(embed_texts(adapter, texts))
    return [_with(edit, known) if at < since else edit for edit, at in zip(edits, made_at, strict=True)]


def _parts(edit: Edit) -> list[tuple[Mapping[str, Any] | None, Vectors | Keep]]:
    return [(edit.after, edit.vectors), (edit.stone, edit.stone_vectors)]


def _with(edit: Edit, known: Mapping[str, NDArray[np.float32]]) -> Edit:
    vectors, stone = (_again(value, vectors, known) for value, vectors in _parts(edit))
    return replace(edit, vectors=vectors, stone_vectors={} if isinstance(stone, Keep) else stone)


def _again(
    value: Mapping[str, Any] | None, vectors: Vectors | Keep, known: Mapping[str, NDArray[np.float32]]
) -> Vectors | Keep:
    if isinstance(vectors, Keep):
        return vectors
    return {name: known[text] for name, text in _texts(value, vectors).items()}


def _texts(value: Mapping[str, Any] | None, vectors: Vectors | Keep) -> dict[str, str]:
    if isinstance(vectors, Keep):
        return {}
    return {name: text for name in vectors if (text := indexed_text(value, name))}
