from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from mnemoscope import MemoryEngine, RuleConsolidator, RuleExtractor
from mnemoscope.embedding import BundledEmbeddings
from mnemoscope.stores.sqlite import open_sqlite
from playwright.sync_api import Locator, Page, expect
from stores_fixture import sqlite_rows

from tests.browser.driving import Server, settle, shot

Serve = Callable[..., Server]
Visit = Callable[..., Page]

ANA = ("memories", "ana")
HERE = "/browse?ns=memories&ns=ana"
LISBON, TEA, SHORT = "Ana lives in Lisbon.", "Ana's favourite drink is green tea.", "Ana prefers short answers."
HEADER, ROW = 35, 35


def texts(path: Path) -> set[str]:
    """What the namespace holds now, read by an engine of our own."""
    return set(asked(path, lambda engine: [record.content for record in engine.list(ANA)]))


def recalled(path: Path, query: str) -> str:
    """What a recall by an agent brings back first."""
    return asked(path, lambda engine: [engine.recall(query, ANA, limit=1, touch=False)[0].record.content])[0]


def asked(path: Path, question: Callable[[MemoryEngine], list[str]]) -> list[str]:
    store = open_sqlite(str(path), embeddings=BundledEmbeddings())
    try:
        return question(MemoryEngine(store, extractor=RuleExtractor(), consolidator=RuleConsolidator()))
    finally:
        store.conn.close()


def table(page: Page) -> Locator:
    return page.get_by_test_id("stDataFrame").first


def row_of(page: Page, text: str) -> int:
    """The row of the table that shows the text; the grid is a canvas, but it has an accessible twin."""
    cell = table(page).locator("[data-testid^=glide-cell-]").filter(has_text=text).first
    expect(cell).to_be_attached()
    return int((cell.get_attribute("data-testid") or "").rsplit("-", 1)[1])


def click(page: Page, text: str, *, x: int = 200) -> None:
    row = row_of(page, text)
    box = table(page).bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + x, box["y"] + HEADER + ROW * row + ROW / 2)
    settle(page)


def tick(page: Page, text: str) -> None:
    click(page, text, x=15)


def said(page: Page, message: str) -> None:
    expect(page.locator(".st-key-feedback-bar")).to_contain_text(message)


def test_an_edit_changes_what_a_recall_brings_back_and_an_undo_takes_it_back(
    serve: Serve, visit: Visit, seeded_file: Path
) -> None:
    page = visit(serve(seeded_file, "--write").address + HERE)
    assert recalled(seeded_file, "Where does Ana live?") == LISBON
    click(page, LISBON)
    panel = page.locator(".st-key-browse-detail")
    expect(panel).to_contain_text(LISBON)
    assert "b_key=" in page.url
    panel.get_by_role("button", name="Edit").click()
    panel.get_by_role("textbox", name="Text").fill("Ana lives in Porto, near the river.")
    panel.get_by_role("textbox", name="Why").fill("She moved")
    panel.get_by_role("button", name="Save").click()
    said(page, "Saved.")
    assert recalled(seeded_file, "Where does Ana live?") == "Ana lives in Porto, near the river."
    panel.get_by_role("tab", name="History").click()
    expect(panel.locator("del")).to_have_text(["Lisbon"])
    expect(panel.locator("ins")).to_have_text(["Porto, near the river"])
    shot(page, "browse-history")
    page.locator(".st-key-feedback-undo button").click()
    said_undone = page.get_by_text("Undone.").first
    expect(said_undone).to_be_visible()
    assert recalled(seeded_file, "Where does Ana live?") == LISBON


