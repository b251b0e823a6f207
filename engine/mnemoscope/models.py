"""Asking a chat model for data of a given shape, with every failure named."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Generic, TypeVar

from langchain.chat_models import init_chat_model
from langchain_core.exceptions import LangChainException
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from pydantic import BaseModel, ValidationError

from .errors import ConfigurationError, ModelError
from .facts import ModelCall

__all__ = ["Answer", "Asker", "load_model", "prompt_text"]

Shape = TypeVar("Shape", bound=BaseModel)


@dataclass(frozen=True)
class Answer(Generic[Shape]):
    """What the model answered, and the calls it took."""

    value: Shape
    calls: tuple[ModelCall, ...]


def load_model(model: Any) -> BaseChatModel:
    """A chat model from an instance or from a name that `init_chat_model` takes.

    Raises:
        ConfigurationError: it is neither, or the provider's package or key is missing.
    """
    if isinstance(model, BaseChatModel):
        return model
    if not isinstance(model, str):
        raise ConfigurationError(f"A model is a name such as 'anthropic:…' or a LangChain chat model, got {model!r}.")
    try:
        loaded = init_chat_model(model)
    except (ImportError, ValueError, LangChainException) as error:
        raise ConfigurationError(f"The model {model!r} cannot be used: {error}") from error
    if not isinstance(loaded, BaseChatModel):
        raise ConfigurationError(f"The name {model!r} leads to no chat model.")
    return loaded


def prompt_text(name: str) -> str:
    """The prompt of that name that ships with the library."""
    return files(__package__).joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8")


class Asker(Generic[Shape]):
    """Asks one model for one shape; one repeat where the answer cannot be read."""

    def __init__(self, model: Any, shape: type[Shape], purpose: str) -> None:
        self._model = load_model(model)
        self._chain = self._model.with_structured_output(shape, include_raw=True)
        self._shape = shape
        self._purpose = purpose

    @property
    def model_name(self) -> str:
        """The model's own name, or its class."""
        for attribute in ("model_name", "model"):
            name = getattr(self._model, attribute, None)
            if isinstance(name, str) and name:
                return name
        return type(self._model).__name__

    def ask(self, messages: Sequence[BaseMessage]) -> Answer[Shape]:
        """The answer to these messages.

        Raises:
            ModelError: the model failed, or answered twice what cannot be read.
        """
        calls: list[ModelCall] = []
        for _ in range(2):
            started = time.perf_counter()
            try:
                found = self._chain.invoke(list(messages))
            except Exception as error:
                raise ModelError(f"{self.model_name} failed: {error}", failure="provider_error") from error
            value = self._read(found, time.perf_counter() - started, calls)
            if value is not None:
                return Answer(value, tuple(calls))
        raise _unreadable(self.model_name, calls[-1])

    async def aask(self, messages: Sequence[BaseMessage]) -> Answer[Shape]:
        """The asynchronous form of `ask`."""
        calls: list[ModelCall] = []
        for _ in range(2):
            started = time.perf_counter()
            try:
                found = await self._chain.ainvoke(list(messages))
            except Exception as error:
                raise ModelError(f"{self.model_name} failed: {error}", failure="provider_error") from error
            value = self._read(found, time.perf_counter() - started, calls)
            if value is not None:
                return Answer(value, tuple(calls))
        raise _unreadable(self.model_name, calls[-1])

    def _read(self, found: Any, seconds: float, calls: list[ModelCall]) -> Shape | None:
        raw, value, error = found.get("raw"), found.get("parsed"), found.get("parsing_error")
        failure = None
        answer = value if isinstance(value, self._shape) else None
        if answer is None:
            failure = "schema_violation" if isinstance(error, ValidationError) else "invalid_json"
            if error is None:
                failure = "no_tool_call"
        usage: Mapping[str, Any] = (raw.usage_metadata if isinstance(raw, AIMessage) else None) or {}
        calls.append(
            ModelCall(
                purpose=self._purpose,
                model=self.model_name,
                seconds=seconds,
                input_tokens=usage.get("input_tokens"),
                output_tokens=usage.get("output_tokens"),
                failure=failure,
                raw=str(getattr(raw, "content", "")) if failure else None,
            )
        )
        return answer


def _unreadable(name: str, call: ModelCall) -> ModelError:
    return ModelError(
        f"{name} answered twice what cannot be read ({call.failure}); nothing was written.",
        failure=call.failure or "empty",
        raw=call.raw,
    )
