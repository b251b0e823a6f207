"""The tables of `mnemoscope.toml` for a connection, with no secret in them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from mnemoscope.connections import DEFAULT_FIELDS, Connection
from mnemoscope.core import MASK, Namespace, show_namespace

PASSWORD = "${MNEMOSCOPE_PASSWORD}"


"""What stands in a snippet for a secret that was spelt out in the environment."""


def write_connection(connection: Connection) -> str:
    """The table as TOML."""
    lines = [f"[connections.{_name(connection.name)}]", f"url = {_text(connection.shown_url.replace(MASK, PASSWORD))}"]
    for key in ("embedder", "next_embedder", "dimensions", "model", "profile", "queue"):
        value = getattr(connection, key)
        if value is not None:
            lines.append(f"{key} = {value if isinstance(value, int) else _text(value)}")
    if connection.fields != DEFAULT_FIELDS:
        lines.append(f"fields = [{', '.join(map(_text, connection.fields))}]")
    if connection.namespaces:
        shown = ", ".join(_text(show_namespace(each)) for each in connection.namespaces)
        lines.append(f"namespaces = [{shown}]")
    if connection.read_only:
        lines.append("read_only = true")
    if connection.text_fields:
        pairs = ", ".join(f"{_text(show_namespace(where))} = {_text(path)}" for where, path in connection.text_fields)
        lines.append(f"text_fields = {{ {pairs} }}")
    if connection.headers:
        pairs = ", ".join(f"{_text(header)} = {_text(value)}" for header, value in connection.headers)
        lines.append(f"headers = {{ {pairs} }}")
    return "\n".join(lines) + "\n"


def write_text_fields(connection: str, fields: Sequence[tuple[Namespace, str]]) -> str:
    """The table that says which field is the text, by namespace."""
    lines = [f"{_text(show_namespace(where))} = {_text(path)}" for where, path in fields]
    return "\n".join([f"[connections.{_name(connection)}.text_fields]", *lines]) + "\n"


def _name(connection: str) -> str:
    bare = connection.replace("-", "").replace("_", "")
    return connection if bare.isascii() and bare.isalnum() else _text(connection)


def _text(value: str) -> str:
    # A JSON text is a TOML text as well, but for U+007F.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
