"""Whatever a caller passes in is taken or refused by an error of ours that names it, never by one of Python's."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_fixture import ANA, KINDS, START, Ticking, engine_over, facts, opened, swap
from mnemoscope import InputError, MemoryConfig, MemoryEngine, MnemoscopeError, NamespaceError, NotFoundError
from mnemoscope.consolidation import Pair
from mnemoscope.curation import RetentionRule
from mnemoscope.errors import FilterError
from mnemoscope.models import PromptBook
from mnemoscope.recall import Case, Profile, case

HUGE = 10**400
CASE = case("What does Ana drink?", ANA, expected=["Ana likes tea"])


def filled(store: Any = None) -> MemoryEngine:
    engine = engine_over(store)
    engine.remember_facts(facts("Ana likes tea", "Ana has a dog", "Ana lives in Bonn"), ANA)
    return engine


def nested(depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {"a": 1}
    for _ in range(depth):
        made = {"a": made}
    return made


def listed(depth: int) -> list[Any]:
    made: list[Any] = []
    for _ in range(depth):
        made = [made]
    return made


def a_pair(engine: MemoryEngine) -> Pair:
    one, other, *_ = engine.list(ANA)
    return Pair(one, other, 0.5)


def a_finding(engine: MemoryEngine) -> Any:
    clock = engine.context.clock
    swap(engine, clock=lambda: clock() + timedelta(days=90))
    return engine.curation.worklist("unrecalled", ANA)[:1]


Call = Callable[[MemoryEngine], object]

CALLS: dict[str, tuple[Call, type[MnemoscopeError], str]] = {
    # Reading
    "min_score": (lambda e: e.recall("tea", ANA, min_score=HUGE), InputError, "min_score"),
    "min_similarity": (lambda e: e.recall("tea", ANA, min_similarity=-HUGE), InputError, "min_similarity"),
    "config": (lambda e: e.recall("tea", ANA, config={}), InputError, "config must be a MemoryConfig, got dict"),
    "touch": (lambda e: e.recall("tea", ANA, touch="x"), InputError, "touch must be True or False"),
    "deep filter": (lambda e: e.recall("tea", ANA, filter=nested(3000)), FilterError, "levels"),
    "deep value": (lambda e: e.list(ANA, filter={"metadata.a": listed(3000)}), FilterError, "levels"),
    "deep operand": (lambda e: e.list(ANA, filter={"metadata.a": {"$eq": nested(3000)}}), FilterError, "levels"),
    "array": (lambda e: e.list(ANA, filter={"importance": np.ones(2)}), FilterError, "'importance'.*ndarray"),
    "array in a list": (lambda e: e.list(ANA, filter={"source": {"$in": [np.ones(2)]}}), FilterError, "ndarray"),
    "numpy whole": (lambda e: e.list(ANA, filter={"importance": np.int64(1)}), FilterError, "int64"),
    "object": (lambda e: e.list(ANA, filter={"source": {"$ne": object()}}), FilterError, "object"),
    "numpy to contain": (lambda e: e.list(ANA, filter={"categories": {"$contains": np.ones(2)}}), FilterError, "nda"),
    "future": (lambda e: e.as_of(ANA, datetime.max), InputError, "moment is 9999.* not come yet"),
    # Writing
    "let in texts": (lambda e: e.replan(e.plan("x", ANA), let_in=["a"]), InputError, "let_in"),
    "let in nothing": (lambda e: e.replan(e.plan("x", ANA), let_in=[None]), InputError, "let_in"),
    "let in a number": (lambda e: e.replan(e.plan("x", ANA), let_in=5), InputError, "let_in"),
    "let in a text": (lambda e: e.replan(e.plan("x", ANA), let_in="0"), InputError, "let_in"),
    "replan nothing": (lambda e: e.replan(None), InputError, "plan must be a Plan, got NoneType"),
    "apply nothing": (lambda e: e.apply(None), InputError, "plan must be a Plan, got NoneType"),
    "apply by": (lambda e: e.apply(e.plan("x", ANA), actor=5), InputError, "actor"),
    "remember by": (lambda e: e.remember("x", ANA, actor=5), InputError, "actor"),
    "remember facts by": (lambda e: e.remember_facts(facts("x"), ANA, actor="\ud800"), InputError, "actor"),
    # Measuring
    "no cases": (lambda e: e.tuning.save_cases(None), InputError, "cases must be a list of Case"),
    "a text as cases": (lambda e: e.tuning.save_cases("abc"), InputError, "cases must be a list of Case"),
    "one case": (lambda e: e.tuning.save_cases(CASE), InputError, "cases must be a list of Case"),
    "no query": (lambda e: e.tuning.save_cases([Case(1, ANA, ("x",))]), InputError, "query"),
    "no expectation": (lambda e: e.tuning.save_cases([Case("q", ANA)]), InputError, "expects nothing"),
    "no namespace": (lambda e: e.tuning.save_cases([Case("q", (), ("x",))]), NamespaceError, "label"),
    "our namespace": (
        lambda e: e.tuning.save_cases([Case("q", ("__mnemoscope__", "journal"), ("x",))]),
        NamespaceError,
        "res",
    ),
    "no list expected": (lambda e: e.tuning.save_cases([Case("q", ANA, 5)]), InputError, "expected"),
    "note": (lambda e: e.tuning.save_cases([Case("q", ANA, ("x",), note=5)]), InputError, "note"),
    "created_at": (lambda e: e.tuning.save_cases([Case("q", ANA, ("x",), created_at="x")]), InputError, "created_at"),
    "long query": (lambda e: e.tuning.save_cases([Case("x" * 2_000_000, ANA, ("x",))]), InputError, "100,000"),
    "cases by": (lambda e: e.tuning.save_cases([CASE], actor=5), InputError, "actor must be a text"),
    "cases why": (lambda e: e.tuning.save_cases([CASE], reason=5), InputError, "reason must be a text"),
    "delete no cases": (lambda e: e.tuning.delete_cases(["x"]), InputError, "cases"),
    "delete a wrong case": (lambda e: e.tuning.delete_cases([Case(1, ANA)]), InputError, "query"),
    "delete a profile": (lambda e: e.tuning.delete_profile(5), InputError, "name must be a text"),
    "delete no profile": (lambda e: e.tuning.delete_profile("\ud800"), InputError, "name must be a text"),
    "save a profile": (lambda e: e.tuning.save_profile("x"), InputError, "profile must be a Profile"),
    "profile of nothing": (lambda _: Profile("x", None), InputError, "config must be a MemoryConfig"),
    "profile by": (lambda e: e.tuning.save_profile(Profile("x", MemoryConfig()), actor=5), InputError, "actor"),
    "label no pair": (lambda e: e.tuning.label("x", "duplicate"), InputError, "pair must be a Pair"),
    "label": (lambda e: e.tuning.label(a_pair(e), ["x"]), InputError, "label"),
    "label why": (lambda e: e.tuning.label(a_pair(e), "duplicate", reason=5), InputError, "reason"),
    # Keeping
    "trim": (lambda e: e.curation.trim_history("x"), InputError, "older_than"),
    "trim confirmed": (lambda e: e.curation.trim_history(START, confirm="x"), InputError, "confirm"),
    "trim by": (lambda e: e.curation.trim_history(START, confirm=0, actor=5), InputError, "actor"),
    "trim marks": (lambda e: e.curation.trim_marks(None), InputError, "older_than"),
    "trim marks of text": (lambda e: e.curation.trim_marks("x"), InputError, "older_than"),
    "trim transcripts": (lambda e: e.runs.trim_transcripts("x"), InputError, "older_than"),
    "retention": (lambda e: e.curation.plan_retention(ANA, ["x"]), InputError, "rules must be a list of RetentionRule"),
    "retention of text": (lambda e: e.curation.plan_retention(ANA, "x"), InputError, "rules"),
    "set retention": (lambda e: e.curation.set_retention(ANA, ["x"]), InputError, "rules"),
    "set no retention": (lambda e: e.curation.set_retention(ANA, None), InputError, "rules"),
    "apply retention": (lambda e: e.curation.apply_retention(None), InputError, "plan must be a RetentionPlan"),
    "rule's name": (lambda _: RetentionRule(5, older_than=timedelta(1)), InputError, "name"),
    "rule's age": (lambda _: RetentionRule("x", older_than=5), InputError, "older_than"),
    "apply import": (lambda e: e.transfer.apply_import(None), InputError, "plan must be an ImportPlan"),
    "erase": (lambda e: e.curation.erase(ANA, "x", confirm=5), InputError, "memories/ana"),
    "erase by": (lambda e: e.curation.erase(ANA, "x", confirm="memories/ana", reason=5), InputError, "reason"),
    "export by": (lambda e: list(e.transfer.export_history(actor=5)), InputError, "actor"),
    # Curating and editing
    "since": (lambda e: e.curation.plan_undo(by="agent", since="x"), InputError, "since must be a datetime"),
    "undo": (lambda e: e.undo("\ud800"), InputError, "change_or_group"),
    "undo nothing": (lambda e: e.undo(None), InputError, "change_or_group"),
    "undo what is not": (lambda e: e.undo("x"), NotFoundError, "'x'"),
    "changes of": (lambda e: e.curation.changes_of("\ud800"), InputError, "change_or_group"),
    "undo by": (lambda e: e.undo(e.history()[0].id, actor=5), InputError, "actor"),
    "apply undo": (lambda e: e.curation.apply_undo(None), InputError, "plan must be an UndoPlan"),
    "worklist": (lambda e: e.curation.worklist(["x"], ANA), InputError, "worklist"),
    "criteria": (lambda e: e.curation.worklist("stale", ANA, criteria=5), InputError, "criteria"),
    "accept": (lambda e: e.curation.accept(None), InputError, "findings must be a list of Finding"),
    "accept texts": (lambda e: e.curation.accept(["x"]), InputError, "findings"),
    "accept by": (lambda e: e.curation.accept(a_finding(e), actor=5), InputError, "actor"),
    "reject": (lambda e: e.curation.reject(["x"]), InputError, "findings"),
    "reject one": (lambda e: e.curation.reject(a_finding(e)[0]), InputError, "findings"),
    "reject why": (lambda e: e.curation.reject(a_finding(e), reason=5), InputError, "reason"),
    "unreject": (lambda e: e.curation.unreject(5), InputError, "findings"),
    "forget why": (lambda e: e.forget(ANA, key="x", reason=5), InputError, "reason"),
    "update by": (lambda e: e.update(ANA, e.list(ANA)[0].key, importance=1, actor=5), InputError, "actor"),
    "labels": (lambda e: e.curation.relabel([], add_categories=5), InputError, "add_categories"),
    "clear": (lambda e: e.curation.clear(ANA, confirm="memories/ana", actor=5), InputError, "actor"),
    "merge": (lambda e: e.curation.merge(ANA, ["a", "b"], content=5), InputError, "content"),
    "move": (lambda e: e.curation.move([(ANA, e.list(ANA)[0].key)], ("x",), reason=5), InputError, "reason"),
    # Adopting
    "adopt": (lambda e: e.curation.apply_adoption(None), InputError, "plan must be an AdoptionPlan"),
    "adopt by": (lambda e: e.curation.apply_adoption(e.curation.plan_adoption(), actor=5), InputError, "actor"),
    "reembed": (lambda e: e.reembedding.start(batch=-1), InputError, "batch must be a whole number from 1"),
    # Prompts
    "no prompt": (lambda e: PromptBook(e.store).save(None), InputError, "text must be a text"),
    "prompt's note": (lambda e: PromptBook(e.store).save("x", note=None), InputError, "note"),
    "uses": (lambda e: PromptBook(e.store).uses(limit=-1), InputError, "limit"),
    "use by": (lambda e: PromptBook(e.store).use(None, actor=5), InputError, "actor"),
    "use why": (lambda e: PromptBook(e.store).use(None, actor="mia", reason="\ud800"), InputError, "reason"),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_cannot_be_used_is_refused_by_its_name(name: str) -> None:
    call, error, told = CALLS[name]
    engine = filled()
    before = [each.id for each in engine.history()]
    with pytest.raises(error, match=told) as caught:
        call(engine)
    assert len(str(caught.value)) < 500
    assert [each.id for each in engine.history()] == before


def test_the_asynchronous_forms_refuse_the_same() -> None:
    engine = filled()
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: engine.arecall("tea", ANA, touch="x"),  # type: ignore[arg-type]
        lambda: engine.arecall("tea", ANA, config={}),  # type: ignore[arg-type]
        lambda: engine.areplan(None),  # type: ignore[arg-type]
        lambda: engine.aapply(None),  # type: ignore[arg-type]
        lambda: engine.aremember("x", ANA, actor=5),  # type: ignore[arg-type]
        lambda: engine.aremember_facts(facts("x"), ANA, actor=5),  # type: ignore[arg-type]
        lambda: engine.tuning.asave_cases(None),  # type: ignore[arg-type]
    ]

    async def refused(call: Callable[[], Awaitable[object]]) -> None:
        with pytest.raises(InputError):
            await call()

    for call in calls:
        asyncio.run(refused(call))


def test_what_is_of_use_is_taken_as_before() -> None:
    engine = filled()
    assert len(engine.recall("tea", ANA, min_score=-1, filter=nested(0) | {"a": None}, touch=False)) == 3
    assert engine.tuning.save_cases([Case("  q ", ("ana@x.org",), ("x", "x"))])
    assert [(each.query, each.namespace, each.expected) for each in engine.tuning.cases()] == [
        ("q", ("ana@x%2Eorg",), ("x",))
    ]
    assert engine.tuning.delete_cases(engine.tuning.cases())
    assert engine.tuning.cases() == []
    assert [engine.curation.trim_history(timedelta.max), engine.curation.trim_marks(timedelta.max)] == [0, 0]
    assert engine.runs.trim_transcripts(timedelta.max) == 0
    assert engine.as_of(ANA, engine.context.clock()) == sorted(engine.list(ANA), key=lambda each: each.key)


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_is_pickled_and_copied_with_its_count(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        result = filled(store).recall("tea", ANA, limit=1)
        for copied in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result), copy.copy(result)):
            assert list(copied) == list(result)
            assert (copied.total, copied.id, copied.exact) == (3, result.id, result.exact)
            again = copied.rerank(MemoryConfig(recency_weight=0.9), limit=3)
            assert again.total == 3
            assert [each.record.key for each in again] == [
                each.record.key for each in result.rerank(MemoryConfig(recency_weight=0.9), limit=3)
            ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", [timedelta(), timedelta(seconds=-1), timedelta(microseconds=1)], ids=str)
def test_what_was_put_to_use_last_is_in_use_whatever_the_clock_says(kind: str, step: timedelta, tmp_path: Path) -> None:
    clock = Ticking()
    with opened(kind, tmp_path) as store:
        prompts = PromptBook(store, lambda: clock.now)
        versions = [prompts.save(f"Wording {number}").id for number in range(3)]
        chosen = [versions[number % 3] for number in range(20)]
        for number, version in enumerate(chosen):
            prompts.use(version, actor="mia", reason=str(number))
            assert prompts.in_use().id == version
            clock.now += step
        assert [each.reason for each in prompts.uses()] == [str(number) for number in reversed(range(20))]
