"""The Python line, and the command, that do what a control of the dashboard does, to be copied into a script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import streamlit as st

from app.text.display import safe

__all__ = ["ENGINE", "call", "draw"]

ENGINE = "`engine` is your MemoryEngine, as in the README."

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


def draw(lines: Lines, commands: Lines = "", *, without: str = "") -> None:
    """Show Python and, where there are, commands behind an expander: a text, or several each with its fixed title.

    `without` is fixed text that says why there is no command.
    """
    with st.expander("As code", icon=":material/code:", type="compact"):
        needed = {title: _with_import(line) for title, line in _titled(lines).items()}
        _draw("In Python", needed, "python")
        if any("engine." in line for line in needed.values()):
            st.caption(ENGINE)
        _draw("In a terminal", commands, "bash")
        if without:
            st.caption(without)


def _titled(lines: Lines) -> Mapping[str, str]:
    return lines if isinstance(lines, Mapping) else {"": lines}


def _with_import(line: str) -> str:
    # A moment is written as `repr` writes it.
    return f"import datetime\n\n{line}" if "datetime.datetime(" in line else line


def _draw(label: str, lines: Lines, language: str) -> None:
    for title, line in _titled(lines).items():
        if line:
            st.caption(f"{title}, {label[:1].lower()}{label[1:]}" if title else label)
            st.code(safe(line, LIMIT), language=language, wrap_lines=True)
