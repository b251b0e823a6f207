from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from mnemoscope import MemoryEngine, MemoryRecord, RuleConsolidator, RuleExtractor
from mnemoscope.embedding import BundledEmbeddings
from mnemoscope.stores.sqlite import open_sqlite
from playwright.sync_api import Page, expect

from tests.browser.driving import Server, check, click, press, shot, upload

Serve = Callable[..., Server]
Visit = Callable[..., Page]
EVE = ("memories", "eve")


@contextmanager
def reopened(store: Path) -> Iterator[MemoryEngine]:
    """An engine of this process over the file that the server writes."""
    opened = open_sqlite(store, embeddings=BundledEmbeddings())
    engine = MemoryEngine(opened, extractor=RuleExtractor(), consolidator=RuleConsolidator())
    with closing(opened.conn):
        yield engine
        engine.close()


def remembered(store: Path) -> list[MemoryRecord]:
    with reopened(store) as engine:
        return sorted(engine.list(EVE), key=lambda record: record.content)


def plan(page: Page) -> None:
    click(page.get_by_role("button", name="Plan", exact=True))
    expect(page.locator(".st-key-replay-figures")).to_be_visible()


def test_two_facts_of_a_replay_are_committed_and_undone(serve: Serve, visit: Visit, tmp_path: Path) -> None:
    store = tmp_path / "new.sqlite"
    page = visit(f"{serve(store, '--write').address}/replay?p_sample=ana-moves-to-lyon&ns=memories&ns=eve")
    plan(page)
    assert remembered(store) == []
    shot(page, "replay-planned")
    click(page.get_by_role("button", name="Tick none"))
    expect(page.get_by_role("button", name="Commit 0 of 8 facts")).to_be_disabled()
    for number, at in enumerate((1, 3), start=1):
        check(page.locator(f".st-key-replay-card-{at}").get_by_role("checkbox"))
        expect(page.get_by_role("button", name=f"Commit {number} of 8 facts")).to_be_enabled()
    click(page.get_by_role("button", name="Commit 2 of 8 facts"))
    expect(page.get_by_text("This plan was committed: 2 changes")).to_be_visible()
    first, second = remembered(store)
    assert [first.content, second.content] == ["User enjoys museums now", "User left Farfetch for Ubisoft"]
    assert [each.quote for each in second.evidence] == ["I also left Farfetch for Ubisoft"]
    assert [each.message_ids for each in second.evidence] == [["ana-moves-to-lyon:3"]]
    click(page.get_by_role("button", name="Undo"))
    expect(page.get_by_text("was committed and then undone: 2 changes")).to_be_visible()
    assert remembered(store) == []


def test_a_quote_in_the_transcript_opens_its_fact(serve: Serve, visit: Visit, tmp_path: Path) -> None:
    page = visit(f"{serve(tmp_path / 'new.sqlite', '--write').address}/replay?p_sample=ana-moves-to-lyon")
    plan(page)
    press(page.locator("mark", has_text="I enjoy museums now"), "Enter")
    expect(page.locator(".st-key-replay-fact")).to_contain_text("User enjoys museums now")
    expect(page.locator("mark[aria-current=true]")).to_have_text("Actually, I enjoy museums now.")
    expect(page).to_have_url(re.compile("p_view=one&p_fact=4$"))
    click(page.get_by_role("button", name="Next"))
    expect(page.locator("mark[aria-current=true]")).to_have_text("Correction: I'm no longer vegetarian.")


def test_an_uploaded_conversation_is_shown_as_text_and_committed(serve: Serve, visit: Visit, tmp_path: Path) -> None:
    store, file = tmp_path / "new.sqlite", tmp_path / "talk.jsonl"
    hostile = "I live in <img src=x onerror=alert(1)> Oslo."
    turns = [{"role": "user", "content": hostile}, {"role": "assistant", "content": "**Noted.**"}]
    file.write_text("\n".join([json.dumps({"messages": turns}), "{broken"]), encoding="utf-8")
    page = visit(f"{serve(store, '--write').address}/replay?ns=memories&ns=eve")
    click(page.get_by_text("A file", exact=True))
    upload(page, file)
    expect(page.get_by_text("1 part of the file could not be read")).to_be_visible()
    plan(page)
    expect(page.locator(".turn .said").first).to_have_text(hostile)
    assert page.locator(".turn img").count() == 0
    shot(page, "replay-upload")
    click(page.get_by_role("button", name="Commit", exact=True))
    expect(page.get_by_text("This plan was committed: 1 change")).to_be_visible()
    (record,) = remembered(store)
    assert record.content.startswith("User lives in <img src=x onerror=alert(1)>")
    assert [each.source for each in record.evidence] == ["talk.jsonl/conversation-1"]
    click(page.get_by_role("link", name="See it in Browse"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Browse")
    expect(page.locator(".st-key-scope-namespace")).to_be_visible()
    assert "ns=memories&ns=eve" in page.url
