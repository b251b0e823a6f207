"""From a memory that is missing to a profile that is proven better, and back to what it costs elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from mnemoscope import MemoryConfig, MemoryEngine, MemoryRecord
from mnemoscope.connections import connection_to, open_connection
from mnemoscope.recall import CaseBook, ProfileBook, case
from mnemoscope.stores import Write
from playwright.sync_api import Page, expect

from tests.browser.driving import Server, click, shot, write

ANA = ("memories", "ana")
OLD = (
    "Ana keeps the spare key under the blue flower pot",
    "Ana takes her coffee with oat milk",
    "Ana's sister Rita teaches physics in Porto",
    "Ana is afraid of flying and prefers trains",
    "Ana's cat is called Miso and eats only fish",
    "Ana collects stamps from Japan",
    "Ana runs ten kilometres every Sunday",
    "Ana's favourite book is a novel about lighthouses",
    "Ana broke her left arm when skiing",
    "Ana learned the cello as a child",
)
QUESTIONS = (
    "where is her key hidden",
    "what should I order for her at the bar",
    "who in the family works at a school",
    "how should she travel to London",
    "which pet food should I buy",
    "what is a good gift from Tokyo",
    "what does she do for her fitness",
    "what did she read",
    "which injury did she have",
    "does she play an instrument",
)
NEW = tuple(f"Ana asked about the weather of day {number}" for number in range(12))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Old memories that answer questions among new small talk, and cases for all but the first."""
    path = tmp_path / "tune.sqlite"
    engine = opened(path)
    now = datetime.now(UTC)
    assert engine.adapter.embeddings is not None
    texts = [*OLD, *NEW]
    vectors = engine.adapter.embeddings.embed_documents(texts)
    writes = []
    for at, (text, vector) in enumerate(zip(texts, vectors, strict=True)):
        record = MemoryRecord(f"m{at}", ANA, text, created_at=now - timedelta(days=300 if text in OLD else 0.1))
        writes.append(Write(ANA, record.key, record.to_value(), {"content": vector}))
    engine.adapter.write(writes)
    engine.tuning.save_cases([case(text, ANA, expected=[f"m{at}"]) for at, text in enumerate(QUESTIONS) if at])
    engine.close()
    return path


def opened(path: Path) -> MemoryEngine:
    return open_connection(connection_to(str(path)))


def test_a_missing_memory_is_brought_in_kept_as_a_case_and_measured(
    serve: Callable[..., Server], visit: Callable[..., Page], store: Path
) -> None:
    server = serve(store, "--write")
    asked = f"r_q={QUESTIONS[0].replace(' ', '+')}&r_k=3&r_m=m0&r_mn=memories&r_mn=ana"
    page = visit(f"{server.address}/recall?ns=memories&ns=ana&{asked}")
    expect(page.get_by_text("It is not returned", exact=False).first).to_be_visible()
    shot(page, "tune-0-missing")
    page.get_by_role(
        "button", name=re.compile("Lower the weight of recency|Raise the weight of similarity")
    ).first.click()
    expect(page.get_by_text("It is returned, at place", exact=False).first).to_be_visible()
    shot(page, "tune-1-recall")

    click(page.get_by_role("button", name="Save profile"))
    write(page.get_by_label("Name of the profile"), "keys")
    shot(page, "tune-2-save-profile")
    click(page.locator(".st-key-recall-tune-profile-save button"))
    expect(page.get_by_text("Saved the profile.").first).to_be_visible()
    click(page.get_by_role("button", name="Save as case"))
    shot(page, "tune-3-save-case")
    click(page.locator(".st-key-recall-case-save button"))
    expect(page.get_by_text("Saved the case.", exact=False).first).to_be_visible()

    engine = opened(store)
    profile = ProfileBook(engine.adapter).all()["keys"]
    kept = [each for each in CaseBook(engine.adapter).all(ANA) if each.query == QUESTIONS[0]]
    engine.close()
    assert profile.config != MemoryConfig()
    assert [each.expected for each in kept] == [("m0",)]

    page = visit(f"{server.address}/tune?ns=memories&ns=ana&t_part=Compare")
    expect(page.get_by_text("Gains:", exact=False)).to_be_visible()
    shot(page, "tune-4-compare")
    page = visit(f"{server.address}/tune?ns=memories&ns=ana&t_part=Search", height=1500)
    click(page.get_by_role("button", name="Search", exact=True))
    expect(page.get_by_text("The plateau")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("Better: +", exact=False)).to_be_visible()
    shot(page, "tune-5-search")
    assert [line for line in server.lines if "default value" in line] == []
    shot(visit(f"{server.address}/tune?ns=memories&ns=ana&t_part=Compare", dark=True), "tune-4-compare-dark")


def test_cases_and_pairs_are_shown_and_labelled(
    serve: Callable[..., Server], visit: Callable[..., Page], store: Path
) -> None:
    server = serve(store, "--write")
    page = visit(f"{server.address}/tune?ns=memories&ns=ana")
    expect(page.get_by_text("9 cases")).to_be_visible()
    shot(page, "tune-6-cases")
    page = visit(f"{server.address}/tune?ns=memories&ns=ana&t_part=Threshold")
    expect(page.get_by_text("Label some pairs", exact=False)).to_be_visible()
    click(page.get_by_role("button", name="Different"))
    expect(page.get_by_text(re.compile(r"^1 of \d+ pairs labelled"))).to_be_visible()
    click(page.get_by_role("button", name="One corrects the other"))
    expect(page.get_by_text("is the greatest threshold", exact=False)).to_be_visible()
    shot(page, "tune-7-threshold")
    shot(visit(f"{server.address}/tune?ns=memories&ns=ana&t_part=Threshold", dark=True), "tune-7-threshold-dark")
