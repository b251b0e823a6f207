"""Asking a chat model for a list of items, in the way it can answer best, with every failure named.

The ways, best first, are a JSON schema, a function call, and prose with JSON in it. One question costs one call, and
never more than two: the second repairs an answer that cannot be read, or takes the place of a request that the
provider turned down because it does not know the way. What a provider's client repeats by itself (`max_retries`) is
its own affair.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel

from ..core.execution import Step, Steps
from ..errors import ConfigurationError, ModelCall, ModelError
from .answers import ListForm, Reading, raw_text, read_answer, reported_cost
from .failures import answer_within, failure_of, is_unsupported, seconds_to_wait

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import Runnable, RunnableConfig

__all__ = [
    "CALLS_A_QUESTION",
    "PROVIDER_FAILURES",
    "REPAIRED",
    "Answer",
    "Asker",
    "Prompt",
    "load_model",
    "prompt_text",
    "prompt_version",
]


CALLS_A_QUESTION = 2
"""The most calls one question costs; one where nothing fails."""

PROVIDER_FAILURES = frozenset({"timed_out", "rate_limited", "provider_error"})
"""Failures for which the model never answered, so that the same question may succeed later."""

REPAIRED = frozenset({"no_tool_call", "invalid_json", "schema_violation", "empty"})
"""Failures after which the model is asked once more, with what is wrong with its answer."""

_LONGEST_SHOWN_AGAIN = 20_000

Ways: TypeAlias = "dict[str, Runnable[Any, Any]]"


@dataclass(frozen=True)
class Answer:
    """The items a model answered with, as they came, and the calls it took.

    `is_partial` says that they are those that survived a damaged answer.
    """

    items: tuple[object, ...]
    calls: tuple[ModelCall, ...]
    is_partial: bool = False


@dataclass(frozen=True)
class _Attempt:
    """One call and what came of it; `error` is the provider's, where it did not answer at all."""

    way: str
    call: ModelCall
    reading: Reading
    error: Exception | None = None

    @property
    def is_usable(self) -> bool:
        # A damaged answer is worth a repair, but one that was cut off would only be cut off again.
        return self.reading.items is not None and self.reading.failure in (None, "truncated")


def load_model(model: Any) -> BaseChatModel:
    """A chat model from an instance or from a name that `init_chat_model` takes.

    Raises:
        ConfigurationError: it is neither, or the provider's client cannot be built: no package, no key, no such name.
    """
    from langchain_core.language_models import BaseChatModel

    if isinstance(model, BaseChatModel):
        return model
    if not isinstance(model, str):
        raise ConfigurationError(f"A model is a name such as 'anthropic:…' or a LangChain chat model, got {model!r}.")
    try:
        # Slow to import, and an engine that is given its model, or works by rules, never needs it.
        from langchain.chat_models import init_chat_model

        loaded = init_chat_model(model)
    # Every provider's client has errors of its own; OpenAI's for a missing key is no ValueError.
    except Exception as error:
        said = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise ConfigurationError(
            f"The model {model!r} cannot be used: {said}. Set its API key in the environment and install its package, "
            "name another model, or name none, and rules stand in."
        ) from error
    if not isinstance(loaded, BaseChatModel):
        raise ConfigurationError(f"The name {model!r} leads to no chat model.")
    return loaded


def prompt_text(name: str) -> str:
    """The prompt of that name that ships with the library."""
    return files("mnemoscope").joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8").strip()


def prompt_version(prompt: str) -> str:
    """A short name for exactly this wording of a prompt."""
    return hashlib.sha256(prompt.encode()).hexdigest()[:12]


class Prompt:
    """The instructions of one extractor or judge: a text, or what gives it anew at each call."""

    def __init__(self, given: str | Callable[[], str] | None, name: str) -> None:
        self._given = given
        self.text = (given.strip() if isinstance(given, str) else "") or prompt_text(name)

    def now(self) -> str:
        """The text to follow now."""
        if callable(self._given):
            self.text = self._given().strip() or self.text
        return self.text


