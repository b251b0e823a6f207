"""LangGraph development servers: the one that is named, or one that is started where its environment is."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
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
from mnemoscope.stores import ServerStore, adapt
from stores_fixture import Backend

VARIABLE = "MNEMOSCOPE_TEST_SERVER"
ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).resolve().with_name("langgraph_server")
ENVIRONMENT = ROOT / ".venv" / "server"
HEADERS = {"x-api-key": "the-servers-key"}
"""What the server of these files asks for; see `langgraph_server/auth.py`."""

PATIENCE_SECONDS = 90.0
QUIET = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGGRAPH_NO_VERSION_CHECK": "1", "LANGSMITH_TRACING": "false"}


class DevelopmentServer:
    """A LangGraph development server over the files of `langgraph_server`, on a free port and with data of its own."""

    def __init__(self, command: str, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        # It keeps its data beside the configuration, and looks for the embedder in the working folder.
        shutil.copytree(FOLDER, folder, dirs_exist_ok=True)
        self.url = f"http://127.0.0.1:{port}"
        self._folder = folder
        self._command = [command, "dev", "--no-browser", "--no-reload", "--host", "127.0.0.1", "--port", str(port)]
        self.start()

    def start(self) -> None:
        """Start it, on the data it had before; fails with its log where it does not answer."""
        environment = {**os.environ, **QUIET, "PYTHONPATH": str(ROOT / "engine")}
        with (self._folder / "server.log").open("wb") as log:
            self._process = subprocess.Popen(
                self._command, cwd=self._folder, env=environment, stdout=log, stderr=subprocess.STDOUT
            )
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._process.poll() is None and time.monotonic() < deadline:
            try:
                httpx.get(f"{self.url}/ok").raise_for_status()
            except httpx.HTTPError:
                time.sleep(0.2)
            else:
                return
        self.stop()
        log_end = (self._folder / "server.log").read_text(errors="replace")[-2_000:]
        pytest.fail(f"the LangGraph server did not answer within {PATIENCE_SECONDS:g} s: {log_end}")

    def stop(self) -> None:
        """End it as a deploy does: it saves its data."""
        self._process.send_signal(signal.SIGCONT)
        self._process.terminate()
        self._process.wait()

    def freeze(self) -> None:
        """Let it take connections and answer nothing, until it is stopped."""
        self._process.send_signal(signal.SIGSTOP)


@contextmanager
def opened_server(_folder: Path) -> Iterator[Backend]:
    """The store of the server, emptied; skips where there is no server."""
    store = ServerStore(server_url(), headers=HEADERS)
    others: list[Any] = []

    def other() -> BaseStore:
        others.append(ServerStore(server_url(), headers=HEADERS))
        return others[-1]

    empty(store)
    try:
        yield Backend(adapt(store), store, lambda: everything(store), other)
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


def server_url() -> str:
    """The URL of the server that MNEMOSCOPE_TEST_SERVER names, or of one that is started once for all tests."""
    return os.environ.get(VARIABLE) or _shared(command()).url


def command() -> str:
    """The `langgraph` command that servers are started with; skips where there is none."""
    places = [str(ENVIRONMENT / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    found = shutil.which("langgraph", path=os.pathsep.join(places))
    if found is None:
        pytest.skip("no LangGraph server: `make .venv/.server` installs a development server for these tests")
    return found


@cache
def _shared(command: str) -> DevelopmentServer:
    folder = Path(tempfile.mkdtemp(prefix="mnemoscope-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    server = DevelopmentServer(command, folder)
    atexit.register(server.stop)
    return server
