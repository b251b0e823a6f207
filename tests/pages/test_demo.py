"""The sample store gives every page something to show."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from mnemoscope import PRESETS, MemoryEngine
from mnemoscope.connections import connection_to, open_connection
from mnemoscope.demo import MARIA, build_demo
from mnemoscope.evaluation import evaluate
from mnemoscope.recall import Profile
from mnemoscope.worklists import WORKLISTS


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryEngine]:
    path = tmp_path_factory.mktemp("demo") / "demo.sqlite"
    build_demo(path, now=datetime.now(UTC))
    engine = open_connection(connection_to(str(path)), writing=False)
    yield engine
    engine.close()


@pytest.mark.parametrize("name", WORKLISTS)
def test_every_worklist_has_work(engine: MemoryEngine, name: str) -> None:
    assert engine.curation.worklist(name, (), subtree=True)


def test_an_item_that_cannot_be_read_in_full_ranks_with_the_rest(engine: MemoryEngine) -> None:
    found = engine.recall("Which music does Maria like?", MARIA, limit=3)
    assert "Maria gosta de fado" in [match.record.content for match in found]


def test_the_trash_and_the_history_hold_what_was_done(engine: MemoryEngine) -> None:
    assert len(engine.curation.trash((), subtree=True)) == 1
    assert {"insert", "update", "forget"} <= {change.action for change in engine.history()}


def test_its_cases_name_memories_that_are_there_and_tell_profiles_apart(engine: MemoryEngine) -> None:
    judged = engine.tuning.judge(engine.tuning.cases((), subtree=True))
    assert len(judged) == 10
    assert [each.missing for each in judged if each.missing] == []
    evaluation = evaluate(judged, [Profile(name, PRESETS[name]) for name in ("classic", "precise")], ["mrr"])
    classic, precise = (evaluation.summary(name)["mrr"] for name in ("classic", "precise"))
    assert classic is not None
    assert precise is not None
    assert precise.mean > classic.mean
