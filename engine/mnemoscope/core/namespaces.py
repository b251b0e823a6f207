"""Namespaces: read them from what callers pass, encode labels that stores refuse, tell what is ours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias
from urllib.parse import unquote

from ..errors import NamespaceError

__all__ = [
    "RESERVED_ROOT",
    "Namespace",
    "NamespaceLike",
    "Scope",
    "decode_label",
    "encode_label",
    "has_text_labels",
    "is_reserved",
    "is_within",
    "read_namespace",
    "read_prefix",
    "show_namespace",
]


Namespace: TypeAlias = tuple[str, ...]
NamespaceLike: TypeAlias = str | Sequence[str]

RESERVED_ROOT = "__mnemoscope__"
"""The root label under which this library keeps its own books, in the same store."""

_REFUSED_BY_STORES = re.compile(r"[.\x00]")
_ENCODED = re.compile("%(2E|00|25)")


class Scope(NamedTuple):
    """A namespace or, with `subtree`, it and all below it; no label with `subtree` is the whole store."""

    namespace: Namespace = ()
    subtree: bool = False

    @classmethod
    def of(cls, namespace: NamespaceLike, *, subtree: bool = False) -> Scope:
        """The scope that a caller names.

        Raises:
            NamespaceError: the namespace cannot be used, or it has no label without `subtree`.
        """
        return cls(read_prefix(namespace) if subtree else read_namespace(namespace), subtree)

    @classmethod
    def around(cls, namespace: NamespaceLike, *, subtree: bool = False) -> Scope:
        """The same, but no label at all means the whole store.

        Raises:
            NamespaceError: the namespace cannot be used.
        """
        where = read_prefix(namespace)
        return cls(where, subtree or not where)

    def holds(self, namespace: Namespace) -> bool:
        """Whether the namespace is part of this scope."""
        return is_within(namespace, self.namespace, subtree=self.subtree)


def read_namespace(namespace: NamespaceLike) -> Namespace:
    """The namespace as a tuple of labels a store accepts.

    Takes a tuple, a list, or text whose labels are separated by "/". Labels that hold a period or NUL
    (an e-mail address, say) are encoded reversibly by `encode_label`.

    Raises:
        NamespaceError: no label at all, an empty or non-text label, or a root label that is reserved.
    """
    labels = read_prefix(namespace)
    if not labels:
        raise NamespaceError("A namespace needs at least one label, such as ('memories', 'ana'); got none.")
    return labels


def read_prefix(namespace: NamespaceLike) -> Namespace:
    """Like `read_namespace`, but no label at all means the whole store."""
    labels = _split(namespace)
    encoded = tuple(_read_label(label, position, labels) for position, label in enumerate(labels))
    if encoded and encoded[0] in (RESERVED_ROOT, "langgraph"):
        raise NamespaceError(
            f"The root label {encoded[0]!r} of {labels!r} is reserved; start the namespace with another label."
        )
    return encoded


def encode_label(label: str) -> str:
    """A label that any store accepts, from any text but the empty one.

    Only text that stores refuse is changed: "ana@x.org" becomes "ana@x%2Eorg". `decode_label` undoes it. A
    label that came out of a store is encoded already and stays as it is, so "%2E" always means a period.
    """
    if not _REFUSED_BY_STORES.search(label):
        return label
    return label.replace("%", "%25").replace(".", "%2E").replace("\x00", "%00")


def decode_label(label: str) -> str:
    """The text from which `encode_label` made this label; other labels are returned as they are."""
    if "%2E" not in label and "%00" not in label:
        return label
    return _ENCODED.sub(lambda match: unquote(match.group()), label)


def show_namespace(namespace: Iterable[str]) -> str:
    """The namespace as people read and type it: decoded labels joined by "/"."""
    return "/".join(decode_label(label) for label in namespace)


def is_reserved(namespace: Sequence[str]) -> bool:
    """Whether the namespace belongs to this library's own books."""
    return bool(namespace) and namespace[0] == RESERVED_ROOT


def has_text_labels(namespace: Sequence[object]) -> bool:
    """Whether every label is text, as LangGraph's type says; an in-memory store takes any other object too."""
    return all(isinstance(label, str) for label in namespace)


def is_within(namespace: Namespace, prefix: Namespace, *, subtree: bool) -> bool:
    """Whether the namespace is the prefix or, with `subtree`, lies below it. Labels match whole."""
    return namespace[: len(prefix)] == prefix if subtree else namespace == prefix


def _split(namespace: NamespaceLike) -> tuple[str, ...]:
    if isinstance(namespace, str):
        return tuple(namespace.split("/")) if namespace else ()
    if isinstance(namespace, Sequence):
        return tuple(namespace)
    raise NamespaceError(
        f"A namespace is a tuple or list of labels, or text such as 'memories/ana'; "
        f"got {namespace!r} ({type(namespace).__name__})."
    )


def _read_label(label: object, position: int, labels: tuple[object, ...]) -> str:
    where = f"label {position + 1} of the namespace {labels!r}"
    if not isinstance(label, str):
        raise NamespaceError(
            f"The {where} is {label!r} ({type(label).__name__}); labels are text: write {str(label)!r}."
        )
    if not label:
        raise NamespaceError(f"The {where} is empty; every label needs at least one character.")
    try:
        label.encode()
    except UnicodeEncodeError:
        raise NamespaceError(f"The {where} holds a lone surrogate, which no store can hold.") from None
    return encode_label(label)
