"""Scopes: which namespace an agent's memories are in, read from the graph's configuration and never from the model."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import Any, Protocol
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import get_runtime

from ..core.namespaces import Namespace, NamespaceLike, encode_label, read_namespace
from ..core.text import shown
from ..errors import ConfigurationError, NamespaceError

__all__ = [
    "NAMESPACE_KEY",
    "MissingNamespaceError",
    "NamespaceKey",
    "NamespaceSource",
    "NamespaceTemplate",
    "SharedNamespaceWarning",
    "memory_name",
    "namespace_source",
    "speaker_in",
]


_LOOKS_ENCODED = re.compile("%(?:2E|00|25)")


# Providers take names of tools up to 64 characters, and "manage_" stands before this one.
_LONGEST_NAME = 48
_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{_LONGEST_NAME}}}")


class MissingNamespaceError(ConfigurationError, GraphBubbleUp):
    """The graph's configuration names no namespace for memories, or one that cannot be used.

    It ends the run: a `ToolNode` hands other errors to the model, which cannot put this one right.
    """


class SharedNamespaceWarning(UserWarning):
    """A namespace is the same for every user of an agent, and nobody said that it is meant to be."""


class NamespaceSource(Protocol):
    """Says in which namespace the memories of a run are.

    `kind` names this kind of memory among those of an agent where each user has their own, and is None where all share
    one namespace.
    """

    @property
    def kind(self) -> str | None: ...

    def namespace(self, config: RunnableConfig | None) -> Namespace:
        """The namespace for this configuration.

        Raises:
            MissingNamespaceError: the configuration does not say.
        """
        ...


@dataclass(frozen=True)
class NamespaceKey:
    """The whole namespace stands in `config["configurable"]` under this name."""

    name: str

    @property
    def kind(self) -> str | None:
        """The key: whatever stands there may differ from user to user."""
        return self.name

    def namespace(self, config: RunnableConfig | None) -> Namespace:
        """The namespace for this configuration.

        Raises:
            MissingNamespaceError: it is missing, or cannot be used.
        """
        found = _configurable(config).get(self.name)
        if found is None:
            raise MissingNamespaceError(
                f"config['configurable'][{self.name!r}] is missing: it names the namespace of the memories, such as "
                "('memories', 'ana'). Set it where the graph is invoked."
            )
        try:
            return read_namespace(found)
        except NamespaceError as error:
            raise MissingNamespaceError(f"config['configurable'][{self.name!r}] cannot be used: {error}") from error


@dataclass(frozen=True)
class NamespaceTemplate:
    """A namespace with names in braces, such as `("memories", "{user_id}")` or `("memories", "user-{user_id}")`.

    The names are looked up in `config["configurable"]`, else in the run's context. Values are texts, whole numbers
    or UUIDs; each stays within its label whatever it holds, so no value reaches another's namespace.

    Args:
        labels: a tuple or list of labels, or text such as "memories/{user_id}"; a label holds at most one name.
        shared: say that every user is meant to share a namespace without any name in it.

    Raises:
        ConfigurationError: a label is no such template.

    Warns:
        SharedNamespaceWarning: there is no name in it, so all users would share it.
    """

    labels: NamespaceLike
    shared: bool = False
    _parts: tuple[tuple[str, str | None, str], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        try:
            labels = tuple(self.labels.split("/") if isinstance(self.labels, str) else self.labels)
        except TypeError:
            raise ConfigurationError(f"A namespace template is a tuple of labels, got {shown(self.labels)}.") from None
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "_parts", tuple(_parsed(label) for label in labels))
        if not labels:
            raise ConfigurationError(
                "A namespace template needs at least one label, such as ('memories', '{user_id}')."
            )
        if not self.names and not self.shared:
            warnings.warn(
                f"The namespace {labels!r} names no user, so all users of the agent share their memories. Write "
                f"('memories', '{{user_id}}'), or NamespaceTemplate({labels!r}, shared=True) if that is meant.",
                SharedNamespaceWarning,
                stacklevel=3,
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The names it looks up."""
        return tuple(name for _, name, _ in self._parts if name is not None)

    @property
    def kind(self) -> str | None:
        """The template as text; None where it names no user."""
        return "/".join(self.labels) if self.names else None

    def namespace(self, config: RunnableConfig | None) -> Namespace:
        """The namespace for this configuration.

        Raises:
            MissingNamespaceError: a value is missing or cannot be used.
        """
        labels = [
            before if name is None else _encoded(before + self._value(name, config) + after)
            for before, name, after in self._parts
        ]
        try:
            return read_namespace(labels)
        except NamespaceError as error:
            raise MissingNamespaceError(f"The namespace {self.labels!r} cannot be used: {error}") from error

    def _value(self, name: str, config: RunnableConfig | None) -> str:
        found = _configurable(config).get(name)
        if found is None:
            found = _in_context(name)
        where = f"config['configurable'][{name!r}]"
        if found is None:
            raise MissingNamespaceError(
                f"{where} is missing: the namespace {self.labels!r} is made with it. Set it where the graph is "
                "invoked, or in its context."
            )
        is_usable = isinstance(found, str | int | UUID) and not isinstance(found, bool) and str(found).strip()
        if not is_usable:
            raise MissingNamespaceError(
                f"{where} is {shown(found)}; the namespace {self.labels!r} needs a text that is not empty, a whole "
                "number or a UUID."
            )
        return str(found)


