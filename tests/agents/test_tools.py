"""What a model can and cannot do by the tools, and what it is told."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_fixture import ANA, STORES, TEMPLATE, WAYS, State, Way, call, config, engine_on, scripted
from engine_fixture import contents, engine_over, facts
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode
from mnemoscope import ConfigurationError, MemoryEngine, PermissionDeniedError
from pydantic import BaseModel, Field

WAY = pytest.mark.parametrize("way", WAYS)


class Preference(BaseModel):
    """What somebody likes or dislikes."""

    subject: str
    likes: bool = True
    degree: int | None = Field(None, ge=1, le=5)


@pytest.fixture(params=STORES)
def engine(request: Any, tmp_path: Path) -> Iterator[MemoryEngine]:
    with engine_on(request.param, tmp_path) as made:
        yield made


def answer(engine: MemoryEngine, way: Way, name: str, arguments: Any, settings: Any = None, **tools: Any) -> Any:
    graph = StateGraph(State)
    graph.add_node("tools", ToolNode(engine.tools(namespace=TEMPLATE, **tools)))
    graph.add_edge(START, "tools")
    result = way(graph.compile(), {"messages": [call(name, **arguments)]}, settings)["messages"][-1]
    assert isinstance(result, ToolMessage)
    return result


def manage(engine: MemoryEngine, way: Way = WAYS[0], **arguments: Any) -> ToolMessage:
    return answer(engine, way, "manage_memory", arguments)


@WAY
def test_a_search_gives_keys_dates_categories_and_why(engine: MemoryEngine, way: Way) -> None:
    engine.remember_facts(facts("likes green tea", categories=["food"], importance=0.5), ANA)
    key = engine.list(ANA)[0].key
    line = answer(engine, way, "search_memory", {"query": "green tea"}).text
    pattern = rf'- \[{key}\] "likes green tea" \(2025-01-01; score (\S+) = similarity (\S+) \+ recency (\S+) \+ '
    found = re.fullmatch(pattern + r'importance (\S+)\)  \["food"\]', line)
    assert found is not None
    score, *parts = map(float, found.groups())
    assert score == pytest.approx(sum(parts), abs=0.02)


@WAY
def test_a_search_can_be_narrowed_to_categories(engine: MemoryEngine, way: Way) -> None:
    engine.remember_facts(facts("likes green tea", categories=["food"]), ANA)
    engine.remember_facts(facts("tea merchant", categories=["work"]), ANA)
    assert "merchant" in answer(engine, way, "search_memory", {"query": "tea", "categories": ["work"]}).text
    assert "green" not in answer(engine, way, "search_memory", {"query": "tea", "categories": ["work"]}).text
    assert "green" in answer(engine, way, "search_memory", {"query": "tea", "categories": []}).text


HOSTILE: list[tuple[str, dict[str, Any], str]] = [
    ("search_memory", {"query": "tea", "namespace": ["memories", "ben"]}, "namespace"),
    ("search_memory", {"query": "tea", "user_id": "ben"}, "user_id"),
    ("search_memory", {"query": "tea", "config": {"configurable": {"user_id": "ben"}}}, "config"),
    ("search_memory", {"query": "tea", "include_private": True}, "include_private"),
    ("search_memory", {"query": "tea", "limit": "all"}, "limit"),
    ("search_memory", {"query": ["tea"]}, "query"),
    ("search_memory", {}, "query"),
    ("manage_memory", {"content": "x", "namespace": ["memories", "ben"]}, "namespace"),
    ("manage_memory", {"content": "x", "importance": 99}, "less than or equal to 1"),
    ("manage_memory", {"content": "x", "importance": -1}, "greater than or equal to 0"),
    ("manage_memory", {"content": "x", "source": "ben"}, "source"),
    ("manage_memory", {"action": "delete", "key": "*"}, "no memory '*'"),
    ("manage_memory", {"action": "delete", "key": ["a", "b"]}, "key"),
    ("manage_memory", {"action": "delete"}, "give its key"),
    ("manage_memory", {"action": "delete_all"}, "'create', 'update' or 'delete'"),
    ("manage_memory", {"action": "clear", "confirm": "memories/ana"}, "'create', 'update' or 'delete'"),
    ("manage_memory", {"content": {"text": "x"}}, "content"),
    ("manage_memory", {"content": "x", "categories": 7}, "categories"),
]


@WAY
@pytest.mark.parametrize(("name", "arguments", "told"), HOSTILE)
def test_another_user_everything_at_once_and_importance_99_are_out_of_reach(
    way: Way, name: str, arguments: dict[str, Any], told: str
) -> None:
    engine = engine_over()
    for user in ("ana", "ben"):
        engine.remember_facts(facts(f"{user} likes tea"), ("memories", user))
    reply = answer(engine, way, name, arguments)
    assert reply.status == "error"
    assert told in reply.text
    assert "ben likes tea" not in reply.text
    assert contents(engine) == ["ana likes tea"]
    assert contents(engine, ("memories", "ben")) == ["ben likes tea"]


def test_a_key_of_another_user_is_no_key_here(engine: MemoryEngine) -> None:
    engine.remember_facts(facts("ben's secret"), ("memories", "ben"))
    key = engine.list(("memories", "ben"))[0].key
    for action in ("update", "delete"):
        assert "no memory" in manage(engine, action=action, key=key, content="mine").text
    assert contents(engine, ("memories", "ben")) == ["ben's secret"]


@WAY
def test_deleting_is_forgetting_and_can_be_taken_back(engine: MemoryEngine, way: Way) -> None:
    engine.remember_facts(facts("likes tea"), ANA)
    key = engine.list(ANA)[0].key
    assert manage(engine, way, action="delete", key=key).text == f"deleted memory {key}"
    assert contents(engine) == []
    assert "Suppressed, because agent forgot" in manage(engine, way, content="likes tea").text
    engine.restore(ANA, key)
    assert contents(engine) == ["likes tea"]


@WAY
def test_every_change_is_the_agent_s_with_thread_and_run(engine: MemoryEngine, way: Way) -> None:
    run = "0d7f2b1c-0000-4000-8000-00000000000a"
    settings = {**config(thread="thread-7\nforged"), "run_id": run}
    answer(engine, way, "manage_memory", {"content": "likes tea"}, settings)
    key = engine.list(ANA)[0].key
    for arguments in ({"action": "update", "key": key, "content": "likes milk"}, {"action": "delete", "key": key}):
        answer(engine, way, "manage_memory", arguments, settings)
    changes = engine.history(ANA)
    assert [change.action for change in changes] == ["forget", "update", "insert"]
    for change in changes:
        assert change.actor == "agent"
        assert change.reason.endswith(f"tool manage_memory, thread thread-7 forged, run {run}")


@WAY
def test_categories_and_importance_are_kept(engine: MemoryEngine, way: Way) -> None:
    manage(engine, way, content="likes tea", categories=["food"], importance=0.9)
    record = engine.list(ANA)[0]
    assert (record.categories, record.importance) == (["food"], 0.9)
    manage(engine, way, action="update", key=record.key, content="likes milk", importance=0.2)
    record = engine.list(ANA)[0]
    assert (record.content, record.categories, record.importance) == ("likes milk", ["food"], 0.2)


@pytest.mark.parametrize(
    ("actions", "arguments"),
    [
        (("create",), {"action", "content", "categories", "importance"}),
        (("delete",), {"action", "key"}),
        (("update", "delete"), {"action", "content", "categories", "importance", "key"}),
        (("create", "update", "delete"), {"action", "content", "categories", "importance", "key"}),
    ],
)
def test_the_permitted_actions_shape_schema_and_description(actions: Any, arguments: set[str]) -> None:
    tool = engine_over().tools(namespace=TEMPLATE, actions_permitted=actions)[1]
    schema = tool.args_schema.model_json_schema()
    assert set(schema["properties"]) == arguments
    assert schema["additionalProperties"] is False
    action = schema["properties"]["action"]
    assert action.get("enum", [action.get("const")]) == list(actions)
    for name in ("create", "update", "delete"):
        assert (f"- {name}:" in tool.description) == (name in actions)
    assert ("Keys are given" in tool.description) == (actions != ("create",))


@WAY
def test_an_action_that_is_not_permitted_is_answered_and_does_nothing(way: Way) -> None:
    engine = engine_over()
    engine.remember_facts(facts("likes tea"), ANA)
    key = engine.list(ANA)[0].key
    for arguments in ({"action": "delete", "key": key}, {"key": key, "content": "x"}):
        reply = answer(engine, way, "manage_memory", arguments, actions_permitted=("create",))
        assert reply.status == "error"
    assert contents(engine) == ["likes tea"]


@pytest.mark.parametrize("actions", [(), ("erase",), ("create", "clear")])
def test_actions_that_there_are_not_cannot_be_permitted(actions: Any) -> None:
    with pytest.raises(ConfigurationError, match="actions_permitted"):
        engine_over().tools(namespace=TEMPLATE, actions_permitted=actions)


def test_the_namespace_is_on_no_tool_s_schema() -> None:
    for options in ({}, {"schema": Preference}):
        for tool in engine_over().tools(namespace=TEMPLATE, **options):
            assert "user_id" not in str(tool.args_schema.model_json_schema())
            assert "namespace" not in str(tool.args_schema.model_json_schema())
            assert "config" not in tool.args


def test_instructions_reach_the_model() -> None:
    tool = engine_over().tools(namespace=TEMPLATE, instructions="Only what lasts a year.")[1]
    assert "Only what lasts a year." in tool.description


@WAY
def test_memories_can_have_a_form(engine: MemoryEngine, way: Way) -> None:
    content = {"subject": "green tea", "degree": 4}
    answer(engine, way, "manage_memory", {"content": content}, schema=Preference)
    record = engine.list(ANA)[0]
    assert record.content == "subject: green tea\nlikes: true\ndegree: 4"
    assert record.metadata == {"schema": "Preference", "document": {"subject": "green tea", "likes": True, "degree": 4}}
    assert engine.list(ANA, filter={"metadata.document.degree": 4}) == [record]
    changed = {"action": "update", "key": record.key, "content": {"subject": "green tea", "likes": False}}
    answer(engine, way, "manage_memory", changed, schema=Preference)
    assert engine.list(ANA)[0].metadata["document"] == {"subject": "green tea", "likes": False, "degree": 4}


@WAY
@pytest.mark.parametrize("content", [{"subject": "tea", "degree": 99}, {"likes": True}, "likes tea"])
def test_what_has_not_that_form_is_answered_and_not_stored(way: Way, content: Any) -> None:
    engine = engine_over()
    reply = answer(engine, way, "manage_memory", {"content": content}, schema=Preference)
    assert reply.status == "error"
    assert "content" in reply.text
    assert contents(engine) == []


def test_a_schema_must_be_a_pydantic_class() -> None:
    with pytest.raises(ConfigurationError, match="Pydantic"):
        engine_over().tools(namespace=TEMPLATE, schema=dict)


@WAY
def test_a_read_only_connection_is_said_to_be_one(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_over()

    def refused(*_arguments: Any) -> None:
        raise PermissionDeniedError("read-only")

    monkeypatch.setattr(engine.adapter, "write", refused)
    reply = manage(engine, way, content="likes tea")
    assert (reply.status, "reading alone" in reply.text) == ("error", True)


@WAY
def test_an_agent_with_a_checkpointer_uses_both_tools(engine: MemoryEngine, way: Way) -> None:
    model = scripted(call("manage_memory", content="likes tea"), call("search_memory", query="tea"), "You like tea.")
    agent = create_agent(model, engine.tools(namespace=TEMPLATE), checkpointer=InMemorySaver())
    result = way(agent, {"messages": [HumanMessage("remember that I like tea")]})
    assert '"likes tea"' in result["messages"][-2].text
    assert contents(engine) == ["likes tea"]


def test_a_call_that_is_cancelled_writes_nothing_afterwards() -> None:
    started, release = asyncio.Event(), asyncio.Event()

    async def waiting(_fact: Any, _similar: Any) -> Any:
        started.set()
        await release.wait()

    engine = engine_over(consolidator=waiting)
    engine.adapter.write([])

    async def scene() -> None:
        tool = engine.tools(namespace=TEMPLATE)[1]
        await tool.ainvoke({"content": "likes green tea a lot"}, config())
        task = asyncio.create_task(tool.ainvoke({"content": "likes green tea a lot indeed"}, config()))
        await started.wait()
        task.cancel()
        release.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scene())
    assert contents(engine) == ["likes green tea a lot"]
