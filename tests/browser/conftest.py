"""The real command in a process of its own, and the system's Chromium in front of it.

Every test here fails if the page asked another host for anything, or logged an error.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Route, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
CHROMIUM = os.environ.get("MNEMOSCOPE_CHROMIUM", "/usr/bin/chromium")
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
SETTLED = "[data-testid=stApp][data-test-script-state=notRunning]"
START_SECONDS = 60

# On a deep link Streamlit first asks below the page's path for its own end points, and then at the root.
_EXPECTED_404 = re.compile(r"/_stcore/(health|host-config)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.xdist_group("browser"))


@dataclass
class Server:
    """A running dashboard: its address, and the file it serves."""

    address: str
    store: Path
    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)

    def stop(self) -> int:
        """Interrupt it as Ctrl-C does; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=20)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """A function that starts `mnemoscope run` on a file and waits until it answers."""
    servers: list[Server] = []

    def start(store: Path, *options: str) -> Server:
        port = free_port()
        command = [*mnemoscope_command(), "run", "--store", str(store), "--port", str(port), "--no-browser", *options]
        paths = os.pathsep.join([str(ROOT), str(ROOT / "engine")])
        environment = {**os.environ, "PYTHONPATH": paths, "MNEMOSCOPE_OPERATOR": "tester"}
        process = subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        server = Server(f"http://127.0.0.1:{port}", store, process)
        threading.Thread(target=_collect, args=(server,), daemon=True).start()
        servers.append(server)
        _wait_until_healthy(server)
        return server

    yield start
    for server in servers:
        server.stop()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The system's Chromium, started once."""
    if not Path(CHROMIUM).exists():
        pytest.fail(f"There is no Chromium at {CHROMIUM}; install it, or name it in MNEMOSCOPE_CHROMIUM.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """A function that opens an address in a fresh tab and waits until the page has settled."""
    faults: list[str] = []
    contexts = []

    def open_tab(address: str, *, scheme: str = "light", width: int = 1360, height: int = 850) -> Page:
        context = chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": height})
        contexts.append(context)
        page = context.new_page()
        page.route(re.compile("^(?!http://127\\.0\\.0\\.1[:/]|data:|blob:)"), lambda route: _refuse(route, faults))
        page.on("console", lambda message: _note(message, faults))
        page.on("pageerror", lambda error: faults.append(f"page error: {error}"))
        page.goto(address)
        settle(page)
        return page

    yield open_tab
    for context in contexts:
        context.close()
    assert not faults


def settle(page: Page) -> None:
    """Wait until the script has ended and nothing is left to load."""
    page.wait_for_selector(SETTLED, timeout=30_000)
    page.wait_for_selector("[data-testid=stSkeleton]", state="detached", timeout=30_000)


def shot(page: Page, name: str) -> None:
    """Keep a picture of the page in the folder MNEMOSCOPE_SCREENSHOTS, where that is named."""
    folder = os.environ.get("MNEMOSCOPE_SCREENSHOTS")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png")


def free_port() -> int:
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
    pytest.fail("The dashboard did not start:\n" + "\n".join(server.lines))


def _refuse(route: Route, faults: list[str]) -> None:
    faults.append(f"external request: {route.request.url}")
    route.abort()


def _note(message: ConsoleMessage, faults: list[str]) -> None:
    if message.type == "error" and not _EXPECTED_404.search(message.location.get("url", "")):
        faults.append(f"console: {message.text}")
