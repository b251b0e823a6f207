"""Which field of an item is its text, by namespace: what items of others are read and embedded by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..namespaces import Namespace, is_reserved, is_within
from ..shapes import is_ours, place_of_text
from .base import CONTENT_FIELD, Keep, Snapshot, StoredItem, Write

__all__ = ["TextFields"]


class TextFields:
    """Tells items which of their fields is the text; of several prefixes that fit, the longest counts."""

    def __init__(self, fields: Mapping[Namespace, str]) -> None:
        self._fields = sorted(fields.items(), key=lambda each: -len(each[0]))

    def of(self, namespace: Namespace) -> str | None:
        """The field for this namespace, and for what our books keep about it; None where none is named."""
        if not self._fields:
            return None
        about = namespace[2:] if is_reserved(namespace) else namespace
        return next((field for prefix, field in self._fields if is_within(about, prefix, subtree=True)), None)

    def told(self, item: StoredItem) -> StoredItem:
        """The item with its text field."""
        field = self.of(item.namespace)
        return item if field is None else replace(item, text_field=field)

    def snapshot(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with the text field of each item."""
        return replace(snapshot, items=[self.told(item) for item in snapshot.items]) if self._fields else snapshot

    def embedded(self, write: Write) -> Write:
        """The write with its vector under the field that it is of, where a store that embeds by itself looks."""
        field, vectors = self.of(write.namespace), write.vectors
        if field is None or is_reserved(write.namespace) or write.value is None or isinstance(vectors, Keep):
            return write
        if is_ours(write.value) or CONTENT_FIELD not in vectors or place_of_text(write.value, field) != field:
            return write
        others = {name: vector for name, vector in vectors.items() if name != CONTENT_FIELD}
        return replace(write, vectors={**others, field: vectors[CONTENT_FIELD]})
