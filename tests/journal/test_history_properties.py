"""Random work by curators on two namespaces, against a plain model; undoing all of it gives the start back.

`test_journal.py` does the same for the changes of one namespace; here memories are merged, moved, imported,
allowed and swept by rules, and undos are undone.
"""

from __future__ import annotations

import atexit
import json
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from engine_fixture import ANA, BEN, CountingEmbeddings, dump, engine_over, facts
from engine_fixture import opened as opened_store
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import examples
from langgraph.store.base import BaseStore
from mnemoscope import MemoryConfig, MemoryEngine
from mnemoscope.curation import RetentionRule
from mnemoscope.journal import book
from mnemoscope.stores import StoreAdapter
from mnemoscope.stores.postgres import open_postgres
from stores_fixture import postgres_database

Place = tuple[tuple[str, ...], str]
SPACES = (ANA, BEN)

WORK = ("remember", "update", "merge", "move", "forget", "restore", "import", "overwrite", "allow", "retain", "undo")
steps = st.lists(st.tuples(st.sampled_from(WORK), st.integers(0, 5), st.integers(0, 5)), max_size=14)


@dataclass
class Model:
    """What should be there: the texts of what lives, and of what was forgotten with whether it is allowed again."""

    live: dict[Place, str] = field(default_factory=dict)
    gone: dict[Place, tuple[str, bool]] = field(default_factory=dict)


def everything(engine: MemoryEngine) -> Any:
    """Items, times of creation, tombstones and vectors; when a tombstone's own item was made does not matter.

    A store that shows no vectors cannot have its items' times set either: there the values are compared.
    """
    if not engine.adapter.abilities.reads_vectors:
        places = (*SPACES, *(book("tombstones", space) for space in SPACES))
        return {space: {key: each[0] for key, each in dump(engine, space).items()} for space in places}
    stones = {space: dump(engine, book("tombstones", space)) for space in SPACES}
    kept = {space: {key: each[::2] for key, each in found.items()} for space, found in stones.items()}
    return {space: dump(engine, space) for space in SPACES}, kept


def held(engine: MemoryEngine) -> Model:
    live = {(each.namespace, each.key): each.content for each in engine.list((), None, subtree=True)}
    trash = engine.curation.trash((), subtree=True)
    gone = {(each.record.namespace, each.record.key): (each.record.content, each.allowed) for each in trash}
    return Model(live, gone)


