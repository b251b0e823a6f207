"""What a stranger wrote into this library's own books is passed over and logged, and breaks nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine_fixture import ANA, KINDS, contents, engine_over, facts, opened
from mnemoscope import StoreError
from mnemoscope.journal import book

STRANGE: tuple[dict[str, Any], ...] = (
    {"kind": "x"},
    {"content": "likes tea"},
    {"group": 5, "namespace": 7, "forgotten_at": [], "count": "many"},
)


@pytest.mark.parametrize("value", STRANGE)
def test_what_needs_a_strange_entry_names_it_changes_nothing_and_says_what_to_do(value: dict[str, Any]) -> None:
    engine = engine_over()
    engine.remember_facts(facts("likes tea"), ANA)
    for name, key in (("tombstones", "zz"), ("runs", "run-zz"), ("retention", "rules"), ("worklists", "zz")):
        engine.store.put(book(name, ANA), key, {**value, "id": key}, index=False)
    calls: list[Callable[[], Any]] = [
        lambda: engine.restore(ANA, "zz"),
        lambda: engine.curation.restore([(ANA, "zz")]),
        lambda: engine.curation.allow([(ANA, "zz")]),
        lambda: engine.runs.get("run-zz"),
        lambda: engine.curation.retention(ANA),
        lambda: engine.curation.erase(ANA, engine.list(ANA)[0].key, confirm="memories/ana"),
    ]
    for call in calls:
        with pytest.raises(StoreError, match=r"is not as this library writes it.*store\.delete\("):
            call()
    assert contents(engine) == ["likes tea"]
    engine.store.delete(book("runs", ANA), "run-zz")
    engine.curation.erase(ANA, engine.list(ANA)[0].key, confirm="memories/ana")
    assert contents(engine) == []


@pytest.mark.parametrize("kind", KINDS)
def test_strange_entries_in_our_books_break_nothing_and_are_logged(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "mnemoscope")
    with opened(kind, tmp_path) as store:
        engine = engine_over(store)
        group = engine.remember_facts(facts("likes tea"), ANA).group
        assert group is not None
        for name in ("journal", "tombstones", "access", "runs", "feedback", "revisions"):
            for number, value in enumerate(STRANGE):
                engine.store.put(book(name, ANA), f"zz{number}", value)
        engine.remember("likes milk", ANA)
        assert contents(engine) == ["likes milk", "likes tea"]
        assert [change.action for change in engine.history(ANA)] == ["insert", "insert"]
        assert [len(engine.history(ANA, limit=limit)) for limit in (0, 1, 2, 9)] == [0, 1, 2, 2]
        assert engine.curation.trash(ANA) == []
        assert len(engine.runs.list(ANA)) == 2
        assert engine.usage.feedback(ANA) == {f"zz{number}": [] for number in range(3)}
        assert set(engine.usage.recalls(ANA)) <= {"zz0", "zz1", "zz2"}
        engine.explain("tea", ANA, "zz0")
        assert b"".join(engine.transfer.export_history(ANA)).count(b"\n") >= 2
        engine.undo(group)
        assert contents(engine) == ["likes milk"]
        engine.forget(ANA, categories=["none"])
        engine.close()
    assert "Passed over 'zz0' in '__mnemoscope__/journal/memories/ana'" in caplog.text
    assert "Passed over 'zz0' in '__mnemoscope__/tombstones/memories/ana'" in caplog.text