def namespace_source(namespace: NamespaceTemplate | NamespaceLike | None, namespace_key: str) -> NamespaceSource:
    """The scope that a caller asked for: a template where one is given, else the key."""
    if namespace is None:
        return NamespaceKey(namespace_key)
    return namespace if isinstance(namespace, NamespaceTemplate) else NamespaceTemplate(namespace)


def memory_name(scope: NamespaceSource, given: str | None) -> str:
    """The name of a memory among those of an agent: the given one, "memory" for a user's, "company_memory" for a shared
    namespace ("company",).

    Raises:
        ConfigurationError: a model's provider would not take a tool of that name.
    """
    labels = scope.labels if isinstance(scope, NamespaceTemplate) and scope.kind is None else ()
    shared = re.sub(r"[^A-Za-z0-9]+", "_", "_".join(labels)).strip("_")
    name = given if given is not None else f"{shared}_memory"[-_LONGEST_NAME:] if shared else "memory"
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"name must be 1 to {_LONGEST_NAME} letters, digits, '_' or '-', such as 'company_memory', got "
            f"{shown(name)}."
        )
    return name


def speaker_in(config: RunnableConfig | None, key: str | None) -> str | None:
    """Who speaks in this run, by name: what `config["configurable"]` holds under the key. None without a key.

    Raises:
        MissingNamespaceError: it names nobody.
    """
    if key is None:
        return None
    found = _configurable(config).get(key)
    if not isinstance(found, str) or not found.strip():
        raise MissingNamespaceError(
            f"config['configurable'][{key!r}] is {shown(found)}: it names whose turns are remembered, as messages "
            "do in their `name`. Set it where the graph is invoked."
        )
    return found


def _parsed(label: object) -> tuple[str, str | None, str]:
    """What stands before the name in a label, the name, and what stands after it."""
    if not isinstance(label, str) or not label:
        raise ConfigurationError(f"A label of a namespace template is a text that is not empty, got {shown(label)}.")
    try:
        pieces = list(Formatter().parse(label))
    except ValueError as error:
        raise ConfigurationError(f"The label {label!r} is no template: {error}.") from error
    names = [(name, conversion or form) for _, name, form, conversion in pieces if name is not None]
    if any(not name.isidentifier() or extra for name, extra in names):
        raise ConfigurationError(f"The label {label!r} may hold a plain name in braces, such as '{{user_id}}'.")
    if len(names) > 1:
        raise ConfigurationError(
            f"The label {label!r} holds {len(names)} names, so two users could get the same label; give each name a "
            "label of its own."
        )
    if not names:
        return "".join(text for text, *_ in pieces), None, ""
    at = next(at for at, (_, name, _, _) in enumerate(pieces) if name is not None)
    before = "".join(text for text, *_ in pieces[: at + 1])
    return before, names[0][0], "".join(text for text, *_ in pieces[at + 1 :])


def _encoded(label: str) -> str:
    # A label that looks encoded already would be taken for the one that it is the code of.
    encoded = encode_label(label)
    return label.replace("%", "%25") if encoded == label and _LOOKS_ENCODED.search(label) else encoded


def _configurable(config: RunnableConfig | None) -> Mapping[str, Any]:
    return (config or {}).get("configurable") or {}


def _in_context(name: str) -> object:
    try:
        context = get_runtime().context
    except (RuntimeError, KeyError):
        return None
    return context.get(name) if isinstance(context, Mapping) else getattr(context, name, None)


NAMESPACE_KEY = "memory_namespace"
"""Where in `config["configurable"]` the namespace of the memories stands, unless a caller says otherwise."""
