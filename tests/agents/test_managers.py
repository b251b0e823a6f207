"""Managers: plans without a store, documents of a form, and profiles that change field by field."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_fixture import ANA, STORES, TEMPLATE, WAYS, Way, answering, config, engine_on
from engine_fixture import Judge, contents, decide, engine_over, lines_of, memory_store
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, MessagesState, StateGraph
from mnemoscope import (
    ConfigurationError,
    InputError,
    MemoryConfig,
    MemoryEngine,
    MemoryRecord,
    MissingNamespaceError,
    ModelError,
    plan_without_store,
)
from mnemoscope.agents import aplan_without_store, patched_fields
from pydantic import BaseModel, Field

WAY = pytest.mark.parametrize("way", WAYS)


class Preference(BaseModel):
    """What somebody likes."""

    subject: str
    degree: int = Field(3, ge=1, le=5)


class Trip(BaseModel):
    """A journey that somebody plans."""

    place: str
    month: str | None = None


class Profile(BaseModel):
    """The person."""

    name: str | None = None
    language: str | None = None
    age: int | None = Field(None, ge=0, le=150)
    pets: list[str] = Field(default_factory=list)


@pytest.fixture(params=STORES)
def engine(request: Any, tmp_path: Path) -> Iterator[MemoryEngine]:
    with engine_on(request.param, tmp_path) as made:
        yield made


def said(*texts: str, first: int = 1) -> dict[str, Any]:
    return {"messages": [HumanMessage(text, id=f"id-{at}") for at, text in enumerate(texts, start=first)]}


def document(form: str, quote: str, **fields: Any) -> dict[str, Any]:
    return {"form": form, "document": fields, "quote": quote, "message_ids": [], "importance": 0.7, "categories": ["c"]}


def change(field: str, value: Any, quote: str) -> dict[str, Any]:
    return {"field": field, "value": value, "quote": quote, "message_ids": []}


def changes(*of: dict[str, Any]) -> dict[str, Any]:
    return {"changes": list(of)}


# Plans without a store


@pytest.mark.parametrize("is_async", [False, True])
def test_decisions_need_no_store(is_async: bool) -> None:
    existing = ["likes green tea", ("k", "has a dog"), MemoryRecord("r", ("x",), "lives in Porto")]
    options: dict[str, Any] = {"extractor": lines_of, "consolidator": Judge(decide("update"))}
    if is_async:
        plan = asyncio.run(aplan_without_store("likes green tea and milk", existing, **options))
    else:
        plan = plan_without_store("likes green tea and milk", existing, **options)
    [planned] = plan.changes
    assert planned.before is not None
    assert planned.after is not None
    assert (planned.action, planned.key, planned.before.content) == ("update", "0", "likes green tea")
    assert planned.after.content == "likes green tea and milk"


def test_a_model_extracts_and_judges_without_a_store() -> None:
    quote = "I moved to Lisbon"
    fact = {"content": "Ana lives in Lisbon", "quote": quote, "message_ids": [], "importance": 0.8, "categories": []}
    judged = {"fact": 1, "action": "update", "label": 1, "content": "Ana lives in Lisbon", "reason": "she moved"}
    plan = plan_without_store(
        "I moved to Lisbon", ["Ana lives in Porto"], model=answering({"facts": [fact]}, {"decisions": [judged]})
    )
    assert [(each.action, each.after and each.after.content) for each in plan.changes] == [
        ("update", "Ana lives in Lisbon")
    ]


def test_with_nothing_known_every_fact_is_an_insert() -> None:
    plan = plan_without_store("likes tea\nhas a dog", extractor=lines_of, consolidator=Judge())
    assert [each.action for each in plan.changes] == ["insert", "insert"]


@pytest.mark.parametrize("existing", [[("a", "x"), ("a", "y")], [("a", "")], [5], [("a", "b", "c")]])
def test_existing_memories_must_be_memories(existing: Any) -> None:
    with pytest.raises((InputError, TypeError, ValueError)):
        plan_without_store("x", existing, extractor=lines_of, consolidator=Judge())


def test_a_plan_needs_a_model_or_both_callables() -> None:
    with pytest.raises(ConfigurationError, match="model"):
        plan_without_store("x", extractor=lines_of)


# The runnable


@WAY
def test_a_manager_without_a_schema_remembers_facts_once(engine: MemoryEngine, way: Way) -> None:
    manager = engine.agents.manager(namespace=TEMPLATE)
    assert [each.action for each in way(manager, said("I like tea"))] == ["insert"]
    assert way(manager, said("I like tea")) == []
    assert contents(engine) == ["I like tea"]
    assert engine.history(ANA)[0].reason.endswith("memory manager, thread t1")


@WAY
def test_documents_of_several_forms_are_stored_with_their_fields(engine: MemoryEngine, way: Way) -> None:
    found = [
        document("Preference", "I love green tea", subject="green tea", degree=5),
        document("Trip", "to Japan in May", place="Japan", month="May"),
        document("Preference", "I love green tea", subject="milk", degree=99),
        document("Nonsense", "I love green tea", subject="x"),
        document("Trip", "never said", place="Mars"),
    ]
    manager = engine.agents.manager(
        namespace=TEMPLATE, model=answering({"documents": found}), schemas=(Preference, Trip)
    )
    made = way(manager, said("I love green tea, and I go to Japan in May"))
    assert len(made) == 2
    by_schema = {record.metadata["schema"]: record for record in engine.list(ANA)}
    assert by_schema["Preference"].metadata["document"] == {"subject": "green tea", "degree": 5}
    assert by_schema["Preference"].content == "subject: green tea\ndegree: 5"
    assert by_schema["Trip"].metadata["document"] == {"place": "Japan", "month": "May"}
    assert by_schema["Trip"].evidence[0].quote == "to Japan in May"
    assert engine.recall("green tea", ANA)[0].record == by_schema["Preference"]


def test_a_judge_updates_a_document_with_its_fields() -> None:
    first = {"documents": [document("Preference", "I like tea", subject="green tea", degree=2)]}
    second = {"documents": [document("Preference", "now I love tea", subject="green tea", degree=5)]}
    engine = engine_over(
        consolidator=Judge(decide("update", "something reworded")), config=MemoryConfig(consolidation_threshold=0.3)
    )
    manager = engine.agents.manager(namespace=TEMPLATE, model=answering(first, second), schemas=(Preference,))
    manager.invoke(said("I like tea"), config())
    manager.invoke(said("now I love tea", first=2), config())
    [record] = engine.list(ANA)
    assert record.content == "subject: green tea\ndegree: 5"
    assert record.metadata["document"] == {"subject": "green tea", "degree": 5}


@WAY
def test_a_profile_is_one_document_changed_field_by_field_with_its_history(engine: MemoryEngine, way: Way) -> None:
    model = answering(
        changes(change("name", "Ana", "I'm Ana"), change("pets", ["Rex"], "my dog Rex")),
        changes(change("age", 31, "I turned 31"), change("language", "pt", "fala português")),
        changes(change("age", None, "never mind my age")),
    )
    manager = engine.agents.manager(namespace=TEMPLATE, model=model, profile=Profile)
    assert manager.profile(config()) == Profile()
    way(manager, said("I'm Ana, and this is my dog Rex"))
    assert manager.profile(config()) == Profile(name="Ana", pets=["Rex"])
    way(manager, said("I turned 31, fala português", first=2))
    assert asyncio.run(manager.aprofile(config())) == Profile(name="Ana", pets=["Rex"], age=31, language="pt")
    way(manager, said("never mind my age", first=3))
    assert manager.profile(config()) == Profile(name="Ana", pets=["Rex"], language="pt")
    [record] = engine.list((*ANA, "profile"))
    assert (record.key, record.revision) == ("Profile", 3)
    assert record.content == 'name: Ana\nlanguage: pt\npets: ["Rex"]'
    history = engine.history((*ANA, "profile"), "Profile")
    assert [each.action for each in history] == ["update", "update", "insert"]
    assert 'age: "I turned 31"' in history[1].reason
    engine.undo(history[0].id)
    assert manager.profile(config()).age == 31


@WAY
def test_what_does_not_fit_a_profile_is_left_out_alone(way: Way) -> None:
    engine = engine_over()
    model = answering(
        changes(
            change("age", 999, "I am 999"),
            change("nickname", "A", "call me A"),
            change("name", "Ana", "I'm Ana"),
            change("language", "de", "I speak Klingon"),
        )
    )
    manager = engine.agents.manager(namespace=TEMPLATE, model=model, profile=Profile)
    way(manager, said("I'm Ana, I am 999, call me A"))
    assert manager.profile(config()) == Profile(name="Ana")


def test_a_profile_reads_each_turn_once_and_asks_nothing_for_none() -> None:
    engine = engine_over()
    manager = engine.agents.manager(
        namespace=TEMPLATE, model=answering(changes(change("name", "Ana", "I'm Ana"))), profile=Profile
    )
    assert len(manager.invoke(said("I'm Ana"), config())) == 1
    assert manager.invoke(said("I'm Ana"), config()) == []
    assert manager.invoke({"messages": []}, config()) == []


def test_profiles_and_facts_of_a_user_stand_apart() -> None:
    engine = engine_over(consolidator=Judge(decide("forget")))
    manager = engine.agents.manager(
        namespace=TEMPLATE, model=answering(changes(change("name", "Ana", "I'm Ana"))), profile=Profile
    )
    manager.invoke(said("I'm Ana"), config())
    engine.remember("name: Ana", ANA, extract=False)
    assert manager.profile(config()) == Profile(name="Ana")
    assert manager.profile(config("ben")) == Profile()


def test_two_changes_of_a_profile_at_once_lose_neither() -> None:
    store = memory_store()
    engines = [engine_over(store), engine_over(store)]
    models = [
        answering(changes(change("name", "Ana", "I'm Ana"))),
        answering(changes(change("age", 31, "I am 31"))),
    ]
    managers = [
        engine.agents.manager(namespace=TEMPLATE, model=model, profile=Profile)
        for engine, model in zip(engines, models, strict=True)
    ]
    talks = [said("I'm Ana"), said("I am 31", first=2)]
    threads = [
        threading.Thread(target=manager.invoke, args=(talk, config()))
        for manager, talk in zip(managers, talks, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert managers[0].profile(config()) == Profile(name="Ana", age=31)


def test_a_model_that_fails_writes_nothing_and_the_turn_can_be_read_again(engine: MemoryEngine) -> None:
    failing = engine.agents.manager(
        namespace=TEMPLATE, model=FakeListChatModel(responses=["no", "no"]), profile=Profile
    )
    with pytest.raises(ModelError):
        failing.invoke(said("I'm Ana"), config())
    working = engine.agents.manager(
        namespace=TEMPLATE, model=answering(changes(change("name", "Ana", "I'm Ana"))), profile=Profile
    )
    working.invoke(said("I'm Ana"), config())
    assert working.profile(config()) == Profile(name="Ana")


def test_a_stored_profile_that_a_stranger_broke_is_read_as_far_as_it_goes() -> None:
    engine = engine_over()
    value = {"content": "x", "metadata": {"document": {"name": "Ana", "age": "old", "shoe": 3}}}
    engine.store.put((*ANA, "profile"), "Profile", value)
    manager = engine.agents.manager(namespace=TEMPLATE, model=answering(changes()), profile=Profile)
    assert manager.profile(config()) == Profile(name="Ana")


class Needy(BaseModel):
    name: str


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"schemas": (Preference,)}, "model"),
        ({"profile": Profile}, "model"),
        ({"profile": Needy, "model": answering()}, "default for name"),
        ({"profile": dict, "model": answering()}, "Pydantic"),
        ({"schemas": (dict,), "model": answering()}, "Pydantic"),
        ({"schemas": (Preference, Preference), "model": answering()}, "another name"),
    ],
)
def test_a_manager_that_cannot_be_is_refused_at_once(options: Any, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        engine_over().agents.manager(namespace=TEMPLATE, **options)


def test_a_manager_without_a_profile_says_so() -> None:
    with pytest.raises(ConfigurationError, match="profile"):
        engine_over().agents.manager(namespace=TEMPLATE).profile(config())


@WAY
def test_a_manager_works_as_a_node_and_ends_the_run_without_a_namespace(way: Way) -> None:
    engine = engine_over()
    graph = StateGraph(MessagesState)
    graph.add_node("remember", engine.agents.manager(namespace=TEMPLATE) | RunnableLambda(lambda _: {}))
    graph.add_edge(START, "remember")
    compiled = graph.compile()
    way(compiled, said("I like tea"))
    assert contents(engine) == ["I like tea"]
    with pytest.raises(MissingNamespaceError):
        way(compiled, said("I like milk"), {"configurable": {}})


def test_a_patch_names_what_it_refused() -> None:
    patch = patched_fields(
        Profile, Profile().model_dump(), [("age", -1, "a"), ("name", "Ana", "b"), ("name", "Ana", "c")]
    )
    assert patch.fields["name"] == "Ana"
    assert patch.why == {"name": "b"}
    assert "greater than or equal to 0" in patch.refused["age"]
