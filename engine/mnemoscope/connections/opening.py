"""Open a connection: its store, for reading alone or for writing too, and the engine over it."""

from __future__ import annotations

import importlib
import os
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never

from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from ..config import PRESETS
from ..consolidation.llm_consolidator import LLMConsolidator
from ..core.imports import built_by
from ..core.secrets import scrub
from ..embedding.named import load_embeddings
from ..engine.facade import MemoryEngine
from ..errors import ConfigurationError, MnemoscopeError, StoreUnavailableError
from ..extraction.llm import LLMExtractor
from ..extraction.rules.consolidator import RuleConsolidator
from ..extraction.rules.extractor import RuleExtractor
from ..models.client import load_model
from ..models.prompts import PromptBook
from ..stores.choice import adapt
from ..stores.view import View, Watcher
from .config import Connection

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["OpenedStore", "embedder_of", "engine_over", "is_shared", "next_dimensions", "open_connection", "open_store"]


READ_ONLY_CONNECTION = "This connection is read-only, so nothing was written. Change read_only in its configuration."
READ_ONLY_OPENED = "The store was opened for reading alone, so nothing was written. Switch writing on."


@dataclass(frozen=True)
class OpenedStore:
    """An open store.

    `closed` says why nothing may be written, and is empty where everything may; `notices` are for people.
    """

    store: BaseStore
    closed: str = ""
    notices: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    close: Callable[[], None] = field(default=lambda: None, repr=False)


def open_connection(
    connection: Connection,
    *,
    writing: bool = True,
    touch: bool | None = None,
    actor: str = "agent",
    environment: Mapping[str, str] = os.environ,
) -> MemoryEngine:
    """The engine over the store of a connection; `engine.close()` closes both.

    Without `writing`, and wherever the connection is read-only, nothing in the store is made or changed:
    no table, no access note. `touch` stands in for the profile's `touch_on_recall`; changes are journalled for `actor`.

    Raises:
        ConfigurationError: the connection, its embedder or its profile cannot be used.
        StoreUnavailableError: the store cannot be opened; no secret is in the message.
    """
    opened = open_store(connection, writing=writing, environment=environment)
    try:
        return engine_over(opened, connection, touch=touch, actor=actor)
    except MnemoscopeError:
        opened.close()
        raise


def open_store(
    connection: Connection, *, writing: bool = True, environment: Mapping[str, str] = os.environ
) -> OpenedStore:
    """The store of a connection, for reading alone or for writing too; see `open_connection`."""
    closed = READ_ONLY_CONNECTION if connection.read_only else "" if writing else READ_ONLY_OPENED
    secrets = connection.secrets(environment)
    try:
        return _OPENERS[connection.scheme(environment)](connection, closed, environment)
    except MnemoscopeError as error:
        said = scrub(str(error), secrets)
        if said == str(error):
            raise
        raise type(error)(said) from None


def engine_over(
    opened: OpenedStore,
    connection: Connection,
    *,
    touch: bool | None = None,
    actor: str = "agent",
    watcher: Watcher | None = None,
) -> MemoryEngine:
    """The engine over a store that is open already; the watcher is told of every call.

    A model that cannot be used is a notice, and an error only once something is to be extracted or judged.
    """
    model = _model_of(connection)
    notices = (f"{model} Everything else works.",) if isinstance(model, _Unusable) else ()
    view = View(
        adapt(opened.store),
        prefixes=connection.namespaces,
        closed=opened.closed,
        notices=(*opened.notices, *notices),
        limits=opened.limits,
        watcher=watcher,
        on_close=opened.close,
        text_fields=dict(connection.text_fields),
    )
    config = connection.config or PRESETS["classic" if connection.model else "rules"]
    # A note of a recall is a write.
    if touch is not None or opened.closed:
        config = replace(config, touch_on_recall=bool(touch) and not opened.closed)
    engine = _engine(view, model, config=config, next_embeddings=connection.next_embedder, actor=actor)
    if connection.next_embedder:
        engine.reembedding.difference()
    return engine


def embedder_of(connection: Connection) -> Embeddings:
    """The embedder that the connection names, "bundled" where it names none."""
    return load_embeddings(connection.embedder or "bundled")


def next_dimensions(connection: Connection) -> int | None:
    """Dimensions of the vectors of the embedder to come; None where none is named."""
    if connection.next_embedder is None:
        return None
    return len(load_embeddings(connection.next_embedder).embed_query("content"))


