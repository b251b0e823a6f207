"""The connections the dashboard offers: those of the file, and the store named beside it or the user's own."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from langgraph.store.memory import InMemoryStore
from mnemoscope import ConfigurationError, MemoryEngine
from mnemoscope.connections import (
    Connection,
    Connections,
    OpenedStore,
    Roles,
    connection_to,
    engine_over,
    load_connections,
    open_store,
    read_role,
)
from mnemoscope.core import scrub
from mnemoscope.embedding import BundledEmbeddings
from mnemoscope.stores import View, Watcher

from app.session.settings import VARIABLES, Settings, data_folder

MISSING = "missing"


"""The version of a file that is not there."""


_NOT_THERE_YET = "There is no store yet. Switch writing on, and it is made."


@dataclass(frozen=True)
class Catalogue:
    """The connections by name, which of them comes first, and who may do what.

    `own` is the name of the user's own store, which need not be there yet; None where stores were named.
    """

    connections: dict[str, Connection] = field(default_factory=dict)
    default: str = ""
    own: str | None = None
    file: Path | None = None
    roles: Roles = field(default_factory=Roles)

    def find(self, name: str | None) -> Connection:
        """The connection of this name, or the first one."""
        return self.connections.get(name or "", self.connections[self.default])


def read_catalogue(settings: Settings) -> Catalogue:
    """What the settings offer.

    Raises:
        ConfigurationError: the file, or what was named beside it, cannot be used.
    """
    known = load_connections(settings.config)
    offered = {name: _adapt(each, settings, known) for name, each in known.connections.items()}
    own = None
    if settings.store or not offered:
        store = settings.store or str(data_folder() / "memories.sqlite")
        embedders = {"embedder": settings.embedder, "next_embedder": settings.next_embedder}
        named = _adapt(connection_to(store, known=known, **embedders), settings, known)
        named = replace(named, name=f"{named.name} (named)") if named.name in offered else named
        offered = {named.name: named, **offered}
        own = None if settings.store else named.name
    default = settings.connection or (None if settings.store else known.default) or next(iter(offered))
    if default not in offered:
        raise ConfigurationError(
            f"There is no connection {default!r}; there is {', '.join(offered)}. Check --connection and the file "
            f"{known.file or 'mnemoscope.toml, which was not found'}."
        )
    return Catalogue(offered, default, own, known.file, _read_roles(settings, known))


def open_store_of(connection: Connection, *, writing: bool, stands_in: bool = False) -> OpenedStore:
    """The store of a connection; or an empty one that stays closed, for a store that is not there yet.

    Raises:
        StoreUnavailableError: it cannot be opened.
    """
    if stands_in:
        index: Any = {"dims": BundledEmbeddings.dimensions, "embed": BundledEmbeddings(), "fields": ["content"]}
        return OpenedStore(InMemoryStore(index=index), _NOT_THERE_YET, (_NOT_THERE_YET,))
    return open_store(connection, writing=writing)


def make_engine(opened: OpenedStore, connection: Connection, *, watcher: Watcher | None = None) -> MemoryEngine:
    """The engine over an open store. The dashboard's own recalls are never noted as the agent's."""
    return engine_over(opened, connection, touch=False, watcher=watcher)


def read_version(connection: Connection) -> str:
    """Which file lies behind a connection: another text once it was replaced; empty for other stores."""
    file = connection.file()
    if file is None:
        return ""
    try:
        found = os.stat(file)
    except OSError:
        return MISSING
    return f"{found.st_dev}-{found.st_ino}"


def why_closed(engine: MemoryEngine) -> str:
    """Why nothing can be written through this engine; empty where everything can."""
    return engine.adapter.closed if isinstance(engine.adapter, View) else ""


def list_notices(engine: MemoryEngine) -> tuple[str, ...]:
    """What people should know of how the store was opened."""
    return engine.adapter.notices if isinstance(engine.adapter, View) else ()


def scrub_secrets(text: str) -> str:
    """The text without the secrets of any connection."""
    try:
        offered = read_catalogue(Settings.from_environment())
    except ConfigurationError:
        return text
    return scrub(text, [secret for each in offered.connections.values() for secret in each.secrets()])


def _read_roles(settings: Settings, known: Connections) -> Roles:
    if settings.role is None:
        return known.roles
    return replace(known.roles, default=read_role(settings.role, where=VARIABLES["role"].name))


def _adapt(connection: Connection, settings: Settings, known: Connections) -> Connection:
    """The connection with what the settings say of all of them."""
    changed: dict[str, Any] = {}
    if settings.model:
        changed["model"] = settings.model
    if settings.profile:
        changed |= {"profile": settings.profile, "config": known.profile(settings.profile, where="--profile")}
    if settings.is_read_only:
        changed["read_only"] = True
    return replace(connection, **changed)
