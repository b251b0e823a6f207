"""A store goes over to another embedder while it is in use: on SQLite and on PostgreSQL, from 64 to 384 dimensions."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from engine_fixture import CountingEmbeddings, facts
from langgraph.store.base import BaseStore
from mnemoscope import (
    ConfigurationError,
    ConflictError,
    EmbedderMismatchError,
    EmbeddingError,
    InputError,
    MemoryConfig,
    MemoryEngine,
    NotFoundError,
    PermissionDeniedError,
    RuleConsolidator,
    RuleExtractor,
    StoreError,
)
from mnemoscope.consolidation import Pair
from mnemoscope.embedding import IDENTITY_AT, EmbedderIdentity, HashingEmbeddings, Known, indexed_text, stored_identity
from mnemoscope.journal import book
from mnemoscope.recall import Profile, case
from mnemoscope.reembedding import (
    LEASE,
    MADE_WHILE_WAITING,
    REEMBEDDING_AT,
    Pace,
    ReembedJob,
    ReembedState,
    worker_name,
)
from mnemoscope.stores import Guard, Snapshot, View, Write, adapt
from mnemoscope.stores.postgres import lock, open_postgres
from mnemoscope.stores.sqlite import open_sqlite
from stores_fixture import memory_store, postgres_database

ANA, BEN = ("memories", "ana"), ("memories", "ben")
OLD, NEW = 64, 384
TEXTS = [f"Fact {number} tells of thing {number * 7 % 50}" for number in range(40)]
EXACT = MemoryConfig(consolidation_threshold=1.0, touch_on_recall=False, recency_weight=0.0, importance_weight=0.0)


class Other(HashingEmbeddings):
    """Vectors of the same dimensions as those of the store, and yet of another embedder."""

    def __init__(self) -> None:
        super().__init__(OLD)
        self.identity = "other:64"

    def embed_query(self, text: str) -> list[float]:
        return super().embed_query(text[::-1])


@dataclass
class Home:
    """One place of a store, to be opened as often as a test needs, each time as another process would."""

    kind: str
    address: str
    exits: ExitStack = field(default_factory=ExitStack)

    def store(self, embeddings: HashingEmbeddings) -> BaseStore:
        if self.kind == "sqlite":
            store: Any = open_sqlite(self.address, embeddings=embeddings)
        else:
            store = open_postgres(self.address, embeddings=embeddings)
        self.exits.callback(store.conn.close)
        return store  # type: ignore[no-any-return]

    def engine(self, next_: HashingEmbeddings | None = None, **options: Any) -> MemoryEngine:
        first = options.pop("first", None) or HashingEmbeddings(OLD)
        rules = {"extractor": RuleExtractor(), "consolidator": RuleConsolidator(), "config": EXACT}
        return MemoryEngine(self.store(first), **rules, next_embeddings=next_, **options)

    def execute(self, statement: str) -> list[Any]:
        if self.kind == "sqlite":
            store: Any = self.store(HashingEmbeddings(OLD))
            rows = store.conn.execute(statement).fetchall()
            return list(map(tuple, rows))
        with psycopg.connect(self.address, autocommit=True) as connection:
            found = connection.execute(statement.encode())
            return found.fetchall() if found.description else []


@pytest.fixture(params=["sqlite", "postgres"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    kind = request.param
    address = str(tmp_path / "m.sqlite") if kind == "sqlite" else postgres_database("reembedding")
    made = Home(kind, address)
    with made.exits:
        yield made


@pytest.fixture
def filled(home: Home) -> Home:
    """Forty memories, one of them private to a source, and a tombstone."""
    engine = home.engine()
    engine.remember_facts(facts(*TEXTS), ANA)
    engine.remember_facts(facts("Ben drinks tea"), BEN, source="ben", private=True)
    engine.forget(ANA, keys=[record.key for record in engine.list(ANA, None) if record.content == TEXTS[0]])
    return home


def vectors_of(engine: MemoryEngine) -> dict[str, list[float]]:
    """Every vector that the store holds, of tombstones too, by place."""
    engine.reembedding.difference()
    adapter = engine.adapter
    parts: list[Snapshot] = [adapter.load((), subtree=True), adapter.load(book("tombstones"), subtree=True)]
    return {
        f"{'/'.join(item.namespace)}·{item.key}·{name}": np.round(row, 5).tolist()
        for part in parts
        for item, vectors in zip(part.items, part.vectors_by_item(), strict=True)
        for name, row in vectors.items()
    }


def expected_of(engine: MemoryEngine, embeddings: HashingEmbeddings) -> dict[str, list[float]]:
    """What these embeddings make of every text that the store holds."""
    adapter = engine.adapter
    parts = [adapter.load((), subtree=True), adapter.load(book("tombstones"), subtree=True)]
    return {
        f"{'/'.join(item.namespace)}·{item.key}·content": np.round(
            np.float32(embeddings.embed_query(indexed_text(item.value, "content"))), 5
        ).tolist()
        for part in parts
        for item in part.items
    }


def by_brute_force(engine: MemoryEngine, query: str, embeddings: HashingEmbeddings) -> list[str]:
    """The texts of Ana nearest to the query, ranked by embedding every one of them."""
    wanted = np.array(embeddings.embed_query(query))
    scored = [(float(wanted @ np.array(embeddings.embed_query(each.content))), each) for each in engine.list(ANA, None)]
    scored.sort(key=lambda pair: (-round(pair[0], 5), -pair[1].changed_at.timestamp(), pair[1].key))
    return [record.content for _, record in scored[:5]]


def recalled(engine: MemoryEngine, query: str = "thing 7 of fact 1") -> list[str]:
    return [match.record.content for match in engine.recall(query, ANA, limit=5)]


def test_every_vector_is_made_anew_and_the_store_is_the_new_embedders(filled: Home) -> None:
    engine = filled.engine(HashingEmbeddings(NEW))
    progress: list[ReembedState] = []
    ended = engine.reembedding.start(batch=16, progress=progress.append, actor="ada", reason="a better model")
    assert (ended.state, ended.total, ended.staged, ended.embedded) == ("done", 41, 41, 41)
    assert [state.staged for state in progress] == [0, 16, 32, 41, 41]
    assert vectors_of(engine) == expected_of(engine, HashingEmbeddings(NEW))
    assert len(vectors_of(engine)) == 41
    noted = stored_identity(engine.adapter)
    assert noted is not None
    assert (noted.name, noted.dimensions, noted.switched_at is not None) == ("hashing:384", NEW, True)
    change = engine.history((), subtree=True, action="reembed")[0]
    assert (change.actor, change.key) == ("ada", "embedder")
    assert change.reason == (
        "41 vectors by hashing:64, 64 dimensions gave way to those by hashing:384, 384 dimensions; a better model"
    )


def test_recall_is_exact_before_in_between_and_after(filled: Home) -> None:
    old, new = HashingEmbeddings(OLD), HashingEmbeddings(NEW)
    engine, other = filled.engine(new), filled.engine(new)
    query, seen = "thing 7 of fact 1", []

    def look(state: ReembedState) -> None:
        if state.state == "running":
            assert recalled(other) == by_brute_force(other, query, old)
            seen.append(other.recall(query, ANA).embedder)

    assert recalled(other) == by_brute_force(other, query, old)
    engine.reembedding.start(batch=20, progress=look)
    assert set(seen) == {"hashing:64, 64 dimensions"}
    result = other.recall(query, ANA, limit=5)
    assert [match.record.content for match in result] == by_brute_force(other, query, new)
    assert (result.exact, result.embedder, result.notice) == (True, "hashing:384, 384 dimensions", "")
    similarity = float(np.array(new.embed_query(query)) @ np.array(new.embed_query(result[0].record.content)))
    assert result[0].similarity == pytest.approx(similarity, abs=1e-5)
    assert recalled(filled.engine(new)) == by_brute_force(other, query, new)


def test_the_official_store_goes_on_on_the_new_vectors(filled: Home) -> None:
    engine = filled.engine(HashingEmbeddings(NEW))
    engine.reembedding.start()
    for store in (engine.store, filled.store(HashingEmbeddings(NEW))):
        store.put(ANA, "mine", {"content": "A parrot repeats everything"})
        found = store.search(ANA, query="A parrot repeats everything", limit=1)[0]
        assert (found.key, round(found.score or 0.0, 4)) == ("mine", 1.0)
        store.delete(ANA, "mine")
    if filled.kind == "postgres":
        store.setup()  # type: ignore[attr-defined]
        assert filled.execute(
            "SELECT conname FROM pg_constraint WHERE conrelid = 'store_vectors'::regclass AND contype = 'p'"
        ) == [("store_vectors_pkey",)]


def test_paused_work_is_taken_up_and_no_text_is_embedded_twice(filled: Home) -> None:
    target = CountingEmbeddings(NEW)
    engine, other = filled.engine(target), filled.engine(HashingEmbeddings(NEW))

    def pause(state: ReembedState) -> None:
        if state.staged == 20:
            other.reembedding.pause()

    ended = engine.reembedding.start(batch=10, progress=pause)
    assert ended.state == "paused"
    seen = other.reembedding.status()
    assert seen is not None
    assert (seen.state, seen.staged, seen.total) == ("paused", 30, 41)
    assert vectors_of(engine) == expected_of(engine, HashingEmbeddings(OLD))
    ended = engine.reembedding.start(batch=10)
    texts = [text for call in target.calls for text in call]
    assert (ended.state, ended.embedded, len(texts), len(set(texts))) == ("done", 41, 41, 41)
    with pytest.raises(NotFoundError, match="nothing to pause"):
        other.reembedding.pause()


@pytest.mark.parametrize("moment", [2, 5, 6, 9])
def test_a_kill_at_any_moment_loses_nothing_and_embeds_hardly_anything_twice(
    filled: Home, tmp_path: Path, moment: int
) -> None:
    log = tmp_path / "embedded.log"
    command = [
        sys.executable,
        str(Path(__file__).parents[1] / "support" / "killed_reembedder.py"),
        filled.address,
        str(log),
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        for _ in range(moment):
            child.stdin.write("\n")
            child.stdin.flush()
            child.stdout.readline()
        child.stdout.readline()
        child.kill()
    engine = filled.engine(HashingEmbeddings(NEW))
    left = engine.reembedding.status()
    assert left is not None
    assert (left.state, left.staged) == ("interrupted", moment // 2 * 10)
    assert vectors_of(engine) == expected_of(engine, HashingEmbeddings(OLD))
    again = subprocess.run(command, input="\n" * 50, capture_output=True, text=True, check=True)
    assert again.stdout.splitlines()[-1] == "done"
    embedded = log.read_text(encoding="utf-8").splitlines()
    # The call that was under way when it was killed is the only one that may be made again.
    assert set(embedded) >= set(TEXTS)
    assert len(embedded) - len(set(embedded)) <= 10
    assert vectors_of(filled.engine(HashingEmbeddings(NEW))) == expected_of(engine, HashingEmbeddings(NEW))


def test_what_is_written_meanwhile_is_in_the_new_vectors(filled: Home) -> None:
    target = CountingEmbeddings(NEW)
    engine, writer = filled.engine(target), filled.engine(HashingEmbeddings(NEW))
    keys = {record.content: record.key for record in writer.list(ANA, None)}

    def write(state: ReembedState) -> None:
        if state.staged == 41 and state.state == "running" and "new" not in keys:
            keys["new"] = writer.remember("Ana has a parrot", ANA, extract=False)[0].key
            writer.update(ANA, keys[TEXTS[1]], content="Fact 1 is another one now")
            writer.update(ANA, keys[TEXTS[2]], importance=0.9)
            writer.forget(ANA, keys=[keys[TEXTS[3]]])
            writer.store.delete(ANA, keys[TEXTS[4]])
            writer.store.put(ANA, "stranger", {"content": "Put by somebody else"})

    engine.reembedding.start(batch=41, progress=write)
    assert vectors_of(engine) == expected_of(engine, HashingEmbeddings(NEW))
    later = [text for call in target.calls[1:] for text in call]
    # The tombstone has its place for the first time; the one whose importance changed keeps its vector.
    assert sorted(later) == ["Ana has a parrot", "Fact 1 is another one now", TEXTS[3], "Put by somebody else"]
    assert recalled(engine, "Ana has a parrot")[0] == "Ana has a parrot"


def test_a_store_that_is_written_all_the_while_is_finished_while_writers_wait(filled: Home) -> None:
    engine, writer = filled.engine(HashingEmbeddings(NEW)), filled.engine(HashingEmbeddings(NEW))
    written: list[str] = []

    def write(state: ReembedState) -> None:
        if state.state == "running":
            written.append(f"Written while it was at it, {len(written)}")
            writer.store.put(ANA, f"busy-{len(written)}", {"content": written[-1]})

    ended = engine.reembedding.start(batch=64, progress=write)
    assert ended.state == "done"
    assert vectors_of(engine) == expected_of(engine, HashingEmbeddings(NEW))


def test_a_store_that_is_written_faster_than_it_is_embedded_is_left_as_it_is(
    filled: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemoscope.reembedding.job.MADE_WHILE_WAITING", 0)
    engine, writer = filled.engine(HashingEmbeddings(NEW)), filled.engine()
    number = iter(range(1000))

    def write(_state: ReembedState) -> None:
        writer.store.put(ANA, f"busy-{next(number)}", {"content": "Written"})

    with pytest.raises(StoreError, match="change faster than they are embedded"):
        engine.reembedding.start(progress=write)
    seen = engine.reembedding.status()
    assert seen is not None
    assert (seen.state, MADE_WHILE_WAITING) == ("failed", 256)
    assert vectors_of(engine) == expected_of(engine, HashingEmbeddings(OLD))


def test_readers_see_all_of_the_old_or_all_of_the_new(filled: Home) -> None:
    engine = filled.engine(HashingEmbeddings(NEW))
    size = "length(embedding) / 4" if filled.kind == "sqlite" else "vector_dims(embedding)"
    seen: list[list[Any]] = []
    stop = threading.Event()

    def read() -> None:
        reader = Home(filled.kind, filled.address)
        with reader.exits:
            store: Any = reader.store(HashingEmbeddings(OLD))
            while not stop.is_set():
                statement = f"SELECT {size} AS size, count(*) AS n FROM store_vectors GROUP BY 1"
                if filled.kind == "sqlite":
                    seen.append([tuple(row) for row in store.conn.execute(statement).fetchall()])
                else:
                    with store.conn.connection() as connection:
                        rows = connection.execute(statement.encode()).fetchall()
                        seen.append([(row["size"], row["n"]) for row in rows])

    thread = threading.Thread(target=read)
    thread.start()
    try:
        while not seen:
            pass
        for back in (False, True) * 3:
            engine.reembedding.start(back=back)
    finally:
        stop.set()
        thread.join()
    assert {tuple(each) for each in seen} <= {((OLD, 41),), ((NEW, 41),)}


@pytest.mark.parametrize("target", [HashingEmbeddings(NEW), Other()], ids=["other dimensions", "same dimensions"])
def test_whoever_still_has_the_old_embedder_is_told_and_writes_no_vector(
    filled: Home, target: HashingEmbeddings
) -> None:
    left_behind = filled.engine()
    assert recalled(left_behind)
    filled.engine(target).reembedding.start()
    before = vectors_of(filled.engine(first=target))
    result = left_behind.recall("Fact 12", ANA, limit=3)
    assert "hashing:64, 64 dimensions is in use" in result.notice
    assert "ranked by their words alone" in result.notice
    assert result[0].record.content == TEXTS[12]
    key = result[0].record.key
    for write in (
        lambda: left_behind.remember("Ana has a cat", ANA, extract=False),
        lambda: left_behind.update(ANA, key, content="Another text"),
        lambda: left_behind.plan("Ana has a cat", ANA),
    ):
        with pytest.raises(EmbedderMismatchError, match=r"by .*(hashing:384|other:64).* but hashing:64.*Name the emb"):
            write()
    assert vectors_of(filled.engine(first=target)) == before
    with pytest.raises(EmbedderMismatchError):
        left_behind.forget(ANA, keys=[key])
    # What brings and moves no vector goes on.
    left_behind.update(ANA, key, importance=0.9)
    assert vectors_of(filled.engine(first=target)) == before


def test_whoever_still_has_the_old_embedder_keeps_profiles_cases_and_labels(filled: Home) -> None:
    left_behind = filled.engine()
    filled.engine(HashingEmbeddings(NEW)).reembedding.start()
    first, second = left_behind.list(ANA, None)[:2]
    wanted, pair = case("Fact 12", ANA, expected=[TEXTS[12]]), Pair(first, second, 0.5)
    left_behind.tuning.save_cases([wanted])
    left_behind.tuning.save_profile(Profile("mine", EXACT))
    left_behind.tuning.label(pair, "duplicate")
    assert ([each.query for each in left_behind.tuning.cases()], len(left_behind.tuning.labels())) == (["Fact 12"], 1)
    left_behind.tuning.delete_cases([wanted])
    left_behind.undo(left_behind.history(ANA, limit=1)[0].id)
    left_behind.tuning.delete_profile("mine")
    assert ([each.query for each in left_behind.tuning.cases()], left_behind.tuning.profiles()) == (["Fact 12"], {})


def test_a_plan_of_before_is_not_carried_out_afterwards_and_remembering_plans_again(filled: Home) -> None:
    target = Other()
    engine, mover = filled.engine(target), filled.engine(target)
    plan = engine.plan("Ana has a parrot", ANA, extract=False)
    mover.reembedding.start()
    with pytest.raises(ConflictError, match="has gone over from hashing:64 to other:64"):
        engine.apply(plan)
    mover.reembedding.start(back=True)
    engine.remember("Ana has a parrot", ANA, extract=False)
    assert vectors_of(engine) == expected_of(engine, HashingEmbeddings(OLD))


def test_going_back_embeds_only_what_has_changed_since(filled: Home) -> None:
    first = CountingEmbeddings(OLD)
    engine = filled.engine(HashingEmbeddings(NEW), first=first)
    before = vectors_of(engine)
    ended = engine.reembedding.start()
    assert ended.kept_bytes > 0
    first.calls.clear()
    ended = engine.reembedding.start(back=True)
    assert (ended.embedded, first.calls) == (0, [])
    assert vectors_of(engine) == before
    engine.reembedding.start()
    engine.remember("Ana has a parrot", ANA, extract=False)
    assert engine.reembedding.start(back=True).embedded == 1
    assert first.calls == [["Ana has a parrot"]]
    assert vectors_of(engine) == expected_of(engine, HashingEmbeddings(OLD))


def test_dropped_vectors_are_gone_and_going_back_makes_them_anew(filled: Home) -> None:
    engine = filled.engine(HashingEmbeddings(NEW))
    engine.reembedding.start()
    dropped = engine.reembedding.drop_waiting()
    assert dropped is not None
    assert dropped.name == "hashing:64"
    assert engine.reembedding.status() is None
    assert engine.reembedding.start(back=True).embedded == 41


def test_cancelled_work_stops_and_leaves_no_trace(filled: Home) -> None:
    engine, other = filled.engine(HashingEmbeddings(NEW)), filled.engine(HashingEmbeddings(NEW))
    ended = engine.reembedding.start(
        batch=10, progress=lambda state: state.staged == 20 and other.reembedding.drop_waiting()
    )
    assert ended.state == "cancelled"
    assert other.reembedding.status() is None
    tables = "SELECT name FROM sqlite_master" if filled.kind == "sqlite" else "SELECT relname FROM pg_class"
    assert not [name for (name,) in filled.execute(tables) if name.startswith("mnemoscope")]
    assert vectors_of(engine) == expected_of(engine, HashingEmbeddings(OLD))


def test_undo_and_the_past_hold_across_the_change(filled: Home) -> None:
    moment = [datetime(2030, 1, 1, tzinfo=UTC)]
    engine = filled.engine(HashingEmbeddings(NEW), clock=lambda: moment[0])
    key = next(record.key for record in engine.list(ANA, None) if record.content == TEXTS[5])
    moment[0] += timedelta(days=1)
    change = engine.update(ANA, key, content="Fact 5 is another one now")
    moment[0] += timedelta(days=1)
    engine.reembedding.start()
    moment[0] += timedelta(days=1)
    then = engine.recall(TEXTS[5], ANA, limit=1, as_of=datetime(2030, 1, 1, 12, tzinfo=UTC))
    assert (then[0].record.content, round(then[0].similarity or 0.0, 4)) == (TEXTS[5], 1.0)
    engine.undo(change.id)
    assert vectors_of(engine) == expected_of(engine, HashingEmbeddings(NEW))
    switched = engine.history((), subtree=True, action="reembed")[0]
    with pytest.raises(InputError, match="gone back on"):
        engine.undo(switched.id)
    plan = engine.curation.plan_undo(by="agent")
    assert [step.obstacle for step in plan.memories if step.changes[0].action == "reembed"] == [
        "A change of embedder is gone back on by reembed, not undone."
    ]


class Failing(CountingEmbeddings):
    """Fails at the calls of these numbers."""

    def __init__(self, *numbers: int) -> None:
        super().__init__(NEW)
        self.numbers = numbers

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if len(self.calls) + 1 in self.numbers:
            self.calls.append([])
            raise TimeoutError("no answer from the embedder")
        return super().embed_documents(texts)


def test_an_embedder_that_fails_leaves_what_is_made(filled: Home) -> None:
    engine = filled.engine(Failing(3))
    with pytest.raises(EmbeddingError, match="TimeoutError: no answer from the embedder"):
        engine.reembedding.start(batch=10, attempts=1)
    seen = engine.reembedding.status()
    assert seen is not None
    assert (seen.state, seen.staged) == ("failed", 20)
    assert "no answer from the embedder" in seen.error
    assert engine.reembedding.start(batch=10, attempts=1).embedded == 41


def test_a_call_that_fails_once_is_made_again(filled: Home) -> None:
    assert filled.engine(Failing(1)).reembedding.start().state == "done"


def test_two_workers_are_not_at_it_at_once(filled: Home) -> None:
    engine, other = filled.engine(HashingEmbeddings(NEW)), filled.engine(HashingEmbeddings(NEW))
    refused: list[str] = []

    def try_too(_state: ReembedState) -> None:
        with pytest.raises(ConflictError) as caught:
            other.reembedding.start()
        refused.append(str(caught.value))

    engine.reembedding.start(batch=41, progress=lambda state: state.state == "running" and try_too(state))
    assert "agent is at this change of embedder already" in refused[0]


def test_what_was_noted_of_an_embedder_that_is_not_there_makes_room_for_another_target(filled: Home) -> None:
    engine = filled.engine(CountingEmbeddings(NEW))
    engine.reembedding.start(batch=10, progress=lambda state: state.staged == 20 and engine.reembedding.pause())
    third = CountingEmbeddings(32)
    other = filled.engine(third)
    assert other.reembedding.start().embedded == 41
    assert vectors_of(other) == expected_of(other, HashingEmbeddings(32))


def test_there_must_be_an_embedder_to_go_over_to(filled: Home) -> None:
    with pytest.raises(ConfigurationError, match="the only embedder that is named"):
        filled.engine().reembedding.start()
    engine = filled.engine(HashingEmbeddings(NEW))
    engine.reembedding.start()
    with pytest.raises(ConfigurationError, match="by hashing:384, 384 dimensions already"):
        engine.reembedding.start()


def test_a_store_whose_configuration_already_names_the_new_embedder_goes_over_to_it(filled: Home) -> None:
    engine = filled.engine(first=HashingEmbeddings(NEW))
    result = engine.recall("Fact 12", ANA, limit=1)
    assert result.notice
    assert result[0].record.content == TEXTS[12]
    assert engine.reembedding.start().state == "done"
    assert vectors_of(engine) == expected_of(engine, HashingEmbeddings(NEW))
    assert not engine.recall("Fact 12", ANA).notice


def test_only_the_whole_store_goes_over_and_only_where_it_may_be_written(filled: Home) -> None:
    rules: dict[str, Any] = {"extractor": RuleExtractor(), "consolidator": RuleConsolidator()}
    adapter = adapt(filled.store(HashingEmbeddings(OLD)))
    closed = MemoryEngine(View(adapter, closed="Only for reading."), **rules, next_embeddings=HashingEmbeddings(NEW))
    with pytest.raises(PermissionDeniedError, match="Only for reading"):
        closed.reembedding.start()
    part = MemoryEngine(View(adapter, prefixes=[ANA]), **rules, next_embeddings=HashingEmbeddings(NEW))
    with pytest.raises(PermissionDeniedError, match="limited to memories/ana"):
        part.reembedding.start()
    whole = MemoryEngine(View(adapter), **rules, next_embeddings=HashingEmbeddings(NEW))
    assert whole.reembedding.start().state == "done"
    assert whole.adapter.dimensions == NEW


def test_items_of_others_keep_their_fields(home: Home) -> None:
    store = home.store(HashingEmbeddings(OLD))
    adapter = adapt(store)
    vector = np.array(HashingEmbeddings(OLD).embed_query("anything"), np.float32)
    adapter.write(
        [
            Write(ANA, "manager", {"kind": "M", "content": {"content": "Nested text"}}, {"content": vector}),
            Write(ANA, "body", {"body": "A body of text"}, {"body": vector}),
            Write(ANA, "list", {"tags": ["red", "green"]}, {"tags[*].0": vector, "tags[*].1": vector}),
            Write(ANA, "gone", {"other": 1}, {"title": vector}),
            Write(ANA, "unvectored", {"content": "Never embedded"}, {}),
        ]
    )
    engine = home.engine(HashingEmbeddings(NEW))
    engine.reembedding.start()
    texts = {"manager·content": "Nested text", "body·body": "A body of text"}
    texts |= {"list·tags[*].0": "red", "list·tags[*].1": "green"}
    assert vectors_of(engine) == {
        f"memories/ana·{place}": np.round(np.float32(HashingEmbeddings(NEW).embed_query(text)), 5).tolist()
        for place, text in texts.items()
    }


@pytest.mark.parametrize(
    "wrap",
    [
        lambda store: store,
        lambda store: __import__("mnemoscope.stores.generic", fromlist=["GenericAdapter"]).GenericAdapter(store),
    ],
    ids=["memory", "generic"],
)
def test_other_stores_are_refused_with_the_way_that_works(wrap: Callable[[Any], Any]) -> None:
    rules: dict[str, Any] = {"extractor": RuleExtractor(), "consolidator": RuleConsolidator(), "config": EXACT}
    old = MemoryEngine(wrap(memory_store()), **rules, next_embeddings=HashingEmbeddings(NEW))
    old.remember_facts(facts(*TEXTS[:5]), ANA)
    old.forget(ANA, keys=[old.list(ANA, None)[0].key])
    with pytest.raises(ConfigurationError, match=r"mnemoscope export .* --no-vectors"):
        old.reembedding.start()
    index: Any = {"dims": NEW, "embed": HashingEmbeddings(NEW), "fields": ["content"]}
    new = MemoryEngine(type(memory_store())(index=index), **rules)
    exported = b"".join(old.transfer.export(vectors=False))
    new.transfer.apply_import(new.transfer.plan_import(exported))
    assert vectors_of(new) == expected_of(new, HashingEmbeddings(NEW))
    assert len(vectors_of(new)) == 5


def test_it_goes_no_faster_than_it_is_told_to(home: Home) -> None:
    engine = home.engine(HashingEmbeddings(NEW))
    engine.remember_facts(facts(*TEXTS[:25]), ANA)
    waits: list[float] = []
    now = datetime(2030, 1, 1, tzinfo=UTC)
    target = Known(HashingEmbeddings(NEW), EmbedderIdentity("hashing:384", NEW))
    state = ReembedState("running", None, target.identity, now, now, "ada", worker_name())
    engine.adapter.write([Write(*REEMBEDDING_AT, state.to_value())])
    staging: Any = engine.adapter.staging  # type: ignore[attr-defined]
    staging.begin(NEW, afresh=True)
    job = ReembedJob(
        engine.adapter, staging, state, target, Pace(rate=5), clock=lambda: now, told=lambda _: None, wait=waits.append
    )
    assert job.run("").state == "done"
    assert len(waits) == 5
    assert 4 < sum(waits) <= 5


@pytest.mark.parametrize("given", [{"rate": 0}, {"rate": -1}, {"rate": True}, {"batch": 0}, {"attempts": 0}])
def test_a_pace_that_cannot_be_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        MemoryEngine(memory_store(), extractor=RuleExtractor(), consolidator=RuleConsolidator()).reembedding.start(
            **given
        )


def test_a_worker_that_gives_no_sign_is_taken_for_dead() -> None:
    now = datetime(2030, 1, 1, tzinfo=UTC)
    identity = EmbedderIdentity("a", 3)
    state = ReembedState("running", None, identity, now, now, "ada", worker_name(), total=10, staged=5)
    assert state.as_seen(now).state == "running"
    assert state.as_seen(now + LEASE + timedelta(seconds=1)).state == "interrupted"
    gone = replace(state, worker=":".join([worker_name().split(":")[0], "4194305", "x"]))
    assert gone.as_seen(now).state == "interrupted"
    assert replace(gone, worker="elsewhere:1:x").as_seen(now).state == "running"
    assert ReembedState.from_value(state.to_value()) == state


@pytest.mark.parametrize("value", [None, {}, {"state": "odd"}, {"state": "running", "target": 5}])
def test_a_note_that_cannot_be_read_is_none(value: object) -> None:
    assert ReembedState.from_value(value) is None


def test_the_rate_tells_how_long_it_takes() -> None:
    now = datetime(2030, 1, 1, tzinfo=UTC)
    state = ReembedState("running", None, EmbedderIdentity("a", 3), now, now, "ada", "w", total=100, staged=40)
    assert (state.share, state.rate, state.seconds_left) == (0.4, None, None)
    state = replace(state, embedded=20, seconds=10.0)
    assert (state.rate, state.seconds_left) == (2.0, 30.0)


def test_rights_owner_and_index_of_a_postgres_table_go_over(filled: Home) -> None:
    if filled.kind != "postgres":
        pytest.skip("PostgreSQL alone has rights and indexes")
    filled.execute("DROP ROLE IF EXISTS reembed_reader")
    filled.execute("CREATE ROLE reembed_reader")
    filled.execute("GRANT SELECT ON store_vectors TO reembed_reader")
    filled.execute("GRANT SELECT ON store_vectors TO PUBLIC")
    filled.execute("CREATE INDEX store_vectors_embedding_idx ON store_vectors USING hnsw (embedding vector_cosine_ops)")
    engine = filled.engine(HashingEmbeddings(NEW))
    for back in (False, True, False):
        engine.reembedding.start(back=back)
    granted = filled.execute("SELECT relacl::text FROM pg_class WHERE relname = 'store_vectors'")[0][0]
    assert "reembed_reader=r/postgres" in granted
    assert "=r/postgres" in granted.replace("reembed_reader=r/postgres", "")
    indexes = filled.execute("SELECT indexname FROM pg_indexes WHERE tablename = 'store_vectors' ORDER BY 1")
    assert indexes == [("store_vectors_embedding_idx",), ("store_vectors_pkey",)]
    filled.execute("DROP OWNED BY reembed_reader")
    filled.execute("DROP ROLE reembed_reader")


def test_a_role_that_does_not_own_the_table_is_told_at_once(filled: Home) -> None:
    if filled.kind != "postgres":
        pytest.skip("PostgreSQL alone has roles")
    filled.execute("DROP ROLE IF EXISTS reembed_writer")
    filled.execute("CREATE ROLE reembed_writer LOGIN")
    filled.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO reembed_writer")
    theirs = Home("postgres", filled.address.replace("postgres:@", "reembed_writer:@"))
    with theirs.exits:
        engine = theirs.engine(HashingEmbeddings(NEW))
        with pytest.raises(PermissionDeniedError, match="connect as postgres, who owns it"):
            engine.reembedding.start()
        assert engine.reembedding.status() is None
    filled.execute("DROP OWNED BY reembed_writer")
    filled.execute("DROP ROLE reembed_writer")


def test_writers_under_one_identity_do_not_wait_for_each_other(filled: Home) -> None:
    engines: Sequence[MemoryEngine] = [filled.engine(), filled.engine()]
    for number, engine in enumerate(engines):
        engine.remember(f"Writer {number} notes it", (*ANA, str(number)), extract=False)
    if filled.kind == "postgres":
        with psycopg.connect(filled.address) as held:
            # As a writer of another namespace holds it while its transaction is open.
            lock(held, [Guard(*IDENTITY_AT, None, shared=True)])
            engines[0].remember("Nobody waits", (*ANA, "0"), extract=False)
            assert {record.content for record in engines[1].list((*ANA, "0"))} == {"Writer 0 notes it", "Nobody waits"}
    assert [record.content for record in engines[0].list((*ANA, "1"))] == ["Writer 1 notes it"]


def waiting_of(home: Home, key: str) -> list[Any]:
    """What stands in waiting for a key, in both tables."""
    return [
        row
        for table in ("mnemoscope_vectors", "mnemoscope_marks")
        for row in home.execute(f"SELECT prefix, key FROM {table} WHERE key = '{key}'")
    ]


def test_erasing_takes_the_former_vector_and_its_mark_too(filled: Home) -> None:
    engine = filled.engine(HashingEmbeddings(NEW))
    engine.reembedding.start()
    key = engine.list(ANA, None)[0].key
    assert len(waiting_of(filled, key)) == 2
    receipt = engine.curation.erase(ANA, key, confirm="memories/ana")
    assert waiting_of(filled, key) == []
    assert receipt.is_complete
    assert "no vector in waiting, made or former, is of it" in receipt.verified


def test_erasing_while_vectors_are_made_takes_what_is_made_and_what_is_under_way(filled: Home) -> None:
    target, writer = CountingEmbeddings(NEW), filled.engine(HashingEmbeddings(NEW))
    engine = filled.engine(target)
    keys = {record.content: record.key for record in writer.list(ANA, None)}
    receipts = []

    def embed(texts: list[str]) -> list[list[float]]:
        if not receipts:
            mine = next(keys[text] for text in texts if text in keys)
            receipts.append(writer.curation.erase(ANA, mine, confirm="memories/ana"))
        return HashingEmbeddings(NEW).embed_documents(texts)

    def look(state: ReembedState) -> None:
        if state.staged == 20 and len(receipts) == 1:
            made = [key for key in keys.values() if waiting_of(filled, key)]
            receipts.append(writer.curation.erase(ANA, made[0], confirm="memories/ana"))

    target.embed_documents = embed  # type: ignore[method-assign]
    assert engine.reembedding.start(batch=10, progress=look).state == "done"
    assert [receipt.is_complete for receipt in receipts] == [True, True]
    assert [waiting_of(filled, receipt.refs[0][1]) for receipt in receipts] == [[], []]
    assert vectors_of(engine) == expected_of(engine, HashingEmbeddings(NEW))


def test_what_is_forgotten_leaves_nothing_in_waiting(filled: Home) -> None:
    engine = filled.engine(HashingEmbeddings(NEW))
    engine.reembedding.start()
    key = engine.list(ANA, None)[0].key
    engine.forget(ANA, keys=[key])
    assert waiting_of(filled, key) == []


def test_an_erasure_that_leaves_a_vector_in_waiting_says_so(home: Home) -> None:
    if home.kind != "sqlite":
        pytest.skip("PostgreSQL lets no vector be without its item")
    engine = home.engine(HashingEmbeddings(NEW))
    key = engine.remember("Ana drinks tea", ANA, extract=False)[0].key
    engine.reembedding.start()
    home.execute(
        "CREATE TRIGGER kept AFTER DELETE ON mnemoscope_vectors BEGIN "
        "INSERT INTO mnemoscope_vectors (prefix, key, field_name) VALUES (old.prefix, old.key, old.field_name); END"
    )
    receipt = engine.curation.erase(ANA, key, confirm="memories/ana")
    assert receipt.failures == ("no vector in waiting, made or former, is of it",)


@pytest.mark.parametrize("next_", [None, HashingEmbeddings(NEW)])
def test_erasing_after_the_change_is_verified_by_an_engine_that_did_not_look_before(
    filled: Home, next_: HashingEmbeddings | None
) -> None:
    filled.engine(HashingEmbeddings(NEW)).reembedding.start()
    engine = filled.engine(next_)
    receipt = engine.curation.erase(ANA, engine.list(ANA, None)[0].key, confirm="memories/ana")
    assert receipt.is_complete
    assert ("no search for any of its wordings returns it" in receipt.verified) is (next_ is not None)


def test_a_role_that_may_not_see_the_waiting_tables_can_erase(filled: Home) -> None:
    if filled.kind != "postgres":
        pytest.skip("PostgreSQL alone has roles")
    filled.execute("DROP ROLE IF EXISTS reembed_eraser")
    filled.execute("CREATE ROLE reembed_eraser LOGIN")
    filled.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO reembed_eraser")
    engine = filled.engine(HashingEmbeddings(NEW))
    engine.reembedding.start()
    filled.execute("REVOKE ALL ON mnemoscope_vectors FROM reembed_eraser")
    filled.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON store_vectors TO reembed_eraser")
    key = engine.list(ANA, None)[0].key
    theirs = Home("postgres", filled.address.replace("postgres:@", "reembed_eraser:@"))
    with theirs.exits:
        assert theirs.engine(HashingEmbeddings(NEW)).curation.erase(ANA, key, confirm="memories/ana").is_complete
    assert waiting_of(filled, key) == []
    filled.execute("DROP OWNED BY reembed_eraser")
    filled.execute("DROP ROLE reembed_eraser")


class Turned(HashingEmbeddings):
    """A new version of a model under its old name."""

    def embed_query(self, text: str) -> list[float]:
        return super().embed_query(text)[::-1]


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_running_engine_follows_vectors_that_were_made_anew_under_the_same_name(home: Home, times: int) -> None:
    running, other = home.engine(), home.engine(first=Turned(OLD))
    # As few as these have the same row numbers in both tables.
    running.remember_facts(facts("Fact 9 tells of thing 13"), ANA)
    before = running.recall("Fact 9", ANA)[0].similarity
    for _ in range(times):
        other.reembedding.start(again=True)
    after = [(match.record.content, match.similarity) for match in running.recall("Fact 9", ANA)]
    fresh = [(match.record.content, match.similarity) for match in home.engine().recall("Fact 9", ANA)]
    assert after == fresh
    assert before != fresh[0][1]


def test_an_engine_follows_what_it_made_anew_itself(home: Home) -> None:
    engine = home.engine()
    engine.remember_facts(facts("Fact 9 tells of thing 13"), ANA)
    engine.recall("Fact 9", ANA)
    engine.adapter.embeddings.__class__ = Turned  # type: ignore[assignment]
    engine.reembedding.start(again=True)
    after = [(match.record.content, match.similarity) for match in engine.recall("Fact 9", ANA)]
    fresh = home.engine(first=Turned(OLD)).recall("Fact 9", ANA)
    assert after == [(match.record.content, match.similarity) for match in fresh]


@pytest.mark.parametrize("fault", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("moment", [0, 20])
def test_work_whose_progress_cannot_be_told_can_be_taken_up_at_once(
    filled: Home, fault: type[BaseException], moment: int
) -> None:
    engine = filled.engine(HashingEmbeddings(NEW))

    def tell(state: ReembedState) -> None:
        if state.staged >= moment:
            raise fault("nobody listens")

    with pytest.raises(fault, match="nobody listens"):
        engine.reembedding.start(batch=20, progress=tell)
    left = engine.reembedding.status()
    assert left is not None
    assert (left.state, left.staged) == ("paused" if fault is KeyboardInterrupt else "failed", moment)
    assert left.error == ("" if fault is KeyboardInterrupt else "ValueError: nobody listens")
    assert engine.reembedding.start().embedded == 41


def test_progress_that_fails_after_the_change_leaves_it_done(filled: Home) -> None:
    engine = filled.engine(HashingEmbeddings(NEW))

    def tell(state: ReembedState) -> None:
        if state.state == "done":
            raise ValueError("nobody listens")

    with pytest.raises(ValueError, match="nobody listens"):
        engine.reembedding.start(progress=tell)
    left = engine.reembedding.status()
    assert left is not None
    assert left.state == "done"
    assert vectors_of(engine) == expected_of(engine, HashingEmbeddings(NEW))


@pytest.mark.parametrize("number", [0.0, float("nan")])
def test_an_embedder_that_answers_no_direction_is_refused_before_the_change(filled: Home, number: float) -> None:
    target = HashingEmbeddings(NEW)
    target.embed_documents = lambda texts: [[number] * NEW for _ in texts]  # type: ignore[method-assign]
    engine = filled.engine(target)
    said = "not a finite number" if number != number else r"answered a zero vector for '.+' in .*memories/ana"
    with pytest.raises(EmbeddingError, match=said):
        engine.reembedding.start()
    left = engine.reembedding.status()
    assert left is not None
    assert (left.state, left.staged) == ("failed", 0)
    assert not any(text in left.error for text in TEXTS)
    assert vectors_of(engine) == expected_of(engine, HashingEmbeddings(OLD))
    assert filled.engine(HashingEmbeddings(NEW)).reembedding.start().state == "done"
