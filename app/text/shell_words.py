"""How texts and namespaces stand in a command, so that a shell and the command line read back what was meant."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

from mnemoscope.core import NamespaceLike, decode_label, read_prefix, show_namespace


def namespace_word(namespace: Sequence[str]) -> str:
    """The namespace as `--namespace` takes it: "a/b", or a JSON list where a label has a slash of its own."""
    labels = [decode_label(label) for label in namespace]
    is_plain = not any("/" in label for label in labels) and not (labels and labels[0].startswith("["))
    return show_namespace(namespace) if is_plain else json.dumps(labels, ensure_ascii=False)


def read_namespace_word(word: str) -> tuple[str, ...]:
    """The namespace of such a word; a slash at the end does not count, and no word is the whole store.

    Raises:
        NamespaceError: a label is empty or reserved.
    """
    given: NamespaceLike = word.rstrip("/")
    if word.startswith("["):
        try:
            found = json.loads(word)
        except ValueError:
            found = None
        if isinstance(found, list):
            given = found
    return read_prefix(given)


def quoted(text: str) -> str:
    """The text as one word of a shell; what cannot be printed is escaped as bash, zsh and ksh read it."""
    if text.isprintable():
        return shlex.quote(text)
    return "$'" + "".join(map(_escaped, text)) + "'"


def _escaped(character: str) -> str:
    if character in "\\'":
        return f"\\{character}"
    if character.isprintable():
        return character
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x1_0000 else f"\\U{number:08x}"
