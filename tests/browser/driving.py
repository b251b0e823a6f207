"""Driving the dashboard: the running server, waiting for a page to settle, and pictures of it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[2]
SETTLED = "[data-testid=stApp][data-test-script-state=notRunning]"
START_SECONDS = 60


@dataclass
class Server:
    """A running dashboard: its address, the file it serves, and the lines it printed."""

    address: str
    store: Path
    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)

    def stop(self) -> int:
        """Interrupt it as Ctrl-C does; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=20)


def start_server(store: Path, *options: str, folder: Path) -> Server:
    """Start `mnemoscope run` on a file, from `folder`, and wait until it answers."""
    port = free_port()
    command = [*mnemoscope_command(), "run", "--store", str(store), "--port", str(port), "--no-browser", *options]
    paths = os.pathsep.join([str(ROOT), str(ROOT / "engine")])
    environment = {**os.environ, "PYTHONPATH": paths, "MNEMOSCOPE_OPERATOR": "tester"}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    server = Server(f"http://127.0.0.1:{port}", store, process)
    threading.Thread(target=_collect, args=(server,), daemon=True).start()
    _wait_until_healthy(server)
    return server


def settle(page: Page) -> None:
    """Wait until the script has ended and nothing is left to load.

    By selectors alone: `wait_for_function` evaluates text, which the dashboard's policy forbids.
    """
    page.wait_for_selector(SETTLED, timeout=30_000)
    page.wait_for_selector("[data-testid=stSkeleton]", state="detached", timeout=30_000)


def shot(page: Page, name: str) -> None:
    """Keep a picture of the page in the folder MNEMOSCOPE_SCREENSHOTS, where that is named."""
    folder = os.environ.get("MNEMOSCOPE_SCREENSHOTS")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png")


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def mnemoscope_command() -> list[str]:
    """The installed command, or the same entry point where the package is not installed."""
    installed = shutil.which("mnemoscope", path=str(Path(sys.executable).parent))
    return [installed] if installed else [sys.executable, "-c", "from app.cli import main; main()"]


def _collect(server: Server) -> None:
    assert server.process.stdout is not None
    with server.process.stdout:
        server.lines.extend(line.rstrip() for line in server.process.stdout)


def _wait_until_healthy(server: Server) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.address}/_stcore/health", timeout=1):
                return
        except OSError:
            threading.Event().wait(0.1)
    server.stop()
    pytest.fail("The dashboard did not start:\n" + "\n".join(server.lines))
