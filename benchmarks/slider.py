"""How soon a moved slider shows on the Recall page: in Python, and in a real browser, over 10,000 memories.

    pip install -e '.[app,test]'
    python benchmarks/slider.py [--memories 10000] [--chromium /usr/bin/chromium]

The browser is told to press a key on the slider; the clock runs in the page from that key to the moment when the
score of the first result is another one. Nothing but the ranking is asked of the engine meanwhile. The last row is one
step of the sliders that rank while they are dragged, over the 500 most promising, measured in the page's own script.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
from made_up import NAMESPACE, made
from mnemoscope import MemoryEngine
from mnemoscope.connections import connection_to, open_connection
from mnemoscope.embedding import HashingEmbeddings
from mnemoscope.stores import Write
from playwright.sync_api import Page, sync_playwright

from tests.browser.driving import settle, start_server, watch

MOVES = 15
_WATCH = """
() => {
  const first = () => document.querySelector('[class*="st-key-recall-row"]')?.innerText;
  window.moved = null;
  let before = null, started = null;
  document.addEventListener('keydown', () => {
    before = first();
    started = performance.now();
    window.moved = null;
  }, true);
  new MutationObserver(() => {
    if (started !== null && first() !== undefined && first() !== before) {
      window.moved = performance.now() - started;
      started = null;
    }
  }).observe(document.body, {subtree: true, childList: true, characterData: true, attributes: true});
}
"""


def filled(path: Path, count: int) -> None:
    data, embedder = made(count, 2), HashingEmbeddings()
    engine = open_connection(connection_to(str(path), embedder="hashing"))
    texts = [record.content for record in data.records]
    vectors = np.array(embedder.embed_documents(texts), np.float32)
    writes = [
        Write(NAMESPACE, record.key, replace(record, private=False).to_value(), {"content": vector})
        for record, vector in zip(data.records, vectors, strict=True)
    ]
    engine.adapter.write(writes)
    engine.close()


def in_python(engine: MemoryEngine) -> list[float]:
    config = replace(engine.config, lexical_weight=0.4)
    fetched = engine.recall("memory w001 w002", NAMESPACE, limit=50, config=config, touch=False)
    times = []
    for move in range(MOVES):
        started = time.perf_counter()
        fetched.rerank(replace(config, recency_weight=0.3 + 0.01 * move), limit=10)
        times.append(time.perf_counter() - started)
    return times


def in_browser(page: Page) -> list[float]:
    slider = page.locator(".st-key-r_s input[type=range]")
    slider.wait_for()
    page.evaluate(_WATCH)
    times = []
    for _ in range(MOVES):
        slider.focus()
        page.keyboard.press("ArrowRight")
        while (moved := page.evaluate("window.moved")) is None:
            page.wait_for_timeout(20)
        times.append(moved / 1000)
        settle(page)
    return times


_STEP = """
(slider, step) => {
  slider.value = step;
  const started = performance.now();
  slider.dispatchEvent(new Event('input'));
  return performance.now() - started;
}
"""


def while_dragged(page: Page) -> list[float]:
    slider = page.locator(".st-key-recall-drag input[type=range]").first
    slider.wait_for()
    return [slider.evaluate(_STEP, step) / 1000 for step in range(20, 20 + MOVES)]


def shown(name: str, times: list[float]) -> str:
    worst = sorted(times)[-1]
    return f"| {name} | {1000 * statistics.median(times):.1f} ms | {1000 * worst:.1f} ms |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Latency of a slider of the Recall page.")
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "slider.sqlite"
        filled(path, arguments.memories)
        engine = open_connection(connection_to(str(path), embedder="hashing"))
        python = in_python(engine)
        engine.close()
        server = start_server("--store", str(path), "--embedder", "hashing", folder=Path(folder))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=arguments.chromium, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1360, "height": 850})
            watch(page)
            page.goto(f"{server.address}/recall?ns=memories&ns=ana&r_q=memory+w001+w002")
            settle(page)
            chromium = in_browser(page)
            page.goto(f"{server.address}/recall?ns=memories&ns=ana&r_q=memory+w001+w002&r_drag=true")
            settle(page)
            dragged = while_dragged(page)
            browser.close()
        server.stop()
    print(f"| a move of a slider, {arguments.memories:,} candidates | median | worst of {MOVES} |\n| --- | --- | --- |")
    print(shown("ranking, in Python", python))
    print(shown("key to new scores, in Chromium", chromium))
    print(shown("a step while dragging, in Chromium", dragged))


if __name__ == "__main__":
    main()