class Asker:
    """Asks one model for lists of one form."""

    def __init__(self, model: Any, form: ListForm, purpose: str) -> None:
        self._model = load_model(model)
        self._form = form
        self._purpose = purpose
        self._ways = _ways_of(self._model, form.shape)

    @property
    def model_name(self) -> str:
        """The model's own name, or its class."""
        for attribute in ("model_name", "model"):
            name = getattr(self._model, attribute, None)
            if isinstance(name, str) and name:
                return name
        return type(self._model).__name__

    @property
    def ways(self) -> tuple[str, ...]:
        """The ways that are open, the one that is tried first in front."""
        return tuple(self._ways)

    def ask(self, instructions: str, data: str, *, repairs: bool = True) -> Steps[Answer]:
        """The items that the model answers with to these instructions about this data.

        Without `repairs` an answer that cannot be read is not asked for again.

        Raises:
            ModelError: the model failed, refused, or answered twice what cannot be read; it holds the calls.
        """
        request: list[BaseMessage] = [SystemMessage(instructions), HumanMessage(data)]
        first = yield from self._attempt(self.ways[0], request)
        attempts = [first]
        if not first.is_usable and (way := self._second_way(first, repairs)) is not None:
            repair = [] if first.error is not None else _repair(first)
            attempts.append((yield from self._attempt(way, [*request, *repair])))
            self._learn(first, attempts[-1])
        calls = tuple(attempt.call for attempt in attempts)
        # Where no answer is whole, the parts that survived are better than nothing.
        for attempt in sorted(reversed(attempts), key=lambda each: not each.is_usable):
            if attempt.reading.items is not None:
                return Answer(attempt.reading.items, calls, is_partial=attempt.reading.failure is not None)
        raise self._failure(attempts, calls)

    def _second_way(self, first: _Attempt, repairs: bool) -> str | None:
        if first.error is not None:
            return "prose" if first.way != "prose" and is_unsupported(first.error) else None
        if first.call.failure not in REPAIRED or not repairs:
            return None
        return "prose" if first.call.failure == "no_tool_call" else first.way

    def _learn(self, first: _Attempt, second: _Attempt) -> None:
        """A way that was turned down where another was taken is not tried again."""
        if first.error is not None and second.error is None:
            self._ways = {way: chain for way, chain in self._ways.items() if way != first.way}

    def _attempt(self, way: str, request: list[BaseMessage]) -> Steps[_Attempt]:
        chain = self._ways[way]
        messages = self._in_prose(request) if way == "prose" else request
        started = time.perf_counter()
        try:
            found = yield Step(chain.invoke, (messages, _unstreamed()), chain.ainvoke)
        except Exception as error:  # noqa: BLE001 - a provider may raise anything; every kind becomes an attempt
            return self._failed(way, error, time.perf_counter() - started)
        answer = found.get("raw") if isinstance(found, Mapping) else found
        if not isinstance(answer, AIMessage):
            answer = AIMessage(content="")
        return self._answered(way, answer, time.perf_counter() - started)

    def _answered(
        self, way: str, answer: AIMessage, seconds: float, failure: str | None = None, error: Exception | None = None
    ) -> _Attempt:
        reading = read_answer(answer, self._form, by_call=way == "function_calling")
        usage: Mapping[str, Any] = answer.usage_metadata or {}
        call = ModelCall(
            purpose=self._purpose,
            model=self.model_name,
            seconds=seconds,
            input_tokens=usage.get("input_tokens"),
            output_tokens=usage.get("output_tokens"),
            failure=failure or reading.failure,
            raw=raw_text(answer),
            way=way,
            cost=reported_cost(answer),
        )
        return _Attempt(way, call, reading, error)

    def _failed(self, way: str, error: Exception, seconds: float) -> _Attempt:
        partial = answer_within(error)
        failure = failure_of(error)
        if partial is not None:
            return self._answered(way, partial, seconds, failure)
        call = ModelCall(self._purpose, self.model_name, seconds, failure=failure, raw=str(error), way=way)
        return _Attempt(way, call, Reading(None, failure, str(error)), error)

    def _in_prose(self, request: list[BaseMessage]) -> list[BaseMessage]:
        schema = json.dumps(self._form.shape.model_json_schema(), ensure_ascii=False)
        instructions = f"{request[0].content}\n\n{prompt_text('json_form')}\n{schema}"
        return [SystemMessage(instructions), *request[1:]]

    def _failure(self, attempts: list[_Attempt], calls: tuple[ModelCall, ...]) -> ModelError:
        last = attempts[-1]
        failure, problem = last.call.failure or "empty", last.reading.problem.rstrip(".")
        often = "twice " if len(attempts) == CALLS_A_QUESTION and last.error is None and not attempts[0].error else ""
        what = f"answered {often}what cannot be used" if last.error is None else "failed"
        wait = seconds_to_wait(last.error) if last.error is not None else None
        asks = f" It asks to wait {wait} seconds." if wait else ""
        raised = ModelError(
            f"{self.model_name} {what} ({failure}): {problem}.{asks}",
            failure=failure,
            raw=last.call.raw,
            calls=calls,
        )
        raised.__cause__ = last.error
        return raised


