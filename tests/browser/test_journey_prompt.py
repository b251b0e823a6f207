"""From a wording that is measured better, over putting it to use, to a memory that leads back to it."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mnemoscope.connections import connection_to, open_connection
from mnemoscope.models import PromptBook, prompt_version
from openai_server import OpenAIServer, says
from playwright.sync_api import Page, expect

from tests.browser.driving import Server, click, open_address, shot, upload, write

Serve = Callable[..., Server]
Visit = Callable[..., Page]
EVE = ("memories", "eve")
OWN = "Write down what pets people have."
CAT = {"content": "Eve has a cat", "quote": "I have a cat", "message_ids": ["m1"]}
BOAT = {"content": "Eve owns a boat", "quote": "my boat", "message_ids": ["m1"]}
TALK = {
    "id": "cat", "title": "cat", "description": "", "namespace": list(EVE), "not_expected": [],
    "messages": [{"id": "m1", "role": "user", "text": "I have a cat.", "name": None, "said_at": None}],
    "expected": [{"content": "Eve has a cat", "action": "insert", "replaces": None}],
}  # fmt: skip


def answers(handler: Any, body: dict[str, Any]) -> None:
    """A model that finds the cat where it is told to look for pets, and otherwise invents a boat."""
    says({"facts": [CAT if body["messages"][0]["content"] == OWN else BOAT]})(handler, body)


def test_a_wording_is_measured_kept_used_and_found_again_from_a_memory(
    serve: Serve, visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, talk = tmp_path / "cat.json", tmp_path / "talk.json"
    file.write_text(json.dumps(TALK), encoding="utf-8")
    talk.write_text(json.dumps([{"id": "m1", "role": "user", "content": "I have a cat."}]), encoding="utf-8")
    with closing(OpenAIServer([answers] * 9)) as model:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", model.url)
        store = tmp_path / "new.sqlite"
        address = serve(store, "--write", "--model", "openai:test-model").address
        page = visit(f"{address}/replay?p_mode=prompt")
        measure(page, file)
        keep_and_use(page)
        assert used_in(store) == OWN
        commit(page, f"{address}/replay?ns=memories&ns=eve&p_from=upload", talk)
        open_address(page, f"{address}/browse?ns=memories&ns=eve&b_key={key_in(store)}&b_in=memories&b_in=eve")
        click(page.get_by_role("link", name="The prompt it followed to extract"))
        expect(page.locator("textarea").first).to_have_value(OWN)
        assert f"p_prompt={prompt_version(OWN)}" in page.url


def measure(page: Page, file: Path) -> None:
    area = page.locator("textarea").first
    write(area, OWN, "Control+Enter")
    expect(page.get_by_text("This wording is not kept yet.")).to_be_visible()
    upload(page, file)
    expect(page.get_by_text("On 1 file")).to_be_visible()
    click(page.get_by_role("button", name="Measure this wording"))
    expect(page.get_by_text("Of 1 conversation: 1 better")).to_be_visible()
    shot(page, "replay-prompt")


def keep_and_use(page: Page) -> None:
    click(page.get_by_role("button", name="Keep as a version"))
    expect(page.get_by_text("This wording is kept, and not in use.")).to_be_visible()
    click(page.get_by_role("button", name="Put to use"))
    expect(page.get_by_text("This wording is kept, and in use.")).to_be_visible()


def commit(page: Page, address: str, talk: Path) -> None:
    open_address(page, address)
    upload(page, talk)
    expect(page.get_by_text("1 conversation.")).to_be_visible()
    click(page.get_by_role("button", name="Plan", exact=True))
    expect(page.locator(".st-key-replay-figures")).to_be_visible()
    click(page.get_by_role("button", name="Commit", exact=True))
    expect(page.get_by_text("This plan was committed: 1 change")).to_be_visible()


def used_in(store: Path) -> str:
    engine = open_connection(connection_to(str(store)))
    with closing(engine):
        return PromptBook(engine.adapter).in_use().text


def key_in(store: Path) -> str:
    engine = open_connection(connection_to(str(store)))
    with closing(engine):
        [record] = engine.list(EVE)
        assert record.content == "Eve has a cat"
        return record.key
