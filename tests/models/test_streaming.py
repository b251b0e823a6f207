"""What our own calls of a model show to whoever streams an agent: nothing, wherever in the graph they are made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler, UsageMetadataCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.memory import InMemoryStore
from mnemoscope import MemoryEngine
from mnemoscope.core import arun, run
from mnemoscope.embedding import HashingEmbeddings
from mnemoscope.models import Asker, ListForm
from openai_server import CLIENTS, IN_PROSE, calls, client, says, serving
from pydantic import BaseModel

SAID = HumanMessage("I live in Hanoi", id="h1")
FACT = {"content": "User lives in Hanoi.", "quote": "I live in Hanoi", "message_ids": ["h1"], "subject": "User"}
ANSWER = {"facts": [FACT]}
REPLY = "Nice to meet you."


class Facts(BaseModel):
    facts: list[dict[str, Any]]


def asker(model: BaseChatModel) -> Asker:
    return Asker(model, ListForm(Facts, key="facts", mark="content"), "extract")


def graph_of(node: Callable[..., Any], anode: Callable[..., Any]) -> Any:
    """A graph of one node that has both forms."""
    builder = StateGraph(MessagesState)
    builder.add_node("memory", RunnableLambda(node, anode))
    builder.add_edge(START, "memory")
    return builder.compile()


def asking_graph(model: BaseChatModel) -> Any:
    """A graph whose node asks the model as an extractor does."""
    own = asker(model)

    def node(_: MessagesState) -> dict[str, Any]:
        run(own.ask("Find facts.", "…"))
        return {}

    async def anode(_: MessagesState) -> dict[str, Any]:
        await arun(own.ask("Find facts.", "…"))
        return {}

    return graph_of(node, anode)


def shown(graph: Any) -> str:
    """What a chat window shows that reads `stream_mode="messages"`."""
    return "".join(chunk.text for chunk, _ in graph.stream({"messages": [SAID]}, stream_mode="messages"))


async def ashown(graph: Any) -> str:
    """The asynchronous form of `shown`."""
    return "".join([chunk.text async for chunk, _ in graph.astream({"messages": [SAID]}, stream_mode="messages")])


async def told(graph: Any) -> str:
    """What a chat window shows that reads the chat models' events of `astream_events`."""
    events = [each async for each in graph.astream_events({"messages": [SAID]}, version="v2")]
    return "".join(each["data"]["chunk"].text for each in events if each["event"] == "on_chat_model_stream")


WATCHERS: dict[str, Callable[[Any], str]] = {
    "stream": shown,
    "astream": lambda graph: asyncio.run(ashown(graph)),
    "astream_events": lambda graph: asyncio.run(told(graph)),
}


@contextmanager
def memory(*replies: Any, **options: Any) -> Iterator[tuple[MemoryEngine, BaseChatModel]]:
    with serving(*replies) as server:
        model = client(server, **options)
        store = InMemoryStore(index={"dims": 64, "embed": HashingEmbeddings(64), "fields": ["content"]})
        yield MemoryEngine(store, model), model


@pytest.mark.parametrize("watch", WATCHERS.values(), ids=WATCHERS)
@pytest.mark.parametrize("provider", CLIENTS)
@pytest.mark.parametrize("options", [{}, {"streaming": True}, IN_PROSE], ids=["plain", "streaming", "prose"])
def test_a_call_in_a_node_is_no_chat(provider: str, options: dict[str, Any], watch: Callable[[Any], str]) -> None:
    with serving(says(ANSWER)) as server:
        assert watch(asking_graph(CLIENTS[provider](server, **options))) == ""
        assert len(server.requests) == 1


@pytest.mark.parametrize("watch", WATCHERS.values(), ids=WATCHERS)
def test_a_call_in_a_tool_is_no_chat_while_the_agent_s_own_answer_is(watch: Callable[[Any], str]) -> None:
    with serving(calls({}, name="learn"), says(ANSWER), says(REPLY)) as server:
        own = asker(client(server))

        def learn() -> str:
            run(own.ask("Find facts.", "…"))
            return "Learned."

        async def alearn() -> str:
            await arun(own.ask("Find facts.", "…"))
            return "Learned."

        tool = StructuredTool.from_function(learn, alearn, name="learn", description="Learn what was said.")
        assert watch(create_agent(client(server), [tool])).replace("Learned.", "") == REPLY
        assert len(server.requests) == 3


def test_a_middleware_and_a_node_learn_without_showing_it() -> None:
    settings = {"configurable": {"user_id": "ana"}}
    with memory(says(REPLY), says(ANSWER), says(ANSWER)) as (engine, model):
        agent = create_agent(model, middleware=[engine.agents.middleware(namespace=("m", "{user_id}"))])
        node = engine.agents.remember_node(namespace=("n", "{user_id}"))
        builder = StateGraph(MessagesState).add_node("learn", node).add_edge(START, "learn")
        for graph, words in ((agent, REPLY), (builder.compile(), "")):
            chunks = graph.stream({"messages": [SAID]}, settings, stream_mode="messages")
            assert "".join(chunk.text for chunk, _ in chunks) == words
        learned = [each.content for label in "mn" for each in engine.list((label, "ana"))]
        assert learned == ["User lives in Hanoi."] * 2


def test_who_counts_tokens_or_traces_still_sees_the_call() -> None:
    class Tracer(BaseCallbackHandler):
        tags: list[list[str]]

        def on_chat_model_start(self, *_: Any, tags: list[str] | None = None, **__: Any) -> None:
            self.tags.append(tags or [])

    tracer, usage = Tracer(), UsageMetadataCallbackHandler()
    tracer.tags = []
    with serving(says(ANSWER)) as server:
        graph = asking_graph(client(server))
        chunks = graph.stream({"messages": [SAID]}, {"callbacks": [tracer, usage]}, stream_mode="messages")
        assert list(chunks) == []
    assert [("nostream" in tags) for tags in tracer.tags] == [True]
    assert usage.usage_metadata["test-model"]["total_tokens"] == 18
