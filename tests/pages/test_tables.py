from __future__ import annotations

from datetime import UTC, datetime

from mnemoscope import MemoryRecord

from app.components import tables

MARCH = datetime(2026, 3, 1, tzinfo=UTC)


def record(key: str, content: str = "Ana likes tea.", **fields: object) -> MemoryRecord:
    return MemoryRecord(key=key, namespace=("memories", "ana"), content=content, created_at=MARCH, **fields)  # type: ignore[arg-type]


def test_a_row_shows_safe_text_and_keeps_order() -> None:
    frame = tables.make_frame([record("b", "one\n two\u202e"), record("a", categories=["food"])])
    assert list(frame["content"]) == ["one two<U+202E>", "Ana likes tea."]
    assert list(frame["categories"]) == [[], ["food"]]


def test_an_unknown_importance_stays_unknown() -> None:
    frame = tables.make_frame([record("a", importance=None), record("b", importance=0.0)])
    assert list(frame["importance"].isna()) == [True, False]


def test_an_empty_frame_has_every_column() -> None:
    assert set(tables.COLUMNS) == set(tables.make_frame([]).columns)


def test_the_key_changes_with_the_rows_so_that_no_selection_moves_to_another_memory() -> None:
    first, second = (("memories",), "a"), (("memories",), "b")
    assert tables.key_of("browse.table", [first, second]) == tables.key_of("browse.table", [first, second])
    assert tables.key_of("browse.table", [first, second]) != tables.key_of("browse.table", [second, first])


def test_ticked_rows_become_places_and_rows_beyond_the_table_are_dropped() -> None:
    refs = [(("memories",), "a"), (("memories",), "b")]
    assert tables.read_ticked({"selection": {"rows": [1, 7, -1]}}, refs) == [(("memories",), "b")]
