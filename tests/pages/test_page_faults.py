"""Data that no page may fall over: clocks that were wrong, one enormous text, a file that is overwritten meanwhile."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from mnemoscope import MemoryEngine
from mnemoscope.connections import connection_to, open_connection
from mnemoscope.stores import Write
from streamlit.testing.v1 import AppTest

Dashboard = Callable[..., AppTest]
ANA = ("memories", "ana")
HERE = {"ns": ["memories", "ana"]}
PAGES = ("overview", "browse", "recall", "curate", "history", "health")


def shown(test: AppTest) -> str:
    elements = (*test.text, *test.markdown, *test.caption, *test.code, *test.error, *test.subheader)
    return "\n".join(str(element.value) for element in elements)


@pytest.mark.parametrize("page", PAGES)
def test_memories_of_the_future_break_no_page(dashboard: Dashboard, seeded_engine: MemoryEngine, page: str) -> None:
    ahead = (datetime.now(UTC) + timedelta(days=400)).isoformat()
    value = {"kind": "memory", "content": "Ana will move.", "created_at": ahead, "updated_at": ahead}
    seeded_engine.adapter.write([Write(ANA, "ahead", value)])
    test = dashboard(seeded_engine, page)
    assert not test.exception
    if page == "health":
        assert "1 memory: memories/ana · ahead" in shown(test)
        assert "A clock was wrong where they were written" in shown(test)


@pytest.mark.parametrize("page", PAGES)
def test_ten_megabytes_of_text_break_no_page(dashboard: Dashboard, seeded_engine: MemoryEngine, page: str) -> None:
    seeded_engine.store.put(ANA, "large", {"kind": "memory", "content": "word " * 2_000_000}, index=False)
    test = dashboard(seeded_engine, page, query={**HERE, "b_key": "large"})
    assert not test.exception
    assert not test.error
    assert all(len(str(element.value)) < 1_000_000 for element in (*test.text, *test.markdown, *test.code))


def test_a_page_shows_what_an_overwritten_file_holds(
    dashboard: Dashboard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("one", "Ana lives in Lisbon."), ("other", "Ana lives in Porto.")):
        engine = open_connection(connection_to(str(tmp_path / f"{name}.sqlite"), embedder="hashing"))
        engine.remember(text, ANA, extract=False)
        engine.close()
    monkeypatch.setenv("MNEMOSCOPE_STORE", str(tmp_path / "one.sqlite"))
    monkeypatch.setenv("MNEMOSCOPE_EMBEDDER", "hashing")
    test = dashboard(None, "browse", query=HERE)
    assert "Lisbon" in str(test.dataframe[0].value.to_dict())
    shutil.copyfile(tmp_path / "other.sqlite", tmp_path / "one.sqlite")
    test.run()
    assert not test.exception
    assert "Porto" in str(test.dataframe[0].value.to_dict())
