"""The `mnemoscope` command that does what a control of the dashboard does, to be copied into a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import groupby
from operator import itemgetter

from mnemoscope.core import MASK, Namespace
from mnemoscope.stores import Ref

from app.components.snippet import PASSWORD
from app.session import session
from app.session.settings import Settings
from app.text.shell_words import namespace_word, quoted

__all__ = ["at_places", "call"]

_WIDTH = 80


def call(name: str, *arguments: str, namespace: Namespace = (), **options: object) -> str:
    """The command of this name on the connection in use: "mnemoscope forget --namespace memories/ana --key a".

    Options are named as in Python: those that are None, False or empty are left out, True is a flag, and a list
    repeats its option.
    """
    given = {"namespace": namespace_word(namespace) if namespace else None, **options}
    if not namespace and name != "recall":
        # Without a namespace these mean the whole store anyway.
        given.pop("subtree", None)
    parts = ["mnemoscope", name, *_where(), *_written(given)]
    if arguments:
        parts += [*(["--"] if any(each.startswith("-") for each in arguments) else []), *map(quoted, arguments)]
    line = " ".join(parts)
    return line if len(line) <= _WIDTH else " \\\n    ".join([" ".join(parts[:2]), *parts[2:]])


def at_places(name: str, refs: Iterable[Ref], **options: object) -> str:
    """The same for memories wherever they are: one command a namespace."""
    lines = [
        call(name, namespace=namespace, key=[key for _, key in group], **options)
        for namespace, group in groupby(sorted(refs), key=itemgetter(0))
    ]
    return "\n".join(lines)


def _written(options: dict[str, object]) -> list[str]:
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


def _where() -> list[str]:
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
