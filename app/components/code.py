"""Any control of the dashboard as code: the Python line, and the `mnemoscope` command, that do the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

import streamlit as st
from mnemoscope.core import MASK, Namespace
from mnemoscope.stores import Ref

from app.session import session
from app.session.settings import Settings
from app.text.display import safe
from app.text.shell_words import namespace_word, quoted
from app.text.toml import PASSWORD

ENGINE = "`engine` is your MemoryEngine, as in the README."

LIMIT = 4_000

Lines: TypeAlias = str | Mapping[str, str]

_WIDTH = 80


def write_python(method: str, *arguments: object, **options: object) -> str:
    """The call of an engine's method, options that are None left out: "engine.forget(('memories', 'ana'), key='a')"."""
    given = [repr(argument) for argument in arguments]
    named = [f"{name}={value!r}" for name, value in options.items() if value is not None]
    line = f"engine.{method}({', '.join([*given, *named])})"
    if len(line) <= 80:
        return line
    return f"engine.{method}(\n" + "".join(f"    {part},\n" for part in [*given, *named]) + ")"


def draw_code(lines: Lines, commands: Lines = "", *, without: str = "") -> None:
    """Show Python and, where there are, commands behind an expander: a text, or several each with its fixed title.

    `without` is fixed text that says why there is no command.
    """
    with st.expander("As code", icon=":material/code:", type="compact"):
        needed = {title: _add_import(line) for title, line in _by_title(lines).items()}
        _draw_block("In Python", needed, "python")
        if any("engine." in line for line in needed.values()):
            st.caption(ENGINE)
        _draw_block("In a terminal", commands, "bash")
        if without:
            st.caption(without)


def _by_title(lines: Lines) -> Mapping[str, str]:
    return lines if isinstance(lines, Mapping) else {"": lines}


def _add_import(line: str) -> str:
    # A moment is written as `repr` writes it.
    return f"import datetime\n\n{line}" if "datetime.datetime(" in line else line


def _draw_block(label: str, lines: Lines, language: str) -> None:
    for title, line in _by_title(lines).items():
        if line:
            st.caption(f"{title}, {label[:1].lower()}{label[1:]}" if title else label)
            st.code(safe(line, LIMIT), language=language, wrap_lines=True)


def write_command(name: str, *arguments: str, namespace: Namespace = (), **options: object) -> str:
    """The command of this name on the connection in use: "mnemoscope forget --namespace memories/ana --key a".

    Options are named as in Python: those that are None, False or empty are left out, True is a flag, and a list
    repeats its option.
    """
    given = {"namespace": namespace_word(namespace) if namespace else None, **options}
    if not namespace and name != "recall":
        # Without a namespace these mean the whole store anyway.
        given.pop("subtree", None)
    parts = ["mnemoscope", name, *_name_store(), *_write_options(given)]
    if arguments:
        parts += [*(["--"] if any(each.startswith("-") for each in arguments) else []), *map(quoted, arguments)]
    line = " ".join(parts)
    return line if len(line) <= _WIDTH else " \\\n    ".join([" ".join(parts[:2]), *parts[2:]])


def write_commands_at(name: str, refs: Iterable[Ref], **options: object) -> str:
    """The same for memories wherever they are: one command a namespace."""
    lines = [
        write_command(name, namespace=namespace, key=[key for _, key in group], **options)
        for namespace, group in groupby(sorted(refs), key=itemgetter(0))
    ]
    return "\n".join(lines)


def _write_options(options: dict[str, object]) -> list[str]:
    words = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        for each in value if isinstance(value, list | tuple) else [value]:
            if each is True:
                words.append(option)
            elif each is not None and each is not False and each != "":
                text = each.isoformat() if isinstance(each, datetime) else str(each)
                words.append(f"{option}={quoted(text)}" if text.startswith("-") else f"{option} {quoted(text)}")
    return words


def _name_store() -> list[str]:
    """The options that name the connection in use, without a secret; none where it is the user's own store."""
    settings = Settings.from_environment()
    chosen = session.choice()
    connection = chosen.connection
    if connection.name == chosen.offered.own:
        return []
    if settings.store and connection.name == next(iter(chosen.offered.connections)):
        address = connection.shown_url.replace(MASK, PASSWORD)
        embedder = [f"--embedder {quoted(settings.embedder)}"] if settings.embedder else []
        return [f"--store {quoted(address.removeprefix('sqlite:///'))}", *embedder]
    file = [f"--config {quoted(settings.config)}"] if settings.config else []
    return [*file, f"--connection {quoted(connection.name)}"]
