"""The Python line that does what a control of the dashboard does, to be copied into a script."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from app.display import safe

__all__ = ["call", "draw"]

LIMIT = 4_000


def call(method: str, *arguments: object, **options: object) -> str:
    """The call of an engine's method, options that are None left out: "engine.forget(('memories', 'ana'), key='a')"."""
    given = [repr(argument) for argument in arguments]
    named = [f"{name}={value!r}" for name, value in options.items() if value is not None]
    line = f"engine.{method}({', '.join([*given, *named])})"
    if len(line) <= 80:
        return line
    return f"engine.{method}(\n" + "".join(f"    {part},\n" for part in [*given, *named]) + ")"


def draw(lines: str | Mapping[str, str], *, label: str = "In Python") -> None:
    """Show a line, or several each with its fixed title, behind an expander."""
    with st.expander(label, icon=":material/code:", type="compact"):
        for title, line in lines.items() if isinstance(lines, Mapping) else [("", lines)]:
            if title:
                st.caption(title)
            st.code(safe(line, LIMIT), language="python", wrap_lines=True)
