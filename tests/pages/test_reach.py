"""A scope that would not fit into memory is not read unasked; the way to a smaller one stays open."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from mnemoscope import MemoryEngine
from mnemoscope.index import process_budget
from streamlit.testing.v1 import AppTest

from app.shell import reach

Dashboard = Callable[..., AppTest]


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch, seeded_engine: MemoryEngine) -> int:
    """Room for one memory less than there are."""
    total = sum(seeded_engine.counts().values())
    monkeypatch.setattr(reach, "BYTES_A_MEMORY", process_budget().limit_bytes // (total - 1))
    return total


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("page", reach.READING)
def test_too_much_is_not_read_and_a_namespace_still_can_be(
    dashboard: Dashboard, seeded_engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    read: list[object] = []
    index = seeded_engine.index
    monkeypatch.setattr(seeded_engine, "index", lambda *given, **named: read.append(given) or index(*given, **named))
    test = dashboard(seeded_engine, page)
    assert not test.exception
    assert any("are too many to be read at once" in each.value for each in test.markdown)
    assert read == []
    test = dashboard(seeded_engine, page, query={"ns": ["memories", "ana"]})
    assert not test.exception
    assert not [each for each in test.button if each.key == reach.ANYWAY_KEY]


def test_it_is_read_where_the_operator_says_so(dashboard: Dashboard, seeded_engine: MemoryEngine, narrow: int) -> None:
    test = dashboard(seeded_engine, "browse")
    test.button(key=reach.ANYWAY_KEY).click().run()
    assert len(test.dataframe[0].value) == narrow
