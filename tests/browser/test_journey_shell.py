from __future__ import annotations

import http.client
import urllib.request
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.session.navigation import PAGES
from tests.browser.driving import Server, click, go_to, open_address, shot

Serve = Callable[..., Server]
Visit = Callable[..., Page]


def test_every_page_opens_by_its_url_and_nothing_leaves_the_machine(
    serve: Serve, visit: Visit, seeded_file: Path
) -> None:
    server = serve(seeded_file)
    for dark in (False, True):
        page = visit(server.address, dark=dark)
        for row in PAGES:
            if row is not PAGES[0]:
                open_address(page, f"{server.address}/{row.name}")
            expect(page.get_by_role("heading", level=1)).to_have_text(row.title)
            expect(page).to_have_title(row.title)
            shot(page, f"{row.name}-{'dark' if dark else 'light'}")


def test_responses_carry_the_policy(serve: Serve, tmp_path: Path) -> None:
    server = serve(tmp_path / "new.sqlite", own=True)
    with urllib.request.urlopen(f"{server.address}/") as response:
        policy = response.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(("host", "status"), [("rebind.example", 403), ("127.0.0.1", 101)])
def test_only_this_machines_own_names_may_talk_to_it(serve: Serve, tmp_path: Path, host: str, status: int) -> None:
    port = int(serve(tmp_path / "new.sqlite").address.rpartition(":")[2])
    upgrade = {
        "Host": f"{host}:{port}",
        "Origin": f"http://{host}:{port}",
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", "/_stcore/stream", headers=upgrade)
        assert connection.getresponse().status == status


def test_the_scope_is_in_the_url_and_follows_to_the_next_page(serve: Serve, visit: Visit, seeded_file: Path) -> None:
    server = serve(seeded_file)
    page = visit(f"{server.address}/browse?ns=memories&ns=ana")
    expect(page.get_by_role("combobox", name="Namespace")).to_have_value("memories/ana  ·  4 memories")
    go_to(page, "Recall")
    expect(page.get_by_role("combobox", name="Namespace")).to_have_value("memories/ana  ·  4 memories")
    assert page.url == f"{server.address}/recall?ns=memories&ns=ana"


def test_writing_is_switched_on_by_the_operator(serve: Serve, visit: Visit, seeded_file: Path) -> None:
    page = visit(serve(seeded_file).address)
    click(page.get_by_role("button", name="Reading"))
    click(page.locator(".st-key-header-switch_writing button"))
    expect(page.get_by_role("button", name="Writing", exact=True)).to_be_visible()
    shot(page, "writing")


def test_an_interrupt_ends_the_command_without_complaint(serve: Serve, tmp_path: Path) -> None:
    server = serve(tmp_path / "new.sqlite", own=True)
    assert server.stop() == 0
    assert not [line for line in server.lines if "Traceback" in line or "Error" in line]
