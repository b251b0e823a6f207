"""Cases, labels and profiles out of a file: where each belongs, and whether it can be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .calibration import LABELS
from .cases import read_case
from .config_profiles import read_profile
from .errors import InputError
from .namespaces import Namespace
from .shelf_texts import SHELVES, shelf_text
from .times import read_time

__all__ = ["SHELF_OF", "is_newer", "rebased_change", "shelved", "told"]

SHELF_OF = {"case": "cases", "label": "labels", "profile": "profiles"}
"""The book of each kind of row."""


def shelved(
    kind: str, key: str, value: Mapping[str, Any], *, source: Namespace, target: Namespace
) -> tuple[str, dict[str, Any]]:
    """The key and the value with which the entry is kept in the namespace `target`, out of a file's `source`.

    Raises:
        InputError: it cannot be read, or makes no sense anywhere else.
    """
    if kind == "case":
        kept = {**value, "kind": "case", "namespace": list(target)}
        case = read_case(kept)
        if case is None:
            raise InputError("it is no case of this program")
        return case.id, kept
    if kind == "label" and target != source:
        raise InputError("a label is of the two places it was made for; import it there")
    is_readable = value.get("label") in LABELS if kind == "label" else read_profile(key, value) is not None
    if not is_readable:
        raise InputError(f"it is no {kind} of this program")
    return key, dict(value)


def rebased_change(value: Mapping[str, Any], target: Namespace) -> dict[str, Any]:
    """A change as it stands in the history of the namespace `target`, out of a file that may name another.

    Raises:
        InputError: it makes no sense there.
    """
    if value.get("shelf") is not None and value["shelf"] not in list(SHELVES):
        raise InputError("it is of a book that people do not keep")
    moved = {**value, "namespace": list(target)}
    if value.get("namespace") == moved["namespace"]:
        return moved
    if value.get("shelf") == "labels":
        raise InputError("a label is of the two places it was made for; import it there")
    if isinstance(stone := value.get("stone"), Mapping):
        moved["stone"] = {**stone, "namespace": moved["namespace"]}
    if value.get("shelf") == "cases":
        for name in ("before", "after"):
            if isinstance(kept := value.get(name), Mapping):
                moved["key"], moved[name] = shelved("case", "", kept, source=(), target=target)
    return moved


def is_newer(value: Mapping[str, Any], present: Mapping[str, Any]) -> bool:
    """Whether the one was saved after the other, as far as both say when."""
    mine, theirs = (read_time(each.get("saved_at") or each.get("created_at")) for each in (value, present))
    return mine is not None and theirs is not None and mine > theirs


def told(kind: str, key: str, value: Mapping[str, Any]) -> str:
    """What the entry is, in a line."""
    return shelf_text(SHELF_OF[kind], key, value).partition("\n")[0]
