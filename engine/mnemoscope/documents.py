"""Documents: memories of a form that the developer names by a Pydantic class, and their place in a stored item.

The text of a document is what is embedded and shown; its fields stand in the item's metadata, under "document".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

__all__ = ["FIELDS", "SCHEMA", "document_fields", "document_metadata", "document_text"]

SCHEMA, FIELDS = "schema", "document"
"""The keys of an item's metadata that name a document's class and hold its fields."""


def document_fields(document: BaseModel) -> dict[str, Any]:
    """The fields of a document as JSON."""
    fields: dict[str, Any] = document.model_dump(mode="json")
    return fields


def document_text(fields: Mapping[str, Any]) -> str:
    """The text of a document: its only field, or a line for every field that says something."""
    said = {name: _shown(value) for name, value in fields.items() if value not in (None, "", [], {})}
    if len(fields) == 1:
        return "".join(said.values())
    return "\n".join(f"{name}: {text}" for name, text in said.items())


def document_metadata(schema: type[BaseModel], fields: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of a document in the metadata of its item."""
    return {SCHEMA: schema.__name__, FIELDS: dict(fields)}


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
