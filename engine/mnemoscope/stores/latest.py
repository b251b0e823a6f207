"""Items by key, greatest first: what `StoreAdapter.latest` gives where the store cannot sort by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeVar

from ..namespaces import Namespace

__all__ = ["has_texts", "latest_of"]


class _Kept(Protocol):
    @property
    def namespace(self) -> Namespace: ...
    @property
    def key(self) -> str: ...
    @property
    def value(self) -> Any: ...


KeptItem = TypeVar("KeptItem", bound=_Kept)


def latest_of(
    items: Iterable[KeptItem], *, limit: int | None, before: str | None, where: Mapping[str, str] | None
) -> list[KeptItem]:
    """The items by key, greatest first, equal ones by namespace: those below `before` and with these texts."""
    kept = [item for item in items if (before is None or item.key < before) and has_texts(item.value, where)]
    kept.sort(key=lambda item: tuple(item.namespace))
    kept.sort(key=lambda item: item.key, reverse=True)
    return kept if limit is None else kept[: max(limit, 0)]


def has_texts(value: Any, where: Mapping[str, str] | None) -> bool:
    """Whether a value has these very texts at its top level."""
    if not where:
        return True
    return isinstance(value, Mapping) and all(value.get(name) == text for name, text in where.items())
