"""What the journal keeps: edits as they are asked for, changes as they were made, and tombstones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias, get_args

from ..core.frozen import KeepsTuples
from ..core.namespaces import RESERVED_ROOT, Namespace
from ..core.payloads import CONTENT, text_of
from ..core.records import MemoryRecord
from ..core.times import from_iso, read_time, to_iso
from ..stores.base import KEEP, Keep, Null, Ref, StoredItem, Vectors
from ..stores.packing import packed, unpacked
from .shelf_texts import shelf_text

__all__ = ["ACTIONS", "BOUND", "Action", "Change", "Edit", "Tombstone", "book"]


Action: TypeAlias = Literal[
    "insert",
    "update",
    "forget",
    "restore",
    "merge",
    "move",
    "adopt",
    "import",
    "allow",
    "erase",
    "undo",
    "delete",
    "reembed",
]
ACTIONS: tuple[Action, ...] = get_args(Action)

BOUND: tuple[Action, ...] = ("merge", "move", "undo")
"""What makes the changes of a group belong together: half a move taken back would leave two memories, or none."""

_TEXTS = ("group", "key", "action", "actor", "reason")
_TEXTS_OR_NONE = ("run", "undoes", "shelf")
_OBJECTS_OR_NONE = ("before", "after", "stone")


def book(name: str, namespace: Namespace = ()) -> Namespace:
    """Where this library keeps one of its books ("journal", "tombstones", "access", "runs") for a namespace."""
    return (RESERVED_ROOT, name, *namespace)


@dataclass(frozen=True)
class Edit:
    """What is to become of one item. `after` is None where it is to go.

    `vectors` as in `Write`. `expected` is the value it must still have as in `Guard`. With
    `buries` what goes is kept as a tombstone. Else a tombstone there is taken away, since what lives has none,
    and `stone` is put in its place, with `stone_vectors`.
    """

    namespace: Namespace
    key: str
    action: Action
    expected: Mapping[str, Any] | Null | None
    after: Mapping[str, Any] | None
    vectors: Vectors | Keep = KEEP
    reason: str = ""
    buries: bool = False
    undoes: str | None = None
    created_at: datetime | None = None
    stone: Mapping[str, Any] | None = None
    stone_vectors: Vectors = field(default_factory=dict)

    @property
    def ref(self) -> Ref:
        """Where the item is."""
        return self.namespace, self.key

    @property
    def stone_ref(self) -> Ref:
        """Where its tombstone would be."""
        return book("tombstones", self.namespace), self.key


@dataclass(frozen=True)
class Change(KeepsTuples):
    """One journal entry: what an item was, what it became, who did it, why, and when.

    `before` and `after` are stored values, None where there was (or is) no item. `group` is shared by the
    changes of one call; `run` names the plan it came from; `undoes` the change it took back; `buries` says that
    a tombstone was made of the memory. `erased` says that the texts were removed for good. `created_at` and
    `vectors` are those of the item before; `stone` is the tombstone that was there before, if any, with its
    `stone_vectors`. `text_field` is the field that held the text, where the connection names one. `shelf` names our
    own book ("cases", "profiles", "labels") where it is no memory but an entry of that book about `namespace`.
    """

    id: str
    group: str
    namespace: Namespace
    key: str
    action: Action
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    actor: str
    reason: str
    at: datetime
    run: str | None = None
    undoes: str | None = None
    buries: bool = False
    erased: bool = False
    created_at: datetime | None = None
    vectors: Vectors = field(default_factory=dict, repr=False)
    stone: dict[str, Any] | None = None
    stone_vectors: Vectors = field(default_factory=dict, repr=False)
    text_field: str | None = None
    shelf: str | None = None

    @property
    def place(self) -> Ref:
        """Where the item is that was changed."""
        return (book(self.shelf, self.namespace) if self.shelf else self.namespace), self.key

    @property
    def text_before(self) -> str | None:
        """The memory's text before the change, or what the entry of our own book said."""
        return self._text_of(self.before)

    @property
    def text_after(self) -> str | None:
        """The memory's text after the change, or what the entry of our own book says."""
        return self._text_of(self.after)

    def _text_of(self, value: dict[str, Any] | None) -> str | None:
        if value is None:
            return None
        return shelf_text(self.shelf, self.key, value) if self.shelf else text_of(value, self.text_field)

    def to_value(self) -> dict[str, Any]:
        """The stored form."""
        return {
            "kind": "change",
            "group": self.group,
            "namespace": list(self.namespace),
            "key": self.key,
            "action": self.action,
            "before": self.before,
            "after": self.after,
            "actor": self.actor,
            "reason": self.reason,
            "at": to_iso(self.at),
            "run": self.run,
            "undoes": self.undoes,
            "buries": self.buries,
            "erased": self.erased,
            "created_at": to_iso(self.created_at) if self.created_at else None,
            "vectors": packed(self.vectors),
            "stone": self.stone,
            "stone_vectors": packed(self.stone_vectors),
            **({"shelf": self.shelf} if self.shelf else {}),
        }

    @classmethod
    def from_item(cls, item: StoredItem) -> Change:
        """Read a journal entry.

        Raises:
            TypeError: a part of it is of another kind than this program writes.
        """
        value = item.value
        _check_shape(value)
        return cls(
            id=item.key,
            group=value["group"],
            namespace=tuple(value["namespace"]),
            key=value["key"],
            action=value["action"],
            before=value["before"],
            after=value["after"],
            actor=value["actor"],
            reason=value["reason"],
            at=from_iso(value["at"]),
            run=value.get("run"),
            undoes=value.get("undoes"),
            buries=value.get("buries", False),
            erased=value.get("erased", False),
            created_at=read_time(value.get("created_at")),
            vectors=unpacked(value["vectors"]),
            stone=value.get("stone"),
            stone_vectors=unpacked(value.get("stone_vectors", {})),
            text_field=item.text_field,
            shelf=value.get("shelf"),
        )


