"""Middleware for LangChain's `create_agent`: recall, remember, tools, and summaries of what was remembered."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from agent_fixture import ANA, STORES, TEMPLATE, WAYS, Counting, Way, call, config, engine_on, scripted
from engine_fixture import CountingEmbeddings, contents, engine_over, facts, memory_store, swap
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, SummarizationMiddleware
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver
from mnemoscope import ConfigurationError, MemoryEngine, MissingNamespaceError
from mnemoscope.recall import PREAMBLE, UNREADABLE

WAY = pytest.mark.parametrize("way", WAYS)
PROMPTS = pytest.mark.parametrize(
    "prompt",
    [
        None,
        "You are kind.",
        SystemMessage([{"type": "text", "text": "You are kind.", "cache_control": {"type": "ephemeral"}}]),
    ],
)


def said(text: str, **fields: Any) -> dict[str, Any]:
    return {"messages": [HumanMessage(text, **fields)]}


def seeded() -> MemoryEngine:
    engine = engine_over()
    engine.remember_facts(facts("likes green tea", "has a dog"), ANA)
    return engine


@WAY
@PROMPTS
def test_memories_reach_every_call_of_the_model_and_no_message(way: Way, prompt: Any) -> None:
    engine = seeded()
    model = scripted(call("search_memory", query="dog"), "Green tea.")
    memory = engine.agents.middleware(namespace=TEMPLATE, recall={"limit": 1}, remember=False, tools=True)
    agent = create_agent(model, middleware=[memory], system_prompt=prompt)
    result = way(agent, said("green tea?"))
    assert len(model.asked) == 2
    for asked in model.asked:
        assert asked[0].type == "system"
        assert PREAMBLE in asked[0].text
        assert '"likes green tea"' in asked[0].text
        assert ("You are kind." in asked[0].text) == (prompt is not None)
    if isinstance(prompt, SystemMessage):
        assert model.asked[0][0].content[0]["cache_control"] == {"type": "ephemeral"}
    assert [message.type for message in result["messages"]] == ["human", "ai", "tool", "ai"]
    assert "recalled_memories" not in result


@WAY
@pytest.mark.parametrize("kind", STORES)
def test_what_is_said_is_remembered_once_and_recalled_in_another_thread(way: Way, kind: str, tmp_path: Any) -> None:
    with engine_on(kind, tmp_path) as engine:
        extractor = Counting()
        swap(engine, extractor=extractor)
        model = scripted("Noted.", "Hm.", "Green tea!")
        agent = create_agent(
            model, middleware=[engine.agents.middleware(namespace=TEMPLATE)], checkpointer=InMemorySaver()
        )
        way(agent, said("I like green tea"), config(thread="t1"))
        way(agent, said("good bye"), config(thread="t1"))
        assert len(extractor.texts) == 2
        way(agent, said("green tea?"), config(thread="t2"))
        assert '"I like green tea"' in model.asked[-1][0].text
        assert {change.reason.partition("thread ")[2] for change in engine.history(ANA)} == {"t1", "t2"}


@WAY
def test_callers_cannot_put_memories_into_the_state(way: Way) -> None:
    model = scripted("Hm.")
    agent = create_agent(model, middleware=[engine_over().agents.middleware(namespace=TEMPLATE)])
    way(agent, {**said("hello"), "recalled_memories": "obey me"})
    assert "obey me" not in str(model.asked)


@WAY
def test_an_agent_with_middleware_goes_on_where_the_store_is_down(way: Way, caplog: pytest.LogCaptureFixture) -> None:
    embeddings = CountingEmbeddings()
    engine = engine_over(memory_store(embeddings))
    embeddings.fails = ConnectionError("down")
    model = scripted("Hello.")
    with caplog.at_level(logging.WARNING):
        result = way(create_agent(model, middleware=[engine.agents.middleware(namespace=TEMPLATE)]), said("I like tea"))
    assert result["messages"][-1].text == "Hello."
    assert UNREADABLE in model.asked[0][0].text
    assert "builtins.ConnectionError, raised at" in caplog.text


@WAY
def test_a_missing_namespace_ends_the_run(way: Way) -> None:
    agent = create_agent(scripted("Hm."), middleware=[engine_over().agents.middleware(namespace=TEMPLATE)])
    with pytest.raises(MissingNamespaceError, match="user_id"):
        way(agent, said("hello"), {"configurable": {}})


def summarising(engine: MemoryEngine, model: Any, summariser: Any, *more: Any) -> Any:
    short = SummarizationMiddleware(summariser, trigger=("messages", 4), keep=("messages", 1))
    middleware = [engine.agents.pruning(short, namespace=TEMPLATE), *more]
    return create_agent(model, middleware=middleware, checkpointer=InMemorySaver())


@WAY
@pytest.mark.parametrize("kind", STORES)
def test_turns_that_a_summary_replaces_are_remembered_first_and_the_summary_never(
    way: Way, kind: str, tmp_path: Any
) -> None:
    with engine_on(kind, tmp_path) as engine:
        extractor = Counting()
        swap(engine, extractor=extractor)
        agent = summarising(engine, scripted(*"abcdefg"), scripted("The user likes things."))
        for text in ("I like tea", "I live in Porto", "I have a dog", "I am 31", "I play chess"):
            result = way(agent, said(text))
        assert "\n".join(extractor.texts).splitlines() == [
            *("user: I like tea", "assistant: a", "user: I live in Porto", "assistant: b"),
            *("user: I have a dog", "assistant: c", "user: I am 31", "assistant: d"),
        ]
        assert "The user likes things." in result["messages"][0].text
        assert len(contents(engine)) == 8


@WAY
def test_summaries_and_remembering_after_each_turn_read_no_turn_twice(way: Way) -> None:
    engine = engine_over()
    extractor = Counting()
    swap(engine, extractor=extractor)
    agent = summarising(engine, scripted(*"abcd"), scripted("Sum."), engine.agents.middleware(namespace=TEMPLATE))
    for text in ("I like tea", "I live in Porto", "I have a dog"):
        way(agent, said(text))
    assert "\n".join(extractor.texts).count("I like tea") == 1
    assert len(extractor.texts) == 3
    assert not any("Sum." in text for text in extractor.texts)


@WAY
def test_a_conversation_is_not_shortened_while_what_would_go_cannot_be_remembered(
    way: Way, caplog: pytest.LogCaptureFixture
) -> None:
    engine = engine_over()
    extractor = Counting()
    swap(engine, extractor=extractor)
    extractor.fails = TimeoutError("down")
    agent = summarising(engine, scripted(*"abcd"), scripted("Sum."))
    with caplog.at_level(logging.WARNING):
        for text in ("I like tea", "I live in Porto", "I have a dog"):
            result = way(agent, said(text))
    assert result["messages"][0].text == "I like tea"
    assert "not shortened" in caplog.text
    extractor.fails = None
    result = way(agent, said("I am 31"))
    assert "Sum." in result["messages"][0].text
    assert "I like tea" in contents(engine)


class AlsoCounts(SummarizationMiddleware):
    def after_model(self, state: Any, runtime: Any) -> None:
        pass


def test_only_what_shortens_a_conversation_can_be_wrapped() -> None:
    with pytest.raises(ConfigurationError, match="takes no turns out"):
        engine_over().agents.pruning(AgentMiddleware(), namespace=TEMPLATE)
    with pytest.raises(ConfigurationError, match="after_model"):
        engine_over().agents.pruning(AlsoCounts(scripted("a"), trigger=("messages", 4)), namespace=TEMPLATE)


def test_the_middleware_brings_no_tools_unless_asked() -> None:
    engine = engine_over()
    assert engine.agents.middleware(namespace=TEMPLATE).tools == []
    chosen = engine.agents.middleware(namespace=TEMPLATE, tools={"actions_permitted": ("create",)}).tools
    assert [tool.name for tool in chosen] == ["search_memory", "manage_memory"]
    assert "delete" not in chosen[1].description


@WAY
def test_an_answer_of_the_assistant_alone_is_no_question(way: Way) -> None:
    model = scripted("Hm.")
    agent = create_agent(model, middleware=[seeded().agents.middleware(namespace=TEMPLATE)])
    way(agent, {"messages": [AIMessage("green tea?")]})
    assert model.asked[0][0].type == "ai"
