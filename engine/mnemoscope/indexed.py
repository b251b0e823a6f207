"""The text that a stored vector stands for: what its item says under the field that it was made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.store.base import get_text_at_path

from .records import text_of
from .stores.base import CONTENT_FIELD

__all__ = ["indexed_text"]


def indexed_text(value: Any, field: str) -> str:
    """The text of a value for a vector of this field; empty where there is none any more.

    Under `content` it is what recall takes for the text of the memory, whoever wrote it. Elsewhere it is what the
    official stores embed: the part at that path, or "path.2" for the third of several parts.
    """
    if not isinstance(value, Mapping):
        return ""
    if field == CONTENT_FIELD and (text := text_of(value)):
        return text.strip() and text
    parts = get_text_at_path(dict(value), field)
    if not parts and field.rpartition(".")[2].isdigit():
        path, _, number = field.rpartition(".")
        parts = get_text_at_path(dict(value), path)[int(number) :][:1]
    return parts[0] if parts and parts[0].strip() else ""