def is_shared(connection: Connection, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether reading and writing must go through one and the same store object."""
    return connection.scheme(environment) not in ("sqlite", "postgresql", "postgres")


class _Unusable:
    """What stands in for a model that cannot be used: it says why as soon as it is asked.

    The rules do not stand in by themselves, since what they write into a store is not what was asked for.
    """

    def __init__(self, reason: ConfigurationError) -> None:
        self._reason = str(reason)

    def __str__(self) -> str:
        return self._reason

    def __call__(self, *_asked: object) -> Never:
        raise ConfigurationError(self._reason)


def _model_of(connection: Connection) -> BaseChatModel | _Unusable | None:
    try:
        return load_model(connection.model) if connection.model else None
    except ConfigurationError as error:
        return _Unusable(error)


def _engine(view: View, model: BaseChatModel | _Unusable | None, **rest: Any) -> MemoryEngine:
    if isinstance(model, _Unusable):
        return MemoryEngine(view, extractor=model, consolidator=model, **rest)
    if model is not None:
        prompts = PromptBook(view)
        return MemoryEngine(
            view,
            extractor=LLMExtractor(model, prompt=prompts.source("extract")),
            consolidator=LLMConsolidator(model, prompt=prompts.source("consolidate")),
            **rest,
        )
    return MemoryEngine(view, extractor=RuleExtractor(), consolidator=RuleConsolidator(), **rest)


def _open_file(connection: Connection, closed: str, environment: Mapping[str, str]) -> OpenedStore:
    sqlite = importlib.import_module("mnemoscope.stores.sqlite.connection")
    file = connection.file(environment)
    assert file is not None
    if file.is_dir():
        raise StoreUnavailableError(f"{file} is a folder, not an SQLite file. Name a file in it.")
    embeddings = embedder_of(connection)
    if closed and not file.exists():
        raise StoreUnavailableError(
            f"There is no SQLite file {file}. Check the path; with writing switched on, it is made."
        )
    notices: tuple[str, ...] = ()
    if not closed and (obstacle := _obstacle(file)):
        closed = f"The file {file} cannot be written ({obstacle}), so it is open for reading alone."
        notices = (closed,)
    if not closed:
        _make_folder(file.parent)
    store = sqlite.open_sqlite(
        file, embeddings=embeddings, dimensions=connection.dimensions, read_only=bool(closed), fields=connection.fields
    )
    return OpenedStore(store, closed, notices, close=store.conn.close)


def _obstacle(file: Path) -> str:
    """Why an existing file cannot be written; empty where it can, or where it is not there."""
    if not file.exists():
        return ""
    if not os.access(file, os.W_OK):
        return "its permissions forbid it"
    try:
        connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None)
    except sqlite3.Error as error:
        return str(error)
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        return str(error) if getattr(error, "sqlite_errorname", "").startswith("SQLITE_READONLY") else ""
    except sqlite3.DatabaseError:
        # What is wrong with the file is said when it is opened.
        return ""
    finally:
        connection.close()
    return ""


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailableError(f"The folder {folder} cannot be made: {error}. Name another file.") from error


def _open_postgres(connection: Connection, closed: str, environment: Mapping[str, str]) -> OpenedStore:
    try:
        postgres = importlib.import_module("mnemoscope.stores.postgres.connection")
    except ImportError as error:
        raise ConfigurationError(
            f"PostgreSQL needs a package that is missing ({error.name}): pip install 'mnemoscope[postgres]'."
        ) from error
    store = postgres.open_postgres(
        connection.address(environment),
        embeddings=embedder_of(connection),
        dimensions=connection.dimensions,
        read_only=bool(closed),
        fields=connection.fields,
    )
    return OpenedStore(store, closed, close=store.conn.close)


def _open_server(connection: Connection, closed: str, environment: Mapping[str, str]) -> OpenedStore:
    try:
        server = importlib.import_module("mnemoscope.stores.server")
    except ImportError as error:
        raise ConfigurationError(
            f"A LangGraph server needs a package that is missing ({error.name}): pip install langgraph-sdk."
        ) from error
    scheme, _, rest = connection.address(environment).partition("://")
    url = f"{'https' if scheme.endswith('https') else 'http'}://{rest}"
    store = server.ServerStore(
        url, headers=connection.expanded_headers(environment), secrets=connection.secrets(environment)
    )
    return OpenedStore(store, closed, limits=server.SERVER_LIMITS, close=store.close)


def _open_built(connection: Connection, closed: str, environment: Mapping[str, str]) -> OpenedStore:
    try:
        store = built_by(connection.address(environment), BaseStore)  # type: ignore[type-abstract]
    except MnemoscopeError:
        raise
    # The factory is the user's own, and so may its errors be.
    except Exception as error:
        raise StoreUnavailableError(f"{connection.shown_url} failed: {type(error).__name__}: {error}") from error
    return OpenedStore(store, closed)


def _open_memory(connection: Connection, closed: str, environment: Mapping[str, str]) -> OpenedStore:  # noqa: ARG001
    embeddings = embedder_of(connection)
    dimensions = connection.dimensions or len(embeddings.embed_query("content"))
    index = {"dims": dimensions, "embed": embeddings, "fields": list(connection.fields)}
    notice = "This store lives in the memory of this process alone, and is gone when it ends."
    return OpenedStore(InMemoryStore(index=index), closed, (notice,))  # type: ignore[arg-type]


_OPENERS: dict[str, Callable[[Connection, str, Mapping[str, str]], OpenedStore]] = {
    "sqlite": _open_file,
    "postgresql": _open_postgres,
    "postgres": _open_postgres,
    "langgraph": _open_server,
    "langgraph+https": _open_server,
    "python": _open_built,
    "memory": _open_memory,
}
