"""The jobs of the background on the Health page: seen as they are, and tried again by who may write."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine_fixture import swap
from mnemoscope import MemoryEngine, ModelError
from mnemoscope.background import read_jobs
from mnemoscope.connections import load_connections
from streamlit.testing.v1 import AppTest

from app.views.health import jobs

Dashboard = Callable[..., AppTest]


@pytest.fixture
def queue(seeded_engine: MemoryEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A queue with one job done, one failed and one waiting, named by the only connection."""
    path = tmp_path / "queue.sqlite"

    def fails(text: str) -> list[Any]:
        if "broken" in text:
            raise ModelError("no answer to **broken** <b>text</b>", failure="provider_error")
        return []

    swap(seeded_engine, extractor=fails)
    with seeded_engine.background(path, workers=0, debounce=0, attempts=1) as background:
        background.submit("fine", "memories/ana", "t1")
        background.submit("broken", "memories/ben", "t2")
        background.drain(20)
        background.submit("later", "memories/ben", "t3", after_seconds=3600)
        background.close(0)
    config = tmp_path / "mnemoscope.toml"
    config.write_text('[connections.agents]\nurl = "sqlite:///m.sqlite"\nqueue = "queue.sqlite"\n')
    monkeypatch.setenv("MNEMOSCOPE_CONFIG", str(config))
    monkeypatch.delenv("MNEMOSCOPE_STORE", raising=False)
    return path


def figures(test: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in test.metric}


def test_the_jobs_are_counted_and_listed_with_what_went_wrong(
    dashboard: Dashboard, seeded_engine: MemoryEngine, queue: Path
) -> None:
    states = {job.thread: job.state for job in read_jobs(queue)}
    assert states == {"t1": "done", "t2": "failed", "t3": "waiting"}
    test = dashboard(seeded_engine, "health")
    assert not test.exception
    shown = figures(test)
    assert [shown[name] for name in ("Waiting", "Running", "Failed", "Done")] == ["1", "0", "1", "1"]
    table = next(each.value for each in test.dataframe if "Attempts" in each.value)
    assert list(table["Thread"]) == ["t3", "t2", "t1"]
    assert re.fullmatch(r"ModelError: no answer to \*\*broken.*", table["What came of it"][1])


def test_what_has_failed_is_tried_again_by_who_may_write_alone(
    dashboard: Dashboard, seeded_engine: MemoryEngine, queue: Path
) -> None:
    test = dashboard(seeded_engine, "health")
    test.button(key=jobs.RETRY_KEY).click().run()
    assert [job.state for job in read_jobs(queue, state="failed")] == ["failed"]
    assert any("Writing is off" in code.value for code in test.code)
    test = dashboard(seeded_engine, "health", writing=True)
    test.button(key=jobs.RETRY_KEY).click().run()
    assert read_jobs(queue, state="failed") == []
    assert figures(test)["Waiting"] == "2"


def test_a_queue_that_is_not_there_is_said_and_the_page_goes_on(
    dashboard: Dashboard, seeded_engine: MemoryEngine, queue: Path
) -> None:
    for file in queue.parent.glob("queue.sqlite*"):
        file.unlink()
    test = dashboard(seeded_engine, "health")
    assert not test.exception
    assert any("queue.sqlite cannot be used" in each.value for each in (*test.code, *test.text, *test.markdown))
    assert "Memories" in figures(test)
    assert not queue.exists()


def test_without_a_queue_nothing_is_said_of_jobs(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    test = dashboard(seeded_engine, "health")
    assert "Background jobs" not in [each.value for each in test.subheader]


def test_the_queue_is_found_beside_the_file_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "mnemoscope.toml").write_text('[connections.a]\nurl = "memory:"\nqueue = "jobs/queue.sqlite"\n')
    connection = load_connections(tmp_path / "mnemoscope.toml").named("a")
    assert connection.queue_file() == tmp_path / "jobs" / "queue.sqlite"
