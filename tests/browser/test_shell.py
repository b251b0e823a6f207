from __future__ import annotations

import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.navigation import PAGES
from tests.browser.conftest import Server, settle, shot

Serve = Callable[..., Server]
Visit = Callable[..., Page]


def test_every_page_opens_by_its_url_and_nothing_leaves_the_machine(
    serve: Serve, visit: Visit, seeded_file: Path
) -> None:
    server = serve(seeded_file)
    for row in PAGES:
        url = "/" if row is PAGES[0] else f"/{row.name}"
        for scheme in ("light", "dark"):
            page = visit(server.address + url, scheme=scheme)
            expect(page.get_by_role("heading", level=1)).to_have_text(row.title)
            expect(page).to_have_title(row.title)
            shot(page, f"{row.name}-{scheme}")


def test_responses_carry_the_policy(serve: Serve, tmp_path: Path) -> None:
    server = serve(tmp_path / "new.sqlite")
    with urllib.request.urlopen(f"{server.address}/") as response:
        policy = response.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_a_foreign_host_name_is_refused(serve: Serve, tmp_path: Path) -> None:
    server = serve(tmp_path / "new.sqlite")
    request = urllib.request.Request(
        f"{server.address}/_stcore/stream",
        headers={
            "Host": "rebind.example",
            "Origin": "http://rebind.example",
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        },
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request)
    with refused.value:
        assert refused.value.code == 403


def test_the_scope_is_in_the_url_and_follows_to_the_next_page(serve: Serve, visit: Visit, seeded_file: Path) -> None:
    server = serve(seeded_file)
    page = visit(f"{server.address}/browse?ns=memories&ns=ana")
    expect(page.locator(".st-key-scope-namespace")).to_contain_text("memories/ana")
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Recall").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Recall")
    settle(page)
    expect(page.locator(".st-key-scope-namespace")).to_contain_text("memories/ana")
    assert page.url == f"{server.address}/recall?ns=memories&ns=ana"


def test_writing_is_switched_on_by_the_operator(serve: Serve, visit: Visit, seeded_file: Path) -> None:
    page = visit(serve(seeded_file).address)
    page.get_by_role("button", name="Reading").click()
    page.get_by_text("Allow writing").click()
    expect(page.get_by_role("button", name="Writing", exact=True)).to_be_visible()
    shot(page, "writing")


def test_an_interrupt_ends_the_command_without_complaint(serve: Serve, tmp_path: Path) -> None:
    server = serve(tmp_path / "new.sqlite")
    assert server.stop() == 0
    assert not [line for line in server.lines if "Traceback" in line or "Error" in line]
