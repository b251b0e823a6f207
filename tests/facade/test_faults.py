"""What a curator's work leaves behind when the disk is full, the file read-only, or the connection gone."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine_fixture import ANA, BEN, Ticking, contents, dump, engine_over, facts, opened
from mnemoscope import MemoryEngine, PermissionDeniedError, StoreUnavailableError
from mnemoscope.embedding import HashingEmbeddings
from mnemoscope.journal import book
from mnemoscope.stores.sqlite import open_sqlite

TEXTS = [f"fact number {number} with some words to fill a page" for number in range(40)]


def a_forgetting(engine: MemoryEngine) -> object:
    return engine.forget(ANA, keys=[record.key for record in engine.list(ANA)])


def a_merge(engine: MemoryEngine) -> object:
    return engine.curation.merge(ANA, [record.key for record in engine.list(ANA)], content="all in one")


def a_move(engine: MemoryEngine) -> object:
    return engine.curation.move([(ANA, record.key) for record in engine.list(ANA)], BEN)


def an_import(engine: MemoryEngine) -> object:
    rows = [{"key": f"row {number}", "content": f"imported {number}"} for number in range(200)]
    return engine.transfer.apply_import(engine.transfer.plan_import(json.dumps(rows), ANA))


def an_undo(engine: MemoryEngine) -> object:
    return engine.undo(engine.history(ANA, limit=1)[0].group)


def an_erasure(engine: MemoryEngine) -> object:
    return engine.curation.erase(ANA, [record.key for record in engine.list(ANA)], confirm="memories/ana")


BULK: list[Callable[[MemoryEngine], object]] = [a_forgetting, a_merge, a_move, an_import, an_undo, an_erasure]


def everything(engine: MemoryEngine) -> list[dict[str, Any]]:
    shelves = (ANA, BEN, *(book(name, space) for name in ("journal", "tombstones") for space in (ANA, BEN)))
    return [dump(engine, shelf) for shelf in shelves]


@pytest.mark.parametrize("work", [each for each in BULK if each is not an_erasure])
def test_a_full_disk_leaves_everything_as_it_was(work: Callable[[MemoryEngine], object], tmp_path: Path) -> None:
    with opened("sqlite", tmp_path) as store:
        engine = engine_over(store)
        engine.remember_facts(facts(*TEXTS), ANA)
        before = everything(engine)
        pages = store.conn.execute("PRAGMA page_count").fetchone()[0]  # type: ignore[union-attr]
        store.conn.execute(f"PRAGMA max_page_count = {pages + 2}")  # type: ignore[union-attr]
        with pytest.raises(StoreUnavailableError, match="the disk is full; make room"):
            work(engine)
        assert everything(engine) == before
        store.conn.execute("PRAGMA max_page_count = 1000000")  # type: ignore[union-attr]
        work(engine)
        assert everything(engine) != before


def test_a_file_that_may_not_grow_is_whole_for_the_next_process(tmp_path: Path) -> None:
    path = tmp_path / "memories.sqlite"
    program = """
        import resource, signal, sys
        from engine_fixture import ANA, facts, engine_over
        from mnemoscope import StoreUnavailableError
        from mnemoscope.embedding.hashing import HashingEmbeddings
        from mnemoscope.stores.sqlite.connection import open_sqlite

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        engine = engine_over(open_sqlite(sys.argv[1], embeddings=HashingEmbeddings(32)))
        engine.remember_facts(facts("there before"), ANA)
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
        written = 1
        try:
            for number in range(10_000):
                engine.remember_facts(facts(*(f"batch {number} fact {part}" for part in range(20))), ANA)
                written += 20
        except StoreUnavailableError as error:
            print(written, error)
    """
    roots = [str(Path(__file__).resolve().parents[1] / "support"), str(Path(__file__).resolve().parents[2] / "engine")]
    source = f"import sys; sys.path[:0] = {roots!r}\n{textwrap.dedent(program)}"
    done = subprocess.run([sys.executable, "-c", source, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    written, _, message = done.stdout.partition(" ")
    assert "disk" in message
    engine = engine_over(open_sqlite(path, embeddings=HashingEmbeddings(32)))
    assert len(contents(engine)) == int(written) == len(engine.history(ANA))
    assert engine.index(ANA).vectored.all()
    engine.store.conn.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("work", [each for each in BULK if each is not an_undo])
def test_a_read_only_file_refuses_and_stays_as_it_was(work: Callable[[MemoryEngine], object], tmp_path: Path) -> None:
    with opened("sqlite", tmp_path) as store:
        engine = engine_over(store, clock=Ticking())
        engine.remember_facts(facts(*TEXTS[:5]), ANA)
        before = everything(engine)
    path = tmp_path / "memories.sqlite"
    reader = open_sqlite(path, embeddings=HashingEmbeddings(32), read_only=True)
    engine = engine_over(reader)
    with pytest.raises(PermissionDeniedError, match="read-only"):
        work(engine)
    assert everything(engine) == before
    reader.conn.close()


@pytest.mark.parametrize("work", BULK)
def test_a_batch_that_is_interrupted_changes_nothing(work: Callable[[MemoryEngine], object], tmp_path: Path) -> None:
    with opened("sqlite", tmp_path) as store:
        engine = engine_over(store)
        engine.remember_facts(facts(*TEXTS), ANA)
        before = everything(engine)
        begun = _interrupting(store.conn)  # type: ignore[union-attr]
        with pytest.raises(StoreUnavailableError):
            work(engine)
        assert len(begun) >= 3
    again = engine_over(open_sqlite(tmp_path / "memories.sqlite", embeddings=HashingEmbeddings(32)))
    assert everything(again) == before
    again.store.conn.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("work", BULK)
def test_a_lost_connection_is_an_error_and_changes_nothing(
    work: Callable[[MemoryEngine], object], tmp_path: Path
) -> None:
    with opened("sqlite", tmp_path) as store:
        engine = engine_over(store)
        engine.remember_facts(facts(*TEXTS[:5]), ANA)
        before = everything(engine)
        write = engine.adapter.write

        def lost_before_writing(*arguments: Any) -> None:
            store.conn.close()  # type: ignore[union-attr]
            write(*arguments)

        engine.adapter.write = lost_before_writing  # type: ignore[method-assign]
        with pytest.raises(StoreUnavailableError):
            work(engine)
    again = engine_over(open_sqlite(tmp_path / "memories.sqlite", embeddings=HashingEmbeddings(32)))
    assert everything(again) == before
    again.store.conn.close()  # type: ignore[attr-defined]


def _interrupting(connection: Any) -> list[str]:
    """Interrupt the connection from within SQLite as soon as the batch deletes or inserts its third row."""
    seen: list[str] = []

    def trace(statement: str) -> None:
        if statement.lstrip().startswith("INSERT INTO store "):
            seen.append(statement)
            if len(seen) >= 3:
                connection.interrupt()

    connection.set_trace_callback(trace)
    return seen