def test_what_was_ticked_is_forgotten_whatever_happens_to_the_order_and_comes_back_with_one_undo(
    serve: Serve, visit: Visit, seeded_file: Path
) -> None:
    page = visit(serve(seeded_file, "--write").address + HERE)
    before = texts(seeded_file)
    tick(page, TEA)
    expect(page.get_by_role("button", name="Forget 1")).to_be_visible()
    order = page.locator(".st-key-b_sort")
    order.locator("input").click()
    page.get_by_role("option", name="A to Z").click()
    expect(page).to_have_url(re.compile("b_sort="))
    first = min(before, key=str.casefold)[:20]
    expect(table(page).locator("[data-testid^=glide-cell-][data-testid$='-0']").filter(has_text=first)).to_be_attached()
    settle(page)
    tick(page, SHORT)
    page.get_by_role("button", name="Forget 2").click()
    expect(page.get_by_text("Forget 2 memories?")).to_be_visible()
    page.locator(".st-key-browse-forget-confirm button").click()
    said(page, "Forgot 2 memories.")
    expect(page.locator("[data-testid=stPopoverBody]")).to_have_count(0)
    assert texts(seeded_file) == before - {TEA, SHORT}
    page.locator(".st-key-feedback-undo button").click()
    expect(page.get_by_text("Undone.").first).to_be_visible()
    assert texts(seeded_file) == before


def test_a_row_ticked_before_a_filter_is_never_another_one_after_it(
    serve: Serve, visit: Visit, seeded_file: Path
) -> None:
    page = visit(serve(seeded_file, "--write").address + HERE)
    tick(page, TEA)
    expect(page.get_by_role("button", name="Forget 1")).to_be_visible()
    search = page.get_by_placeholder("Search memories")
    search.fill("lisbon")
    expect(page.get_by_text("1 of 4 memories")).to_be_visible()
    expect(page.get_by_role("button", name="Forget", exact=True)).to_be_disabled()


def test_a_closed_memory_opens_again_at_the_same_click_and_by_its_address(
    serve: Serve, visit: Visit, seeded_file: Path
) -> None:
    server = serve(seeded_file)
    page = visit(server.address + HERE)
    click(page, TEA)
    panel = page.locator(".st-key-browse-detail")
    expect(panel).to_contain_text(TEA)
    address = page.url
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_have_count(0)
    click(page, TEA)
    expect(panel).to_contain_text(TEA)
    again = visit(address)
    expect(again.locator(".st-key-browse-detail")).to_contain_text(TEA)


@pytest.mark.parametrize("dark", [False, True])
def test_a_stroll_through_both_pages_writes_nothing(serve: Serve, visit: Visit, seeded_file: Path, dark: bool) -> None:
    before = sqlite_rows(seeded_file)
    server = serve(seeded_file)
    mode = "dark" if dark else "light"
    page = visit(server.address, dark=dark)
    expect(page.locator(".js-plotly-plot")).to_have_count(3)
    shot(page, f"overview-{mode}")
    page.get_by_test_id("stMain").get_by_role("link", name="Browse all").click()
    expect(page.get_by_text("5 memories")).to_be_visible()
    settle(page)
    shot(page, f"browse-{mode}")
    click(page, "**bold**")
    panel = page.locator(".st-key-browse-detail")
    expect(panel).to_contain_text("<b>html</b> ![x](http://example.invalid/x.png) <U+202E>exe")
    for part in ("Evidence", "History", "Alike", "Recalls", "Raw"):
        panel.get_by_role("tab", name=part).click()
        settle(page)
    expect(panel.get_by_role("button", name="Edit")).to_be_disabled()
    shot(page, f"browse-open-{mode}")
    page.close()
    server.stop()
    assert sqlite_rows(seeded_file) == before


def test_overview_leads_to_a_namespace_and_to_a_changed_memory(serve: Serve, visit: Visit, seeded_file: Path) -> None:
    server = serve(seeded_file)
    page = visit(server.address)
    namespaces, changes = page.get_by_test_id("stDataFrame").nth(0), page.get_by_test_id("stDataFrame").nth(1)
    changes.scroll_into_view_if_needed()
    for grid, expected in ((changes, "b_key="), (namespaces, "/browse?ns=memories&ns=ana")):
        expect(grid).to_be_visible()
        box = grid.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + 60, box["y"] + HEADER + ROW / 2)
        expect(page).to_have_url(re.compile(re.escape(expected)))
        settle(page)
        page.get_by_test_id("stSidebarNav").get_by_role("link", name="Overview").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
        settle(page)
        changes.scroll_into_view_if_needed()
