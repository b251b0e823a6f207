"""A chat model that says what it is told to say, so that the examples run without an account."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatResult
from pydantic import Field


class ScriptedModel(FakeMessagesListChatModel):
    """Gives its `responses` one after the other and keeps the prompts it was asked with."""

    prompts: list[list[BaseMessage]] = Field(default_factory=list)

    def bind_tools(self, *_tools: Any, **_options: Any) -> ScriptedModel:
        """Take note of no tools: the script says which are called."""
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        self.prompts.append(messages)
        return super()._generate(messages, *args, **options)


def calls(tool: str, **arguments: Any) -> AIMessage:
    """An answer that calls a tool."""
    return AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": f"call-{tool}", "type": "tool_call"}])
