"""A check-up of one connection, step by step, each really tried; nothing is written anywhere."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain

from ..connections.config import Connection
from ..connections.opening import embedder_of, open_store
from ..core.secrets import scrub
from ..errors import MnemoscopeError
from ..extraction.llm import LLMExtractor
from . import contents as checkup_contents
from . import files as checkup_files
from . import postgres as checkup_postgres
from .steps import STEPS, Check

__all__ = ["check_backend", "check_up"]


_NEEDED = ("Configuration", "Embedder", "Reachable", "Tables", "pgvector", "Counts")
"""The steps without which the later ones make no sense."""

_SAMPLE = "Ana lives in Lisbon."


def check_up(
    connection: Connection, environment: Mapping[str, str] = os.environ, *, asks_model: bool = True
) -> Iterator[Check]:
    """Every step of `STEPS` as it is done; after one that failed, those that need it are skipped.

    `asks_model` sends one short text to the model, which may cost a little.
    """
    secrets = connection.secrets(environment)
    seen: set[str] = set()
    steps = chain(_first(connection, environment), _rest(connection, environment, asks_model=asks_model))
    has_failed = False
    for check in steps:
        seen.add(check.name)
        yield replace(check, report=scrub(check.report, secrets), remedy=scrub(check.remedy, secrets))
        has_failed = check.state == "bad" and check.name in _NEEDED
        if has_failed:
            break
    for name in STEPS:
        if name not in seen:
            why = "an earlier step failed" if has_failed else "there is nothing to look at in this store"
            yield Check(name, "skipped", why)


def check_backend(connection: Connection, environment: Mapping[str, str] = os.environ) -> Iterator[Check]:
    """The steps of a file or a database server alone; none for other stores."""
    secrets = connection.secrets(environment)
    look = _BACKENDS.get(connection.scheme(environment))
    for check in look(connection, environment) if look else ():
        yield replace(check, report=scrub(check.report, secrets), remedy=scrub(check.remedy, secrets))


def _first(connection: Connection, environment: Mapping[str, str]) -> Iterator[Check]:
    try:
        scheme = connection.scheme(environment)
    except MnemoscopeError as error:
        yield Check("Configuration", "bad", str(error), "Correct the url, or set the variable that it names.")
        return
    where = f"in {connection.folder}" if connection.folder else "from the command line or the environment"
    yield Check("Configuration", "good", f"{connection.name}: {connection.shown_url}, {where}")
    if scheme in ("python", "langgraph", "langgraph+https"):
        yield Check("Embedder", "skipped", "the store embeds by itself")
    else:
        yield _tried("Embedder", lambda: _embed(connection), "Install its package, set its key, or name another.")
    yield from _BACKENDS.get(scheme, _open)(connection, environment)


def _rest(connection: Connection, environment: Mapping[str, str], *, asks_model: bool) -> Iterator[Check]:
    if not _is_new(connection, environment):
        yield from checkup_contents.check_contents(connection, environment)
    if connection.model is None:
        yield Check("Model", "good", "none, so rules extract facts; name one with --model, or as model in the file")
    elif asks_model:
        remedy = "Check its name, its package and the key in the environment."
        yield _tried("Model", lambda: _ask(connection.model or ""), remedy)
    else:
        yield Check("Model", "skipped", f"{connection.model} is not asked here; mnemoscope doctor asks it")


def _is_new(connection: Connection, environment: Mapping[str, str]) -> bool:
    file = connection.file(environment)
    return file is not None and not file.exists()


def _tried(name: str, look: Callable[[], str], remedy: str) -> Check:
    try:
        return Check(name, "good", look())
    except MnemoscopeError as error:
        return Check(name, "bad", str(error), remedy)


def _embed(connection: Connection) -> str:
    started = time.perf_counter()
    vector = embedder_of(connection).embed_query(_SAMPLE)
    named = connection.embedder or "bundled"
    shown = "the bundled MiniLM" if named == "bundled" else named
    return f"{shown}, {len(vector)} dimensions, first text in {time.perf_counter() - started:.1f} s"


def _ask(model: str) -> str:
    started = time.perf_counter()
    LLMExtractor(model)("I live in Lisbon.")
    return f"{model} answered in {time.perf_counter() - started:.1f} s"


def _open(connection: Connection, environment: Mapping[str, str]) -> Iterator[Check]:
    started = time.perf_counter()

    def look() -> str:
        opened = open_store(connection, writing=False, environment=environment)
        try:
            opened.store.search((), limit=1, refresh_ttl=False)
        finally:
            opened.close()
        return f"{type(opened.store).__name__} answered in {1000 * (time.perf_counter() - started):.0f} ms"

    yield _tried("Reachable", look, "Check the address, and that what it names runs.")
    yield Check("Permissions", "good", "read; whether it may be written is known only by writing")


_BACKENDS: dict[str, Callable[[Connection, Mapping[str, str]], Iterator[Check]]] = {
    "sqlite": checkup_files.check_file,
    "postgresql": checkup_postgres.check_server,
    "postgres": checkup_postgres.check_server,
}
