"""From an upload over two columns to two memories with their evidence, and back by undoing the whole run."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from mnemoscope import Change, MemoryEngine, MemoryRecord, RuleConsolidator, RuleExtractor
from mnemoscope.embedding import BundledEmbeddings
from mnemoscope.stores.sqlite import open_sqlite
from playwright.sync_api import Page, expect

from tests.browser.driving import Server, check, click, fill, open_address, shot, upload

Serve = Callable[..., Server]
Visit = Callable[..., Page]
EVE = ("memories", "eve")
TALK = ("I live in Oslo.", "I play the cello.", "I have two cats.", "I work as a nurse.", "I love sailing.")
CORRECTED = "Eve plays the cello in an orchestra"


def read(store: Path) -> tuple[dict[str, MemoryRecord], list[Change]]:
    """The memories by their texts, and all changes, the latest first."""
    opened = open_sqlite(store, embeddings=BundledEmbeddings())
    with closing(opened.conn):
        engine = MemoryEngine(opened, extractor=RuleExtractor(), consolidator=RuleConsolidator())
        return {record.content: record for record in engine.list(EVE)}, engine.history(EVE)


def test_upload_compare_correct_commit_two_of_five_see_the_evidence_and_undo_the_run(
    serve: Serve, visit: Visit, tmp_path: Path
) -> None:
    store, file = tmp_path / "new.sqlite", tmp_path / "talk.json"
    file.write_text(json.dumps([{"role": "user", "content": text} for text in TALK]), encoding="utf-8")
    page = visit(f"{serve(store, '--write').address}/replay?ns=memories&ns=eve")

    offer(page, file)
    compare(page)
    assert read(store) == ({}, [])

    click(page.get_by_role("button", name="Correct and commit this one").first)
    expect(page.locator(".st-key-replay-figures")).to_be_visible()
    correct(page, 1, CORRECTED)
    commit_two_of_five(page)
    records, changes = read(store)
    assert set(records) == {"User lives in Oslo", CORRECTED}
    assert [each.quote for each in records[CORRECTED].evidence] == ["I play the cello."]
    [run] = {change.run for change in changes}
    assert len({change.group for change in changes}) == 1

    open_in_browse(page, records[CORRECTED])
    click(page.get_by_role("link", name="Take back the whole run"))
    expect(page.get_by_role("heading", name="Goes back: 2 memories")).to_be_visible()
    assert f"h_run={run}" in page.url
    shot(page, "replay-undo-run")
    click(page.get_by_role("button", name="Take back 2 memories"))
    expect(page.get_by_text("There is nothing to take back")).to_be_visible()
    records, after = read(store)
    assert records == {}
    assert len({change.group for change in after[:2]}) == 1
    assert {change.undoes for change in after[:2]} == {change.id for change in changes}


def offer(page: Page, file: Path) -> None:
    click(page.get_by_text("A file", exact=True))
    upload(page, file)
    expect(page.get_by_text("1 conversation.")).to_be_visible()


def compare(page: Page) -> None:
    click(page.get_by_text("Two setups", exact=True))
    click(page.get_by_role("button", name="Compare", exact=True))
    expect(page.get_by_text("0 differences in 5 facts")).to_be_visible()
    shot(page, "replay-two-setups")


def correct(page: Page, at: int, text: str) -> None:
    click(page.locator(f".st-key-replay-card-{at}").get_by_role("button", name="Open"))
    expect(page.locator(".st-key-replay-fact")).to_be_visible()
    click(page.get_by_text("Correct this fact"))
    fill(page.get_by_role("textbox", name="Text"), text)
    click(page.get_by_role("button", name="Change the plan"))
    expect(page.locator(".st-key-replay-fact")).to_contain_text(text)
    click(page.get_by_text("All facts", exact=True))


def commit_two_of_five(page: Page) -> None:
    click(page.get_by_role("button", name="Tick none"))
    expect(page.get_by_role("button", name="Commit 0 of 5 facts")).to_be_disabled()
    for number, at in enumerate((0, 1), start=1):
        check(page.locator(f".st-key-replay-card-{at}").get_by_role("checkbox"))
        expect(page.get_by_role("button", name=f"Commit {number} of 5 facts")).to_be_enabled()
    click(page.get_by_role("button", name="Commit 2 of 5 facts"))
    expect(page.get_by_text("This plan was committed: 2 changes")).to_be_visible()


def open_in_browse(page: Page, record: MemoryRecord) -> None:
    click(page.get_by_role("link", name="See it in Browse"))
    expect(page.get_by_role("heading", name="Browse")).to_be_visible()
    expect(page.get_by_text(CORRECTED).or_(page.get_by_text("User lives in Oslo")).first).to_be_attached()
    open_address(page, f"{page.url}&b_key={record.key}&b_in=memories&b_in=eve")
    panel = page.locator(".st-key-browse-detail")
    expect(panel.get_by_text("“I play the cello.”")).to_be_visible()
    expect(panel.get_by_text("User: I play the cello.")).to_be_visible()
    expect(panel.get_by_text("User: I live in Oslo.")).to_be_visible()
    shot(page, "replay-evidence")
