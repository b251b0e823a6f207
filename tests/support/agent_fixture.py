"""What the tests of agents share: scripted models, graphs, checkpointers, and engines on every kind of store."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypedDict

from engine_fixture import Judge, Ticking, engine_over, lines_of
from langchain_core.language_models import FakeListChatModel
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatResult
from langgraph.graph.message import add_messages
from mnemoscope import MemoryEngine
from pydantic import Field
from stores_fixture import opened_memory, opened_postgres, opened_sqlite

TEMPLATE = ("memories", "{user_id}")
ANA = ("memories", "ana")
STORES = {"memory": opened_memory, "sqlite": opened_sqlite, "postgres": opened_postgres}

Way = Callable[..., Any]


class State(TypedDict):
    messages: Annotated[list[Any], add_messages]
    memory: str
    remembered: str


class Scripted(FakeMessagesListChatModel):
    """Answers as scripted, and keeps what it was asked."""

    asked: list[list[BaseMessage]] = Field(default_factory=list)

    def bind_tools(self, *_args: Any, **_options: Any) -> Scripted:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        self.asked.append(list(messages))
        return super()._generate(messages, *args, **options)


def scripted(*answers: AIMessage | str) -> Scripted:
    return Scripted(responses=[AIMessage(each) if isinstance(each, str) else each for each in answers], asked=[])


def answering(*answers: Any) -> FakeListChatModel:
    """A model that gives these as JSON, one after the other."""
    return FakeListChatModel(responses=[json.dumps(each) for each in answers])


def call(name: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": "call-1", "type": "tool_call"}])


def config(user: str = "ana", thread: str = "t1", **more: Any) -> dict[str, Any]:
    return {"configurable": {"user_id": user, "thread_id": thread, "memory_namespace": ("memories", user), **more}}


def invoke(runnable: Any, given: Any, settings: Any = None) -> Any:
    return runnable.invoke(given, config() if settings is None else settings)


def ainvoke(runnable: Any, given: Any, settings: Any = None) -> Any:
    return asyncio.run(runnable.ainvoke(given, config() if settings is None else settings))


WAYS = (invoke, ainvoke)


@contextmanager
def engine_on(kind: str, folder: Path, **options: Any) -> Iterator[MemoryEngine]:
    """An engine over an empty store of this kind; every line that is said is a fact."""
    with STORES[kind](folder) as backend:
        engine = engine_over(backend.stock, **{"extractor": lines_of, "consolidator": Judge(), **options})
        yield engine
        engine.close()


class Counting:
    """An extractor that counts its calls; it fails while `fails` is set."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.fails: Exception | None = None

    def __call__(self, text: str) -> Any:
        self.texts.append(text)
        if self.fails is not None:
            raise self.fails
        return lines_of(text)


__all__ = ["ANA", "STORES", "TEMPLATE", "WAYS", "Counting", "Scripted", "State", "Ticking", "ainvoke", "invoke"]
