"""A plan, and what else an agent may keep in a graph's state, leaves every checkpointer as it entered it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

import pytest
from engine_fixture import ANA, contents, engine_over
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from mnemoscope import InputError, MemoryEngine, ModelError, Plan, RuleConsolidator, RuleExtractor
from mnemoscope.errors import ModelCall
from mnemoscope.extraction import REASONS, Withheld
from stores_fixture import postgres_database

SAID = "I moved to Hue. I love tea. My password is hunter22!"
DEEP: dict[str, Any] = {"content": "User moved to Hue", "big": 2**70, "odd": "x\ud800"}
for _ in range(140):
    DEEP = {"content": "User moved to Hue", "deep": DEEP}


@contextmanager
def in_memory(_folder: Path, serde: JsonPlusSerializer) -> Iterator[BaseCheckpointSaver[Any]]:
    yield InMemorySaver(serde=serde)


@contextmanager
def in_sqlite(folder: Path, serde: JsonPlusSerializer) -> Iterator[BaseCheckpointSaver[Any]]:
    with SqliteSaver.from_conn_string(str(folder / "checkpoints.db")) as saver:
        saver.serde = serde
        yield saver


@contextmanager
def in_postgres(_folder: Path, serde: JsonPlusSerializer) -> Iterator[BaseCheckpointSaver[Any]]:
    with PostgresSaver.from_conn_string(postgres_database("plans")) as saver:
        saver.serde = serde
        saver.setup()
        yield saver


SAVERS: dict[str, Callable[[Path, JsonPlusSerializer], AbstractContextManager[BaseCheckpointSaver[Any]]]] = {
    "memory": in_memory,
    "sqlite": in_sqlite,
    "postgres": in_postgres,
}
TRUSTING, STRICT = JsonPlusSerializer(allowed_msgpack_modules=True), JsonPlusSerializer(allowed_msgpack_modules=None)


class State(TypedDict, total=False):
    plan: Any


def engine_with_memories() -> MemoryEngine:
    engine = engine_over(extractor=RuleExtractor(), consolidator=RuleConsolidator())
    engine.remember("I live in Hanoi. I love tea.", ANA, source="mia", metadata={"from": "chat"})
    return engine


def asks_before_it_writes(engine: MemoryEngine, *, as_text: bool) -> StateGraph[State]:
    def make(_: State) -> State:
        plan = engine.plan(SAID, ANA)
        return {"plan": plan.to_json() if as_text else plan}

    def ask(_: State) -> State:
        interrupt("Remember this?")
        return {}

    def apply(state: State) -> State:
        engine.apply(Plan.from_json(state["plan"]) if as_text else state["plan"])
        return {}

    graph = StateGraph(State)
    graph.add_sequence([make, ask, apply])
    graph.add_edge(START, "make")
    return graph


def run_through(graph: StateGraph[State], saver: BaseCheckpointSaver[Any]) -> None:
    runnable = graph.compile(checkpointer=saver)
    thread: Any = {"configurable": {"thread_id": "1"}}
    runnable.invoke({}, thread)
    runnable.invoke(Command(resume=True), thread)


@pytest.mark.parametrize("kind", SAVERS)
@pytest.mark.parametrize(("serde", "as_text"), [(TRUSTING, False), (TRUSTING, True), (STRICT, True)])
def test_a_plan_waits_in_the_state_until_a_person_agrees(
    kind: str, serde: JsonPlusSerializer, as_text: bool, tmp_path: Path
) -> None:
    engine, at_once = engine_with_memories(), engine_with_memories()
    at_once.apply(at_once.plan(SAID, ANA))

    with SAVERS[kind](tmp_path, serde) as saver:
        run_through(asks_before_it_writes(engine, as_text=as_text), saver)

    assert contents(engine) == contents(at_once)
    assert "User moved to Hue" in contents(engine)


def test_a_strict_checkpointer_is_answered_with_the_way_out() -> None:
    engine = engine_with_memories()

    with pytest.raises(InputError, match=r"keep plan\.to_json\(\) in the state, and apply Plan\.from_json"):
        run_through(asks_before_it_writes(engine, as_text=False), InMemorySaver(serde=STRICT))
    assert "User moved to Hue" not in contents(engine)


def same(plan: Plan, other: Plan) -> bool:
    parts, others = vars(plan) | {"vectors": None}, vars(other) | {"vectors": None}
    vectors = {text: vector.tolist() for text, vector in plan.vectors.items()}
    return parts == others and vectors == {text: vector.tolist() for text, vector in other.vectors.items()}


def test_json_keeps_all_of_a_plan() -> None:
    engine = engine_with_memories()
    plan = engine.plan(SAID, ANA, categories=["move"], source="mia", private=True, metadata={"n": [1, 2.5, None]})

    plan = replace(plan, withheld=(Withheld(plan.facts[0].fact, REASONS["unsupported"]),))

    assert plan.changes
    assert same(Plan.from_json(plan.to_json()), plan)


def test_json_keeps_what_other_programs_stored_to_the_byte() -> None:
    engine = engine_over(extractor=RuleExtractor(), consolidator=RuleConsolidator())
    engine.store.put(ANA, "odd", DEEP)
    plan = engine.plan(SAID, ANA)

    assert plan.stored["odd"].value == DEEP
    assert same(Plan.from_json(plan.to_json()), plan)


def test_json_keeps_why_a_plan_cannot_be_applied() -> None:
    call = ModelCall("extract", "small", 0.5, failure="refused", raw="No.")
    engine = engine_over(extractor=Refusing(ModelError("It refused.", failure="refused", raw="No.", calls=(call,))))
    plan = Plan.from_json(engine.plan(SAID, ANA).to_json())

    with pytest.raises(ModelError, match="It refused") as caught:
        engine.apply(plan)
    assert (caught.value.failure, caught.value.raw, caught.value.calls) == ("refused", "No.", (call,))


class Refusing:
    """An extractor whose model refuses."""

    label = "refusing"

    def __init__(self, error: ModelError) -> None:
        self._error = error

    def extract(self, _messages: object) -> Any:
        raise self._error


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "mnemoscope.plan/2"}', '{"format": "mnemoscope.plan/1"}'])
def test_text_that_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"Plan\.from_json takes the text that plan\.to_json\(\) gave"):
        Plan.from_json(text)


def test_a_plan_with_a_field_of_the_wrong_kind_is_refused() -> None:
    whole = json.loads(engine_with_memories().plan(SAID, ANA).to_json())

    with pytest.raises(InputError, match="fields do not fit"):
        Plan.from_json(json.dumps(whole | {"facts": [{"fact": 7}]}))


def test_results_leave_a_checkpoint_equal() -> None:
    engine = engine_with_memories()
    found = engine.recall("tea", ANA)
    kept = {
        "matches": list(found),
        "memory": found[0].record,
        "history": engine.history(ANA),
        "why": engine.explain("tea", ANA, key=found[0].record.key),
        "runs": engine.runs.list(ANA),
    }

    restored = TRUSTING.loads_typed(TRUSTING.dumps_typed(kept))

    assert restored == kept
