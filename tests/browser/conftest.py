"""The real command in a process of its own, and the system's Chromium in front of it.

Every test here fails if the page asked another host for anything, or logged an error. Files are named
`test_journey_<what>.py`; helpers to import are in `tests.browser.driving`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mnemoscope.embedding import BundledEmbeddings
from mnemoscope.stores.sqlite import open_sqlite
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Route, expect, sync_playwright

from tests.browser.driving import Server, configure, settle, start_server, watch

HERE = Path(__file__).resolve().parent
CHROMIUM = os.environ.get("MNEMOSCOPE_CHROMIUM", "/usr/bin/chromium")
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip

_ELSEWHERE = re.compile(r"^(?!http://127\.0\.0\.1[:/]|data:|blob:)")
# On a deep link Streamlit first asks below the page's path for its own end points, and then at the root.
_EXPECTED_404 = re.compile(r"/_stcore/(health|host-config)")


# Before xdist, which reads the groups here too.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


@pytest.fixture(scope="session")
def share(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Server]]:
    """A function that shows a store on the running dashboard of these options, and starts one where none runs."""
    running: dict[tuple[str, ...], tuple[Path, Server]] = {}

    def show(store: Path, *options: str, **keys: str) -> Server:
        if options not in running or running[options][1].process.poll() is not None:
            folder = tmp_path_factory.mktemp("server")
            configure(folder, store, **keys)
            running[options] = folder, start_server(*options, folder=folder)
        elif "--write" in options and not store.exists():
            # As a start does; a dashboard that runs already asks before it makes a file.
            open_sqlite(store, embeddings=BundledEmbeddings()).conn.close()
        folder, server = running[options]
        configure(folder, store, **keys)
        return server

    yield show
    for _, server in running.values():
        server.stop()


@pytest.fixture
def serve(tmp_path: Path, share: Callable[..., Server]) -> Iterator[Callable[..., Server]]:
    """A function that serves a store by the dashboard: `serve(store, "--write", queue="queue.sqlite")`.

    Keywords are further keys of its connection. A dashboard of `own` is started for this test alone and may be
    stopped; any option but `--write` needs one. The others are shared.
    """
    own_servers: list[Server] = []

    def start(store: Path, *options: str, own: bool = False, **keys: str) -> Server:
        if own or set(options) - {"--write"}:
            own_servers.append(start_server("--store", str(store), *options, folder=tmp_path))
            return own_servers[-1]
        return share(store, *options, **keys)

    yield start
    for server in own_servers:
        server.stop()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The system's Chromium, started once a file: Playwright's event loop must not outlive the browser tests."""
    if not Path(CHROMIUM).exists():
        pytest.fail(f"There is no Chromium at {CHROMIUM}; install it, or name it in MNEMOSCOPE_CHROMIUM.")
    # A page that re-draws on a busy machine takes longer than Playwright's five seconds.
    expect.set_options(timeout=30_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """A function that opens an address in a fresh tab and waits until the page has settled."""
    faults: list[str] = []
    contexts: list[BrowserContext] = []

    def open_tab(address: str, *, dark: bool = False, width: int = 1360, height: int = 850) -> Page:
        context = chromium.new_context(
            color_scheme="dark" if dark else "light", viewport={"width": width, "height": height}
        )
        contexts.append(context)
        page = context.new_page()
        watch(page)
        page.route(_ELSEWHERE, lambda route: _refuse(route, faults))
        page.on("console", lambda message: _note(message, faults))
        page.on("pageerror", lambda error: faults.append(f"page error: {error}"))
        page.goto(address)
        settle(page)
        return page

    yield open_tab
    for context in contexts:
        context.close()
    assert not faults


def _refuse(route: Route, faults: list[str]) -> None:
    faults.append(f"external request: {route.request.url}")
    route.abort()


def _note(message: ConsoleMessage, faults: list[str]) -> None:
    if message.type == "error" and not _EXPECTED_404.search(message.location.get("url", "")):
        faults.append(f"console: {message.text}")
