"""What a page works on: one cached engine a connection, and who may do what with it.

Pages call `current()` once and use what it holds. Tests replace `memory_engine`.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from mnemoscope import MemoryEngine, PermissionDeniedError, StoreUnavailableError
from mnemoscope.connections import Connection, OpenedStore, Role, is_shared, may
from mnemoscope.stores import StoreAdapter

from app.session import connections, index_memory, sign_in
from app.session.calls import call_log
from app.session.connections import Catalogue
from app.session.settings import Settings

WRITING_KEY = "session.is_writing"
"""Whether the chosen connection may be written. No widget's: a browser sends what a widget of its own once held again,
and a store that was opened for reading would be written.
"""
OPERATOR_KEY = "header.operator"
CONNECTION_KEY = "header.connection"

_CHOSEN = "session.connection"
_LOOKS_ONLY = "Your role is viewer: you may look at everything and change nothing."


@dataclass(frozen=True)
class Choice:
    """Which of the offered connections is chosen, by the URL (`c`), by the operator, or as the first one.

    `unknown` is the name that the URL asks for in vain.
    """

    offered: Catalogue
    connection: Connection
    unknown: str | None = None


@dataclass(frozen=True)
class Session:
    """What this browser session works on.

    `connection` names the store, `operator` is who changes are journalled for, `is_writing` whether the
    operator has switched writing on, and `model` the chat model in use; None means that rules stand in.
    `closed` says why nothing can be written, `notices` what to know of how the store was opened, and `role` what
    the operator may do at all.
    """

    engine: MemoryEngine
    connection: str
    operator: str
    is_writing: bool
    model: str | None
    closed: str = ""
    notices: tuple[str, ...] = ()
    role: Role = "admin"

    @property
    def adapter(self) -> StoreAdapter:
        """The store as the engine uses it."""
        return self.engine.adapter


def choice() -> Choice:
    """The connection of the running script.

    Raises:
        ConfigurationError: the configuration cannot be used.
    """
    offered = connections.read_catalogue(Settings.from_environment())
    asked = st.query_params.get("c")
    unknown = asked if asked is not None and asked not in offered.connections else None
    name = asked if unknown is None and asked is not None else st.session_state.get(_CHOSEN)
    connection = offered.find(name)
    before = st.session_state.get(_CHOSEN)
    st.session_state[_CHOSEN] = connection.name
    if before not in (None, connection.name):
        # Writing is switched on for one store at a time.
        st.session_state[WRITING_KEY] = False
    return Choice(offered, connection, unknown)


def set_writing(connection: str, is_writing: bool) -> None:
    """Switch writing on or off for this connection, if it is still the one that is chosen."""
    if choice().connection.name == connection:
        st.session_state[WRITING_KEY] = is_writing


def choose(name: str) -> None:
    """Go over to another connection, for reading until writing is switched on for it."""
    st.query_params["c"] = name


def current() -> Session:
    """The session of the running script.

    Raises:
        ConfigurationError: the configuration cannot be used.
        StoreUnavailableError: the store cannot be opened.
    """
    settings = Settings.from_environment()
    index_memory.limit(settings)
    chosen = choice()
    connection = chosen.connection
    wants_writing = is_writing_wanted(chosen, settings)
    is_own = connection.name == chosen.offered.own
    engine = memory_engine(connection, wants_writing, connections.read_version(connection), is_own)
    mine = role(chosen)
    closed = connections.why_closed(engine) or ("" if may(mine, "editor") else _LOOKS_ONLY)
    return Session(
        engine=engine,
        connection=connection.name,
        operator=operator(settings),
        is_writing=wants_writing and not closed,
        model=connection.model,
        closed=closed,
        notices=connections.list_notices(engine),
        role=mine,
    )


def is_missing(chosen: Choice) -> bool:
    """Whether the file of the chosen connection is not there, and is not the user's own that is made unasked."""
    is_own = chosen.connection.name == chosen.offered.own
    return not is_own and connections.read_version(chosen.connection) == connections.MISSING


def make_store() -> None:
    """Make the missing file of the chosen connection, an empty store.

    Raises:
        PermissionDeniedError: the connection is read-only, or the operator only looks.
        StoreUnavailableError: it cannot be made.
    """
    chosen = choice()
    if chosen.connection.read_only or not may(role(chosen), "editor"):
        raise PermissionDeniedError("Nothing may be written here, so no store was made.")
    if is_missing(chosen):
        connections.open_store_of(chosen.connection, writing=True).close()


