"""Pages that are open while an agent works in another process: what it does appears without a reload."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from mnemoscope import ExtractedFact, MemoryEngine, RuleConsolidator, RuleExtractor
from mnemoscope.embedding import BundledEmbeddings
from mnemoscope.stores.sqlite import open_sqlite
from playwright.sync_api import Page, expect
from stores_fixture import sqlite_rows

from tests.browser.driving import Server, click, click_row, fill, shot, table, tick_row
from tests.browser.test_journey_browse import LISBON, SHORT, TEA

Serve = Callable[..., Server]
Visit = Callable[..., Page]

PORTO, SAYS = "User lives in Porto", "I live in Porto."
QUERY = "c=agents&ns=memories&ns=ana"
AGENT = Path(__file__).resolve().parent / "live_agent.py"


class Agent:
    """The agent in its own process."""

    def __init__(self, store: Path, queue: Path) -> None:
        command = [sys.executable, str(AGENT), str(store), str(queue)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def does(self, command: str) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def remembers(self, text: str) -> None:
        self.does(f"say {text}")
        self.does("work")

    def close(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()
        self.process.wait(timeout=20)


@pytest.fixture
def agent(seeded_file: Path, tmp_path: Path) -> Iterator[Agent]:
    configuration = f'[connections.agents]\nurl = "sqlite:///{seeded_file}"\nqueue = "queue.sqlite"\n'
    (tmp_path / "agents.toml").write_text(configuration)
    with closing(Agent(seeded_file, tmp_path / "queue.sqlite")) as started:
        yield started


@pytest.fixture
def address(serve: Serve, seeded_file: Path, tmp_path: Path, agent: Agent) -> str:
    agent.does("work")
    return serve(seeded_file, "--config", str(tmp_path / "agents.toml"), "--connection", "agents", "--write").address


def row(page: Page, text: str) -> None:
    expect(table(page).locator("[data-testid^=glide-cell-]").filter(has_text=text).first).to_be_attached()


def test_a_memory_and_its_recalls_appear_in_browse_while_what_is_ticked_stays(
    address: str, visit: Visit, agent: Agent
) -> None:
    page = visit(f"{address}/browse?{QUERY}")
    page.evaluate("window.sameDocument = true")
    tick_row(page, TEA)
    agent.remembers(SAYS)
    row(page, PORTO)
    expect(page.get_by_role("button", name="Forget 1")).to_be_visible()
    click_row(page, SHORT)
    panel = page.locator(".st-key-browse-detail")
    expect(panel).to_contain_text("never")
    agent.does("say Why are short answers preferred?")
    expect(panel).to_contain_text("1 time, last")
    assert page.evaluate("window.sameDocument")


def test_an_open_edit_is_not_lost_and_the_page_catches_up_afterwards(address: str, visit: Visit, agent: Agent) -> None:
    page = visit(f"{address}/browse?{QUERY}")
    click_row(page, LISBON)
    panel = page.locator(".st-key-browse-detail")
    click(panel.get_by_role("button", name="Edit"))
    text = panel.get_by_role("textbox", name="Text")
    fill(text, "Ana lives in Braga")
    expect(page.get_by_title("Paused because you are editing.")).to_have_text("Paused: editing")
    agent.remembers(SAYS)
    page.wait_for_timeout(6_000)
    expect(text).to_have_value("Ana lives in Braga")
    expect(page.get_by_text("5 memories")).to_be_hidden()
    shot(page, "live-paused")
    click(panel.get_by_role("button", name="Save"))
    expect(panel).to_contain_text("Ana lives in Braga")
    row(page, PORTO)


def test_jobs_and_changes_appear_on_health_history_and_overview(address: str, visit: Visit, agent: Agent) -> None:
    health, history, overview = (visit(f"{address}/{path}?{QUERY}") for path in ("health", "history", ""))
    agent.does(f"say {SAYS}")
    figures = health.locator(".st-key-health-jobs")
    expect(figures).to_contain_text("Waiting\n\n1", use_inner_text=True)
    agent.does("work")
    expect(figures).to_contain_text("Done\n\n1", use_inner_text=True)
    agent.remembers("broken")
    expect(figures).to_contain_text("Failed\n\n1", use_inner_text=True)
    expect(health.get_by_role("button", name="Retry what has failed")).to_be_visible()
    expect(health.locator(".st-key-health-figures")).to_contain_text("Recalled so far\n\n2", use_inner_text=True)
    shot(health, "live-health")
    row(history, PORTO)
    expect(overview.get_by_test_id("stDataFrame").nth(1).get_by_text(PORTO).first).to_be_attached()


def test_live_is_switched_off_and_on_and_a_page_that_follows_writes_nothing(
    address: str, visit: Visit, agent: Agent, seeded_file: Path
) -> None:
    page = visit(f"{address}/browse?{QUERY}")
    click(page.get_by_role("button", name="Live", exact=True))
    expect(page.get_by_role("button", name="Live is off")).to_be_visible()
    agent.remembers(SAYS)
    before = sqlite_rows(seeded_file)
    page.wait_for_timeout(6_000)
    expect(page.get_by_text("4 memories").first).to_be_visible()
    click(page.get_by_role("button", name="Live is off"))
    row(page, PORTO)
    page.wait_for_timeout(6_000)
    assert sqlite_rows(seeded_file) == before


def test_a_table_that_was_scrolled_stays_where_it_was(
    address: str, visit: Visit, agent: Agent, seeded_file: Path
) -> None:
    add_notes(seeded_file, 60)
    page = visit(f"{address}/browse?{QUERY}", height=700)
    scroller = table(page).locator(".dvn-scroller")
    scroller.evaluate("grid => { grid.scrollTop = 500 }")
    page.get_by_test_id("stMain").evaluate("main => { main.scrollTop = 120 }")
    page.wait_for_timeout(1_000)
    agent.remembers(SAYS)
    expect(page.get_by_text("65 memories").first).to_be_visible()
    deadline = time.monotonic() + 20
    while scroller.evaluate("grid => grid.scrollTop") != 500 and time.monotonic() < deadline:
        page.wait_for_timeout(200)
    assert scroller.evaluate("grid => grid.scrollTop") == 500
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollTop") == 120


def add_notes(path: Path, count: int) -> None:
    store = open_sqlite(str(path), embeddings=BundledEmbeddings())
    engine = MemoryEngine(store, extractor=RuleExtractor(), consolidator=RuleConsolidator())
    facts = [ExtractedFact(content=f"Ana keeps note {number}.") for number in range(count)]
    engine.remember_facts(facts, ("memories", "ana"))
    engine.close()
    store.conn.close()
