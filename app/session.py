"""What a page works on: one cached engine a store, and who may do what with it.

Pages call `current()` once and use what it holds. Tests replace `memory_engine`.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from mnemoscope import MemoryEngine
from mnemoscope.errors import PermissionDeniedError
from mnemoscope.stores.base import StoreAdapter

from app.connections import close_engine, connection_name, open_engine
from app.settings import Settings

__all__ = ["OPERATOR_KEY", "WRITING_KEY", "Session", "current", "memory_engine", "require_writing", "warm"]

WRITING_KEY = "header.is_writing"
OPERATOR_KEY = "header.operator"


@dataclass(frozen=True)
class Session:
    """What this browser session works on.

    `connection` names the store, `operator` is who changes are journalled for, `is_writing` whether the
    operator has switched writing on, and `model` the chat model in use; None means that rules stand in.
    """

    engine: MemoryEngine
    connection: str
    operator: str
    is_writing: bool
    model: str | None

    @property
    def adapter(self) -> StoreAdapter:
        """The store as the engine uses it."""
        return self.engine.adapter


def current() -> Session:
    """The session of the running script.

    Raises:
        StoreUnavailableError: the store cannot be opened.
    """
    settings = Settings.from_environment()
    return Session(
        engine=memory_engine(settings.store, settings.model),
        connection=connection_name(settings.store),
        operator=st.session_state.get(OPERATOR_KEY) or settings.operator,
        is_writing=bool(st.session_state.get(WRITING_KEY, settings.is_writing)),
        model=settings.model,
    )


def require_writing() -> Session:
    """The session, for an action that writes; call it first in every such action.

    Raises:
        PermissionDeniedError: writing is switched off.
    """
    session = current()
    if not session.is_writing:
        raise PermissionDeniedError("Writing is off. Switch it on at the top of the page, then repeat the action.")
    return session


@st.cache_resource(max_entries=4, show_spinner=False, on_release=close_engine)
def memory_engine(store: str, model: str | None) -> MemoryEngine:
    """The engine over this store, opened once for all sessions of this process."""
    return open_engine(store, model)


def warm() -> None:
    """Open the store and load the embedder before the first page asks for them."""
    settings = Settings.from_environment()
    engine = memory_engine(settings.store, settings.model)
    if engine.adapter.embeddings is not None:
        engine.adapter.embeddings.embed_query("warm")