def _check_shape(value: Mapping[str, Any]) -> None:
    for name in _TEXTS:
        if not isinstance(value[name], str):
            raise TypeError(f"{name} is no text")
    for name in _TEXTS_OR_NONE:
        if not isinstance(value.get(name), str | None):
            raise TypeError(f"{name} is no text")
    for name in _OBJECTS_OR_NONE:
        if not isinstance(value.get(name), dict | None):
            raise TypeError(f"{name} is no object")


@dataclass(frozen=True)
class Tombstone:
    """A forgotten memory: the record as it was, and by whom, when and why it was forgotten.

    `allowed` says that the operator lets the same fact be remembered again.
    """

    record: MemoryRecord
    value: dict[str, Any]
    actor: str
    reason: str
    forgotten_at: datetime
    group: str
    allowed: bool = False
    created_at: datetime | None = None

    def to_value(self) -> dict[str, Any]:
        """The stored form; the text stands under `content`, where a store looks for it."""
        told = {} if self.record.text_at == CONTENT else {"text_field": self.record.text_at}
        return told | {
            "kind": "tombstone",
            "content": self.record.content,
            "namespace": list(self.record.namespace),
            "key": self.record.key,
            "value": self.value,
            "actor": self.actor,
            "reason": self.reason,
            "forgotten_at": to_iso(self.forgotten_at),
            "group": self.group,
            "allowed": self.allowed,
            "created_at": to_iso(self.created_at) if self.created_at else None,
        }

    @classmethod
    def from_item(cls, item: StoredItem) -> Tombstone:
        """Read an entry of the book of tombstones."""
        return cls.from_value(item.value)

    @classmethod
    def from_value(cls, value: Mapping[str, Any]) -> Tombstone:
        """Read the stored form."""
        forgotten_at = from_iso(value["forgotten_at"])
        created_at = read_time(value.get("created_at"))
        born = created_at or forgotten_at
        item = StoredItem(tuple(value["namespace"]), value["key"], value["value"], born, born, value.get("text_field"))
        return cls(
            record=MemoryRecord.from_item(item),
            value=dict(value["value"]),
            actor=value["actor"],
            reason=value["reason"],
            forgotten_at=forgotten_at,
            group=value["group"],
            allowed=value["allowed"],
            created_at=created_at,
        )