def _unstreamed() -> RunnableConfig:
    """The configuration of a call whose answer is data for this library, and nothing that a user reads.

    Without it, whoever streams the graph around the call would see its JSON as chat. Tracers and token counters keep
    seeing the call.
    """
    from langchain_core.callbacks import BaseCallbackManager
    from langchain_core.runnables import ensure_config
    from langgraph.constants import TAG_NOSTREAM

    callbacks = ensure_config().get("callbacks")
    # The tag hides the call from `stream_mode="messages"`. `astream_events` tells of every call whatever its tags, and
    # its handlers also make the client stream; they are known by the method that taps a run's output.
    if isinstance(callbacks, BaseCallbackManager):
        callbacks = callbacks.copy()
        for handler in [each for each in callbacks.handlers if hasattr(each, "tap_output_iter")]:
            callbacks.remove_handler(handler)
    elif callbacks is not None:
        callbacks = [each for each in callbacks if not hasattr(each, "tap_output_iter")]
    return {"tags": [TAG_NOSTREAM], "callbacks": callbacks}


def _repair(attempt: _Attempt) -> list[BaseMessage]:
    """The unreadable answer and what is wrong with it, as the next turns of the same conversation."""
    request = HumanMessage(prompt_text("repair").replace("{problem}", attempt.reading.problem))
    said = attempt.call.raw or ""
    return [request] if attempt.call.failure == "empty" else [AIMessage(said[:_LONGEST_SHOWN_AGAIN]), request]


def _ways_of(model: BaseChatModel, shape: type[BaseModel]) -> Ways:
    """How this model can be asked, best first, by what its class and its profile say; prose always works."""
    profile: Mapping[str, Any] = getattr(model, "profile", None) or {}
    takes_method = "method" in inspect.signature(type(model).with_structured_output).parameters
    ways: Ways = {}
    if takes_method and profile.get("structured_output") is not False:
        strict, plain = {"method": "json_schema", "strict": True}, {"method": "json_schema"}
        ways |= _way(model, shape, "json_schema", strict) or _way(model, shape, "json_schema", plain)
    if profile.get("tool_calling") is not False:
        ways |= _way(model, shape, "function_calling", {"method": "function_calling"} if takes_method else {})
    return ways | {"prose": model}


def _way(model: BaseChatModel, shape: type[BaseModel], name: str, options: Mapping[str, Any]) -> Ways:
    try:
        # As a plain schema: given the class, OpenAI's client validates the answer and an invalid one is lost.
        return {name: model.with_structured_output(shape.model_json_schema(), include_raw=True, **options)}
    except (NotImplementedError, TypeError, ValueError):
        return {}
