from __future__ import annotations

import asyncio
import base64
import hashlib
import tomllib
from pathlib import Path
from typing import Any

import pytest
import streamlit

from app.components import theme
from app.session.navigation import PAGES, PAGES_FOLDER
from app.shell import server

ROOT = Path(__file__).resolve().parents[2]


def flattened(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in table.items():
        flat |= flattened(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return flat


def test_the_policy_allows_the_pages_own_inline_script_and_no_other_host() -> None:
    policy = server.content_security_policy("<script>\n  a()\n</script><script src='x.js'></script>")
    digest = base64.b64encode(hashlib.sha256(b"\n  a()\n").digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}' blob:;" in policy
    assert "http" not in policy.replace("'self'", "")
    assert "unsafe-eval" not in policy


def test_every_inline_script_of_streamlit_has_its_hash() -> None:
    index = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    assert server.content_security_policy(index).count("'sha256-") == index.count("<script>") > 0


def test_every_response_carries_the_headers() -> None:
    sent: list[dict[str, Any]] = []

    async def application(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x-own", b"1")]})

    async def collect(message: Any) -> None:
        sent.append(message)

    asyncio.run(server.SecurityHeaders(application, "the policy")({"type": "http"}, None, collect))  # type: ignore[arg-type]
    headers = dict(sent[0]["headers"])
    assert headers[b"content-security-policy"] == b"the policy"
    assert headers[b"x-content-type-options"] == b"nosniff"
    assert headers[b"x-frame-options"] == b"SAMEORIGIN"
    assert headers[b"x-own"] == b"1"


@pytest.mark.parametrize(
    ("path", "accept", "to"),
    [
        ("/browse/extra/path", b"text/html", b"/browse"),
        ("/browse", b"text/html", None),
        ("/browse/extra", b"application/json", None),
        ("/static/js/index.js", b"text/html", None),
    ],
)
def test_a_page_below_a_page_leads_to_that_page(path: str, accept: bytes, to: bytes | None) -> None:
    sent: list[dict[str, Any]] = []

    async def application(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def collect(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "headers": [(b"accept", accept)]}
    asyncio.run(server.FirstSegments(application)(scope, None, collect))  # type: ignore[arg-type]
    assert sent[0]["status"] == (200 if to is None else 303)
    assert dict(sent[0]["headers"]).get(b"location") == to


def test_the_server_listens_on_this_machine_alone_and_tells_nobody() -> None:
    options = server.options()
    assert options["server.address"] == "127.0.0.1"
    assert options["server.allowedHosts"] == ["localhost", "127.0.0.1"]
    assert options["browser.gatherUsageStats"] is False
    assert "server.port" not in options
    assert server.options(9000)["server.port"] == 9000


def test_streamlit_run_uses_the_same_options_as_the_command() -> None:
    configured = flattened(tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8")))
    expected = server.options()
    # Development reloads on a change; the command does not watch files.
    assert expected.pop("server.fileWatcherType") == "none"
    assert configured == expected


def test_every_option_is_one_that_streamlit_knows() -> None:
    from streamlit import config

    assert not set(server.options(1)) - set(config._config_options_template)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_primary_colour_can_be_read_as_text(mode: str) -> None:
    primary = theme.OPTIONS[f"theme.{mode}.primaryColor"]
    for name in ("backgroundColor", "secondaryBackgroundColor"):
        ground = theme.OPTIONS[f"theme.{mode}.{name}"]
        darker, lighter = sorted((luminance(primary), luminance(ground)))
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def test_the_theme_fetches_nothing() -> None:
    assert not [value for value in theme.OPTIONS.values() if "http" in str(value)]
    assert all(
        "http" not in path.read_text().replace("http://www.w3.org/2000/svg", "") for path in (theme.ICON, theme.LOGO)
    )


def test_every_page_has_a_file_and_every_file_a_page() -> None:
    assert sorted(row.name for row in PAGES) == sorted(path.stem for path in PAGES_FOLDER.glob("*.py"))
    assert len({row.title for row in PAGES}) == len(PAGES)
