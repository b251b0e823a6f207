"""Driving the dashboard: the running server, acting on a page and waiting until it is drawn, and pictures of it.

A page that has just been clicked looks like one that is at rest until the server has answered. So what counts is the
conversation between the two: each run of the script that the page asked for must have ended, and its elements be there.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakKeyDictionary

import pytest
from mnemoscope.connections.config import CONFIG_FILE
from playwright.sync_api import Locator, Page, WebSocket, expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

ROOT = Path(__file__).resolve().parents[2]
SETTLED = "[data-testid=stApp][data-test-script-state=notRunning]"
START_SECONDS, PATIENCE_SECONDS, QUIET_SECONDS = 60, 60, 0.5
_CATCH_UP = """
    () => new Promise(resolve => {
        setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(resolve)), 50)
    })
"""
"""A message that has come is handled before the timer, and what it changed painted before the second frame."""
HEADER, ROW = 35, 35
"""The heights of a table's heading and of each of its rows, in pixels."""


@dataclass
class Server:
    """A running dashboard: its address, and the lines it printed."""

    address: str
    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)

    def stop(self) -> int:
        """Interrupt it as Ctrl-C does; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=20)


def start_server(*options: str, folder: Path) -> Server:
    """Start `mnemoscope run` from `folder`, with the configuration that is there, and wait until it answers."""
    port = free_port()
    command = [*mnemoscope_command(), "run", "--port", str(port), "--no-browser", *options]
    paths = os.pathsep.join([str(ROOT), str(ROOT / "engine")])
    environment = {**os.environ, "PYTHONPATH": paths, "MNEMOSCOPE_OPERATOR": "tester"}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    server = Server(f"http://127.0.0.1:{port}", process)
    threading.Thread(target=_collect, args=(server,), daemon=True).start()
    _wait_until_healthy(server)
    return server


def configure(folder: Path, store: Path, **keys: str) -> None:
    """Make this file the one connection of the dashboards that run here; pages read the configuration at every run."""
    table = {"url": f"sqlite:///{store}", **keys}
    lines = [f'[connections."{store.name}"]', *(f"{key} = {json.dumps(value)}" for key, value in table.items())]
    (folder / "new.toml").write_text("\n".join(lines), encoding="utf-8")
    (folder / "new.toml").replace(folder / CONFIG_FILE)


class Traffic:
    """What a page asks its server for, and whether that is done: both ends of its WebSocket, message by message.

    What a page asks for by itself, to stay live, is not waited for: it never ends.
    """

    def __init__(self, page: Page) -> None:
        self.asked = 0
        """How many runs were asked for, over all connections of the page; it only grows."""
        self._page = page
        self._socket: WebSocket | None = None
        self._begin(None)
        page.on("websocket", self._begin)

    @property
    def is_done(self) -> bool:
        is_connected = self._socket is not None and not self._socket.is_closed()
        is_at_rest = not self._open and not self._is_running and time.monotonic() >= self._quiet_until
        return is_connected and self._has_asked and is_at_rest

    def wait(self, condition: Callable[[], bool]) -> None:
        """Wait for messages until the condition holds."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"the page waits for an answer to {self._open or 'its connection'}"
            self._page.wait_for_timeout(10)

    def _begin(self, socket: WebSocket | None) -> None:
        self._socket, self._has_asked = socket, False
        self._open: dict[int, str] = {}
        """The fragment of each run that was asked for and has not ended; "" for the whole script."""
        self._answered: set[int] = set()
        """Those of them that the run that goes on answers."""
        self._is_running = self._is_following = self._is_ambiguous = False
        self._quiet_until = 0.0
        if socket is not None:
            socket.on("framesent", self._note_request)
            socket.on("framereceived", self._note_answer)

    def _note_request(self, frame: bytes | str) -> None:
        message = BackMsg.FromString(frame) if isinstance(frame, bytes) else BackMsg()
        if not message.HasField("rerun_script"):
            return
        # No message says which request a run answers, so two at a time cannot be told apart.
        self._is_ambiguous |= self._is_running or self._is_following or bool(self._open)
        if message.rerun_script.is_auto_rerun:
            self._is_following = True
        else:
            self._has_asked = True
            self.asked += 1
            self._open[self.asked] = message.rerun_script.fragment_id

    def _note_answer(self, frame: bytes | str) -> None:
        message = ForwardMsg.FromString(frame) if isinstance(frame, bytes) else ForwardMsg()
        if message.HasField("new_session"):
            fragments = set(message.metadata.run.fragment_ids)
            # A run of the whole script answers what was asked of a fragment too.
            self._answered = {at for at, fragment in self._open.items() if not fragments or fragment in fragments}
            self._is_running = True
        elif message.HasField("script_finished") and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            self._open = {at: fragment for at, fragment in self._open.items() if at not in self._answered}
            if self._is_ambiguous:
                self._quiet_until = time.monotonic() + QUIET_SECONDS
            self._is_running = self._is_following = self._is_ambiguous = False


