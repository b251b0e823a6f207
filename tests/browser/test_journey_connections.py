from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mnemoscope.connections import connection_to, open_connection
from playwright.sync_api import Page, expect

from app.session.navigation import PAGES
from tests.browser.driving import Server, click, go_to, shot

Serve = Callable[..., Server]
Visit = Callable[..., Page]
SECRET = "hunter2-and-more"

CONFIGURATION = """
[connections.second]
url = "sqlite:///second.sqlite"
read_only = true
[connections.away]
url = "postgresql://app:${AWAY_PASSWORD}@127.0.0.1:1/agents"
"""


@pytest.fixture
def configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AWAY_PASSWORD", SECRET)
    file = tmp_path / "connections.toml"
    file.write_text(CONFIGURATION)
    engine = open_connection(connection_to(str(tmp_path / "second.sqlite")))
    engine.remember("Ben drinks green tea.", ("memories", "ben"), extract=False)
    engine.close()
    return file


def everything(path: Path) -> tuple[Any, str]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = {name: connection.execute(f"SELECT rowid, * FROM {name}").fetchall() for name in names}
    return rows, hashlib.sha256(path.read_bytes()).hexdigest()


def test_looking_at_every_page_leaves_the_file_as_it_was(serve: Serve, visit: Visit, seeded_file: Path) -> None:
    before = everything(seeded_file)
    server = serve(seeded_file, own=True)
    page = visit(server.address)
    for row in PAGES[1:]:
        go_to(page, row.title)
    go_to(page, "Recall")
    other = visit(f"{server.address}/recall?r_q=Where+does+Ana+live%3F")
    page.close()
    other.close()
    server.stop()
    assert everything(seeded_file) == before


def test_another_connection_is_chosen_in_the_header_and_a_failing_one_does_no_harm(
    serve: Serve, visit: Visit, seeded_file: Path, configuration: Path
) -> None:
    server = serve(seeded_file, "--config", str(configuration))
    page = visit(server.address)
    choose(page, "second")
    expect(page.get_by_role("combobox", name="Namespace")).to_have_value("Whole store  ·  1 memory")
    expect(page.get_by_role("button", name="Read-only")).to_be_visible()
    assert page.url.endswith("?c=second")
    choose(page, "away")
    expect(page.get_by_text("The store did not answer")).to_be_visible()
    shot(page, "connection-away")
    assert SECRET not in page.content()
    choose(page, "seeded.sqlite")
    expect(page.get_by_role("combobox", name="Namespace")).to_have_value("Whole store  ·  5 memories")
    assert not [line for line in server.lines if SECRET in line]


def test_writing_that_was_allowed_for_one_connection_never_opens_another(
    serve: Serve, visit: Visit, seeded_file: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.sqlite"
    engine = open_connection(connection_to(str(other)))
    engine.remember("Ben drinks green tea.", ("memories", "ben"), extract=False)
    engine.close()
    # As a plain copy of somebody's file: opened for writing, its header would say another journal mode.
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    file = tmp_path / "both.toml"
    file.write_text(f'[connections.other]\nurl = "sqlite:///{other}"\n')
    before = everything(other)
    server = serve(seeded_file, "--config", str(file))
    page = visit(server.address)
    click(page.get_by_role("button", name="Reading"))
    click(page.locator(".st-key-header-switch_writing button"))
    expect(page.get_by_role("button", name="Writing", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    choose(page, "other")
    expect(page.get_by_role("button", name="Reading")).to_be_visible()
    for row in PAGES[1:]:
        go_to(page, row.title)
        expect(page.get_by_role("button", name="Reading")).to_be_visible()
    go_to(page, PAGES[0].title)
    choose(page, "seeded.sqlite")
    expect(page.get_by_role("button", name="Reading")).to_be_visible()
    page.close()
    server.stop()
    assert everything(other) == before


@pytest.mark.parametrize("dark", [False, True])
def test_a_connection_is_tried_on_its_page_and_looked_over_on_health(
    serve: Serve, visit: Visit, seeded_file: Path, configuration: Path, dark: bool
) -> None:
    server = serve(seeded_file, "--config", str(configuration))
    page = visit(f"{server.address}/connect?c=away", dark=dark, height=1300)
    click(page.get_by_role("button", name="Try it"))
    expect(page.get_by_text("Reachable failed.")).to_be_visible()
    expect(page.get_by_text("${AWAY_PASSWORD}").first).to_be_visible()
    assert SECRET not in page.content()
    shot(page, f"connect-{'dark' if dark else 'light'}")
    page = visit(f"{server.address}/health?c=second", dark=dark, height=1300)
    expect(page.get_by_text("nothing of another namespace, and nothing private")).to_be_visible()
    expect(page.get_by_text("No findings")).to_be_visible()
    shot(page, f"health-{'dark' if dark else 'light'}")


def choose(page: Page, name: str) -> None:
    click(page.get_by_role("combobox", name="Connection"))
    click(page.get_by_role("option", name=name, exact=True))
