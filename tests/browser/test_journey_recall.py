from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from stores_fixture import sqlite_rows

from tests.browser.driving import Server, click, press, shot, write

Serve = Callable[..., Server]
Visit = Callable[..., Page]

HERE = "/recall?ns=memories&ns=ana"
QUERY = "Where does Ana live?"


def rows(page: Page) -> Locator:
    return page.locator("[class*=st-key-recall-row]")


def row_of(page: Page, text: str) -> Locator:
    return rows(page).filter(has_text=text)


def nudge(page: Page, parameter: str, key: str) -> None:
    page.locator(f".st-key-{parameter} input[type=range]").focus()
    press(page, key)


def test_a_missing_memory_is_found_explained_and_brought_in_and_nothing_is_written(
    serve: Serve, visit: Visit, seeded_file: Path
) -> None:
    before = sqlite_rows(seeded_file)
    server = serve(seeded_file, own=True)
    page = visit(server.address + HERE)
    write(page.get_by_placeholder("Ask what the agent would ask"), QUERY)
    expect(row_of(page, "Ana lives in Lisbon.")).to_contain_text("1")
    limit = page.locator(".st-key-r_k input")
    write(limit, "1")
    expect(page.get_by_text("Not returned: 3 memories")).to_be_visible()
    missing = row_of(page, "Ana prefers short answers.")
    click(missing.get_by_role("button", name="Explain"))
    expect(missing.get_by_text("It is not returned: score")).to_be_visible()
    shot(page, "recall-explained")
    click(missing.get_by_role("button", name="Raise the limit from 1 to"))
    expect(missing.get_by_text("It is returned, at place")).to_be_visible()
    click(missing.get_by_role("link", name="Open in Browse"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Browse")
    assert "b_key=" in page.url
    page.close()
    server.stop()
    assert sqlite_rows(seeded_file) == before


def test_a_slider_changes_bars_scores_and_the_url(serve: Serve, visit: Visit, seeded_file: Path) -> None:
    page = visit(f"{serve(seeded_file).address}{HERE}&r_q={QUERY}")
    first = rows(page).first.get_by_role("img")
    old = first.get_attribute("aria-label")
    nudge(page, "r_i", "End")
    expect(first).to_have_attribute("aria-label", re.compile("importance 0.800 × 1 = 0.800"))
    expect(page.get_by_text("The agent uses the stored profile, not this.")).to_be_visible()
    assert "r_i=1" in page.url
    click(page.get_by_role("button", name="Reset"))
    expect(first).to_have_attribute("aria-label", old or "")
    assert "r_i=" not in page.url


@pytest.mark.parametrize("dark", [False, True])
def test_a_link_opens_query_settings_and_the_chosen_memory(
    serve: Serve, visit: Visit, seeded_file: Path, dark: bool
) -> None:
    address = serve(seeded_file).address
    page = visit(f"{address}{HERE}&r_q={QUERY}&r_s=0.9&r_k=2")
    click(rows(page).nth(2).get_by_role("button", name="Explain"))
    expect(page.get_by_text("It is not returned: score")).to_be_visible()
    again = visit(page.url, dark=dark)
    expect(again.get_by_text("It is not returned: score")).to_be_visible()
    expect(again.locator(".st-key-r_s input[type=range]")).to_have_value("0.9")
    shot(again, f"recall-link-{'dark' if dark else 'light'}")


def test_hostile_text_is_shown_as_it_is(serve: Serve, visit: Visit, seeded_file: Path) -> None:
    page = visit(f"{serve(seeded_file).address}{HERE}&r_q=bold")
    expect(
        page.get_by_text("**bold** <b>html</b> ![x](http://example.invalid/x.png) <U+202E>exe").first
    ).to_be_visible()
    assert page.locator("[data-testid=stMain] img").count() == 0


def test_ranking_follows_a_slider_while_it_is_dragged_and_the_page_once_it_is_let_go(
    serve: Serve, visit: Visit, seeded_file: Path
) -> None:
    page = visit(f"{serve(seeded_file).address}{HERE}&r_q=bold&r_drag=true")
    panel = page.locator(".st-key-recall-drag")
    scores, slider = panel.locator("li .score"), panel.get_by_label("Recency")
    expect(scores.first).to_be_visible()
    expect(panel.get_by_text("**bold** <b>html</b> ![x](http://example.invalid/x.png) <U+202E>exe")).to_be_visible()
    plain = page.locator(".st-key-r_r input[type=range]")
    box = slider.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    seen = set()
    page.mouse.move(box["x"] + 0.3 * box["width"], middle)
    page.mouse.down()
    for step in range(8):
        page.mouse.move(box["x"] + (0.4 + 0.05 * step) * box["width"], middle)
        seen.add(scores.first.inner_text())
    shot(page, "recall-dragged")
    assert len(seen) > 4
    expect(plain).to_be_hidden()
    expect(page.get_by_role("slider", name="Recency")).to_have_count(1)
    expect(plain).to_have_value("0.3")
    assert "r_r=" not in page.url
    page.mouse.up()
    expect(plain).not_to_have_value("0.3")
    assert "r_r=" in page.url
    expect(panel.locator("label", has_text="Recency").locator("output")).to_have_text(str(float(plain.input_value())))
    slider.focus()
    press(page, "Home")
    expect(plain).to_have_value("0")
    expect(rows(page).first.get_by_role("img")).to_have_attribute("aria-label", re.compile("× 0 = 0.000"))
