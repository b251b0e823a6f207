from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mnemoscope import MemoryEngine, RuleConsolidator, RuleExtractor
from mnemoscope.embedding import BundledEmbeddings
from mnemoscope.stores.sqlite import open_sqlite
from playwright.sync_api import Page, expect
from stores_fixture import sqlite_rows

from tests.browser.driving import (
    Server,
    acting,
    click,
    click_row,
    drawing,
    expect_feedback,
    fill,
    go_to,
    shot,
    table,
    tick_row,
    undo,
)

Serve = Callable[..., Server]
Visit = Callable[..., Page]

ANA = ("memories", "ana")
HERE = "/browse?ns=memories&ns=ana"
LISBON, TEA, SHORT = "Ana lives in Lisbon.", "Ana's favourite drink is green tea.", "Ana prefers short answers."


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


def test_an_edit_changes_what_a_recall_brings_back_and_an_undo_takes_it_back(
    serve: Serve, visit: Visit, seeded_file: Path
) -> None:
    page = visit(serve(seeded_file, "--write").address + HERE)
    assert recalled(seeded_file, "Where does Ana live?") == LISBON
    click_row(page, LISBON)
    panel = page.locator(".st-key-browse-detail")
    expect(panel).to_contain_text(LISBON)
    assert "b_key=" in page.url
    click(panel.get_by_role("button", name="Edit"))
    fill(panel.get_by_role("textbox", name="Text"), "Ana lives in Porto, near the river.")
    fill(panel.get_by_role("textbox", name="Why"), "She moved")
    click(panel.get_by_role("button", name="Save"))
    expect_feedback(page, "Saved.")
    assert recalled(seeded_file, "Where does Ana live?") == "Ana lives in Porto, near the river."
    click(panel.get_by_role("tab", name="History"))
    expect(panel.locator("del")).to_have_text(["Lisbon"])
    expect(panel.locator("ins")).to_have_text(["Porto, near the river"])
    shot(page, "browse-history")
    undo(page)
    assert recalled(seeded_file, "Where does Ana live?") == LISBON


def test_two_clicks_on_save_save_once(serve: Serve, visit: Visit, seeded_file: Path) -> None:
    page = visit(serve(seeded_file, "--write").address + HERE)
    click_row(page, TEA)
    panel = page.locator(".st-key-browse-detail")
    click(panel.get_by_role("button", name="Edit"))
    fill(panel.get_by_role("textbox", name="Text"), "Ana drinks coffee.")
    with acting(page):
        panel.get_by_role("button", name="Save").dblclick()
    expect_feedback(page, "Saved.")
    expect(panel).to_contain_text("Ana drinks coffee.")
    expect(page.get_by_text("Nothing was changed")).to_have_count(0)
    expect(page.get_by_text("Someone changed this memory")).to_have_count(0)
    undo(page)
    expect(panel).to_contain_text(TEA)


def test_what_was_ticked_is_forgotten_whatever_happens_to_the_order_and_comes_back_with_one_undo(
    serve: Serve, visit: Visit, seeded_file: Path
) -> None:
    page = visit(serve(seeded_file, "--write").address + HERE)
    before = texts(seeded_file)
    tick_row(page, TEA)
    expect(page.get_by_role("button", name="Forget 1")).to_be_visible()
    click(page.locator(".st-key-b_sort input"))
    click(page.get_by_role("option", name="A to Z"))
    assert "b_sort=" in page.url
    first = min(before, key=str.casefold)[:20]
    expect(table(page).locator("[data-testid^=glide-cell-][data-testid$='-0']").filter(has_text=first)).to_be_attached()
    tick_row(page, SHORT)
    click(page.get_by_role("button", name="Forget 2"))
    expect(page.get_by_text("Forget 2 memories?")).to_be_visible()
    click(page.locator(".st-key-browse-forget-confirm button"))
    expect_feedback(page, "Forgot 2 memories.")
    expect(page.locator("[data-testid=stPopoverBody]")).to_have_count(0)
    assert texts(seeded_file) == before - {TEA, SHORT}
    undo(page)
    assert texts(seeded_file) == before


def test_a_row_ticked_before_a_filter_is_never_another_one_after_it(
    serve: Serve, visit: Visit, seeded_file: Path
) -> None:
    page = visit(serve(seeded_file, "--write").address + HERE)
    tick_row(page, TEA)
    expect(page.get_by_role("button", name="Forget 1")).to_be_visible()
    with drawing(page):
        page.get_by_placeholder("Search memories").fill("lisbon")
    expect(page.get_by_text("1 of 4 memories")).to_be_visible()
    expect(page.get_by_role("button", name="Forget", exact=True)).to_be_disabled()


def test_a_closed_memory_opens_again_at_the_same_click_and_by_its_address(
    serve: Serve, visit: Visit, seeded_file: Path
) -> None:
    server = serve(seeded_file)
    page = visit(server.address + HERE)
    click_row(page, TEA)
    panel = page.locator(".st-key-browse-detail")
    expect(panel).to_contain_text(TEA)
    address = page.url
    click(panel.get_by_role("button", name="Close"))
    expect(panel).to_have_count(0)
    click_row(page, TEA)
    expect(panel).to_contain_text(TEA)
    again = visit(address)
    expect(again.locator(".st-key-browse-detail")).to_contain_text(TEA)


def test_a_stroll_through_both_pages_writes_nothing(serve: Serve, visit: Visit, seeded_file: Path) -> None:
    before = sqlite_rows(seeded_file)
    server = serve(seeded_file, own=True)
    for dark in (False, True):
        stroll(visit(server.address, dark=dark), "dark" if dark else "light")
    server.stop()
    assert sqlite_rows(seeded_file) == before


def stroll(page: Page, mode: str) -> None:
    expect(page.locator(".js-plotly-plot")).to_have_count(3)
    shot(page, f"overview-{mode}")
    click(page.get_by_test_id("stMain").get_by_role("link", name="Browse all"))
    expect(page.get_by_text("5 memories")).to_be_visible()
    shot(page, f"browse-{mode}")
    click_row(page, "**bold**")
    panel = page.locator(".st-key-browse-detail")
    expect(panel).to_contain_text("<b>html</b> ![x](http://example.invalid/x.png) <U+202E>exe")
    for part in ("Evidence", "History", "Alike", "Recalls", "Raw"):
        click(panel.get_by_role("tab", name=part))
    expect(panel.get_by_role("button", name="Edit")).to_be_disabled()
    shot(page, f"browse-open-{mode}")
    page.close()


def test_overview_leads_to_a_namespace_and_to_a_changed_memory(serve: Serve, visit: Visit, seeded_file: Path) -> None:
    page = visit(serve(seeded_file).address)
    grids = page.get_by_test_id("stDataFrame")
    for grid, text, expected in (
        (grids.nth(1), "peanuts", "b_key="),
        (grids.nth(0), "memories/ana", "/browse?ns=memories&ns=ana"),
    ):
        click_row(page, text, x=60, grid=grid)
        expect(page.get_by_role("heading", level=1)).to_have_text("Browse")
        assert expected in page.url
        go_to(page, "Overview")
