from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from mnemoscope import MemoryEngine, RuleConsolidator, RuleExtractor
from mnemoscope.embedding import BundledEmbeddings
from mnemoscope.stores.sqlite_file import open_sqlite
from playwright.sync_api import Page, expect

from tests.browser.driving import Server, settle, shot

Serve = Callable[..., Server]
Visit = Callable[..., Page]
EVE = ("memories", "eve")
TALK = ("I live in Oslo.", "I play the cello.", "I have two cats.", "I work as a nurse.", "I love sailing.")


def records(store: Path) -> dict[str, str]:
    """The keys of the memories by their texts."""
    opened = open_sqlite(store, embeddings=BundledEmbeddings())
    with closing(opened.conn):
        engine = MemoryEngine(opened, extractor=RuleExtractor(), consolidator=RuleConsolidator())
        return {record.content: record.key for record in engine.list(EVE)}


def stored(store: Path) -> set[str]:
    return set(records(store))


def key_of(store: Path, text: str) -> str:
    return records(store)[text]


def test_from_an_upload_over_two_columns_and_a_correction_to_the_evidence_and_back(
    serve: Serve, visit: Visit, tmp_path: Path
) -> None:
    store, file = tmp_path / "new.sqlite", tmp_path / "talk.json"
    file.write_text(json.dumps([{"role": "user", "content": text} for text in TALK]), encoding="utf-8")
    address = serve(store, "--write").address
    page = visit(f"{address}/replay?ns=memories&ns=eve")
    page.get_by_text("A file", exact=True).click()
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_text("1 conversation.")).to_be_visible()
    settle(page)

    page.get_by_text("Two setups", exact=True).click()
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_text("0 differences in 5 facts")).to_be_visible(timeout=30_000)
    settle(page)
    shot(page, "replay-two-setups")
    assert stored(store) == set()

    page.get_by_text("One plan", exact=True).click()
    page.get_by_role("button", name="Plan", exact=True).click()
    expect(page.locator(".st-key-replay-figures")).to_be_visible()
    settle(page)
    page.get_by_role("button", name="Tick none").click()
    expect(page.get_by_role("button", name="Commit 0 of 5 facts")).to_be_disabled()
    for number, at in enumerate((0, 1), start=1):
        page.locator(f".st-key-replay-card-{at}").get_by_role("checkbox").check(force=True)
        expect(page.get_by_role("button", name=f"Commit {number} of 5 facts")).to_be_enabled()
    page.locator(".st-key-replay-card-1").get_by_role("button", name="Open").click()
    expect(page.locator(".st-key-replay-fact")).to_be_visible()
    settle(page)
    page.get_by_text("Correct this fact").click()
    settle(page)
    page.get_by_role("textbox", name="Text").fill("Eve plays the cello in an orchestra")
    page.get_by_role("button", name="Change the plan").click()
    expect(page.locator(".st-key-replay-fact")).to_contain_text("in an orchestra")
    settle(page)
    page.get_by_role("button", name="Commit 2 of 5 facts").click()
    expect(page.get_by_text("This plan was committed: 2 changes")).to_be_visible()
    assert stored(store) == {"User lives in Oslo", "Eve plays the cello in an orchestra"}

    page.get_by_role("link", name="See it in Browse").click()
    expect(page.get_by_role("heading", name="Browse")).to_be_visible()
    settle(page)
    key = key_of(store, "Eve plays the cello in an orchestra")
    page.goto(f"{address}/browse?ns=memories&ns=eve&b_key={key}&b_in=memories&b_in=eve")
    panel = page.locator(".st-key-browse-detail")
    expect(panel.get_by_text("User: I play the cello.")).to_be_visible()
    expect(panel.get_by_text("User: I live in Oslo.")).to_be_visible()
    shot(page, "replay-evidence")
    panel.get_by_role("tab", name="History").click()
    panel.get_by_role("button", name="Undo").first.click()
    expect(page.get_by_text("Undone.").first).to_be_visible()
    assert stored(store) <= {"User lives in Oslo"}