def role(chosen: Choice) -> Role:
    """What the operator may do, by the configuration and, where one is configured, by the sign-in."""
    who = sign_in.person()
    return chosen.offered.roles.of(who.id if who else None)


def operator(settings: Settings) -> str:
    """Whom changes are journalled for: who has signed in, or else the name that was typed in or set."""
    who = sign_in.person()
    return who.name if who else st.session_state.get(OPERATOR_KEY) or settings.operator


def foreign_vectors(working: Session) -> str:
    """How the embedder differs from the one whose vectors the store holds; empty where it does not."""
    return working.engine.reembedding.difference()


def is_writing_wanted(chosen: Choice, settings: Settings) -> bool:
    """Whether the operator wants to write, on a connection that can be written.

    What the settings say holds for the first connection alone.
    """
    at_first = settings.is_writing and chosen.connection.name == chosen.offered.default
    wants = bool(st.session_state.get(WRITING_KEY, at_first))
    return wants and not chosen.connection.read_only and may(role(chosen), "editor")


def require_writing() -> Session:
    """The session, for an action that writes; call it first in every such action.

    Raises:
        PermissionDeniedError: writing is switched off, or not possible here.
    """
    return require_role("editor")


def require_role(needed: Role) -> Session:
    """The session, for an action that takes this role and writes; call it first in every such action.

    Raises:
        PermissionDeniedError: the operator has not that role, or writing is switched off or not possible here.
    """
    session = current()
    if not may(session.role, needed):
        raise PermissionDeniedError(
            f"This takes the role {needed}, and yours is {session.role}. Ask whoever runs this dashboard."
        )
    if session.is_writing:
        return session
    if session.closed and (choice().connection.read_only or st.session_state.get(WRITING_KEY)):
        raise PermissionDeniedError(session.closed)
    raise PermissionDeniedError("Writing is off. Switch it on at the top of the page, then repeat the action.")


@st.cache_resource(max_entries=8, show_spinner=False, on_release=MemoryEngine.close)
def memory_engine(connection: Connection, writing: bool, version: str, is_own: bool = False) -> MemoryEngine:
    """The engine over this connection, opened once for all sessions of this process.

    Where a file was replaced its `version` is another, and it is opened anew.
    """
    watcher = call_log().watcher(connection.name, connection.secrets)
    if is_shared(connection):
        opened = _shared_store(connection)
        closed = "" if writing else "The store is used for reading alone, so nothing was written. Switch writing on."
        own = OpenedStore(opened.store, opened.closed or closed, opened.notices, opened.limits)
        return index_memory.count_indexes(connections.make_engine(own, connection, watcher=watcher), connection.name)
    if version == connections.MISSING and not is_own:
        # A mistyped path would otherwise become an empty store as soon as writing is switched on.
        raise StoreUnavailableError(
            f"There is no SQLite file {connection.file()}. Check the path, or make a new, empty store there."
        )
    stands_in = is_own and not writing and version == connections.MISSING
    opened = connections.open_store_of(connection, writing=writing, stands_in=stands_in)
    return index_memory.count_indexes(connections.make_engine(opened, connection, watcher=watcher), connection.name)


@st.cache_resource(max_entries=8, show_spinner=False, on_release=lambda opened: opened.close())
def _shared_store(connection: Connection) -> OpenedStore:
    return connections.open_store_of(connection, writing=True)


def close_all() -> None:
    """Close every engine and store."""
    memory_engine.clear()
    _shared_store.clear()


def warm() -> None:
    """Open the first store and load its embedder before the first page asks for them."""
    settings = Settings.from_environment()
    offered = connections.read_catalogue(settings)
    connection = offered.find(None)
    writing = settings.is_writing and not connection.read_only
    if writing and is_missing(Choice(offered, connection)):
        # Who names a file and starts with writing switched on asks for it.
        connections.open_store_of(connection, writing=True).close()
    version = connections.read_version(connection)
    engine = memory_engine(connection, writing, version, connection.name == offered.own)
    if engine.adapter.embeddings is not None:
        engine.adapter.embeddings.embed_query("warm")
