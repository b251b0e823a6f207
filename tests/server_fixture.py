"""The store of a LangGraph development server: the one that is named, or one that is started where the CLI is."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph.store.base import BaseStore
from mnemoscope.stores import adapt
from mnemoscope.stores.server import ServerStore
from stores_fixture import GENERIC_FAULTS, Backend

VARIABLE = "MNEMOSCOPE_TEST_SERVER"
FOLDER = Path(__file__).resolve().parent / "langgraph_server"
ENGINE = FOLDER.parents[1] / "engine"
PATIENCE_SECONDS = 60.0

FAULTS = {
    **GENERIC_FAULTS,
    "test_any_text_is_a_key[generic-server-]": "a server refuses the empty key",
}
"""What the store of a development server cannot pass, and why."""


@contextmanager
def opened_server(_folder: Path) -> Iterator[Backend]:
    """The store of the server, emptied; skips where there is no server."""
    url = server_url()
    store = ServerStore(url)
    others: list[Any] = []

    def other() -> BaseStore:
        others.append(ServerStore(url))
        return others[-1]

    empty(store)
    try:
        yield Backend(adapt(store), store, lambda: everything(store), other, FAULTS)
    finally:
        for each in [store, *others]:
            each.close()


def everything(store: BaseStore) -> list[Any]:
    """Every item with its times."""
    items = store.search((), limit=100_000)
    return sorted((item.namespace, item.key, repr(item.value), item.created_at, item.updated_at) for item in items)


def empty(store: BaseStore) -> None:
    for item in store.search((), limit=100_000):
        store.delete(item.namespace, item.key)


@cache
def server_url() -> str:
    """The URL of the server that MNEMOSCOPE_TEST_SERVER names, or of one that is started once for all tests."""
    if named := os.environ.get(VARIABLE):
        return named
    command = shutil.which("langgraph", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if command is None:
        pytest.skip(f"no LangGraph server: set {VARIABLE} to the address of one over {FOLDER.name}/langgraph.json")
    return _started(command)


def _started(command: str) -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = Path(tempfile.mkdtemp(prefix="mnemoscope-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    options = ["--no-browser", "--no-reload", "--host", "127.0.0.1", "--port", str(port)]
    # It keeps its data beside the configuration, and looks for the embedder in the working folder.
    shutil.copytree(FOLDER, folder, dirs_exist_ok=True)
    process = subprocess.Popen(
        [command, "dev", *options], cwd=folder, env={**os.environ, "PYTHONPATH": str(ENGINE)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    atexit.register(process.wait)
    atexit.register(process.terminate)
    url, deadline = f"http://127.0.0.1:{port}", time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            httpx.get(f"{url}/ok").raise_for_status()
        except httpx.HTTPError:
            time.sleep(0.2)
        else:
            return url
    pytest.fail(f"the LangGraph server did not answer within {PATIENCE_SECONDS:g} s")
