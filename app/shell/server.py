"""The dashboard's server: Streamlit's own, bound to this machine, with a content-security policy."""

from __future__ import annotations

import base64
import hashlib
import importlib
import logging
import os
import re
import threading
import urllib.error
import urllib.request
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import streamlit as st
from mnemoscope import MnemoscopeError
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config as streamlit_config

from app.components import theme
from app.session import session
from app.session.navigation import PAGES
from app.session.settings import Settings
from app.shell import failures

logger = logging.getLogger("mnemoscope")

MAIN = Path(__file__).resolve().parents[1] / "main.py"
HEAVY_MODULES = ("pandas", "pyarrow", "plotly.graph_objects")
MAX_UPLOAD_MEGABYTES = 50

_INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


class SecurityHeaders:
    """ASGI middleware that adds the policy and its companions to every response."""

    def __init__(self, app: ASGIApp, policy: str) -> None:
        self._app = app
        self._headers = {
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "SAMEORIGIN",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class FirstSegments:
    """ASGI middleware that sends a page asked for below a page, as `/browse/a`, to that page: there is none below.

    Streamlit would answer with its page, whose scripts it then looks for in the wrong place.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (first := _page_above(scope)):
            await RedirectResponse(f"/{first}", status_code=303)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _page_above(scope: Scope) -> str:
    """The page below which this request is for another page; empty for every other request."""
    first, _, rest = scope["path"].lstrip("/").partition("/")
    asks_page = scope["method"] in ("GET", "HEAD") and b"text/html" in dict(scope["headers"]).get(b"accept", b"")
    # What Streamlit serves itself below a page, as its health, has no page of ours behind it.
    is_ours = any(row.name == first for row in PAGES)
    return first if rest and asks_page and is_ours and not rest.startswith(("_stcore", "static/")) else ""


def content_security_policy(index: str) -> str:
    """The policy for Streamlit's page `index`: nothing from other hosts, no inline script but its own."""
    hashes = [hashlib.sha256(script.encode()).digest() for script in _INLINE_SCRIPT.findall(index)]
    own = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in hashes)
    rules = {
        "default-src": "'self'",
        "script-src": f"'self' {own} blob:",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "frame-ancestors": "'self'",
        "form-action": "'self'",
        "base-uri": "'self'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def options(port: int | None = None) -> dict[str, Any]:
    """Streamlit's options for this dashboard; without a port it takes the first free one from 8501."""
    chosen: dict[str, Any] = {
        "server.address": "127.0.0.1",
        "server.allowedHosts": ["localhost", "127.0.0.1"],
        "server.headless": True,
        "server.fileWatcherType": "none",
        "server.showEmailPrompt": False,
        "server.maxUploadSize": MAX_UPLOAD_MEGABYTES,
        "server.enableAgentApi": False,
        "browser.gatherUsageStats": False,
        "client.toolbarMode": "viewer",
        "client.showErrorDetails": "none",
        "client.showErrorLinks": False,
        # A slider that the URL fills needs its default, and buttons set it as well: that is meant so.
        "global.disableWidgetStateDuplicationWarning": True,
    }
    return chosen | theme.OPTIONS | ({} if port is None else {"server.port": port})


def build(*, opens_browser: bool) -> st.App:
    """The dashboard as an ASGI application."""
    index = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")

    @asynccontextmanager
    async def lifespan(_app: st.App) -> AsyncIterator[None]:
        _prepare()
        if opens_browser:
            threading.Thread(target=_open_browser_when_healthy, daemon=True).start()
        yield
        session.close_all()

    return st.App(
        MAIN,
        lifespan=lifespan,
        middleware=[
            Middleware(SecurityHeaders, policy=content_security_policy(index)),
            Middleware(FirstSegments),
        ],
        on_script_error=failures.report,
    )


def serve(settings: Settings, *, port: int | None = None, opens_browser: bool = True) -> None:
    """Run the dashboard until it is interrupted."""
    os.environ.update(settings.to_environment())
    # The server has shut down in order by the time it hands the interrupt on.
    with suppress(KeyboardInterrupt):
        build(opens_browser=opens_browser).run(config=options(port))


def _prepare() -> None:
    for module in HEAVY_MODULES:
        importlib.import_module(module)
    try:
        session.warm()
    except MnemoscopeError as error:
        # The page says it too, with what to do; the server stays up so that it can.
        logger.error("%s", error)


def _open_browser_when_healthy() -> None:
    address = f"http://127.0.0.1:{streamlit_config.get_option('server.port')}"
    pause = threading.Event()
    for _attempt in range(100):
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1):
                webbrowser.open(address)
                return
        except (urllib.error.URLError, OSError):
            pause.wait(0.1)