_TRAFFIC: WeakKeyDictionary[Page, Traffic] = WeakKeyDictionary()


def watch(page: Page) -> None:
    """Follow what this page asks for; before it opens its first address."""
    _TRAFFIC[page] = Traffic(page)


def settle(page: Page) -> None:
    """Wait until every run that was asked for has ended, what it sent is drawn, and nothing is left to load.

    By selectors alone: `wait_for_function` evaluates text, which the dashboard's policy forbids.
    """
    traffic = _TRAFFIC[page]
    while True:
        traffic.wait(lambda: traffic.is_done)
        asked = traffic.asked
        page.evaluate(_CATCH_UP)
        page.wait_for_selector(SETTLED, timeout=30_000)
        page.wait_for_selector("[data-testid=stSkeleton]", state="detached", timeout=30_000)
        if traffic.is_done and traffic.asked == asked:
            return


@contextmanager
def acting(page: Page) -> Iterator[None]:
    """Let what is done inside find the page at rest, and wait until what it changes is drawn."""
    settle(page)
    yield
    page.evaluate(_CATCH_UP)
    settle(page)


@contextmanager
def drawing(page: Page) -> Iterator[None]:
    """The same for what makes the page run, maybe only after an upload, or a pause of who types or ticks."""
    with acting(page):
        traffic = _TRAFFIC[page]
        asked = traffic.asked
        yield
        traffic.wait(lambda: traffic.asked > asked)


def click(target: Locator) -> None:
    with acting(target.page):
        target.click()


def press(target: Page | Locator, key: str) -> None:
    """Press a key in an element, or where the focus is."""
    page = target if isinstance(target, Page) else target.page
    with acting(page):
        if isinstance(target, Page):
            page.keyboard.press(key)
        else:
            target.press(key)


def fill(field: Locator, text: str) -> None:
    with acting(field.page):
        field.fill(text)


def check(box: Locator) -> None:
    """Tick a checkbox, which Streamlit hides behind a drawn one."""
    with acting(box.page):
        box.check(force=True)


def write(field: Locator, text: str, key: str = "Enter") -> None:
    """Write into a field and finish by this key, which makes the page run."""
    with drawing(field.page):
        field.fill(text)
        field.press(key)


def upload(page: Page, file: Path) -> None:
    with drawing(page):
        page.locator("input[type=file]").set_input_files(file)


def open_address(page: Page, address: str) -> None:
    """Open an address in a tab that shows another one."""
    with drawing(page):
        page.goto(address)


def go_to(page: Page, title: str) -> None:
    """Open another page by the sidebar."""
    click(page.get_by_test_id("stSidebarNav").get_by_role("link", name=title, exact=True))
    expect(page.get_by_role("heading", level=1)).to_have_text(title)


def table(page: Page) -> Locator:
    return page.get_by_test_id("stDataFrame").first


def cell(grid: Locator, text: str) -> Locator:
    """The cell of a table that shows the text; the grid is a canvas, but it has an accessible twin."""
    return grid.locator("[data-testid^=glide-cell-]").filter(has_text=text).first


def click_row(page: Page, text: str, *, x: int = 200, grid: Locator | None = None) -> None:
    """Click into the row of a table that shows the text."""
    grid = grid or table(page)
    settle(page)
    expect(cell(grid, text)).to_be_attached()
    row = int((cell(grid, text).get_attribute("data-testid") or "").rsplit("-", 1)[1])
    with drawing(page):
        grid.click(position={"x": x, "y": HEADER + ROW * row + ROW / 2})


def tick_row(page: Page, text: str) -> None:
    click_row(page, text, x=15)


def expect_feedback(page: Page, message: str) -> None:
    expect(page.locator(".st-key-feedback-bar")).to_contain_text(message)


def undo(page: Page) -> None:
    """Take the last change back by the bar that followed it."""
    click(page.locator(".st-key-feedback-undo button"))
    expect(page.get_by_text("Undone.").first).to_be_visible()


def shot(page: Page, name: str) -> None:
    """Keep a picture of the page in the folder MNEMOSCOPE_SCREENSHOTS, where that is named."""
    folder = os.environ.get("MNEMOSCOPE_SCREENSHOTS")
    if folder:
        settle(page)
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
