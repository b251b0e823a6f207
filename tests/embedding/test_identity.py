from __future__ import annotations

from pathlib import Path

import pytest
from mnemoscope import MemoryEngine
from mnemoscope.connections import connection_to, open_connection
from mnemoscope.embedding import IDENTITY_AT, EmbedderIdentity, mismatch, present_identity, stored_identity

ANA = ("memories", "ana")


def test_the_first_change_notes_the_embedder_and_later_ones_leave_the_note(empty_engine: MemoryEngine) -> None:
    assert stored_identity(empty_engine.adapter) is None
    empty_engine.remember("Ana lives in Lisbon.", ANA, extract=False)
    noted = stored_identity(empty_engine.adapter)
    assert noted is not None
    assert (noted.name, noted.dimensions) == ("hashing:256", 256)
    empty_engine.remember("Ana drinks tea.", ANA, extract=False)
    assert stored_identity(empty_engine.adapter) == noted


def test_a_change_that_brings_no_vector_notes_nothing(empty_engine: MemoryEngine) -> None:
    empty_engine.store.put(ANA, "a", {"content": "Ana lives in Lisbon."})
    empty_engine.update(ANA, "a", importance=0.9)
    empty_engine.forget(ANA, key="a")
    assert stored_identity(empty_engine.adapter) is None


def test_the_note_is_no_memory(empty_engine: MemoryEngine) -> None:
    empty_engine.remember("Ana lives in Lisbon.", ANA, extract=False)
    assert empty_engine.counts() == {ANA: 1}
    assert len(empty_engine.index((), subtree=True)) == 1
    assert [item.key for item in empty_engine.store.search(IDENTITY_AT[0])] == ["embedder"]


def test_another_embedder_on_the_same_store_is_noticed(tmp_path: Path) -> None:
    path = str(tmp_path / "m.sqlite")
    engine = open_connection(connection_to(path, embedder="hashing"))
    engine.remember("Ana lives in Lisbon.", ANA, extract=False)
    engine.close()
    engine = open_connection(connection_to(path), writing=False)
    difference = mismatch(stored_identity(engine.adapter), present_identity(engine.adapter))
    engine.close()
    assert "by hashing:256, 256 dimensions, but bundled:all-MiniLM-L6-v2-int8, 384 dimensions is in use" in difference


@pytest.mark.parametrize(
    ("stored", "present", "part"),
    [
        (None, EmbedderIdentity("a", 3), ""),
        (EmbedderIdentity("a", 3), None, ""),
        (EmbedderIdentity("a", 3), EmbedderIdentity("a", 3), ""),
        (EmbedderIdentity("a", None), EmbedderIdentity("a", 3), ""),
        (EmbedderIdentity("a", 3), EmbedderIdentity("a", 4), "have 3 dimensions"),
        (EmbedderIdentity("a", 3), EmbedderIdentity("b", 3), "similarities mean nothing"),
    ],
)
def test_only_what_is_known_can_differ(
    stored: EmbedderIdentity | None, present: EmbedderIdentity | None, part: str
) -> None:
    difference = mismatch(stored, present)
    assert part in difference
    assert bool(part) == bool(difference)


@pytest.mark.parametrize("value", [None, 5, {}, {"name": 5}])
def test_a_note_that_cannot_be_read_is_none(value: object) -> None:
    assert EmbedderIdentity.from_value(value) is None
