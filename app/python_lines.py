"""The Python line, and the command, that do what a control of the dashboard does, to be copied into a script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import streamlit as st

from app.display import safe

__all__ = ["call", "draw"]

LIMIT = 4_000

Lines: TypeAlias = str | Mapping[str, str]


def call(method: str, *arguments: object, **options: object) -> str:
    """The call of an engine's method, options that are None left out: "engine.forget(('memories', 'ana'), key='a')"."""
    given = [repr(argument) for argument in arguments]
    named = [f"{name}={value!r}" for name, value in options.items() if value is not None]
    line = f"engine.{method}({', '.join([*given, *named])})"
    if len(line) <= 80:
        return line
    return f"engine.{method}(\n" + "".join(f"    {part},\n" for part in [*given, *named]) + ")"


def draw(lines: Lines, commands: Lines = "") -> None:
    """Show Python and, where there are, commands behind an expander: a text, or several each with its fixed title."""
    with st.expander("As code", icon=":material/code:", type="compact"):
        _draw("In Python", lines, "python")
        _draw("In a terminal", commands, "bash")


def _draw(label: str, lines: Lines, language: str) -> None:
    titled = lines if isinstance(lines, Mapping) else {"": lines}
    for title, line in titled.items():
        if line:
            st.caption(f"{title}, {label[:1].lower()}{label[1:]}" if title else label)
            st.code(safe(line, LIMIT), language=language, wrap_lines=True)