class Play:
    """One engine and its model, side by side; `groups` are what was done, with the model before each."""

    def __init__(self, engine: MemoryEngine) -> None:
        self.engine = engine
        self.model = held(engine)
        self.groups: list[tuple[str, Model]] = []
        self.number = 0

    def step(self, name: str, one: int, other: int) -> None:
        self.number += 1
        before = deepcopy(self.model)
        group = getattr(self, name)(one, other)
        if group is not None:
            self.groups.append((group, before))
        assert held(self.engine) == self.model
        if self.engine.adapter.abilities.reads_vectors:
            assert self.engine.index((), subtree=True).vectored.all()

    def remember(self, one: int, other: int) -> str | None:
        space = SPACES[other % 2]
        applied = self.engine.remember_facts(facts(f"fact number {one}"), space)
        for record in applied:
            self.model.live[space, record.key] = record.content
            self.model.gone.pop((space, record.key), None)
        return applied.group

    def update(self, one: int, other: int) -> str | None:
        if (place := self.living(one)) is None:
            return None
        text = self.model.live[place] if other % 2 else f"text {self.number}"
        self.model.live[place] = text
        return self.engine.update(*place, content=text, importance=other / 5).group

    def merge(self, one: int, other: int) -> str | None:
        places = [place for place in sorted(self.model.live) if place[0] == SPACES[other % 2]][: 2 + one % 2]
        if len(places) < 2:
            return None
        text = self.model.live[places[0]] if one % 2 else f"merged {self.number}"
        changes = self.engine.curation.merge(places[0][0], [key for _, key in places], content=text)
        for place in places:
            del self.model.live[place]
        self.model.live[places[0]] = text
        return changes[0].group

    def move(self, one: int, other: int) -> str | None:  # noqa: ARG002 - as every step
        if (place := self.living(one)) is None:
            return None
        target = (BEN if place[0] == ANA else ANA, place[1])
        if target in self.model.live:
            return None
        changes = self.engine.curation.move([place], target[0])
        self.model.live[target] = self.model.live.pop(place)
        self.model.gone.pop(target, None)
        return changes[0].group

    def forget(self, one: int, other: int) -> str | None:
        if (place := self.living(one)) is None:
            return None
        keys = {key for space, key in self.model.live if space == place[0]} if other == 0 else {place[1]}
        forgotten = self.engine.forget(place[0], keys=sorted(keys))
        for key in keys:
            self.model.gone[place[0], key] = (self.model.live.pop((place[0], key)), False)
        return forgotten.group

    def restore(self, one: int, other: int) -> str | None:  # noqa: ARG002
        if (place := self.buried(one)) is None:
            return None
        change = self.engine.restore(*place)
        self.model.live[place] = self.model.gone.pop(place)[0]
        return change.group

    def allow(self, one: int, other: int) -> str | None:
        if (place := self.buried(one)) is None:
            return None
        (change,) = self.engine.curation.allow([place], allowed=bool(other % 2))
        self.model.gone[place] = (self.model.gone[place][0], bool(other % 2))
        return change.group

    def import_(self, one: int, other: int, rule: str = "skip") -> str | None:
        rows = {f"row-{at}": f"imported {self.number} {at}" for at in range(one, one + 2)}
        lines = json.dumps([{"key": key, "content": text} for key, text in rows.items()])
        space = SPACES[other % 2]
        plan = self.engine.transfer.plan_import(lines, space, conflicts=rule)  # type: ignore[arg-type]
        changes = self.engine.transfer.apply_import(plan)
        for key, text in rows.items():
            taken = (space, key) in self.model.live or (space, key) in self.model.gone
            if rule == "overwrite" or not taken:
                self.model.live[space, key] = text
                self.model.gone.pop((space, key), None)
        return changes[0].group if changes else None

    def overwrite(self, one: int, other: int) -> str | None:
        return self.import_(one, other, "overwrite")

    def retain(self, one: int, other: int) -> str | None:  # noqa: ARG002
        plan = self.engine.curation.plan_retention(
            ANA, [RetentionRule("low", importance_below=0.3, older_than=timedelta(0))]
        )
        forgotten = self.engine.curation.apply_retention(plan)
        for each in plan.outlived:
            place = (ANA, each.record.key)
            self.model.gone[place] = (self.model.live.pop(place), False)
        return forgotten.group

    def undo(self, one: int, other: int) -> str | None:  # noqa: ARG002
        if not self.groups:
            return None
        group, before = self.groups[-1]
        changes = self.engine.undo(group)
        self.model = deepcopy(before)
        return changes[0].group

    def living(self, at: int) -> Place | None:
        places = sorted(self.model.live)
        return places[at % len(places)] if places else None

    def buried(self, at: int) -> Place | None:
        places = sorted(set(self.model.gone) - set(self.model.live))
        return places[at % len(places)] if places else None


setattr(Play, "import", Play.import_)


@contextmanager
def opened(kind: str, folder: Path) -> Iterator[BaseStore | StoreAdapter]:
    """An empty store; on PostgreSQL one database is emptied before each use."""
    if kind != "postgres":
        with opened_store(kind, folder) as store:
            yield store
        return
    store = postgres_store()
    with store._cursor() as cursor:
        cursor.execute("TRUNCATE store CASCADE")
    yield store


@cache
def postgres_store() -> BaseStore:
    embeddings = CountingEmbeddings()
    store = open_postgres(postgres_database("curating"), embeddings=embeddings)
    atexit.register(store.conn.close)
    store.setup()
    return store


EXAMPLES = {"memory": 40, "sqlite": 40, "generic": 25, "postgres": 12}
"""How many sequences are tried; a server takes longer for each."""


@pytest.mark.parametrize("kind", EXAMPLES)
def test_random_curating_agrees_with_a_plain_model_and_undoing_all_gives_the_start_back(
    kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    @examples(EXAMPLES[kind])
    @given(steps)
    def check(sequence: list[tuple[str, int, int]]) -> None:
        with opened(kind, tmp_path_factory.mktemp("store")) as store:
            engine = engine_over(store, config=MemoryConfig(consolidation_threshold=1.0))
            engine.remember_facts(facts("there from the start", "fact number 1"), ANA)
            engine.forget(ANA, key=engine.remember_facts(facts("fact number 2"), ANA)[0].key)
            play = Play(engine)
            start = everything(engine)
            for name, one, other in sequence:
                play.step(name, one, other)
            for group, _ in reversed(play.groups):
                engine.undo(group)
            assert everything(engine) == start
            engine.close()

    check()
